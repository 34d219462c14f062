//! `rename` of a directory: one atomic batch that moves every memory below it, while nothing in the
//! store is being saved. Files that are no memories move with the tree alone.

use crate::errno;
use crate::names;
use crate::node::{Body, Ino};
use crate::port::{At, Edit, Entry, Refusal};
use crate::rename::Renaming;
use crate::save::put;
use crate::tree::Tree;
use crate::volume::Volume;
use fuser::Errno;
use loci_model::{Expect, limit};
use std::sync::Arc;

impl Volume {
    pub(crate) async fn rename_directory(
        self: &Arc<Self>,
        asked: &Renaming,
        from: Ino,
        over: Option<Ino>,
        store: usize,
    ) -> Result<(), Errno> {
        let _gate = self.gates[store].write().await;
        let (edits, memories) = {
            let tree = self.tree();
            if tree.child(asked.parent, &asked.name)? != Some(from)
                || tree.child(asked.to_parent, &asked.to_name)? != over
            {
                return Err(Errno::ESTALE);
            }
            if tree.is_below(asked.to_parent, from) {
                return Err(Errno::EINVAL);
            }
            if let Some(over) = over
                && !tree.get(over)?.directory()?.children.is_empty()
            {
                return Err(Errno::ENOTEMPTY);
            }
            let before = tree.path(from);
            let after = tree.path_below(asked.to_parent, &asked.to_name);
            let mut memories = Vec::new();
            tree.collect(from, &mut memories);
            let mut edits = Vec::with_capacity(memories.len());
            for (_, entry) in &memories {
                // A parked memory may have been carried in from elsewhere; the server has it there.
                let Some(rest) = entry.path.as_str().strip_prefix(&before) else { continue };
                let to = names::path(&format!("{after}{rest}"))?;
                let (at, expect) = (At::Memory(entry.memory), Expect::Present);
                edits.push(Edit { at, expect, act: put(None, Some(to)) });
            }
            (edits, memories)
        };
        if edits.len() > limit::TREE_EDITS_MAX {
            // Whoever knows what that means copies instead, file by file.
            return Err(Errno::EXDEV);
        }
        let done = if edits.is_empty() {
            Vec::new()
        } else {
            match self.edit_all(store, edits).await {
                Ok(done) => done,
                Err(Refusal::NotFound | Refusal::ExpectFailed) => {
                    for (_, entry) in memories {
                        self.refresh(store, entry.memory).await?;
                    }
                    return Err(Errno::ESTALE);
                }
                Err(refusal) => return Err(errno::of(&refusal)),
            }
        };
        let now = self.now();
        let mut tree = self.tree();
        if let Some(over) = over {
            tree.take_out(over, now);
        }
        tree.relocate(from, asked.to_parent, &asked.to_name);
        tree.keep(asked.parent, now);
        tree.keep(asked.to_parent, now);
        tree.get_mut(from)?.times.changed = now;
        let mut outdated = Vec::new();
        for entry in done.into_iter().map(|it| it.entry) {
            let Some(ino) = tree.by_memory.get(&entry.memory).copied() else { continue };
            if tree.file(ino).is_ok_and(|file| file.is_parked) {
                tree.parked.retain(|_, parked| *parked != ino);
                tree.parked.insert((store, entry.path.clone()), ino);
            }
            outdated.extend(tree.moved(store, ino, entry));
        }
        drop(tree);
        self.outdate(outdated);
        Ok(())
    }
}

impl Tree {
    /// Whether an inode is this directory or below it.
    fn is_below(&self, mut ino: Ino, directory: Ino) -> bool {
        loop {
            if ino == directory {
                return true;
            }
            match self.nodes.get(&ino) {
                Some(node) if node.parent != ino => ino = node.parent,
                _ => return false,
            }
        }
    }

    /// All memories below a directory.
    fn collect(&self, directory: Ino, memories: &mut Vec<(Ino, Arc<Entry>)>) {
        let Some(Body::Directory(directory)) = self.nodes.get(&directory).map(|it| &it.body) else {
            return;
        };
        for ino in directory.children.values() {
            match self.nodes.get(ino).map(|it| &it.body) {
                Some(Body::File(file)) => {
                    memories.extend(file.saved.clone().map(|entry| (*ino, entry)));
                }
                Some(Body::Directory(_)) => self.collect(*ino, memories),
                None => {}
            }
        }
    }
}
