//! Groups: who is in them, and who may say so. Being in a group opens its store from the moment it
//! is answered, and leaving closes it.

use crate::access::expect_receipt;
use crate::{Context, Engine, Error, NewPrincipal, Result};
use loci_model::event::kind;
use loci_model::policy::{self, ConvenePass, System};
use loci_model::{GrantId, Membership, Principal, PrincipalId, PrincipalKind, WorkspaceId, limit};
use loci_storage::{Mutation, Receipt};

/// A group and everybody in it.
#[derive(Debug, Clone)]
pub struct Group {
    /// The group.
    pub group: Principal,
    /// Who is in it, in the order of joining, and since when.
    pub members: Vec<(Principal, Membership)>,
}

impl Engine {
    fn convene_pass(&self, context: &Context) -> Result<ConvenePass> {
        policy::convene(&context.caller, self.seams.now())
            .map_err(|_| Error::Denied("this needs an administrator's or a platform's key"))
    }

    /// Puts somebody into a group. Group and member are made if nobody has their names, the member as
    /// an agent if nobody says what it is.
    pub async fn add_member(
        &self,
        context: &Context,
        group: &str,
        member: &str,
        kind: impl Into<Option<PrincipalKind>>,
    ) -> Result<Membership> {
        let pass = self.convene_pass(context)?;
        if let Some(receipt) = self.recall(context).await? {
            return expect_receipt!(receipt, Receipt::Member(membership) => membership);
        }
        let workspace = context.caller.workspace;
        let group = self.declared(workspace, group, Some(PrincipalKind::Group)).await?;
        let member = self.declared(workspace, member, kind.into()).await?;
        let new = Membership { group: group.id, member: member.id, since: pass.now() };
        let told = self.happening(context, kind::MEMBER_ADDED).about(&member.id).saying(&group.id);
        let receipt = self.audited(context, Mutation::AddMember(pass, new), told).await?;
        expect_receipt!(receipt, Receipt::Member(membership) => membership)
    }

    /// Takes somebody out of a group, with the grants that they could give only because they were
    /// in it.
    pub async fn remove_member(
        &self,
        context: &Context,
        group: &str,
        member: &str,
    ) -> Result<Vec<GrantId>> {
        let pass = self.convene_pass(context)?;
        if let Some(receipt) = self.recall(context).await? {
            return expect_receipt!(receipt, Receipt::MemberRemoved { revoked, .. } => revoked);
        }
        let group = self.named(context, group).await?.ok_or(Error::NotFound("group"))?.id;
        let member = self.named(context, member).await?.ok_or(Error::NotFound("member"))?.id;
        let told = self.happening(context, kind::MEMBER_REMOVED).about(&member).saying(&group);
        let leave = Mutation::RemoveMember { pass, group, member };
        let receipt = self.audited(context, leave, told).await?;
        expect_receipt!(receipt, Receipt::MemberRemoved { revoked, .. } => revoked)
    }

    /// A group and who is in it.
    pub async fn group(&self, context: &Context, group: &str) -> Result<Group> {
        let pass = self.convene_pass(context)?;
        let found = self.named(context, group).await?;
        let found = found.filter(|found| found.kind == PrincipalKind::Group);
        let group = found.ok_or(Error::NotFound("group"))?;
        let mut members = Vec::new();
        for membership in self.storage.members(&pass, group.id).await? {
            let member = self.storage.principal(group.workspace, membership.member).await?;
            members.extend(member.map(|member| (member, membership)));
        }
        Ok(Group { group, members })
    }

    /// Memberships of the workspace by group and member, after the last one of the page before.
    pub async fn memberships(
        &self,
        context: &Context,
        after: Option<(PrincipalId, PrincipalId)>,
        count: usize,
    ) -> Result<Vec<Membership>> {
        let pass = self.convene_pass(context)?;
        let count = count.clamp(1, limit::PAGE_ITEMS_MAX);
        Ok(self.storage.memberships(&pass, after, count).await?)
    }

    /// Makes a declared group have exactly these members.
    pub async fn declare_group(
        &self,
        workspace: WorkspaceId,
        group: &str,
        members: &[(String, Option<PrincipalKind>)],
    ) -> Result<()> {
        let system = System::because("the operator declared it");
        let pass = system.convene(workspace, self.seams.now());
        let group = self.declared(workspace, group, Some(PrincipalKind::Group)).await?;
        let mut standing = self.storage.members(&pass, group.id).await?;
        for (name, kind) in members {
            let member = self.declared(workspace, name, *kind).await?.id;
            if standing.iter().any(|known| known.member == member) {
                standing.retain(|known| known.member != member);
                continue;
            }
            let new = Membership { group: group.id, member, since: pass.now() };
            let told = self.happening_by_itself(workspace, group.id, kind::MEMBER_ADDED);
            let told = told.about(&member).saying(&group.id);
            self.audited_unasked(Mutation::AddMember(pass.clone(), new), told).await?;
        }
        for Membership { group, member, .. } in standing {
            let told = self.happening_by_itself(workspace, group, kind::MEMBER_REMOVED);
            let leave = Mutation::RemoveMember { pass: pass.clone(), group, member };
            self.audited_unasked(leave, told.about(&member).saying(&group)).await?;
        }
        Ok(())
    }

    /// The principal with a name as somebody says it is who may: made when there is none, and an
    /// agent when nobody says what. One that is of another kind already is not it.
    async fn declared(
        &self,
        workspace: WorkspaceId,
        name: &str,
        kind: Option<PrincipalKind>,
    ) -> Result<Principal> {
        let made = kind.unwrap_or(PrincipalKind::Agent);
        let found = self.found_or_made(workspace, name, made).await;
        let found = match found {
            Err(Error::Taken(_)) => {
                self.named_in(workspace, name).await?.ok_or(Error::NotFound("principal"))?
            }
            found => found?,
        };
        match kind {
            Some(kind) if found.kind != kind => self.recast(found, kind, false).await,
            None if found.kind == PrincipalKind::Group => Err(Error::Taken("name")),
            _ => Ok(found),
        }
    }

    /// The principal with a name; made when there is none. A group is not somebody, nor the other
    /// way about.
    pub(crate) async fn found_or_made(
        &self,
        workspace: WorkspaceId,
        name: &str,
        kind: PrincipalKind,
    ) -> Result<Principal> {
        if let Some(found) = self.named_in(workspace, name).await? {
            let is_group = |kind| kind == PrincipalKind::Group;
            if is_group(found.kind) != is_group(kind) {
                return Err(Error::Taken("name"));
            }
            return Ok(found);
        }
        let new = NewPrincipal { kind, name: name.to_owned(), is_admin: false };
        match self.declare_principal(workspace, new).await {
            // Somebody was quicker.
            Err(Error::Taken(_)) => {
                self.named_in(workspace, name).await?.ok_or(Error::NotFound("principal"))
            }
            made => made,
        }
    }
}
