// Questions sent before anybody asks them, and reading, which takes such an answer if there is one.
//
// It changes when a question is sent, never what is answered: an answer is given once, soon, and only for the very same question; one
// that failed is asked again in the usual way. Whoever signs in, out or borrows eyes has all of them forgotten.

import { call } from "./http";

const FRESH_MS = 10_000;
const sent = new Map<string, { answer: Promise<unknown>; at: number }>();

export function readAhead(path: string): void {
  // Whether anybody is signed in is just being found out, so a 401 says nothing new.
  const answer = call("GET", path, { is401Plain: true });
  answer.catch(() => undefined);
  sent.set(path, { answer, at: Date.now() });
}

export function read<T>(path: string): Promise<T> {
  const ahead = sent.get(path);
  sent.delete(path);
  if (!ahead || Date.now() - ahead.at > FRESH_MS) return call<T>("GET", path);
  return (ahead.answer as Promise<T>).catch(() => call<T>("GET", path));
}

export function forgetAhead(): void {
  sent.clear();
}
