"""The embedded rules as a judge of pairs."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.checks import CLEAN_PRECISION, RULES, find_errors
from adjudge.core.ask import About, Answer, Message, Reply, Sampling, Tool, Usage
from adjudge.core.record import Annotation
from adjudge.core.segment import Segment, Subject, TestSet
from adjudge.errors import ModelError
from adjudge.judges import JUDGES
from adjudge.llm.embedded_rules import ROLES, RulesModel
from adjudge.llm.model import Model, Request
from adjudge.runs.engines import run
from tests.judges.asking import load_judge, pair

# The embedded model answers every role that it knows, in its form, and refuses the others.


T = TypeVar("T")
DEFAULT = Sampling()

SOURCE = "He paid $45,000 for 300 books, and then the others came."
TRANSLATION = "Er zahlte 54.000 € für 300 Bücher , und dann kamen die anderen."
CLEAN = "Er zahlte 45.000 $ für 300 Bücher, und dann kamen die anderen."


def subject(translation: str = TRANSLATION, source: str = SOURCE, lp: str = "en-de") -> Subject:
    segment = Segment(segment="1", lp=lp, source=source, translations={"A": translation})
    return Subject(segment=segment, systems=("A",))


async def ask(wants: str, about: Subject | None = None, **facts: Any) -> Reply:
    """Ask with log-probabilities."""
    return await RulesModel().reply(request(wants, about, **facts))


def said(reply: Reply) -> Any:
    return json.loads(reply.text)


def probability(reply: Reply) -> float:
    return math.exp(sum(token.logprob for token in reply.logprobs))


def request(
    wants: str,
    about: Subject | None = None,
    sampling: Sampling = Sampling(logprobs=True),  # noqa: B008 (frozen)
    **facts: object,
) -> Request:
    chosen = About(judge="test", stage="test", subject=about or subject(), wants=wants, facts=facts)
    return Request(messages=(Message("user", ("Judge.",)),), about=chosen, schema=None, sampling=sampling)


async def errors_of(about: Subject | None = None, **facts: object) -> list[dict[str, str]]:
    found: dict[str, list[dict[str, str]]] = said(await ask("errors", about, form="json", **facts))
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
    assert said(await ask("counts", subject(CLEAN), form="json")) == {"major": 0, "minor": 0}


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
    assert said(reply) == {"rating": expected}
    bare = await ask("rating", subject(translation), form="number", low=low, high=high)
    assert bare.text == str(expected)


async def test_a_rating_without_a_scale_in_numbers_is_refused() -> None:
    with pytest.raises(ModelError, match="needs a whole number for high of test, got 'ten'"):
        await ask("rating", low=0, high="ten")


async def test_counts_agree_with_the_errors() -> None:
    assert said(await ask("counts", form="json")) == {"major": 2, "minor": 1}
    assert (await ask("counts", form="headings")).text == "2, 1"
    three = await ask("counts", form="headings", severities=("critical", "major", "minor"))
    assert three.text == "0, 2, 1"


async def test_errors_and_counts_close_with_a_score() -> None:
    answer = said(await ask("errors+counts", form="json", severities=("major", "minor")))
    assert answer["errors"] == await errors_of(severities=("major", "minor"))
    assert (answer["counts"], answer["score"]) == ({"major": 2, "minor": 1}, -11)
    clean = said(await ask("errors+counts", subject(CLEAN), form="json"))
    assert clean == {"errors": [], "counts": {"major": 0, "minor": 0}, "score": 0}
    headings = await ask("errors+counts", form="headings", severities=("major", "minor"))
    assert headings.text.endswith("\nCounts: 2, 1\n<score>-11</score>")


@pytest.mark.parametrize("wants", ["counts", "errors", "errors+counts", "rating"])
async def test_log_probabilities_follow_the_precision_of_the_rules(wants: str) -> None:
    reply = await ask(wants, form="json", severities=("major", "minor"))
    assert "".join(token.token for token in reply.logprobs) == reply.text
    expected = math.prod(f.precision for f in find_errors(SOURCE, TRANSLATION, "en-de"))
    assert probability(reply) == pytest.approx(expected)
    clean = await ask(wants, subject(CLEAN), form="json")
    assert probability(clean) == pytest.approx(CLEAN_PRECISION)
    assert all(token.logprob <= 0 for token in reply.logprobs + clean.logprobs)
    assert (await RulesModel().reply(request(wants, None, Sampling(), form="json"))).logprobs == ()


async def test_every_error_is_a_token_of_its_own() -> None:
    reply = await ask("errors", form="json", severities=("major", "minor"))
    errors = [t for t in reply.logprobs if '"span"' in t.token]
    rules = [RULES[f.rule] for f in find_errors(SOURCE, TRANSLATION, "en-de")]
    assert [t.logprob for t in errors] == pytest.approx([math.log(rule.precision) for rule in rules])


async def test_an_unknown_role_says_what_to_do() -> None:
    expected = "that builtin/rules do not know: test wants 'poem', it can give errors, rating"
    with pytest.raises(ModelError, match=expected):
        await ask("poem")


async def test_several_translations_at_once_are_refused() -> None:
    with pytest.raises(ModelError, match="one translation at a time, got X, Y"):
        await ask("errors", pair())


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
        different = {(f.span.category, f.span.severity, f.span.side, f.span.text.strip()) for f in wanted}
        assert len(different) <= len(annotation.spans) <= len(wanted)


@pytest.mark.realdata
async def test_quotations_are_found_where_the_rules_found_them(adjudge_data: Path) -> None:
    folder = adjudge_data / "wmt23"
    source, translation = (
        (folder / name).read_text(encoding="utf-8").split("\n")[:200]
        for name in ("sources/en-de.txt", "system-outputs/en-de/ZengHuiMT.txt")
    )
    placed = total = 0
    for texts in zip(source, translation, strict=True):
        annotation = await judge_it("gemba-mqm", "recommended", subject(texts[1], texts[0]), {})
        places = {(s.side, s.end) for s in annotation.spans}
        for finding in find_errors(*texts, "en-de"):
            total += 1
            placed += (finding.span.side, finding.span.end) in places
    assert total > 100
    assert placed / total > 0.9


def test_the_documentation_has_every_answer() -> None:
    page = (Path(__file__).parents[2] / "docs" / "rules.md").read_text(encoding="utf-8")
    table = page.partition("| the call wants |")[2].partition("\n\n")[0].splitlines()[2:]
    named = [row.split("|")[1].partition("(")[0].strip() for row in table]
    assert sorted(named) == sorted(name.replace("+", " and ") for name in ROLES)


# What the rules call a finding among the categories of a judge.


@pytest.mark.parametrize("judge", ["himate", "single-agent"])
@pytest.mark.parametrize(
    ("translation", "category"),
    [
        ("The committee approved the new budget yesterday.", "accuracy/untranslated text"),
        ("I'm sorry, but I can't translate this text.", None),
    ],
)
def test_a_non_translation_is_never_clean(
    tmp_path: Path, judge: str, translation: str, category: str | None
) -> None:
    segment = Segment(
        segment="1",
        lp="en-de",
        source="The committee approved the new budget yesterday.",
        translations={"A": translation},
    )
    (record,) = run(judge, TestSet(name="one", segments=(segment,)), out=tmp_path / "run").records
    assert isinstance(record, Annotation)
    assert record.spans
    assert category is None or category in {span.category for span in record.spans}


# The embedded rules in HiMATE's later stages.


RULES_HIMATE_SOURCE = "He paid 300 dollars, and then the others came."
RULES_HIMATE_TRANSLATION = "Er zahlte 500 Dollar , und dann kamen die anderen."


async def answer(wants: str, translation: str = RULES_HIMATE_TRANSLATION, **facts: object) -> Reply:
    return await ask(wants, subject(translation, RULES_HIMATE_SOURCE), **facts)


SPACE = {"category": "fluency/punctuation", "span": "Dollar ,", "side": "translation"}


@pytest.mark.parametrize(
    ("translation", "facts", "corrected"),
    [
        (RULES_HIMATE_TRANSLATION, SPACE, "Er zahlte 500 und dann kamen die anderen."),
        (
            RULES_HIMATE_TRANSLATION,
            {"category": "accuracy/omission", "span": "300", "side": "source"},
            f"{RULES_HIMATE_TRANSLATION} 300",
        ),
        (
            "500",
            {"category": "accuracy/addition", "span": "500", "side": "translation"},
            RULES_HIMATE_SOURCE,  # a translation of nothing is none
        ),
    ],
)
async def test_a_correction_leaves_out_what_is_wrong_and_puts_back_what_is_missing(
    translation: str, facts: dict[str, str], corrected: str
) -> None:
    assert said(await answer("correction", translation, **facts)) == {"translation": corrected}


@pytest.mark.parametrize(
    ("corrected", "result"),
    [
        ("Er zahlte 500 Dollar, und dann kamen die anderen.", "corrected"),
        (RULES_HIMATE_TRANSLATION + " So.", "no difference"),
    ],
)
async def test_a_verification_looks_whether_its_rules_still_find_the_error(
    corrected: str, result: str
) -> None:
    found = await answer("verification", corrected=corrected, **SPACE)
    assert said(found) == {"result": result}
    if result == "corrected":
        assert probability(found) == pytest.approx(RULES["space-before-mark"].precision)


@pytest.mark.parametrize(
    ("corrected", "translation", "result"),
    [
        ("Er zahlte 500 Dollar, und dann kamen die anderen.", RULES_HIMATE_TRANSLATION, "second"),
        (RULES_HIMATE_TRANSLATION + " So.", RULES_HIMATE_TRANSLATION, "both"),
        ("Er zahlte 500 Dollar.", "Er zahlte 500 Dollar, und dann kamen die anderen.", "neither"),
    ],
)
async def test_a_blind_comparison_looks_which_version_has_more_findings(
    corrected: str, translation: str, result: str
) -> None:
    found = await answer("versions", translation, corrected=corrected, original="second", **SPACE)
    assert said(found) == {"result": result}


async def test_an_opinion_is_that_of_the_rule_and_the_evaluator_agrees_with_it() -> None:
    found = await answer("opinion", **SPACE)
    wanted = {"opinion": "found by rule space-before-mark", "exists": True, "severity": "minor"}
    assert said(found) == wanted
    assert probability(found) == pytest.approx(RULES["space-before-mark"].precision)
    assert said(await answer("opinion", **{**SPACE, "span": "Er"}))["exists"] is False
    claims = [{"category": "fluency/grammar", "span": "Er"}, SPACE]
    of_place = await answer("place", claims=claims)
    assert said(of_place) == {**wanted, "subtype": "fluency/punctuation"}
    assert probability(of_place) == probability(found)
    nothing = said(await answer("place", claims=claims[:1]))
    assert (nothing["exists"], nothing["subtype"]) == (False, "fluency/grammar")
    for exists in (True, False):
        assert said(await answer("response", exists=exists, **SPACE))["agrees"] is exists


# The embedded rules in a debate.


RULES_M_MAD_SOURCE, RULES_M_MAD_TRANSLATION = "It costs 40 euros, or so.", "Es kostet 400 400 Euro."


def error(span: str, category: str, severity: str, side: str = "translation", **more: str) -> dict[str, str]:
    return {"span": span, "category": category, "severity": severity, "side": side, **more}


NUMBER = error("400", "accuracy/mistranslation", "major")
INVENTED = error("Euro", "accuracy/mistranslation", "major")
GARBLED = error("", "non-translation", "major")


async def debate(wants: str, held: Any, judged: Subject | None = None) -> Reply:
    return await ask(wants, judged or subject(RULES_M_MAD_TRANSLATION, RULES_M_MAD_SOURCE), held=held)


@pytest.mark.parametrize(
    ("held", "kept"),
    [
        ((), []),
        ((NUMBER,), [NUMBER]),
        ((NUMBER | {"severity": "minor"},), [NUMBER]),
        ((NUMBER | {"span": "kostet 400 400"},), [NUMBER | {"span": "kostet 400 400"}]),
        ((INVENTED,), [INVENTED | {"severity": "minor"}]),
        ((INVENTED | {"note": "Faux."},), [INVENTED | {"severity": "minor", "note": "Faux."}]),
        ((NUMBER | {"side": "source"},), [NUMBER | {"side": "source", "severity": "minor"}]),
        ((GARBLED,), []),
    ],
)
async def test_what_no_rule_bears_out_is_minor_or_no_non_translation(held: Any, kept: Any) -> None:
    told = said(await debate("statement", held))
    assert told["errors"] == kept
    assert told["statement"]


async def test_a_non_translation_that_a_rule_finds_stands() -> None:
    reply = await debate("statement", (GARBLED,), subject("", RULES_M_MAD_SOURCE))
    assert said(reply)["errors"] == [GARBLED]
    assert 0.9 < probability(reply) < 1


@pytest.mark.parametrize(
    ("first", "second", "agreed"),
    [
        ((), (), True),
        ((NUMBER, INVENTED), (INVENTED, NUMBER), True),
        ((NUMBER,), (NUMBER | {"severity": "minor"},), False),
        ((NUMBER,), (), False),
    ],
)
async def test_two_lists_agree_if_they_hold_the_same(first: Any, second: Any, *, agreed: bool) -> None:
    assert said(await debate("agreement", (first, second))) == {"agreed": agreed}


@pytest.mark.parametrize(
    ("held", "kept"),
    [
        ((NUMBER, INVENTED), [NUMBER, INVENTED]),
        ((NUMBER, NUMBER | {"category": "fluency/spelling"}), [NUMBER]),
        ((NUMBER | {"category": "style/awkward", "severity": "minor"}, NUMBER), [NUMBER]),
        (
            (NUMBER | {"category": "style/awkward"}, NUMBER | {"severity": "minor"}),
            [NUMBER | {"category": "style/awkward"}],
        ),
        ((NUMBER, NUMBER | {"side": "source"}), [NUMBER, NUMBER | {"side": "source"}]),
        ((NUMBER, GARBLED, GARBLED), [GARBLED]),
    ],
)
async def test_of_each_span_the_most_severe_error_is_left(held: Any, kept: Any) -> None:
    assert said(await debate("merged", held))["errors"] == kept
    by_number = said(await debate("kept", held))["errors"]
    assert [held[int(n) - 1] for n, word in by_number.items() if word == "keep"] == kept
    assert {by_number[word[-1]] for word in by_number.values() if word != "keep"} <= {"keep"}


async def test_a_remark_counts_what_rules_find() -> None:
    told = said(await debate("remark", (NUMBER, INVENTED)))
    assert "1 of the 2 errors" in told["statement"]


@pytest.mark.parametrize("wants", ["statement", "remark", "agreement", "merged"])
async def test_nothing_to_debate_is_an_error_that_says_so(wants: str) -> None:
    with pytest.raises(ModelError, match=r"errors .*test.*, got None"):
        await debate(wants, None)


@pytest.mark.parametrize("wants", ["statement", "remark", "merged"])
async def test_a_pair_is_not_debated(wants: str) -> None:
    with pytest.raises(ModelError, match="one translation at a time, got X, Y"):
        await debate(wants, (NUMBER,), pair())


GOOD, DOUBLED, WRONG = "Es kostet 40 Euro.", "Es kostet kostet 40 Euro.", "Es kostet 4 Euro."


async def compare(first: str, second: str, **facts: object) -> Reply:
    segment = Segment(
        segment="1", lp="en-de", source="It costs 40 euros.", translations={"X": first, "Y": second}
    )
    return await ask("verdict", Subject(segment=segment, systems=("X", "Y")), **facts)


@pytest.mark.parametrize(
    ("first", "second", "criterion", "verdict"),
    [
        (GOOD, WRONG, "faithfulness", "A"),
        (WRONG, GOOD, "faithfulness", "B"),
        (GOOD, GOOD, "faithfulness", "E"),
        (GOOD, WRONG, "fluency", "E"),
        (DOUBLED, GOOD, "fluency", "B"),
        (DOUBLED, GOOD, "faithfulness", "E"),
        (DOUBLED, GOOD, "style", "E"),
        (DOUBLED, WRONG, "overall", "A"),
        (WRONG, DOUBLED, "brevity", "B"),
        *(("", GOOD, criterion, "B") for criterion in ("faithfulness", "fluency", "style")),
        ("", "", "style", "E"),
    ],
)
async def test_the_fewer_points_by_a_criterion_are_better(
    first: str, second: str, criterion: str, verdict: str
) -> None:
    assert said(await compare(first, second, criterion=criterion))["result"] == verdict


async def test_every_aspect_is_analysed() -> None:
    reply = await compare(GOOD, WRONG, criterion="fluency", aspects=("words", "order"))
    assert said(reply)["analysis"].keys() == {"words", "order"}


async def test_the_verdict_is_a_token_of_its_own_with_the_rules_precision() -> None:
    reply = await compare(GOOD, WRONG, criterion="overall")
    assert "".join(token.token for token in reply.logprobs) == reply.text
    (verdict,) = [token for token in reply.logprobs if token.token == "A"]
    assert 0 < math.exp(verdict.logprob) < 1


async def test_one_translation_is_no_pair() -> None:
    with pytest.raises(ModelError, match="compare two translations, got A"):
        await ask("verdict")
