"""The embedded model answers every role that it knows, in its form, and refuses the others."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.checks import CLEAN_PRECISION, RULES, find_errors
from adjudge.core.ask import About, Answer, Message, Reply, Sampling, Tool, Usage
from adjudge.core.record import Annotation
from adjudge.core.segment import (
    Segment,
    Subject,
)
from adjudge.errors import ModelError
from adjudge.judges import JUDGES
from adjudge.llm.embedded_rules import ROLES, RulesModel
from adjudge.llm.model import Model, Request
from tests.judges.asking import load_judge

T = TypeVar("T")
DEFAULT = Sampling()

SOURCE = "He paid $45,000 for 300 books, and then the others came."
TRANSLATION = "Er zahlte 54.000 € für 300 Bücher , und dann kamen die anderen."
CLEAN = "Er zahlte 45.000 $ für 300 Bücher, und dann kamen die anderen."


def subject(translation: str = TRANSLATION, source: str = SOURCE, lp: str = "en-de") -> Subject:
    segment = Segment(segment="1", lp=lp, source=source, translations={"A": translation})
    return Subject(segment=segment, systems=("A",))


async def ask(wants: str, about: Subject | None = None, **facts: object) -> Reply:
    """Ask with log-probabilities."""
    return await RulesModel().reply(request(wants, about, Sampling(logprobs=True), **facts))


def request(wants: str, about: Subject | None, sampling: Sampling, **facts: object) -> Request:
    chosen = About(judge="test", stage="test", subject=about or subject(), wants=wants, facts=facts)
    return Request(messages=(Message("user", ("Judge.",)),), about=chosen, schema=None, sampling=sampling)


async def errors_of(about: Subject | None = None, **facts: object) -> list[dict[str, str]]:
    found: dict[str, list[dict[str, str]]] = json.loads(
        (await ask("errors", about, form="json", **facts)).text
    )
    assert set(found) == {"errors"}
    return found["errors"]


async def test_it_says_what_it_is_and_costs_nothing() -> None:
    model: Model = RulesModel()
    reply = await ask("errors", form="json")
    assert model.name == reply.model == "builtin/rules"
    assert (reply.finish, reply.usage, reply.reasoning) == ("stop", Usage(), "")


async def test_errors_in_json_are_the_findings() -> None:
    findings = find_errors(SOURCE, TRANSLATION, "en-de")
    errors = await errors_of(severities=("critical", "major", "minor"), categories=True)
    assert [(e["category"], e["severity"], e["side"]) for e in errors] == [
        (f.span.category, f.span.severity, f.span.side) for f in findings
    ]
    assert [e["span"] for e in errors] == ["54.000", "€", " ,"]


async def test_without_categories_there_is_no_such_key() -> None:
    errors = await errors_of(severities=("major", "minor"), categories=False)
    assert {tuple(e) for e in errors} == {("span", "severity", "side")}


async def test_errors_stand_under_every_heading() -> None:
    reply = await ask("errors", form="headings", severities=("critical", "major", "minor"), categories=True)
    assert reply.text.split("\n") == [
        "Critical:",
        "no-error",
        "Major:",
        'accuracy/mistranslation - "54.000"',
        'accuracy/mistranslation - "€"',
        "Minor:",
        'fluency/punctuation - ","',
    ]


async def test_a_clean_translation_has_no_errors_in_any_form() -> None:
    assert await errors_of(subject(CLEAN), severities=("major", "minor")) == []
    reply = await ask("errors", subject(CLEAN), form="headings", severities=("major", "minor"))
    assert reply.text == "Major:\nno-error\nMinor:\nno-error"
    assert (await ask("rating", subject(CLEAN), form="number", low=0, high=100)).text == "100"
    assert json.loads((await ask("counts", subject(CLEAN), form="json")).text) == {"major": 0, "minor": 0}


@pytest.mark.parametrize(
    ("categories", "expected"),
    [
        (("accuracy/mistranslation",), ["accuracy/mistranslation", "accuracy/mistranslation"]),
        (("fluency/punctuation", "style/awkward"), ["fluency/punctuation"]),
        (("accuracy", "fluency"), ["accuracy", "accuracy", "fluency"]),
        (("fluency/punctuation", "other"), ["other", "other", "fluency/punctuation"]),
        (("terminology/inconsistent use",), []),
        (["accuracy/mistranslation"], ["accuracy/mistranslation", "accuracy/mistranslation"]),
    ],
)
async def test_only_what_is_asked_about_is_answered(categories: Sequence[str], expected: list[str]) -> None:
    assert [e["category"] for e in await errors_of(categories=categories)] == expected


@pytest.mark.parametrize(
    ("severities", "expected"),
    [
        (("critical", "major", "minor"), "critical"),
        (("major", "minor"), "major"),
        (("minor",), "minor"),
        (("major", "minor", "neutral"), "major"),
        (("neutral",), None),
    ],
)
async def test_the_worst_severity_that_may_be_given_is_given(
    severities: tuple[str, ...], expected: str | None
) -> None:
    errors = await errors_of(subject(""), severities=severities)
    assert [e["severity"] for e in errors] == ([] if expected is None else [expected])


@pytest.mark.parametrize(
    ("translation", "low", "high", "expected"),
    [
        (CLEAN, 0, 100, 100),
        (TRANSLATION, 0, 100, 60),  # two major errors and one of punctuation: 10.1 points, of 25
        (TRANSLATION, 0, 4, 2),
        (TRANSLATION, 1, 5, 3),
        ("", 0, 100, 0),
        ("", 0, 4, 0),
        (SOURCE, 0, 100, 0),
    ],
)
async def test_a_rating_falls_with_the_points_down_to_the_lowest(
    translation: str, low: int, high: int, expected: int
) -> None:
    reply = await ask("rating", subject(translation), form="json", low=low, high=high)
    assert json.loads(reply.text) == {"rating": expected}
    bare = await ask("rating", subject(translation), form="number", low=low, high=high)
    assert bare.text == str(expected)


async def test_a_rating_without_a_scale_in_numbers_is_refused() -> None:
    with pytest.raises(ModelError, match="needs a whole number for high of test, got 'ten'"):
        await ask("rating", low=0, high="ten")


async def test_counts_agree_with_the_errors() -> None:
    assert json.loads((await ask("counts", form="json")).text) == {"major": 2, "minor": 1}
    assert (await ask("counts", form="headings")).text == "Major: 2\nMinor: 1"
    three = await ask("counts", form="headings", severities=("critical", "major", "minor"))
    assert three.text == "Critical: 0\nMajor: 2\nMinor: 1"


async def test_errors_and_counts_close_with_a_score() -> None:
    reply = await ask("errors+counts", form="json", severities=("major", "minor"))
    answer = json.loads(reply.text)
    assert answer["errors"] == await errors_of(severities=("major", "minor"))
    assert (answer["counts"], answer["score"]) == ({"major": 2, "minor": 1}, -11)
    clean = json.loads((await ask("errors+counts", subject(CLEAN), form="json")).text)
    assert clean == {"errors": [], "counts": {"major": 0, "minor": 0}, "score": 0}
    headings = await ask("errors+counts", form="headings", severities=("major", "minor"))
    assert headings.text.endswith("\nCounts: 2, 1\n<score>-11</score>")


@pytest.mark.parametrize("wants", ["counts", "errors", "errors+counts", "rating"])
async def test_log_probabilities_follow_the_precision_of_the_rules(wants: str) -> None:
    reply = await ask(wants, form="json", severities=("major", "minor"))
    assert "".join(token.token for token in reply.logprobs) == reply.text
    expected = math.prod(f.precision for f in find_errors(SOURCE, TRANSLATION, "en-de"))
    assert math.exp(sum(token.logprob for token in reply.logprobs)) == pytest.approx(expected)
    clean = await ask(wants, subject(CLEAN), form="json")
    assert math.exp(sum(token.logprob for token in clean.logprobs)) == pytest.approx(CLEAN_PRECISION)
    assert all(token.logprob <= 0 for token in reply.logprobs + clean.logprobs)
    assert (await RulesModel().reply(request(wants, None, Sampling(), form="json"))).logprobs == ()


async def test_every_error_is_a_token_of_its_own() -> None:
    reply = await ask("errors", form="json", severities=("major", "minor"))
    errors = [t for t in reply.logprobs if '"span"' in t.token]
    rules = [RULES[f.rule] for f in find_errors(SOURCE, TRANSLATION, "en-de")]
    assert [t.logprob for t in errors] == pytest.approx([math.log(rule.precision) for rule in rules])


async def test_an_unknown_role_says_what_to_do() -> None:
    expected = "role is not known to builtin/rules: test wants 'poem', it can give errors, rating"
    with pytest.raises(ModelError, match=expected):
        await ask("poem")


async def test_several_translations_at_once_are_refused() -> None:
    segment = Segment(segment="1", lp="en-de", source="a", translations={"A": "b", "B": "c"})
    with pytest.raises(ModelError, match="one translation at a time, got A, B"):
        await ask("errors", Subject(segment=segment, systems=("A", "B")))


async def test_the_sample_and_the_temperature_change_nothing() -> None:
    first = request("errors", None, Sampling(), form="json")
    warm = request("errors", None, Sampling(temperature=1.0), form="json")
    replies = [await RulesModel().reply(asked) for asked in (first, warm, replace(warm, sample=7))]
    assert replies[0] == replies[1] == replies[2]


async def test_a_quotation_grows_until_it_stands_where_the_error_is() -> None:
    translation = "Er hat 15 Häuser, sagt er, und 5 davon sind 12 Jahre alt."
    source = "He has 15 houses, he says, and 6 of them are 12 years old."
    errors = await errors_of(subject(translation, source), categories=("accuracy/mistranslation",))
    assert [e["span"] for e in errors] == ["und 5"]
    unspaced = subject("他有15间，其中5间很旧。", "He has 15, and 6 of them are old.", "en-zh")
    (error,) = await errors_of(unspaced, categories=("accuracy/mistranslation",))
    assert error["span"] == "他有15间，其中5"
    doubled = subject("Er  ging  heim.", "He went home.")
    assert [e["span"] for e in await errors_of(doubled)] == ["Er  ", "ging  "]


async def judge_it(name: str, profile: str, about: Subject, settings: Mapping[str, str]) -> Annotation:
    async def answer(
        messages: Sequence[Message],
        *,
        about: About,
        read: Callable[[Reply], T],
        attempts: int = 2,
        schema: Mapping[str, object] | None = None,
        sampling: Sampling = DEFAULT,
        tools: Sequence[Tool] = (),
    ) -> Answer[T]:
        asked = Request(messages=tuple(messages), about=about, schema=schema, sampling=sampling)
        reply = await RulesModel().reply(asked)
        return Answer(value=read(reply), reply=reply)

    judge = load_judge(name, profile=profile, settings=settings)
    return await judge.annotate(about, answer)


SINGLE = [name for name in JUDGES if name in {"gemba-mqm", "gemba-da", "gemba-sqm", "gemba-esa", "ea-prompt"}]


@pytest.mark.parametrize("profile", ["recommended", "paper", "code"])
@pytest.mark.parametrize("name", [*SINGLE, "single-agent"])
async def test_judges_read_what_it_answers(name: str, profile: str) -> None:
    steps = ({"steps": "1"}, {}) if name == "ea-prompt" else ({},)
    for settings in steps:
        annotation = await judge_it(name, profile, subject(), settings)
        assert annotation.rating is None or annotation.rating == 60
        assert not annotation.spans or [s.text.strip() for s in annotation.spans] == ["54.000", "€", ","]
        assert annotation.flags == ()


TEXTS = st.text(alphabet="abß \"'„“.,%1234中文かक्षไทยعבר\n\u2028\0\ud800<>{}()", max_size=40)


@given(source=TEXTS, translation=TEXTS, lp=st.sampled_from(["en-de", "zh-en", "en-zh", "en-ar"]))
async def test_any_text_gets_an_answer_that_its_judge_can_read(
    source: str, translation: str, lp: str
) -> None:
    for profile in ("recommended", "paper"):
        annotation = await judge_it("gemba-mqm", profile, subject(translation, source, lp), {})
        wanted = [f for f in find_errors(source, translation, lp) if f.span.category != "other"]
        assert len(annotation.spans) == len(wanted)


@pytest.mark.realdata
async def test_quotations_are_found_where_the_rules_found_them(adjudge_data: Path) -> None:
    folder = adjudge_data / "wmt23"
    source, translation = (
        (folder / name).read_text(encoding="utf-8").split("\n")[:200]
        for name in ("sources/en-de.txt", "system-outputs/en-de/ZengHuiMT.txt")
    )
    placed = total = 0
    for pair in zip(source, translation, strict=True):
        annotation = await judge_it("gemba-mqm", "recommended", subject(pair[1], pair[0]), {})
        places = {(s.side, s.end) for s in annotation.spans}
        for finding in find_errors(*pair, "en-de"):
            total += 1
            placed += (finding.span.side, finding.span.end) in places
    assert total > 100
    assert placed / total > 0.9


def test_the_documentation_has_every_answer() -> None:
    page = (Path(__file__).parents[2] / "docs" / "rules.md").read_text(encoding="utf-8")
    table = page.partition("| the call wants |")[2].partition("\n\n")[0].splitlines()[2:]
    named = [row.split("|")[1].partition("(")[0].strip() for row in table]
    assert sorted(named) == sorted(name.replace("+", " and ") for name in ROLES)
