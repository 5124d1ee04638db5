import json
from typing import Any, cast

import pytest

from adjudge.core.ask import Quoted
from adjudge.core.judge import PROFILES, Profile
from adjudge.core.protocol import SUBTYPES
from adjudge.errors import AnswerError
from adjudge.judges._prompts import load_prompts
from adjudge.judges.himate import Himate
from adjudge.judges.single_agent import SingleAgent
from tests.judges.asking import Script, subject
from tests.judges.malformed import ANYWHERE, alike


def listing(category: str, severity: str) -> str:
    error = f'"category": "{category}", "severity": "{severity}", "side": "translation"'
    return f'{{"errors": [{{"span": "Katze", "note": "So.", {error}}}]}}'


@pytest.mark.parametrize("severity", ["major", "minor", "neutral"])
async def test_an_error_of_any_severity_of_himate_is_marked(severity: str) -> None:
    annotation = await SingleAgent().annotate(subject(), Script(listing("style/awkward", severity)))
    (span,) = annotation.spans
    assert (span.severity, span.category, span.start) == (severity, "style/awkward", 4)
    assert (annotation.protocol, annotation.annotator, annotation.flags) == ("mqm", "single-agent", ())
    with pytest.raises(AnswerError, match="label"):
        await SingleAgent().annotate(subject(), Script(listing("style/awkward", "critical")))


@pytest.mark.differs("single_agent", 1, 2)
async def test_all_nineteen_subtypes_are_asked_about_in_one_question() -> None:
    ask = Script('{"errors": []}')
    await SingleAgent().annotate(subject(), ask)
    (asked,) = ask.asked
    assert [message.role for message in asked.messages] == ["system", *["user", "assistant"] * 20, "user"]
    assert "List every error, the gravest first." in asked.words
    assert asked.about.facts["categories"] == SUBTYPES
    assert len(SUBTYPES) == 19
    schema = cast("dict[str, Any]", asked.schema)
    assert schema["properties"]["errors"]["items"]["properties"]["category"]["enum"] == list(SUBTYPES)


@pytest.mark.parametrize(("profile", "attempts"), [("recommended", 2), ("paper", 1), ("code", 2)])
@pytest.mark.differs("single_agent", 3)
async def test_the_paper_asks_once(profile: Any, attempts: int) -> None:
    ask = Script('{"errors": []}')
    annotation = await SingleAgent(profile=profile).annotate(subject(), ask)
    assert annotation.spans == ()
    assert ask.asked[0].attempts == attempts


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.differs("single_agent", 1)
async def test_it_is_asked_as_each_agent_of_himate_is(profile: Profile) -> None:
    alone, agents = Script('{"errors": []}'), Script(*['{"errors": []}'] * 19)
    await SingleAgent(profile=profile).annotate(subject(), alone)
    await Himate(profile=profile, stages="se").annotate(subject(), agents)
    (asked,), agent = alone.asked, agents.asked[0]
    assert asked.schema == agent.schema
    assert asked.attempts == agent.attempts
    assert [part.name for part in asked.messages[-1].parts if isinstance(part, Quoted)] == [
        "source",
        "translation",
    ]
    assert isinstance(asked.messages[-1].parts[-1], Quoted), "the judged text stands last"
    files = load_prompts("himate", ("severities.md", "subtypes.md"), None).texts
    for text in files.values():
        assert text.strip() in asked.words
    assert files["severities.md"].strip() in agent.words
    assert all(f'"category": "{name}"' in asked.words for name in SUBTYPES)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.differs("single_agent", 2)
async def test_every_error_is_kept_and_quotes_words_unless_they_are_left_out(profile: Profile) -> None:
    judge, several = SingleAgent(profile=profile), json.loads(listing("style/awkward", "major"))
    several["errors"] += [{**several["errors"][0], "span": word} for word in ("schlief", "Anna", "las")]
    annotation = await judge.annotate(subject(), Script(json.dumps(several)))
    assert [span.text for span in annotation.spans] == ["Katze", "schlief", "Anna", "las"]
    with pytest.raises(AnswerError, match="must quote the text"):
        await judge.annotate(subject(), Script(listing("style/awkward", "major").replace("Katze", "")))
    left_out = Script(listing("accuracy/omission", "major").replace("Katze", ""))
    assert len((await judge.annotate(subject(), left_out)).spans) == 1


@pytest.mark.parametrize(("explain_in", "language"), [(None, "English"), ("fr", "French")])
@pytest.mark.differs("single_agent", 4)
async def test_notes_are_in_english_or_the_language_said(explain_in: str | None, language: str) -> None:
    ask = Script('{"errors": []}')
    await SingleAgent(explain_in=explain_in).annotate(subject(), ask)
    assert f"- note: in {language}" in ask.asked[0].words


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.differs("single_agent", 3)
async def test_no_malformed_reply_becomes_an_annotation(profile: Profile) -> None:
    for bad in ANYWHERE:
        with pytest.raises(AnswerError) as failed:
            await SingleAgent(profile=profile).annotate(subject(), Script(bad.reply))
        assert alike(failed.value.reason, bad.reason), bad
