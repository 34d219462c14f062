//! Work on the data directory as a whole: integrity check and backup.

use crate::{Context, Engine, Result};
use loci_model::event::{LogEnd, kind};
use loci_storage::{CheckReport, CopyHold};
use std::path::Path;

impl Engine {
    /// Looks at everything and reports what does not fit.
    pub async fn check(&self, context: &Context) -> Result<CheckReport> {
        self.admin_pass(context)?;
        Ok(self.storage.check().await?)
    }

    /// Whether the audit log of the caller's workspace still has the event that was its last one when
    /// its end was kept elsewhere. Together with an unbroken chain this shows that nothing up to there
    /// was changed, also by somebody who can write everything that is kept here.
    pub async fn holds_audit_end(&self, context: &Context, kept: LogEnd) -> Result<bool> {
        let pass = self.admin_pass(context)?;
        let Some(before) = kept.seq.checked_sub(1) else { return Ok(kept == LogEnd::default()) };
        let found = self.storage.events(&pass, before, 1).await?;
        Ok(found.first().is_some_and(|event| event.end() == kept))
    }

    /// Writes a consistent copy to a new file while writes go on. Whoever sends the copy on keeps the
    /// hold until it is sent: until then no erasure that came later is answered.
    pub async fn backup(&self, context: &Context, to: &Path) -> Result<CopyHold> {
        self.admin_pass(context)?;
        self.note(self.happening(context, kind::BACKED_UP)).await;
        Ok(self.storage.backup(to).await?)
    }
}
