//! What else can be asked about a directory: how the other side kept what was written.

use anyhow::Result;

/// Knows what became of a file, by a way that is not the file system.
pub trait Witness {
    /// The operations on whatever is at this path now, oldest first; nothing where versions are
    /// not kept.
    fn operations(&mut self, path: &str) -> Result<Option<Vec<String>>>;

    /// Who the memory at this path is, where there are ids.
    fn identity(&mut self, path: &str) -> Result<Option<String>>;

    /// The content at this path, where it can be asked for.
    fn content(&mut self, path: &str) -> Result<Option<Vec<u8>>>;

    /// Every path there is, in order, where they can be asked for.
    fn paths(&mut self) -> Result<Option<Vec<String>>>;
}

/// The witness of a plain directory: nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoWitness;

impl Witness for NoWitness {
    fn operations(&mut self, _path: &str) -> Result<Option<Vec<String>>> {
        Ok(None)
    }

    fn identity(&mut self, _path: &str) -> Result<Option<String>> {
        Ok(None)
    }

    fn content(&mut self, _path: &str) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    fn paths(&mut self) -> Result<Option<Vec<String>>> {
        Ok(None)
    }
}
