//! The arguments of a command. They come from a model: every one is optional until a command needs
//! it, every one has a limit, and what is wrong with one is said in a sentence that names it, never
//! by repeating it.

use super::answer::{Stop, says};
use loci_model::{Invalid, limit};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Characters of a command's name that an answer repeats.
const COMMAND_CHARS_MAX: usize = 64;

/// Arguments that are kept as they were written, whatever they say.
const VALUES: [&str; 2] = ["content", "value"];

/// The body of a request: the tool's input, and whom it is for.
#[derive(Debug)]
pub(super) struct Input {
    command: String,
    is_action: bool,
    arguments: BTreeMap<String, Argument>,
}

/// An argument as it was written, because values come back so, and as what it says, unless that is
/// more than our numbers hold.
#[derive(Debug)]
struct Argument {
    raw: Box<RawValue>,
    value: Option<Value>,
}

/// The shape a caller asks for by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Native,
    Robutler,
}

impl Input {
    /// Reads a body: a JSON object with a `command`, or with an `action` as the older clients have
    /// it.
    pub(super) fn read(body: &[u8]) -> Result<Self, Invalid> {
        let refuse = |why: &str| Invalid::new("body", why);
        let fields = serde_json::from_slice::<BTreeMap<String, Box<RawValue>>>(body);
        let fields = fields.map_err(|error| match error.is_data() {
            true => refuse("a JSON object is needed"),
            false => refuse("is not valid JSON"),
        })?;
        let mut arguments = BTreeMap::new();
        for (name, raw) in fields {
            let value = serde_json::from_str(raw.get()).ok();
            if value.is_none() && !VALUES.contains(&name.as_str()) {
                return Err(refuse("is not valid JSON"));
            }
            arguments.insert(name, Argument { raw, value });
        }
        let mut named = |name: &str| match arguments.remove(name)?.value {
            Some(Value::Null) => None,
            other => Some(other),
        };
        let (command, is_action) = match (named("command"), named("action")) {
            (Some(command), _) => (command, false),
            (None, Some(action)) => (action, true),
            (None, None) => (None, false),
        };
        let Some(Value::String(command)) = command else {
            return Err(refuse("command must be given, as a string"));
        };
        Ok(Self { command, is_action, arguments })
    }

    pub(super) fn command(&self) -> &str {
        &self.command
    }

    /// Whether it was asked for as an `action`.
    pub(super) fn is_action(&self) -> bool {
        self.is_action
    }

    /// The command's name, short enough to be repeated.
    pub(super) fn command_shown(&self) -> String {
        self.command.chars().filter(|c| !c.is_control()).take(COMMAND_CHARS_MAX).collect()
    }

    /// Whether an argument is given: models fill in what they leave out with null or nothing.
    pub(super) fn has(&self, name: &str) -> bool {
        self.given(name).is_some()
    }

    fn given(&self, name: &str) -> Option<&Value> {
        self.value(name).filter(|value| value.as_str() != Some(""))
    }

    /// An argument as it was written; null is as good as none.
    pub(super) fn raw(&self, name: &str) -> Option<&RawValue> {
        let raw = self.arguments.get(name).map(|argument| &*argument.raw);
        raw.filter(|raw| raw.get() != "null")
    }

    /// Whether an argument is null, and not only left out.
    pub(super) fn is_null(&self, name: &str) -> bool {
        self.arguments.get(name).is_some_and(|argument| argument.raw.get() == "null")
    }

    /// Whether the arguments beside a path choose a store.
    pub(super) fn names_store(&self) -> bool {
        self.has("scope") || self.has("store")
    }

    /// An argument of any type; null is as good as none.
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        self.arguments.get(name)?.value.as_ref().filter(|value| !value.is_null())
    }

    /// A text of at most this many characters; an empty one is none.
    pub(super) fn text(&self, name: &str, chars_max: usize) -> Result<Option<&str>, Stop> {
        Ok(self.any_text(name, chars_max)?.filter(|text| !text.is_empty()))
    }

    fn any_text(&self, name: &str, chars_max: usize) -> Result<Option<&str>, Stop> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let Value::String(text) = value else {
            return says(format!("{name} must be a string"));
        };
        // Bytes bound characters, so most texts need no counting.
        if text.len() > chars_max && text.chars().count() > chars_max {
            return says(format!("{name} takes up to {chars_max} characters"));
        }
        Ok(Some(text))
    }

    /// A text that may become content, and may be empty.
    pub(super) fn content(&self, name: &str) -> Result<Option<&str>, Stop> {
        self.any_text(name, limit::CONTENT_BYTES_MAX)
    }

    /// A whole number.
    pub(super) fn integer(&self, name: &str) -> Result<Option<i64>, Stop> {
        match self.given(name) {
            None => Ok(None),
            Some(value) => match whole(value) {
                Some(number) => Ok(Some(number)),
                None => says(format!("{name} must be an integer")),
            },
        }
    }

    /// Exactly two whole numbers.
    pub(super) fn range(&self, name: &str) -> Result<Option<(i64, i64)>, Stop> {
        let Some(value) = self.given(name) else { return Ok(None) };
        let numbers = value.as_array().map(|list| list.iter().map(whole).collect::<Vec<_>>());
        match numbers.as_deref() {
            Some([Some(start), Some(end)]) => Ok(Some((*start, *end))),
            _ => says(format!("{name} must be two integers: [start, end]")),
        }
    }

    /// The shape asked for by name.
    pub(super) fn shape(&self) -> Result<Option<Shape>, Stop> {
        match self.text("dialect", COMMAND_CHARS_MAX)? {
            None => Ok(None),
            Some("native") => Ok(Some(Shape::Native)),
            Some("robutler") => Ok(Some(Shape::Robutler)),
            Some(_) => says("dialect must be native or robutler"),
        }
    }
}

/// Models write `2.0` for `2` now and then.
fn whole(value: &Value) -> Option<i64> {
    let exact =
        |number: f64| (number.fract() == 0.0 && number.abs() < 1e15).then_some(number as i64);
    value.as_i64().or_else(|| value.as_f64().and_then(exact))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(body: &str) -> Input {
        Input::read(body.as_bytes()).unwrap()
    }

    #[test]
    fn a_body_is_an_object_with_a_command() {
        for body in ["", "[]", "\"view\"", "{", "{}", r#"{"command":1}"#, r#"{"command":null}"#] {
            assert!(Input::read(body.as_bytes()).is_err(), "{body}");
        }
        assert_eq!(input(r#"{"command":"view"}"#).command(), "view");
    }

    #[test]
    fn arguments_are_checked_by_type_and_size() {
        let input =
            input(r#"{"command":"x","a":"four","b":1,"c":null,"d":[1,2.0],"e":[1],"f":"1"}"#);
        assert_eq!(input.text("a", 4).unwrap(), Some("four"));
        assert!(input.text("a", 3).is_err());
        assert!(input.text("b", 9).is_err());
        assert_eq!(input.text("c", 9).unwrap(), None);
        assert_eq!(input.integer("b").unwrap(), Some(1));
        assert!(input.integer("f").is_err());
        assert_eq!(input.range("d").unwrap(), Some((1, 2)));
        assert!(input.range("e").is_err() && input.range("b").is_err());
        assert!(!input.has("c") && input.has("a"));
    }

    #[test]
    fn an_action_is_a_command_of_old() {
        let old = input(r#"{"action":"get","command":null}"#);
        assert_eq!((old.command(), old.is_action()), ("get", true));
        let new = input(r#"{"action":"get","command":"view"}"#);
        assert_eq!((new.command(), new.is_action()), ("view", false));
        assert!(Input::read(br#"{"action":1}"#).is_err());
    }

    #[test]
    fn what_is_written_is_kept() {
        let input = input(r#"{"command":"x","value":1e400,"b": null ,"content":[ 1.0 ]}"#);
        assert_eq!(input.raw("value").unwrap().get(), "1e400");
        assert_eq!(input.raw("content").unwrap().get(), "[ 1.0 ]");
        assert!(input.raw("b").is_none() && input.is_null("b") && !input.is_null("d"));
        for body in [r#"{"command":"x","scope":"\ud800"}"#, r#"{"command":"x","limit":1e400}"#] {
            assert!(Input::read(body.as_bytes()).is_err(), "{body}");
        }
    }

    #[test]
    fn nothing_is_not_given() {
        let input = input(r#"{"command":"x","a":"","b":[],"scope":"","store":""}"#);
        assert_eq!(input.text("a", 9).unwrap(), None);
        assert_eq!(input.content("a").unwrap(), Some(""), "but content may be empty");
        assert_eq!(input.integer("a").unwrap(), None);
        assert_eq!(input.range("a").unwrap(), None);
        assert!(!input.has("a") && input.has("b") && !input.names_store());
    }

    #[test]
    fn what_is_repeated_is_short_and_plain() {
        let long = format!(r#"{{"command":"a\nb{}"}}"#, "x".repeat(500));
        let shown = input(&long).command_shown();
        assert!(shown.starts_with("abx") && shown.chars().count() == COMMAND_CHARS_MAX);
    }
}
