from typing import Any, cast

import pytest

from adjudge.core.typology import SUBTYPES
from adjudge.errors import AnswerError
from adjudge.judges import load_judge
from adjudge.judges.single_agent import SingleAgent
from tests.judges.asking import Script, subject


def listing(category: str, severity: str) -> str:
    error = f'"category": "{category}", "severity": "{severity}", "side": "translation"'
    return f'{{"errors": [{{"span": "Katze", {error}}}]}}'


@pytest.mark.parametrize("severity", ["major", "minor", "neutral"])
async def test_an_error_of_any_severity_of_himate_is_marked(severity: str) -> None:
    annotation = await SingleAgent().annotate(subject(), Script(listing("style/awkward", severity)))
    (span,) = annotation.spans
    assert (span.severity, span.category, span.start) == (severity, "style/awkward", 4)
    assert (annotation.protocol, annotation.annotator, annotation.flags) == ("mqm", "single-agent", ())


async def test_a_critical_error_is_no_severity_of_himate() -> None:
    with pytest.raises(AnswerError, match="label"):
        await SingleAgent().annotate(subject(), Script(listing("style/awkward", "critical")))


async def test_all_nineteen_subtypes_are_asked_about_in_one_question() -> None:
    ask = Script('{"errors": []}')
    await SingleAgent().annotate(subject(), ask)
    (asked,) = ask.asked
    assert [message.role for message in asked.messages] == ["system", "user"]
    assert asked.about.facts["categories"] == SUBTYPES
    assert len(SUBTYPES) == 19
    schema = cast("dict[str, Any]", asked.schema)
    assert schema["properties"]["errors"]["items"]["properties"]["category"]["enum"] == list(SUBTYPES)


@pytest.mark.parametrize(("profile", "attempts"), [("recommended", 2), ("paper", 1), ("code", 2)])
async def test_the_paper_asks_once(profile: Any, attempts: int) -> None:
    clean = "Major:\nno-error\nMinor:\nno-error\nNeutral:\nno-error"
    ask = Script('{"errors": []}' if profile == "recommended" else clean)
    annotation = await SingleAgent(profile=profile).annotate(subject(), ask)
    assert annotation.spans == ()
    assert ask.asked[0].attempts == attempts


async def test_headings_have_the_three_severities() -> None:
    text = 'Major:\nno-error\nMinor:\nlocale convention/date - "Sofa"\nNeutral:\nstyle/awkward - "Katze"'
    annotation = await SingleAgent(profile="paper").annotate(subject(), Script(text))
    assert [(span.severity, span.category) for span in annotation.spans] == [
        ("minor", "locale convention/date"),
        ("neutral", "style/awkward"),
    ]


def test_it_is_loaded_by_name_and_counts_one_call() -> None:
    judge = load_judge("single-agent")
    assert judge == SingleAgent()
    assert judge.calls == (1, 1, 1)
    assert (judge.weights, judge.with_reference) == ("himate", False)
