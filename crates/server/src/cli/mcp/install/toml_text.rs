//! Adds a table to a configuration in TOML, at its end. The text before it is not touched, so comments
//! and order stay.

use super::clients::Entry;
use std::fmt::Write as _;
use toml::Value;

/// What to add.
pub(super) fn snippet(name: &str, entry: &Entry) -> String {
    let quoted = |text: &str| Value::String(text.to_owned()).to_string();
    let arguments: Vec<String> = entry.arguments.iter().map(|one| quoted(one)).collect();
    let mut text = format!(
        "[mcp_servers.{name}]\ncommand = {}\nargs = [{}]\n",
        quoted(&entry.program),
        arguments.join(", ")
    );
    if let Some((variable, secret)) = &entry.environment {
        let _ = writeln!(text, "env = {{ {variable} = {} }}", quoted(secret));
    }
    text
}

/// The text with the table; none when it is there already.
pub(super) fn merge(
    old: Option<&str>,
    name: &str,
    entry: &Entry,
) -> Result<Option<String>, &'static str> {
    let old = old.unwrap_or_default();
    let parsed: toml::Table = old.parse().map_err(|_| "it is not TOML")?;
    let added = snippet(name, entry);
    let wanted: toml::Table = added.parse().map_err(|_| "the name cannot be written")?;
    let servers = |table: &toml::Table| table.get("mcp_servers")?.get(name).cloned();
    match servers(&parsed) {
        Some(there) if Some(&there) == servers(&wanted).as_ref() => return Ok(None),
        Some(_) => return Err("it has another server of this name; remove it or use --name"),
        None => {}
    }
    let space = if old.is_empty() || old.ends_with('\n') { "\n" } else { "\n\n" };
    let text = format!("{old}{}{added}", if old.is_empty() { "" } else { space });
    // A table that was written inline takes no other beside it.
    let is_sound = text.parse::<toml::Table>().is_ok();
    if is_sound { Ok(Some(text)) } else { Err("its servers are written in one line") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_added_once() {
        let arguments = vec!["mcp".to_owned(), "--data".to_owned(), "/a \"b\"".to_owned()];
        let environment = Some(("LOCI_KEY".to_owned(), "k".to_owned()));
        let entry = Entry { program: "/bin/loci".to_owned(), arguments, environment };
        let old = "# mine\nmodel = \"x\"\n[mcp_servers.other]\ncommand = \"o\"";
        let text = merge(Some(old), "loci", &entry).unwrap().unwrap();
        assert!(text.starts_with(old));
        let parsed: toml::Table = text.parse().unwrap();
        assert_eq!(parsed["mcp_servers"]["loci"]["args"][2].as_str(), Some("/a \"b\""));
        assert_eq!(merge(Some(&text), "loci", &entry), Ok(None));
        let other = Entry { program: "/else".to_owned(), ..entry.clone() };
        assert!(merge(Some(&text), "loci", &other).is_err());
        assert!(merge(Some("= ="), "loci", &entry).is_err());
        assert!(merge(Some("mcp_servers = {}"), "loci", &entry).is_err());
        assert!(merge(None, "loci", &entry).unwrap().is_some());
    }
}
