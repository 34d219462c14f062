//! Loci's own authority, for what nobody asks for: expiry, purging, start-up, what the operator
//! declares. Each use says why in the code.

use super::{
    AdminPass, BrowsePass, ConvenePass, Giving, ManagePass, ReadPass, SearchPass, SharePass,
    WritePass,
};
use crate::{
    Actor, Audience, MemorySwitches, PrincipalId, SessionUser, StoreId, Timestamp, WorkspaceId,
};

/// Authority of Loci itself, for work no caller asked for. Making one demands a written reason.
#[derive(Debug, Clone, Copy)]
pub struct System(());

impl System {
    /// Takes the authority; `reason` is for the reader of the code.
    pub fn because(reason: &'static str) -> Self {
        debug_assert!(!reason.is_empty());
        Self(())
    }

    /// Reads a store.
    pub fn read(self, workspace: WorkspaceId, store: StoreId, now: Timestamp) -> ReadPass {
        ReadPass { workspace, store, audience: Audience::Host, now }
    }

    /// Writes to a store on behalf of `owner`.
    pub fn write(
        self,
        workspace: WorkspaceId,
        store: StoreId,
        owner: PrincipalId,
        now: Timestamp,
    ) -> WritePass {
        WritePass {
            workspace,
            store,
            audience: Audience::Host,
            now,
            actor: Actor::System,
            principal: owner,
            remover: None,
        }
    }

    /// Searches stores.
    pub fn search(
        self,
        workspace: WorkspaceId,
        stores: Vec<StoreId>,
        now: Timestamp,
    ) -> SearchPass {
        SearchPass { workspace, stores, guarded: Vec::new(), audience: Audience::Host, now }
    }

    /// Searches stores as a model would: what is internal is not found.
    pub fn search_as_model(
        self,
        workspace: WorkspaceId,
        stores: Vec<StoreId>,
        now: Timestamp,
    ) -> SearchPass {
        SearchPass { workspace, stores, guarded: Vec::new(), audience: Audience::Model, now }
    }

    /// Manages a store.
    pub fn manage(self, workspace: WorkspaceId, store: StoreId, now: Timestamp) -> ManagePass {
        ManagePass { workspace, store, now, actor: Actor::System }
    }

    /// Shares a store without limits.
    pub fn share(
        self,
        workspace: WorkspaceId,
        store: StoreId,
        giver: PrincipalId,
        now: Timestamp,
    ) -> SharePass {
        SharePass { workspace, store, now, giver, giving: Giving::ALL, is_unasked: true }
    }

    /// Sees every store of a workspace.
    pub fn browse(self, workspace: WorkspaceId, now: Timestamp) -> BrowsePass {
        BrowsePass {
            workspace,
            now,
            reader: None,
            user: SessionUser::Unsaid,
            memory: MemorySwitches::default(),
            only: None,
        }
    }

    /// Says who is in which group.
    pub fn convene(self, workspace: WorkspaceId, now: Timestamp) -> ConvenePass {
        ConvenePass { workspace, now }
    }

    /// Administers a workspace.
    pub fn administer(self, workspace: WorkspaceId, now: Timestamp) -> AdminPass {
        AdminPass { workspace, now }
    }
}
