//! A verb of each foreign door; what is asked of it is in `verbs`.

use super::spec::{Manner, Need};
use super::verbs::Verb;
use super::world::{State, Target};
use loci_it::{Client, Reply};

pub(super) const fn robutler(
    name: &'static str,
    route: &'static str,
    need: Need,
    states: &'static [State],
    ask: fn(&mut Client, &Target) -> Reply,
) -> Verb {
    Verb { name, route, manner: Manner::Robutler, need, is_elsewhere: false, states, ask }
}

pub(super) const fn tool(
    name: &'static str,
    need: Need,
    states: &'static [State],
    ask: fn(&mut Client, &Target) -> Reply,
) -> Verb {
    Verb {
        name,
        route: "POST /v1/tools/memory",
        manner: Manner::Tool,
        need,
        is_elsewhere: false,
        states,
        ask,
    }
}

pub(super) const fn mobius(
    name: &'static str,
    route: &'static str,
    need: Need,
    states: &'static [State],
    ask: fn(&mut Client, &Target) -> Reply,
) -> Verb {
    Verb { name, route, manner: Manner::Mobius, need, is_elsewhere: false, states, ask }
}
