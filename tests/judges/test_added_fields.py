"""What models add to an error: a type, a correction, a suggestion, a subtype of their own."""

import asyncio
import json
import random
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import pytest

from adjudge.core.ask import About, Message, Reply, WordsBesideError
from adjudge.core.record import Annotation
from adjudge.core.segment import Segment, Subject
from adjudge.errors import AnswerError
from adjudge.judges._answers import ErrorList, Marked
from adjudge.judges._reading import object_schema
from adjudge.llm.asking import CONFIRM
from adjudge.llm.model import Request
from tests.judges.asking import load_judge, subject
from tests.judges.replies import asker_of

TEXTS = {
    "en-de": ("The cat sleeps on it.", "Die Katze schläft auf dem neuem Sofa.", "neuem Sofa", "neuen Sofa"),
    "ja-zh": ("猫は新しいソファで眠る。", "猫睡在新的的沙发上。", "新的的沙发", "新沙发"),
    "en-ar": ("The cat sleeps on it.", "تنام القطة على الأريكة الجديد.", "الأريكة الجديد", "الأريكة الجديدة"),
    "de-hi": ("Die Katze schläft.", "बिल्ली सोता है।", "सोता है", "सोती है"),
    "cs-ru": ("Kočka spí na pohovce.", "Кошка спит на новый диван.", "новый диван", "новом диване"),
}
"""Source, translation, a span of it, and what it should be."""
MOST_CALLS = 1.05
"""Calls a translation that a model may cost which adds fair fields to every error."""


def marked(lp: str, *, is_held: bool = True, **more: Any) -> Marked:
    source, translation, span, _ = TEXTS[lp]
    error = {"span": span, "category": "fluency/grammar", "severity": "minor", "side": "translation"} | more
    errors = ErrorList(form="json", severities=("minor", "major"), categories=("fluency/grammar",))
    reply = Reply(text=json.dumps({"errors": [error]}, ensure_ascii=False), is_held=is_held)
    return errors.read(reply, subject(translation, source, lp=lp))


@pytest.mark.parametrize("lp", TEXTS)
@pytest.mark.parametrize("key", ["correction", "suggestion"])
def test_a_correction_that_changes_its_span_passes_of_a_model_with_the_schema(key: str, lp: str) -> None:
    assert marked(lp, is_held=True, **{key: TEXTS[lp][3]}).flags == ("normalised",)
    with pytest.raises(WordsBesideError):
        marked(lp, **{key: TEXTS[lp][3]}, is_held=False)


@pytest.mark.parametrize("lp", TEXTS)
@pytest.mark.parametrize("form", ["{}", " {} ", "„{}“", "'{}'", '"{}"', "「{}」", "{}\n"])
@pytest.mark.parametrize("is_held", [True, False])
def test_a_correction_that_equals_its_span_is_words_beside_it(lp: str, form: str, *, is_held: bool) -> None:
    for said in (TEXTS[lp][2], TEXTS[lp][2].upper(), TEXTS[lp][2].replace(" ", "  ")):
        with pytest.raises(WordsBesideError):
            marked(lp, correction=form.format(said), is_held=is_held)


@pytest.mark.parametrize("lp", TEXTS)
def test_a_correction_as_long_as_a_sentence_is_words_beside_it(lp: str) -> None:
    with pytest.raises(WordsBesideError):
        marked(lp, correction=" ".join([TEXTS[lp][1]] * 3))


@pytest.mark.parametrize("said", ["fluency/grammar", "Grammar", "fluency", "minor", None, ""])
def test_a_type_may_repeat_the_category_or_the_severity(said: str | None) -> None:
    for lp in TEXTS:
        assert marked(lp, type=said, is_held=False).flags == ("normalised",)


@pytest.mark.parametrize(
    "said", ["accuracy", "spelling", "major", "not an error", "f", "無", "kein Fehler", "none", "fluency?"]
)
def test_a_type_that_says_anything_else_is_words_beside_the_error(said: str) -> None:
    for lp in TEXTS:
        with pytest.raises(WordsBesideError):
            marked(lp, type=said)


def test_a_type_without_words_is_refused() -> None:
    for value in (3, ["grammar"], {"is": "none"}, False):
        with pytest.raises(AnswerError, match="schema"):
            marked("en-de", type=value)


@pytest.mark.parametrize(
    ("label", "category"),
    [
        ("fluency/word order", "fluency/grammar"),
        ("Accuracy - False friend", "accuracy/mistranslation"),
        ("style (unidiomatic)", "style/awkward"),
    ],
)
def test_a_usual_subtype_is_read_without_a_question(label: str, category: str) -> None:
    (span,) = marked("cs-ru", category=label).spans
    assert (span.category, span.label) == (category, label)


@pytest.mark.parametrize("label", ["fluency/no problem", "style: нет ошибки", "Accuracy (问题不存在)"])
def test_a_subtype_that_no_typology_has_is_words_beside_the_error(label: str) -> None:
    with pytest.raises(WordsBesideError):
        marked("ja-zh", category=label)


def test_a_blank_is_no_quotation() -> None:
    for lp in TEXTS:
        for category in ("accuracy/omission", "non-translation", "fluency/grammar"):
            for span in (" ", "\n", "\u3000", "\u00a0 "):
                with pytest.raises(AnswerError, match="schema"):
                    marked(lp, span=span, category=category)


class Correcting:
    """A model that marks words of every translation, and adds a type and a correction to each."""

    name = "test/correcting"

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.asked = 0

    async def reply(self, request: Request) -> Reply:
        """Mark one to three words, corrected by words of another translation or of the reference."""
        self.asked += 1
        assert request.messages[-1].parts[0] != CONFIRM, "a fair correction is never asked about"
        segment = request.about.subject.segment
        (system,) = request.about.subject.systems
        words = segment.translations[system].split()
        others = [*segment.translations.values(), *segment.references.values()]
        errors = []
        for _ in range(self.draw.randrange(1, 3)):
            start, count = self.draw.randrange(len(words)), self.draw.randrange(1, 4)
            better = self.draw.choice(others).split()
            span, correction = (" ".join(one[start : start + count]) for one in (words, better))
            if span.casefold() == correction.casefold():
                correction = ""  # the words are to be left out
            kind = self.draw.choice(["accuracy/mistranslation", "fluency/grammar", "style/awkward"])
            added = {"type": kind.split("/")[1], "correction": correction}
            errors.append(
                {"span": span, "category": kind, "severity": "minor", "side": "translation"} | added
            )
        return Reply(text=json.dumps({"errors": errors}, ensure_ascii=False))


def test_a_model_that_always_adds_a_fair_type_and_correction_costs_hardly_a_call_more() -> None:
    rows = (files("adjudge.examples") / "test_set.jsonl").read_text("utf-8").splitlines()
    model = Correcting(random.Random(5))
    asker = asker_of(model, is_held=True)
    judge: Any = load_judge("gemba-mqm")
    judged = 0
    for row in map(json.loads, rows):
        kept = ("segment", "document", "lp", "source", "references", "translations")
        segment = Segment(**{key: row[key] for key in kept})
        for system, text in segment.translations.items():
            if text.strip():
                one = Subject(segment=segment, systems=(system,))
                assert isinstance(asyncio.run(judge.annotate(one, asker.for_unit(one))), Annotation)
                judged += 1
    assert judged > 100
    assert model.asked <= MOST_CALLS * judged


@pytest.mark.parametrize("is_given", [True, False])
@pytest.mark.parametrize("schema", [None, object_schema(rating={"type": "integer"})])
async def test_a_reader_is_told_of_the_schema(schema: Mapping[str, object] | None, *, is_given: bool) -> None:
    class Saying:
        name = "test/saying"

        async def reply(self, request: Request) -> Reply:
            return Reply(text='{"rating": 87}')

    one = subject()
    ask = asker_of(Saying(), is_held=is_given).for_unit(one)
    about = About(judge="x", stage="rating", subject=one, wants="rating")
    answer = await ask([Message("user", ("Rate it.",))], about=about, read=lambda r: r.is_held, schema=schema)
    assert answer.value == (is_given and schema is not None)
