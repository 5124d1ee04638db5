"""Kinds of replies in five forms, of our own writing: how models answer well, and how they give no answer.

Each row is a name, a reply and a weight: how often real models write so, 12 for the most frequent and 0.2
for the
rarest. `replies.py` says which texts they are about and which judge reads them.
"""

import json
from collections.abc import Mapping

from tests.judges.replies import Kind

ERROR = {
    "span": "dem neuen Sofa",
    "category": "fluency/grammar",
    "severity": "minor",
    "side": "translation",
}


def listed(*changes: Mapping[str, object], **more: object) -> str:
    return json.dumps(
        {"errors": [{**ERROR, **change} for change in changes or ({},)], **more}, ensure_ascii=False
    )


ONE = listed()
NONE = '{"errors": []}'
RATED = '{"rating": 64}'
BEST = '{"rating": 100}'
FOR_A = '{"analysis": "A has the right case.", "result": "A"}'
FOR_B = '{"analysis": "B has no doubled article.", "result": "B"}'
EQUAL = '{"analysis": "Both have one slip.", "result": "E"}'
HEADED = '{C}Major:\nno-error\nMinor:\nfluency/grammar - "die die"'
CLEAN_HEADED = "{C}Major:\nno-error\nMinor:\nno-error"

WRAPPERS: dict[str, tuple[str, float]] = {
    "plain": ("%s", 12),
    "blank lines": ("\n\n%s\n\n", 4),
    "fence": ("```json\n%s\n```", 12),
    "fence without a name": ("```\n%s\n```", 4),
    "tildes": ("~~~\n%s\n~~~", 0.2),
    "one backtick": ("`%s`", 0.2),
    "thinking": ("<think>It says die die.</think>\n\n%s", 12),
    "thinking about another object": ('<think>Maybe {"errors": []} or {"rating": 3}.</think>%s', 4),
    "answer tag": ("<answer>%s</answer>", 4),
    "final tag": ("<final>\n%s\n</final>", 1),
    "tag and fence": ("<answer>\n```json\n%s\n```\n</answer>", 1),
    "boxed": ("\\boxed{%s}", 1),
    "boxed formula": ("$\\boxed{%s}$", 0.2),
    "im_end": ("%s<|im_end|>", 1),
    "eot_id": ("%s<|eot_id|>", 1),
    "two marks": ("%s<|im_end|>\n<|endoftext|>", 0.2),
    "end of sentence": ("%s</s>", 1),
    "assistant turn": ("<|im_start|>assistant\n%s<|im_end|>", 0.2),
    "final channel": ("<|channel|>final<|message|>%s<|return|>", 1),
    "byte-order mark": ("\ufeff%s", 0.2),
    "zero width": ("\u200b%s\u200b", 0.2),
}
LEAD_INS: dict[str, tuple[str, float]] = {
    "here is the JSON": ("Here is the JSON:\n%s", 4),
    "here is my evaluation": ("Here's my evaluation:\n\n```json\n%s\n```", 4),
    "sure": ("Sure! Here is the JSON object:\n%s", 1),
    "answer": ("Answer: %s", 4),
    "bold answer": ("**Answer:** %s", 1),
    "final answer": ("Final answer:\n%s", 1),
    "output": ("Output: %s", 1),
    "German": ("Hier ist das Ergebnis:\n%s", 1),
    "French": ("Voici la réponse : %s", 1),
    "Spanish": ("Respuesta: %s", 1),
    "Czech": ("Odpověď: %s", 0.2),
    "Russian": ("Ответ: %s", 0.2),
    "Chinese": ("以下是结果：\n%s", 1),
    "Japanese": ("回答：%s", 0.2),
}
POISONED: dict[str, str] = {
    "condition": "If there is nothing to say, answer %s.",
    "would": "I would give %s if I had to choose.",
    "format": "The format that you want is %s",
    "example": "For example: %s",
    "such as": "You asked for something such as %s",
    "not": "I would not give %s",
    "bare not": "not %s",
    "taken back": "%s\n\nOn second thought, disregard that.",
    "taken back at once": "%s is wrong here, the opposite is true.",
    "no, wait": "%s No, wait.",
    "draft tag": "<draft>%s</draft>",
    "plan tag": "<plan>%s</plan> I will judge it now.",
    "comment": "<!-- %s -->",
    "line comment": "// %s",
    "quoted line": "> %s\n\nThis stands in the text.",
    "paragraph tag": "<p>%s</p>",
    "tool call": "<tool_call>%s</tool_call>",
    "draft": "First draft: %s\nI will now look again.",
    "second object": '%s {"errors": [], "rating": 3, "result": "E"}',
    "half an object": '%s\n{"rating": ',
    "declines behind": "%s\n\nI decline to judge this text.",
    "declines before": "I'm sorry, I can't judge this. %s",
    "declines in German": "%s\nIch lehne es ab, das zu bewerten.",
    "declines in Norwegian": "%s\nJeg avslår å vurdere teksten.",
    "declines in Hungarian": "%s\nMegtagadom a választ.",
    "texts missing": "%s\nThe texts are missing.",
    "asks for the text": "Please send me the text. I will answer %s",
    "question": "Is %s what you want?",
    "next turn": "%s\n\nUser: the next one\nAssistant:",
    "system": "System: %s",
    "stream": "data: %s",
    "headers": "HTTP/1.1 200 OK\r\n\r\n%s",
    "log": "Error 503 %s",
    "tokens": "%s tokens exceeded",
    "open thinking": "<think>%s",
    "unknown thinking": "<|begin_of_thought|>%s<|end_of_thought|>",
    "analysis channel": "<|channel|>analysis<|message|>%s<|end|>",
    "cut fence": "```json\n%s\n``` and ```",
    "where N": "where N is your answer: %s",
    "copied": "The prompt tells me to write %s",
    "random": "Here is a random guess. %s",
}
"""Words around an answer by which it is none, whatever it says."""
CLEAN_POISON: dict[str, str] = {
    "praise": "The translation is good. %s",
    "report before": "The translation has three major errors. %s",
    "report behind": '%s\nThe word "calmly" is left out.',
    "note": "%s\n\nNote: the rest is fine.",
    "score": "%s\nScore: 20 of 100.",
    "cut sentence": "The first error is that\n%s",
}
"""Words that may stand around errors, and around no clean verdict."""


def _wrapped(form: str, name: str, answer: str, *, is_json: bool = True) -> list[Kind]:
    ways = {**WRAPPERS, **(LEAD_INS if is_json else {})}
    return [
        Kind(form, f"{name}, {way}", text.replace("%s", answer), "accept", w)
        for way, (text, w) in ways.items()
    ]


def _poisoned(form: str, name: str, answer: str, **more: str) -> list[Kind]:
    ways = {**POISONED, **more}
    return [
        Kind(form, f"{name}, {way}", text.replace("%s", answer), "refuse", 0.2) for way, text in ways.items()
    ]


def _rows(form: str, want: str, weight: float, rows: dict[str, str]) -> list[Kind]:
    return [Kind(form, name, text, want, weight) for name, text in rows.items()]


KINDS: list[Kind] = [
    *_wrapped("errors", "one", ONE),
    *_wrapped("errors", "none", NONE),
    *_wrapped("rating", "a rating", RATED),
    *_wrapped("rating", "the best", BEST),
    *_wrapped("verdict", "A", FOR_A),
    *_wrapped("verdict", "equal", EQUAL),
    *_wrapped("number", "a number", "64", is_json=False),
    *_wrapped("headings", "one", HEADED, is_json=False),
    *_poisoned("errors", "one", ONE),
    *_poisoned("errors", "none", NONE, **CLEAN_POISON),
    *_poisoned(
        "rating",
        "a rating",
        RATED,
        **{"out of": "%s / 100", "of five": "%s (of 5)", "e": "%se2", "digit": "1%s"},
    ),
    *_poisoned("rating", "the best", BEST, **CLEAN_POISON),
    *_poisoned("verdict", "A", FOR_A, other="%s no, B", B="B is better. %s"),
    *_poisoned("verdict", "equal", EQUAL, **CLEAN_POISON),
    *_poisoned("number", "a number", "64"),
    *_poisoned("headings", "one", HEADED),
    *_poisoned("headings", "none", CLEAN_HEADED, **CLEAN_POISON),
    *_rows(
        *("errors", "accept", 4),
        {
            "explained": listed({"explanation": "The case is accusative."}),
            "reasons before": '{"reasoning": "I compare word by word.", ' + ONE[1:],
            "summary": listed(summary="One slip of grammar."),
            "two": listed({}, {"span": "die die"}),
            "capital severity": listed({"severity": "Minor"}),
            "capitals": listed({"category": "Fluency/Grammar"}),
            "side missing": listed({"side": "target"}).replace(', "side": "target"', ""),
            "side target": listed({"side": "target"}),
            "side source text": listed(
                {"span": "calmly", "category": "accuracy/omission", "side": "source text"}
            ),
            "unknown subtype": listed({"category": "accuracy/wrong sense"}),
            "core alone": listed({"category": "fluency"}),
            "note behind": ONE + "\n\nThe rest of the sentence is accurate.",
            "note before": "I compared both texts. The doubled word is the worst.\n\n" + ONE,
            "comment on a clean one": '{"errors": [], "comment": "The text is accurate and free of errors."}',
            "confidence of a clean one": '{"errors": [], "confidence": 0.8}',
            "count of a clean one": '{"errors": [], "error_count": 0}',
        },
    ),
    *_rows(
        *("errors", "accept", 1),
        {
            "dash": listed({"category": "fluency - grammar"}),
            "colon": listed({"category": "Fluency: Grammar"}),
            "underscores": listed({"category": "locale_convention/time"}),
            "brackets": listed({"category": "fluency (grammar)"}),
            "error behind": listed({"category": "grammar error", "severity": "Minor error"}),
            "ellipsis": listed({"span": "dem neuen …"}),
            "ellipsis within": listed({"span": "Die Katze ... Sofa"}),
            "straight quotes": listed({"span": '"Nachrichten"'}),
            "full stop": listed({"span": "las."}),
            "line break in a span": listed({"span": "dem neuen\nSofa"}),
            "raw line break": ONE.replace("dem neuen Sofa", "dem\nneuen Sofa"),
            "null span of an omission": listed({"span": None, "category": "accuracy/omission"}),
            "trailing comma": ONE[:-1] + ",}",
            "list of one": f"[{ONE}]",
            "spelled as a string": json.dumps(ONE),
            "the same twice": f"{ONE}\n{ONE}",
            "clean, list of one": f"[{NONE}]",
            "clean, as a string": json.dumps(NONE),
            "clean, twice": f"{NONE}\n{NONE}",
            "capital key": ONE.replace('"errors"', '"Errors"'),
            "repeated once": listed({}, {}),
            "hedge": ONE + "\n\nNote that I cannot verify the spelling of the name.",
        },
    ),
    *_rows(
        *("errors", "refuse", 0.2),
        {
            "placeholder": listed({"span": "...", "category": "...", "severity": "..."}),
            "error field": '{"errors": [], "error": "rate limit"}',
            "refusal field": '{"errors": [], "refusal": "I cannot do that."}',
            "refusal in a comment": '{"errors": [], "comment": "I am unable to judge this."}',
            "errors in a comment": '{"errors": [], "comment": "It leaves out one word, which is wrong."}',
            "other list": '{"errors": [], "major_errors": [{"span": "die die"}]}',
            "count that disagrees": '{"errors": [], "error_count": 2}',
            "poor": '{"errors": [], "quality": "poor"}',
            "has errors": '{"errors": [], "has_errors": true}',
            "text for a list": '{"errors": "none"}',
            "number for a list": '{"errors": 0}',
            "nested": '{"answer": {"errors": []}}',
            "nested as text": '{"answer": "{\\"errors\\": []}"}',
            "list without object": "[]",
            "one without list": json.dumps(ERROR),
            "hidden key": '{"err\u200bors": []}',
            "two values": '{"errors": [], "errors": [1]}',
            "cut": ONE[:-2],
            "unknown severity": listed({"severity": "serious"}),
            "unknown category": listed({"category": "hallucination"}),
            "two categories": listed({"category": "accuracy/fluency"}),
            "refusal for a span": listed({"span": "I cannot judge this text"}),
            "marker for a span": listed({"span": "<<source 4f2a"}),
            "loop": listed(*({} for _ in range(40))),
            "endless list": listed(*({"span": f"w{i}"} for i in range(600))),
            "broken and clean": '{"errors": [],}',
            "half a character": '{"errors": [], "note": "\\ud800"}',
        },
    ),
    *_rows(
        *("rating", "accept", 4),
        {
            "reason": '{"rating": 64, "reason": "The grammar is off in two places."}',
            "reason first": '{"explanation": "Fluent.", "rating": 64}',
            "point zero": '{"rating": 64.0}',
            "sentence behind": RATED + "\n\nThe meaning is kept and the grammar is not.",
            "confidence": '{"rating": 64, "confidence": 0.7}',
        },
    ),
    *_rows(
        *("rating", "accept", 1),
        {
            "capital key": '{"Rating": 64}',
            "single quotes": "{'rating': 64}",
            "trailing comma": '{"rating": 64,}',
            "list of one": '[{"rating": 64}]',
            "as text": '{"rating": "64"}',
            "of a hundred": '{"rating": "64/100"}',
            "percent": '{"rating": "64%"}',
            "scale named": '{"rating": 64, "scale": "0-100"}',
            "bold": "**" + RATED + "**",
            "twice": RATED + "\n" + RATED,
        },
    ),
    *_rows(
        *("rating", "refuse", 0.2),
        {
            **{
                f"value {v}": f'{{"rating": {v}}}'
                for v in ("-1", "-0", "101", "64.5", "6e1", "1e999", "NaN", "null", "true")
            },
            **{f"value {v}": f'{{"rating": {v}}}' for v in ("[64]", '{"value": 64}', "6 4", "064", "64-70")},
            "other number": '{"rating": 9, "max": 10}',
            "other scale": '{"rating": 8, "scale": "0-10"}',
            "out of ten": '{"rating": 8, "reason": "8 out of 10"}',
            "contradicted": '{"rating": 64, "reason": "My rating: 40"}',
            "nothing to rate": '{"rating": 0, "reason": "No translation was provided."}',
            "zero and prose": '{"rating": 0}\n\nThe text is in another language.',
            "stars": '{"rating": 5} stars',
            "stars below": '{"rating": 5}\nThese are stars.',
            "number below": RATED + "\n\nIt was 70 before.",
            "two ratings": '{"rating": 64, "rating": 65}',
            "escaped key": '{"r\\u0061ting": 64}',
            "no braces": '"rating": 64',
        },
    ),
    *_rows(
        *("number", "accept", 1),
        {
            "bold": "**64**",
            "labelled": "Rating: 64",
            "percent": "64%",
            "quoted": '"64"',
            "zero": "0",
            "hundred": "100",
            "sentence behind": "64\n\nThe translation is understandable.",
        },
    ),
    *_rows(
        *("number", "refuse", 0.2),
        {
            **{
                v: v
                for v in (
                    "-64",
                    "+64",
                    "64.5",
                    "064",
                    "6 4",
                    "~64",
                    "64?",
                    "64!",
                    "64±3",
                    "101",
                    "sixty",
                    "NaN",
                    "٦٤",
                    "⁶⁴",
                )
            },
            **{
                v: v
                for v in (
                    "64 points",
                    "6\n4",
                    "64\n65",
                    "Translation 2",
                    "3 errors",
                    "Q: 64",
                    "64-70",
                    "Score: 7",
                    "0.64",
                )
            },
            "best and prose": "100\n\nThe translation is perfect.",
            "I cannot": "64\n\nI cannot judge this.",
        },
    ),
    *_rows(
        *("verdict", "accept", 4),
        {
            "translation A": FOR_A.replace('"A"', '"Translation A"'),
            "analysis of parts": '{"analysis": {"meaning": "kept", "grammar": "A is right"}, "result": "A"}',
            "prose before": "A is better. " + FOR_A,
            "raw line break": FOR_A.replace("A has", "A\nhas"),
            "both praised": '{"analysis": "B is better in style, but A keeps the meaning.", "result": "A"}',
            "confidence": FOR_A[:-1] + ', "confidence": 0.9}',
        },
    ),
    *_rows(
        *("verdict", "accept", 1),
        {
            "small letter": FOR_B.replace('"B"', '"b"'),
            "full stop": FOR_B.replace('"B"', '"B."'),
            "list of sentences": '{"analysis": ["A errs.", "B does not."], "result": "B"}',
            "no analysis": '{"analysis": "", "result": "B"}',
            "an analysis says what it says": '{"analysis": "B is clearly better.", "result": "A"}',
            "trailing comma": FOR_B[:-1] + ",}",
        },
    ),
    *_rows(
        *("verdict", "refuse", 0.2),
        {
            **{
                f"result {v}": f'{{"analysis": "ok", "result": {v}}}'
                for v in ('"AB"', '""', "null", '"Ａ"', '"C"', "1", '["A"]')
            },
            "no reasons": '{"analysis": "", "result": "E"}',
            "placeholder": '{"analysis": "...", "result": "E"}',
            "other winner": '{"analysis": "ok", "result": "A", "winner": "B"}',
            "other key": '{"analysis": "ok", "winner": "A"}',
            "two results": '{"analysis": "ok", "result": "A", "result": "B"}',
            "cut": FOR_A[:-1],
        },
    ),
    *_rows(
        *("headings", "accept", 4),
        {
            "bold": '{CB2}**Major**:\nno-error\n**Minor**:\nfluency/grammar - "die die"',
            "Markdown": '{CM}### Major:\nno-error\n### Minor:\nfluency/grammar - "die die"',
            "bullets": '{C}Major:\n- no-error\nMinor:\n- fluency/grammar - "die die"',
            "no error": "{Cb}Major:\nno error\nMinor:\nno error",
            "no quotation marks": "{C}Major:\nno-error\nMinor:\nfluency/grammar - die die",
            "gloss": '{C}Major:\nno-error\nMinor:\nfluency/grammar - "die die" (doubled article)',
            "none": "{C}Major:\nnone\nMinor:\nNone",
            "on one line": '{C}Major: no-error\nMinor:\nfluency/grammar - "die die"',
            "unknown subtype": '{C}Major:\nno-error\nMinor:\nfluency/doubled word - "die die"',
            "lead-in": "Here are the errors:\n\n" + HEADED,
            "note": HEADED + "\n\nThe rest of it is fluent.",
        },
    ),
    *_rows(
        *("headings", "accept", 1),
        {
            "arrow": '{C}Major:\nno-error\nMinor:\nfluency/grammar - "die die" -> "die"',
            "guillemets": "{C}Major:\nno-error\nMinor:\nfluency/grammar - «die die»",
            "low quotation marks": "{C}Major:\nno-error\nMinor:\nfluency/grammar - „die die“",
            "two on a line": '{C}Major:\nno-error\nMinor:\nfluency/grammar - "die die", "neuen"',
            "numbered": '{C}Major:\nno-error\nMinor:\n1. fluency/grammar - "die die"\n2. other - "las"',
            "other order": '{C}Minor:\nfluency/grammar - "die die"\nMajor:\nno-error',
            "colon": '{C}Major:\nno-error\nMinor:\nfluency/grammar: "die die"',
        },
    ),
    *_rows(
        *("headings", "refuse", 0.2),
        {
            "unsure": "{C}Major:\nno-error?\nMinor:\nno-error",
            "denied": "{C}Major:\nnot no-error\nMinor:\nno-error",
            "empty": "{C}Major:\n\nMinor:\n",
            "one missing": "{C}Major:\nno-error",
            "one twice": "{C}Major:\nno-error\nMinor:\nno-error\nMinor:\nno-error",
            "both": '{C}Major:\nno-error\nfluency/grammar - "die die"\nMinor:\nno-error',
            "nothing quoted": "{C}Major:\nother\nMinor:\nno-error",
            "cannot tell": "{C}Major:\nI cannot tell\nMinor:\nno-error",
            "sorry": "{C}Major:\nno-error\nMinor:\nI'm sorry, I can't",
            "taken back": '{C}Major:\nno-error\nMinor:\nfluency/grammar - "die die" - not an error',
            "invented": "{C}Major:\nno-error\nMinor:\nfluency/grammar - das das das",
            "unknown": '{C}Major:\nno-error\nMinor:\nhallucination - "die die"',
            "glossed": '{C}Major:\nno-error\nMinor:\nfluency/grammar - "die die" (not an error)',
            "glossed with itself": '{C}Major:\nno-error\nMinor:\nfluency/grammar - "die die" -> "die die"',
        },
    ),
]
