//! Text that looks like a key, a token or a password: by its form alone, so it may be wrong either way.
//! What is found is told by where it is and what sort it seems to be; the secret itself is masked.

/// Characters shown before a secret, and of the secret itself.
const BEFORE_CHARS: usize = 32;
const SHOWN_CHARS: usize = 4;
/// The shortest password that is looked at.
const PASSWORD_CHARS_MIN: usize = 6;

/// Something that looks like a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suspect {
    /// What it looks like.
    pub pattern: &'static str,
    /// The place, with the secret masked.
    pub excerpt: String,
}

/// A token that begins with a certain text and goes on with so many characters of its alphabet.
struct Form {
    pattern: &'static str,
    prefix: &'static str,
    rest_min: usize,
    alphabet: fn(char) -> bool,
}

fn is_upper_or_digit(c: char) -> bool {
    c.is_ascii_uppercase() || c.is_ascii_digit()
}

fn is_letter_or_digit(c: char) -> bool {
    c.is_ascii_alphanumeric()
}

fn is_base64url(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

const fn form(
    pattern: &'static str,
    prefix: &'static str,
    rest_min: usize,
    alphabet: fn(char) -> bool,
) -> Form {
    Form { pattern, prefix, rest_min, alphabet }
}

const FORMS: [Form; 15] = [
    form("aws_access_key", "AKIA", 16, is_upper_or_digit),
    form("aws_access_key", "ASIA", 16, is_upper_or_digit),
    form("github_token", "ghp_", 30, is_letter_or_digit),
    form("github_token", "gho_", 30, is_letter_or_digit),
    form("github_token", "ghu_", 30, is_letter_or_digit),
    form("github_token", "ghs_", 30, is_letter_or_digit),
    form("github_token", "github_pat_", 22, is_base64url),
    form("slack_token", "xoxb-", 10, is_base64url),
    form("slack_token", "xoxp-", 10, is_base64url),
    form("google_api_key", "AIza", 35, is_base64url),
    form("stripe_key", "sk_live_", 16, is_letter_or_digit),
    form("gitlab_token", "glpat-", 20, is_base64url),
    form("loci_key", "loci_", 40, is_letter_or_digit),
    form("api_key", "sk-ant-", 20, is_base64url),
    form("api_key", "sk-", 20, is_base64url),
];

/// What stands before a password, in lower case.
const WORDS: [&str; 8] =
    ["password", "passwort", "passwd", "passphrase", "api_key", "api key", "secret", "token"];

/// The first thing in a text that looks like a secret.
pub(crate) fn find_secret(text: &str) -> Option<Suspect> {
    private_key(text)
        .or_else(|| FORMS.iter().find_map(|form| by_form(text, form)))
        .or_else(|| jwt(text))
        .or_else(|| in_url(text))
        .or_else(|| password(text))
}

fn suspect(text: &str, start: usize, length: usize, pattern: &'static str) -> Suspect {
    let before: Vec<char> = text[..start].chars().rev().take(BEFORE_CHARS).collect();
    let before: String = before.into_iter().rev().collect();
    let secret = &text[start..start + length];
    let shown: String = secret.chars().take(SHOWN_CHARS.min(length / 3)).collect();
    let excerpt = format!("{before}{shown}••••••");
    let excerpt = excerpt.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    Suspect { pattern, excerpt }
}

fn private_key(text: &str) -> Option<Suspect> {
    let start = text.find("-----BEGIN ")?;
    let line = text[start..].lines().next()?;
    let is_key =
        line.trim_end().ends_with("PRIVATE KEY-----") || line.contains("PRIVATE KEY BLOCK");
    is_key.then(|| {
        let excerpt = format!("{}••••••", line.trim_end());
        Suspect { pattern: "private_key", excerpt }
    })
}

/// Whether a place in a text is the beginning of a word.
fn begins_word(text: &str, at: usize) -> bool {
    !text[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_')
}

fn by_form(text: &str, form: &Form) -> Option<Suspect> {
    text.match_indices(form.prefix).find_map(|(start, prefix)| {
        let rest = &text[start + prefix.len()..];
        let length = rest.find(|c| !(form.alphabet)(c)).unwrap_or(rest.len());
        let is_it = length >= form.rest_min && begins_word(text, start);
        // Words joined by hyphens are long too; keys have digits.
        let is_random = rest[..length].chars().any(|c| c.is_ascii_digit());
        (is_it && is_random).then(|| suspect(text, start, prefix.len() + length, form.pattern))
    })
}

/// Three parts of base 64 with dots between them, the first of which says `{"`.
fn jwt(text: &str) -> Option<Suspect> {
    text.match_indices("eyJ").find_map(|(start, _)| {
        let rest = &text[start..];
        let length = rest.find(|c| !is_base64url(c) && c != '.').unwrap_or(rest.len());
        let parts: Vec<&str> = rest[..length].trim_end_matches('.').split('.').collect();
        let is_it = parts.len() == 3 && parts.iter().all(|part| part.len() >= 10);
        (is_it && begins_word(text, start)).then(|| suspect(text, start, length, "jwt"))
    })
}

/// `scheme://user:password@host`.
fn in_url(text: &str) -> Option<Suspect> {
    text.match_indices("://").find_map(|(at, _)| {
        let start = at + 3;
        let rest = &text[start..];
        let end = rest.find(|c: char| c.is_whitespace() || c == '/').unwrap_or(rest.len());
        let (credentials, _) = rest[..end].rsplit_once('@')?;
        let (user, secret) = credentials.split_once(':')?;
        let is_it = secret.len() >= 3 && !is_placeholder(secret);
        is_it.then(|| suspect(text, start + user.len() + 1, secret.len(), "url_password"))
    })
}

/// `password: …`, `token = …`.
fn password(text: &str) -> Option<Suspect> {
    // Lower case in ASCII only, so that places stay the same.
    let lower = text.to_ascii_lowercase();
    WORDS.iter().find_map(|word| {
        lower.match_indices(word).find_map(|(at, _)| {
            let mut start = at + word.len();
            let rest = &text[start..];
            let rest = rest.trim_start_matches(['"', '\'', '*', '`', ' ']);
            let rest = rest.strip_prefix([':', '='])?;
            let rest = rest.trim_start_matches(['"', '\'', '*', '`', ' ', '=']);
            start = text.len() - rest.len();
            let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ',' | ';');
            let length = rest.find(ends).unwrap_or(rest.len());
            let value = &rest[..length];
            let is_it = value.chars().count() >= PASSWORD_CHARS_MIN && !is_placeholder(value);
            is_it.then(|| suspect(text, start, length, "password"))
        })
    })
}

/// What stands for a secret in a description.
fn is_placeholder(value: &str) -> bool {
    let is_bracketed = value.starts_with(['<', '{', '$', '[', '(', '%']);
    let mut chars = value.chars();
    let first = chars.next();
    let is_one_character = chars.all(|c| Some(c) == first);
    is_bracketed || is_one_character || value.contains("...") || value.contains('…')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_by_their_form_and_never_shown() {
        for (pattern, text, secret) in [
            ("aws_access_key", "the key is AKIAIOSFODNN7EXAMPLE.", "IOSFODNN7EXAMPLE"),
            ("github_token", "ghp_0123456789abcdefghijABCDEFGHIJ012345", "abcdefghij"),
            ("google_api_key", "k=AIzaSyA0123456789abcdefghijklmnopqrstuv", "0123456789abc"),
            ("api_key", "use sk-ant-api03-abcdefghijklmnopqrstuvwx", "abcdefghijkl"),
            ("stripe_key", "sk_live_0123456789abcdefgh", "0123456789abcdefgh"),
            ("jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "eyJzdWIiOiIxMjM0In0"),
            ("url_password", "postgres://ana:hunter2@db/loci", "hunter2"),
            ("password", "Password: correct-horse", "correct-horse"),
            ("password", "{\"api_key\": \"0f9e8d7c6b5a\"}", "0f9e8d7c6b5a"),
            ("private_key", "-----BEGIN RSA PRIVATE KEY-----\nMIIE", "MIIE"),
        ] {
            let found = find_secret(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(found.pattern, pattern, "{text}");
            assert!(!found.excerpt.contains(secret), "{}", found.excerpt);
            assert!(found.excerpt.contains('•'));
        }
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        for text in [
            "Ana likes tea, and the deploy script is deploy.sh",
            "the password is kept in the safe",
            "password: <your password>",
            "token: ********",
            "set TOKEN=${TOKEN}",
            "ask-someone-who-knows-about-these-things",
            "sk-learn is a library",
            "see https://example.org/a:b@c",
            "eyJ is how tokens begin",
            "Ä".repeat(50).as_str(),
            "",
        ] {
            assert_eq!(find_secret(text), None, "{text}");
        }
    }
}
