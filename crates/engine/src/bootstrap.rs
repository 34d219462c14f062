//! The first start of a data directory: one workspace, one administrator, one key.

use crate::{DeclaredKey, Engine, NewPrincipal, Result, Secret};
use loci_model::{
    Actor, Audience, Caller, KeyScope, Power, Principal, PrincipalKind, WorkspaceId, policy::System,
};
use loci_storage::Mutation;

/// Names under which the administrator's keys are declared.
const GENERATED: &str = "admin";
const FROM_ENVIRONMENT: &str = "admin (environment)";
const ADMINISTRATOR: &str = "admin";

/// What a start found or made.
#[derive(Debug)]
pub struct FirstStart {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// Its administrator.
    pub administrator: Principal,
    /// The administrator's new key, to be shown once. Only on a first start without a key of the
    /// operator's own.
    pub admin_key: Option<Secret>,
}

impl Engine {
    /// Makes sure that a workspace and its administrator exist, and no key: enough for whoever can
    /// open the data directory, who needs none.
    pub async fn settle(&self) -> Result<FirstStart> {
        let now = self.seams.now();
        let workspace = match self.storage.default_workspace().await? {
            Some(workspace) => workspace,
            None => {
                let workspace = self.seams.workspace_id(now);
                self.write_unasked(Mutation::CreateWorkspace(workspace, now)).await?;
                workspace
            }
        };
        let administrator =
            NewPrincipal { kind: PrincipalKind::User, name: ADMINISTRATOR.into(), is_admin: true };
        let administrator = self.declare_principal(workspace, administrator).await?;
        Ok(FirstStart { workspace, administrator, admin_key: None })
    }

    /// Makes sure that a workspace, its administrator and a key exist. `given` is the operator's own
    /// admin key; it replaces the one given before.
    pub async fn bootstrap(&self, given: Option<&Secret>) -> Result<FirstStart> {
        let FirstStart { workspace, administrator, .. } = self.settle().await?;
        let declare = |name: &str, secret: &Secret| DeclaredKey {
            name: name.into(),
            workspace,
            principal: administrator.id,
            power: Power::Full,
            stores: None,
            secret_hash: secret.hash(),
        };
        let admin_key = match given {
            Some(secret) => {
                self.declare_key(declare(FROM_ENVIRONMENT, secret)).await?;
                None
            }
            None if self.has_keys(workspace).await? => None,
            None => {
                let secret = Secret::generate(&self.seams);
                self.declare_key(declare(GENERATED, &secret)).await?;
                Some(secret)
            }
        };
        Ok(FirstStart { workspace, administrator, admin_key })
    }

    /// Whether any key of the workspace opens anything.
    pub async fn has_keys(&self, workspace: WorkspaceId) -> Result<bool> {
        let now = self.seams.now();
        let pass = System::because("start-up asks whether a key exists").administer(workspace, now);
        Ok(self.storage.keys(&pass).await?.iter().any(|key| key.is_valid_at(now)))
    }

    /// The caller that whoever can open the data directory is: its administrator, in person.
    pub fn local_operator(&self, start: &FirstStart) -> Caller {
        Caller {
            workspace: start.workspace,
            principal: start.administrator.id,
            is_admin: true,
            actor: Actor::User(start.administrator.id),
            session: None,
            audience: Audience::Host,
            scope: KeyScope::FULL,
            expires_at: None,
        }
    }
}
