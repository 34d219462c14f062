//! Where memories are kept: in a directory of this machine, or in a PostgreSQL database that other
//! servers may share. Said by a flag, else by the environment, else by the configuration file.
//!
//! The URL of a database may hold a password, so there is no way to show one that shows it.

use crate::config;
use crate::exit::Failure;
use serde::Deserialize;
use std::fmt;
use std::path::PathBuf;

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// Where memories are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// One process at a time has it.
    Directory(PathBuf),
    /// Any number of processes work on it.
    Database(DatabaseUrl),
}

/// The URL of a database, with a password perhaps.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub(crate) struct DatabaseUrl(String);

impl Place {
    /// What the command line names, else the environment, if anything.
    pub(crate) fn given(
        data: Option<PathBuf>,
        database: Option<DatabaseUrl>,
    ) -> Result<Option<Self>, Failure> {
        if let Some(place) = either(data, database, "--data and --database")? {
            return Ok(Some(place));
        }
        let data = config::env("LOCI_DATA").map(PathBuf::from);
        let database = config::env("LOCI_DATABASE").map(DatabaseUrl::from);
        either(data, database, "LOCI_DATA and LOCI_DATABASE")
    }

    /// The directory that is used when nobody says.
    pub(crate) fn default_directory() -> Self {
        Self::Directory(config::default_data_dir())
    }
}

fn either(
    data: Option<PathBuf>,
    database: Option<DatabaseUrl>,
    both: &str,
) -> Result<Option<Place>, Failure> {
    match (data, database) {
        (Some(_), Some(_)) => {
            let why = format!("{both} name two places; memories are kept in one");
            Err(Failure::usage(why))
        }
        // Not shown: there may be a password in it.
        (Some(data), None) if data.to_str().is_some_and(DatabaseUrl::is_one) => {
            Err(Failure::usage("a database is named by --database or LOCI_DATABASE"))
        }
        (Some(data), None) => Ok(Some(Place::Directory(data))),
        (None, Some(database)) => Ok(Some(Place::Database(database))),
        (None, None) => Ok(None),
    }
}

/// The URL of a database, or else the path of a directory.
impl From<String> for Place {
    fn from(text: String) -> Self {
        match DatabaseUrl::is_one(&text) {
            true => Self::Database(DatabaseUrl(text)),
            false => Self::Directory(PathBuf::from(text)),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(path) => path.display().fmt(f),
            Self::Database(url) => url.fmt(f),
        }
    }
}

impl DatabaseUrl {
    /// Whether a text is such a URL, and not the path of a directory.
    fn is_one(text: &str) -> bool {
        SCHEMES.iter().any(|scheme| text.starts_with(scheme))
    }

    /// The URL with all there is in it, for whoever connects.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether it may hold a password. In doubt it does.
    pub(crate) fn has_password(&self) -> bool {
        let rest = self.0.split_once("://").map_or(self.0.as_str(), |(_, rest)| rest);
        let credentials = rest.rsplit_once('@').map_or("", |(credentials, _)| credentials);
        credentials.contains(':') || rest.to_ascii_lowercase().contains("password=")
    }

    /// User, host and database, where it is beyond doubt which is which.
    fn plain_parts(&self) -> Option<(&str, &str, &str)> {
        let rest = SCHEMES.iter().find_map(|scheme| self.0.strip_prefix(scheme))?;
        let rest = rest.split('?').next().unwrap_or(rest);
        let (credentials, rest) = rest.split_once('@')?;
        let (host, database) = rest.split_once('/').unwrap_or((rest, ""));
        let user = credentials.split(':').next().unwrap_or(credentials);
        let is_plain = |text: &str| {
            let is_allowed =
                |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '%' | ',');
            text.chars().all(|c| is_allowed(c) || matches!(c, ':' | '[' | ']'))
        };
        let all_plain = [user, host, database].into_iter().all(is_plain);
        (all_plain && self.0.matches('@').count() == 1).then_some((user, host, database))
    }
}

impl From<String> for DatabaseUrl {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.plain_parts() {
            Some((user, host, database)) => write!(f, "postgres://{user}@{host}/{database}"),
            None => f.write_str("the PostgreSQL database"),
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let url = DatabaseUrl::from(text.to_owned());
        format!("{url} {url:?} {} {:?}", Place::Database(url.clone()), Place::Database(url.clone()))
    }

    #[test]
    fn a_password_is_never_shown() {
        for url in [
            "postgres://loci:hunter2@db.example:5432/memories",
            "postgres://loci:hunter2@db.example/memories?password=hunter2&sslmode=require",
            "postgres://loci:a@hunter2@db.example/memories",
            "postgres://loci:a/hunter2?@db.example/memories",
            "postgres://loci:hunter2",
            "postgres://hunter2",
            "host=db password=hunter2 user=a@b",
            "mysql://loci:hunter2@db/x",
        ] {
            assert!(!shown(url).contains("hunter2"), "{url}: {}", shown(url));
        }
        let shown = DatabaseUrl::from("postgresql://loci:x@db.example:1,b/m?a=b".to_owned());
        assert_eq!(shown.to_string(), "postgres://loci@db.example:1,b/m");
    }

    #[test]
    fn a_password_is_found_in_doubt() {
        for (url, expect) in [
            ("postgres://loci@db/m", false),
            ("postgres://loci@db:5432/m?sslmode=require", false),
            ("postgres://loci@[::1]:5432/m", false),
            ("postgres://loci:x@db/m", true),
            ("postgres://loci:@db/m", true),
            ("postgres://loci@db/m?Password=x", true),
            ("postgres://loci:a@b@db/m", true),
        ] {
            assert_eq!(DatabaseUrl::from(url.to_owned()).has_password(), expect, "{url}");
        }
    }

    #[test]
    fn two_places_are_one_too_many() {
        let url = || Some(DatabaseUrl::from("postgres://u:hunter2@h/d".to_owned()));
        let failure = Place::given(Some("/d".into()), url()).unwrap_err();
        assert!(failure.message.contains("--database") && !failure.message.contains("hunter2"));
        let failure = Place::given(Some("postgres://u:hunter2@h/d".into()), None).unwrap_err();
        assert!(failure.message.contains("--database") && !failure.message.contains("hunter2"));
        let place = Place::given(None, url()).unwrap();
        assert!(matches!(place, Some(Place::Database(_))));
        let place = Place::given(Some("/d".into()), None).unwrap();
        assert_eq!(place, Some(Place::Directory("/d".into())));
        assert_eq!(Place::from("/d".to_owned()), Place::Directory("/d".into()));
        let text = "postgresql://u@h/d".to_owned();
        assert!(matches!(Place::from(text), Place::Database(_)));
    }
}
