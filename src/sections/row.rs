//! What sections are made of: rows that know their names and where their value
//! comes from.

use crate::facts::Context;
use crate::nvml::Reading;
use crate::render::document::{Content as Answer, Look, Node, Shape, ShapeContent, Times};
use crate::value::{Unit, Value};

/// What a report is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Labels for people.
    Text,
    /// Tags for programs.
    Xml,
}

/// One row: a line, a heading with rows under it, or as many of them as there
/// are items.
pub struct Row<T: 'static> {
    /// Its name in text; blanks before it set it a step inwards. Without a name,
    /// a line is not shown in text, and a heading is left out around its rows.
    label: &'static str,
    /// The same for XML.
    tag: &'static str,
    /// Whether this GPU has it at all; without it every GPU has.
    on: Option<fn(&Context<T>) -> bool>,
    content: Content<T>,
    look: Look,
}

enum Content<T: 'static> {
    Value(Unit, fn(&Context<T>) -> Reading<Value>),
    Group(Option<Readable<T>>, &'static [Row<T>]),
    List(&'static dyn Each<T>),
}

/// Whether a group's rows can be read; else one word stands in their place.
type Readable<T> = fn(&Context<T>) -> Reading<()>;

impl<T> Clone for Row<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Row<T> {}

impl<T> Clone for Content<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Content<T> {}

/// A line without a unit.
pub const fn line<T>(
    label: &'static str,
    tag: &'static str,
    get: fn(&Context<T>) -> Reading<Value>,
) -> Row<T> {
    number(label, tag, Unit::None, get)
}

/// A line whose numbers have a unit.
pub const fn number<T>(
    label: &'static str,
    tag: &'static str,
    unit: Unit,
    get: fn(&Context<T>) -> Reading<Value>,
) -> Row<T> {
    row(label, tag, Content::Value(unit, get))
}

/// A heading.
pub const fn group<T>(label: &'static str, tag: &'static str, rows: &'static [Row<T>]) -> Row<T> {
    row(label, tag, Content::Group(None, rows))
}

/// A heading, with a word in the place of its rows where they cannot be read.
pub const fn group_or_word<T>(
    label: &'static str,
    tag: &'static str,
    readable: Readable<T>,
    rows: &'static [Row<T>],
) -> Row<T> {
    row(label, tag, Content::Group(Some(readable), rows))
}

/// A heading with a row for each item of a list; without names, only the rows.
pub const fn list<T>(label: &'static str, tag: &'static str, each: &'static dyn Each<T>) -> Row<T> {
    row(label, tag, Content::List(each))
}

const fn row<T>(label: &'static str, tag: &'static str, content: Content<T>) -> Row<T> {
    Row {
        label,
        tag,
        on: None,
        content,
        look: Look::Usual,
    }
}

impl<T> Row<T> {
    /// Only for GPUs that have it.
    pub const fn on(mut self, has: fn(&Context<T>) -> bool) -> Self {
        self.on = Some(has);
        self
    }

    /// Set apart as nvidia-smi does.
    pub const fn look(mut self, look: Look) -> Self {
        self.look = look;
        self
    }

    /// Asks what this form shows, and appends the answer.
    pub fn build(&self, form: Form, context: &Context<T>, into: &mut Vec<Node>) {
        let name = match form {
            Form::Text => self.label,
            Form::Xml => self.tag,
        };
        let is_line = matches!(self.content, Content::Value(..));
        if is_line && name.is_empty() || self.on.is_some_and(|has| !has(context)) {
            return;
        }
        let content = match self.content {
            Content::Value(unit, get) => Answer::Leaf(get(context), unit),
            Content::Group(readable, rows) => {
                match readable.map_or(Ok(()), |readable| readable(context)) {
                    Ok(()) => {
                        let mut nodes = Vec::new();
                        rows.iter()
                            .for_each(|row| row.build(form, context, &mut nodes));
                        Answer::Group(nodes)
                    }
                    Err(missing) => Answer::Leaf(Err(missing), Unit::None),
                }
            }
            Content::List(each) => each.build(form, context, !name.is_empty()),
        };
        into.push(Node {
            label: self.label.into(),
            tag: self.tag,
            id: None,
            content,
            look: self.look,
        });
    }

    /// What it can be in XML, if it is there at all.
    pub fn shape(&self) -> Option<Shape> {
        let content = match self.content {
            Content::Value(..) if self.tag.is_empty() => return None,
            Content::Value(..) => ShapeContent::Text,
            Content::Group(None, rows) => ShapeContent::Elements(shapes(rows)),
            Content::Group(Some(_), rows) => ShapeContent::ElementsOrWord(shapes(rows)),
            Content::List(each) => {
                let element: Vec<Shape> = each.shape().into_iter().collect();
                match self.tag {
                    "" => ShapeContent::Elements(element.into_iter().map(Shape::or_word).collect()),
                    _ => ShapeContent::ElementsOrWord(element),
                }
            }
        };
        let empty = matches!(&content, ShapeContent::Elements(shapes) if shapes.is_empty());
        (!empty).then_some(Shape {
            tag: self.tag,
            times: match self.on {
                None => Times::One,
                Some(_) => Times::Optional,
            },
            content,
        })
    }
}

/// The shapes of rows.
pub fn shapes<T>(rows: &[Row<T>]) -> Vec<Shape> {
    rows.iter().filter_map(Row::shape).collect()
}

/// A list of whatever items, as a row sees it.
pub trait Each<T>: Sync {
    /// Asks for the items, and each of them for its row. Under a heading, one
    /// word says why there are none; without, one row does.
    fn build(&self, form: Form, context: &Context<T>, headed: bool) -> Answer;
    /// What one item's row can be.
    fn shape(&self) -> Option<Shape>;
}

/// A list of `U`s, of a `T`.
pub struct List<T: 'static, U: 'static> {
    /// The items.
    pub items: fn(&Context<T>) -> Reading<Vec<U>>,
    /// What stands where there are none.
    pub empty: Empty,
    /// One item's row.
    pub row: Row<U>,
}

/// What stands where a list has no items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Empty {
    /// The heading alone.
    Heading,
    /// A word, in text.
    Word(&'static str),
    /// A word, in text and in XML.
    WordInBoth(&'static str),
    /// A word under the heading, in XML.
    XmlLine(&'static str),
}

impl<T, U> Each<T> for List<T, U> {
    fn build(&self, form: Form, context: &Context<T>, headed: bool) -> Answer {
        let items = match (self.items)(context) {
            Ok(items) => items,
            Err(missing) if headed => return Answer::Leaf(Err(missing), Unit::None),
            Err(missing) => {
                let (label, tag) = (self.row.label, self.row.tag);
                let row = Node::leaf(label, tag, Err(missing), Unit::None);
                return Answer::Group(vec![row]);
            }
        };
        let mut nodes = Vec::new();
        if items.is_empty() {
            match (self.empty, form) {
                (Empty::Word(word), Form::Text) | (Empty::WordInBoth(word), _) => {
                    return Answer::Leaf(Ok(Value::word(word)), Unit::None);
                }
                (Empty::XmlLine(word), Form::Xml) => {
                    nodes.push(Node::leaf("", "", Ok(Value::word(word)), Unit::None));
                }
                _ => {}
            }
        }
        for item in &items {
            self.row.build(form, &context.about(item), &mut nodes);
        }
        Answer::Group(nodes)
    }

    fn shape(&self) -> Option<Shape> {
        let mut shape = self.row.shape()?;
        shape.times = Times::Any;
        Some(shape)
    }
}
