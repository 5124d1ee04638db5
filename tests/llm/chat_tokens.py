"""Control tokens of chat templates, as their vocabularies spell them, and texts that hold them."""

from typing import Final

CHAT_TOKENS: Final = {
    "ChatML": (
        "<|im_start|>",
        "<|im_end|>",
        "<|endoftext|>",
        "<tool_call>",
        "</tool_call>",
        "<think>",
        "</think>",
    ),
    "Llama 2": ("<s>", "</s>", "<unk>", "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>"),
    "Llama 3": ("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|eom_id|>"),
    "Mistral": (
        "[AVAILABLE_TOOLS]",
        "[/AVAILABLE_TOOLS]",
        "[TOOL_CALLS]",
        "[TOOL_RESULTS]",
        "[SYSTEM_PROMPT]",
        "[IMG]",
    ),
    "Gemma": (
        "<bos>",
        "<eos>",
        "<pad>",
        "<start_of_turn>",
        "<end_of_turn>",
        "<unused7>",
        "<|turn>",
        "<turn|>",
    ),
    "Phi": ("<|system|>", "<|user|>", "<|assistant|>", "<|end|>"),
    "DeepSeek": ("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>"),
    "harmony": ("<|start|>", "<|message|>", "<|channel|>", "<|constrain|>", "<|return|>", "<|call|>"),
    "Command R": ("<BOS_TOKEN>", "<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>", "<|CHATBOT_TOKEN|>"),
    "others": ("[gMASK]", "<sop>", "<seed:bos>", "<minimax:tool_call>", "[|endofturn|]", "◁think▷", "<role>"),
}
"""By template."""
ALL_TOKENS: Final = tuple(token for tokens in CHAT_TOKENS.values() for token in tokens)
WORDS: Final = (
    *(
        "Halt.",
        "Der Hafen ist zu.",
        "Größe: 12 °C",
        "Přístav je zavřený.",
        "Порт закрыт.",
        "港は閉まっている。",
    ),
    *(
        "أُغلق الميناء.",
        "הנמל סגור",
        "बंदरगाह बंद है",
        "항구가 닫혔다",
        "ท่าเรือปิด",
        "Ο λιμένας 🚢",
        'Say "no"\n\tor \\n.',
    ),
)
"""Texts of many scripts, to be put between tokens."""
HONEST: Final = (
    *(
        "<b>Halt.</b>",
        '<a href="x">hier</a>',
        "<br/>",
        "<p>港</p>",
        "<pre>x</pre>",
        "<g id='1'>ok</g>",
        "a < b > c",
    ),
    *(
        "<<<<<<< HEAD",
        "cout << x",
        "i < |x|",
        "[sic]",
        "[1]",
        "[Musik]",
        "[…]",
        "<3",
        "{name}",
        "<URL>",
        "[/b]",
    ),
)
"""Texts without such a token, which are written as JSON has them."""
