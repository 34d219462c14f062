// A server for working on the console: assets as the build wrote them, everything else from a running Loci.
//
//   node dev.mjs http://127.0.0.1:8700 [port]        with LOCI_KEY set, requests without a cookie carry that key
//
// It sends the same headers as the real server does, so that what the policy forbids is noticed here.

import { existsSync, readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";

const ASSETS = join(dirname(fileURLToPath(import.meta.url)), "..", "crates", "console", "assets");

const SAFETY = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
};

function sendAsset(response, name, cache) {
  const manifest = JSON.parse(readFileSync(join(ASSETS, "manifest.json"), "utf8"));
  const file = manifest.files.find((one) => one.name === name);
  if (!file || !existsSync(join(ASSETS, `${name}.br`))) {
    response.writeHead(404, SAFETY).end();
    return;
  }
  const bytes = brotliDecompressSync(readFileSync(join(ASSETS, `${name}.br`)));
  response.writeHead(200, { ...SAFETY, "content-type": file.type, "cache-control": cache }).end(bytes);
}

function relay(target, key, incoming, response) {
  const headers = { ...incoming.headers, host: target.host };
  // The page's origin is this server's; the real one compares it with its own.
  if (headers.origin) headers.origin = target.origin;
  if (key && !headers.authorization && !headers.cookie) headers.authorization = `Bearer ${key}`;
  const outgoing = request({ host: target.hostname, port: target.port, path: incoming.url, method: incoming.method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  outgoing.on("error", () => response.headersSent || response.writeHead(502).end());
  response.on("close", () => outgoing.destroy());
  incoming.pipe(outgoing);
}

/** Serves; `answer(incoming, response, path)` may take a request first by returning true. */
export function serve({ target, key, port = 0, host = "127.0.0.1", answer = async () => false }) {
  const server = createServer((incoming, response) => {
    const path = new URL(incoming.url, "http://localhost").pathname;
    void answer(incoming, response, path).then((isTaken) => {
      if (isTaken) return;
      if (path.startsWith("/console/assets/")) sendAsset(response, path.slice("/console/assets/".length), "public, max-age=31536000, immutable");
      else if (path === "/console") response.writeHead(308, { location: "/console/" }).end();
      else if (path.startsWith("/console/") && incoming.method === "GET" && (incoming.headers.accept ?? "").includes("text/html")) sendAsset(response, "index.html", "no-store");
      else relay(target, key, incoming, response);
    });
  });
  return new Promise((resolve) => server.listen(port, host, () => resolve(server)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const target = new URL(process.argv[2] ?? "http://127.0.0.1:8700");
  const server = await serve({ target, key: process.env.LOCI_KEY, port: Number(process.argv[3] ?? 8701) });
  console.log(`console on http://127.0.0.1:${server.address().port}/console/`);
}
