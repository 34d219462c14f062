//! Principals: who can own stores, hold keys and be granted access.

use crate::access::expect_receipt;
use crate::keys::check_principal_name;
use crate::{Context, Engine, Error, Result};
use loci_model::event::kind;
use loci_model::policy::{self, System};
use loci_model::{
    Caller, Invalid, MemorySwitches, Principal, PrincipalId, PrincipalKind, Timestamp, WorkspaceId,
};
use loci_storage::{Mutation, Receipt};
use std::borrow::Cow;

/// What doors take for "one's own", "nobody in particular" or "all": somebody of such a name could
/// not be reached by it, or would be reached by mistake.
const RESERVED: [&str; 5] = ["default", "everyone", "null", "self", "undefined"];

/// A principal to be made.
#[derive(Debug, Clone)]
pub struct NewPrincipal {
    /// What sort.
    pub kind: PrincipalKind,
    /// Its name, unique in the workspace.
    pub name: String,
    /// Whether it administers the workspace.
    pub is_admin: bool,
}

/// Whether a text may be a guess at a name: not an id, and not of an administrator, who sees all names.
pub(crate) fn is_guessable(caller: &Caller, text: &str, now: Timestamp) -> bool {
    text.parse::<PrincipalId>().is_err() && policy::administer(caller, now).is_err()
}

impl Engine {
    /// Makes a principal.
    pub async fn create_principal(
        &self,
        context: &Context,
        new: NewPrincipal,
    ) -> Result<Principal> {
        let pass = self.admin_pass(context)?;
        if let Some(recast) = self.unheard(context.caller.workspace, &new).await? {
            let told = self.happening(context, kind::PRINCIPAL_RECAST).about(&recast.id);
            let told = told.saying(&spelled_kind(new.kind));
            let recast = Mutation::Recast(pass, recast.id, new.kind, new.is_admin);
            let receipt = self.audited(context, recast, told).await?;
            return expect_receipt!(receipt, Receipt::Principal(principal) => principal);
        }
        let principal = self.new_principal(context.caller.workspace, &new)?;
        let told = self.happening(context, kind::PRINCIPAL_CREATED).about(&principal.id);
        let receipt = self.audited(context, Mutation::CreatePrincipal(principal), told).await?;
        expect_receipt!(receipt, Receipt::Principal(principal) => principal)
    }

    /// The workspace's principals.
    pub async fn principals(&self, context: &Context) -> Result<Vec<Principal>> {
        let pass = self.admin_pass(context)?;
        Ok(self.storage.principals(&pass).await?)
    }

    /// The principal on whose authority the caller acts.
    pub async fn own_principal(&self, context: &Context) -> Result<Principal> {
        let caller = &context.caller;
        let own = self.storage.principal(caller.workspace, caller.principal).await?;
        own.ok_or(Error::NotFound("principal"))
    }

    /// The principal that a text names, as [`Self::named`] finds it; it must be there.
    pub async fn find_principal(&self, context: &Context, text: &str) -> Result<Principal> {
        self.named(context, text).await?.ok_or(Error::NotFound("principal"))
    }

    /// The same for somebody to be shared with, or asked about: a name is told from one that nobody has
    /// only so often, to those who administer nothing.
    pub async fn find_grantee(&self, context: &Context, text: &str) -> Result<Principal> {
        let (caller, now) = (&context.caller, self.seams.now());
        if !is_guessable(caller, text, now) {
            return self.find_principal(context, text).await;
        }
        self.newcomers.may_name(caller.principal, now)?;
        let found = self.find_principal(context, text).await;
        if matches!(found, Err(Error::NotFound(_))) {
            self.newcomers.count_unknown(caller.principal, now)?;
        }
        found
    }

    /// The caller with the eyes of somebody whom a text names, for administrators. Nothing may be
    /// written with them; who asks sees to that.
    pub async fn view_as(&self, caller: &Caller, text: &str) -> Result<Caller> {
        const REFUSED: Error = Error::Denied("only an administrator sees with others' eyes");
        let now = self.seams.now();
        policy::administer(caller, now).map_err(|_| REFUSED)?;
        let found = self.named_in(caller.workspace, text).await?;
        let found = found.ok_or(Error::NotFound("principal"))?;
        let seen = policy::view_as(caller, &found, now).map_err(|_| REFUSED)?;
        self.note_view(caller, found.id).await;
        Ok(seen)
    }

    /// Makes a declared principal exist.
    pub async fn declare_principal(
        &self,
        workspace: WorkspaceId,
        new: NewPrincipal,
    ) -> Result<Principal> {
        if let Some(found) = self.by_name(workspace, &new.name).await? {
            return self.recast(found, new.kind, new.is_admin).await;
        }
        let principal = self.new_principal(workspace, &new)?;
        let told = self.happening_by_itself(workspace, principal.id, kind::PRINCIPAL_CREATED);
        let told = told.about(&principal.id);
        let receipt = self.audited_unasked(Mutation::CreatePrincipal(principal), told).await?;
        expect_receipt!(receipt, Receipt::Principal(principal) => principal)
    }

    pub(crate) async fn by_name(
        &self,
        workspace: WorkspaceId,
        name: &str,
    ) -> Result<Option<Principal>> {
        let found = self.storage.principal_by_name(workspace, name).await?;
        match canonical(name) {
            plain if found.is_none() && plain != name => {
                Ok(self.storage.principal_by_name(workspace, &plain).await?)
            }
            _ => Ok(found),
        }
    }

    /// The principal of a name that is to be made, if it is there only because somebody shared
    /// with it.
    async fn unheard(
        &self,
        workspace: WorkspaceId,
        new: &NewPrincipal,
    ) -> Result<Option<Principal>> {
        let found = self.by_name(workspace, &new.name).await?;
        let found = found.filter(|found| found.kind == PrincipalKind::Agent && !found.is_admin);
        Ok(found.filter(|found| found.kind != new.kind || found.is_admin != new.is_admin))
    }

    /// A principal as what it is declared to be. Whoever shares with somebody unknown makes an agent
    /// of that name; that must not keep the operator or a platform from saying what it is. Whoever
    /// is somebody already stays what they are.
    pub(crate) async fn recast(
        &self,
        found: Principal,
        kind: PrincipalKind,
        is_admin: bool,
    ) -> Result<Principal> {
        if (found.kind, found.is_admin) == (kind, is_admin) {
            return Ok(found);
        }
        let system = System::because("whoever may make principals may say what this one is");
        let pass = system.administer(found.workspace, self.seams.now());
        let told = self.happening_by_itself(found.workspace, found.id, kind::PRINCIPAL_RECAST);
        let told = told.about(&found.id).saying(&spelled_kind(kind));
        let recast = Mutation::Recast(pass, found.id, kind, is_admin);
        let receipt = self.audited_unasked(recast, told).await?;
        expect_receipt!(receipt, Receipt::Principal(principal) => principal)
    }

    /// Says which memory a principal may use.
    pub async fn switch_memory(
        &self,
        context: &Context,
        principal: PrincipalId,
        memory: MemorySwitches,
    ) -> Result<Principal> {
        let pass = self.admin_pass(context)?;
        let told = self.happening(context, kind::MEMORY_SWITCHED).about(&principal);
        let told = told.saying(&spelled(memory));
        let switch = Mutation::SwitchMemory(pass, principal, memory);
        let receipt = self.audited(context, switch, told).await?;
        expect_receipt!(receipt, Receipt::Principal(principal) => principal)
    }

    /// Makes a declared principal's switches stand as declared.
    pub async fn declare_switches(
        &self,
        principal: &Principal,
        memory: MemorySwitches,
    ) -> Result<()> {
        if principal.memory == memory {
            return Ok(());
        }
        let system = System::because("the operator declared it");
        let pass = system.administer(principal.workspace, self.seams.now());
        let id = principal.id;
        let told = self.happening_by_itself(principal.workspace, id, kind::MEMORY_SWITCHED);
        let told = told.about(&id).saying(&spelled(memory));
        self.audited_unasked(Mutation::SwitchMemory(pass, id, memory), told).await?;
        Ok(())
    }

    pub(crate) fn new_principal(
        &self,
        workspace: WorkspaceId,
        new: &NewPrincipal,
    ) -> Result<Principal> {
        check_principal_name(&new.name)?;
        if RESERVED.contains(&new.name.as_str()) {
            let why = format!("must not be one of {}", RESERVED.join(", "));
            return Err(Invalid::new("name", why).into());
        }
        if new.is_admin && new.kind == PrincipalKind::Group {
            return Err(Invalid::new("kind", "a group cannot administer").into());
        }
        let now = self.seams.now();
        Ok(Principal {
            id: self.seams.principal_id(now),
            workspace,
            kind: new.kind,
            name: canonical(&new.name).into_owned(),
            is_admin: new.is_admin,
            memory: MemorySwitches::default(),
            created_at: now,
        })
    }
}

/// A name as it is kept: a UUID is the same in capitals.
pub(crate) fn canonical(name: &str) -> Cow<'_, str> {
    match uuid::Uuid::try_parse(name) {
        Ok(uuid) => Cow::Owned(uuid.to_string()),
        Err(_) => Cow::Borrowed(name),
    }
}

fn spelled_kind(kind: PrincipalKind) -> String {
    format!("{kind:?}").to_lowercase()
}

/// What is off, for the audit log.
fn spelled(memory: MemorySwitches) -> String {
    let parts = [
        ("memory", memory.is_on),
        ("self", memory.own),
        ("chat", memory.groups),
        ("user", memory.users),
    ];
    let off: Vec<&str> = parts.iter().filter(|(_, is_on)| !is_on).map(|(name, _)| *name).collect();
    if off.is_empty() { "all on".to_owned() } else { format!("off: {}", off.join(", ")) }
}
