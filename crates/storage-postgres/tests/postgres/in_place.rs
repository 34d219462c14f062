//! A store that is searched where it lies gives what an index in memory gives: the same questions, asked
//! both ways through the engine.
//!
//! What the database picks is ranked by the same module, so nearly everything is the same. It is not the
//! same to the last: the mean length of texts is that of the list and not of the store, a directory lends
//! by the best three of its memories that are on the list, and only the best bring their neighbours. So
//! neighbours in rank may change places, and the last of ten may be another.

#[path = "../../../engine/tests/engine/embedder.rs"]
mod embedder;

use self::embedder::WordSum;
use loci_engine::seam::Seams;
use loci_engine::search::embed::Embedder;
use loci_engine::search::{Mode, Reach, SearchFilter, SearchOptions, SearchRequest, Wanted};
use loci_engine::{Context, Engine, NewStore};
use loci_model::{
    Attributes, AttributesPatch, Edit, EditOp, MemoryPath, PathPrefix, StoreId, Timestamp, View,
};
use loci_storage::Storage;
use loci_storage_postgres::{PostgresOptions, PostgresStorage};
use loci_test_kit::{Dice, seed_or};
use loci_test_postgres::{Build, Database};
use std::sync::Arc;
use std::time::Duration;

const MEMORIES: u64 = 400;
const QUESTIONS: u64 = 50;
const RESULTS: usize = 10;
const WORDS: usize = 6000;
const NAMES: [&str; 3] = ["Ana", "Boris", "Chen"];

/// A made-up word. Small numbers come more often, about as words do.
fn word(dice: &mut Dice) -> String {
    const SYLLABLES: [&str; 9] = ["ka", "lo", "mi", "ru", "te", "vo", "zi", "bra", "pel"];
    let end = 2 + dice.below(WORDS);
    let mut number = dice.below(end);
    let mut word = String::new();
    for _ in 0..4 {
        word.push_str(SYLLABLES[number % SYLLABLES.len()]);
        number /= SYLLABLES.len();
    }
    word
}

fn words(dice: &mut Dice, count: usize) -> String {
    (0..count).map(|_| word(dice)).collect::<Vec<_>>().join(" ")
}

/// Two engines on one database: one holds indexes, the other none.
struct Both {
    in_memory: Engine,
    in_place: Engine,
    admin: Context,
    store: StoreId,
    _database: Database,
}

impl Both {
    async fn new() -> Self {
        let database = Database::fresh(&Build::Current.url().unwrap(), None).await.unwrap();
        let patience = Duration::from_secs(20);
        let options = PostgresOptions { patience, ..PostgresOptions::new(database.url()) };
        let storage: Arc<dyn Storage> = Arc::new(PostgresStorage::open(&options, 1).await.unwrap());
        let embedder: Arc<dyn Embedder> = Arc::new(WordSum::new("words-32", 32));
        let engine = |index_memories_max| {
            let embedders = vec![Arc::clone(&embedder)];
            let options =
                SearchOptions { embedders, index_memories_max, ..SearchOptions::default() };
            Engine::new(Arc::clone(&storage), Seams::real()).with_search(options)
        };
        let (in_memory, in_place) = (engine(100_000), engine(0));
        let start = in_memory.bootstrap(None).await.unwrap();
        let caller = in_memory.local_operator(&start);
        let request = in_memory.seams().request_id(Timestamp::from_micros(1));
        let admin = Context { caller, request, idempotency: None };
        let new = NewStore { name: "s".into(), ..NewStore::default() };
        let store = in_memory.create_store(&admin, new).await.unwrap().id;
        let both = Self { in_memory, in_place, admin, store, _database: database };
        both.fill().await;
        both
    }

    async fn fill(&self) {
        let mut dice = Dice::seeded(seed_or("texts in place", || 7));
        for n in 0..MEMORIES {
            let (path, text) = match n % 10 {
                // What somebody said, among others, in an order that only people see.
                0..5 => {
                    let name = dice.pick(&NAMES);
                    let count = 4 + dice.below(12);
                    (
                        format!("/chats/{}/turn_{n}", n / 40),
                        format!("{name}: {}", words(&mut dice, count)),
                    )
                }
                5..9 => {
                    let count = 8 + dice.below(20);
                    (format!("/notes/{n}.md"), words(&mut dice, count))
                }
                _ => {
                    let count = 80 + dice.below(200);
                    (format!("/long/{}/{n}.md", n / 100), words(&mut dice, count))
                }
            };
            let attributes = Attributes {
                kind: (n % 3 == 0).then(|| "fact".to_owned()),
                tags: if n % 5 == 0 { vec!["red".into()] } else { Vec::new() },
                ..Attributes::default()
            };
            let mut edit = Edit::put_text(MemoryPath::parse(&path).unwrap(), text);
            if let EditOp::Put { attributes: patch, .. } = &mut edit.op {
                *patch = AttributesPatch::replace(attributes);
            }
            self.in_memory.commit_one(&self.admin, self.store, edit, "api").await.unwrap();
        }
        while self.in_memory.follow_once().await.unwrap() {}
    }

    /// How many indexes are held by whom should hold none.
    async fn held_in_place(&self) -> u64 {
        self.in_place.embedding_status(&self.admin).await.unwrap().indexes
    }

    /// What is found both ways.
    async fn ask(&self, wanted: &Wanted) -> [Vec<String>; 2] {
        let request = SearchRequest {
            reach: Reach::Store(self.store),
            wanted: wanted.clone(),
            view: View::Basic,
            explain: false,
            content_bytes_max: usize::MAX,
            snippet_chars: 0,
            as_of: None,
            wait: None,
        };
        let mut found = [Vec::new(), Vec::new()];
        for (engine, found) in [&self.in_memory, &self.in_place].into_iter().zip(&mut found) {
            let answer = engine.search(&self.admin, &request).await.unwrap();
            assert!(answer.is_complete || wanted.mode == Mode::Lexical);
            found.extend(answer.hits.iter().map(|hit| hit.memory.path.as_str().to_owned()));
        }
        found
    }
}

#[tokio::test]
async fn pgvector_answers_as_an_index_in_memory_does() {
    let both = Both::new().await;
    for mode in [Mode::Lexical, Mode::Hybrid, Mode::Semantic] {
        let filters = [
            SearchFilter::default(),
            SearchFilter { kinds: vec!["fact".into()], ..SearchFilter::default() },
            SearchFilter {
                prefixes: vec![PathPrefix::parse("/chats/3/").unwrap()],
                tags: vec!["red".into()],
                ..SearchFilter::default()
            },
        ];
        for filter in filters {
            let mut dice = Dice::seeded(seed_or("questions in place", || 11));
            let (mut firsts, mut common, mut all) = (0, 0, 0);
            for n in 0..QUESTIONS {
                let text = match n % 5 {
                    0 => format!(
                        "what did {} say about {}",
                        NAMES[n as usize % 3],
                        words(&mut dice, 2)
                    ),
                    _ => words(&mut dice, 1 + n as usize % 4),
                };
                let filter = filter.clone();
                let wanted = Wanted { mode, filter, ..Wanted::new(text, RESULTS) };
                let [in_memory, in_place] = both.ask(&wanted).await;
                let best = in_memory.first();
                let is_near =
                    best.is_none_or(|best| in_place.iter().take(3).any(|one| one == best));
                firsts += u64::from(is_near);
                common += in_memory.iter().filter(|path| in_place.contains(path)).count();
                all += in_memory.len();
            }
            let asked = format!("{mode:?} {filter:?}: {firsts} of {QUESTIONS}, {common} of {all}");
            // The best is as good as always near the top; of the others nine in ten are there.
            assert!(all > 0 && firsts * 20 >= QUESTIONS * 19, "{asked}");
            assert!(common * 10 >= all * 9, "{asked}");
        }
    }
    assert_eq!(both.held_in_place().await, 0);
}
