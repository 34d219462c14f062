// Pictures as small as they can be without another tool: a PNG of a page has few colours, so it becomes one with a palette.

import * as zlib from "node:zlib";

const { deflateSync, inflateSync } = zlib;

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
const COLOURS = 256;
const FREQUENT = 160;

function* chunks(bytes) {
  for (let at = 8; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    yield { type: bytes.toString("latin1", at + 4, at + 8), data: bytes.subarray(at + 8, at + 8 + length) };
    at += length + 12;
  }
}

/** The samples of an image of 8 bits a channel that is not interlaced. */
function pixels(bytes) {
  const data = [];
  let head;
  for (const chunk of chunks(bytes)) {
    if (chunk.type === "IHDR") head = { width: chunk.data.readUInt32BE(0), height: chunk.data.readUInt32BE(4), channels: { 2: 3, 6: 4 }[chunk.data[9]], bits: chunk.data[8], interlace: chunk.data[12] };
    if (chunk.type === "IDAT") data.push(chunk.data);
  }
  if (head.bits !== 8 || head.interlace !== 0 || !head.channels) throw new Error("not a picture of a page");
  const packed = inflateSync(Buffer.concat(data));
  const row = head.width * head.channels;
  const out = Buffer.alloc(row * head.height);
  for (let y = 0; y < head.height; y += 1) {
    const filter = packed[y * (row + 1)];
    for (let x = 0; x < row; x += 1) {
      const left = x >= head.channels ? out[y * row + x - head.channels] : 0;
      const up = y > 0 ? out[(y - 1) * row + x] : 0;
      const corner = x >= head.channels && y > 0 ? out[(y - 1) * row + x - head.channels] : 0;
      const guess = left + up - corner;
      const near = [left, up, corner].reduce((best, one) => (Math.abs(guess - one) < Math.abs(guess - best) ? one : best));
      out[y * row + x] = packed[y * (row + 1) + 1 + x] + [0, left, up, (left + up) >> 1, near][filter];
    }
  }
  return { ...head, out };
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(checksum(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

// `crc32` is new in zlib; older Nodes get it from here.
function checksum(bytes) {
  if (zlib.crc32) return zlib.crc32(bytes);
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

const apart = (a, b) => ((a >> 16) - (b >> 16)) ** 2 + (((a >> 8) & 255) - ((b >> 8) & 255)) ** 2 + ((a & 255) - (b & 255)) ** 2;

/** Of colours, the most frequent first, those to keep: most by how much there is of them, the others by how unlike these they are. */
function chosen(colours) {
  if (colours.length <= COLOURS) return colours;
  const kept = colours.slice(0, FREQUENT);
  const rest = colours.slice(FREQUENT).map((colour) => ({ colour, far: Math.min(...kept.map((one) => apart(one, colour))) }));
  while (kept.length < COLOURS) {
    const next = rest.reduce((best, one) => (one.far > best.far ? one : best));
    kept.push(next.colour);
    for (const one of rest) one.far = Math.min(one.far, apart(one.colour, next.colour));
  }
  return kept;
}

/** The same picture with 256 of its colours; the others become the nearest of these. */
export function withPalette(bytes) {
  const { width, height, channels, out } = pixels(bytes);
  const counts = new Map();
  const colourAt = (at) => (out[at] << 16) | (out[at + 1] << 8) | out[at + 2];
  for (let at = 0; at < out.length; at += channels) counts.set(colourAt(at), (counts.get(colourAt(at)) ?? 0) + 1);
  const palette = chosen([...counts].sort((a, b) => b[1] - a[1]).map(([colour]) => colour));
  const places = new Map(palette.map((colour, place) => [colour, place]));
  const nearest = (colour) => {
    let best = 0;
    let least = Infinity;
    palette.forEach((one, place) => {
      if (apart(one, colour) < least) [best, least] = [place, apart(one, colour)];
    });
    places.set(colour, best);
    return best;
  };
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const colour = colourAt((y * width + x) * channels);
      rows[y * (width + 1) + 1 + x] = places.get(colour) ?? nearest(colour);
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const table = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  return Buffer.concat([SIGNATURE, chunk("IHDR", head), chunk("PLTE", table), chunk("IDAT", deflateSync(rows, { level: 9 })), chunk("IEND", Buffer.alloc(0))]);
}
