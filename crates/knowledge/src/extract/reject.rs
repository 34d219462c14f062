//! What is not somebody talking: code, logs, data, quoted mail, other people's lines of a chat. Such
//! lines are blanked before anything is read, byte for byte, so that places in the text stay true.

/// Marks of code and data; a line with several of them is no sentence.
const CODE_MARKS: &[u8] = b"{}[]<>=;|\\$_*~^";

/// The text with everything blanked that nobody says; `None` if nothing is left out.
pub(super) fn blanked(text: &str, speaker: &str) -> Option<String> {
    let mut out: Option<Vec<u8>> = None;
    let (mut start, mut is_fenced) = (0, false);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let is_fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
        let is_out = is_fence || is_fenced || is_no_speech(trimmed, speaker);
        if is_fence {
            is_fenced = !is_fenced;
        }
        let label =
            if is_out { line.trim_end_matches('\n').len() } else { own_label(line, speaker) };
        if label > 0 {
            let bytes = out.get_or_insert_with(|| text.as_bytes().to_vec());
            bytes[start..start + label].fill(b' ');
        }
        start += line.len();
    }
    // Whole lines and ASCII labels only were overwritten, so it is still text.
    out.and_then(|bytes| String::from_utf8(bytes).ok())
}

fn is_no_speech(line: &str, speaker: &str) -> bool {
    if line.is_empty() {
        return false;
    }
    line.starts_with('>') || is_code(line) || is_log(line) || is_others(line, speaker)
}

fn is_code(line: &str) -> bool {
    let bytes = line.as_bytes();
    let marks = bytes.iter().filter(|byte| CODE_MARKS.contains(byte)).count();
    let opens_data = matches!(bytes[0], b'{' | b'}' | b'[' | b']' | b'<' | b'|' | b'@')
        || line.starts_with("\"") && line.contains("\":");
    let ends_code = line.ends_with(['{', ';', '}', '\\'])
        && marks > 0
        && (marks > 1 || line.ends_with(['{', '}', '\\']) || line.contains('('));
    let is_call = line.contains("();")
        || line.contains("=>")
        || line.contains("->")
        || line.contains("::")
        || line.contains("==")
        || line.contains("!=")
        || line.contains("&&")
        || line.contains("</")
        || line.contains(" = ")
        || line.contains("+=")
        || line.contains("${")
        || line.contains("print(");
    let first = line.split(|char: char| !char.is_ascii_alphanumeric()).next().unwrap_or("");
    let is_statement = match first {
        "SELECT" | "INSERT" | "UPDATE" | "DELETE" | "CREATE" | "ALTER" | "WHERE" | "FROM" => {
            marks > 0
                || line.contains(" FROM ")
                || line.contains(" INTO ")
                || line.contains(" SET ")
                || line.contains(" TABLE ")
                || line.contains(" = ")
        }
        "def" | "fn" | "func" | "function" | "class" | "public" | "private" | "const" | "let"
        | "var" | "import" | "from" | "return" | "package" | "include" | "using" | "elif"
        | "async" | "impl" => {
            marks > 0 || line.contains('(') || line.contains(" import ") || line.ends_with(':')
        }
        "sudo" | "npm" | "pip" | "cargo" | "docker" | "kubectl" | "git" | "cd" | "echo"
        | "curl" => line.contains(" -") || marks > 0 || line.split_whitespace().count() <= 4,
        _ => false,
    };
    opens_data
        || ends_code
        || is_call
        || is_statement
        || line.starts_with("$ ")
        || line.starts_with("# include")
        || line.starts_with("//")
        || line.starts_with("/*")
        || line.starts_with(">>>")
        || line.starts_with("#!")
        || marks * 6 > bytes.len()
        || line.starts_with('*') && !line.starts_with("* ") && line.ends_with('*')
        || line.starts_with("http")
}

/// A time or a level at the beginning, as programs write.
fn is_log(line: &str) -> bool {
    let bytes = line.as_bytes();
    let is_date = bytes.len() > 19
        && bytes[..4].iter().all(u8::is_ascii_digit)
        && bytes[4] == b'-'
        && (bytes[10] == b'T' || bytes[10] == b' ')
        && bytes[13] == b':';
    let is_clock = bytes.len() > 8
        && bytes[..2].iter().all(u8::is_ascii_digit)
        && bytes[2] == b':'
        && bytes[5] == b':';
    let levels = [
        "INFO",
        "WARN",
        "ERROR",
        "DEBUG",
        "TRACE",
        "FATAL",
        "Traceback",
        "panic",
        "Exception",
        "Caused by",
    ];
    is_date
        || is_clock
        || levels.iter().any(|level| line.starts_with(level))
        || line.starts_with("at ") && line.contains(".java")
}

/// `Name: …` where the name is somebody else's.
fn is_others(line: &str, speaker: &str) -> bool {
    let Some((label, rest)) = label(line) else { return false };
    let is_own = is_own_label(label, speaker);
    let first = rest.trim_start();
    let talks = ["I ", "I'", "I’", "i ", "My ", "my ", "We ", "we ", "im ", "Im "]
        .iter()
        .any(|start| first.starts_with(start));
    let is_role = [
        "assistant",
        "system",
        "bot",
        "ai",
        "agent",
        "q",
        "quote",
        "lyrics",
        "prompt",
        "example",
        "subject",
        "title",
    ]
    .contains(&label.to_ascii_lowercase().as_str());
    let is_name = label.split_whitespace().all(|word| word.starts_with(char::is_uppercase));
    !is_own && (is_role || talks && is_name && !is_topic(label))
}

/// Words before a colon that announce something of one's own.
fn is_topic(label: &str) -> bool {
    let label = label.to_ascii_lowercase();
    [
        "note",
        "update",
        "fyi",
        "context",
        "ps",
        "p.s.",
        "edit",
        "also",
        "background",
        "btw",
        "me",
        "about me",
        "fun fact",
        "reminder",
        "for context",
        "quick update",
        "intro",
        "bio",
        "note to self",
        "remember",
        "profile",
        "work",
        "home",
        "hobbies",
        "job",
        "personal",
        "tldr",
        "tl;dr",
        "news",
        "big news",
        "preferences",
        "facts",
    ]
    .contains(&label.as_str())
}

fn is_own_label(label: &str, speaker: &str) -> bool {
    label.eq_ignore_ascii_case(speaker)
        || ["user", "human", "me"].contains(&label.to_ascii_lowercase().as_str())
}

/// How many bytes of a line are the speaker's own label.
fn own_label(line: &str, speaker: &str) -> usize {
    match label(line) {
        Some((label, _)) if is_own_label(label, speaker) && label.is_ascii() => {
            line.find(':').map_or(0, |colon| colon + 1)
        }
        _ => 0,
    }
}

fn label(line: &str) -> Option<(&str, &str)> {
    let (label, rest) = line.split_once(':')?;
    let label = label.trim().trim_matches(['*', '-', ' ']);
    let is_short = !label.is_empty() && label.len() <= 30 && label.split_whitespace().count() <= 3;
    (is_short && rest.starts_with([' ', '\t', '*'])).then_some((label, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_data_are_blanked_and_places_stay() {
        let text = "I use Vim\nlet name = \"Ana\";\n{\"lives\": \"Rome\"}\nI like tea";
        let out = blanked(text, "Ana").unwrap();
        assert_eq!(out.len(), text.len());
        assert!(out.starts_with("I use Vim\n ") && out.ends_with("\nI like tea"), "{out}");
        assert!(!out.contains("Rome"));
        let fenced = blanked("a\n```\nI live in Rome\n```\nb", "Ana").unwrap();
        assert!(!fenced.contains("Rome") && fenced.ends_with('b'));
    }

    #[test]
    fn only_the_speakers_lines_of_a_chat_are_read() {
        let out = blanked("Ana: I live in Rome\nBob: I live in Paris", "Ana").unwrap();
        assert!(out.contains("Rome") && !out.contains("Paris"));
        assert!(blanked("Note: I live in Rome, in a flat.", "Ana").is_none());
    }

    #[test]
    fn what_people_say_is_left_alone() {
        for line in [
            "I live in Rome.",
            "Let me see; I use Vim.",
            "from 2019 I worked at SAP",
            "* I like tea",
        ] {
            assert!(blanked(line, "Ana").is_none(), "{line}");
        }
    }
}
