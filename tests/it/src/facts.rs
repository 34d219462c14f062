//! What the tests remember: facts that can be asked for in other words, and a crowd around them.

/// A fact, and a question about it that shares no word with it worth finding it by.
pub const FACTS: [(&str, &str); 12] = [
    ("Ingrid keeps bees behind the old barn.", "Who raises insects for honey?"),
    ("The staging database is wiped every Sunday night.", "When do we delete our test records?"),
    ("Tomas gets a rash whenever he eats peanuts.", "Which guest has a nut allergy?"),
    ("Our flight to Lisbon leaves at six in the morning.", "What time do we depart for Portugal?"),
    ("Grandmother's violin was sold last spring.", "What became of the musical instrument?"),
    ("The deploy key is rotated once a quarter.", "How often do we change our credentials?"),
    ("Mei adopted a puppy from the shelter.", "Who got a young dog?"),
    ("The office radiators broke down in January.", "Why was it so cold at work?"),
    ("Paul runs ten kilometres before breakfast.", "Who goes jogging early each day?"),
    ("The printer's invoice was paid twice.", "Which bill did we settle two times by mistake?"),
    ("The bridge on Mill Road is closed for repairs.", "Why can nobody drive across the river?"),
    ("Yusuf speaks fluent Japanese.", "Who could translate for our visitors from Tokyo?"),
];

const WHO: [&str; 12] = [
    "Ana", "Bruno", "Chidi", "Dalia", "Egon", "Farah", "Goran", "Hana", "Ivo", "Jun", "Karla",
    "Lev",
];
const WHAT: [&str; 12] = [
    "painted the kitchen wall",
    "repaired a rowing boat",
    "baked four loaves of bread",
    "lost the house keys",
    "planted tomatoes and beans",
    "bought a second-hand piano",
    "wrote to the tax office",
    "photographed a heron",
    "taught a swimming class",
    "cancelled the newspaper",
    "climbed the church tower",
    "measured the garden fence",
];
const WHERE: [&str; 12] = [
    "in Oslo",
    "near Porto",
    "on Crete",
    "at home",
    "in Quito",
    "by the lake",
    "in Leeds",
    "at the farm",
    "in Osaka",
    "on the island",
    "in Tunis",
    "at school",
];

/// The sentence of a number: another one for each below 1728.
pub fn crowd(number: usize) -> String {
    let (who, what, place) = (number % 12, number / 12 % 12, number / 144 % 12);
    format!("{} {} {}.", WHO[who], WHAT[(what + who) % 12], WHERE[(place + what) % 12])
}
