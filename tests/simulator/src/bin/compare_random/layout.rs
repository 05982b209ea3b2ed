//! Where R550 and R580 lay out the same facts differently, and what each says of itself, made alike.

use simulator::golden::comparable;

/// A text without times, legends, the tool's own version, and the layout that changed.
pub fn alike(text: &str) -> String {
    let mut processes = false;
    let lines: Vec<String> = comparable(text)
        .split('\n')
        .map(|line| {
            processes =
                (processes || line.starts_with("| Processes:")) && line.starts_with(['|', '+']);
            match line {
                _ if processes => process(line),
                _ => one(&without_clock(line)),
            }
        })
        .collect();
    lines.join("\n")
}

/// Headings of R550, and of R580.
#[rustfmt::skip]
const HEADINGS: &[(&str, &str)] = &[
    (
        "| GPU  GI  CI  MIG |                     Memory-Usage |        Vol|      Shared           |",
        "| GPU  GI  CI  MIG |              Shared Memory-Usage |        Vol|        Shared         |",
    ),
    (
        "|      ID  ID  Dev |                       BAR1-Usage | SM     Unc| CE ENC DEC OFA JPG    |",
        "|      ID  ID  Dev |                Shared BAR1-Usage | SM     Unc| CE ENC  DEC  OFA  JPG |",
    ),
];

/// A text in which times of day, as `dmon -o T` shows them, are alike.
fn without_clock(text: &str) -> String {
    let is_time = |word: &str| {
        word.len() == 8
            && word
                .bytes()
                .zip(b"99:99:99")
                .all(|(byte, kind)| match kind {
                    b'9' => byte.is_ascii_digit(),
                    literal => byte == *literal,
                })
    };
    let words = text
        .split(' ')
        .map(|word| if is_time(word) { "99:99:99" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

fn one(line: &str) -> String {
    /// Beginnings after which the tool's own version stands.
    const OWN_VERSION: &[&str] = &["| NVIDIA-SMI ", "NVIDIA-SMI version  : "];
    if let Some(rest) = OWN_VERSION
        .iter()
        .find_map(|start| line.strip_prefix(start))
    {
        let version = rest.find(' ').unwrap_or(rest.len());
        return format!("NVIDIA-SMI X{}", &rest[version..]);
    }
    // The rule below the banner.
    if line.starts_with("|---") {
        return line.replacen('|', "+", 1);
    }
    if let Some((_, newer)) = HEADINGS.iter().find(|(older, _)| line == *older) {
        return (*newer).to_owned();
    }
    // The BAR1 memory of a MIG device.
    if line.starts_with("|                  |  ") {
        return line.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    if line.trim().is_empty() {
        return String::new();
    }
    // Labels of -q: their column has another width.
    match line.split_once(" : ") {
        Some((label, value))
            if label.starts_with(char::is_alphabetic) || label.starts_with("    ") =>
        {
            format!("{} : {value}", label.trim_end())
        }
        _ => line.to_owned(),
    }
}

/// A line of the process table, whose columns have other widths, so that long names are cut elsewhere.
fn process(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let cut = words.iter().position(|word| word.starts_with("..."));
    match cut {
        Some(at) if words.len() > at + 2 => [&words[..at], &["..."], &words[words.len() - 2..]]
            .concat()
            .join(" "),
        _ => words.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::alike;

    #[test]
    fn layouts_of_both_drivers_are_alike() {
        let pairs = [
            (
                "| NVIDIA-SMI 550.163.01             Driver Version: 1",
                "| NVIDIA-SMI 580.159.04             Driver Version: 1",
            ),
            ("|-------+---+----+", "+-------+---+----+"),
            (" 02:27:14       0     42", " 02:27:15       0     42"),
            (
                "    Driver Version        : 580",
                "    Driver Version                         : 580",
            ),
            (
                "| Processes:   |\n|    0   N/A  N/A      4990    C+G   ...ID 2026 -x      61MiB |\n+---+",
                "| Processes:   |\n|    0   N/A  N/A            4990    C+G   ...26 -x     61MiB |\n+---+",
            ),
        ];
        for (r550, r580) in pairs {
            assert_eq!(alike(r550), alike(r580));
        }
    }

    #[test]
    fn facts_are_not() {
        let pairs = [
            ("GPU 0: NVIDIA H200", "GPU 1: NVIDIA H200"),
            ("    Driver Version : 580", "    Driver Version : 581"),
            (
                "| Processes: |\n| 0 N/A N/A 4990 C a 61MiB |",
                "| Processes: |\n| 0 N/A N/A 4990 C a 62MiB |",
            ),
            ("index, name", "index,  name"),
        ];
        for (one, other) in pairs {
            assert_ne!(alike(one), alike(other));
        }
    }
}
