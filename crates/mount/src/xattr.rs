//! Extended attributes: what is known of a memory as `user.loci.*`. Kind, tags, importance and
//! pinned can be set, which is one version; `user.loci.unsaved` says why a file is not saved.

use crate::errno;
use crate::node::{File, Ino};
use crate::port::{Act, At, Edit, Entry};
use crate::volume::Volume;
use fuser::Errno;
use loci_model::{AttributesPatch, Expect, Patch};
use std::sync::Arc;

pub(crate) const PREFIX: &str = "user.loci.";
const SETTABLE: [&str; 4] = ["kind", "tags", "importance", "pinned"];
const XATTR_CREATE: i32 = 1;
const XATTR_REPLACE: i32 = 2;

/// The value of an attribute; `None` if it is not there. The actor is asked for elsewhere.
fn value(file: &File, key: &str) -> Option<String> {
    if key == "unsaved" {
        return file.refused.as_ref().filter(|_| file.is_dirty).map(|it| it.why.clone());
    }
    let entry = file.saved.as_ref()?;
    let attributes = &entry.attributes;
    match key {
        "id" => Some(entry.memory.to_string()),
        "version" => Some(entry.version.to_string()),
        "revision" => Some(entry.revision.to_string()),
        "kind" => attributes.kind.clone(),
        "tags" => Some(attributes.tags.join(",")).filter(|tags| !tags.is_empty()),
        "importance" => attributes.importance.map(|it| it.to_string()),
        "pinned" => attributes.pinned.then(|| "true".to_owned()),
        _ => None,
    }
}

/// What setting or removing an attribute changes.
fn patch(key: &str, value: Option<&str>) -> Result<AttributesPatch, Errno> {
    let mut patch = AttributesPatch::default();
    match key {
        "kind" => patch.kind = Patch::Set(value.map(str::to_owned)),
        "tags" => {
            let tags = value.unwrap_or_default().split(',').map(str::trim);
            patch.tags = Patch::Set(tags.filter(|it| !it.is_empty()).map(str::to_owned).collect());
        }
        "importance" => {
            let number =
                value.map(|it| it.trim().parse().map_err(|_| Errno::EINVAL)).transpose()?;
            patch.importance = Patch::Set(number);
        }
        "pinned" => {
            patch.pinned = Patch::Set(match value.map(str::trim) {
                None | Some("false" | "0" | "no") => false,
                Some("true" | "1" | "yes") => true,
                Some(_) => return Err(Errno::EINVAL),
            });
        }
        _ => return Err(Errno::EOPNOTSUPP),
    }
    Ok(patch)
}

/// The key of one of our attributes; others are not supported.
fn key(name: &str) -> Result<&str, Errno> {
    name.strip_prefix(PREFIX).ok_or(Errno::EOPNOTSUPP)
}

impl Volume {
    /// An attribute whose value is at hand; `None` if somebody has to be asked.
    pub(crate) fn xattr_at_hand(&self, ino: Ino, name: &str) -> Result<Option<String>, Errno> {
        // The kernel asks for these before every write: an answer without a lock.
        let key = name.strip_prefix(PREFIX).ok_or(Errno::ENODATA)?;
        let tree = self.tree();
        tree.check_open(ino)?;
        let Ok(file) = tree.get(ino)?.file() else { return Err(Errno::ENODATA) };
        if key == "actor" && file.saved.is_some() {
            return Ok(None);
        }
        value(file, key).map(Some).ok_or(Errno::ENODATA)
    }

    /// Who wrote the newest version.
    pub(crate) async fn actor(&self, ino: Ino) -> Result<String, Errno> {
        let (store, entry) = {
            let tree = self.tree();
            let node = tree.get(ino)?;
            (node.store, node.file()?.saved.clone().ok_or(Errno::ENODATA)?)
        };
        let versions = self.ask(self.port.versions(self.stores[store], entry.memory)).await;
        let versions = versions.map_err(|refusal| errno::of(&refusal))?;
        let newest = versions.into_iter().find(|it| it.version == entry.version);
        newest.map(|it| it.actor).ok_or(Errno::ENODATA)
    }

    /// The names of what is there, each ended by a zero.
    pub(crate) fn xattr_names(&self, ino: Ino) -> Result<Vec<u8>, Errno> {
        let tree = self.tree();
        tree.check_open(ino)?;
        let Ok(file) = tree.get(ino)?.file() else { return Ok(Vec::new()) };
        let keys = ["id", "version", "revision", "kind", "tags", "importance", "pinned", "unsaved"];
        let there = keys.iter().filter(|key| value(file, key).is_some());
        let actor = file.saved.is_some().then_some(&"actor");
        Ok(there.chain(actor).flat_map(|key| format!("{PREFIX}{key}\0").into_bytes()).collect())
    }

    /// Sets or removes an attribute.
    pub(crate) async fn set_xattr(
        self: &Arc<Self>,
        ino: Ino,
        name: &str,
        new: Option<&str>,
        flags: i32,
    ) -> Result<(), Errno> {
        let key = key(name)?;
        let (turn, store) = {
            let tree = self.tree();
            let store = tree.check_writable(ino)?;
            let file = tree.get(ino)?.file().map_err(|_| Errno::EOPNOTSUPP)?;
            if !SETTABLE.contains(&key) {
                return Err(if value(file, key).is_some() {
                    Errno::EPERM
                } else {
                    Errno::EOPNOTSUPP
                });
            }
            match value(file, key) {
                None if new.is_none() || flags & XATTR_REPLACE != 0 => return Err(Errno::ENODATA),
                Some(_) if flags & XATTR_CREATE != 0 => return Err(Errno::EEXIST),
                _ => {}
            }
            (Arc::clone(&file.turn), store)
        };
        let attributes = Box::new(patch(key, new)?);
        let _turn = turn.lock().await;
        let _gate = self.gates[store].read().await;
        // A file that is no memory yet becomes one first.
        let saved = self.save_in_turn(ino, crate::save::Occasion::Demand).await;
        saved.map_err(errno::of_path_call)?;
        let Some(entry) = self.tree().file(ino)?.saved.clone() else {
            return Err(Errno::EOPNOTSUPP);
        };
        let act = Act::Put { text: None, to: None, attributes };
        let edit = Edit { at: At::Memory(entry.memory), expect: Expect::Present, act };
        self.tree().set_saving([Some(ino)], true);
        let done = self.edit(store, edit).await;
        self.tree().set_saving([Some(ino)], false);
        match done {
            Ok(done) => {
                self.described(ino, &entry, done.entry);
                Ok(())
            }
            Err(refusal) => Err(errno::of(&refusal)),
        }
    }

    /// The memory's attributes changed. If its bytes did not, they need not be read again.
    fn described(&self, ino: Ino, before: &Entry, entry: Entry) {
        if before.digest == entry.digest {
            let mut cache = self.cache();
            if let Some(bytes) = cache.get(before.version) {
                cache.put(entry.version, bytes);
            }
        }
        let mut tree = self.tree();
        let store = tree.get(ino).map_or(0, |node| node.store);
        let outdated = tree.hear(store, entry);
        drop(tree);
        self.outdate(outdated);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_patches() {
        assert_eq!(patch("kind", Some("fact")).unwrap().kind, Patch::Set(Some("fact".into())));
        let tags = patch("tags", Some("a, b,,c")).unwrap().tags;
        assert_eq!(tags, Patch::Set(vec!["a".into(), "b".into(), "c".into()]));
        assert_eq!(patch("tags", None).unwrap().tags, Patch::Set(vec![]));
        assert_eq!(patch("importance", Some("70")).unwrap().importance, Patch::Set(Some(70)));
        assert_eq!(patch("importance", Some("much")).unwrap_err(), Errno::EINVAL);
        assert_eq!(patch("pinned", Some("1")).unwrap().pinned, Patch::Set(true));
        assert_eq!(patch("pinned", None).unwrap().pinned, Patch::Set(false));
        assert_eq!(patch("pinned", Some("maybe")).unwrap_err(), Errno::EINVAL);
        assert_eq!(patch("colour", Some("red")).unwrap_err(), Errno::EOPNOTSUPP);
    }
}
