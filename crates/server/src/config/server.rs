//! `[server]`: where to listen, what the server is called, and where memories are kept.
//!
//! A database's URL with a password in it is a secret, so the file only says where to find it.

use super::{env, hosts};
use crate::exit::Failure;
use crate::place::{DatabaseUrl, Place};
use serde::Deserialize;
use std::fs;
use std::path::PathBuf;

/// `[server]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ServerSection {
    pub(crate) listen: Option<String>,
    /// What else the server is called, by those who ask it.
    pub(crate) allowed_hosts: Vec<String>,
    /// Whether the database is a replica, which is only read.
    pub(crate) replica: bool,
    data: Option<PathBuf>,
    database: Option<DatabaseUrl>,
    database_env: Option<String>,
    database_file: Option<PathBuf>,
}

impl ServerSection {
    pub(super) fn check(&self) -> Result<(), String> {
        hosts::check("server.allowed_hosts", &self.allowed_hosts)?;
        let named = [
            self.data.is_some(),
            self.database.is_some(),
            self.database_env.is_some(),
            self.database_file.is_some(),
        ];
        if named.iter().filter(|is_named| **is_named).count() > 1 {
            return Err(
                "server takes only one of data, database, database_env and database_file".into()
            );
        }
        if self.database.as_ref().is_some_and(DatabaseUrl::has_password) {
            return Err("server.database must not hold a password: put the whole URL into an \
                        environment variable or a file, and name it as database_env or \
                        database_file"
                .into());
        }
        Ok(())
    }

    /// Where memories are kept, if the file says so.
    pub(crate) fn place(&self) -> Result<Option<Place>, Failure> {
        if let Some(data) = &self.data {
            return Ok(Some(Place::Directory(data.clone())));
        }
        let url = match (&self.database, &self.database_env, &self.database_file) {
            (Some(url), _, _) => url.clone(),
            (None, Some(name), _) => {
                let found = env(name).map(DatabaseUrl::from);
                found.ok_or_else(|| fail(format_args!("{name} is not set in the environment")))?
            }
            (None, None, Some(path)) => {
                let text = fs::read_to_string(path).map_err(|error| {
                    fail(format_args!("cannot read {}: {error}", path.display()))
                })?;
                DatabaseUrl::from(text.trim_end_matches(['\r', '\n']).to_owned())
            }
            (None, None, None) => return Ok(None),
        };
        Ok(Some(Place::Database(url)))
    }
}

fn fail(why: std::fmt::Arguments<'_>) -> Failure {
    Failure::failed(format!("the database's URL: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn place(text: &str) -> Result<Option<Place>, String> {
        let config = Config::parse(&format!("[server]\n{text}\n"))?;
        config.server.place().map_err(|failure| failure.message)
    }

    #[test]
    fn a_file_names_one_place_at_most() {
        assert_eq!(place(""), Ok(None));
        assert_eq!(place("data = '/d'"), Ok(Some(Place::Directory("/d".into()))));
        let found = place("database = 'postgres://loci@db/m'").unwrap().unwrap();
        assert_eq!(found.to_string(), "postgres://loci@db/m");
        let two = place("data = '/d'\ndatabase = 'postgres://loci@db/m'").unwrap_err();
        assert!(two.contains("only one of"), "{two}");
    }

    #[test]
    fn a_password_lies_elsewhere() {
        let said = place("database = 'postgres://loci:hunter2@db/m'").unwrap_err();
        assert!(said.contains("database_env") && !said.contains("hunter2"), "{said}");

        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("url");
        fs::write(&file, "postgres://loci:hunter2@db/m\n").unwrap();
        let found = place(&format!("database_file = '{}'", file.display())).unwrap().unwrap();
        let Place::Database(url) = &found else { panic!("{found}") };
        assert_eq!(url.reveal(), "postgres://loci:hunter2@db/m");
        let config = Config::parse("[server]\ndatabase = 'postgres://loci@db/m?x=hunter2'");
        assert!(!format!("{config:?}").contains("hunter2"));

        assert!(place("database_env = 'LOCI_TEST_NOT_SET'").unwrap_err().contains("not set"));
        assert!(place("database_file = '/nowhere/url'").unwrap_err().contains("cannot read"));
    }
}
