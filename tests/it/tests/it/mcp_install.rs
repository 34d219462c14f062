//! Promise: `loci mcp install` tells programs about this memory without breaking their configuration.

use loci_it::{Loci, binary};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;

const JSON_CLIENTS: [(&str, &str, &str); 7] = [
    ("claude-code", ".claude.json", "mcpServers"),
    ("claude-desktop", ".config/Claude/claude_desktop_config.json", "mcpServers"),
    ("cursor", ".cursor/mcp.json", "mcpServers"),
    ("vscode", ".config/Code/User/mcp.json", "servers"),
    ("windsurf", ".codeium/windsurf/mcp_config.json", "mcpServers"),
    ("zed", ".config/zed/settings.json", "context_servers"),
    ("gemini", ".gemini/settings.json", "mcpServers"),
];

fn home() -> (TempDir, Loci) {
    let home = TempDir::with_prefix("loci-home-").unwrap();
    let loci = Loci::on_data(Path::new("/srv/memory"));
    let loci = loci.with_env("HOME", home.path().to_str().unwrap());
    (home, loci)
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn each_program_is_told_in_its_own_words() {
    let (home, loci) = home();
    let program = fs::canonicalize(binary()).unwrap();
    for (client, file, section) in JSON_CLIENTS {
        let file = home.path().join(file);
        // Without being asked to write, it writes nothing.
        let shown = loci.json(&["mcp", "install", client]);
        assert_eq!(shown["file"], file.to_str().unwrap());
        assert!(!file.exists(), "{client}");
        loci.ok(&["mcp", "install", client, "--write"]);
        let entry = &read(&file)[section]["loci"];
        assert_eq!(entry["command"], program.to_str().unwrap(), "{client}");
        assert_eq!(entry["args"], json!(["mcp", "--data", "/srv/memory"]), "{client}");
        let snippet: Value =
            serde_json::from_str(shown["configuration"].as_str().unwrap()).unwrap();
        assert_eq!(snippet, read(&file), "{client}");
    }
    loci.ok(&["mcp", "install", "codex", "--write", "--profile", "default,admin"]);
    let text = fs::read_to_string(home.path().join(".codex/config.toml")).unwrap();
    assert!(text.contains("[mcp_servers.loci]") && text.contains("\"admin\""), "{text}");
}

#[test]
fn what_is_there_stays_and_a_copy_is_kept() {
    let (home, loci) = home();
    let file = home.path().join(".cursor/mcp.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let old =
        "{\n  \"z\": 1.50,\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"}\n  }\n}\n";
    fs::write(&file, old).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    loci.ok(&["mcp", "install", "cursor", "--write"]);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("\"z\": 1.50") && read(&file)["mcpServers"]["other"]["command"] == "x");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o644);
    let backup = home.path().join(".cursor/mcp.json.before-loci");
    assert_eq!(fs::read_to_string(backup).unwrap(), old);
    // A second time changes nothing, and another entry of the name is not replaced.
    loci.ok(&["mcp", "install", "cursor", "--write"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    let refused = loci.run(&["mcp", "install", "cursor", "--write", "--profile", "admin"]);
    assert_ne!(refused.code, Some(0));
    assert!(refused.stderr.contains("another server of this name"), "{}", refused.stderr);
    loci.ok(&["mcp", "install", "cursor", "--write", "--name", "second", "--profile", "admin"]);
    assert_eq!(read(&file)["mcpServers"].as_object().unwrap().len(), 3);
}

#[test]
fn what_is_not_understood_is_left_alone() {
    let (home, loci) = home();
    let file = home.path().join(".config/zed/settings.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let old = "{\n  // my settings\n  \"theme\": \"x\",\n}\n";
    fs::write(&file, old).unwrap();
    let refused = loci.run(&["mcp", "install", "zed", "--write"]);
    assert_ne!(refused.code, Some(0));
    assert!(refused.stderr.contains("Add this by hand"), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(&file).unwrap(), old);
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "nothing is left over");
    for name in ["", "a b", "a\"b"] {
        let refused = loci.run(&["mcp", "install", "zed", "--name", name]);
        assert_eq!(refused.code, Some(2), "{name:?}: {}", refused.stderr);
    }
}
