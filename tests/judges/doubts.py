"""Replies with a doubt in them, made anew from a seed, and acceptable cousins of each.

A doubt (a sentence of a template in one of many languages, a word, a paragraph of real text) stands in one of
many positions of a reply in one of five forms: `doubts` gives kinds that are to be refused. `cousins` gives
replies without a doubt: in a wrapper, behind a lead-in, with a fair comment, mended, spelled otherwise.
"""

import json
import random
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from tests.judges.kinds import LEAD_INS, WRAPPERS
from tests.judges.replies import Kind

Draw = random.Random


_OBJECTS = {
    "en": ("the translation", "the source", "the second half", "both texts", "translation B", "any of it"),
    "de": ("die Übersetzung", "den Ausgangstext", "die zweite Hälfte", "beide Texte", "Übersetzung B"),
    "fr": ("la traduction", "le texte source", "la seconde moitié", "les deux textes"),
    "es": ("la traducción", "el texto de origen", "la segunda mitad", "los dos textos"),
    "it": ("la traduzione", "il testo di partenza", "la seconda metà"),
    "cs": ("překlad", "zdrojový text", "druhou polovinu"),
    "pl": ("tłumaczenia", "tekstu źródłowego", "drugiej połowy"),
    "ru": ("перевод", "исходный текст", "вторую половину"),
    "uk": ("переклад", "вихідний текст", "другу половину"),
    "tr": ("çeviriyi", "kaynak metni", "ikinci yarıyı"),
    "fi": ("käännöstä", "lähtötekstiä", "loppuosaa"),
    "zh": ("译文", "原文", "后半部分", "两个文本"),
    "ja": ("訳文", "原文", "後半"),
    "ko": ("번역문을", "원문을", "뒷부분을"),
    "ar": ("الترجمة", "النص الأصلي", "النصف الثاني"),
    "he": ("את התרגום", "את טקסט המקור", "את החלק השני"),
    "hi": ("अनुवाद", "मूल पाठ", "दूसरा भाग"),
    "vi": ("bản dịch", "văn bản gốc", "nửa sau"),
    "is": ("þýðinguna", "frumtextann", "seinni hlutann"),
}
_CLAIMS = {
    "en": (
        *("I have not looked at {}.", "Nobody compared {}.", "{} did not reach me."),
        *("Time ran out before {}.", "I only glanced at {}."),
        *("These values were filled in before {} was read.", "A guess without {}."),
        *("I was told to say so whatever {} says.", "Left as a default, {} is for later.", "{}? No idea."),
        *("Take this for a placeholder until {} is there.", "My eyes skipped {}.", "Draft made without {}."),
    ),
    "de": (
        *("Ich habe {} nicht angesehen.", "Ohne {} geraten.", "Für {} blieb keine Zeit."),
        *("Platzhalter ohne {}.", "Das gilt nur, falls jemand {} noch prüft."),
        "Ob {} stimmt, weiß ich nicht.",
    ),
    "fr": ("Je n'ai pas ouvert {}.", "Valeur au hasard, sans {}.", "{} manquait.", "À refaire après {}."),
    "es": ("No he mirado {}.", "Valor provisional sin {}.", "Me faltaba {}.", "Lo puse sin leer {}."),
    "it": ("Non ho guardato {}.", "Valore a caso, senza {}.", "Mancava {}."),
    "cs": ("Na {} jsem se nedíval.", "Hodnota jen odhadem, {} nebylo čas číst.", "Ještě neplatí, {} chybí."),
    "pl": ("Nie czytałem {}.", "Wartość zgadnięta, bez {}.", "Do poprawy po lekturze {}."),
    "ru": ("Я не смотрел {}.", "Наугад, не читая {}.", "До {} дело не дошло."),
    "uk": ("Я не дивився {}.", "Навмання, не читаючи {}."),
    "tr": ("{} okumadım.", "{} görmeden yazdım.", "{} için zaman kalmadı."),
    "fi": ("En lukenut {}.", "Arvaus ilman {}."),
    "zh": ("我没有看{}。", "未读{}，随便填的。", "{}缺失。", "还没核对{}。"),
    "ja": ("{}は読んでいません。", "{}を見ずに仮に入れた値です。", "{}は未確認です。"),
    "ko": ("{} 읽지 않았습니다.", "{} 보지 않고 적은 값입니다."),
    "ar": ("لم أقرأ {}.", "قيمة عشوائية دون {}.", "لم يصلني {}."),
    "he": ("לא קראתי {}.", "ניחוש, בלי לראות {}."),
    "hi": ("मैंने {} नहीं पढ़ा।", "{} देखे बिना लिखा गया मान।"),
    "vi": ("Tôi chưa đọc {}.", "Giá trị tạm, chưa xem {}."),
    "is": ("Ég las ekki {}.", "Ágiskun án þess að sjá {}."),
}
_WORDS = (
    *("Skipped.", "incomplete", "N/A", "TODO", "tbd", "unsure", "none of it", "draft", "see below", "???"),
    *(
        "…",
        "未评估",
        "不明",
        "unklar",
        "übersprungen",
        "à vérifier",
        "sin revisar",
        "не проверено",
        "未確認",
        "보류",
    ),
    *("nicht bewertet", "přeskočeno", "غير مؤكد", "לא נבדק", "0 of 2 read", "partial", "cached", "mock"),
)
_FAIR = {
    "en": ("The rest is accurate.", "The word is doubled.", "Otherwise it reads well.", "The case is wrong."),
    "de": ("Der Rest ist genau.", "Das Wort steht doppelt.", "Sonst liest es sich gut."),
    "fr": ("Le reste est exact.", "Le mot est répété."),
    "es": ("Lo demás es correcto.", "La palabra se repite."),
    "ru": ("Остальное верно.", "Слово повторено."),
    "zh": ("其余部分准确。", "词语重复。"),
    "ja": ("その他は正確です。", "語が重複しています。"),
    "ar": ("الباقي دقيق.", "الكلمة مكررة."),
    "cs": ("Zbytek je přesný.",),
    "hi": ("बाकी सही है।",),
}


@cache
def paragraphs() -> tuple[str, ...]:
    """Texts of the examples that come with the package."""
    rows = (files("adjudge.examples") / "test_set.jsonl").read_text("utf-8").splitlines()
    texts = [t for row in map(json.loads, rows) for t in (row["source"], *row["translations"].values())]
    return tuple(sorted({text.replace("{", "(").replace("}", ")") for text in texts if text.strip()}))


def doubt(draw: Draw) -> str:
    """A sentence, a word or a paragraph that says that an answer is none, or has nothing to do with it."""
    kind = draw.random()
    if kind < 0.2:
        return draw.choice(_WORDS)
    if kind < 0.3:
        return draw.choice(paragraphs())
    language = draw.choice([*_CLAIMS])
    said = draw.choice(_CLAIMS[language]).format(draw.choice(_OBJECTS[language]))
    said = said[0].upper() + said[1:]
    return f"{said} {fair(draw)}" if draw.random() < 0.15 else said


def fair(draw: Draw) -> str:
    """A comment that leaves an answer as it is."""
    return draw.choice(_FAIR[draw.choice([*_FAIR])])


ERROR = {"span": "die die", "category": "fluency/grammar", "severity": "minor", "side": "translation"}
SOFA = {"span": "dem neuen Sofa", "category": "style/awkward", "severity": "major", "side": "translation"}
Value = dict[str, Any]


def value(form: str, draw: Draw, *, clean: bool) -> Value:
    """An answer of a JSON form."""
    if form == "rating":
        return {"rating": 100 if clean else draw.choice([12, 47, 64, 88])}
    if form == "verdict":
        reasons = draw.choice(["Both keep the sense.", "A keeps the case.", "B's article is doubled."])
        return {"analysis": reasons, "result": "E" if clean else "A"}
    return {"errors": [] if clean else draw.choice([[ERROR], [SOFA], [ERROR, SOFA]])}


def dumped(said: object, draw: Draw) -> str:
    """JSON on one line or several."""
    return json.dumps(said, ensure_ascii=draw.random() < 0.1, indent=draw.choice([None, None, 2]))


_NAMES = (
    *("note", "comment", "reason", "explanation", "Remarks", "status", "warning", "state", "info", "hint"),
    *("x", "anmerkung", "remarque", "nota", "poznámka", "备注", "メモ", "ملاحظة", "примечание", "caveat"),
    *("disclaimer", "summary", "thought", "message", "validity", "progress", "_comment", "//", "confidence"),
    *("meta", "source"),
)
_FLAGS: tuple[Mapping[str, object], ...] = (
    *({"is_error": False}, {"valid": False}, {"complete": False}, {"confidence": 0}, {"skipped": True}),
    *({"read": 0}, {"judged": None}, {"status": 500}, {"truncated": True}, {"is_draft": True}, {"ok": False}),
    *({"seen_source": False}, {"previous_answer": {"errors": []}}, {"old": {"rating": 3}}, {"errors_2": [1]}),
    *({"refused": True}, {"progress": 0.1}, {"retry": 3}, {"final": False}, {"checks": []}),
)


def _field(said: Value, words: object, draw: Draw) -> Value:
    items = [*said.items()]
    items.insert(draw.randrange(len(items) + 1), (draw.choice(_NAMES), words))
    return dict(items)


def _in_error(said: Value, extra: Mapping[str, object]) -> Value:
    return {"errors": [{**said["errors"][0], **extra}, *said["errors"][1:]]}


def _last_leaf(said: Value, words: str) -> Value:
    key = [*said][-1]
    if key == "errors":
        return _in_error(said, {"severity": f"{said['errors'][0]['severity']} ({words})"})
    return {**said, key: f"{said[key]} ({words})"}


_NO_SUBTYPE = (
    *("no problem", "none found", "not wrong", "unclear", "perhaps not", "kein Fehler", "nicht sicher"),
    *("aucune faute", "sin error", "nessun errore", "bez chyby", "нет ошибки", "hata yok", "ei virhettä"),
    *("无问题", "問題なし", "오류 없음", "لا خطأ", "אין טעות", "कोई त्रुटि नहीं", "không lỗi", "engin villa"),
)
_CORES = ("accuracy", "fluency", "style", "terminology", "locale convention", "Accuracy", "Fluency")
_COUNTED = (
    *("Errors found:", "Errors:", "The errors:", "Here are the errors:", "List:", "Annotations:", "Fehler:"),
    *("Hier sind die Fehler:", "Voici les erreurs :", "Ecco gli errori:", "错误列表：", "以下是错误列表："),
)
"""What introduces a list, and not a rating."""


def _respelled(text: str, draw: Draw) -> str:
    """The same words in other capitals, white space or quotation marks."""
    ways = (text, text.upper(), text.title(), f" {text} ", text.replace(" ", "  "), f"„{text}“", f'"{text}"')
    return draw.choice(ways)


def _unchanged(said: Value, _: str, draw: Draw) -> str:
    key = draw.choice(["correction", "suggestion", "Correction"])
    return dumped(_in_error(said, {key: _respelled(said["errors"][0]["span"], draw)}), draw)


def _graded_twice(said: Value, _: str, draw: Draw) -> str:
    first, grades = said["errors"][0], draw.sample(["critical", "major", "minor"], 2)
    twice = [{**first, "severity": grade} for grade in grades]
    twice[1]["span"] = _respelled(first["span"], draw).strip()
    listed = [*twice, *said["errors"][1:]]
    draw.shuffle(listed)
    return dumped({"errors": listed}, draw)


def _without_span(said: Value, _: str, draw: Draw) -> str:
    blank = {"span": draw.choice([" ", "  ", "\n", "\t", "\u00a0", "\u3000"])}
    kind = draw.choice(["accuracy/omission", "non-translation", "fluency/punctuation", "style/awkward"])
    return dumped(_in_error(said, blank | {"category": kind}), draw)


Position = Callable[[Value, str, Draw], str]
_ANY: dict[str, Position] = {
    "before, on a line": lambda v, d, r: f"{d}\n{dumped(v, r)}",
    "before": lambda v, d, r: f"{d} {dumped(v, r)}",
    "before, in bold": lambda v, d, r: f"**{d}**\n\n```json\n{dumped(v, r)}\n```",
    "behind, on a line": lambda v, d, r: f"{dumped(v, r)}\n\n{d}",
    "behind": lambda v, d, r: f"{dumped(v, r)} {d}",
    "behind a fence": lambda v, d, r: f"```json\n{dumped(v, r)}\n```\n{d}",
    "within a fence": lambda v, d, r: f"```json\n{dumped(v, r)}\n{d}\n```",
    "in a tag": lambda v, d, r: f"{dumped(v, r)}<{r.choice(['note', 'p', 'b', 'draft'])}>{d}</b>",
    "around": lambda v, d, r: f"{d}\n{dumped(v, r)}\n{fair(r)}",
    "in a field": lambda v, d, r: dumped(_field(v, d, r), r),
    "in a list": lambda v, d, r: dumped(_field(v, [d], r), r),
    "in an object": lambda v, d, r: dumped(_field(v, {"de": d}, r), r),
    "as a key": lambda v, d, r: dumped({**v, d: r.choice([True, "", None, 1, d])}, r),
    "as a flag": lambda v, d, r: dumped({**v, **r.choice(_FLAGS)}, r),
    "in a comment": lambda v, d, r: dumped(v, r)[:-1] + f"// {d}\n}}",
    "in a block comment": lambda v, d, r: f"{{/* {d} */" + dumped(v, r)[1:],
    "in a script's comment": lambda v, d, r: f"# {d}\n{dumped(v, r)}",
    "in markup": lambda v, d, r: f"<!-- {d} -->{dumped(v, r)}",
    "quoted": lambda v, d, r: f"> {dumped(v, r)}\n\n{d}",
    "in a heading": lambda v, d, r: f"## {d}\n\n{dumped(v, r)}",
    "behind thinking": lambda v, d, r: f"<think>{fair(r)}</think>{d}\n{dumped(v, r)}",
    "thinking that stays open": lambda v, d, r: f"<think>{d} {dumped(v, r)}",
    "thinking behind": lambda v, d, r: f"{dumped(v, r)}<think>{d}</think>",
    "behind a lead-in": lambda v, d, r: f"Answer: {d} {dumped(v, r)}",
    "before a second value": lambda v, d, r: (
        f'{dumped(v, r)}\n{d}\n{{"errors": [], "rating": 5, "result": "B"}}'
    ),
    "wrapped": lambda v, d, r: dumped({"answer": v, "note": d}, r),
    "a key again": lambda v, d, r: dumped(v, r)[:-1] + f', "{[*v][-1]}": {json.dumps(d)}}}',
    "before a mark of thinking that nothing opened": lambda v, d, r: f"{d}<|end|>{dumped(v, r)}",
    "before a mark and a turn": lambda v, d, r: (
        f"{d}<|end|><|start|>assistant<|channel|>final<|message|>{dumped(v, r)}"
    ),
}
_CLEAN: dict[str, Position] = {
    "with little confidence": lambda v, d, r: dumped(
        {**v, "confidence": r.choice([round(r.uniform(0.01, 0.49), 2), r.randrange(2, 50)])}, r
    )
}
_RATING: dict[str, Position] = {
    "as a share": lambda v, d, r: dumped(
        {"rating": r.choice([1.0, 0.0, "1.0", "1.", "0.00", 0.85, "0.5"])}, r
    )
}
_NOT_CLEAN: dict[str, Position] = {"in a leaf": lambda v, d, r: dumped(_last_leaf(v, d), r)}
_ERRORS: dict[str, Position] = {
    "in an error": lambda v, d, r: dumped(_in_error(v, {r.choice(_NAMES[:20]): d}), r),
    "as a flag of an error": lambda v, d, r: dumped(_in_error(v, r.choice(_FLAGS)), r),
    "as a span": lambda v, d, r: dumped({"errors": [{**ERROR, "span": d}, *v["errors"]]}, r),
    "as a category": lambda v, d, r: dumped(_in_error(v, {"category": f"fluency/{d}"}), r),
    "as a side": lambda v, d, r: dumped(_in_error(v, {"side": d}), r),
    "as a type": lambda v, d, r: dumped(_in_error(v, {"type": d}), r),
    "as an empty type": lambda v, d, r: dumped(_in_error(v, {"type": r.choice(_NO_SUBTYPE)}), r),
    "as a correction": lambda v, d, r: dumped(
        _in_error(v, {r.choice(["correction", "suggestion"]): r.choice([d, r.choice(_NO_SUBTYPE)])}), r
    ),
    "as a correction that changes nothing": _unchanged,
    "as a subtype": lambda v, d, r: dumped(
        _in_error(
            v, {"category": f"{r.choice(_CORES)}{r.choice(['/', ' - ', ': '])}{r.choice(_NO_SUBTYPE)}"}
        ),
        r,
    ),
    "as two severities": _graded_twice,
    "in the place of a span": _without_span,
    "among the errors": lambda v, d, r: dumped({"errors": [*v["errors"], d]}, r),
}
_PLAIN: dict[str, Callable[[str, str, Draw], str]] = {
    "before": lambda v, d, r: f"{d} {v}",
    "before, on a line": lambda v, d, r: f"{d}\n{v}",
    "behind": lambda v, d, r: f"{v} {d}",
    "behind, on a line": lambda v, d, r: f"{v}\n\n{d}",
    "in brackets": lambda v, d, r: f"{v} ({d})" if "\n" not in v else f"({d})\n{v}",
    "before a mark of thinking that nothing opened": lambda v, d, r: f"{d}<|end|>{v}",
    "in the middle": lambda v, d, r: v.replace("\n", f"\n{d}\n", 1) if "\n" in v else f"{v[0]} {d} {v[1:]}",
}
_NUMBER: dict[str, Callable[[str, str, Draw], str]] = {
    "as a count": lambda v, d, r: f"{r.choice(_COUNTED)}{r.choice([' ', chr(10)])}{v}",
    "as a share": lambda v, d, r: r.choice(["1.0", "1.", "0.0", "0.85", "Score: 1.0", "Rating: 0."]),
}
_HEADINGS: dict[str, Callable[[str, str, Draw], str]] = {
    "as a gloss": lambda v, d, r: v.replace('"\n', f'" ({d})\n') if '"\n' in v else f"{v} ({d})",
    "as a correction": lambda v, d, r: v.replace("no-error", 'other - "las" -> "las"', 1),
    "as a subtype": lambda v, d, r: v.replace("no-error", f'fluency/{r.choice(_NO_SUBTYPE)} - "las"', 1),
}


def doubts(count: int, seed: int) -> Iterator[Kind]:
    """Kinds that are to be refused."""
    draw = Draw(seed)
    for number in range(count):
        form = draw.choice(
            ["errors", "errors", "rating", "rating", "verdict", "verdict", "number", "headings"]
        )
        said, clean = doubt(draw), draw.random() < 0.5
        if form in {"number", "headings"}:
            plain = plain_value(form, draw, clean=clean)
            ways = _PLAIN | (_NUMBER if form == "number" else _HEADINGS)
            position, wrap = draw.choice([*ways.items()])
            reply = wrap(plain, said, draw)
        else:
            more = _CLEAN if clean else _NOT_CLEAN | (_ERRORS if form == "errors" else {})
            more = more | (_RATING if form == "rating" else {})
            is_in_list = form == "errors" and not clean and draw.random() < 0.5
            position, place = draw.choice([*(_ERRORS if is_in_list else _ANY | more).items()])
            reply = place(value(form, draw, clean=clean), said, draw)
        well = "clean" if clean else "not clean"
        # Of a model that was given the schema a short correction passes, whatever it says.
        is_held = position != "as a correction" and draw.random() < 0.5
        name = f"{number}: {well}, {position}: {said}"
        yield Kind(form, name, reply, "refuse", 1, is_held=is_held)


def plain_value(form: str, draw: Draw, *, clean: bool) -> str:
    """An answer of a form without JSON."""
    if form == "number":
        return "100" if clean else draw.choice(["12", "47", "64", "88"])
    line = (
        "no-error"
        if clean
        else draw.choice(['fluency/grammar - "die die"', 'style/awkward - "dem neuen Sofa"'])
    )
    return f"Critical:\nno-error\nMajor:\nno-error\nMinor:\n{line}"


_MENDED: dict[str, tuple[Callable[[str], str], float]] = {
    "trailing comma": (lambda t: t[:-1] + ",}", 1),
    "single quotation marks": (lambda t: t.replace('"', "'"), 1),
    "list of one": (lambda t: f"[{t}]", 0.5),
    "capital keys": (lambda t: t.replace('"r', '"R').replace('"errors', '"Errors'), 1),
    "no quotation marks": (lambda t: t.replace('"rating"', "rating").replace('"result"', "result"), 0.5),
}
_COMMENTED: dict[str, tuple[Position, float]] = {
    "comment behind": (lambda v, d, r: f"{dumped(v, r)}\n\n{d}", 2),
    "comment before": (lambda v, d, r: f"{d}\n\n{dumped(v, r)}", 1),
    "comment in a field": (lambda v, d, r: dumped(_field_named(v, d, r), r), 2),
}


_HARMONY = "<|channel|>analysis<|message|>Two words.<|end|><|start|>assistant<|channel|>final<|message|>"
_CORRECTED = ("der", "die neue Couch", "das neue Sofa", "die", "dem weichen Sofa", "einem neuen Sofa")
_KNOWN = (
    *("fluency/word order", "Fluency/Agreement", "accuracy/number", "accuracy - overly literal", "fluency"),
)
_ADDED: dict[str, tuple[Position, float]] = {
    "type repeats the category": (
        lambda v, d, r: dumped(_added(v, lambda e: {"type": _part(e["category"], r)}), r),
        2,
    ),
    "type repeats the severity": (lambda v, d, r: dumped(_added(v, lambda e: {"type": e["severity"]}), r), 1),
    "another known subtype": (lambda v, d, r: dumped(_in_error(v, {"category": r.choice(_KNOWN)}), r), 2),
}
_CORRECTIONS: dict[str, tuple[Position, float]] = {
    "correction": (
        lambda v, d, r: dumped(
            _added(v, lambda e: {r.choice(["correction", "suggestion"]): r.choice(_CORRECTED)}), r
        ),
        2,
    )
}
_CONFIDENT: dict[str, tuple[Position, float]] = {
    "confidence": (lambda v, d, r: dumped({**v, "confidence": r.choice([0.5, 0.93, 1, 50, 88, 100])}, r), 2),
    "harmony": (lambda v, d, r: _HARMONY + dumped(v, r) + r.choice(["", "<|return|>"]), 1),
}
_PLAINLY: dict[str, dict[str, tuple[str, float]]] = {
    "number": {
        "overall": ("Overall score: %s", 1),
        "italics": ("*%s*", 1),
        "object": ('{"rating": %s}', 1),
        "object in a fence": ('```json\n{"rating": %s}\n```', 1),
        "harmony": (_HARMONY + "%s", 1),
    },
    "headings": {"harmony": (_HARMONY + "%s<|return|>", 1), "none": ("%s", 2)},
}


def _added(said: Value, more: Callable[[Value], Value]) -> Value:
    """Errors with more fields each."""
    return {"errors": [{**error, **more(error)} for error in said["errors"]]}


def _part(category: str, draw: Draw) -> str:
    """A category, its core type or its subtype alone, in some capitals."""
    said = draw.choice([category, *category.split("/")])
    return draw.choice([said, said.title()])


def _field_named(said: Value, words: str, draw: Draw) -> Value:
    return {**said, draw.choice(["note", "reason", "comment", "explanation", "summary"]): words}


def cousins(count: int, seed: int) -> Iterator[Kind]:
    """Kinds that are to be accepted, each with how often models write so."""
    draw = Draw(seed)
    for number in range(count):
        form = draw.choice(
            ["errors", "errors", "rating", "rating", "verdict", "verdict", "number", "headings"]
        )
        clean = draw.random() < 0.4
        if form in {"number", "headings"}:
            name, (text, weight) = draw.choice([*(WRAPPERS | _PLAINLY[form]).items()])
            plain = plain_value(form, draw, clean=clean)
            reply = text.replace("%s", plain.replace("no-error", "None") if name == "none" else plain)
            yield Kind(form, f"{number}: {name}", reply, "accept", weight)
            continue
        said, way = value(form, draw, clean=clean), draw.random()
        is_held = draw.random() < 0.5
        if way < 0.2:
            more = {} if clean or form != "errors" else _ADDED | (_CORRECTIONS if is_held else {})
            name, (place, weight) = draw.choice([*(_CONFIDENT | more).items()])
            reply = place(said, "", draw)
        elif way < 0.6:
            name, (text, weight) = draw.choice([*(WRAPPERS | LEAD_INS).items()])
            reply = text.replace("%s", dumped(said, draw))
        elif way < 0.8:
            name, (place, weight) = draw.choice([*_COMMENTED.items()])
            reply = place(said, fair(draw), draw)
        else:
            said = value(form, draw, clean=False)
            name, (mend, weight) = draw.choice([*_MENDED.items()])
            reply = mend(json.dumps(said).replace("B's", "The"))
        yield Kind(form, f"{number}: {name}", reply, "accept", weight, is_held=is_held)
