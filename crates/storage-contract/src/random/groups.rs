//! The steps of a history that are about groups, the stores of everybody in them, addresses and the
//! audit log; and what is to be seen of all these.

use super::pair::{GUESTS, OWNER, Pair, WORKSPACE};
use super::plan::GroupStep;
use loci_model::event::kind;
use loci_model::policy::{self, System};
use loci_model::query::{CreatedQuery, Direction};
use loci_model::store::{Partitioning, Who as Allowed};
use loci_model::{
    Actor, Address, Audience, Caller, Cause, Grant, GrantId, Grantee, Happening, KeyId, KeyScope,
    Level, Membership, MemorySwitches, Principal, PrincipalId, PrincipalKind, Store, StoreId,
    StorePolicy, Timestamp, WorkspaceId, limit,
};
use loci_storage::{Batch, Mutation, Receipt, Storage};
use std::fmt::Debug;

const AGENT: PrincipalId = PrincipalId::from_u128(8);
const GROUPS: [PrincipalId; 2] = [PrincipalId::from_u128(5), PrincipalId::from_u128(6)];

/// Three users and an agent, two groups, and a principal that is not there.
pub(super) const EVERYBODY: [PrincipalId; 7] =
    [OWNER, GUESTS[0], GUESTS[1], AGENT, GROUPS[0], GROUPS[1], PrincipalId::from_u128(7)];

/// The homes of a group and of a user, and two that are nobody's.
fn addresses() -> [Address; 4] {
    let named = |text| Address::parse(text).unwrap();
    [Address::home(GROUPS[0]), Address::home(GUESTS[1]), named("free"), named("other")]
}

impl Pair {
    /// An agent, and two groups, the first with somebody in it.
    pub(super) async fn set_up_groups(&mut self) {
        for (id, kind, name) in [
            (AGENT, PrincipalKind::Agent, "agent"),
            (GROUPS[0], PrincipalKind::Group, "room"),
            (GROUPS[1], PrincipalKind::Group, "hall"),
        ] {
            let principal = Principal {
                memory: MemorySwitches::default(),
                id,
                workspace: WORKSPACE,
                kind,
                name: name.into(),
                is_admin: false,
                created_at: self.now,
            };
            self.write(Mutation::CreatePrincipal(principal), None).await.unwrap();
        }
        for member in [GUESTS[0], GUESTS[1], AGENT] {
            let new = Membership { group: GROUPS[0], member, since: self.now };
            let pass = System::because("random histories").convene(WORKSPACE, self.now);
            self.write(Mutation::AddMember(pass, new), None).await.unwrap();
        }
    }

    /// The stores of the first group and of a user in it.
    pub(super) async fn set_up_homes(&mut self) {
        for (owner, address) in [(GROUPS[0], 0), (GUESTS[1], 1)] {
            self.create_at(owner, address, None).await;
        }
    }

    pub(super) async fn group_step(&mut self, step: &GroupStep) {
        let system = System::because("random histories");
        match step {
            GroupStep::AddMember { group, member, key } => {
                let (group, member) = (EVERYBODY[*group], EVERYBODY[*member]);
                let new = Membership { group, member, since: self.now };
                let pass = system.convene(WORKSPACE, self.now);
                let _ = self.write(Mutation::AddMember(pass, new), *key).await;
            }
            GroupStep::RemoveMember { group, member } => {
                let (group, member) = (EVERYBODY[*group], EVERYBODY[*member]);
                let pass = system.convene(WORKSPACE, self.now);
                let remove = Mutation::RemoveMember { pass, group, member };
                let _ = self.write(remove, None).await;
            }
            GroupStep::SwitchMemory { who, off, key } => {
                let pass = system.administer(WORKSPACE, self.now);
                let switch = Mutation::SwitchMemory(pass, EVERYBODY[*who], switches(*off));
                let _ = self.write(switch, *key).await;
            }
            GroupStep::AuditedShare { store, giver, grantee, ends_in, is_long } => {
                self.audited_share(*store, *giver, *grantee, *ends_in, *is_long).await;
            }
            GroupStep::AuditedCommit { store, edits, is_long, key } => {
                let edits = edits.iter().map(|plan| self.stamps(|stamps| stamps.edit(plan)));
                let batch = Batch { edits: edits.collect(), cause: Cause::new(None, "audited") };
                let pass = system.write(WORKSPACE, self.stores[*store], OWNER, self.now);
                let happening = self.happening(0, *is_long);
                let commit = Box::new(Mutation::Commit(pass, batch));
                let _ = self.write(Mutation::Audited(commit, happening), *key).await;
            }
            GroupStep::Record { what, is_long, key } => {
                let record = Mutation::Record(self.happening(*what, *is_long));
                let _ = self.write(record, *key).await;
            }
            GroupStep::CreateAt { owner, address, key } => {
                self.create_at(EVERYBODY[*owner], *address, *key).await;
            }
            GroupStep::RemoveLast => {
                let last = self.stores.len() - 1;
                let remove = Mutation::RemoveStore(self.manage_pass(last));
                let happening = self.happening(1, false);
                let _ = self.write(Mutation::Audited(Box::new(remove), happening), None).await;
            }
        }
    }

    async fn create_at(&mut self, owner: PrincipalId, address: usize, key: Option<u8>) {
        let store = Store {
            address: Some(addresses()[address].clone()),
            id: StoreId::from_u128(self.next_id()),
            workspace: WORKSPACE,
            owner,
            name: "home".into(),
            description: String::new(),
            metadata: Default::default(),
            policy: StorePolicy {
                partitioning: Partitioning::ByOwner,
                remove: Allowed::Owner,
                share: Allowed::Writer,
                ..StorePolicy::default()
            },
            created_at: self.now,
            updated_at: self.now,
            archived_at: None,
        };
        if let Ok(Receipt::Store(store)) = self.write(Mutation::CreateStore(store), key).await
            && !self.stores.contains(&store.id)
        {
            self.stores.push(store.id);
        }
    }

    async fn audited_share(
        &mut self,
        store: usize,
        giver: usize,
        grantee: usize,
        ends_in: Option<i64>,
        is_long: bool,
    ) {
        let (store, giver) = (self.stores[store], caller(EVERYBODY[giver]));
        let who = giver.principal;
        let found = self.engine.facts(WORKSPACE, store, who, None).await.unwrap();
        let expected = self.oracle.facts(WORKSPACE, store, who, None).await.unwrap();
        let relation = |facts: &Option<policy::Facts>| facts.as_ref().map(|facts| facts.relation);
        assert_eq!(relation(&found), relation(&expected));
        let Some(facts) = expected else { return };
        let Ok(pass) = policy::share(&giver, &facts, self.now) else { return };
        let grantee = match grantee {
            6 => Grantee::Everyone,
            number => Grantee::Principal(EVERYBODY[number]),
        };
        let grant = Grant {
            id: GrantId::from_u128(self.next_id()),
            store,
            grantee,
            level: Level::ReadWrite,
            given_by: who,
            expires_at: ends_in.map(|secs| self.now.plus_secs(secs)),
            created_at: self.now,
        };
        let happening = self.happening(2, is_long);
        let share = Mutation::Audited(Box::new(Mutation::Share(pass, grant)), happening);
        if let Ok(Receipt::Grant { grant, .. }) = self.write(share, None).await {
            self.grants.push(grant.id);
        }
    }

    fn happening(&self, what: u8, is_long: bool) -> Happening {
        let chars = limit::EVENT_DETAIL_CHARS_MAX + 1;
        Happening {
            workspace: WORKSPACE,
            at: self.now,
            actor: if what == 1 { Actor::System } else { Actor::Service(AGENT) },
            principal: OWNER,
            kind: [kind::SEARCHED, kind::STORE_REMOVED, kind::GRANT_GIVEN, kind::KEY_CREATED]
                [usize::from(what)],
            store: (what != 3).then(|| self.stores[0]),
            subject: (what != 0).then(|| format!("subject {what}")),
            detail: is_long.then(|| "x".repeat(chars)),
        }
    }

    /// Addresses are kept in memory by engines and must follow every write at once.
    pub(super) async fn compare_addresses(&self) {
        for address in addresses() {
            let found = self.engine.store_at(WORKSPACE, &address).await.unwrap();
            assert_eq!(found, self.oracle.store_at(WORKSPACE, &address).await.unwrap());
        }
    }
}

/// What is on and off, as bits.
fn switches(off: u8) -> MemorySwitches {
    let is_on = |bit: u8| off >> bit & 1 == 0;
    MemorySwitches { is_on: is_on(0), own: is_on(1), groups: is_on(2), users: is_on(3) }
}

fn caller(principal: PrincipalId) -> Caller {
    Caller {
        acts_for_agents: false,
        memory: MemorySwitches::default(),
        workspace: WORKSPACE,
        principal,
        is_admin: false,
        actor: Actor::Key(KeyId::from_u128(principal.as_u128())),
        session: None,
        session_user: loci_model::SessionUser::Unsaid,
        audience: Audience::Host,
        scope: KeyScope::FULL,
        expires_at: None,
    }
}

/// All that is to be seen of groups, addresses and the audit log, and what groups make visible.
pub(super) async fn dump(
    engine: &dyn Storage,
    system: System,
    workspace: WorkspaceId,
    now: Timestamp,
    add: &mut dyn FnMut(&str, &dyn Debug),
) {
    let (convene, admin) = (system.convene(workspace, now), system.administer(workspace, now));
    for group in EVERYBODY {
        add("members", &engine.members(&convene, group).await.unwrap());
    }
    let mut after = None;
    loop {
        let page = engine.memberships(&convene, after, 2).await.unwrap();
        let Some(last) = page.last() else { break };
        after = Some((last.group, last.member));
        add("memberships", &page);
    }
    let mut after = 0;
    loop {
        let page = engine.events(&admin, after, 3).await.unwrap();
        let Some(last) = page.last() else { break };
        after = last.seq;
        add("events", &page);
    }
    for address in addresses() {
        add("at address", &engine.store_at(workspace, &address).await.unwrap());
    }
    for who in EVERYBODY {
        let principal = engine.principal(workspace, who).await.unwrap();
        if let Some(known) = &principal {
            let named = engine.principal_by_name(workspace, &known.name).await.unwrap();
            assert_eq!(named, principal);
        }
        let memory = principal.map(|known| known.memory).unwrap_or_default();
        let known = engine.all_facts(&caller(who)).await.unwrap();
        add("reach", &super::dump::in_order(&known));
        let pass = policy::browse(&Caller { memory, ..caller(who) }, now);
        let mut query = CreatedQuery {
            since: None,
            until: None,
            include_archived: true,
            direction: Direction::Descending,
            after: None,
            limit: 1,
        };
        loop {
            let page = engine.list_stores(&pass, &query).await.unwrap();
            add("listed", &page.items.iter().map(|store| store.id).collect::<Vec<_>>());
            let Some(next) = page.next else { break };
            query.after = Some(next);
        }
    }
}
