//! The budget of a session: kept and given back. Nothing is spent here, so nothing is enforced; but
//! what is kept must be something every client library can read back.

use crate::anthropic::error::Problem;
use crate::anthropic::query::refuse;
use serde::{Deserialize, Serialize};

/// Digits of an amount: more money than there is.
const AMOUNT_DIGITS_MAX: usize = 18;

/// A ceiling on what a session may cost.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(in crate::anthropic) enum Budget {
    /// The only sort there is.
    Limit { max_list_cost: Money },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::anthropic) struct Money {
    /// Cents, as a whole number without leading zeros.
    amount: String,
    currency: Currency,
}

#[derive(Debug, Serialize, Deserialize)]
enum Currency {
    #[serde(rename = "USD")]
    UsDollar,
}

impl Budget {
    pub(super) fn checked(self) -> Result<Self, Problem> {
        let Self::Limit { max_list_cost: Money { amount, .. } } = &self;
        let is_number = (1..=AMOUNT_DIGITS_MAX).contains(&amount.len())
            && amount.bytes().all(|byte| byte.is_ascii_digit())
            && (amount == "0" || !amount.starts_with('0'));
        match is_number {
            true => Ok(self),
            false => Err(refuse("budget", "amount must be a whole number of cents, as a string")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn is_accepted(budget: Value) -> bool {
        let read: Result<Budget, _> = serde_json::from_value(budget);
        read.is_ok_and(|budget| budget.checked().is_ok())
    }

    #[test]
    fn a_budget_is_a_limit_in_cents() {
        let cents = |amount: Value| {
            let cost = json!({"amount": amount, "currency": "USD"});
            json!({"type": "limit", "max_list_cost": cost})
        };
        for good in ["0", "50", "123456789012345678"] {
            assert!(is_accepted(cents(good.into())), "{good}");
        }
        for bad in ["", "007", "-5", "1.5", "five", "1234567890123456789"] {
            assert!(!is_accepted(cents(bad.into())), "{bad}");
        }
        for bad in [
            cents(json!(5)),
            json!({}),
            json!({"type": "limit"}),
            json!({"type": "cap", "max_list_cost": {"amount": "5", "currency": "USD"}}),
            json!({"type": "limit", "max_list_cost": {"amount": "5", "currency": "EUR"}}),
            json!({"type": "limit", "max_list_cost": {"amount": "5"}}),
            json!({"type": "limit", "max_list_cost": {"amount": "5", "currency": "USD"}, "x": 1}),
        ] {
            assert!(!is_accepted(bad.clone()), "{bad}");
        }
    }
}
