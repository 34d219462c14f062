//! Every bound in one place. A value without a limit here is a bug.

/// Bytes of one path.
pub const PATH_BYTES_MAX: usize = 1024;
/// Segments of one path.
pub const PATH_SEGMENTS_MAX: usize = 20;
/// Bytes of one content that any store may allow.
pub const CONTENT_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of one content in a store that sets no other limit.
pub const CONTENT_BYTES_DEFAULT: usize = 102_400;
/// Live memories in a store that sets no other limit.
pub const MEMORIES_PER_STORE_DEFAULT: u64 = 2_000_000;
/// Characters of a store's name.
pub const STORE_NAME_CHARS_MAX: usize = 255;
/// Characters of a store's description.
pub const DESCRIPTION_CHARS_MAX: usize = 1024;
/// Pairs in a metadata map of a store or session.
pub const METADATA_PAIRS_MAX: usize = 16;
/// Characters of a metadata key.
pub const METADATA_KEY_CHARS_MAX: usize = 64;
/// Characters of a metadata value.
pub const METADATA_VALUE_CHARS_MAX: usize = 512;
/// Bytes of a memory's metadata, as JSON.
pub const MEMORY_METADATA_BYTES_MAX: usize = 16 * 1024;
/// Characters of a kind.
pub const KIND_CHARS_MAX: usize = 64;
/// Tags on one memory.
pub const TAGS_MAX: usize = 64;
/// Characters of one tag.
pub const TAG_CHARS_MAX: usize = 128;
/// Characters of a one-line summary.
pub const SUMMARY_CHARS_MAX: usize = 280;
/// Characters of a claimed source, a scope, or a media type.
pub const LABEL_CHARS_MAX: usize = 1024;
/// Highest importance.
pub const IMPORTANCE_MAX: u8 = 100;
/// Edits in one batch.
pub const BATCH_EDITS_MAX: usize = 100;
/// Items on one page.
pub const PAGE_ITEMS_MAX: usize = 100;
/// Items on one page when their content is included.
pub const PAGE_FULL_ITEMS_MAX: usize = 20;
/// Items on a page when the caller does not say.
pub const PAGE_ITEMS_DEFAULT: usize = 20;
/// Changes on one page of the feed.
pub const CHANGES_PAGE_MAX: usize = 1000;
/// Seconds for which a request may wait for the feed to go on.
pub const CHANGES_WAIT_SECS_MAX: u64 = 30;
/// Entries on one page of a listing with attributes.
pub const ENTRIES_PAGE_MAX: usize = 1000;
/// Bytes of content after which such a page ends early.
pub const ENTRIES_PAGE_BYTES: usize = 1024 * 1024;
/// Characters of the word that says in the feed why something was written.
pub const REASON_CHARS_MAX: usize = 32;
/// Sources a derived version may name.
pub const DERIVED_FROM_MAX: usize = 1000;
/// Stores attached to one session.
pub const ATTACHMENTS_MAX: usize = 8;
/// Characters of the instructions on an attachment.
pub const INSTRUCTIONS_CHARS_MAX: usize = 4096;
/// Characters of a session title.
pub const SESSION_TITLE_CHARS_MAX: usize = 1024;
/// Bytes of the agent description a session carries, as JSON, with the files and repositories it names.
pub const SESSION_DETAILS_BYTES_MAX: usize = 512 * 1024;
/// Characters of a principal's or key's name.
pub const NAME_CHARS_MAX: usize = 255;
/// Stores a key may be limited to.
pub const KEY_STORES_MAX: usize = 100;
/// Bytes of an idempotency key.
pub const IDEMPOTENCY_KEY_BYTES_MAX: usize = 255;
/// Seconds for which a repeated idempotency key is recognised.
pub const IDEMPOTENCY_SECS: i64 = 7 * 24 * 3600;
/// Grants on one store.
pub const GRANTS_PER_STORE_MAX: usize = 10_000;
/// Words taken from one search query.
pub const QUERY_WORDS_MAX: usize = 256;
/// Characters of one search query.
pub const QUERY_CHARS_MAX: usize = 4096;
/// Results of one search.
pub const SEARCH_RESULTS_MAX: usize = 100;
/// Results of one search when the caller does not say.
pub const SEARCH_RESULTS_DEFAULT: usize = 10;
/// Bytes of content after which the other results of a search come without.
pub const SEARCH_CONTENT_BYTES: usize = 1024 * 1024;
/// Stores in one search.
pub const SEARCH_STORES_MAX: usize = 10_000;
/// Values of one list in a search filter.
pub const FILTER_VALUES_MAX: usize = 64;
/// Passages of one memory that get a vector each.
pub const PASSAGES_MAX: usize = 64;
/// Numbers in a vector.
pub const VECTOR_DIMS_MAX: usize = 4096;
/// Versions in one batch of vectors.
pub const VECTOR_BATCH_MAX: usize = 512;
/// Versions in one batch of readings.
pub const READING_BATCH_MAX: usize = 64;
/// Bytes of what a reader found in one memory.
pub const READING_BYTES_MAX: usize = 64 * 1024;
/// Characters of the name of a reader.
pub const READER_CHARS_MAX: usize = 200;
/// Distinct words of one memory that are kept as rows to find it by.
pub const INDEX_WORDS_MAX: usize = 20_000;
/// Bytes of these words together.
pub const INDEX_BYTES_MAX: usize = 800_000;
/// Bytes of one of these words; the rest is cut off.
pub const INDEX_WORD_BYTES_MAX: usize = 1024;
/// Seconds a search may wait for vectors.
pub const SEARCH_WAIT_SECS_MAX: u64 = 30;
/// Characters of a snippet.
pub const SNIPPET_CHARS_MAX: usize = 1000;
/// Edits in one batch that is made for a whole directory.
pub const TREE_EDITS_MAX: usize = 5000;
/// Characters of the foreign name of a store.
pub const ADDRESS_CHARS_MAX: usize = 512;
/// Members of one group.
pub const MEMBERS_MAX: usize = 10_000;
/// Characters of what an audit event is about.
pub const EVENT_SUBJECT_CHARS_MAX: usize = 512;
/// Characters of what more an audit event says.
pub const EVENT_DETAIL_CHARS_MAX: usize = 1024;
/// Events on one page of the audit log.
pub const EVENTS_PAGE_MAX: usize = 1000;
/// Results out of one store that the caller may only search: enough to use, too few to copy it.
pub const GUARDED_RESULTS_MAX: usize = 10;
/// Stores that may only be searched in one search that names none: each costs a line in the audit
/// log, and anybody can share with anybody.
pub const GUARDED_STORES_MAX: usize = 32;
/// Agents that nobody has heard of with whom one giver may share on one day.
pub const NEWCOMERS_PER_DAY: u32 = 1000;
/// Names that one principal may share with on one day though nobody has them; then it shares by id, so that
/// the names of others cannot be found by guessing.
pub const UNKNOWN_NAMES_PER_DAY: u32 = 100;
/// Visitors, and agents that they come through, whom nobody has heard of, that one server takes on
/// one day unless the operator says otherwise.
pub const NEW_VISITORS_PER_DAY: u32 = 10_000;
/// Agents that nobody has heard of, which tokens name, that one server takes on one day unless the
/// operator says otherwise.
pub const NEW_AGENTS_PER_DAY: u32 = 10_000;
/// Memories that one visitor keeps, unless the operator says otherwise.
pub const VISITOR_MEMORIES_MAX: u64 = 20_000;
/// Bytes of them, [`VISITOR_MEMORY_BYTES`] for each included.
pub const VISITOR_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Memories that all visitors keep together, unless the operator says otherwise.
pub const VISITORS_MEMORIES_MAX: u64 = 1_000_000;
/// Bytes of them, [`VISITOR_MEMORY_BYTES`] for each included.
pub const VISITORS_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// Bytes that each memory of a visitor counts beside its content: its row, its index entries and its labels
/// take room too, however short the content is.
pub const VISITOR_MEMORY_BYTES: u64 = 1024;
/// Searches in a minute of one store by one principal that may only search it, unless the operator
/// says otherwise.
pub const GUARDED_SEARCHES_PER_MINUTE: u32 = 60;
/// Different memories of one store that somebody gets on one day who may only search it, unless it is
/// configured: of ten thousand it takes ten days to see all.
pub const GUARDED_MEMORIES_PER_DAY: u32 = 1000;

/// Facts, entities, episodes or communities of one answer.
pub const KNOWN_MAX: usize = 50;
