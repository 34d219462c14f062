//! Every use case that changes something, tried by the intruder on what is the victim's.

use super::reading::shown;
use super::world::{World, new_session, text};
use loci_engine::{NewGrant, NewKey};
use loci_model::edit::Occurrence;
use loci_model::store::Repeats;
use loci_model::{
    AttributesPatch, Audience, Edit, EditOp, Grantee, Level, MemoryPath, MemorySwitches, Power,
    StorePatch,
};
use std::collections::BTreeMap;

pub(crate) const ALL: [&str; 27] = [
    "put anew",
    "put",
    "append",
    "replace",
    "move",
    "remove",
    "redact",
    "erase",
    "describe the store",
    "set repeats",
    "archive the store",
    "remove the store",
    "share with everyone",
    "share with a friend",
    "revoke a grant",
    "attach to a session",
    "describe the session",
    "archive the session",
    "remove the session",
    "make a key for the owner",
    "make a key for the store",
    "make a key for the session",
    "revoke a key",
    "join the group",
    "take a friend out of the group",
    "switch a friend off",
    "import",
];

/// Those that nothing holds but policy and row security.
pub(crate) const BARE: [&str; 14] = [
    "put anew",
    "put",
    "append",
    "replace",
    "move",
    "remove",
    "redact",
    "erase",
    "describe the store",
    "set repeats",
    "archive the store",
    "remove the store",
    "share with everyone",
    "revoke a grant",
];

/// What the intruder is told; what it did shows in the victim's belongings.
pub(crate) async fn attempt(world: &World, name: &str) -> String {
    let World { engine, intruder, loot, .. } = world;
    let store = loot.store;
    let edit = async |edit: Edit| shown(engine.commit(intruder, store, vec![edit], "api").await);
    let put = |content: Option<&str>, to: Option<&str>| EditOp::Put {
        content: content.map(text),
        to: to.map(|path| MemoryPath::parse(path).unwrap()),
        attributes: AttributesPatch::default(),
    };
    let share = async |grantee| {
        let new = NewGrant { grantee, level: Level::ReadWrite, expires_at: None };
        shown(engine.share(intruder, store, new).await)
    };
    let key = async |new: NewKey| shown(engine.create_key(intruder, new).await);
    match name {
        "put anew" => edit(Edit::put_text(MemoryPath::parse("/new").unwrap(), "intruder")).await,
        "put" => edit(world.edit(put(Some("intruder"), None))).await,
        "append" => {
            let op = EditOp::Append {
                text: "intruder".into(),
                separator: loci_model::edit::Separator::Always("\n".into()),
                to: None,
                attributes: AttributesPatch::default(),
            };
            edit(world.edit(op)).await
        }
        "replace" => {
            let (old, new) = ("runs".into(), "intruder".into());
            edit(world.edit(EditOp::Replace { old, new, which: Occurrence::First })).await
        }
        "move" => edit(world.edit(put(None, Some("/intruder")))).await,
        "remove" => edit(world.edit(EditOp::Remove)).await,
        "redact" => shown(engine.redact(intruder, store, loot.versions[0]).await),
        "erase" => shown(engine.erase(intruder, store, loot.memory).await),
        "describe the store" => {
            let patch = StorePatch {
                name: Some("intruder".into()),
                description: None,
                metadata: BTreeMap::new(),
            };
            shown(engine.describe_store(intruder, store, patch).await)
        }
        "set repeats" => shown(engine.set_policy(intruder, store, Repeats::Refuse.into()).await),
        "archive the store" => shown(engine.archive_store(intruder, store).await),
        "remove the store" => shown(engine.remove_store(intruder, store).await),
        "share with everyone" => share(Grantee::Everyone).await,
        "share with a friend" => share(Grantee::Principal(loot.friend)).await,
        "revoke a grant" => shown(engine.revoke(intruder, store, loot.grant).await),
        "attach to a session" => {
            let session = new_session("intruder".into(), store);
            shown(engine.create_session(intruder, session).await)
        }
        "describe the session" => {
            let title = Some(Some("intruder".into()));
            shown(engine.describe_session(intruder, loot.session, title, BTreeMap::new()).await)
        }
        "archive the session" => shown(engine.archive_session(intruder, loot.session).await),
        "remove the session" => shown(engine.remove_session(intruder, loot.session).await),
        "make a key for the owner" => {
            key(NewKey { principal: Some(loot.principal), ..plain_key() }).await
        }
        "make a key for the store" => {
            key(NewKey { stores: Some(vec![store]), ..plain_key() }).await
        }
        "make a key for the session" => {
            key(NewKey { session: Some(loot.session), ..plain_key() }).await
        }
        "revoke a key" => shown(engine.revoke_key(intruder, loot.key).await),
        "join the group" => {
            let kind = loci_model::PrincipalKind::Agent;
            shown(engine.add_member(intruder, &loot.group.to_string(), "intruder", kind).await)
        }
        "take a friend out of the group" => {
            let (group, friend) = (loot.group.to_string(), loot.friend.to_string());
            shown(engine.remove_member(intruder, &group, &friend).await)
        }
        "switch a friend off" => {
            let off = MemorySwitches { is_on: false, ..MemorySwitches::default() };
            shown(engine.switch_memory(intruder, loot.friend, off).await)
        }
        "import" => shown(engine.import_lines(intruder, tampered(&loot.export)).await),
        other => panic!("{other}"),
    }
}

fn plain_key() -> NewKey {
    NewKey {
        name: "intruder".into(),
        principal: None,
        power: Power::Full,
        stores: None,
        session: None,
        audience: Audience::Host,
        acts_for_agents: false,
        expires_at: None,
    }
}

/// The victim's export with one word changed, as if a copy had been found somewhere.
fn tampered(export: &[String]) -> Vec<String> {
    export.iter().map(|line| line.replace("what basalt keeps", "what the intruder takes")).collect()
}
