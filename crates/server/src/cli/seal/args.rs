//! The options for sealing and opening, beside those of the commands they belong to.

use clap::Subcommand;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum SealCommand {
    /// Make an identity, which opens, and print its recipient, to which others seal
    Keygen {
        /// Write the identity to this new file, for you alone, instead of standard output
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

/// For whom to seal.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct SealArgs {
    /// Encrypt the content for this recipient (age1…) before it leaves; repeat for several
    #[arg(long = "seal-to", value_name = "RECIPIENT")]
    pub(crate) recipients: Vec<String>,
    /// The same for every recipient in a file, one on a line; repeat for several
    #[arg(long = "seal-to-file", value_name = "FILE")]
    pub(crate) recipient_files: Vec<PathBuf>,
    /// Encrypt with the passphrase on the first line of this file instead
    #[arg(long, value_name = "FILE", conflicts_with_all = ["recipients", "recipient_files"])]
    pub(crate) passphrase_file: Option<PathBuf>,
}

/// What to open sealed content with.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct OpenArgs {
    /// Open sealed content with the identities in this file; repeat for several
    #[arg(long = "open-with", value_name = "IDENTITY_FILE")]
    pub(crate) identity_files: Vec<PathBuf>,
    /// Open it with the passphrase on the first line of this file instead
    #[arg(long, value_name = "FILE", conflicts_with = "identity_files")]
    pub(crate) passphrase_file: Option<PathBuf>,
    /// Print sealed content as it is kept, unopened
    #[arg(long, conflicts_with_all = ["identity_files", "passphrase_file"])]
    pub(crate) sealed: bool,
}
