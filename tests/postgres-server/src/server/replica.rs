//! A streaming standby of a server: a copy of its data that follows it and can only be read.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;

use anyhow::{Result, bail};

use super::{INIT_TIMEOUT, Postgres, USER};
use crate::process::{self, Leftovers};
use crate::scratch::Scratch;

impl Postgres {
    /// A standby that follows this server, with the same superuser; gone when dropped. It keeps
    /// following when either of the two is started again.
    pub fn replica(&self) -> Result<Self> {
        let scratch = Scratch::new(&self.account)?;
        let mut replica = Self {
            bin: self.bin.clone(),
            account: self.account,
            port: 0,
            password: self.password.clone(),
            running: None,
            leftovers: Leftovers::default(),
            scratch,
        };
        DirBuilder::new().mode(0o700).create(replica.data())?;
        replica.account.give(replica.data())?;
        let mut copy = replica.command("pg_basebackup");
        // Not on the command line, which everybody can see.
        copy.env("PGPASSWORD", &self.password);
        copy.args(["--host", "127.0.0.1", "--port", &self.port.to_string(), "--username", USER]);
        copy.args(["--write-recovery-conf", "--wal-method", "stream", "--checkpoint", "fast"]);
        copy.args(["--no-sync", "--pgdata"]).arg(replica.data());
        let mut copy = replica.spawn(&mut copy)?;
        if !process::ended_within(&mut copy, INIT_TIMEOUT) {
            copy.kill()?;
        }
        if !copy.wait()?.success() {
            bail!("pg_basebackup failed:\n{}", replica.log());
        }
        replica.launch_anywhere()?;
        Ok(replica)
    }
}
