from typing import Any, cast

import pytest

from adjudge.core.ask import Message, Quoted, WordsBesideError
from adjudge.errors import AnswerError
from adjudge.judges._answers import GEMBA_CATEGORIES
from adjudge.judges.ea_prompt import EaPrompt
from tests.judges.asking import Script, subject
from tests.judges.malformed import VALID

LIST = VALID["errors-json"]
HEADINGS = VALID["errors-headings"]


async def test_errors_are_listed_and_then_counted() -> None:
    annotation = await EaPrompt().annotate(subject(), Script(LIST, '{"major": 1, "minor": 1}'))
    assert annotation.counts == {"major": 1, "minor": 1}
    assert [span.severity for span in annotation.spans] == ["major", "minor"]
    assert (annotation.protocol, annotation.annotator, annotation.flags) == ("mqm", "ea-prompt", ())


@pytest.mark.parametrize("profile", ["paper", "code"])
@pytest.mark.parametrize("counts", ["1, 1", "1,1", "Major: 1\nMinor: 1", "1,  1\n"])
@pytest.mark.differs("ea_prompt", 2)
async def test_the_papers_two_numbers_are_read(profile: Any, counts: str) -> None:
    annotation = await EaPrompt(profile=profile).annotate(subject(), Script(HEADINGS, counts))
    assert annotation.counts == {"major": 1, "minor": 1}
    assert not annotation.flags


@pytest.mark.differs("ea_prompt", 3)
async def test_a_count_that_disagrees_with_the_list_is_kept_and_flagged() -> None:
    annotation = await EaPrompt().annotate(subject(), Script(LIST, '{"major": 2, "minor": 1}'))
    assert annotation.counts == {"major": 2, "minor": 1}
    assert len(annotation.spans) == 2
    assert annotation.flags == ("count_mismatch",)


@pytest.mark.differs("ea_prompt", 6)
async def test_the_count_is_asked_in_the_same_conversation_and_without_the_thinking() -> None:
    ask = Script(f"<think>{LIST}</think>```json\n{LIST}\n```", '{"major": 1, "minor": 1}')
    assert (await EaPrompt().annotate(subject(), ask)).flags == ("extracted",)
    first, second = ask.asked
    assert second.messages[: len(first.messages)] == first.messages
    answer, question = second.messages[len(first.messages) :]
    assert answer == Message("assistant", (Quoted("errors", LIST, is_json=True),))
    assert question.role == "user"
    assert [(a.about.stage, a.about.wants) for a in ask.asked] == [("errors", "errors"), ("count", "counts")]


@pytest.mark.differs("ea_prompt", 6)
async def test_under_profile_code_the_count_is_asked_of_the_list_alone() -> None:
    ask = Script(HEADINGS, "1, 1")
    await EaPrompt(profile="code").annotate(subject(), ask)
    second = ask.asked[1]
    assert [message.role for message in second.messages] == ["system", "user"]
    assert second.quoted == [Quoted("errors", HEADINGS)]


async def test_without_a_list_nothing_is_counted() -> None:
    ask = Script("The translation is fine.", '{"major": 0, "minor": 0}')
    with pytest.raises(AnswerError, match="parse"):
        await EaPrompt().annotate(subject(), ask)
    assert len(ask.asked) == 1


@pytest.mark.parametrize(
    ("lp", "word"), [("en-de", "Notiz"), ("en-ru", "морозильнике"), ("ja-en", "two words")]
)
@pytest.mark.differs("ea_prompt", 4)
async def test_one_example_of_the_language_pair_or_the_nearest_is_shown(lp: str, word: str) -> None:
    messages = EaPrompt().list_messages(subject(lp=lp))
    assert [message.role for message in messages] == ["system", "user", "assistant", "user"]
    assert word in cast(str, messages[1].parts[0])
    assert "reference" not in cast(str, messages[1].parts[0])
    referred = EaPrompt(with_reference=True).list_messages(subject(reference="So.", lp=lp))
    assert "<<reference example>>" in cast(str, referred[1].parts[0])


@pytest.mark.parametrize(("profile", "attempts"), [("recommended", 2), ("paper", 1), ("code", 2)])
@pytest.mark.differs("ea_prompt", 2, 5)
async def test_the_paper_asks_once(profile: Any, attempts: int) -> None:
    ask = Script(LIST if profile == "recommended" else HEADINGS, '{"major": 1, "minor": 1}', "")
    if profile != "recommended":
        ask = Script(HEADINGS, "1, 1")
    await EaPrompt(profile=profile).annotate(subject(), ask)
    assert [asked.attempts for asked in ask.asked] == [attempts] * 2
    assert [asked.schema is None for asked in ask.asked] == [profile != "recommended"] * 2
    assert ask.asked[0].about.facts["categories"] == GEMBA_CATEGORIES


@pytest.mark.parametrize(
    ("replies", "is_clean"),
    [
        ((f"{LIST}\nThat is all.",), False),
        ((LIST, '{"major": 1, "minor": 1}\nThat is all.'), False),
        ((LIST, '{"major": 1, "minor": 1, "note": "That is all."}'), False),
        (('{"errors": []}\nThat is all.',), True),
    ],
)
@pytest.mark.differs("ea_prompt", 5)
async def test_words_beside_errors_alone_are_asked_about(replies: tuple[str, ...], is_clean: bool) -> None:
    with pytest.raises(WordsBesideError) as error:
        await EaPrompt().annotate(subject(), Script(*replies))
    assert error.value.is_clean == is_clean


@pytest.mark.parametrize("profile", ["paper", "code"])
@pytest.mark.parametrize(
    "replies", [("The translation is fine.",), (HEADINGS, "1, 1\nThat is all."), (HEADINGS, "There are two.")]
)
@pytest.mark.differs("ea_prompt", 5)
async def test_no_rule_of_the_authors_reads_words(profile: Any, replies: tuple[str, ...]) -> None:
    with pytest.raises(AnswerError):
        await EaPrompt(profile=profile).annotate(subject(), Script(*replies))


@pytest.mark.parametrize("profile", ["recommended", "paper", "code"])
@pytest.mark.differs("ea_prompt", 7)
async def test_one_step_lists_counts_and_scores(profile: Any) -> None:
    form = "one-step-json" if profile == "recommended" else "one-step-headings"
    ask = Script(VALID[form])
    annotation = await EaPrompt(profile=profile, steps=1).annotate(subject(), ask)
    assert annotation.counts == {"major": 1, "minor": 0}
    assert [span.text for span in annotation.spans] == ["neuen Sofa"]
    assert not annotation.flags
    (asked,) = ask.asked
    assert (asked.about.stage, asked.about.wants) == ("errors", "errors+counts")
    assert "-5 for each major error and -1 for each minor error" in asked.words


@pytest.mark.parametrize(
    ("counts", "score", "flags"),
    [
        ("1, 0", "-4", ("score_mismatch",)),
        ("2, 0", "-10", ("count_mismatch",)),
        ("2, 0", "-5", ("score_mismatch", "count_mismatch")),
    ],
)
@pytest.mark.differs("ea_prompt", 7)
async def test_list_count_score_at_odds_are_flagged(counts: str, score: str, flags: tuple[str, ...]) -> None:
    text = VALID["one-step-headings"].replace("1, 0", counts).replace("-5", score)
    annotation = await EaPrompt(profile="paper", steps=1).annotate(subject(), Script(text))
    assert annotation.flags == flags
    assert annotation.counts["major"] == int(counts[0])


@pytest.mark.parametrize("profile", ["recommended", "paper"])
@pytest.mark.parametrize("steps", [1, 2])
async def test_the_answer_of_the_example_is_an_answer_that_it_would_accept(profile: Any, steps: Any) -> None:
    judge = EaPrompt(profile=profile, steps=steps)
    for lp in ("en-de", "en-ru", "zh-en"):
        example = judge._files.nearest_example(lp)
        shown = subject(example.translation, example.source, lp=lp)
        answer = cast(str, judge.list_messages(shown)[2].parts[0])
        counts = [[e["severity"] for e in example.errors].count(s) for s in ("major", "minor")]
        last = f'{{"major": {counts[0]}, "minor": {counts[1]}}}'
        last = last if profile == "recommended" else f"{counts[0]}, {counts[1]}"
        annotation = await judge.annotate(shown, Script(answer, last))
        assert len(annotation.spans) == len(example.errors)
        assert list(annotation.counts.values()) == counts
        assert not annotation.flags
