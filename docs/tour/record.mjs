// Records docs/tour.svg: runs the commands below with a real binary in an empty directory, and draws what they print.
//
//   LOCI_BIN=target/release/loci node docs/tour/record.mjs
//
// Nothing is made up; only secrets are cut short, and the directory is called ~. Needs a shell, port 8700 and FUSE.

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const BINARY = resolve(process.env.LOCI_BIN ?? join(HERE, "..", "..", "target", "debug", "loci"));
const home = mkdtempSync(join(tmpdir(), "loci-tour-"));
mkdirSync(join(home, "bin"));
symlinkSync(BINARY, join(home, "bin", "loci"));
const env = { PATH: `${join(home, "bin")}:${process.env.PATH}`, HOME: home, LOCI_DATA: join(home, "data"), LANG: "C.UTF-8" };

const lines = [];
const show = (text, kind) => text.replace(/\n$/, "").split("\n").forEach((line) => lines.push({ text: line, kind }));
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const cut = (text) => text.replaceAll(home, "~").replace(/(loci_[A-Za-z0-9]{6})[A-Za-z0-9]+/g, "$1…");

/** Runs a line as a shell would and shows it with what it printed; `until` asks again, as vectors take a moment. */
async function step(command, until = () => true) {
  for (let turn = 0; ; turn += 1) {
    const printed = execFileSync("sh", ["-c", `${command} 2>&1`], { env, cwd: home, encoding: "utf8" });
    if (!until(printed)) {
      if (turn > 200) throw new Error(`${command}: ${printed}`);
      await sleep(300);
      continue;
    }
    show(command, "command");
    if (printed !== "") show(cut(printed), "output");
    return;
  }
}
const say = (text) => show(`# ${text}`, "remark");

const server = spawn("loci", ["serve"], { env, cwd: home, stdio: ["ignore", "pipe", "ignore"] });
try {
  let told = "";
  server.stdout.on("data", (chunk) => (told += chunk));
  for (let turn = 0; !told.includes("listening"); turn += 1) {
    if (turn > 200 || server.exitCode !== null) throw new Error(`the server did not start: ${told}`);
    await sleep(300);
  }
  show("loci serve &", "command");
  show(cut(told), "output");
  await step("loci put team /web/deploy.md --create-store --text 'Deploy with ./deploy.sh web, then watch the dashboard.'");
  await step("echo 'Ana prefers calm colours and short answers.' | loci put team /people/ana.md");
  say("found by meaning as well as by word");
  await step("loci search --limit 1 'how is the site released'", (printed) => printed.includes("deploy"));
  say("every change is a version");
  await step("loci put team /web/deploy.md --text 'Deploy with ./deploy.sh web --canary, then watch the dashboard.'");
  await step("loci history team /web/deploy.md | cut -c 1-83");
  say("stores are directories, for agents that know files");
  await step("loci mount --background memory");
  await step("cat memory/team/people/ana.md");
  await step("echo 'Ana is away on Fridays.' >> memory/team/people/ana.md && loci get team /people/ana.md");
  await step("loci umount memory");
  say("and people look at all of it in a browser");
  await step("loci console");
} finally {
  server.kill("SIGTERM");
  await new Promise((done) => (server.exitCode === null ? server.once("exit", done) : done()));
  rmSync(home, { recursive: true, force: true });
}

const SIZE = 13;
const STEP = 19;
const WIDE = 7.83;
const LEFT = 18;
const TOP = 58;
const columns = Math.max(...lines.map((line) => line.text.length + (line.kind === "command" ? 2 : 0)));
const width = Math.ceil(LEFT * 2 + columns * WIDE);
const height = TOP + lines.length * STEP + 8;
const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

// Commands wait a moment and their output comes at once; without animation everything is there.
let at = 0;
const drawn = lines.map(({ text, kind }, index) => {
  if (kind !== "output") at += kind === "command" && lines[index - 1]?.kind !== "remark" ? 1.1 : 0.7;
  else if (lines[index - 1]?.kind === "command") at += 0.4;
  const prompt = kind === "command" ? '<tspan class="prompt">$ </tspan>' : "";
  return `<text class="${kind}" x="${LEFT}" y="${TOP + index * STEP}" style="animation-delay:${at.toFixed(1)}s">${prompt}${escaped(text)}</text>`;
});
const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="A terminal: Loci is started, written to, searched, mounted and opened in a browser">
<style>
text { font: ${SIZE}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; animation: appear 1ms both; }
.command { fill: #f2f5f9; font-weight: 600; }
.output { fill: #b7c1cd; }
.remark { fill: #7fb0ff; }
.prompt { fill: #6fd394; }
@keyframes appear { from { opacity: 0; } }
@media (prefers-reduced-motion: reduce) { text { animation: none; } }
</style>
<rect width="${width}" height="${height}" rx="8" fill="#12161c"/>
<path d="M0 8a8 8 0 0 1 8-8h${width - 16}a8 8 0 0 1 8 8v26H0z" fill="#1e242c"/>
<circle cx="20" cy="17" r="5.5" fill="#ff8f86"/><circle cx="39" cy="17" r="5.5" fill="#f0b35b"/><circle cx="58" cy="17" r="5.5" fill="#6fd394"/>
${drawn.join("\n")}
</svg>
`;
writeFileSync(join(HERE, "..", "tour.svg"), svg);
console.log(`${lines.length} lines, ${columns} columns, ${at.toFixed(0)} s`);
