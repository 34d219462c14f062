//! Forms of verbs, made once from `verbs.txt`. A form may belong to several verbs ("left", "found");
//! which one is meant is for the words around it to say.

use std::collections::HashMap;
use std::sync::OnceLock;

/// A verb, by its place in the list.
pub(super) type Lemma = u16;

/// Which forms a word can be, one bit each.
pub(super) type Forms = u8;
pub(super) const BASE: Forms = 1;
pub(super) const THIRD: Forms = 2;
pub(super) const PAST: Forms = 4;
pub(super) const PARTICIPLE: Forms = 8;
pub(super) const ING: Forms = 16;

static VERBS: &str = include_str!("verbs.txt");

struct Verbs {
    lemmas: HashMap<&'static str, Lemma, foldhash::fast::FixedState>,
    forms: HashMap<String, Vec<(Lemma, Forms)>, foldhash::fast::FixedState>,
}

fn verbs() -> &'static Verbs {
    static READ: OnceLock<Verbs> = OnceLock::new();
    READ.get_or_init(|| {
        let mut verbs = Verbs { lemmas: HashMap::default(), forms: HashMap::default() };
        for line in VERBS.lines().filter(|line| !line.starts_with('#')) {
            verbs.read(line);
        }
        verbs
    })
}

impl Verbs {
    fn read(&mut self, line: &'static str) {
        let mut parts = line.split_whitespace();
        let Some(first) = parts.next() else { return };
        let (base, doubles) = match first.strip_suffix('!') {
            Some(base) => (base, true),
            None => (first, false),
        };
        let next = Lemma::try_from(self.lemmas.len()).expect("fewer verbs than numbers");
        let lemma = *self.lemmas.entry(base).or_insert(next);
        let regular = past(base, doubles);
        let (past, participle) = match (parts.next(), parts.next()) {
            (Some(past), Some(participle)) => (past.to_owned(), participle.to_owned()),
            _ => (regular.clone(), regular),
        };
        self.add(base.to_owned(), lemma, BASE);
        self.add(third(base), lemma, THIRD);
        self.add(past, lemma, PAST);
        self.add(participle, lemma, PARTICIPLE);
        self.add(ing(base, doubles), lemma, ING);
        // Both are written.
        for also in match base {
            "get" => &["got"][..],
            "learn" => &["learned"],
            "dream" => &["dreamt"],
            "focus" => &["focussed"],
            "travel" => &["travelled"],
            _ => &[],
        } {
            self.add((*also).to_owned(), lemma, PAST | PARTICIPLE);
        }
        if base == "travel" {
            self.add("travelling".to_owned(), lemma, ING);
        }
    }

    fn add(&mut self, form: String, lemma: Lemma, forms: Forms) {
        let readings = self.forms.entry(form).or_default();
        match readings.iter_mut().find(|(known, _)| *known == lemma) {
            Some((_, known)) => *known |= forms,
            None => readings.push((lemma, forms)),
        }
    }
}

fn ends_in_consonant_y(base: &str) -> bool {
    base.ends_with('y') && !base.ends_with(['a', 'e', 'o', 'u']) && {
        let before = base.as_bytes()[base.len().saturating_sub(2)];
        !b"aeou".contains(&before)
    }
}

fn doubled(base: &str, doubles: bool) -> String {
    let last = base.chars().next_back().filter(|_| doubles);
    base.chars().chain(last).collect()
}

fn third(base: &str) -> String {
    match base {
        "have" => "has".to_owned(),
        "be" => "is".to_owned(),
        _ if ends_in_consonant_y(base) => format!("{}ies", &base[..base.len() - 1]),
        _ if base.ends_with(['s', 'x', 'z', 'o'])
            || base.ends_with("ch")
            || base.ends_with("sh") =>
        {
            format!("{base}es")
        }
        _ => format!("{base}s"),
    }
}

fn past(base: &str, doubles: bool) -> String {
    match base {
        _ if base.ends_with('e') => format!("{base}d"),
        _ if ends_in_consonant_y(base) => format!("{}ied", &base[..base.len() - 1]),
        _ => format!("{}ed", doubled(base, doubles)),
    }
}

fn ing(base: &str, doubles: bool) -> String {
    match base {
        "be" | "see" => format!("{base}ing"),
        "lie" => "lying".to_owned(),
        _ if base.ends_with('e') && !base.ends_with("ee") => {
            format!("{}ing", &base[..base.len() - 1])
        }
        _ => format!("{}ing", doubled(base, doubles)),
    }
}

/// Which verbs a word in lower case may be a form of.
pub(super) fn readings(word: &str) -> &'static [(Lemma, Forms)] {
    verbs().forms.get(word).map_or(&[], Vec::as_slice)
}

/// Whether a word can be one of these forms of some verb.
pub(super) fn can_be(word: &str, forms: Forms) -> bool {
    readings(word).iter().any(|(_, known)| known & forms != 0)
}

/// The verb that is written so in its base form.
pub(super) fn lemma(base: &str) -> Option<Lemma> {
    verbs().lemmas.get(base).copied()
}

/// How many verbs there are.
pub(super) fn count() -> usize {
    verbs().lemmas.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_made_as_english_makes_them() {
        for (form, base, forms) in [
            ("lives", "live", THIRD),
            ("studied", "study", PAST | PARTICIPLE),
            ("studies", "study", THIRD),
            ("running", "run", ING),
            ("moving", "move", ING),
            ("watches", "watch", THIRD),
            ("preferred", "prefer", PAST | PARTICIPLE),
            ("played", "play", PAST | PARTICIPLE),
            ("quit", "quit", BASE | PAST | PARTICIPLE),
            ("ran", "run", PAST),
        ] {
            let lemma = lemma(base).unwrap();
            assert!(readings(form).contains(&(lemma, forms)), "{form}: {:?}", readings(form));
        }
        assert!(readings("left").len() == 1 && readings("sofa").is_empty());
    }
}
