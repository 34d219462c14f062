//! What the tools take, as JSON Schema. Written out, so that the bytes are the same in every build,
//! and plain: clients drop what is said by combining schemas.

/// Of `search_memory_engine`.
pub(super) fn search() -> &'static str {
    r#"{"type":"object","properties":{"query":{"type":"string","description":"What to look for, as a full sentence or question."},"strategy":{"type":"string","enum":["balanced","diverse","precise","contextual","recent_memory","facts_only","entities_only","topics_only"],"description":"How to look. balanced is right most of the time; contextual needs center_node_uuid."},"knowledge_level":{"type":"string","enum":["user","oracle","both"],"description":"Whose memory: this user's, this oracle's, or both (the default)."},"center_node_uuid":{"type":"string","description":"The entity to look around, by the uuid that a search shows."},"node_labels":{"type":"array","items":{"type":"string"},"description":"Only entities of these types, such as Person or Project."},"edge_types":{"type":"array","items":{"type":"string"},"description":"Only facts of these relations, such as WorksOn or Likes."},"valid_at":{"type":"array","items":{"type":"array","items":{"type":"object","properties":{"date":{"type":["string","null"],"description":"ISO 8601."},"comparison_operator":{"type":"string","enum":["=","<>",">","<",">=","<=","IS NULL","IS NOT NULL"]}},"required":["comparison_operator"]}},"description":"When it became true. One of each inner list must hold, and every inner list."},"invalid_at":{"type":"array","items":{"type":"array","items":{"type":"object","properties":{"date":{"type":["string","null"],"description":"ISO 8601."},"comparison_operator":{"type":"string","enum":["=","<>",">","<",">=","<=","IS NULL","IS NOT NULL"]}},"required":["comparison_operator"]}},"description":"When it stopped being true; IS NULL is what is still true."},"created_at":{"type":"array","items":{"type":"array","items":{"type":"object","properties":{"date":{"type":["string","null"],"description":"ISO 8601."},"comparison_operator":{"type":"string","enum":["=","<>",">","<",">=","<=","IS NULL","IS NOT NULL"]}},"required":["comparison_operator"]}},"description":"When it was learned."},"expired_at":{"type":"array","items":{"type":"array","items":{"type":"object","properties":{"date":{"type":["string","null"],"description":"ISO 8601."},"comparison_operator":{"type":"string","enum":["=","<>",">","<",">=","<=","IS NULL","IS NOT NULL"]}},"required":["comparison_operator"]}},"description":"When it was learned to be untrue."}},"required":["query","strategy"]}"#
}

/// Of `add_memory`.
pub(super) fn add() -> &'static str {
    r#"{"type":"object","properties":{"name":{"type":"string","description":"A short name for it."},"content":{"type":"string","description":"What to remember."},"source":{"type":"string","description":"What sort of text it is: text, message or json.","default":"text"},"source_description":{"type":"string","description":"Where it comes from.","default":""}},"required":["name","content"]}"#
}

/// Of `add_oracle_knowledge`.
pub(super) fn add_knowledge() -> &'static str {
    r#"{"type":"object","properties":{"name":{"type":"string","description":"A short name for it."},"content":{"type":"string","description":"What the oracle shall know."},"confirmed_insertion_from_user":{"type":"boolean","description":"true if the user said yes to exactly this."},"knowledge_space_type":{"type":"string","enum":["public","private"],"description":"public: for every user of the oracle; private: for its owners."},"source":{"type":"string","description":"What sort of text it is: text, message or json.","default":"text"},"source_description":{"type":"string","description":"Where it comes from.","default":""}},"required":["name","content","confirmed_insertion_from_user","knowledge_space_type"]}"#
}

/// Of `delete_episode`.
pub(super) fn delete_episode() -> &'static str {
    r#"{"type":"object","properties":{"episode_uuid":{"type":"string","description":"The uuid of the episode, from a search."},"confirmed_deletion_from_user":{"type":"boolean","description":"true if the user said yes to exactly this."}},"required":["episode_uuid","confirmed_deletion_from_user"]}"#
}

/// Of `delete_edge`.
pub(super) fn delete_edge() -> &'static str {
    r#"{"type":"object","properties":{"edge_uuid":{"type":"string","description":"The uuid of the fact, from a search."},"confirmed_deletion_from_user":{"type":"boolean","description":"true if the user said yes to exactly this."}},"required":["edge_uuid","confirmed_deletion_from_user"]}"#
}

/// Of `clear`.
pub(super) fn clear() -> &'static str {
    r#"{"type":"object","properties":{"confirmed_deletion_from_user":{"type":"boolean","description":"true if the user said yes to deleting everything."}},"required":["confirmed_deletion_from_user"]}"#
}
