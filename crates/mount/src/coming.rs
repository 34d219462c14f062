//! A mount of every store shows those that can be read, whenever that is: stores that are made or
//! shared while it runs appear, and those that are deleted or shared no more go. A directory that is
//! shown keeps its name; a store that comes to a name that is taken has its id appended.

use crate::access::State;
use crate::follow;
use crate::marks;
use crate::node::{Body, Ino, ROOT};
use crate::port::{Refusal, StoreSeen};
use crate::together::Queue;
use crate::tree::Tree;
use crate::volume::{Outdated, Volume};
use loci_model::StoreId;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::RwLock;
use tokio::task::JoinSet;

/// How often to ask which stores there are.
const EVERY: Duration = Duration::from_secs(2);
/// How long the answer may take; describing many new stores takes many requests.
const PATIENCE: Duration = Duration::from_secs(60);

impl Tree {
    /// The stores that are open, and the places of those that are closed.
    fn open_and_closed(&self) -> (Vec<StoreId>, Vec<usize>) {
        let (mut open, mut closed) = (Vec::new(), Vec::new());
        for (at, place) in self.places.iter().enumerate() {
            match place.state {
                State::Open => open.push(place.seen.id),
                State::Closed => closed.push(at),
                State::Gone => {}
            }
        }
        (open, closed)
    }

    /// Takes the directory of a closed store away, and everything in it but what is not saved.
    fn let_go(&mut self, store: usize) -> [Outdated; 2] {
        let place = &mut self.places[store];
        place.state = State::Gone;
        place.loading = None;
        place.era += 1;
        let (root, name): (Ino, Arc<str>) = (place.root, place.seen.slug.as_str().into());
        self.strike(ROOT, &name, root, true);
        self.empty(store);
        [Outdated::Name(ROOT, name), Outdated::Attributes(ROOT)]
    }

    /// Forgets what is in a store. What is not saved stays.
    fn empty(&mut self, store: usize) {
        self.places[store].hidden.clear();
        self.expiring.retain(|(_, at, _)| *at != store);
        self.empty_below(self.places[store].root);
    }

    fn empty_below(&mut self, directory: Ino) {
        let Ok(children) = self.get(directory).and_then(|node| node.directory()) else { return };
        let children: Vec<Ino> = children.children.values().copied().collect();
        for ino in children {
            match self.get(ino).map(|node| &node.body) {
                Ok(Body::Directory(_)) => {
                    self.empty_below(ino);
                    let inside = self.get(ino).and_then(|node| node.directory());
                    if inside.is_ok_and(|inside| inside.children.is_empty()) {
                        self.detach(ino);
                    }
                }
                Ok(Body::File(file)) if !file.is_dirty && !file.is_owed => {
                    let memory = file.saved.as_ref().map(|entry| entry.memory);
                    if let Some(memory) = memory
                        && self.by_memory.get(&memory) == Some(&ino)
                    {
                        self.by_memory.remove(&memory);
                    }
                    self.parked.retain(|_, parked| *parked != ino);
                    self.unsettled.remove(&ino);
                    self.detach(ino);
                }
                Ok(Body::File(_)) | Err(_) => {}
            }
        }
    }

    /// The directory of a store that is loaded is there from now on; gives the number of its time.
    fn show_place(&mut self, store: usize, now: SystemTime) -> (u64, Vec<Outdated>) {
        let root = self.places[store].root;
        let mut name = self.places[store].seen.slug.clone();
        if self.child(ROOT, &name).ok().flatten().is_some() {
            name = format!("{name}-{}", self.places[store].seen.id);
        }
        let name: Arc<str> = name.into();
        if let Ok(node) = self.get_mut(root) {
            node.name = Arc::clone(&name);
            if node.times.written == SystemTime::UNIX_EPOCH {
                node.touch(now);
            }
        }
        let place = &mut self.places[store];
        place.seen.slug = name.to_string();
        place.state = State::Open;
        place.era += 1;
        let era = place.era;
        self.enlist(ROOT, &name, root);
        if let Ok(above) = self.get_mut(ROOT) {
            above.touch(now);
        }
        (era, vec![Outdated::Name(ROOT, name), Outdated::Attributes(ROOT)])
    }
}

impl Volume {
    /// Asks which stores there are, for as long as the mount lives, and follows those that come.
    pub(crate) async fn keep_choosing(self: Arc<Self>) {
        let mut feeds = JoinSet::new();
        loop {
            tokio::time::sleep(EVERY).await;
            while feeds.try_join_next().is_some() {}
            let (known, closed) = self.tree().open_and_closed();
            let asked = tokio::time::timeout(PATIENCE, self.port.newcomers(&known)).await;
            // An answer that does not come says nothing about the stores.
            let Ok(Ok(new)) = asked else { continue };
            // The credential counts: so it is the store that is closed.
            self.let_go(&closed);
            for seen in new {
                let (id, name) = (seen.id, seen.slug.clone());
                match self.take_in(seen).await {
                    Ok(Some((at, era, from))) => {
                        tracing::info!(store = %id, name, "a store has come");
                        feeds.spawn_on(Arc::clone(&self).follow(at, era, from), &self.runtime);
                    }
                    Ok(None) => {}
                    Err(refusal) => {
                        let why = crate::errno::reason(&refusal);
                        tracing::warn!(store = %id, name, why, "a new store cannot be shown");
                    }
                }
            }
        }
    }

    /// The directories of these places go, if they are closed still.
    fn let_go(&self, places: &[usize]) {
        let mut outdated = Vec::new();
        {
            let mut tree = self.tree();
            for at in places {
                let place = &tree.places[*at];
                if place.state == State::Closed {
                    tracing::info!(store = %place.seen.id, "a store has gone");
                    outdated.extend(tree.let_go(*at));
                }
            }
        }
        self.outdate(outdated);
    }

    /// Loads a store that has come and shows its directory; gives its place and where to follow from.
    async fn take_in(
        self: &Arc<Self>,
        seen: StoreSeen,
    ) -> Result<Option<(usize, u64, u64)>, Refusal> {
        let id = seen.id;
        let marks = match self.marks.clone() {
            Some(directory) => {
                let read = tokio::task::spawn_blocking(move || marks::load(&directory, id));
                read.await.unwrap_or_default()
            }
            None => marks::Marks::default(),
        };
        let at = {
            let mut tree = self.tree();
            tree.remember(marks);
            match tree.place_of(id) {
                Some(at) if tree.places[at].state != State::Gone => return Ok(None),
                Some(at) => {
                    tree.empty(at);
                    tree.places[at].told = seen.access;
                    tree.places[at].seen = seen;
                    at
                }
                None => {
                    // Before the tree has it: whoever finds it there finds all of it.
                    self.stores.push(id);
                    self.gates.push(RwLock::new(()));
                    self.queues.push(Queue::default());
                    tree.admit(seen, SystemTime::UNIX_EPOCH)
                }
            }
        };
        let from = follow::load(self.port.as_ref(), id, |entries| {
            let mut tree = self.tree();
            entries.into_iter().for_each(|entry| drop(tree.hear(at, entry)));
        })
        .await?;
        let (era, outdated) = {
            let mut tree = self.tree();
            tree.restore(Some(at));
            tree.show_place(at, self.now())
        };
        self.outdate(outdated);
        Ok(Some((at, era, from)))
    }
}
