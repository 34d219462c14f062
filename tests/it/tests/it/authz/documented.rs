//! Promise: what a route answers is what the OpenAPI document says: its status, its content type and the
//! shape of its body, granted and refused. Every documented operation is asked, because the matrix holds
//! a question for each.

use super::general::{self, GENERAL};
use super::spec::Manner;
use super::world::{Kind, State, Who, World};
use super::{all, key, open};
use loci_it::schema::Document;
use loci_it::{Reply, Setup};
use std::collections::BTreeSet;

/// One whom everything is granted, one whom much is, one who knows nobody, one without a credential.
const CAST: [Who; 4] = [Who::Admin, Who::Reader, Who::Stranger, Who::Nobody];

/// Questions that ask other routes first may be refused there, and some give a reply another status to
/// say that they got in; neither says anything about the route. A tool of MCP answers in its own words.
fn is_of_the_route(reply: &Reply, manner: Manner, route: &str) -> bool {
    let text = reply.text();
    let is_error = text.starts_with("{\"type\":\"error\"") || text.starts_with("{\"error\"");
    let is_rewritten = reply.status < 300 && is_error;
    let is_of_mcp = manner == Manner::Tool && route == "POST /mcp";
    !is_rewritten && !is_of_mcp
}

#[test]
fn every_answer_is_as_documented() {
    let setup = open(Setup::new());
    let server = setup.start();
    let questions = |_: Kind| {
        let of = |verb| CAST.map(|who| key(verb, who, State::Plain));
        all().flat_map(of).collect::<BTreeSet<_>>().into_iter().collect()
    };
    let world = World::new(&server, &questions);
    let document = Document::new(server.client_as(None).get("/openapi.json").ok());
    let mut wrong: BTreeSet<String> = BTreeSet::new();
    let mut granted = BTreeSet::new();
    let mut check = |route: &'static str, name: &str, who: Who, manner: Manner, reply: &Reply| {
        if !is_of_the_route(reply, manner, route) {
            return;
        }
        if reply.status < 300 {
            granted.insert(route);
        }
        if let Some(why) = document.problem(route, reply) {
            wrong.insert(format!("{route} ({name}, {who:?}): {why}").chars().take(400).collect());
        }
    };
    for who in CAST {
        for verb in all() {
            let mut client = world.client(who, Kind::Home).unwrap();
            let target = world.target(Kind::Home, &key(verb, who, State::Plain));
            check(verb.route, verb.name, who, verb.manner, &(verb.ask)(&mut client, &target));
        }
        for general in GENERAL {
            let mut client = world.client(who, Kind::Home).unwrap();
            check(general.route, general.name, who, Manner::Native, &(general.ask)(&mut client));
        }
    }
    assert!(wrong.is_empty(), "{} are not as documented:\n{:#?}", wrong.len(), wrong);
    assert!(granted.len() > 90, "only {} operations were granted", granted.len());
    let forgotten = general::forgotten(&mut server.client());
    assert!(forgotten.is_empty(), "not asked: {forgotten:?}");
    server.stop();
}
