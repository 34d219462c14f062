//! The files of the web console, inside the binary: nothing is read from disk for it, and cargo
//! builds nothing for it.
//!
//! They are what `console/build.mjs` made of `console/src`, kept compressed with brotli and only so;
//! for whoever cannot take that they have to be unpacked. All names but that of the page carry a
//! hash of their content, and never mean anything else.

mod table;

/// One file.
#[derive(Debug, Clone, Copy)]
pub struct Asset {
    /// Its name below `/console/assets/`.
    pub name: &'static str,
    /// Its media type.
    pub content_type: &'static str,
    /// How long it is when unpacked.
    pub bytes: usize,
    /// Its content, compressed.
    pub brotli: &'static [u8],
}

/// The page that all paths of the console answer with.
pub const INDEX: &str = "index.html";

/// Every file, by name.
pub fn assets() -> &'static [Asset] {
    table::ASSETS
}

/// The file of this name.
pub fn asset(name: &str) -> Option<&'static Asset> {
    table::ASSETS.iter().find(|asset| asset.name == name)
}

#[cfg(test)]
mod tests {
    use super::{INDEX, asset, assets};

    #[test]
    fn the_page_is_there_and_every_name_stands_once() {
        assert!(asset(INDEX).is_some());
        let mut names: Vec<_> = assets().iter().map(|asset| asset.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), assets().len());
    }

    #[test]
    fn all_of_it_together_is_within_its_budget() {
        let total: usize = assets().iter().map(|asset| asset.brotli.len()).sum();
        assert!(total <= 200 * 1024, "{total} bytes");
    }
}
