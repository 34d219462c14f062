//! What a search asks for, as tools and batches say it. They differ in where the filters stand and in
//! who says how much is wanted.

use super::dates;
use loci_engine::knowledge::{EntityId, Filter, Limits, Strategy};
use loci_model::limit;
use serde_json::Value;

/// Labels and relations of a filter.
const NAMES_MAX: usize = 100;
const NAME_CHARS_MAX: usize = 64;
const ORACLES_MAX: usize = 5;

/// Whose memory to look in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KnowledgeLevel {
    User,
    Oracle,
    Both,
}

/// A search.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Query {
    pub(super) text: String,
    pub(super) strategy: Strategy,
    pub(super) level: KnowledgeLevel,
    pub(super) center: Option<EntityId>,
    pub(super) limits: Limits,
    pub(super) filter: Filter,
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
        let limits = Limits::default();
        Self::new(text, Some(strategy), level, arguments, arguments, limits, None)
    }

    /// As a batch says it: filters stand in an object of their own.
    pub(super) fn of_batch(query: &Value) -> Result<Self, String> {
        let text = required(query, "query")?;
        let strategy = text_of(query, "strategy")?;
        let level = text_of(query, "knowledge_level")?;
        let size = |name: &str, default: usize| match query.get(name) {
            None | Some(Value::Null) => Ok(default),
            // Whoever asks for more gets as much as there ever is.
            Some(value) => match value.as_u64() {
                Some(count) => Ok(usize::try_from(count).unwrap_or(default).min(limit::KNOWN_MAX)),
                None => Err(format!("{name} must be a whole number")),
            },
        };
        let default = Limits::default();
        let limits = Limits {
            facts: size("max_facts", default.facts)?,
            entities: size("max_entities", default.entities)?,
            episodes: size("max_episodes", default.episodes)?,
            communities: size("max_communities", default.communities)?,
        };
        let oracles = names(query, "oracle_dids", ORACLES_MAX, usize::MAX)?;
        let oracles = oracles.filter(|oracles| !oracles.is_empty());
        let oracles = oracles.ok_or(format!("oracle_dids takes 1 to {ORACLES_MAX} DIDs"))?;
        let filters = match query.get("search_filters") {
            None | Some(Value::Null) => &Value::Null,
            Some(filters @ Value::Object(_)) => filters,
            Some(_) => return Err("search_filters must be an object".to_owned()),
        };
        Self::new(text, strategy, level, query, filters, limits, Some(oracles))
    }

    fn new(
        text: &str,
        strategy: Option<&str>,
        level: Option<&str>,
        around: &Value,
        filters: &Value,
        limits: Limits,
        oracles: Option<Vec<String>>,
    ) -> Result<Self, String> {
        if text.chars().count() > limit::QUERY_CHARS_MAX {
            let max = limit::QUERY_CHARS_MAX;
            return Err(format!("query takes up to {max} characters"));
        }
        let Some(strategy) = Strategy::by_name(strategy.unwrap_or(Strategy::Balanced.name()))
        else {
            let names = Strategy::ALL.map(Strategy::name);
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
        let center = match center.map(|center| EntityId::parse(&center.to_lowercase())) {
            Some(None) => return Err("center_node_uuid must be a UUID".to_owned()),
            center => center.flatten(),
        };
        let labels = names(filters, "node_labels", NAMES_MAX, NAME_CHARS_MAX)?;
        // Everything there is has this label.
        let labels = labels.filter(|labels| !labels.iter().any(|label| label == "Entity"));
        let relations = names(filters, "edge_types", NAMES_MAX, NAME_CHARS_MAX)?;
        Ok(Self {
            text: text.to_owned(),
            strategy,
            level,
            center,
            limits,
            filter: Filter {
                valid_at: dates::read("valid_at", filters.get("valid_at"))?,
                invalid_at: dates::read("invalid_at", filters.get("invalid_at"))?,
                created_at: dates::read("created_at", filters.get("created_at"))?,
                expired_at: dates::read("expired_at", filters.get("expired_at"))?,
                ..Filter::by_names(relations.as_deref(), labels.as_deref())
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
        assert_eq!(tool.filter, batch.filter);
        assert_eq!(tool.limits, batch.limits);
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
            (json!({"max_episodes": 1.5}), "max_episodes"),
            (json!({"max_entities": "5"}), "max_entities"),
            (json!({"search_filters": []}), "search_filters"),
        ] {
            assert!(batch(wrong.clone()).unwrap_err().contains(named), "{wrong}");
        }
    }
}
