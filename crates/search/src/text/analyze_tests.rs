//! What the analyzer makes of ordinary, compound, foreign and hostile text.

use super::*;
use proptest::prelude::*;

fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    Analyzer::new().terms(text, |term| terms.push(term.text.to_owned()));
    terms
}

#[test]
fn english() {
    let table: [(&str, &[&str]); 16] = [
        ("", &[]),
        ("The user's timezone is UTC.", &["user", "timezon", "utc"]),
        ("What did Caroline's dog eat?", &["carolin", "dog", "eat"]),
        ("Caroline\u{2019}s paintings", &["carolin", "paint"]),
        ("We don't paint; they won't", &["paint"]),
        ("user_timezone", &["user", "timezon"]),
        ("user-timezone/UTC+2", &["user", "timezon", "utc", "2"]),
        ("7 May 2023", &["7", "mai", "2023"]),
        ("a b c dog", &["dog"]),
        ("a 1 dog", &["1", "dog"]),
        ("O'Brien", &["brien", "obrien"]),
        ("CAFÉ Café cafe\u{301}", &["cafe", "cafe", "cafe"]),
        ("naïve naive", &["naiv", "naiv"]),
        ("running\u{AD}water", &["runningwat"]),
        ("Слово и дело", &["слово", "дело"]),
        ("10:30", &["10", "30"]),
    ];
    for (text, expected) in table {
        assert_eq!(terms(text), expected, "{text}");
    }
}

#[test]
fn a_text_of_stop_words_keeps_them() {
    assert_eq!(terms("To be or not to be"), ["to", "be", "or", "not", "to", "be"]);
    assert_eq!(terms("I don't"), ["i", "dont"]);
    assert_eq!(terms("x"), ["x"]);
}

#[test]
fn compounds() {
    let table: [(&str, &[&str]); 16] = [
        ("userTimezone", &["usertimezon", "user", "timezon"]),
        ("HTTPServer", &["httpserver", "http", "server"]),
        ("parseURLs", &["parseurl", "pars", "url"]),
        ("URLs", &["url"]),
        ("NASA", &["nasa"]),
        ("Title", &["titl"]),
        ("iPhone15", &["iphone15", "phone", "15"]),
        ("covid19", &["covid19", "covid", "19"]),
        ("7th", &["7th", "7"]),
        ("21st", &["21st", "21"]),
        ("10am", &["10am", "10"]),
        ("a3f9c2", &["a3f9c2"]),
        ("sha256sum", &["sha256sum", "sha", "256", "sum"]),
        ("isValid", &["isvalid", "valid"]),
        ("ГлавСтрой", &["главстрои", "глав", "строи"]),
        ("aB1cD2eF3gH4iJ5k", &["ab1cd2ef3gh4ij5k"]),
    ];
    for (text, expected) in table {
        assert_eq!(terms(text), expected, "{text}");
    }
}

#[test]
fn scripts_without_spaces() {
    let table: [(&str, &[&str]); 9] = [
        ("猫", &["猫"]),
        ("黒猫", &["黒猫", "猫"]),
        ("東京タワー", &["東京", "京タ", "タワ", "ワー", "ー"]),
        ("東京、大阪", &["東京", "京", "大阪", "阪"]),
        ("ｶﾞｷﾞ", &["ガギ", "ギ"]),
        ("2023年5月", &["2023", "年", "5", "月"]),
        ("กินข้าว", &["กิน", "นข้", "ข้า", "าว", "ว"]),
        ("한국어", &["한국", "국어", "한국어"]),
        ("집 한국", &["집", "한국"]),
    ];
    for (text, expected) in table {
        assert_eq!(terms(text), expected, "{text}");
    }
    let decomposed = "\u{1112}\u{1161}\u{11AB}\u{1100}\u{116E}\u{11A8}\u{110B}\u{1165}";
    assert_eq!(terms(decomposed), terms("한국어"));
}

#[test]
fn ranges_point_at_the_original() {
    let text = "— Caroline’s userTimezone: ＵＴＣ";
    let mut found = Vec::new();
    Analyzer::new().terms(text, |term| found.push((term.text.to_owned(), &text[term.range])));
    let found: Vec<_> = found.iter().map(|(term, original)| (term.as_str(), *original)).collect();
    let expected = [
        ("carolin", "Caroline"),
        ("usertimezon", "userTimezone"),
        ("user", "user"),
        ("timezon", "Timezone"),
        ("utc", "ＵＴＣ"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn long_input_is_bounded() {
    assert_eq!(terms(&"x".repeat(100_000)), ["x".repeat(64)]);
    assert_eq!(terms(&"猫".repeat(50_000)).len(), 50_000);
    assert!(terms(&format!("a{}", "\u{301}".repeat(50_000))).len() <= 1);
    assert!(terms(&format!("猫{}", "\u{3099}".repeat(50_000)))[0].len() < 64);
    assert!(terms(&"aA1".repeat(50_000)).len() <= 2);
    assert!(terms(&"한".repeat(1000)).iter().all(|term| term.chars().count() <= 64));
}

#[test]
fn words_for_phrases() {
    let table: [(&str, &[&str]); 5] = [
        ("Who am I?", &["who", "am", "i"]),
        ("Caroline's userTimezone", &["caroline", "usertimezone"]),
        ("don't O'Brien", &["dont", "o", "brien"]),
        ("東京 tower", &["東", "京", "tower"]),
        ("한국", &["한", "국"]),
    ];
    for (text, expected) in table {
        assert_eq!(words_of(text), expected, "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_is_analyzed(text in "[a-zA-Z0-9'’é\u{301}\u{0}猫かｶﾞ한กั \u{200d}_]{0,80}|\\PC{0,80}") {
        let mut has_any = false;
        Analyzer::new().terms(&text, |term| {
            assert!(!term.text.is_empty() && term.text.chars().count() <= WORD_CHARS_MAX);
            assert!(text.get(term.range).is_some());
            has_any = true;
        });
        if text.chars().any(|c| c.is_ascii_alphanumeric()) {
            prop_assert!(has_any);
        }
    }

    #[test]
    fn a_word_asked_for_is_a_word_indexed(word in "[a-zA-Zéüñ]{2,20}", tail in " [a-z]{3,9}") {
        let asked = terms(&word);
        let indexed = terms(&format!("{word}{tail}"));
        if !is_stop_word(&words_of(&word)[0]) {
            prop_assert!(asked.iter().all(|term| indexed.contains(term)));
        }
    }
}
