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

impl Relation {
    /// What it is about, in words a question might use.
    pub const fn gloss(self) -> &'static str {
        match self {
            Self::Knows => {
                "people someone knows: friends, family, relatives, partner, colleagues, neighbours"
            }
            Self::WorksWith => "colleagues, coworkers and teams someone works together with",
            Self::Causes => "what causes or leads to something",
            Self::Enables => "what makes something possible",
            Self::Blocks => "obstacles, blockers and problems in the way",
            Self::PartOf => "what something is a part or component of",
            Self::BelongsTo => "what someone or something belongs to",
            Self::Practices => "habits, routines, sports and activities someone does regularly",
            Self::Uses => "tools, apps, software, services and products someone uses",
            Self::Pursuing => "goals, aims, ambitions and plans someone is pursuing",
            Self::Requires => "needs, requirements and dependencies",
            Self::Achieved => "achievements, accomplishments and milestones someone has reached",
            Self::EmployedAt => "job, employer, company, workplace and career: who employs someone",
            Self::WorksOn => "projects and tasks someone is working on",
            Self::Manages => "teams, people or projects someone leads or manages",
            Self::LivesAt => "home: city, country and address where someone lives",
            Self::VisitedLocation => "trips and travel: places someone has visited",
            Self::LocatedIn => "where a place, office or organisation is located",
            Self::Prefers => "preferences: what someone prefers or how they want things done",
            Self::Likes => "likes, favourites and things someone enjoys or loves",
            Self::Dislikes => "dislikes: things someone hates or avoids",
            Self::InterestedIn => "interests, topics and curiosity",
            Self::ExpertiseIn => "skills, expertise, languages spoken and what someone is good at",
            Self::Studying => "learning, courses, studies and education in progress",
            Self::LearnedFrom => "teachers, mentors, books and experiences someone learned from",
            Self::Triggers => "what triggers stress, symptoms or emotions",
            Self::Motivates => "motivation: what drives or inspires someone",
            Self::ManagesVia => "ways of coping with stress, health and difficulties",
            Self::Influences => "what influences someone or something",
            Self::Supports => "causes, teams and people someone supports",
            Self::MemberOf => "groups, clubs, communities and organisations someone is a member of",
            Self::Owns => "possessions, pets, cars and things someone has",
            Self::CurrentlyIs => {
                "identity: role, profession, age, traits, health, diet and status of a person"
            }
            Self::WasPreviously => "past: former roles, jobs and what someone used to be",
            Self::AlignedWith => "values, beliefs and principles someone agrees with",
            Self::ConflictsWith => "disagreements and conflicts",
            Self::RelatesTo => "how things are related or associated",
        }
    }
}

impl Label {
    /// What it is about, in words a question might use.
    pub const fn gloss(self) -> &'static str {
        match self {
            Self::Person => "a person: name, friend, relative, colleague",
            Self::Trait => "a trait of character or personality",
            Self::Value => "a personal value or principle",
            Self::Identity => "identity: who someone is",
            Self::Attribute => "an attribute such as age, height or nationality",
            Self::Emotion => "an emotion or feeling",
            Self::Stress => "a source of stress or worry",
            Self::CopingStrategy => "a way to cope with stress",
            Self::Job => "a job, role, title or profession",
            Self::Project => "a project or initiative",
            Self::Skill => "a skill or ability",
            Self::Tool => "a tool, app or software",
            Self::Organization => "a company, organisation or institution",
            Self::Goal => "a goal, aim or ambition",
            Self::Milestone => "a milestone or deadline",
            Self::Habit => "a habit",
            Self::Routine => "a daily or weekly routine",
            Self::Pattern => "a pattern of behaviour",
            Self::Interest => "an interest or topic",
            Self::Hobby => "a hobby, sport or pastime",
            Self::Content => "a book, film, song, show or article",
            Self::Preference => "a preference about how things are done",
            Self::Product => "a product or brand",
            Self::Expertise => "an area of expertise",
            Self::LearningGoal => "something someone wants to learn",
            Self::Resource => "a resource or material",
            Self::Location => "a city, country, place or address",
            Self::Experience => "an experience someone had",
            Self::Event => "an event, meeting, party or trip",
            Self::Group => "a group, team, club or community",
            Self::Pet => "a pet: dog, cat or other animal",
            Self::CommunicationStyle => "how someone likes to communicate and be addressed",
            Self::Language => "a language someone speaks",
            Self::Task => "a task or to-do",
            Self::Belief => "a belief or opinion",
            Self::Cause => "a cause or charity",
            Self::Procedure => "a procedure or way to do something",
        }
    }
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
