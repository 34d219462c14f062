// Markdown as elements. The lexer gives tokens, we make nodes of them; no HTML is ever parsed.
//
// Raw HTML is printed as text. Links go to http, https and mailto only, in a new tab, without a referrer. Images are not
// loaded: they become links, so that reading a memory tells nobody that it was read.

import type { ComponentChildren, VNode } from "preact";
import { h } from "preact";
import { Lexer, type Token, type Tokens } from "marked";
import { seen } from "./format";

const DEEPEST = 24;
const SAFE = /^(https?:|mailto:)/i;

/** The address of a link, if it leads where links may lead. */
export function safeAddress(raw: string): string | null {
  const cleaned = raw.replace(/[\u0000-\u0020\u007f-\u009f\u200b-\u200f\u2028-\u202e]/g, "");
  if (!SAFE.test(cleaned)) return null;
  try {
    const parsed = new URL(cleaned);
    return parsed.protocol === "http:" || parsed.protocol === "https:" || parsed.protocol === "mailto:" ? parsed.href : null;
  } catch {
    return null;
  }
}

function Outside({ address, children }: { address: string; children: ComponentChildren }) {
  const target = safeAddress(address);
  if (!target) {
    return (
      <span class="md-dead" title="This link leads nowhere that is safe to go">
        {children} <code>({seen(address)})</code>
      </span>
    );
  }
  return (
    <a href={target} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

function inline(tokens: Token[] | undefined, depth: number): ComponentChildren {
  if (!tokens || depth > DEEPEST) return null;
  return tokens.map((token) => span(token, depth + 1));
}

function span(token: Token, depth: number): ComponentChildren {
  switch (token.type) {
    case "strong":
      return <strong>{inline(token.tokens, depth)}</strong>;
    case "em":
      return <em>{inline(token.tokens, depth)}</em>;
    case "del":
      return <del>{inline(token.tokens, depth)}</del>;
    case "codespan":
      return <code>{seen((token as Tokens.Codespan).text)}</code>;
    case "br":
      return <br />;
    case "link":
      return <Outside address={(token as Tokens.Link).href}>{inline(token.tokens, depth)}</Outside>;
    case "image": {
      const image = token as Tokens.Image;
      return <Outside address={image.href}>image: {seen(image.text || image.href)}</Outside>;
    }
    case "text":
    case "escape": {
      const text = token as Tokens.Text;
      return text.tokens ? inline(text.tokens, depth) : seen(text.text);
    }
    default:
      return seen(token.raw);
  }
}

function block(token: Token, depth: number): ComponentChildren {
  if (depth > DEEPEST) return <p>{seen(token.raw)}</p>;
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      return h(`h${Math.min(6, (token as Tokens.Heading).depth + 2)}`, null, inline(token.tokens, depth));
    case "paragraph":
      return <p>{inline(token.tokens, depth)}</p>;
    case "text": {
      const text = token as Tokens.Text;
      return text.tokens ? inline(text.tokens, depth) : seen(text.text);
    }
    case "code":
      return (
        <pre tabIndex={0}>
          <code>{seen((token as Tokens.Code).text)}</code>
        </pre>
      );
    case "blockquote":
      return <blockquote>{blocks(token.tokens, depth)}</blockquote>;
    case "hr":
      return <hr />;
    case "list": {
      const list = token as Tokens.List;
      const items = list.items.map((item) => (
        <li class={item.task ? "md-task" : undefined}>
          {item.task && <span>{item.checked ? "☑ " : "☐ "}</span>}
          {blocks(item.tokens.filter((inner) => inner.type !== "checkbox"), depth)}
        </li>
      ));
      return list.ordered ? <ol start={list.start === "" ? 1 : list.start}>{items}</ol> : <ul>{items}</ul>;
    }
    case "table":
      return table(token as Tokens.Table, depth);
    default:
      return <p class="md-raw">{seen(token.raw)}</p>;
  }
}

function table(token: Tokens.Table, depth: number): VNode {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Table in the text">
      <table>
        <thead>
          <tr>
            {token.header.map((cell) => (
              <th scope="col">{inline(cell.tokens, depth)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row) => (
            <tr>
              {row.map((cell) => (
                <td>{inline(cell.tokens, depth)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function blocks(tokens: Token[] | undefined, depth: number): ComponentChildren {
  return tokens?.map((token) => block(token, depth + 1));
}

/** A text as Markdown; what cannot be read as such is shown as it is. */
export function Markdown({ text }: { text: string }) {
  let tokens: Token[];
  try {
    tokens = new Lexer({ gfm: true }).lex(text);
  } catch {
    return <pre class="source">{seen(text)}</pre>;
  }
  return <div class="md">{blocks(tokens, 0)}</div>;
}
