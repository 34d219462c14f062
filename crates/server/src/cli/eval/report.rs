//! What an evaluation says: a table for people, everything for programs, and whether the goals are
//! met.

use super::figures::{COLUMNS, Latency, Scores, mean};
use crate::cli::output::Format;
use crate::exit::Failure;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// How one question went.
pub(super) struct Row {
    pub(super) question: String,
    pub(super) category: i64,
    pub(super) conversation: i64,
    pub(super) took_ms: f64,
    pub(super) scores: Scores,
}

/// Everything that was measured.
pub(super) struct Report {
    pub(super) memories: usize,
    pub(super) indexing_secs: f64,
    pub(super) scope: &'static str,
    pub(super) mode: &'static str,
    /// The model that made the vectors, if any.
    pub(super) model: Option<String>,
    /// At least one.
    pub(super) rows: Vec<Row>,
}

/// A figure that must be reached.
#[derive(Debug, PartialEq)]
pub(super) struct Goal {
    name: String,
    at_least: f64,
}

impl Goal {
    /// Reads `R@10=0.8`.
    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        let wrong = || Failure::usage(format!("{text:?} is not a goal such as R@10=0.8"));
        let (name, number) = text.split_once('=').ok_or_else(wrong)?;
        let at_least: f64 = number.parse().map_err(|_| wrong())?;
        let is_known = Scores::of(&["x"], &["x"]).get(name).is_some();
        if !is_known || !(0.0..=1.0).contains(&at_least) {
            return Err(wrong());
        }
        Ok(Self { name: name.to_owned(), at_least })
    }
}

/// Some of the rows under a name.
struct Group<'a> {
    name: String,
    rows: Vec<&'a Row>,
}

impl Group<'_> {
    fn figure(&self, name: &str) -> f64 {
        mean(self.rows.iter().map(|row| &row.scores), name)
    }

    fn latency(&self) -> Latency {
        Latency::of(self.rows.iter().map(|row| row.took_ms).collect())
    }

    fn line(&self) -> String {
        let figures: String =
            COLUMNS.iter().map(|name| format!(" {:.1} |", 100.0 * self.figure(name))).collect();
        format!("| {} | {} |{figures}\n", self.name, self.rows.len())
    }

    fn json(&self) -> Value {
        let figures: Map<String, Value> =
            COLUMNS.iter().map(|name| ((*name).to_owned(), json!(self.figure(name)))).collect();
        let Latency { p50_ms, p95_ms } = self.latency();
        json!({
            "set": self.name, "n": self.rows.len(), "figures": figures,
            "latency_ms": {"p50": p50_ms, "p95": p95_ms},
        })
    }
}

impl Report {
    /// Prints it, and fails if a goal is missed.
    pub(super) fn show(&self, format: Format, goals: &[Goal]) -> Result<(), Failure> {
        format.show(&self.json(), || self.table())?;
        let all = self.all();
        let missed: Vec<String> = goals
            .iter()
            .filter(|goal| all.figure(&goal.name) < goal.at_least)
            .map(|goal| {
                format!("{} is {:.4}, not {}", goal.name, all.figure(&goal.name), goal.at_least)
            })
            .collect();
        match missed.is_empty() {
            true => Ok(()),
            false => Err(Failure::failed(format!("below goal: {}", missed.join(", ")))),
        }
    }

    fn all(&self) -> Group<'_> {
        Group { name: "all".into(), rows: self.rows.iter().collect() }
    }

    /// All questions, then each category, then each conversation.
    fn groups(&self) -> Vec<Group<'_>> {
        let by = |name: &str, of: fn(&Row) -> i64| {
            let keys: BTreeSet<i64> = self.rows.iter().map(of).collect();
            let group = |key: i64| Group {
                name: format!("{name} {key}"),
                rows: self.rows.iter().filter(|row| of(row) == key).collect(),
            };
            keys.into_iter().map(group).collect::<Vec<_>>()
        };
        let mut groups = vec![self.all()];
        groups.extend(by("category", |row| row.category));
        groups.extend(by("conversation", |row| row.conversation));
        groups
    }

    fn table(&self) -> String {
        let Latency { p50_ms, p95_ms } = self.all().latency();
        let mut text = format!(
            "memories {}, indexed in {:.1} s; {} questions; search p50 {p50_ms:.1} ms, p95 \
             {p95_ms:.1} ms; scope {}; mode {}\n",
            self.memories,
            self.indexing_secs,
            self.rows.len(),
            self.scope,
            self.mode,
        );
        text.push_str(&format!("| set | n | {} |\n", COLUMNS.join(" | ")));
        text.push_str(&format!("|{}\n", "---|".repeat(COLUMNS.len() + 2)));
        self.groups().iter().for_each(|group| text.push_str(&group.line()));
        text
    }

    fn json(&self) -> Value {
        let question = |row: &Row| {
            let figures = COLUMNS.iter().filter_map(|name| Some((*name, row.scores.get(name)?)));
            let figures: Map<String, Value> =
                figures.map(|(name, value)| (name.to_owned(), json!(value))).collect();
            json!({
                "qid": row.question, "category": row.category, "conversation": row.conversation,
                "ms": row.took_ms, "figures": figures,
            })
        };
        json!({
            "type": "evaluation", "scope": self.scope, "mode": self.mode, "model": self.model,
            "memories": self.memories, "indexing_seconds": self.indexing_secs,
            "sets": self.groups().iter().map(Group::json).collect::<Vec<_>>(),
            "questions": self.rows.iter().map(question).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(category: i64, conversation: i64, ranked: &[&str], evidence: &[&str]) -> Row {
        Row {
            question: "q".into(),
            category,
            conversation,
            took_ms: 2.0,
            scores: Scores::of(ranked, evidence),
        }
    }

    fn report() -> Report {
        Report {
            memories: 3,
            indexing_secs: 0.25,
            scope: "merged",
            mode: "hybrid",
            model: None,
            rows: vec![row(2, 0, &["a"], &["a"]), row(1, 1, &["x", "a"], &["a", "b"])],
        }
    }

    #[test]
    fn the_table_has_every_set() {
        let expect = "\
memories 3, indexed in 0.2 s; 2 questions; search p50 2.0 ms, p95 2.0 ms; scope merged; mode hybrid
| set | n | R@5 | R@10 | R@20 | all@5 | all@10 | all@20 | any@10 | MRR | nDCG@10 |
|---|---|---|---|---|---|---|---|---|---|---|
| all | 2 | 75.0 | 75.0 | 75.0 | 50.0 | 50.0 | 50.0 | 100.0 | 75.0 | 69.3 |
| category 1 | 1 | 50.0 | 50.0 | 50.0 | 0.0 | 0.0 | 0.0 | 100.0 | 50.0 | 38.7 |
| category 2 | 1 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 |
| conversation 0 | 1 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 |
| conversation 1 | 1 | 50.0 | 50.0 | 50.0 | 0.0 | 0.0 | 0.0 | 100.0 | 50.0 | 38.7 |
";
        assert_eq!(report().table(), expect);
    }

    #[test]
    fn goals_are_shares_of_known_figures() {
        let goal = Goal::parse("R@10=0.8").unwrap();
        assert_eq!(goal, Goal { name: "R@10".into(), at_least: 0.8 });
        for wrong in ["R@10", "R@10=80", "R@7=0.5", "R@10=x", "=0.5", "R@10=nan"] {
            assert!(Goal::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn programs_get_everything() {
        let shown = report().json();
        assert_eq!(shown["sets"].as_array().unwrap().len(), 5);
        assert_eq!(shown["sets"][0]["figures"]["R@10"], 0.75);
        assert_eq!(shown["questions"][1]["figures"]["MRR"], 0.5);
    }
}
