//! The programs: where each keeps its configuration, and what it calls things.

use super::{plain, toml_text};
use clap::ValueEnum;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A program that uses servers of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    Vscode,
    Windsurf,
    Zed,
    Codex,
    Gemini,
}

/// How a program is started that serves the memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
    /// A variable and its value, if there is a key.
    pub(super) environment: Option<(String, String)>,
}

/// What a configuration is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// JSON, with servers in this section.
    Json(&'static str),
    /// TOML, with servers in tables.
    Toml,
}

impl Client {
    pub(super) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Its configuration, for all of a user's work.
    pub(super) fn file(self, home: &Path) -> PathBuf {
        let applications = match cfg!(target_os = "macos") {
            true => home.join("Library/Application Support"),
            false => home.join(".config"),
        };
        match self {
            Self::ClaudeCode => home.join(".claude.json"),
            Self::ClaudeDesktop => applications.join("Claude/claude_desktop_config.json"),
            Self::Cursor => home.join(".cursor/mcp.json"),
            Self::Vscode => applications.join("Code/User/mcp.json"),
            Self::Windsurf => home.join(".codeium/windsurf/mcp_config.json"),
            Self::Zed => home.join(".config/zed/settings.json"),
            Self::Codex => home.join(".codex/config.toml"),
            Self::Gemini => home.join(".gemini/settings.json"),
        }
    }

    pub(super) fn form(self) -> Form {
        match self {
            Self::Vscode => Form::Json("servers"),
            Self::Zed => Form::Json("context_servers"),
            Self::Codex => Form::Toml,
            Self::ClaudeCode
            | Self::ClaudeDesktop
            | Self::Cursor
            | Self::Windsurf
            | Self::Gemini => Form::Json("mcpServers"),
        }
    }

    /// The entry as this program takes it.
    pub(super) fn value(self, entry: &Entry) -> Value {
        let mut value = plain(entry);
        if matches!(self, Self::ClaudeCode | Self::Vscode) {
            value["type"] = json!("stdio");
        }
        value
    }

    /// What to add to the configuration.
    pub(super) fn snippet(self, name: &str, entry: &Entry) -> String {
        match self.form() {
            Form::Toml => toml_text::snippet(name, entry),
            Form::Json(section) => {
                let whole = json!({ section: { name: self.value(entry) } });
                format!("{whole:#}\n")
            }
        }
    }
}
