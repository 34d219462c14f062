//! Principals: who can own stores, hold keys and be granted access.

use crate::access::expect_receipt;
use crate::keys::check_name;
use crate::{Context, Engine, Error, Result};
use loci_model::{Principal, PrincipalId, PrincipalKind, WorkspaceId};
use loci_storage::{Mutation, Receipt};

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

impl Engine {
    /// Makes a principal.
    pub async fn create_principal(
        &self,
        context: &Context,
        new: NewPrincipal,
    ) -> Result<Principal> {
        self.admin_pass(context)?;
        let principal = self.new_principal(context.caller.workspace, new)?;
        let receipt = self.write(context, Mutation::CreatePrincipal(principal)).await?;
        expect_receipt!(receipt, Receipt::Principal(principal) => principal)
    }

    /// The workspace's principals.
    pub async fn principals(&self, context: &Context) -> Result<Vec<Principal>> {
        let pass = self.admin_pass(context)?;
        Ok(self.storage.principals(&pass).await?)
    }

    /// A principal of the caller's workspace, by id or by name.
    pub async fn find_principal(&self, context: &Context, name_or_id: &str) -> Result<Principal> {
        let workspace = context.caller.workspace;
        let found = match name_or_id.parse::<PrincipalId>() {
            Ok(id) => self.storage.principal(workspace, id).await?,
            Err(_) => self.storage.principal_by_name(workspace, name_or_id).await?,
        };
        found.ok_or(Error::NotFound("principal"))
    }

    /// Makes a declared principal exist.
    pub async fn declare_principal(
        &self,
        workspace: WorkspaceId,
        new: NewPrincipal,
    ) -> Result<Principal> {
        if let Some(found) = self.storage.principal_by_name(workspace, &new.name).await? {
            return Ok(found);
        }
        let principal = self.new_principal(workspace, new)?;
        let receipt = self.write_unasked(Mutation::CreatePrincipal(principal)).await?;
        expect_receipt!(receipt, Receipt::Principal(principal) => principal)
    }

    fn new_principal(&self, workspace: WorkspaceId, new: NewPrincipal) -> Result<Principal> {
        check_name(&new.name)?;
        let now = self.seams.now();
        Ok(Principal {
            id: self.seams.principal_id(now),
            workspace,
            kind: new.kind,
            name: new.name,
            is_admin: new.is_admin,
            created_at: now,
        })
    }
}
