import json
from typing import Any, cast

import pytest

from adjudge.core.ask import Message
from adjudge.core.mqm import find_weights, mqm_score
from adjudge.core.record import ErrorSpan
from adjudge.errors import AnswerError
from adjudge.judges.gemba_esa import GembaEsa
from adjudge.judges.gemba_mqm import GembaMqm
from tests.judges.asking import Script, subject

CRITICAL_LAST = (
    '{"errors": [{"span": "die die", "category": "fluency/grammar", "severity": "minor", '
    '"side": "translation"},'
    ' {"span": "calmly", "category": "accuracy/omission", "severity": "major", "side": "source"},'
    ' {"span": "Katze", "category": "accuracy/mistranslation", "severity": "critical", '
    '"side": "translation"}]}'
)


@pytest.mark.differs("gemba_mqm", 7)
async def test_errors_become_spans_in_their_places_the_most_severe_first() -> None:
    annotation = await GembaMqm().annotate(subject(), Script(CRITICAL_LAST))
    assert annotation.spans == (
        ErrorSpan(start=4, end=9, text="Katze", severity="critical", category="accuracy/mistranslation"),
        ErrorSpan(
            start=41, end=47, text="calmly", severity="major", category="accuracy/omission", side="source"
        ),
        ErrorSpan(start=51, end=58, text="die die", severity="minor", category="fluency/grammar"),
    )
    assert (annotation.annotator, annotation.protocol) == ("gemba-mqm", "mqm")
    assert (annotation.segment, annotation.document, annotation.system) == ("7", "cats", "sys")
    assert annotation.rating is None
    assert not annotation.flags


async def test_headings_are_read_into_the_same_spans_as_json() -> None:
    text = (
        'Critical:\naccuracy/mistranslation - "Katze"\nMajor:\naccuracy/omission - "calmly"\n'
        'Minor:\nfluency/grammar - "die die"'
    )
    paper = await GembaMqm(profile="paper").annotate(subject(), Script(text))
    ours = await GembaMqm().annotate(subject(), Script(CRITICAL_LAST))
    assert paper.spans == ours.spans


@pytest.mark.parametrize(
    ("profile", "text"),
    [
        ("recommended", '{"errors": []}'),
        ("paper", "Critical:\nno-error\nMajor:\nno-error\nMinor:\nno-error"),
        ("code", "critical:\nno-error\nmajor:\nno-error\nminor:\nno-error\n"),
    ],
)
async def test_a_clean_translation_is_said_to_be_clean_and_has_no_spans(profile: Any, text: str) -> None:
    annotation = await GembaMqm(profile=profile).annotate(subject(), Script(text))
    assert annotation.spans == ()
    assert annotation.flags == ()


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        (f"```json\n{CRITICAL_LAST}\n```", ("extracted",)),
        (CRITICAL_LAST.replace("},", "}"), ("repaired",)),
        (CRITICAL_LAST.replace("accuracy/mis", "mis"), ("normalised",)),
        (CRITICAL_LAST.replace("calmly", "slowly"), ("span_unmatched",)),
        (CRITICAL_LAST.replace("},", "}").replace("calmly", "slowly"), ("repaired", "span_unmatched")),
    ],
)
async def test_what_was_not_quite_right_is_flagged(text: str, flags: tuple[str, ...]) -> None:
    annotation = await GembaMqm().annotate(subject(), Script(text))
    assert annotation.flags == flags
    assert len(annotation.spans) == 3


@pytest.mark.differs("gemba_mqm", 3)
async def test_a_list_of_errors_within_a_sentence_is_refused() -> None:
    with pytest.raises(AnswerError, match="words stand beside the answer"):
        await GembaMqm().annotate(subject(), Script(f"What you want is {CRITICAL_LAST}"))


@pytest.mark.differs("gemba_mqm", 1, 6)
async def test_one_question_is_put_with_three_worked_examples() -> None:
    ask = Script('{"errors": []}')
    await GembaMqm().annotate(subject(), ask)
    (asked,) = ask.asked
    roles = [message.role for message in asked.messages]
    assert roles == ["system", *["user", "assistant"] * 3, "user"]
    assert (asked.attempts, asked.sampling.temperature) == (2, 0)
    assert (asked.about.judge, asked.about.stage, asked.about.wants) == ("gemba-mqm", "errors", "errors")
    assert asked.about.facts["form"] == "json"
    assert asked.about.facts["severities"] == ("critical", "major", "minor")


@pytest.mark.differs("gemba_mqm", 2)
async def test_json_is_asked_for_with_a_schema_and_headings_without() -> None:
    json_ask, text_ask = (
        Script('{"errors": []}'),
        Script("Critical:\nno-error\nMajor:\nno-error\nMinor:\nno-error"),
    )
    await GembaMqm().annotate(subject(), json_ask)
    await GembaMqm(profile="paper").annotate(subject(), text_ask)
    schema = cast("dict[str, Any]", json_ask.asked[0].schema)
    error = schema["properties"]["errors"]["items"]
    assert error["required"] == ["span", "category", "severity", "side"]
    assert error["additionalProperties"] is schema["additionalProperties"] is False
    assert error["properties"]["severity"]["enum"] == ["critical", "major", "minor"]
    assert text_ask.asked[0].schema is None
    assert "Critical:\nMajor:\nMinor:" in text_ask.asked[0].words


@pytest.mark.differs("gemba_mqm", 4)
async def test_an_unknown_category_is_a_failure_and_other_by_the_rule_of_the_authors() -> None:
    with pytest.raises(AnswerError, match="label"):
        await GembaMqm().annotate(subject(), Script(CRITICAL_LAST.replace("fluency/grammar", "flow")))
    text = 'Critical:\nno-error\nMajor:\nflow - "die die"\nMinor:\nno-error'
    made = await GembaMqm(profile="paper").annotate(subject(), Script(text))
    assert [(span.category, span.severity) for span in made.spans] == [("other", "major")]
    assert "authors_reader" in made.flags


@pytest.mark.parametrize(
    ("errors", "points"),
    [
        ([("die", "other", "minor")] * 7, 5),
        ([("die", "other", "major")] * 7, 25),
        ([("Katze", "non-translation", "minor")], 25),
        ([("Katze", "non-translation", "major"), ("die", "other", "minor")], 25),
    ],
)
@pytest.mark.differs("gemba_mqm", 5, 7)
async def test_errors_are_kept_and_weights_cap_them(
    errors: list[tuple[str, str, str]], points: float
) -> None:
    listed = [
        {"span": span + number, "category": category, "severity": severity, "side": "translation"}
        for (span, category, severity), number in zip(errors, "1234567", strict=False)
    ]
    judged = subject(" ".join(f"{span}{number}" for span in ("die", "Katze") for number in range(1, 8)))
    made = await GembaMqm().annotate(judged, Script(json.dumps({"errors": listed})))
    assert [(span.category, span.severity) for span in made.spans] == [each[1:] for each in errors]
    assert mqm_score(made, find_weights("gemba")) == -points


@pytest.mark.parametrize("profile", ["recommended", "paper"])
async def test_the_answers_of_the_examples_are_answers_that_it_would_accept(profile: Any) -> None:
    judge = GembaMqm(profile=profile)
    messages = judge.messages(subject())
    answers = [message for message in messages if message.role == "assistant"]
    examples = judge._files.examples()
    for message, example in zip(answers, examples, strict=True):
        shown = subject(example.translation, example.source, lp=example.lp)
        annotation = await judge.annotate(shown, Script(cast(str, message.parts[0])))
        assert len(annotation.spans) == len(example.errors)
        assert not annotation.flags
        assert message == Message("assistant", message.parts)


@pytest.mark.parametrize("separator", [", ", " ", " - "])
@pytest.mark.parametrize("second", ['accuracy/omission - "zu"', 'omission - "zu"', "accuracy/omission"])
async def test_errors_on_a_line_are_one_only_by_the_rule_of_the_authors(separator: str, second: str) -> None:
    line = f'accuracy/mistranslation - "6. Mai"{separator}{second}'
    text = f"Critical:\nno-error\nMajor:\n{line}\nMinor:\nno-error"
    made = await GembaMqm(profile="paper").annotate(subject("am 6. Mai zu"), Script(text))
    assert "authors_reader" in made.flags
    assert [span.text for span in made.spans] == ["6. Mai"]
    with pytest.raises(AnswerError, match="parse"):
        await GembaEsa(profile="paper").annotate(
            subject("am 6. Mai zu"), Script("Major" + text.partition("Major")[2])
        )
