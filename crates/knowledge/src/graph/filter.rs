//! Which facts and entities are wanted: by name of relation and label, and by when. The groups of
//! dates are those of the QiForge contract: any of a group, and all groups.

use crate::ontology::{Label, Relation};
use loci_model::Timestamp;

/// How a date is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is what it says")]
pub enum Operator {
    Equals,
    Differs,
    After,
    Before,
    AtOrAfter,
    AtOrBefore,
    IsNull,
    IsNotNull,
}

impl Operator {
    /// The operator of this sign.
    pub fn by_sign(sign: &str) -> Option<Self> {
        Some(match sign {
            "=" => Self::Equals,
            "<>" => Self::Differs,
            ">" => Self::After,
            "<" => Self::Before,
            ">=" => Self::AtOrAfter,
            "<=" => Self::AtOrBefore,
            "IS NULL" => Self::IsNull,
            "IS NOT NULL" => Self::IsNotNull,
            _ => return None,
        })
    }
}

/// One comparison. Comparing with no date is comparing with nothing: never true, as in SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Comparison {
    /// How.
    pub operator: Operator,
    /// With what.
    pub date: Option<Timestamp>,
}

impl Comparison {
    fn holds(self, at: Option<Timestamp>) -> bool {
        match self.operator {
            Operator::IsNull => return at.is_none(),
            Operator::IsNotNull => return at.is_some(),
            _ => {}
        }
        let (Some(at), Some(date)) = (at, self.date) else { return false };
        match self.operator {
            Operator::Equals => at == date,
            Operator::Differs => at != date,
            Operator::After => at > date,
            Operator::Before => at < date,
            Operator::AtOrAfter => at >= date,
            Operator::AtOrBefore => at <= date,
            Operator::IsNull | Operator::IsNotNull => unreachable!("answered above"),
        }
    }
}

/// Groups of comparisons of one date: one of each group must hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dates(pub Vec<Vec<Comparison>>);

impl Dates {
    /// Whether a date is wanted.
    pub fn hold(&self, at: Option<Timestamp>) -> bool {
        self.0.iter().all(|group| group.is_empty() || group.iter().any(|one| one.holds(at)))
    }

    /// Whether nothing is asked of the date.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Vec::is_empty)
    }
}

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Facts of these relations only; names nobody knows match nothing.
    pub relations: Option<Vec<Relation>>,
    /// Entities with one of these labels, and facts one end of which has.
    pub labels: Option<Vec<Label>>,
    /// From when on it is true.
    pub valid_at: Dates,
    /// Until when.
    pub invalid_at: Dates,
    /// When it was learned.
    pub created_at: Dates,
    /// When it was learned to be over.
    pub expired_at: Dates,
    /// Only what was true at this moment, as far as is known now.
    pub true_at: Option<Timestamp>,
}

impl Filter {
    /// A filter by names, as they come from a wire.
    pub fn by_names(relations: Option<&[String]>, labels: Option<&[String]>) -> Self {
        let relations = relations
            .map(|names| names.iter().filter_map(|name| Relation::by_name(name)).collect());
        let labels =
            labels.map(|names| names.iter().filter_map(|name| Label::by_name(name)).collect());
        Self { relations, labels, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_each_group_must_hold() {
        let at = |micros| Some(Timestamp::from_micros(micros));
        let compare = |sign, date| Comparison { operator: Operator::by_sign(sign).unwrap(), date };
        let between = Dates(vec![vec![compare(">=", at(5))], vec![compare("<", at(9))]]);
        assert_eq!([4, 5, 8, 9].map(|micros| between.hold(at(micros))), [false, true, true, false]);
        let either = Dates(vec![vec![compare("IS NULL", None), compare(">", at(5))]]);
        assert_eq!([None, at(5), at(6)].map(|date| either.hold(date)), [true, false, true]);
        assert!(Dates::default().hold(None) && Dates(vec![vec![]]).hold(at(1)));
        for (sign, wanted) in [("=", false), ("<>", false), (">", false), ("IS NOT NULL", false)] {
            assert_eq!(Dates(vec![vec![compare(sign, at(1))]]).hold(None), wanted, "{sign}");
        }
        assert!(!Dates(vec![vec![compare("=", None)]]).hold(at(1)), "nothing equals no date");
        assert!(Operator::by_sign("LIKE").is_none());
    }
}
