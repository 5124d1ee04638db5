"""A language model of two layers with random weights, written as GGUF in a second.

Its tokens are bytes, so that it reads every text and writes any. The first number of all embeddings is the
same, which makes the first column of the output what each token is worth whatever stands before it: without
that, no quotation mark would ever close a string, and no answer would end. It knows the control tokens of
all chat templates, and says none of them but its own.
"""

from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGUFWriter, TokenType

from tests.llm.chat_tokens import ALL_TOKENS

WIDTH, HEADS, LAYERS, INNER = 64, 4, 2, 128
CONTEXT = 16_384
SHAPE = {
    "context_length": CONTEXT,
    "embedding_length": WIDTH,
    "block_count": LAYERS,
    "feed_forward_length": INNER,
    "attention.head_count": HEADS,
    "attention.head_count_kv": HEADS,
    "rope.dimension_count": WIDTH // HEADS,
}
BEGIN, END, CALL, CALLED = "<|begin|>", "<|end|>", "<tool_call>", "</tool_call>"
LIKED = {END: 3.0, '"': 3.0, "}": 2.0, "]": 1.0, ",": 1.0}
"""Standard deviations of a token's logit that it is ahead of the others."""
UNSAID = -9.0
BYTES = 257
"""Tokens of bytes, and one pair; all later ones are special."""

TEMPLATE = """\
{%- if tools -%}
<|begin|>system
Call a tool as <tool_call>{"name": NAME, "arguments": OBJECT}</tool_call>. There are <tools>
{%- for tool in tools %}{{ tool | tojson }}{% endfor -%}
</tools><|end|>
{%- endif -%}
{%- for message in messages -%}
<|begin|>{{ message.role }}
{{ message.content or "" }}
{%- for call in message.tool_calls or [] -%}
<tool_call>{"name": "{{ call.function.name }}", "arguments":
{#- #} {{ call.function.arguments | tojson }}}</tool_call>
{%- endfor -%}
<|end|>
{%- endfor -%}
{%- if add_generation_prompt -%}
<|begin|>assistant{{ "\\t" if tools else "\\n" }}
{%- endif -%}
"""


def byte_letters() -> list[str]:
    """How GPT-2's vocabulary writes each byte: the printable ones as they are, the others from 256 on."""
    printable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]


def write_model(path: Path, seed: int = 0) -> None:
    """Write the model; the same seed writes the same bytes."""
    random = np.random.default_rng(seed)
    letters = byte_letters()
    merged = letters[ord(" ")] + "t"  # a vocabulary of pairs must have one
    tokens = [*letters, merged, BEGIN, END, CALL, CALLED]
    others = [token for token in ALL_TOKENS if token not in tokens]
    kinds = [TokenType.NORMAL] * BYTES + [TokenType.CONTROL] * 2 + [TokenType.USER_DEFINED] * 2

    def weights(*shape: int) -> Any:
        return (random.standard_normal(shape) / shape[-1] ** 0.5).astype(np.float32)

    writer = GGUFWriter(path, "llama")
    writer.add_name("tiny")
    for key, number in SHAPE.items():
        writer.add_uint32(f"llama.{key}", number)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([*tokens, *others])
    writer.add_token_types(kinds + [TokenType.CONTROL] * len(others))
    writer.add_token_merges([f"{merged[0]} {merged[1]}"])
    writer.add_bos_token_id(tokens.index(BEGIN))
    writer.add_eos_token_id(tokens.index(END))
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)

    embedding, output = weights(len(tokens), WIDTH) * WIDTH**0.5, weights(len(tokens), WIDTH)
    embedding[:, 0] = constant = 4.0
    output[:, 0] = 0
    for token, worth in LIKED.items():
        output[tokens.index(token), 0] = worth / constant
    # Where tools are offered, a reply begins with a call: the template ends with a tabulator then.
    output[tokens.index(CALL)] += embedding[tokens.index(letters[ord("\t")])] / 8
    unsaid = np.zeros((len(others), WIDTH), np.float32)
    unsaid[:, 0] = constant
    writer.add_tensor("token_embd.weight", np.concatenate([embedding, unsaid]))
    writer.add_tensor("output.weight", np.concatenate([output, unsaid * UNSAID / constant**2]))
    writer.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    for layer in range(LAYERS):
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            writer.add_tensor(f"blk.{layer}.{name}.weight", weights(WIDTH, WIDTH))
        for name in ("ffn_gate", "ffn_up"):
            writer.add_tensor(f"blk.{layer}.{name}.weight", weights(INNER, WIDTH))
        writer.add_tensor(f"blk.{layer}.ffn_down.weight", weights(WIDTH, INNER))
        for name in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{layer}.{name}.weight", np.ones(WIDTH, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
