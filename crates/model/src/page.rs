//! One page of a listing and where the next one starts.

/// Items and the cursor of the next page, if there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T, C> {
    /// The items, in order.
    pub items: Vec<T>,
    /// Where to go on.
    pub next: Option<C>,
}

impl<T, C> Page<T, C> {
    /// Makes a page of at most `limit` items from a read that asked for one more, taking the cursor
    /// from the last item shown.
    pub fn cut(mut items: Vec<T>, limit: usize, cursor: impl FnOnce(&T) -> C) -> Self {
        let has_more = items.len() > limit;
        items.truncate(limit);
        let next = if has_more { items.last().map(cursor) } else { None };
        Self { items, next }
    }

    /// The same page with other items.
    pub fn map<U>(self, convert: impl FnMut(T) -> U) -> Page<U, C> {
        Page { items: self.items.into_iter().map(convert).collect(), next: self.next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_only_when_there_is_more() {
        let page = Page::cut(vec![1, 2, 3], 2, |last| *last);
        assert_eq!(page, Page { items: vec![1, 2], next: Some(2) });
        assert_eq!(Page::cut(vec![1, 2], 2, |last| *last).next, None);
    }
}
