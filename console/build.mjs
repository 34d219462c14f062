// Builds the console into ../crates/console: hashed, brotli-compressed files in assets, listed in assets/manifest.json and, for the
// Rust compiler, in src/assets.rs.
//
// The same sources give the same bytes on every machine: no times, no paths, no maps. `--check` builds into
// memory and fails if what is committed differs, or if a budget is broken; nothing is written then.

import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import { TABLE, rustTable } from "./table.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const OUT = join(HERE, "..", "crates", "console", "assets");
const BUDGET = { all: 200 * 1024, firstScripts: 60 * 1024, styles: 10 * 1024 };

const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** Every file below a directory, by relative path. */
function walk(directory) {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    return entry.isDirectory() ? walk(path) : [path];
  });
}

/** One digest over everything the assets are made from; a test without Node recomputes it. */
export function sourcesDigest() {
  const named = ["build.mjs", "package.json", "package-lock.json", "tsconfig.json"];
  const paths = [...walk(join(HERE, "src")).map((path) => relative(HERE, path)), ...named].map((path) => path.replaceAll("\\", "/"));
  const hash = createHash("sha256");
  for (const path of paths.sort()) {
    const bytes = readFileSync(join(HERE, path));
    hash.update(`${path}\n${bytes.length}\n`).update(bytes);
  }
  return hash.digest("hex");
}

/** Bundles scripts and styles; returns files by name, and which scripts the first view needs. */
async function bundle() {
  const result = await build({
    absWorkingDir: HERE,
    entryPoints: { main: "src/main.tsx", style: "src/styles/all.css" },
    // Every view can count on the frame, so what the frame is made of is one file, and not one for each set of views that use it.
    inject: ["src/frame/app.tsx"],
    outdir: "out",
    bundle: true,
    splitting: true,
    format: "esm",
    target: "es2022",
    minify: true,
    legalComments: "none",
    charset: "utf8",
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    jsx: "automatic",
    jsxImportSource: "preact",
    write: false,
    metafile: true,
  });
  const files = new Map();
  for (const file of result.outputFiles) files.set(relative(join(HERE, "out"), file.path), Buffer.from(file.contents));
  const outputs = Object.fromEntries(Object.entries(result.metafile.outputs).map(([path, output]) => [relative("out", path), output]));
  const first = new Set();
  const follow = (name) => {
    if (first.has(name)) return;
    first.add(name);
    for (const { path, kind } of outputs[name].imports) if (kind === "import-statement") follow(relative("out", path));
  };
  const main = [...files.keys()].find((name) => name.startsWith("main-") && name.endsWith(".js"));
  follow(main);
  return { files, main, first };
}

const TYPES = { js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8", svg: "image/svg+xml", html: "text/html; charset=utf-8" };

async function assemble() {
  const { files, main, first } = await bundle();
  const icon = readFileSync(join(HERE, "src", "icon.svg"));
  const iconName = `icon-${sha256(icon).slice(0, 8)}.svg`;
  files.set(iconName, icon);
  const style = [...files.keys()].find((name) => name.endsWith(".css"));
  const preload = [...first].filter((name) => name !== main).sort();
  const links = preload.map((name) => `<link rel="modulepreload" href="/console/assets/${name}">`).join("\n");
  const html = readFileSync(join(HERE, "src", "index.html"), "utf8")
    .replace("%STYLE%", `/console/assets/${style}`)
    .replace("%MAIN%", `/console/assets/${main}`)
    .replace("%ICON%", `/console/assets/${iconName}`)
    .replace("%PRELOAD%", links);
  files.set("index.html", Buffer.from(html));
  const packed = new Map();
  const listed = [];
  for (const [name, bytes] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length, [constants.BROTLI_PARAM_LGWIN]: 22 };
    const small = brotliCompressSync(bytes, { params });
    packed.set(`${name}.br`, small);
    listed.push({ name, type: TYPES[name.split(".").pop()], bytes: bytes.length, brotli_bytes: small.length, sha256: sha256(bytes) });
  }
  const manifest = { index: "index.html", sources: sourcesDigest(), files: listed };
  packed.set("manifest.json", Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`));
  const sum = (keep) => listed.filter(keep).reduce((total, file) => total + file.brotli_bytes, 0);
  const sizes = { all: sum(() => true), firstScripts: sum((file) => first.has(file.name)), styles: sum((file) => file.name.endsWith(".css")) };
  return { packed, sizes, table: rustTable(manifest) };
}

const { packed, sizes, table } = await assemble();
let isBroken = false;
for (const [name, limit] of Object.entries(BUDGET)) {
  const isOver = sizes[name] > limit;
  isBroken ||= isOver;
  console.log(`${name}: ${sizes[name]} of ${limit} bytes${isOver ? " IS TOO MUCH" : ""}`);
}
if (process.argv.includes("--check")) {
  const there = new Set(readdirSync(OUT));
  for (const [name, bytes] of packed) {
    if (!there.delete(name) || !readFileSync(join(OUT, name)).equals(bytes)) {
      isBroken = true;
      console.error(`crates/console/assets/${name} is not what the sources give; run npm run build`);
    }
  }
  for (const name of there) {
    isBroken = true;
    console.error(`crates/console/assets/${name} is left over; run npm run build`);
  }
  if (readFileSync(TABLE, "utf8") !== table) {
    isBroken = true;
    console.error("crates/console/src/assets.rs does not list the assets; run npm run build");
  }
} else {
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
  for (const [name, bytes] of packed) writeFileSync(join(OUT, name), bytes);
  writeFileSync(TABLE, table);
}
process.exitCode = isBroken ? 1 : 0;
