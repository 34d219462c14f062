//! Counting: of each path what changed last, by kind.

use super::state::State;
use loci_model::Memory;
use loci_model::policy::ReadPass;
use loci_model::query::Tally;
use loci_storage::Result;
use std::collections::BTreeMap;

impl State {
    pub(super) fn tally(&self, pass: &ReadPass, besides: Option<&str>) -> Result<Tally> {
        let mut newest: BTreeMap<String, Memory> = BTreeMap::new();
        for memory in self.shelf(pass.store())?.visible(pass.audience(), pass.now()) {
            let path = memory.path.as_str();
            if besides.is_some_and(|beginning| path.starts_with(beginning)) {
                continue;
            }
            let known = newest.entry(path.to_owned()).or_insert_with(|| memory.clone());
            if known.updated_at < memory.updated_at {
                *known = memory;
            }
        }
        let mut tally = Tally::default();
        for memory in newest.into_values().filter(|memory| !memory.is_sealed) {
            tally.updated_at = tally.updated_at.max(Some(memory.updated_at));
            *tally.kinds.entry(memory.attributes.kind).or_default() += 1;
        }
        Ok(tally)
    }
}
