//! Phrases of time: where in a sentence they are, and which days they mean, seen from the moment of
//! the text. A phrase is an interval with its own grain; what begins with it begins at its start.
//! Nothing is guessed: a phrase that means several days means none.

use super::days::{Days, Part};
use super::lexicon::{MONTH, NUMBER, SEASON, UNIT, WEEKDAY};
use super::tokens::{Kind, Token};
use jiff::ToSpan;
use jiff::civil::Date;
use std::ops::Range;

/// Years that a number alone can mean.
const YEARS: Range<i16> = 1930..2071;
/// The most units a phrase counts.
const COUNT_MAX: i32 = 400;

/// What a phrase does with its days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// At that time.
    On,
    /// From its beginning on.
    Since,
    /// Up to it.
    Until,
    /// For so long, up to now: the interval begins then.
    For,
    /// From one to the other.
    Between,
    /// How often, which is no date.
    Often,
}

/// A phrase of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Phrase {
    pub(super) tokens: Range<usize>,
    pub(super) role: Role,
    pub(super) days: Option<Days>,
}

/// The phrases of a sentence, in order.
pub(super) fn phrases(tokens: &[Token<'_>], today: Date, looks_ahead: bool) -> Vec<Phrase> {
    let mut found = Vec::new();
    let mut at = 0;
    let reader = Reader { tokens, today, looks_ahead };
    while at < tokens.len() {
        match reader.phrase(at) {
            Some(phrase) => {
                at = phrase.tokens.end;
                found.push(phrase);
            }
            None => at += 1,
        }
    }
    found
}

struct Reader<'a> {
    tokens: &'a [Token<'a>],
    today: Date,
    /// Whether a month without a year is the next one.
    looks_ahead: bool,
}

/// Days and the token after them.
type Read = (Days, usize);

impl Reader<'_> {
    fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.word)
    }

    fn has(&self, at: usize, classes: u64) -> bool {
        self.tokens.get(at).is_some_and(|token| token.has(classes))
    }

    fn phrase(&self, at: usize) -> Option<Phrase> {
        let make = |role, (days, end): Read| Phrase { tokens: at..end, role, days: Some(days) };
        let found = match self.word(at) {
            "since" => self.days(self.skip(at + 1)).map(|read| make(Role::Since, read)),
            "starting" | "effective" | "beginning" => {
                self.days(self.skip(at + 1)).map(|read| make(Role::On, read))
            }
            "until" | "till" | "before" | "til" => {
                self.days(self.skip(at + 1)).map(|read| make(Role::Until, read))
            }
            "from" | "between" => self.range(at),
            "for" | "over" => self.duration(at),
            "in" | "on" | "during" | "back" | "around" | "by" | "as" | "at" | "of" => {
                self.after_preposition(at).map(|read| make(Role::On, read))
            }
            "every" | "each" | "twice" | "most" | "once" | "several" => self.often(at),
            "daily" | "weekly" | "nightly" | "nowadays" => {
                Some(Phrase { tokens: at..at + 1, role: Role::Often, days: None })
            }
            "these" if self.word(at + 1) == "days" => {
                Some(Phrase { tokens: at..at + 2, role: Role::Often, days: None })
            }
            _ => None,
        };
        found.or_else(|| self.often(at)).or_else(|| self.long_ago(at)).or_else(|| {
            // A bare year or month may be anything, so that only what says more stands alone.
            let read = self.relative(at).or_else(|| self.ago(at)).or_else(|| self.full_date(at))?;
            Some(make(Role::On, read))
        })
    }

    /// Words before a date that say nothing: "since about the end of 2019".
    fn skip(&self, mut at: usize) -> usize {
        while ["about", "around", "roughly", "back", "in", "approximately", "sometime", "on"]
            .contains(&self.word(at))
        {
            at += 1;
        }
        at
    }

    fn after_preposition(&self, at: usize) -> Option<Read> {
        let start = match (self.word(at), self.word(at + 1)) {
            ("back", "in") => at + 2,
            ("back", _) => return None,
            ("as", "of") => at + 2,
            ("of" | "as", _) => return None,
            _ => at + 1,
        };
        let start = self.skip(start);
        // "in two weeks" is ahead.
        if self.word(at) == "in"
            && let Some((count, after)) = self.count(start)
            && let Some(days) = self.shifted(count, self.word(after), 1)
        {
            return Some((days, after + 1));
        }
        if self.word(at) == "on" && self.has(start, WEEKDAY) {
            return Some((self.weekday(self.word(start), self.looks_ahead)?, start + 1));
        }
        self.days(start)
    }

    /// From a date to another, or from a date on.
    fn range(&self, at: usize) -> Option<Phrase> {
        let (from, middle) = self.days(self.skip(at + 1))?;
        if ["to", "until", "till", "and", "-", "through"].contains(&self.word(middle)) {
            let next = self.skip(middle + 1);
            let read = self.days(next).map(|(to, end)| (to.first, end));
            let now = ["now", "today", "present"].contains(&self.word(next));
            if let Some((end_day, end)) = read {
                let days = Days { first: from.first, end: end_day };
                return Some(Phrase { tokens: at..end, role: Role::Between, days: Some(days) });
            }
            if now {
                return Some(Phrase { tokens: at..next + 1, role: Role::Since, days: Some(from) });
            }
        }
        if self.word(at) == "between" {
            return None;
        }
        let end = if self.word(middle) == "on" { middle + 1 } else { middle };
        Some(Phrase { tokens: at..end, role: Role::Since, days: Some(from) })
    }

    /// For so many years.
    fn duration(&self, at: usize) -> Option<Phrase> {
        let mut start = at + 1;
        while ["about", "over", "almost", "nearly", "the", "last", "past", "around", "more", "than"]
            .contains(&self.word(start))
        {
            start += 1;
        }
        let (count, unit) = match self.count(start) {
            Some((count, unit)) if self.has(unit, UNIT) => (Some(count), unit),
            // For years.
            _ if self.has(start, UNIT) && self.word(start).ends_with('s') => (None, start),
            _ if ["ages", "ever", "now", "good"].contains(&self.word(start)) => (None, start),
            _ if self.word(start) == "a" && self.word(start + 1) == "while" => (None, start + 1),
            _ => return None,
        };
        let days = count.and_then(|count| self.shifted(count, self.word(unit), -1));
        let mut end = unit + 1;
        while ["now", "already", "straight"].contains(&self.word(end)) {
            end += 1;
        }
        Some(Phrase { tokens: at..end, role: Role::For, days })
    }

    fn often(&self, at: usize) -> Option<Phrase> {
        let often = |end| Some(Phrase { tokens: at..end, role: Role::Often, days: None });
        match self.word(at) {
            "every" | "each" => {
                let mut end = at + 1;
                while ["single", "other", "few", "two", "three"].contains(&self.word(end)) {
                    end += 1;
                }
                let is_time = self.has(end, UNIT | WEEKDAY | SEASON | MONTH)
                    || ["morning", "evening", "night", "afternoon", "time"]
                        .contains(&self.word(end));
                is_time.then(|| often(end + 1)).flatten()
            }
            "once" | "twice" if ["a", "per", "every"].contains(&self.word(at + 1)) => {
                self.has(at + 2, UNIT).then(|| often(at + 3)).flatten()
            }
            "on" | "in" => {
                let end =
                    if ["the", "most"].contains(&self.word(at + 1)) { at + 2 } else { at + 1 };
                let plural = self.word(end).strip_suffix('s');
                let is_day = plural.is_some_and(|day| {
                    super::lexicon::classes(day) & WEEKDAY != 0 || day == "weekend"
                });
                let is_part = [
                    "mornings",
                    "evenings",
                    "afternoons",
                    "morning",
                    "evening",
                    "evenings",
                    "weekend",
                    "afternoon",
                ]
                .contains(&self.word(end));
                (is_day || is_part).then(|| often(end + 1)).flatten()
            }
            "at" if ["night", "weekends", "lunch"].contains(&self.word(at + 1)) => often(at + 2),
            "most" if self.word(at + 1).ends_with('s') && self.has(at + 1, UNIT) => often(at + 2),
            "most" if ["mornings", "evenings", "nights"].contains(&self.word(at + 1)) => {
                often(at + 2)
            }
            _ => {
                // Three times a week.
                let (_, after) = self.count(at)?;
                let is_rate = ["times", "x", "days", "nights", "hours"].contains(&self.word(after))
                    && ["a", "per", "every", "each"].contains(&self.word(after + 1));
                (is_rate && self.has(after + 2, UNIT)).then(|| often(after + 3)).flatten()
            }
        }
    }

    /// Days in any of the ways they are named after a preposition.
    fn days(&self, at: usize) -> Option<Read> {
        let (part, start) = self.part(at);
        let (days, end) = self
            .full_date(start)
            .or_else(|| self.relative(start))
            .or_else(|| self.ago(start))
            .or_else(|| self.month(start))
            .or_else(|| self.season(start))
            .or_else(|| self.year(start))
            .or_else(|| {
                let (word, next) = (self.word(start), start + 1);
                self.has(start, WEEKDAY)
                    .then(|| Some((self.weekday(word, self.looks_ahead)?, next)))?
            })?;
        Some((part.of(days)?, end))
    }

    /// Early, mid, late, the end of.
    fn part(&self, at: usize) -> (Part, usize) {
        let after_the = if self.word(at) == "the" { at + 1 } else { at };
        let of = |part, at: usize| (part, if self.word(at) == "of" { at + 1 } else { at });
        match self.word(after_the) {
            "early" | "start" | "beginning" => of(Part::First, after_the + 1),
            "mid" | "middle" => of(Part::Middle, after_the + 1),
            "late" => of(Part::Last, after_the + 1),
            "end" => of(Part::End, after_the + 1),
            _ => (Part::All, at),
        }
    }

    fn number(&self, at: usize) -> Option<i32> {
        let token = self.tokens.get(at).filter(|token| token.kind == Kind::Number)?;
        token.word.parse().ok()
    }

    fn year(&self, at: usize) -> Option<Read> {
        let year = i16::try_from(self.number(at)?).ok().filter(|year| YEARS.contains(year))?;
        Some((Days::year(year)?, at + 1))
    }

    fn month_number(&self, at: usize) -> Option<i8> {
        let token = self.tokens.get(at).filter(|token| token.has(MONTH))?;
        let names =
            ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
        let month = names.iter().position(|name| token.word.starts_with(name))?;
        i8::try_from(month + 1).ok()
    }

    /// A month, of a year that is named or the nearest on the side the sentence looks to.
    fn month(&self, at: usize) -> Option<Read> {
        let month = self.month_number(at)?;
        let next = if [",", "of"].contains(&self.word(at + 1)) { at + 2 } else { at + 1 };
        if let Some((year, end)) = self.year(next) {
            return Some((Days::month(year.first.year(), month)?, end));
        }
        if self.word(next) == "last" && self.word(next + 1) == "year" {
            return Some((Days::month(self.today.year() - 1, month)?, next + 2));
        }
        Some((Days::month(self.nearest_year(month), month)?, at + 1))
    }

    fn nearest_year(&self, month: i8) -> i16 {
        let (year, now) = (self.today.year(), self.today.month());
        match self.looks_ahead {
            true => year + i16::from(month < now),
            false => year - i16::from(month > now),
        }
    }

    fn season(&self, at: usize) -> Option<Read> {
        let at = if self.word(at) == "the" { at + 1 } else { at };
        let season = self.tokens.get(at).filter(|token| token.has(SEASON))?.word;
        let next = if self.word(at + 1) == "of" { at + 2 } else { at + 1 };
        if let Some((year, end)) = self.year(next) {
            return Some((Days::season(year.first.year(), season)?, end));
        }
        let year = self.today.year();
        let this = Days::season(year, season)?;
        let year = match self.looks_ahead {
            true => year + i16::from(this.end <= self.today),
            false => year - i16::from(this.first > self.today),
        };
        Some((Days::season(year, season)?, at + 1))
    }

    /// A day with its month: 3 May 2021, May 3rd, 2021-05-03, 25/12/2020.
    fn full_date(&self, at: usize) -> Option<Read> {
        let at = if self.word(at) == "the" { at + 1 } else { at };
        if let Some(read) = self.numeric_date(at) {
            return Some(read);
        }
        let (day, month, end) = if let Some(month) = self.month_number(at) {
            (self.day_number(at + 1)?, month, at + 2)
        } else {
            let day = self.day_number(at)?;
            let next = if self.word(at + 1) == "of" { at + 2 } else { at + 1 };
            match self.month_number(next) {
                Some(month) => (day, month, next + 1),
                None => return None,
            }
        };
        let next = if self.word(end) == "," { end + 1 } else { end };
        let (year, end) = match self.year(next) {
            Some((year, end)) => (year.first.year(), end),
            None => (self.nearest_year(month), end),
        };
        Some((Days::one(Date::new(year, month, day).ok()?)?, end))
    }

    fn day_number(&self, at: usize) -> Option<i8> {
        let word = self.tokens.get(at).filter(|token| token.kind == Kind::Number)?.word;
        let bare = ["st", "nd", "rd", "th"].iter().find_map(|tail| word.strip_suffix(tail));
        bare.unwrap_or(word).parse().ok().filter(|day| (1..=31).contains(day))
    }

    fn numeric_date(&self, at: usize) -> Option<Read> {
        let word = self.tokens.get(at).filter(|token| token.kind == Kind::Number)?.word;
        let separator = ['-', '/', '.'].into_iter().find(|mark| word.contains(*mark))?;
        let mut parts = word.split(separator).map(|part| part.parse::<i16>().ok());
        let (one, two) = (parts.next()??, parts.next()??);
        let three = parts.next();
        if parts.next().is_some() {
            return None;
        }
        let small = |number: i16| i8::try_from(number).ok();
        match three {
            None if YEARS.contains(&one) && (1..=12).contains(&two) && separator == '-' => {
                Some((Days::month(one, small(two)?)?, at + 1))
            }
            Some(Some(day)) if YEARS.contains(&one) => {
                Some((Days::one(Date::new(one, small(two)?, small(day)?).ok()?)?, at + 1))
            }
            // Day and month only where no other order can be meant.
            Some(Some(year)) if YEARS.contains(&year) => {
                let (day, month) = match (one, two) {
                    (13..=31, 1..=12) => (one, two),
                    (1..=12, 13..=31) => (two, one),
                    (1..=12, _) if one == two => (one, two),
                    _ => return None,
                };
                Some((Days::one(Date::new(year, small(month)?, small(day)?).ok()?)?, at + 1))
            }
            _ => None,
        }
    }

    /// A count in digits or in words, and the token after it.
    fn count(&self, at: usize) -> Option<(i32, usize)> {
        let count = match self.number(at) {
            Some(count) => count,
            None if self.has(at, NUMBER) => match self.word(at) {
                "a" | "an" if ["couple", "few"].contains(&self.word(at + 1)) => {
                    return self.count(at + 1);
                }
                "a" | "an" | "one" => 1,
                "couple" => {
                    let next = if self.word(at + 1) == "of" { at + 2 } else { at + 1 };
                    return Some((2, next));
                }
                "few" | "several" => 3,
                word => {
                    let names = [
                        "two",
                        "three",
                        "four",
                        "five",
                        "six",
                        "seven",
                        "eight",
                        "nine",
                        "ten",
                        "eleven",
                        "twelve",
                        "thirteen",
                        "fourteen",
                        "fifteen",
                        "sixteen",
                        "seventeen",
                        "eighteen",
                        "nineteen",
                        "twenty",
                    ];
                    let tens = ["thirty", "forty", "fifty", "sixty"];
                    match names.iter().position(|name| *name == word) {
                        Some(place) => i32::try_from(place).ok()? + 2,
                        None => {
                            let place = tens.iter().position(|name| *name == word)?;
                            (i32::try_from(place).ok()? + 3) * 10
                        }
                    }
                }
            },
            None => return None,
        };
        (1..=COUNT_MAX).contains(&count).then_some((count, at + 1))
    }

    /// So many units from today, forwards or backwards.
    fn shifted(&self, count: i32, unit: &str, sign: i32) -> Option<Days> {
        let count = i64::from(count * sign);
        let span = match unit.trim_end_matches('s') {
            "day" => count.days(),
            "week" => count.weeks(),
            "month" => count.months(),
            "year" | "yr" => count.years(),
            "decade" => (count * 10).years(),
            _ => return None,
        };
        Days::one(self.today.checked_add(span).ok()?)
    }

    /// "years ago", "a long time ago": a time that is no date.
    fn long_ago(&self, at: usize) -> Option<Phrase> {
        let mut end = at;
        while ["a", "some", "quite", "very", "long", "many"].contains(&self.word(end)) {
            end += 1;
        }
        let is_span = ["years", "months", "weeks", "decades", "ages", "while", "time"]
            .contains(&self.word(end));
        end += usize::from(is_span);
        let is_ago = end > at && self.word(end) == "ago";
        is_ago.then(|| Phrase { tokens: at..end + 1, role: Role::On, days: None })
    }

    fn ago(&self, at: usize) -> Option<Read> {
        let at = if ["about", "around", "almost", "over"].contains(&self.word(at)) {
            at + 1
        } else {
            at
        };
        let (count, unit) = self.count(at)?;
        let is_ago = ["ago", "back"].contains(&self.word(unit + 1));
        let days = is_ago.then(|| self.shifted(count, self.word(unit), -1))??;
        Some((days, unit + 2))
    }

    fn weekday(&self, name: &str, ahead: bool) -> Option<Days> {
        let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
        let place = names.iter().position(|short| name.starts_with(short))?;
        let today = i64::from(self.today.weekday().to_monday_zero_offset());
        let wanted = i64::try_from(place).ok()?;
        let days = match ahead {
            true => (wanted - today + 6).rem_euclid(7) + 1,
            false => -((today - wanted + 6).rem_euclid(7) + 1),
        };
        Days::one(self.today.checked_add(days.days()).ok()?)
    }

    /// Today, last week, next June, this spring.
    fn relative(&self, at: usize) -> Option<Read> {
        let day = |days: i64, end: usize| {
            Some((Days::one(self.today.checked_add(days.days()).ok()?)?, end))
        };
        let earlier = if ["earlier", "later"].contains(&self.word(at)) { at + 1 } else { at };
        match self.word(earlier) {
            "yesterday" => day(-1, at + 1),
            "today" | "tonight" => day(0, at + 1),
            "tomorrow" => day(1, at + 1),
            "last" | "past" => self.side(earlier, -1),
            "next" | "coming" => self.side(earlier, 1),
            "this" => self.side(earlier, 0),
            _ => None,
        }
    }

    fn side(&self, at: usize, side: i64) -> Option<Read> {
        let (word, end) = (self.word(at + 1), at + 2);
        let today = self.today;
        let days = match word {
            "week" => {
                let monday = today
                    .checked_sub(i64::from(today.weekday().to_monday_zero_offset()).days())
                    .ok()?
                    .checked_add(side.weeks())
                    .ok()?;
                Days { first: monday, end: monday.checked_add(1.week()).ok()? }
            }
            "weekend" => {
                let to_saturday = 5 - i64::from(today.weekday().to_monday_zero_offset());
                let shift = side.min(0) * 7 + to_saturday;
                let first = today.checked_add(shift.days()).ok()?;
                Days { first, end: first.checked_add(2.days()).ok()? }
            }
            "month" => {
                let first = today.first_of_month().checked_add(side.months()).ok()?;
                Days { first, end: first.checked_add(1.month()).ok()? }
            }
            "year" => Days::year(today.year() + i16::try_from(side).ok()?)?,
            "night" if side < 0 => Days::one(today.checked_sub(1.day()).ok()?)?,
            "morning" | "afternoon" | "evening" if side == 0 => Days::one(today)?,
            _ if self.has(at + 1, WEEKDAY) => {
                self.weekday(word, side > 0 || (side == 0 && self.looks_ahead))?
            }
            _ if self.has(at + 1, MONTH) => {
                let month = self.month_number(at + 1)?;
                let year = match side {
                    -1 => today.year() - i16::from(month >= today.month()),
                    1 => today.year() + i16::from(month <= today.month()),
                    _ => today.year(),
                };
                Days::month(year, month)?
            }
            _ if self.has(at + 1, SEASON) => {
                let this = Days::season(today.year(), word)?;
                let year = match side {
                    -1 => today.year() - i16::from(this.end > today),
                    1 => today.year() + i16::from(this.first <= today),
                    _ => today.year(),
                };
                Days::season(year, word)?
            }
            _ => return None,
        };
        Some((days, end))
    }
}
