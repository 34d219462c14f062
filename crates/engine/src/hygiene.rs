//! Memories that deserve a look: nobody changed them for long, they are large, they seem to hold a secret,
//! no search found them. Looking changes nothing; each page costs a bounded amount of it.

use crate::secrets::{Suspect, find_secret};
use crate::{Context, Engine, Result};
use loci_model::policy;
use loci_model::query::{Direction, ListCursor, ListItem, ListOrder, ListQuery};
use loci_model::{Content, Invalid, Memory, StoreId, Timestamp, View, limit};

/// After so many days without a change a memory is stale.
const STALE_DAYS: i64 = 30;
const DAY_MICROS: i64 = 24 * 3600 * 1_000_000;
/// Memories that are looked at for one page.
const STEPS_MAX: usize = 20;
/// The largest that are shown.
const LARGEST_MAX: usize = 1000;
/// Texts read at once.
const TEXTS: usize = 500;

/// What to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// Not changed for long, and not pinned; longest first.
    Stale,
    /// The largest first.
    Largest,
    /// Seems to hold a secret; oldest first.
    Secrets,
    /// Found by no search since they are counted; oldest first.
    NeverRecalled,
}

/// A memory that deserves a look.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The memory, without content.
    pub memory: Memory,
    /// Why, for people.
    pub why: String,
    /// What secret it seems to hold.
    pub suspect: Option<Suspect>,
}

/// Some of them.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// The memories.
    pub found: Vec<Finding>,
    /// Where to go on; a page may be empty and still have a next one.
    pub next: Option<Vec<u8>>,
}

impl Engine {
    /// A page of memories that deserve a look.
    pub async fn look_for(
        &self,
        context: &Context,
        store: StoreId,
        check: Check,
        from: Option<&[u8]>,
        most: usize,
    ) -> Result<Findings> {
        let now = self.seams.now();
        match check {
            Check::Secrets => self.secrets(context, store, from, most).await,
            Check::Largest => self.largest(context, store, from, most).await,
            Check::Stale => {
                let age = |memory: &Memory| {
                    (now.as_micros() - memory.updated_at.as_micros()).div_euclid(DAY_MICROS)
                };
                let look = |memory: &Memory| match age(memory) {
                    days if days < STALE_DAYS => Look::Over,
                    _ if memory.attributes.pinned => Look::Fine,
                    days => Look::Why(format!("not changed for {days} days")),
                };
                self.walk(context, store, ListOrder::Updated, from, most, look).await
            }
            Check::NeverRecalled => {
                let since = self.recalls_since();
                let look = |memory: &Memory| match self.recalled(store, memory.id) {
                    Some(_) => Look::Fine,
                    None => Look::Why(never(since, memory)),
                };
                self.walk(context, store, ListOrder::Created, from, most, look).await
            }
        }
    }

    /// Goes through the memories in an order by time.
    async fn walk(
        &self,
        context: &Context,
        store: StoreId,
        order: ListOrder,
        from: Option<&[u8]>,
        most: usize,
        look: impl Fn(&Memory) -> Look,
    ) -> Result<Findings> {
        let mut query = ListQuery {
            order,
            direction: Direction::Ascending,
            after: from.map(|from| read_cursor(order, from)).transpose()?,
            ..ListQuery::everything(View::Basic, limit::ENTRIES_PAGE_MAX)
        };
        let mut findings = Findings::default();
        for _ in 0..STEPS_MAX {
            let page = self.list(context, store, &query).await?;
            for item in page.items {
                let cursor = item.cursor(order);
                let ListItem::Memory(memory) = item else { continue };
                match look(&memory) {
                    Look::Fine => {}
                    Look::Over => {
                        findings.next = None;
                        return Ok(findings);
                    }
                    Look::Why(why) => {
                        findings.found.push(Finding { memory: *memory, why, suspect: None });
                        if findings.found.len() == most {
                            findings.next = Some(cursor.to_bytes());
                            return Ok(findings);
                        }
                    }
                }
            }
            findings.next = page.next.as_ref().map(ListCursor::to_bytes);
            match page.next {
                Some(next) => query.after = Some(next),
                None => break,
            }
        }
        Ok(findings)
    }

    async fn largest(
        &self,
        context: &Context,
        store: StoreId,
        from: Option<&[u8]>,
        most: usize,
    ) -> Result<Findings> {
        let skipped = from.map(read_number).transpose()?.unwrap_or(0);
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX).min(LARGEST_MAX);
        let mut query = ListQuery::everything(View::Basic, limit::ENTRIES_PAGE_MAX);
        let mut all: Vec<Memory> = Vec::new();
        loop {
            let page = self.list(context, store, &query).await?;
            all.extend(page.items.into_iter().filter_map(|item| match item {
                ListItem::Memory(memory) => Some(*memory),
                ListItem::Directory(_) => None,
            }));
            // Only the largest are kept, so that a large store takes no more memory than a small one.
            all.sort_by_key(|memory| (std::cmp::Reverse(memory.size_bytes), memory.id));
            all.truncate(LARGEST_MAX);
            match page.next {
                Some(next) => query.after = Some(next),
                None => break,
            }
        }
        let has_more = all.len() > skipped + most;
        let shown = all.into_iter().skip(skipped).take(most);
        let found = shown.map(|memory| Finding {
            why: format!("{} bytes", memory.size_bytes),
            memory,
            suspect: None,
        });
        let next = has_more.then(|| ((skipped + most) as u64).to_be_bytes().to_vec());
        Ok(Findings { found: found.collect(), next })
    }

    async fn secrets(
        &self,
        context: &Context,
        store: StoreId,
        from: Option<&[u8]>,
        most: usize,
    ) -> Result<Findings> {
        // Texts are read as a search reads them; whoever looks here must be allowed to read.
        let facts = self.facts(context, store).await?;
        let now = self.seams.now();
        policy::read(&context.caller, &facts, now)?;
        let pass = policy::search(&context.caller, std::slice::from_ref(&facts), now);
        let mut after = from.map(read_number).transpose()?.unwrap_or(0);
        let mut findings = Findings::default();
        for _ in 0..STEPS_MAX {
            let page = self.storage.texts(&pass, store, after, TEXTS).await?;
            let memories = page.memories;
            let looking = self.compute(async move { Ok(suspicious(memories)) });
            findings.found.extend(looking.await?);
            findings.next = page.next.map(|next| next.to_be_bytes().to_vec());
            match page.next {
                // A page of texts is shown whole, so that its cursor says where to go on.
                Some(next) if findings.found.len() < most => after = next,
                _ => break,
            }
        }
        Ok(findings)
    }
}

/// Those that seem to hold a secret.
fn suspicious(memories: Vec<Memory>) -> Vec<Finding> {
    let finding = |memory: Memory| {
        let Some(Content::Text(text)) = &memory.content else { return None };
        let suspect = find_secret(text)?;
        Some(Finding {
            why: format!("looks like {}", suspect.pattern.replace('_', " ")),
            suspect: Some(suspect),
            memory: Memory { content: None, ..memory },
        })
    };
    memories.into_iter().filter_map(finding).collect()
}

/// What one look at a memory comes to.
enum Look {
    Fine,
    Why(String),
    /// No memory after this one is worth looking at.
    Over,
}

fn never(since: Timestamp, memory: &Memory) -> String {
    let from = since.max(memory.created_at).to_string();
    format!("found by no search since {}", from.get(..10).unwrap_or(&from))
}

fn wrong_page() -> Invalid {
    Invalid::new("page", "is not one that was given out for this check")
}

fn read_cursor(order: ListOrder, bytes: &[u8]) -> Result<ListCursor> {
    Ok(ListCursor::from_bytes(order, bytes).ok_or_else(wrong_page)?)
}

fn read_number(bytes: &[u8]) -> Result<u64> {
    Ok(u64::from_be_bytes(bytes.try_into().map_err(|_| wrong_page())?))
}
