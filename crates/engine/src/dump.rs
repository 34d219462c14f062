//! A workspace as JSON lines: principals, stores, grants and the whole history of each store, in an
//! order that depends on nothing but the data. Exporting what was just imported gives the same
//! bytes.
//!
//! Principals are named, not numbered: an import into a workspace that has a principal of the same
//! name uses that one. Keys, sessions and the audit log stay behind; ids of the first two live on in
//! the history. A store whose address is another store's here comes without it.
//!
//! What is damaged does not end an export ([`without_content`]); lines at its end name it.

mod attributes;
mod damaged;
mod format;
mod names;

use crate::compute::blocking;
use crate::{Context, Engine, Error, NewPrincipal, Result};
use damaged::DamagedLine;
pub(crate) use damaged::without_content;
use format::{
    GrantLine, Line, MembershipLine, PrincipalLine, RedactionLine, StoreLine, VersionLine,
};
use loci_model::event::kind;
use loci_model::policy::{AdminPass, System};
use loci_model::query::{Direction, StoreQuery};
use loci_model::{Address, At, Invalid, Store, Timestamp, Version, View, limit, policy};
use loci_storage::log::{ImportItem, LogEntry};
use loci_storage::{Mutation, Receipt};
use names::Names;
use tokio::sync::mpsc;

/// The number of the line format. Format 2 added what becomes of repeated content, format 3 groups,
/// addresses of stores and memory that is switched off; a file without them is read as before. Since
/// format 4 every cap was chosen by somebody.
const FORMAT: u32 = 4;
/// The first format in which somebody chose every cap.
const CHOSEN_CAPS: u32 = 4;
/// The cap that homes were given before, unless they could hold less.
const GIVEN_CAP: u64 = 1000;
/// History entries read at a time: with the largest contents still a modest amount of memory.
const LOG_PAGE: usize = 100;

impl Engine {
    /// Sends the whole workspace, a line at a time. Waits when the receiver is slow; stops without
    /// error when it is gone.
    pub async fn export(&self, context: &Context, lines: mpsc::Sender<String>) -> Result<()> {
        let pass = self.admin_pass(context)?;
        self.note(self.happening(context, kind::EXPORTED)).await;
        match self.export_lines(context, &pass, &lines).await {
            Err(ExportEnd::ReceiverGone) | Ok(()) => Ok(()),
            Err(ExportEnd::Failed(error)) => Err(error),
        }
    }

    async fn export_lines(
        &self,
        context: &Context,
        pass: &AdminPass,
        lines: &mpsc::Sender<String>,
    ) -> std::result::Result<(), ExportEnd> {
        send(lines, &Line::Header { format: FORMAT }).await?;
        let mut principals = self.storage.principals(pass).await.map_err(Error::from)?;
        principals.sort_by(|a, b| a.name.cmp(&b.name));
        let names = Names::new(&principals);
        for principal in &principals {
            send(lines, &Line::Principal(PrincipalLine::from(principal))).await?;
        }
        self.export_memberships(pass, &names, lines).await?;
        let browse = policy::browse(&context.caller, pass.now());
        let mut damaged = Vec::new();
        let mut query = StoreQuery {
            since: None,
            until: None,
            include_archived: true,
            direction: Direction::Ascending,
            after: None,
            limit: limit::PAGE_ITEMS_MAX,
        };
        loop {
            let page = self.storage.list_stores(&browse, &query).await.map_err(Error::from)?;
            for store in &page.items {
                self.export_store(context, pass, store, (&names, lines), &mut damaged).await?;
            }
            query.after = page.next;
            if query.after.is_none() {
                break;
            }
        }
        for line in damaged {
            send(lines, &Line::Damaged(line)).await?;
        }
        Ok(())
    }

    async fn export_memberships(
        &self,
        pass: &AdminPass,
        names: &Names,
        lines: &mpsc::Sender<String>,
    ) -> std::result::Result<(), ExportEnd> {
        let system = System::because("an administrator exports everything");
        let convene = system.convene(pass.workspace(), pass.now());
        let (mut after, mut members) = (None, Vec::new());
        loop {
            let page = self.storage.memberships(&convene, after, limit::PAGE_ITEMS_MAX).await;
            let page = page.map_err(Error::from)?;
            let Some(last) = page.last() else { break };
            after = Some((last.group, last.member));
            members.extend(page.iter().map(|one| MembershipLine::new(one, names)));
        }
        // By name, since ids are others after an import.
        members.sort();
        for line in members {
            send(lines, &Line::Membership(line)).await?;
        }
        Ok(())
    }

    async fn export_store(
        &self,
        context: &Context,
        pass: &AdminPass,
        store: &Store,
        (names, lines): (&Names, &mpsc::Sender<String>),
        damaged: &mut Vec<DamagedLine>,
    ) -> std::result::Result<(), ExportEnd> {
        send(lines, &Line::Store(StoreLine::new(store, names))).await?;
        for grant in self.grants(context, store.id).await? {
            send(lines, &Line::Grant(GrantLine::new(&grant, names))).await?;
        }
        let mut after = 0;
        loop {
            let page = self.storage.log(pass, store.id, after, LOG_PAGE).await;
            let page = page.map_err(Error::from)?;
            let Some(last) = page.last() else {
                return Ok(());
            };
            after = last.seq();
            for entry in &page {
                let line = match entry {
                    LogEntry::Version { version, partition, owner } => Line::Version(Box::new(
                        VersionLine::new(version, *partition, *owner, names),
                    )),
                    LogEntry::Damaged { version, partition, owner } => {
                        let is_head = self.is_head(pass, version).await?;
                        damaged.push(DamagedLine::new(version, is_head));
                        let stand_in = without_content(version, is_head);
                        let line = VersionLine::new(&stand_in, *partition, *owner, names);
                        Line::Version(Box::new(line))
                    }
                    LogEntry::Redaction { .. } => {
                        Line::Redaction(RedactionLine::new(store.id, entry, names))
                    }
                };
                send(lines, &line).await?;
            }
        }
    }

    /// Whether a version is what its memory is now, also where that has expired.
    async fn is_head(&self, pass: &AdminPass, version: &Version) -> Result<bool> {
        let system = System::because("an export tells heads from older versions");
        let read = system.read(pass.workspace(), version.store, Timestamp::from_micros(i64::MIN));
        let live = self.storage.get(&read, &At::Id(version.memory), View::Basic).await?;
        Ok(live.is_some_and(|live| live.head == version.id))
    }

    /// Begins an import; refused to whoever may not.
    pub fn import(&self, context: &Context) -> Result<Import> {
        self.admin_pass(context).map(|_| Import { format: 1, is_noted: false })
    }

    /// Adds a whole export.
    pub async fn import_lines(&self, context: &Context, lines: Vec<String>) -> Result<u64> {
        self.import_more(context, &mut self.import(context)?, lines).await
    }

    /// Adds the next exported lines of an import, in order. What is there already is passed over, so an
    /// interrupted import can be run again. Answers how many items were added.
    pub async fn import_more(
        &self,
        context: &Context,
        import: &mut Import,
        lines: Vec<String>,
    ) -> Result<u64> {
        let pass = self.admin_pass(context)?;
        let mut names = Names::new(&self.storage.principals(&pass).await?);
        let mut items = Vec::with_capacity(lines.len());
        let lines = blocking(move || read_lines(&lines)).await??;
        for line in &lines {
            match line {
                Line::Header { format: format @ 1..=FORMAT } => import.format = *format,
                Line::Header { format } => {
                    let why = format!("export format {format}, this version reads up to {FORMAT}");
                    return Err(Invalid::new("line", why).into());
                }
                _ => {}
            }
        }
        if !lines.is_empty() && !std::mem::replace(&mut import.is_noted, true) {
            self.note(self.happening(context, kind::IMPORTED)).await;
        }
        for line in lines {
            match line {
                Line::Header { .. } => {}
                Line::Principal(line) => {
                    let memory = line.switches();
                    let new = NewPrincipal::try_from(line)?;
                    let principal = self.declare_principal(pass.workspace(), new).await?;
                    self.declare_switches(&principal, memory).await?;
                    names.add(&principal);
                }
                Line::Membership(line) => {
                    items.push(ImportItem::Membership(line.into_membership(&names)?));
                }
                Line::Store(line) => {
                    let mut store = line.into_store(pass.workspace(), &names)?;
                    import.leave_out_given_cap(&mut store);
                    if let Some(address) = &store.address {
                        let there = self.storage.store_at(store.workspace, address).await?;
                        if there.is_some_and(|there| there != store.id) {
                            store.address = None;
                        }
                    }
                    items.push(ImportItem::Store(Box::new(store)));
                }
                Line::Grant(line) => items.push(ImportItem::Grant(line.into_grant(&names)?)),
                Line::Version(line) => items.push(line.into_item(&names)?),
                Line::Redaction(line) => items.push(line.into_item(&names)?),
                Line::Damaged(_) => {}
            }
        }
        if items.is_empty() {
            return Ok(0);
        }
        match self.write_unasked(Mutation::Import(pass, items)).await? {
            Receipt::Imported(count) => Ok(count),
            other => Err(Error::Internal(format!("unexpected receipt {other:?}"))),
        }
    }
}

/// An import that goes on over many lines.
#[derive(Debug)]
pub struct Import {
    /// As its first line says; of a file that does not say it, the oldest.
    format: u32,
    /// Whether the audit log has it: once, however many pieces it comes in.
    is_noted: bool,
}

impl Import {
    /// Exports before format 4 hold caps of homes that nobody chose.
    fn leave_out_given_cap(&self, store: &mut Store) {
        let given = Some(GIVEN_CAP.min(store.policy.memories_max));
        let is_home = store.address == Some(Address::home(store.owner));
        if self.format < CHOSEN_CAPS && is_home && store.policy.soft_cap == given {
            store.policy.soft_cap = None;
        }
    }
}

fn read_lines(lines: &[String]) -> Result<Vec<Line>> {
    let wrong = |error| Invalid::new("line", format!("is not an export line: {error}"));
    let lines = lines.iter().filter(|line| !line.trim().is_empty());
    lines.map(|line| serde_json::from_str(line).map_err(|error| wrong(error).into())).collect()
}

enum ExportEnd {
    ReceiverGone,
    Failed(Error),
}

impl From<Error> for ExportEnd {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

async fn send(lines: &mpsc::Sender<String>, line: &Line) -> std::result::Result<(), ExportEnd> {
    let mut text = serde_json::to_string(line)
        .map_err(|error| Error::Internal(format!("export line: {error}")))?;
    text.push('\n');
    lines.send(text).await.map_err(|_| ExportEnd::ReceiverGone)
}
