"""What judges of other packages are given: readers, a script, and words where they are used wrongly."""

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

import adjudge.kit
from adjudge.kit import (
    About,
    AnswerError,
    ErrorList,
    RatingScale,
    Reading,
    Reply,
    Script,
    UsageError,
    read_compared,
)
from adjudge.llm.embedded_rules import ROLES
from adjudge.runs.units import judge_subject
from tests.judges.asking import load_judge, pair, subject

ERRORS = ErrorList.of("recommended", ("major", "minor"), None)
RATING = RatingScale(profile="recommended")
TEXTS = {
    "errors": json.dumps(
        {"errors": [{"span": "die die", "category": "fluency/grammar", "severity": "minor"}]}
    ),
    "rating": '{"rating": 87}',
    "verdict": '{"analysis": "A is closer.", "result": "A"}',
}
READERS = {
    "errors": lambda reply: ERRORS.read(reply, subject()),
    "rating": lambda reply: RATING.read(reply, subject()),
    "verdict": lambda reply: read_compared(reply, (pair().source,)),
}


def test_the_kit_gives_names_and_defines_none() -> None:
    tree = ast.parse(Path(adjudge.kit.__file__).read_text("utf-8"))
    assert not [part for part in tree.body if isinstance(part, ast.FunctionDef | ast.ClassDef)]
    imported = {name.name for part in tree.body if isinstance(part, ast.ImportFrom) for name in part.names}
    assert imported == {*adjudge.kit.__all__}


def test_what_the_kit_teaches_is_there() -> None:
    words = re.findall(r"`([A-Za-z_]+)[`(]", adjudge.kit.__doc__ or "")
    methods = {*dir(Reading), *dir(adjudge.kit.Prompts), *dir(adjudge.kit.Prompted), *dir(About)}
    fields = {*About.__dataclass_fields__, *adjudge.kit.Answer.__dataclass_fields__, "_files", "__all__"}
    of_judges = {
        *("annotate", "compare", "annotate_all", "check", "name", "protocol", "weights", "with_reference")
    }
    assert not {*words} - methods - fields - of_judges - {*adjudge.kit.__all__} - {"calls", "Failure", "ask"}


@pytest.mark.parametrize("kind", TEXTS)
def test_a_reader_takes_a_reply_or_its_text(kind: str) -> None:
    read: Any = READERS[kind]
    assert read(TEXTS[kind]) == read(Reply(text=TEXTS[kind]))


@pytest.mark.parametrize(
    "read",
    [json.loads, lambda reply: reply.strip(), lambda reply: int(reply.text), lambda reply: {}[reply.text]],
    ids=["type", "attribute", "value", "lookup"],
)
async def test_a_reader_that_fails_is_told_what_it_is_given(read: Any) -> None:
    about = About(judge="mine", stage="mood", subject=subject(), wants="mood")
    with pytest.raises(
        UsageError, match=r"the reader of mine, stage mood, ended with \w+Error: .*reply\.text"
    ):
        await Script("grim")([], about=about, read=read)


async def test_a_script_gives_its_replies_in_order_and_keeps_what_it_was_asked() -> None:
    ask = Script('{"rating": 3}', Reply(text="4", finish="length"))
    judge = load_judge("gemba-da")
    assert (await judge.annotate(subject(), ask)).rating == 3
    with pytest.raises(AnswerError, match="the model stopped for 'length'"):
        await judge.annotate(subject(), ask)
    with pytest.raises(UsageError, match="the script has no reply for question 3, stage rating"):
        await judge.annotate(subject(), ask)
    assert [asked.about.stage for asked in ask.asked] == ["rating"] * 3
    assert "You rate translations" in ask.asked[0].words
    assert [text.name for text in ask.asked[0].quoted] == ["source", "translation"]


@pytest.mark.parametrize("given", [87, [87], None, {"rating": 87}])
@pytest.mark.parametrize("method", ["annotate", "compare", "check", "annotate_all"])
async def test_what_a_judge_gives_in_place_of_a_record_is_refused(given: object, method: str) -> None:
    async def answer(self: object, *subject_and_ask: object) -> object:
        return given

    judge: Any = type("Mine", (), {"name": "mine", method: answer})()
    with pytest.raises(UsageError, match="judge 'mine' must give records, which annotation_of"):
        await judge_subject(judge, pair(), Script())


def test_the_page_on_writing_a_judge_names_every_kind_of_answer() -> None:
    page = (Path(__file__).parents[2] / "docs" / "write-a-judge.md").read_text("utf-8")
    assert not [kind for kind in ROLES if f"`{kind}`" not in page]
