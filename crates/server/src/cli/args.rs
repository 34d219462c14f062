//! The command line: every command, argument and option. Scripts rely on these names, so they only
//! ever grow. `docs/reference/cli.md` describes them; a test compares the two.

use super::agent::AgentCommand;
use super::chat::ChatCommand;
use super::events::EventsArgs;
use super::grant::{GrantArgs, GrantsArgs, RevokeArgs};
use super::ingest;
use super::key::KeyCommand;
use super::knowledge::KnowledgeCommand;
use super::mcp::McpArgs;
use super::mount::{MountArgs, UmountArgs};
use super::reembed::ReembedArgs;
use super::seal::{OpenArgs, SealArgs, SealCommand};
use super::session::SessionCommand;
use super::sync::SyncArgs;
use crate::place::{DatabaseUrl, Place};
use clap::{Parser, Subcommand, ValueEnum};
use loci_model::limit;
use std::path::PathBuf;

/// Memory for AI agents: a server, and the tools to work with what it keeps.
#[derive(Debug, Parser)]
#[command(name = "loci", version, arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Debug, clap::Args)]
pub(crate) struct Common {
    /// Data directory [env: LOCI_DATA] [default: $XDG_DATA_HOME/loci or ~/.local/share/loci]
    #[arg(long, global = true, value_name = "DIR", conflicts_with = "url")]
    pub(crate) data: Option<PathBuf>,
    /// PostgreSQL database instead of a data directory, such as postgres://user@host/database;
    /// with a password prefer the environment, which other users cannot see [env: LOCI_DATABASE]
    #[arg(long, global = true, value_name = "URL", conflicts_with = "url")]
    pub(crate) database: Option<DatabaseUrl>,
    /// Talk to this server instead of a data directory [env: LOCI_URL]
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// API key; prefer the environment, which other users cannot see [env: LOCI_KEY]
    #[arg(long, global = true, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the server
    Serve(ServeArgs),
    /// Print a link that signs a browser in to the console, once
    Console,
    /// Serve tools to a program over standard input and output, by the Model Context Protocol
    Mcp(McpArgs),
    /// Write a memory, from an option, a file or standard input
    Put(PutArgs),
    /// Print a memory's content
    Get(GetArgs),
    /// List memories
    List(ListArgs),
    /// Find memories, by word and by meaning
    Search(SearchArgs),
    /// Report memories that say the same, or nearly
    Duplicates(DuplicatesArgs),
    /// Merge episodes and remove what matters least, or take that back
    Compact(CompactArgs),
    /// List a memory's versions, newest first
    History(HistoryArgs),
    /// Write an old version's content back, as a new version
    Restore(RestoreArgs),
    /// Destroy one version's content for good
    Redact(RedactArgs),
    /// Memory stores
    #[command(subcommand)]
    Store(StoreCommand),
    /// API keys
    #[command(subcommand)]
    Key(KeyCommand),
    /// Share a store with somebody
    Grant(GrantArgs),
    /// List who a store is shared with
    Grants(GrantsArgs),
    /// Take a grant back, with those its grantee gave on
    Revoke(RevokeArgs),
    /// Chats and who is in them
    #[command(subcommand)]
    Chat(ChatCommand),
    /// Agents and users, and which memory they may use
    #[command(subcommand)]
    Agent(AgentCommand),
    /// Show what happened to access, oldest first
    Events(EventsArgs),
    /// Sessions and the stores attached to them
    #[command(subcommand)]
    Session(SessionCommand),
    /// Show stores as directories of this machine
    Mount(MountArgs),
    /// End a mount
    Umount(UmountArgs),
    /// Keep a directory and a store alike, where a store cannot be mounted
    Sync(SyncArgs),
    /// Keys for content that only clients can open
    #[command(subcommand)]
    Seal(SealCommand),
    /// Look for damage in everything that is kept
    Check(CheckArgs),
    /// Make all vectors for search by meaning anew
    Reembed(ReembedArgs),
    /// What models read beside the rules
    #[command(subcommand)]
    Knowledge(KnowledgeCommand),
    /// Measure search on questions whose answers are known
    Eval(EvalArgs),
    /// Copy the database to a new file while work goes on
    Backup(BackupArgs),
    /// Write everything as JSON lines to a new file, or to standard output
    Export(ExportArgs),
    /// Read an export, from a file or standard input
    Import(ImportArgs),
    /// Cut documents into pieces and write them to a store, or to what an oracle knows
    Ingest(IngestArgs),
    /// The text of a PDF: how `ingest` reads one
    #[command(name = ingest::pdf::COMMAND, hide = true)]
    ReadPdf,
    /// Read what messages claim, from JSON lines to JSON lines
    Extract(ExtractArgs),
    /// Move everything between a data directory and a PostgreSQL database, or two of a kind
    Move(MoveArgs),
    /// Bring whatever can still be read of a damaged place to a new one
    Salvage(SalvageArgs),
    /// Report on the environment: directory, disk, configuration, server
    Doctor(DoctorArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// Address and port; port 0 takes a free one [default: 127.0.0.1:8700]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<String>,
    /// Configuration file (TOML)
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The database is a streaming standby: serve reads, marked as possibly stale, and no writes
    #[arg(long)]
    pub(crate) replica: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// Compare the audit log with an end that an earlier check printed and that was kept elsewhere
    #[arg(long, value_name = "SEQ:HASH")]
    pub(crate) audit_end: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PutArgs {
    /// Store id, or a name only one store has
    pub(crate) store: String,
    /// Path of the memory, such as /notes/today.md
    pub(crate) path: String,
    /// Take the content from this file
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    pub(crate) file: Option<PathBuf>,
    /// Take this content
    #[arg(long, value_name = "TEXT")]
    pub(crate) text: Option<String>,
    /// Only if the content now there has this SHA-256
    #[arg(long, value_name = "HEX")]
    pub(crate) if_digest: Option<String>,
    /// Make the store if there is none of that name
    #[arg(long)]
    pub(crate) create_store: bool,
    #[command(flatten)]
    pub(crate) seal: SealArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct IngestArgs {
    /// Markdown, text or PDF
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Store id, or a name only one store has
    #[arg(long, conflicts_with = "oracle")]
    pub(crate) store: Option<String>,
    /// Make the store if there is none of that name
    #[arg(long, requires = "store")]
    pub(crate) create_store: bool,
    /// Add to what the QiForge oracle of this DID knows
    #[arg(long, value_name = "DID")]
    pub(crate) oracle: Option<String>,
    /// For the oracle's owners only; in a store, hidden from models
    #[arg(long)]
    pub(crate) private: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct GetArgs {
    /// Store id, or a name only one store has
    pub(crate) store: String,
    /// Path of the memory
    pub(crate) path: String,
    /// As it was in this version
    #[arg(long, value_name = "MEMVER")]
    pub(crate) version: Option<String>,
    #[command(flatten)]
    pub(crate) open: OpenArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Store id, or a name only one store has
    pub(crate) store: String,
    /// Only below this directory
    pub(crate) prefix: Option<String>,
    /// Show what lies deeper than this as directories; 0 shows everything
    #[arg(long, value_name = "N")]
    pub(crate) depth: Option<u32>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SearchArgs {
    /// What to look for, in any words
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    /// Only in this store, by id or name, instead of everywhere
    #[arg(long, value_name = "STORE")]
    pub(crate) store: Option<String>,
    /// How many results
    #[arg(long, value_name = "N", default_value_t = limit::SEARCH_RESULTS_DEFAULT)]
    pub(crate) limit: usize,
    /// By word, by meaning, or both
    #[arg(long, value_enum, default_value_t)]
    pub(crate) mode: SearchMode,
    /// Only below this directory
    #[arg(long, value_name = "PREFIX")]
    pub(crate) prefix: Option<String>,
    /// Only of this kind; repeat for several
    #[arg(long = "kind", value_name = "KIND")]
    pub(crate) kinds: Vec<String>,
    /// Only with this tag; repeat for several, all of which are needed
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// Search as it was: a time, or with --store a version (memver_…) or a number of the feed
    #[arg(long, value_name = "WHEN")]
    pub(crate) as_of: Option<String>,
    /// Wait until everything written so far can be found by meaning
    #[arg(long)]
    pub(crate) wait: bool,
    /// Say why each result is where it is
    #[arg(long)]
    pub(crate) explain: bool,
}

/// Which legs a search runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum SearchMode {
    /// By word and by meaning
    #[default]
    Hybrid,
    /// By word only
    Lexical,
    /// By meaning only
    Semantic,
}

impl SearchMode {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Hybrid => "hybrid",
            Self::Lexical => "lexical",
            Self::Semantic => "semantic",
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct DuplicatesArgs {
    /// Store id, or a name only one store has
    pub(crate) store: String,
    /// From which similarity on memories count as near duplicates, 0.5 to 1 [default: 0.8]
    #[arg(long, value_name = "X")]
    pub(crate) threshold: Option<f32>,
    /// How many groups of either sort, up to 100 [default: 100]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompactArgs {
    /// Store id, or a name only one store has
    pub(crate) store: String,
    /// How many memories shall be left [default: the store's soft cap]
    #[arg(long, value_name = "N", conflicts_with_all = ["undo", "soft_cap"])]
    pub(crate) keep: Option<u64>,
    /// Only say what would be done
    #[arg(long, conflicts_with_all = ["undo", "soft_cap"])]
    pub(crate) dry_run: bool,
    /// From now on compact the store when it holds more than this; `none` for never
    #[arg(long, value_name = "N", conflicts_with = "undo")]
    pub(crate) soft_cap: Option<String>,
    /// Bring back what the summary at this path was made from
    #[arg(long, value_name = "PATH")]
    pub(crate) undo: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct EvalArgs {
    /// Memories and questions, as JSON; repeat for several files
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) data: Vec<PathBuf>,
    /// One store for each conversation, or one for all
    #[arg(long, value_enum, default_value_t)]
    pub(crate) scope: EvalScope,
    /// By word, by meaning, or both
    #[arg(long, value_enum, default_value_t)]
    pub(crate) mode: SearchMode,
    /// Only questions of these categories
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [1, 2, 3, 4])]
    pub(crate) categories: Vec<i64>,
    /// How many results each question gets
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) depth: usize,
    /// Only the first questions of each conversation
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// How words and meaning are put together
    #[arg(long, value_enum, default_value_t)]
    pub(crate) fusion: EvalFusion,
    /// The share of words, 0 to 1; goes with convex
    #[arg(long, value_name = "X")]
    pub(crate) lexical_weight: Option<f32>,
    /// Search as this configuration file says, with another embedder perhaps
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Fail when a figure is lower, such as R@10=0.8; repeat for several
    #[arg(long, value_name = "NAME=X")]
    pub(crate) fail_under: Vec<String>,
}

/// Which stores an evaluation makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum EvalScope {
    /// One for each conversation
    #[default]
    PerConversation,
    /// One for everything
    Merged,
}

impl EvalScope {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::PerConversation => "per-conversation",
            Self::Merged => "merged",
        }
    }
}

/// How words and meaning are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum EvalFusion {
    /// A weighted mean of both scores
    #[default]
    Convex,
    /// Reciprocal ranks
    Rrf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct HistoryArgs {
    /// Store id, or a name only one store has
    pub(crate) store: String,
    /// Path of the memory, or the path it had when it was removed
    pub(crate) path: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RestoreArgs {
    /// Store id, or a name only one store has
    pub(crate) store: String,
    /// Where to write it
    pub(crate) path: String,
    /// Which version
    #[arg(value_name = "MEMVER")]
    pub(crate) version: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RedactArgs {
    /// Which version
    #[arg(value_name = "MEMVER")]
    pub(crate) version: String,
    /// Store id, or a name only one store has
    #[arg(long)]
    pub(crate) store: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// List stores
    List {
        /// Archived ones too
        #[arg(long)]
        archived: bool,
    },
    /// Show one store and its numbers
    Show {
        /// Store id, or a name only one store has
        store: String,
    },
    /// Make a store
    Create {
        /// Its name
        name: String,
        /// What it is for, written for the model
        #[arg(long, default_value = "")]
        description: String,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct BackupArgs {
    /// A file that does not exist yet
    pub(crate) file: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// A file that does not exist yet, or - for standard output
    pub(crate) file: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// A file, or - for standard input
    pub(crate) file: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExtractArgs {
    /// A file of lines {id, speaker, at, text}, or - for standard input
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct MoveArgs {
    /// A data directory or a PostgreSQL URL, which is only read; with a password prefer the
    /// environment, which other users cannot see [env: LOCI_MOVE_FROM]
    #[arg(long, value_name = "PLACE")]
    pub(crate) from: Option<Place>,
    /// A data directory or a PostgreSQL URL, with nothing else in it [env: LOCI_MOVE_TO]
    #[arg(long, value_name = "PLACE")]
    pub(crate) to: Option<Place>,
    /// Compare both, and move nothing
    #[arg(long)]
    pub(crate) verify_only: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SalvageArgs {
    /// The damaged data directory, which is only read, or a PostgreSQL URL; with a password prefer the
    /// environment, which other users cannot see [env: LOCI_SALVAGE_FROM]
    #[arg(value_name = "FROM")]
    pub(crate) from: Option<Place>,
    /// A data directory or a PostgreSQL URL with nothing in it [env: LOCI_SALVAGE_TO]
    #[arg(value_name = "TO")]
    pub(crate) to: Option<Place>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Also check this configuration file
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    const REFERENCE: &str = include_str!("../../../../docs/reference/cli.md");

    #[test]
    fn the_definition_holds_together() {
        Args::command().debug_assert();
    }

    #[test]
    fn options_may_stand_before_and_after_the_command() {
        for line in [
            ["loci", "--json", "get", "notes", "/a", "--data", "/d"],
            ["loci", "get", "notes", "/a", "--data", "/d", "--json"],
        ] {
            let args = Args::try_parse_from(line).unwrap();
            assert!(args.common.json);
            assert_eq!(args.common.data, Some(PathBuf::from("/d")));
        }
    }

    #[test]
    fn contradictions_are_refused() {
        let refused = |line: &[&str]| Args::try_parse_from(line).unwrap_err().exit_code();
        assert_eq!(refused(&["loci", "check", "--data", "/d", "--url", "http://x"]), 2);
        assert_eq!(refused(&["loci", "put", "s", "/a", "--text", "x", "--file", "f"]), 2);
        assert_eq!(
            refused(&["loci", "key", "create", "--name", "n", "--admin", "--level", "read"]),
            2
        );
    }

    /// `--data` names a directory everywhere but here.
    #[test]
    fn eval_takes_several_files() {
        let line = ["loci", "eval", "--data", "a", "--json", "--data", "b", "--categories", "1,5"];
        let args = Args::try_parse_from(line).unwrap();
        let Command::Eval(eval) = args.command else { panic!("not an evaluation") };
        assert_eq!(eval.data, [PathBuf::from("a"), PathBuf::from("b")]);
        assert_eq!((eval.categories, eval.depth), (vec![1, 5], 20));
        assert_eq!(Args::try_parse_from(["loci", "eval"]).unwrap_err().exit_code(), 2);
    }

    /// Every command and option is on the reference page.
    #[test]
    fn the_reference_page_names_everything() {
        fn walk(command: &clap::Command, path: &str) {
            for argument in command.get_arguments() {
                if let Some(long) = argument.get_long()
                    && !["help", "version"].contains(&long)
                {
                    let option = format!("--{long}");
                    assert!(REFERENCE.contains(&option), "{path} {option} is not described");
                }
            }
            let shown = command.get_subcommands().filter(|sub| !sub.is_hide_set());
            for sub in shown.filter(|sub| sub.get_name() != "help") {
                let path = format!("{path} {}", sub.get_name());
                let is_group = sub.get_subcommands().next().is_some();
                assert!(is_group || REFERENCE.contains(&path), "{path} is not described");
                walk(sub, &path);
            }
        }
        walk(&Args::command(), "loci");
    }
}
