"""The judges of examples/judges: what they make of replies, and that every command takes them."""

import importlib
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adjudge import examples
from adjudge.kit import About, AnswerError, Reply, Script, Segment, Subject, UsageError
from tests.cli.calling import call

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "judges"
TEXT = "Die Katze schlief auf dem neuen Sofa, während Anna die die Nachrichten las."
SUBJECT = Subject(
    segment=Segment(
        segment="7",
        lp="en-de",
        source="The cat slept on the sofa while Anna calmly read the news.",
        translations={"sys": TEXT},
    ),
    systems=("sys",),
)


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install the package as far as Python can see, by the entry points that it declares."""
    project = tomllib.loads((FOLDER / "pyproject.toml").read_text())["project"]
    entries = project["entry-points"]["adjudge.judges"]
    (installed := tmp_path / "path" / "example_judges-1.dist-info").mkdir(parents=True)
    lines = ["[adjudge.judges]", *(f"{name} = {place}" for name, place in entries.items())]
    (installed / "entry_points.txt").write_text("\n".join(lines))
    (installed / "METADATA").write_text("Name: example-judges\nVersion: 1\n")
    monkeypatch.syspath_prepend(installed.parent)
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.chdir(tmp_path)
    yield
    for module in ("mqm_ape", "rubric"):
        sys.modules.pop(module, None)


class Replies(Script):
    """Answers by the stage of the question, and by its role or the error that it shows."""

    def __init__(self, **replies: Any) -> None:
        super().__init__()
        self.replies = replies

    def says(self, about: About) -> str | Reply:
        found = self.replies[about.stage]
        return str(found(self.asked[-1]) if callable(found) else found)


def made(name: str, **fields: Any) -> Any:
    module = importlib.import_module(name)
    return getattr(module, {"mqm_ape": "MqmApe", "rubric": "Rubric"}[name])(**fields)


def error(span: str, severity: str = "minor", category: str = "fluency/grammar") -> dict[str, str]:
    return {"span": span, "category": category, "severity": severity, "side": "translation"}


def edit(asked: Any) -> str:
    """Correct the double word, and put another adjective."""
    shown = next(text.text for text in asked.quoted if text.name == "error")
    text = TEXT.replace("die die", "die") if "die die" in shown else TEXT.replace("neuen", "roten")
    return json.dumps({"translation": text})


def prefer_the_shorter(asked: Any) -> str:
    first, second = (t.text for t in asked.quoted if t.name.startswith("translation-"))
    verdict = "A" if len(first) < len(second) else "B" if len(second) < len(first) else "E"
    return json.dumps({"analysis": "One word.", "result": verdict})


async def test_mqm_ape_keeps_the_errors_whose_correction_is_better() -> None:
    errors = {"errors": [error("neuen", "major", "style/awkward"), error("die die")]}
    ask = Replies(errors=json.dumps(errors), edit=edit, comparison=prefer_the_shorter)
    found = await made("mqm_ape").annotate(SUBJECT, ask)
    assert [(span.text, span.severity) for span in found.spans] == [("die die", "minor")]
    assert found.flags == ("unproved_dropped",)
    assert [asked.about.stage for asked in ask.asked].count("comparison") == 4
    assert len(ask.asked) == made("mqm_ape").calls.typical


async def test_mqm_ape_asks_once_about_a_translation_without_errors() -> None:
    ask = Replies(errors='{"errors": []}')
    found = await made("mqm_ape").annotate(SUBJECT, ask)
    assert (found.spans, found.flags, len(ask.asked)) == ((), (), 1)


@pytest.mark.parametrize(
    ("verdicts", "kept"),
    [(["B", "A"], 1), (["A", "B"], 0), (["B", "B"], 0), (["A", "A"], 0), (["E", "E"], 0), (["B", "E"], 0)],
)
async def test_mqm_ape_keeps_an_error_only_where_both_orders_prefer_its_correction(
    verdicts: list[str], kept: int
) -> None:
    replies = [json.dumps({"analysis": "One word.", "result": verdict}) for verdict in verdicts]
    ask = Script(json.dumps({"errors": [error("die die")]}), json.dumps({"translation": "Kurz."}), *replies)
    found = await made("mqm_ape").annotate(SUBJECT, ask)
    assert len(found.spans) == kept


async def test_mqm_ape_drops_an_error_whose_correction_changes_nothing_and_asks_nobody() -> None:
    ask = Script(json.dumps({"errors": [error("die die")]}), json.dumps({"translation": TEXT}))
    found = await made("mqm_ape").annotate(SUBJECT, ask)
    assert (found.spans, found.flags) == ((), ("unproved_dropped",))


@pytest.mark.parametrize(
    ("stage", "reply", "reason"),
    [
        ("errors", "None.", "parse"),
        ("edit", '{"translation": ""}', "schema"),
        ("edit", "Die Katze schlief.", "parse"),
        ("comparison", '{"analysis": "x", "result": "C"}', "label"),
    ],
)
async def test_mqm_ape_fails_where_an_answer_cannot_be_read(stage: str, reply: str, reason: str) -> None:
    replies = {
        "errors": json.dumps({"errors": [error("die die")]}),
        "edit": edit,
        "comparison": prefer_the_shorter,
    }
    with pytest.raises(AnswerError) as refused:
        await made("mqm_ape").annotate(SUBJECT, Replies(**{**replies, stage: reply}))
    assert refused.value.reason == reason


@pytest.mark.parametrize(
    ("ratings", "rating"),
    [
        ((5, 5, 5), 100),
        ((1, 1, 1), 0),
        ((3, 3, 3), 50),
        ((5, 1, 1), 50),
        ((1, 5, 1), 100 / 3),
        ((4, 3, 5), 1700 / 24),
    ],
)
async def test_a_rubric_is_the_weighted_mean_of_its_criteria(ratings: tuple[int, ...], rating: float) -> None:
    found = await made("rubric").annotate(SUBJECT, Script(*(json.dumps({"rating": one}) for one in ratings)))
    assert found.rating == pytest.approx(rating)
    assert (
        found.rationale
        == "accuracy {} (weight 3), fluency {} (weight 2), terminology {} (weight 1)".format(*ratings)
    )


@pytest.mark.parametrize(
    ("reply", "reason"),
    [('{"rating": 6}', "range"), ('{"rating": 4.5}', "range"), ("4", "parse"), ("", "empty")],
)
async def test_a_rubric_without_one_criterion_is_no_mean(reply: str, reason: str) -> None:
    with pytest.raises(AnswerError) as refused:
        await made("rubric").annotate(SUBJECT, Script('{"rating": 5}', reply, '{"rating": 5}'))
    assert refused.value.reason == reason


def test_a_rubric_of_the_user_is_asked_for_and_counted(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "rubric.toml").write_text('[tone]\nweight = 0.5\ntext = "Warm, $5 at most."\n')
    judge = made("rubric", prompts=tmp_path / "mine")
    assert judge.calls == (1, 1, 1)
    assert [criterion.name for criterion in judge.criteria] == ["tone"]
    assert judge.prompts_digest != made("rubric").prompts_digest
    assert made("rubric").calls == (3, 3, 3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no criterion"),
        ("[a", "is no TOML"),
        ("a = 1", r"\[a\] needs a weight above 0 and a text, got 1"),
        ('[a]\ntext = "x"', "needs a weight"),
        ('[a]\nweight = 0\ntext = "x"', "needs a weight"),
        ('[a]\nweight = inf\ntext = "x"', "needs a weight"),
        ('[a]\nweight = "1"\ntext = "x"', "needs a weight"),
        ("[a]\nweight = 1", "needs a weight"),
        ("[a]\nweight = 1\ntext = 1", "needs a weight"),
    ],
)
def test_a_rubric_that_is_none_is_refused(text: str, said: str) -> None:
    made("rubric")
    with pytest.raises(UsageError, match=said):
        importlib.import_module("rubric").read_rubric(text)


@pytest.mark.parametrize(("judge", "calls"), [("mqm-ape", 7), ("rubric", 3)])
def test_every_command_takes_an_example_judge(
    judge: str, calls: int, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = examples.path("test_set.jsonl")
    assert call("show", judge, "--lp", "en-de") == 0
    shown = capsys.readouterr().out
    assert not re.search("not used", shown)
    assert shown.count("[reply]") >= 3
    assert call("forecast", judge, texts, "--lp", "en-de", "--limit", "4", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["calls"]["typical"] == 16 * calls
    assert call("run", judge, texts, "--lp", "en-de", "--limit", "4", "--out", "run") == 0
    assert ", 0 failed" in capsys.readouterr().err
    assert call("score", "run") == 0
