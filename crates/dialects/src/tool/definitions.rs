//! What a model is told about the tool. The native one is known to models by its type alone; the
//! one with nine commands is described here, in our own words, without what the operator took away.

use super::ToolOptions;
use serde_json::{Value, json};

/// Both definitions. A program gives a model one of them.
pub(super) fn all(options: &ToolOptions) -> Value {
    json!({ "tools": [
        { "type": "memory_20250818", "name": "memory" },
        nine_commands(options),
    ] })
}

fn nine_commands(options: &ToolOptions) -> Value {
    let mut commands = vec!["view", "create", "edit", "delete", "rename", "search"];
    let mut lines = vec![
        "view: one entry by key, or all entries when no key is given.",
        "create: write content under a key, over what is there.",
        "edit: replace old_str, which must occur exactly once in the entry, by new_str.",
        "delete: remove an entry that you created.",
        "rename: give an entry the key new_str.",
        "search: find entries by words and meaning, in every store you can reach.",
    ];
    if !options.hide_sharing {
        commands.extend(["share", "unshare"]);
        lines.push("share: give agent access to a store, at level search, read or readwrite.");
        lines.push("unshare: take it back.");
    }
    commands.push("stores");
    lines.push("stores: list the stores you can reach.");
    let description = format!(
        "Remember things between conversations. Entries are values under keys, not files. scope \
         chooses whose memory: agent (yours, for everyone you talk to), user (about the user), \
         chat (of this conversation). store names a store that was shared with you.\n{}",
        lines.join("\n")
    );
    let text = |what: &str| json!({ "type": "string", "description": what });
    let short = |most: usize, what: &str| {
        let mut short = text(what);
        short["maxLength"] = json!(most);
        short
    };
    let mut properties = json!({
        "command": { "type": "string", "enum": commands },
        "scope": text("Whose memory. Not together with store."),
        "store": short(64, "A store that was shared with you."),
        "key": short(200, "A plain name, without an extension."),
        "path": short(
            256,
            "Older way to name an entry: /memories/<key> or /memories/shared/<store>/<key>. Wins \
             over the rest.",
        ),
        "content": text("What to write."),
        "old_str": text("What to replace."),
        "new_str": text("What to put there; for rename, the new key."),
        "query": short(4096, "What to look for."),
    });
    properties["scope"]["enum"] = json!(["agent", "user", "chat"]);
    properties["path"]["pattern"] = json!("^/memories(/.*)?$");
    if !options.hide_sharing {
        properties["agent"] = short(255, "The agent to share with.");
        properties["level"] = json!({ "type": "string", "enum": ["search", "read", "readwrite"] });
    }
    json!({
        "name": "memory",
        "description": description,
        "input_schema": {
            "type": "object",
            "properties": properties,
            "required": ["command"],
            "additionalProperties": false,
        },
    })
}
