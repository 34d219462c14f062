//! What a search asks for, as tools and batches say it. They differ in where the filters stand and in
//! who says how much is wanted.

use super::dates::Dates;
use serde_json::Value;

/// Characters of a query.
const QUERY_CHARS_MAX: usize = loci_model::limit::QUERY_CHARS_MAX;
/// Items of each sort that can be asked for.
const ITEMS_MAX: u64 = 100;
/// Labels and relations of a filter.
const NAMES_MAX: usize = 100;
const NAME_CHARS_MAX: usize = 64;
const ORACLES_MAX: usize = 5;

/// How to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strategy {
    Balanced,
    Diverse,
    Precise,
    Contextual,
    RecentMemory,
    FactsOnly,
    EntitiesOnly,
    TopicsOnly,
}

/// Every strategy, by the name that clients have for it.
pub(super) const STRATEGIES: [(&str, Strategy); 8] = [
    ("balanced", Strategy::Balanced),
    ("diverse", Strategy::Diverse),
    ("precise", Strategy::Precise),
    ("contextual", Strategy::Contextual),
    ("recent_memory", Strategy::RecentMemory),
    ("facts_only", Strategy::FactsOnly),
    ("entities_only", Strategy::EntitiesOnly),
    ("topics_only", Strategy::TopicsOnly),
];

/// Whose memory to look in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KnowledgeLevel {
    User,
    Oracle,
    Both,
}

/// How much of each sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) facts: usize,
    pub(super) entities: usize,
    pub(super) episodes: usize,
    pub(super) communities: usize,
}

/// What may be found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Filters {
    pub(super) labels: Option<Vec<String>>,
    pub(super) relations: Option<Vec<String>>,
    pub(super) valid_at: Dates,
    pub(super) invalid_at: Dates,
    pub(super) created_at: Dates,
    pub(super) expired_at: Dates,
}

/// A search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Query {
    pub(super) text: String,
    pub(super) strategy: Strategy,
    pub(super) strategy_name: &'static str,
    pub(super) level: KnowledgeLevel,
    pub(super) center: Option<String>,
    pub(super) sizes: Sizes,
    pub(super) filters: Filters,
    /// The oracles that it names; without, the one that the user comes through.
    pub(super) oracles: Option<Vec<String>>,
}

impl Query {
    /// As the tool says it: filters stand beside the query, and how much is ours to say.
    pub(super) fn of_tool(arguments: &Value) -> Result<Self, String> {
        let text = required(arguments, "query")?;
        let strategy = required(arguments, "strategy")?;
        let level = match text_of(arguments, "knowledge_level")? {
            // What older prompts call it.
            None => text_of(arguments, "knowledge_scope_type")?,
            level => level,
        };
        let sizes = Sizes { facts: 10, entities: 5, episodes: 3, communities: 2 };
        Self::new(text, Some(strategy), level, arguments, arguments, sizes, None)
    }

    /// As a batch says it: filters stand in an object of their own.
    pub(super) fn of_batch(query: &Value) -> Result<Self, String> {
        let text = required(query, "query")?;
        let strategy = text_of(query, "strategy")?;
        let level = text_of(query, "knowledge_level")?;
        let size = |name: &str, default: usize| match query.get(name) {
            None | Some(Value::Null) => Ok(default),
            Some(value) => match value.as_u64().filter(|count| *count <= ITEMS_MAX) {
                Some(count) => Ok(usize::try_from(count).unwrap_or(default)),
                None => Err(format!("{name} takes a number up to {ITEMS_MAX}")),
            },
        };
        let sizes = Sizes {
            facts: size("max_facts", 10)?,
            entities: size("max_entities", 5)?,
            episodes: size("max_episodes", 3)?,
            communities: size("max_communities", 2)?,
        };
        let oracles = names(query, "oracle_dids", ORACLES_MAX, usize::MAX)?;
        let oracles = oracles.filter(|oracles| !oracles.is_empty());
        let oracles = oracles.ok_or(format!("oracle_dids takes 1 to {ORACLES_MAX} DIDs"))?;
        let filters = match query.get("search_filters") {
            None | Some(Value::Null) => &Value::Null,
            Some(filters @ Value::Object(_)) => filters,
            Some(_) => return Err("search_filters must be an object".to_owned()),
        };
        Self::new(text, strategy, level, query, filters, sizes, Some(oracles))
    }

    fn new(
        text: &str,
        strategy: Option<&str>,
        level: Option<&str>,
        around: &Value,
        filters: &Value,
        sizes: Sizes,
        oracles: Option<Vec<String>>,
    ) -> Result<Self, String> {
        if text.chars().count() > QUERY_CHARS_MAX {
            return Err(format!("query takes up to {QUERY_CHARS_MAX} characters"));
        }
        let strategy = strategy.unwrap_or("balanced");
        let strategy = STRATEGIES.into_iter().find(|(name, _)| *name == strategy);
        let Some((strategy_name, strategy)) = strategy else {
            let names: Vec<&str> = STRATEGIES.iter().map(|(name, _)| *name).collect();
            return Err(format!("strategy must be one of {}", names.join(", ")));
        };
        let level = match level.unwrap_or("both") {
            "user" => KnowledgeLevel::User,
            "oracle" => KnowledgeLevel::Oracle,
            "both" => KnowledgeLevel::Both,
            _ => return Err("knowledge_level must be user, oracle or both".to_owned()),
        };
        let center = text_of(around, "center_node_uuid")?.filter(|center| !center.is_empty());
        if strategy == Strategy::Contextual && center.is_none() {
            return Err("center_node_uuid is needed with the strategy contextual".to_owned());
        }
        if center.is_some_and(|center| uuid::Uuid::try_parse(center).is_err()) {
            return Err("center_node_uuid must be a UUID".to_owned());
        }
        Ok(Self {
            text: text.to_owned(),
            strategy,
            strategy_name,
            level,
            center: center.map(str::to_owned),
            sizes,
            filters: Filters {
                labels: names(filters, "node_labels", NAMES_MAX, NAME_CHARS_MAX)?,
                relations: names(filters, "edge_types", NAMES_MAX, NAME_CHARS_MAX)?,
                valid_at: Dates::read("valid_at", filters.get("valid_at"))?,
                invalid_at: Dates::read("invalid_at", filters.get("invalid_at"))?,
                created_at: Dates::read("created_at", filters.get("created_at"))?,
                expired_at: Dates::read("expired_at", filters.get("expired_at"))?,
            },
            oracles,
        })
    }
}

/// A text that must be there and say something.
pub(super) fn required<'v>(of: &'v Value, name: &str) -> Result<&'v str, String> {
    let text = text_of(of, name)?.filter(|text| !text.trim().is_empty());
    text.ok_or_else(|| format!("{name} is needed"))
}

/// A text; null is none.
pub(super) fn text_of<'v>(of: &'v Value, name: &str) -> Result<Option<&'v str>, String> {
    match of.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("{name} must be a text")),
    }
}

/// Some texts; null and an empty list of a filter mean all.
fn names(
    of: &Value,
    name: &str,
    count_max: usize,
    chars_max: usize,
) -> Result<Option<Vec<String>>, String> {
    let list = match of.get(name) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Array(list)) if list.len() <= count_max => list,
        Some(Value::Array(_)) => return Err(format!("{name} takes up to {count_max}")),
        Some(_) => return Err(format!("{name} must be a list of texts")),
    };
    let text = |one: &Value| match one.as_str() {
        Some(text) if text.chars().count() <= chars_max => Ok(text.to_owned()),
        Some(_) => Err(format!("{name} takes texts of up to {chars_max} characters")),
        None => Err(format!("{name} must be a list of texts")),
    };
    let names = list.iter().map(text).collect::<Result<Vec<_>, _>>()?;
    Ok(Some(names).filter(|names| !names.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tools_have_filters_beside_the_query_and_batches_below() {
        let tool = json!({"query": "q", "strategy": "precise", "node_labels": ["Person"],
            "invalid_at": [[{"comparison_operator": "IS NULL", "date": null}]]});
        let tool = Query::of_tool(&tool).unwrap();
        let batch = json!({"query": "q", "strategy": "precise", "oracle_dids": ["did:x:o"],
            "search_filters": {"node_labels": ["Person"], "edge_types": null,
                "invalid_at": [[{"comparison_operator": "IS NULL"}]]}});
        let batch = Query::of_batch(&batch).unwrap();
        assert_eq!(tool.filters, batch.filters);
        assert_eq!(tool.sizes, batch.sizes);
        assert_eq!((tool.oracles, tool.level), (None, KnowledgeLevel::Both));
        let alias = json!({"query": "q", "strategy": "balanced", "knowledge_scope_type": "user"});
        assert_eq!(Query::of_tool(&alias).unwrap().level, KnowledgeLevel::User);
    }

    #[test]
    fn mistakes_are_named() {
        let id = "0190b5a0-0000-7000-8000-000000000001";
        let good = json!({"query": "q", "strategy": "contextual", "center_node_uuid": id});
        assert!(Query::of_tool(&good).is_ok());
        for (wrong, named) in [
            (json!({"query": null}), "query"),
            (json!({"query": " "}), "query"),
            (json!({"query": 5}), "query"),
            (json!({"query": "x".repeat(4097)}), "query"),
            (json!({"strategy": null}), "strategy"),
            (json!({"strategy": "best"}), "strategy"),
            (json!({"center_node_uuid": null}), "center_node_uuid"),
            (json!({"center_node_uuid": "x"}), "center_node_uuid"),
            (json!({"knowledge_level": "all"}), "knowledge_level"),
            (json!({"node_labels": "Person"}), "node_labels"),
            (json!({"node_labels": [5]}), "node_labels"),
            (json!({"edge_types": vec!["x"; 101]}), "edge_types"),
            (json!({"created_at": "x"}), "created_at"),
        ] {
            let mut arguments = good.clone();
            for (name, value) in wrong.as_object().unwrap() {
                arguments[name] = value.clone();
            }
            assert!(Query::of_tool(&arguments).unwrap_err().contains(named), "{wrong}");
        }
        let batch = |more: Value| {
            let mut query = json!({"query": "q", "oracle_dids": ["did:x:o"]});
            for (name, value) in more.as_object().unwrap() {
                query[name] = value.clone();
            }
            Query::of_batch(&query)
        };
        assert!(batch(json!({})).is_ok());
        for (wrong, named) in [
            (json!({"oracle_dids": []}), "oracle_dids"),
            (json!({"oracle_dids": null}), "oracle_dids"),
            (json!({"oracle_dids": vec!["x"; 6]}), "oracle_dids"),
            (json!({"max_facts": -1}), "max_facts"),
            (json!({"max_episodes": 101}), "max_episodes"),
            (json!({"max_entities": "5"}), "max_entities"),
            (json!({"search_filters": []}), "search_filters"),
        ] {
            assert!(batch(wrong.clone()).unwrap_err().contains(named), "{wrong}");
        }
    }
}
