//! Work on the data directory as a whole: integrity check and backup.

use crate::{Context, Engine, Result};
use loci_model::event::kind;
use loci_storage::{CheckReport, CopyHold};
use std::path::Path;

impl Engine {
    /// Looks at everything and reports what does not fit.
    pub async fn check(&self, context: &Context) -> Result<CheckReport> {
        self.admin_pass(context)?;
        Ok(self.storage.check().await?)
    }

    /// Writes a consistent copy to a new file while writes go on. Whoever sends the copy on keeps the
    /// hold until it is sent: until then no erasure that came later is answered.
    pub async fn backup(&self, context: &Context, to: &Path) -> Result<CopyHold> {
        self.admin_pass(context)?;
        self.note(self.happening(context, kind::BACKED_UP)).await;
        Ok(self.storage.backup(to).await?)
    }
}
