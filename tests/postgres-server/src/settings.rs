//! What a server is started with, and the lines of `postgresql.conf` that say so.
//!
//! Settings go into the file and not onto the command line, which `alter system` could not
//! override.

use std::path::PathBuf;

/// How one server differs from the usual.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Keeps PostgreSQL's own durability settings and turns checksums of pages on. Otherwise
    /// nothing waits for the disk: a killed process loses nothing, a power cut might.
    pub durable: bool,
    /// More settings, which win over those made here.
    pub extra: Vec<(String, String)>,
    /// A folder, for example a small file system, in which the data directory is made.
    pub data_on: Option<PathBuf>,
}

impl Settings {
    /// Durable, otherwise as usual.
    pub fn durable() -> Self {
        Self { durable: true, ..Self::default() }
    }

    /// One more setting.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.extra.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The data directory is made in this folder.
    #[must_use]
    pub fn data_on(mut self, folder: impl Into<PathBuf>) -> Self {
        self.data_on = Some(folder.into());
        self
    }

    /// The text to append to `postgresql.conf`; the last line about a setting wins.
    pub(crate) fn conf(&self) -> String {
        let mut lines = vec![
            ("listen_addresses", "127.0.0.1"),
            // The tests speak TCP as the product does; nothing is left in the file system.
            ("unix_socket_directories", ""),
            ("max_connections", "300"),
            ("shared_buffers", "64MB"),
            ("timezone", "UTC"),
            ("log_timezone", "UTC"),
        ];
        if !self.durable {
            // synchronous_commit stays as it is: the engine decides about it, and is tested for it.
            lines.extend([
                ("fsync", "off"),
                ("full_page_writes", "off"),
                // The log may lie in memory.
                ("max_wal_size", "256MB"),
                // In the data directory, so that a killed server leaves nothing in /dev/shm.
                ("dynamic_shared_memory_type", "mmap"),
            ]);
        }
        let extra = self.extra.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        lines.into_iter().chain(extra).map(|(name, value)| line(name, value)).collect()
    }
}

fn line(name: &str, value: &str) -> String {
    format!("{name} = '{}'\n", value.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extra_settings_come_last_and_are_quoted() {
        let text = Settings::default().with("fsync", "on").with("cluster_name", "it's").conf();
        assert!(text.ends_with("fsync = 'on'\ncluster_name = 'it''s'\n"), "{text}");
        assert!(text.contains("fsync = 'off'"));
        assert!(!Settings::durable().conf().contains("fsync"));
    }
}
