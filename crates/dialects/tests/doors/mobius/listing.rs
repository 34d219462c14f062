//! Lists: their order, their words, their pages.

use crate::mobius::world::{A, B, World, fields, keys};
use serde_json::{Value, json};

async fn furnished() -> World {
    let world = World::new().await;
    let agent = format!("{B}/ada");
    for (key, body) in [
        ("user.timezone", json!({"content": "Lives in Europe/Berlin"})),
        ("drink", json!({"content": "Likes TEA, black", "kind": "preference"})),
        (
            "monday",
            json!({"content": "Deployed the server", "kind": "episode", "summary": "Deployment with tea"}),
        ),
        ("private", json!({"content": "tea in secret", "user_id": "u1"})),
    ] {
        world.put(&agent, key, body).await.ok();
    }
    world
}

#[tokio::test]
async fn the_last_changed_comes_first() {
    let world = furnished().await;
    let list = format!("{B}/ada/memory/entries");
    assert_eq!(world.keys(&list).await, ["private", "monday", "drink", "user.timezone"]);
    world.save(&format!("{B}/ada"), "drink", "Likes coffee").await;
    assert_eq!(world.keys(&list).await, ["drink", "private", "monday", "user.timezone"]);
    let shared = world.get(&format!("{A}/ada/memory/entries")).await;
    assert_eq!(keys(&shared), ["drink", "monday", "user.timezone"]);
    assert_eq!(fields(&shared), ["has_more", "items"]);
    assert!(shared["items"][0].get("user_id").is_none());
}

#[tokio::test]
async fn all_words_must_be_there_in_any_field_and_case() {
    let world = furnished().await;
    for (query, expected) in [
        ("query=timezone", vec!["user.timezone"]),
        ("query=tea", vec!["private", "monday", "drink"]),
        ("query=BLACK+likes", vec!["drink"]),
        ("query=black+coffee", vec![]),
        ("query=episode", vec!["monday"]),
        ("query=deployment", vec!["monday"]),
        ("query=tea&kind=preference", vec!["drink"]),
        ("query=%20%20&kind=episode", vec!["monday"]),
        ("kind=fact", vec!["private", "user.timezone"]),
        ("query=t*a", vec![]),
        ("query=%22tea%22", vec![]),
        ("query=%25", vec![]),
        ("search_mode=semantic", vec!["private", "monday", "drink", "user.timezone"]),
        ("query=tea&search_mode=keyword", vec!["private", "monday", "drink"]),
    ] {
        let page = world.get(&format!("{B}/ada/memory/entries?{query}")).await;
        assert_eq!(keys(&page), expected, "{query}");
        assert!(page.get("search_coverage").is_none(), "{query}");
    }
}

#[tokio::test]
async fn pages_join_and_keep_to_their_filters() {
    let world = World::new().await;
    let agent = format!("{A}/ada");
    let mut expected = Vec::new();
    for number in 0..25 {
        let kind = if number % 2 == 0 { "fact" } else { "episode" };
        let body = json!({"content": format!("note {number}"), "kind": kind});
        world.put(&agent, &format!("k{number}"), body).await.ok();
        expected.insert(0, format!("k{number}"));
    }
    let episodes: Vec<String> =
        expected.iter().filter(|key| key[1..].parse::<u32>().unwrap() % 2 == 1).cloned().collect();
    let nines: Vec<String> = expected.iter().filter(|key| key.contains('9')).cloned().collect();
    for (filter, limit, expected) in [
        ("", "", &expected),
        ("", "limit=7", &expected),
        ("", "limit=25", &expected),
        ("", "limit=100", &expected),
        ("kind=episode", "limit=5", &episodes),
        ("query=note+9", "limit=1", &nines),
    ] {
        for repeats_filter in [true, false] {
            let (mut joined, mut cursor) = (Vec::new(), String::new());
            loop {
                let filter = if repeats_filter || cursor.is_empty() { filter } else { "" };
                let url = format!("{agent}/memory/entries?{filter}&{limit}&cursor={cursor}");
                let page = world.get(&url).await;
                joined.extend(keys(&page));
                match page["next_cursor"].as_str() {
                    Some(next) => {
                        assert_eq!(page["has_more"], true);
                        cursor = next.to_owned();
                    }
                    None => {
                        assert_eq!(page["has_more"], false);
                        break;
                    }
                }
            }
            assert_eq!(&joined, expected, "{filter} {limit} {repeats_filter}");
        }
    }
    let default = world.get(&format!("{agent}/memory/entries")).await;
    assert_eq!(default["items"].as_array().unwrap().len(), 20);
    let cursor = default["next_cursor"].as_str().unwrap();
    let other = format!("{agent}/memory/entries?kind=fact&cursor={cursor}");
    world.ask("GET", &other, None).await.refused(400, "bad_request");
}

#[tokio::test]
async fn an_agent_nobody_heard_of_has_an_empty_page() {
    let world = World::new().await;
    for base in [A, B] {
        let page = world.get(&format!("{base}/nobody/memory/entries?query=x")).await;
        assert_eq!(page, json!({"items": [], "has_more": false}));
    }
    let agents = world.get(B).await["items"].take();
    assert_eq!(agents, Value::Array(Vec::new()), "looking makes nobody");
}
