//! A server with one store, mounted through its URL; and the store as a witness of what was written.

use std::path::{Path, PathBuf};

use anyhow::Context;
use loci_it::{ADMIN_KEY, Api, Loci, Mounted, Server, Setup};
use loci_test_mount::Witness;
use serde_json::{Value, json};

/// What a test works on. Fields are dropped in order: first what needs the others.
pub(super) struct Scene {
    pub(super) mount: Mounted,
    pub(super) api: Api,
    pub(super) server: Server,
    pub(super) setup: Setup,
}

impl Scene {
    /// On a data directory.
    pub(super) fn new() -> Self {
        Self::on(Setup::new())
    }

    pub(super) fn on(setup: Setup) -> Self {
        let server = setup.start();
        let api = Api::create(server.client(), "notes");
        // Some of what is tried is tried as somebody else.
        let options = ["--flat", "--store", &api.store, "--allow-other"];
        let mount = mount(&setup, &server, "mount", &options);
        Self { mount, api, server, setup }
    }

    /// A path in the mount.
    pub(super) fn at(&self, name: &str) -> PathBuf {
        self.mount.at().join(name)
    }

    /// One more mount, with these options.
    pub(super) fn mount_again(&self, name: &str, options: &[&str]) -> Mounted {
        mount(&self.setup, &self.server, name, options)
    }

    /// The store through a connection of its own.
    pub(super) fn witness(&self) -> Store {
        Store::of(Api::open(self.server.client(), &self.api.store))
    }
}

/// On a mount through the server's URL and on one of its data directory.
pub(super) fn on_both(work: impl Fn(&Scene, &Path)) {
    let scene = Scene::new();
    work(&scene, scene.mount.at());
    let local = Loci::on_data(scene.setup.data());
    let options = ["--flat", "--store", &scene.api.store, "--allow-other"];
    let local = Mounted::start(&local, &scene.setup.scratch().join("local"), &options);
    work(&scene, local.at());
    local.stop();
}

fn mount(setup: &Setup, server: &Server, name: &str, options: &[&str]) -> Mounted {
    let loci = Loci::on_url(&server.url(), ADMIN_KEY);
    Mounted::start(&loci, &setup.scratch().join(name), options)
}

/// Answers by the API alone.
pub(super) struct Store {
    pub(super) api: Api,
}

impl Store {
    pub(super) fn of(api: Api) -> Self {
        Self { api }
    }

    /// The entry at a path, if there is one.
    pub(super) fn entry(&mut self, path: &str) -> Option<Value> {
        let (folder, _) = path.rsplit_once('/').expect("a path begins with a slash");
        let query = format!("prefix={folder}/&depth=1&limit=1000");
        let entries = self.api.pages("/entries", &query);
        entries.into_iter().find(|entry| entry["type"] == "entry" && entry["path"] == path)
    }

    fn there(&mut self, path: &str) -> anyhow::Result<Value> {
        self.entry(path).with_context(|| format!("no memory at {path}"))
    }

    /// Changes one memory by the native batch.
    pub(super) fn edit(&mut self, edit: &Value) -> Value {
        let url = self.api.path("/edits");
        self.api.client.post(&url, &json!({"edits": [edit]})).ok()
    }

    /// What is kept at a path.
    pub(super) fn text(&mut self, path: &str) -> Option<String> {
        let id = self.entry(path)?["id"].as_str().expect("an entry has an id").to_owned();
        Some(self.api.content(&id))
    }
}

impl Witness for Store {
    fn operations(&mut self, path: &str) -> anyhow::Result<Option<Vec<String>>> {
        let entry = self.there(path)?;
        let id = entry["id"].as_str().context("an entry has an id")?;
        let versions = self.api.versions(id);
        let name = |version: &Value| version["operation"].as_str().map(str::to_owned);
        Ok(versions.iter().rev().map(name).collect())
    }

    fn identity(&mut self, path: &str) -> anyhow::Result<Option<String>> {
        Ok(self.there(path)?["id"].as_str().map(str::to_owned))
    }

    fn content(&mut self, path: &str) -> anyhow::Result<Option<Vec<u8>>> {
        self.there(path)?;
        Ok(self.text(path).map(String::into_bytes))
    }

    fn paths(&mut self) -> anyhow::Result<Option<Vec<String>>> {
        let entries = self.api.pages("/entries", "limit=1000");
        let mut paths: Vec<String> =
            entries.iter().filter_map(|entry| entry["path"].as_str().map(str::to_owned)).collect();
        paths.sort();
        Ok(Some(paths))
    }
}
