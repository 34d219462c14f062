// The list of assets as Rust reads it: crates/console/src/assets.rs, made from what manifest.json says.
//
// build.mjs writes it with the assets; `node table.mjs` writes it alone, for whoever merged two builds.

import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const CRATE = join(dirname(fileURLToPath(import.meta.url)), "..", "crates", "console");
export const TABLE = join(CRATE, "src", "assets.rs");

export function rustTable(manifest) {
  const rows = manifest.files.map(
    ({ name, type, bytes }) => `    asset!(${JSON.stringify(name)}, ${JSON.stringify(type)}, ${bytes}),\n`,
  );
  return `//! Every file of the page, packed with brotli. Written by console/build.mjs with the files themselves; not
//! edited by hand.

use crate::Packed;

/// The page that all others are shown in.
pub(crate) const INDEX: &str = ${JSON.stringify(manifest.index)};

macro_rules! asset {
    ($name:literal, $media_type:literal, $bytes:literal) => {
        Packed {
            name: $name,
            media_type: $media_type,
            bytes: $bytes,
            packed: include_bytes!(concat!("../assets/", $name, ".br")),
        }
    };
}

#[rustfmt::skip]
pub(crate) const ASSETS: &[Packed] = &[
${rows.join("")}];
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const manifest = JSON.parse(readFileSync(join(CRATE, "assets", "manifest.json"), "utf8"));
  writeFileSync(TABLE, rustTable(manifest));
}
