//! Entries by meaning, the best first, with how many of them can be found so. Where meaning cannot
//! be compared that is said; words are never passed off as it.

use super::call::Call;
use super::cursor::{Listed, Position, SearchMode, show_page};
use super::entry::Desk;
use super::error::Problem;
use super::kind::Kind;
use super::place::Place;
use super::render::{CoverageBody, EntriesBody, EntryBody};
use super::summary::Counts;
use loci_engine::Error;
use loci_engine::search::{Mode, Reach, SearchAnswer, SearchFilter, SearchRequest, Wanted};
use loci_model::limit::SEARCH_RESULTS_MAX;
use loci_model::{At, Memory, View};

/// A page of what is found.
pub(super) async fn page(
    call: &Call,
    place: &Place,
    listed: &Listed,
    from: Option<Position>,
    limit: usize,
) -> Result<EntriesBody, Problem> {
    if !call.engine.compares_meaning() {
        return Err(Problem::no_meaning());
    }
    // Also whether entries may be read at all: what can only be searched is for other doors.
    let total = Counts::of(call, place).await?.total();
    let Some(desk) = place.desk(call) else {
        return Ok(body(call, listed, &[], None, CoverageBody::whole(0)));
    };
    let skipped = match from {
        Some(Position::Shown(shown)) => shown,
        Some(Position::After(..)) | None => 0,
    };
    let answer = find(desk, listed).await?;
    let coverage = match answer.is_complete {
        true => CoverageBody::whole(total),
        false => CoverageBody {
            indexed_entries: total.saturating_sub(answer.unready as u64),
            total_entries: total,
            complete: false,
        },
    };
    let mut found: Vec<Memory> = Vec::new();
    for hit in answer.hits {
        let kind = Kind::of(hit.memory.attributes.kind.as_deref());
        if listed.kind.is_none_or(|wanted| wanted == kind) && desk.is_entry(&hit.memory).await? {
            found.push(hit.memory);
        }
    }
    let end = skipped.saturating_add(limit).min(found.len());
    let next = (end < found.len()).then_some(Position::Shown(end));
    let mut shown = Vec::new();
    for memory in found.get(skipped..end).unwrap_or_default() {
        match desk.engine.get(desk.context, desk.store, &At::Id(memory.id), View::Full).await {
            Ok(memory) => shown.push(memory),
            // Gone since.
            Err(Error::NotFound("memory")) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(body(call, listed, &shown, next, coverage))
}

async fn find(desk: Desk<'_>, listed: &Listed) -> Result<SearchAnswer, Problem> {
    let mode = match listed.mode {
        SearchMode::Semantic => Mode::Semantic,
        SearchMode::Hybrid | SearchMode::Keyword => Mode::Hybrid,
    };
    // Facts are also what has another kind or none, which no filter says.
    let kinds = listed.kind.filter(|kind| *kind != Kind::Fact);
    let kinds = kinds.map(|kind| kind.name().to_owned()).into_iter().collect();
    let filter = SearchFilter { kinds, ..SearchFilter::default() };
    let wanted = Wanted { mode, filter, ..Wanted::new(&listed.query, SEARCH_RESULTS_MAX) };
    let request = SearchRequest {
        reach: Reach::Store(desk.store),
        wanted,
        // Of what is found, only a page is read.
        view: View::Basic,
        explain: false,
        content_bytes_max: 0,
        snippet_chars: 0,
        as_of: None,
        wait: None,
    };
    match desk.engine.search(desk.context, &request).await {
        Ok(answer) if answer.is_by_meaning => Ok(answer),
        Ok(_) | Err(Error::Unavailable(_)) => Err(Problem::no_meaning()),
        Err(error) => Err(error.into()),
    }
}

impl CoverageBody {
    fn whole(total: u64) -> Self {
        Self { indexed_entries: total, total_entries: total, complete: true }
    }
}

fn body(
    call: &Call,
    listed: &Listed,
    shown: &[Memory],
    next: Option<Position>,
    coverage: CoverageBody,
) -> EntriesBody {
    EntriesBody {
        items: shown.iter().map(|memory| EntryBody::of(memory, call.revision)).collect(),
        has_more: next.is_some(),
        next_cursor: next.map(|next| show_page(listed, &next)),
        search_coverage: Some(coverage),
    }
}
