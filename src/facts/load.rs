//! How busy the GPU is.

use super::facts;

facts! {
    /// Percent of the fan's highest speed that it should have.
    fan_speed(context) = context.gpu.fan_speed();
    /// Percent of the last sample in which a kernel ran.
    gpu(context) = context.gpu.utilization().map(|busy| busy.gpu);
    /// Percent of the last sample in which memory was read or written.
    memory(context) = context.gpu.utilization().map(|busy| busy.memory);
    /// Percent, video encoders.
    encoder(context) = context.gpu.encoder_utilization();
    /// Percent, video decoders.
    decoder(context) = context.gpu.decoder_utilization();
    /// Percent, JPEG engines.
    jpeg(context) = context.gpu.jpeg_utilization();
    /// Percent, optical flow accelerators.
    ofa(context) = context.gpu.ofa_utilization();
    /// Sessions that encode video.
    encoder_sessions(context) = context.gpu.encoder_stats().map(|stats| stats.sessions);
    /// Frames a second, averaged over them.
    encoder_fps(context) = context.gpu.encoder_stats().map(|stats| stats.average_fps);
    /// Microseconds a frame, averaged over them.
    encoder_latency(context) = context.gpu.encoder_stats().map(|stats| stats.average_latency);
    /// Sessions that capture the frame buffer.
    capture_sessions(context) = context.gpu.capture_stats().map(|stats| stats.sessions);
    /// Frames a second, averaged over them.
    capture_fps(context) = context.gpu.capture_stats().map(|stats| stats.average_fps);
    /// Microseconds a frame, averaged over them.
    capture_latency(context) = context.gpu.capture_stats().map(|stats| stats.average_latency);
}
