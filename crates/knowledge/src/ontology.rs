//! The words that facts and entities are sorted by: the personal ontology of the QiForge contract,
//! whose names are used as they are on every wire.

/// Makes an enum whose variants are their own names on the wire.
macro_rules! words {
    ($(#[$about:meta])* $name:ident: $($word:ident)+) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs, reason = "each is its own name")]
        pub enum $name { $($word),+ }

        impl $name {
            /// All of them, in the order of the contract.
            pub const ALL: &[Self] = &[$(Self::$word),+];

            /// What it is called.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$word => stringify!($word)),+ }
            }

            /// The one of this name; names are told apart by case.
            pub fn by_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|word| word.name() == name)
            }
        }
    };
}

words! {
    /// How two entities are related.
    Relation:
    Knows WorksWith Causes Enables Blocks PartOf BelongsTo Practices Uses Pursuing Requires Achieved
    EmployedAt WorksOn Manages LivesAt VisitedLocation LocatedIn Prefers Likes Dislikes InterestedIn
    ExpertiseIn Studying LearnedFrom Triggers Motivates ManagesVia Influences Supports MemberOf Owns
    CurrentlyIs WasPreviously AlignedWith ConflictsWith RelatesTo
}

words! {
    /// What sort of thing an entity is.
    Label:
    Person Trait Value Identity Attribute Emotion Stress CopingStrategy Job Project Skill Tool
    Organization Goal Milestone Habit Routine Pattern Interest Hobby Content Preference Product
    Expertise LearningGoal Resource Location Experience Event Group Pet CommunicationStyle Language
    Task Belief Cause Procedure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_as_the_contract_has() {
        assert_eq!((Relation::ALL.len(), Label::ALL.len()), (37, 37));
        assert_eq!(Relation::by_name("Owns"), Some(Relation::Owns));
        assert_eq!(Relation::by_name("OWNS"), None);
    }
}
