//! What queries become: ordinary questions, phrases, prefixes, and everything that is not syntax.

use super::*;
use crate::text::phrase::contains_phrase;
use proptest::prelude::*;

fn terms(text: &str) -> Vec<String> {
    TextQuery::parse(text).terms.into_iter().map(|term| term.text).collect()
}

fn phrases(text: &str) -> Vec<String> {
    TextQuery::parse(text).phrases.into_iter().map(|phrase| phrase.words.join(" ")).collect()
}

fn prefixes(text: &str) -> Vec<String> {
    TextQuery::parse(text).prefixes.into_iter().map(|prefix| prefix.text).collect()
}

#[test]
fn words_are_terms() {
    let table: [(&str, &[&str]); 10] = [
        ("What is the user's timezone?", &["user", "timezon"]),
        ("timezone AND NOT (utc OR cet)", &["timezon", "utc", "cet"]),
        ("title:foo^2 -bar ~3", &["titl", "foo", "2", "bar", "3"]),
        ("C:\\temp\\*.log", &["temp", "log"]),
        ("NEAR(a b, 5)", &["near", "5"]),
        ("who am I", &["who", "am", "i"]),
        ("'; drop table memory; --", &["drop", "tabl", "memori"]),
        ("??? !!! \"\" * () 😀", &[]),
        ("", &[]),
        ("東京都", &["東京", "京都"]),
    ];
    for (text, expected) in table {
        assert_eq!(terms(text), expected, "{text}");
        assert_eq!(TextQuery::parse(text).is_empty(), expected.is_empty());
    }
}

#[test]
fn repeats_are_counted() {
    let query = TextQuery::parse("paint painting dog");
    assert_eq!(query.terms[0], QueryTerm { text: "paint".into(), count: 2 });
    assert_eq!(query.terms[1].count, 1);
}

#[test]
fn quotes() {
    let table: [(&str, &[&str]); 13] = [
        ("\"Becoming Nicole\" book", &["becoming nicole"]),
        ("the \u{201C}big sleep\u{201D}?", &["big sleep"]),
        ("«voilà» and „so“", &["voila", "so"]),
        ("unbalanced \"quote here", &[]),
        ("lone\" quotes\"", &[]),
        ("5\" pipe and 6\" pipe", &[]),
        ("say \"hello and \"good bye\" now", &["good bye"]),
        ("\"\" \"?\"", &[]),
        ("\\\"escaped\\\"", &["escaped"]),
        ("\"one\" \"two\"", &["one", "two"]),
        ("don't 'single quotes' matter", &[]),
        ("\"to be or not to be\"", &["to be or not to be"]),
        ("{\"key\": \"value\"}", &["key", "value"]),
    ];
    for (text, expected) in table {
        assert_eq!(phrases(text), expected, "{text}");
    }
}

#[test]
fn phrases_say_where_to_look() {
    let needed = |text: &str| TextQuery::parse(text).phrases.remove(0).terms;
    assert_eq!(needed("\"the painted dogs\""), ["dog", "paint"]);
    assert_eq!(needed("\"userTimezone isn't\""), ["usertimezon"]);
    assert_eq!(needed("\"東京タワー\""), ["タワ", "ワー", "京タ", "東京"]);
    assert_eq!(needed("\"고양이\""), ["고양", "양이"]);
    assert!(needed("\"to be or not\"").is_empty());
}

#[test]
fn stars() {
    let table: [(&str, &[&str]); 10] = [
        ("timez*", &["timez"]),
        ("Timez* (foo*) bar*,", &["timez", "foo", "bar"]),
        ("2*3 a*b", &[]),
        ("*bold* **bold** **", &[]),
        ("x*", &[]),
        ("* foo *", &[]),
        ("\"foo*\"", &[]),
        ("東京*", &[]),
        ("猫", &["猫"]),
        ("黒猫 犬", &[]),
    ];
    for (text, expected) in table {
        assert_eq!(prefixes(text), expected, "{text}");
    }
    assert_eq!(terms("what is timez* dog"), ["dog"]);
    assert!(terms("what is timez*").is_empty());
    assert!(!TextQuery::parse("timez*").is_empty());
}

#[test]
fn prefixes_find_what_stemming_moved() {
    let table = [
        ("organiz*", "organizations"),
        ("organizati*", "organization"),
        ("organ*", "organized"),
        ("timezone*", "timezones"),
        ("runnin*", "running"),
        ("happy*", "happy"),
        ("happin*", "happiness"),
        ("stopp*", "stopped"),
        ("relation*", "relational"),
        ("effectiv*", "effectiveness"),
        ("electricit*", "electricity"),
        ("covid*", "covid19"),
        ("userti*", "userTimezone"),
        ("schön*", "Schönheit"),
    ];
    for (text, word) in table {
        let prefix = &TextQuery::parse(text).prefixes[0];
        let mut is_found = false;
        Analyzer::new().terms(word, |term| is_found |= prefix.matches(term.text));
        assert!(is_found, "{text} {word} {prefix:?}");
    }
    assert!(!Prefix::new("timez").matches("time"));
}

#[test]
fn limits() {
    let many: String = (0..1000).map(|n| format!("word{n} ")).collect();
    assert_eq!(terms(&many).len(), limit::QUERY_WORDS_MAX);
    let starred: String = (0..1000).map(|n| format!("word{n}* ")).collect();
    let query = TextQuery::parse(&starred);
    assert_eq!(query.prefixes.len(), PREFIXES_MAX);
    assert_eq!(query.prefixes.len() + query.terms.len(), limit::QUERY_WORDS_MAX);
    let query = TextQuery::parse(&format!("\"{}\"", many.trim()));
    assert_eq!(query.phrases[0].words.len(), limit::QUERY_WORDS_MAX);
    let first: Vec<&str> = many.split(' ').take(limit::QUERY_WORDS_MAX).collect();
    assert!(query.phrases[0].terms.iter().all(|term| first.contains(&term.as_str())));
    assert_eq!(phrases(&"\"a b\" ".repeat(100)).len(), PHRASES_MAX);
}

proptest! {
    #[test]
    fn nothing_alphanumeric_is_lost(text in "[a-zé猫1 \"“”*?:()^\\\\'-]{0,40}|\\PC{0,40}") {
        let query = TextQuery::parse(&text);
        prop_assert!(query.terms.len() + query.prefixes.len() <= limit::QUERY_WORDS_MAX);
        if text.chars().any(|c| c.is_ascii_alphanumeric() || c == '猫') {
            prop_assert!(!query.terms.is_empty() || !query.prefixes.is_empty(), "{:?}", query);
        }
    }

    #[test]
    fn a_text_quoted_from_itself_has_its_phrase(text in "[a-zA-Z0-9é猫한 ,'’]{0,60}") {
        let phrase = Phrase::parse(&text);
        prop_assert!(contains_phrase(&text, &phrase.words));
        let mut indexed = Vec::new();
        Analyzer::new().terms(&text, |term| indexed.push(term.text.to_owned()));
        prop_assert!(phrase.terms.iter().all(|term| indexed.contains(term)), "{:?} {:?}", phrase, indexed);
    }
}
