//! What is known about somebody, sorted into six slots and compiled for a prompt: what is so now,
//! best supported and newest first, nothing twice.
//!
//! What is kept, the graphs and what was told lately, follows the feeds: what was written is told by
//! the next request, and what was erased no more.

use super::learned::Learned;
use super::seek::one_date;
use super::told::For;
use super::{Fact, Filter, Operator, Theme};
use crate::brief::{self, Section};
use crate::derived::Held;
use crate::search::Reach;
use crate::{Context, Engine, Error, Result};
use loci_knowledge::graph::{Scores, Seeking, key};
use loci_knowledge::ontology::Relation;
use loci_model::policy::{self, SearchPass};
use loci_model::query::{Direction, ListItem, ListOrder, ListQuery};
use loci_model::{
    Audience, Content, Invalid, Memory, MemoryId, Principal, StoreId, Timestamp, View,
};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Bytes when nobody says.
pub const CONTEXT_BYTES_DEFAULT: usize = 4096;
/// Facts of one slot.
const FACTS_MAX: usize = 15;
/// Memories of the last slot.
const EPISODES_MAX: usize = 5;
/// Characters of a memory that are told.
const EPISODE_CHARS_MAX: usize = 240;
const RECENT_SECS: i64 = 90 * 86_400;
const RECENCY: f32 = 0.3;
/// Memories of a fact that are asked who wrote them.
const SOURCES_MAX: usize = 3;
/// How many of these are read at once.
const SOURCES_AT_ONCE: usize = 100;

/// About whom, and how much.
#[derive(Debug, Clone)]
pub struct SlotsRequest {
    /// The stores to tell from.
    pub reach: Reach,
    /// Bytes of the text.
    pub bytes_max: usize,
}

/// One slot.
#[derive(Debug, Clone)]
pub struct Slot {
    /// What it is about.
    pub theme: Theme,
    /// What is so.
    pub facts: Vec<(StoreId, Fact)>,
    /// What was written lately; in the last slot only.
    pub episodes: Vec<Memory>,
}

/// The six slots, and the text made of them.
#[derive(Debug, Clone)]
pub struct SlotContext {
    /// In the order of [`Theme::ALL`].
    pub slots: Vec<Slot>,
    /// For a prompt; empty when nothing is known.
    pub text: String,
}

impl Engine {
    /// The stores of somebody whom a text names that the caller may read. Of a name that nobody has
    /// nothing is known, as of somebody whose stores are not for the caller.
    pub async fn stores_named(&self, context: &Context, of: &str) -> Result<Vec<StoreId>> {
        match self.find_grantee(context, of).await {
            Ok(found) => self.stores_about(context, &found).await,
            Err(Error::NotFound(_)) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// The stores of somebody that the caller may read.
    async fn stores_about(&self, context: &Context, of: &Principal) -> Result<Vec<StoreId>> {
        let now = self.seams.now();
        let facts = self.storage.all_facts(&context.caller).await?;
        let own = facts.iter().filter(|facts| facts.store.owner == of.id);
        let readable = own.filter(|facts| policy::read(&context.caller, facts, now).is_ok());
        Ok(readable.map(|facts| facts.store.id).collect())
    }

    /// What is known, in six slots, as a model may see it.
    pub async fn slots(
        &self,
        context: &Context,
        request: &SlotsRequest,
    ) -> Result<Arc<SlotContext>> {
        if request.bytes_max > brief::BYTES_MAX {
            let why = format!("takes up to {}", brief::BYTES_MAX);
            return Err(Invalid::new("max_bytes", why).into());
        }
        let mut context = context.clone();
        context.caller.audience = Audience::Model;
        if let Reach::Store(store) = request.reach {
            // Who may only search it is told so, and not that nothing is known.
            let facts = self.facts(&context, store).await?;
            policy::read(&context.caller, &facts, self.seams.now())?;
        }
        let reached = self.reach(&context, &request.reach).await?;
        let (pass, _) = reached.pass.with_guarded(0);
        let ends = self.ends(&pass).await?;
        let seqs: Vec<u64> =
            ends.iter().flat_map(|end| [end.feed.seq, end.read_number()]).collect();
        let stores: Vec<StoreId> = ends.iter().map(|end| end.feed.store).collect();
        let of = For {
            principal: context.caller.principal,
            session: context.caller.session,
            stores,
            bytes_max: request.bytes_max,
        };
        let now = self.seams.now();
        if let Some(told) = self.search.told.get(&of, &seqs, now) {
            return Ok(told);
        }
        let graphs = self.graphs_at(&pass, &ends).await?;
        let filling = self.compute(async move {
            let expires_at = graphs.iter().filter_map(|(_, held)| held.it.graph.expires_at()).min();
            Ok((filled(&graphs, now), expires_at))
        });
        let (mut slots, facts_expire_at) = filling.await?;
        let episodes = self.latest(&context, &of.stores).await?;
        let episodes_expire_at = episodes.iter().filter_map(|one| one.attributes.expires_at);
        let expires_at = episodes_expire_at.chain(facts_expire_at).min();
        if let Some(last) = slots.last_mut() {
            last.episodes = episodes;
        }
        let sections = self.sections(&context, &pass, &slots).await?;
        let text = brief::sections(&sections, request.bytes_max);
        let told = Arc::new(SlotContext { slots, text });
        self.search.told.put(of, seqs, &told, now, expires_at);
        Ok(told)
    }

    /// What was written lately, the newest first.
    async fn latest(&self, context: &Context, stores: &[StoreId]) -> Result<Vec<Memory>> {
        let mut latest: Vec<Memory> = Vec::new();
        for store in stores {
            let query = ListQuery {
                order: ListOrder::Updated,
                direction: Direction::Descending,
                ..ListQuery::everything(View::Full, EPISODES_MAX)
            };
            let page = match self.list(context, *store, &query).await {
                Ok(page) => page,
                // Removed, or taken back, a moment ago.
                Err(Error::NotFound(_)) => continue,
                Err(error) => return Err(error),
            };
            let memories = page.items.into_iter().filter_map(|item| match item {
                ListItem::Memory(memory) if !memory.is_sealed => Some(*memory),
                _ => None,
            });
            latest.extend(memories);
        }
        latest.sort_by_key(|memory| std::cmp::Reverse((memory.updated_at, memory.id)));
        latest.truncate(EPISODES_MAX);
        Ok(latest)
    }
}

impl Engine {
    /// What the slots say, line by line. What somebody else said than whose store it is says by whom.
    async fn sections(
        &self,
        context: &Context,
        pass: &SearchPass,
        slots: &[Slot],
    ) -> Result<Vec<Section>> {
        let mut authors = self.authors(context);
        let facts = || slots.iter().flat_map(|slot| &slot.facts);
        let sources = facts().flat_map(|(store, fact)| {
            fact.sources.iter().take(SOURCES_MAX).map(|source| (*store, *source))
        });
        let sources: BTreeSet<(StoreId, MemoryId)> = sources.collect();
        let sources: Vec<(StoreId, MemoryId)> = sources.into_iter().collect();
        let mut by: HashMap<MemoryId, Option<String>> = HashMap::new();
        for some in sources.chunks(SOURCES_AT_ONCE) {
            for memory in self.storage.found(pass, some, View::Basic).await? {
                by.insert(memory.id, authors.of(&memory).await?);
            }
        }
        let mut sections = Vec::with_capacity(slots.len());
        for slot in slots {
            let mut lines: Vec<String> = slot
                .facts
                .iter()
                .map(|(_, fact)| format!("{}{}", fact.text, said(fact, &by)))
                .collect();
            for memory in &slot.episodes {
                let Some(text) = memory.content.as_ref().and_then(Content::text) else { continue };
                let day: String = memory.updated_at.to_string().chars().take(10).collect();
                let author = authors.of(memory).await?;
                let author = author.map(|author| format!(" (by {author})")).unwrap_or_default();
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                let head: String = text.chars().take(EPISODE_CHARS_MAX).collect();
                let more = if head.len() < text.len() { "…" } else { "" };
                lines.push(format!("{day}{author}: {head}{more}"));
            }
            sections.push(Section { title: title(slot.theme), lines });
        }
        Ok(sections)
    }
}

/// By whom a fact is, if it is not known from whose store it is.
fn said(fact: &Fact, by: &HashMap<MemoryId, Option<String>>) -> String {
    let known = fact.sources.iter().take(SOURCES_MAX).filter_map(|source| by.get(source));
    let names: Option<BTreeSet<&str>> = known.map(Option::as_deref).collect();
    match names {
        Some(names) if !names.is_empty() => {
            format!(" (by {})", names.into_iter().collect::<Vec<_>>().join(", "))
        }
        _ => String::new(),
    }
}

/// The facts of each slot; none is told twice.
fn filled(graphs: &[(StoreId, Held<Learned>)], now: Timestamp) -> Vec<Slot> {
    let mut told: HashSet<String> = HashSet::new();
    let mut slots = Vec::with_capacity(Theme::ALL.len());
    for theme in Theme::ALL {
        let mut facts = found(graphs, theme, now);
        facts.retain(|(_, _, fact)| told.insert(key(&fact.text)));
        facts.truncate(FACTS_MAX);
        let facts = facts.into_iter().map(|(_, store, fact)| (store, fact)).collect();
        slots.push(Slot { theme, facts, episodes: Vec::new() });
    }
    slots
}

fn found(
    graphs: &[(StoreId, Held<Learned>)],
    theme: Theme,
    now: Timestamp,
) -> Vec<(f32, StoreId, Fact)> {
    let relations: Vec<Relation> =
        Relation::ALL.iter().copied().filter(|relation| Theme::of(*relation) == theme).collect();
    let since = Some(now.plus_secs(-RECENT_SECS));
    let filter = Filter {
        relations: (theme != Theme::Recent).then_some(relations),
        invalid_at: one_date(Operator::IsNull, None),
        created_at: match theme {
            Theme::Recent => one_date(Operator::AtOrAfter, since),
            _ => Default::default(),
        },
        ..Filter::default()
    };
    let scores = Scores::default();
    let seeking = Seeking {
        text: "",
        scores: &scores,
        filter: &filter,
        center: None,
        recency: RECENCY,
        diversity: 0.0,
        now,
        // Twice as many: some were told in an earlier slot.
        limits: (FACTS_MAX * 2, 0, 0),
    };
    let mut all: Vec<(f32, StoreId, Fact)> = Vec::new();
    for (store, held) in graphs {
        let ranked = held.it.graph.seek(&seeking).facts.into_iter();
        all.extend(ranked.map(|(score, fact)| (score, *store, fact)));
    }
    all.sort_by(|(a, ..), (b, ..)| b.total_cmp(a));
    all
}

fn title(theme: Theme) -> &'static str {
    match theme {
        Theme::Identity => "Identity",
        Theme::Work => "Work",
        Theme::Goals => "Goals",
        Theme::Interests => "Interests",
        Theme::Relationships => "Relationships",
        Theme::Recent => "Recent",
    }
}
