//! What is kept about an agent beside its memory: the reference its owner knows it by, and how much
//! of its memory a turn begins with. Both are labels of its home, so that they move with it.

use super::error::Problem;
use super::fields::Fields;
use loci_model::Store;
use serde::Serialize;
use utoipa::ToSchema;

/// The label of the owner's reference.
pub(super) const EXTERNAL_REF: &str = "mobius.external_ref";
/// The label of [`MemoryContext`]: its mode, and a colon and bytes when they are said.
pub(super) const MEMORY_CONTEXT: &str = "mobius.memory_context";
const BYTES_MAX: u32 = 245_760;

/// What of an agent's memory a turn begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = MobiusMemoryContextMode)]
pub enum Mode {
    /// A line of each entry, as many as there is room for.
    #[default]
    Index,
    /// Everything; no turn begins when there is no room for it.
    Full,
    /// Nothing.
    Off,
}

impl Mode {
    const ALL: [(Self, &'static str); 3] =
        [(Self::Index, "index"), (Self::Full, "full"), (Self::Off, "off")];

    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, name)| *name == text).map(|(mode, _)| mode)
    }

    fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(mode, _)| *mode == self).map_or("index", |(_, name)| name)
    }

    /// Bytes when the agent's owner does not say.
    pub fn bytes_default(self) -> u32 {
        match self {
            Self::Index => 1536,
            Self::Full => 131_072,
            Self::Off => 0,
        }
    }
}

/// How an agent's memory is put before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, ToSchema)]
#[schema(as = MobiusMemoryContext)]
pub struct MemoryContext {
    /// What.
    pub mode: Mode,
    /// Bytes of UTF-8 for it; none or 0 is the mode's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u32>,
}

impl MemoryContext {
    /// Bytes there are for it.
    pub fn bytes(self) -> u32 {
        self.max_bytes.filter(|bytes| *bytes > 0).unwrap_or_else(|| self.mode.bytes_default())
    }

    /// The setting in a request; `Some(None)` is an empty one, which means the default.
    pub(super) fn read(fields: &Fields) -> Result<Option<Option<Self>>, Problem> {
        let Some(given) = fields.object("memory_context")? else { return Ok(None) };
        if given.len() == 0 {
            return Ok(Some(None));
        }
        given.only(&["mode", "max_bytes"])?;
        let mode = given.text("mode")?.and_then(|text| Mode::parse(&text));
        let mode =
            mode.ok_or_else(|| Problem::invalid("memory_context.mode must be index, full or off"))?;
        let max_bytes = match given.integer("max_bytes")? {
            None => None,
            Some(bytes) => {
                let bytes = u32::try_from(bytes).ok().filter(|bytes| *bytes <= BYTES_MAX);
                let why = || format!("memory_context.max_bytes takes 0 to {BYTES_MAX}");
                Some(bytes.ok_or_else(|| Problem::invalid(why()))?)
            }
        };
        Ok(Some(Some(Self { mode, max_bytes })))
    }

    /// The setting as a label.
    pub(super) fn label(self) -> String {
        match self.max_bytes {
            None => self.mode.name().to_owned(),
            Some(bytes) => format!("{}:{bytes}", self.mode.name()),
        }
    }
}

/// The setting that an agent's owner made, if one was made.
pub fn memory_context(home: &Store) -> Option<MemoryContext> {
    let label = home.metadata.get(MEMORY_CONTEXT)?;
    let (mode, bytes) = label.split_once(':').unwrap_or((label, ""));
    Some(MemoryContext { mode: Mode::parse(mode)?, max_bytes: bytes.parse().ok() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<Option<Option<MemoryContext>>, Problem> {
        MemoryContext::read(&Fields::read(body.as_bytes()).unwrap())
    }

    #[test]
    fn settings_come_back() {
        for (body, label, bytes) in [
            (r#"{"memory_context": {"mode": "index"}}"#, "index", 1536),
            (r#"{"memory_context": {"mode": "full", "max_bytes": 0}}"#, "full:0", 131_072),
            (r#"{"memory_context": {"mode": "full", "max_bytes": 5000}}"#, "full:5000", 5000),
            (r#"{"memory_context": {"mode": "off"}}"#, "off", 0),
        ] {
            let setting = read(body).unwrap().unwrap().unwrap();
            assert_eq!((setting.label().as_str(), setting.bytes()), (label, bytes));
        }
        assert_eq!(read("{}").unwrap(), None);
        assert_eq!(read(r#"{"memory_context": {}}"#).unwrap(), Some(None));
    }

    #[test]
    fn other_settings_are_refused() {
        for bad in [
            r#"{"max_bytes": 5}"#,
            r#"{"mode": "some"}"#,
            r#"{"mode": "full", "max_bytes": 245761}"#,
            r#"{"mode": "full", "max_bytes": -1}"#,
            r#"{"mode": "full", "more": 1}"#,
            r#""full""#,
        ] {
            assert!(read(&format!(r#"{{"memory_context": {bad}}}"#)).is_err(), "{bad}");
        }
    }
}
