//! Long lists, a page at a time: at any moment one page is in memory, however long the list is.

use super::Result;
use std::collections::VecDeque;

/// Somewhere pages come from.
pub(super) trait Pages {
    type Item;

    /// The next page; `None` at the end.
    async fn next_page(&mut self) -> Result<Option<Vec<Self::Item>>>;
}

/// The items of all pages, one after the other.
pub(super) struct Walk<P: Pages> {
    pages: P,
    ready: VecDeque<P::Item>,
}

impl<P: Pages> Walk<P> {
    pub(super) fn new(pages: P) -> Self {
        Self { pages, ready: VecDeque::new() }
    }

    pub(super) async fn next(&mut self) -> Result<Option<P::Item>> {
        while self.ready.is_empty() {
            match self.pages.next_page().await? {
                Some(page) => self.ready = page.into(),
                None => return Ok(None),
            }
        }
        Ok(self.ready.pop_front())
    }
}
