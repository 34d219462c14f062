//! Merges an entry into a configuration in JSON. The text is changed where the entry goes and nowhere
//! else, so that order, indentation and numbers stay as somebody wrote them.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// The text with the entry in its section; none when it is there already. Refuses what it does not
/// understand: comments, a section that is no object, an entry that is another one.
pub(super) fn merge(
    old: Option<&str>,
    section: &str,
    name: &str,
    entry: &Value,
) -> Result<Option<String>, &'static str> {
    let whole = old.map(|text| text.trim_start_matches('\u{feff}')).unwrap_or_default();
    if whole.trim().is_empty() {
        return Ok(Some(format!("{:#}\n", json!({ section: { name: entry } }))));
    }
    let parsed: Value = serde_json::from_str(whole).map_err(|_| "it is not plain JSON")?;
    let top = parsed.as_object().ok_or("it is no JSON object")?;
    let member = match top.get(section) {
        None => return Ok(Some(insert(whole, top, section, &json!({ name: entry })))),
        Some(Value::Object(members)) => members,
        Some(_) => return Err("its section for servers is no object"),
    };
    match member.get(name) {
        Some(there) if there == entry => Ok(None),
        Some(_) => Err("it has another server of this name; remove it or use --name"),
        None => {
            let at = place_of(whole, section).ok_or("its section for servers was not found")?;
            let (before, rest) = whole.split_at(at);
            let inner = insert(rest, member, name, entry);
            Ok(Some(format!("{before}{inner}")))
        }
    }
}

/// A text that begins with an object, with one more member at its beginning.
fn insert(text: &str, members: &Map<String, Value>, name: &str, value: &Value) -> String {
    let open = text.find('{').map_or(0, |at| at + 1);
    let (head, rest) = text.split_at(open);
    let comma = if members.is_empty() { "\n" } else { "," };
    format!("{head}\n  {}: {value}{comma}{rest}", json!(name))
}

/// Where the value of a member of the outermost object begins.
fn place_of(text: &str, name: &str) -> Option<usize> {
    let members: std::collections::BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
    let value = members.get(name)?.get();
    // The value is a part of the text, so its place is the distance between them.
    (value.as_ptr() as usize).checked_sub(text.as_ptr() as usize).filter(|at| *at < text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(old: &str) -> Result<Option<Value>, &'static str> {
        let merged = merge(Some(old), "mcpServers", "loci", &json!({"command": "l", "args": []}))?;
        Ok(merged.map(|text| serde_json::from_str(&text).unwrap()))
    }

    #[test]
    fn what_is_there_stays() {
        let loci = json!({"command": "l", "args": []});
        for (old, rest) in [
            ("", json!({})),
            ("{}", json!({})),
            (r#"{"a": 1.50, "mcpServers": {}}"#, json!({"a": 1.5})),
            (
                r#"{"x": {"mcpServers": {"q": 1}}, "b": "{\"mcpServers\": {"}"#,
                json!({"x": {"mcpServers": {"q": 1}}, "b": "{\"mcpServers\": {"}),
            ),
        ] {
            let mut expected = rest;
            expected["mcpServers"] = json!({ "loci": loci });
            assert_eq!(merged(old).unwrap().unwrap(), expected, "{old}");
        }
        let two = merged(r#"{"mcpServers": {"other": {"command": "o"}}}"#).unwrap().unwrap();
        assert_eq!(two["mcpServers"], json!({"loci": loci, "other": {"command": "o"}}));
    }

    #[test]
    fn the_text_is_kept_as_it_was_written() {
        let old = "{\n\t\"z\": 1.50,\n\t\"mcpServers\": {\n\t\t\"o\": {}\n\t}\n}\n";
        let text = merge(Some(old), "mcpServers", "loci", &json!({})).unwrap().unwrap();
        assert!(text.starts_with("{\n\t\"z\": 1.50,\n\t\"mcpServers\": {"), "{text}");
        assert!(text.ends_with("\n\t\t\"o\": {}\n\t}\n}\n"), "{text}");
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for bad in [
            "{ // a comment\n}",
            "[]",
            "{",
            r#"{"mcpServers": []}"#,
            r#"{"mcpServers": {"loci": {"command": "another"}}}"#,
        ] {
            assert!(merged(bad).is_err(), "{bad}");
        }
        let same = r#"{"mcpServers": {"loci": {"args": [], "command": "l"}}}"#;
        assert_eq!(merged(same), Ok(None));
    }
}
