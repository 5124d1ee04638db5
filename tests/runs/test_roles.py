"""Models by role: what a judge says of its roles, and what becomes of one that it does not have."""

import asyncio
from pathlib import Path

import pytest

from adjudge import examples
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import UsageError
from adjudge.formats.read import load
from adjudge.llm.model_choice import EMBEDDED
from adjudge.runs.job import Job, prepare, roles_of, serves
from adjudge.runs.run import execute
from adjudge.runs.session import Outcome
from tests.runs.conftest import Rater, Scripted, small_set

JUDGES: list[tuple[str, dict[str, str]]] = [
    *(
        ("m-mad", {"strategy": name})
        for name in ("consensus", "deliberation", "interactive-review", "consultancy-review", "none")
    ),
    ("m-mad", {"strategy": "interactive-review", "rounds": "1"}),
    ("m-mad", {"partition": "no", "final_judge": "no"}),
    ("himate", {}),
    ("himate", {"agents": "core"}),
    ("fire", {}),
    ("direct-rank", {"samples": "2"}),
    ("rate", {}),
    ("rate", {"without": "compare"}),
]


def small() -> TestSet:
    return load(examples.path("test_set.jsonl"), lp="en-de").select(limit=8)


def prepared(judge: str, out: Path, settings: dict[str, str] | None = None, *roles: str) -> Job:
    names = [EMBEDDED, *(f"{role}={EMBEDDED}" for role in roles)]
    return prepare(judge, small(), out=out, model=names, settings=settings or {})


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([EMBEDDED], "no language model judges: builtin/rules are fixed rules"),
        ([EMBEDDED, f"core={EMBEDDED}"], "no language model judges: builtin/rules are fixed rules"),
        ([EMBEDDED, "core=vllm/x"], ""),
        (["vllm/x", f"core={EMBEDDED}"], ""),
        (["vllm/x"], ""),
    ],
)
def test_it_is_said_where_no_language_model_judges(names: list[str], said: str, tmp_path: Path) -> None:
    notes = prepare("rate", small(), out=tmp_path / "run", model=names, dry_run=True).notes
    assert [said in note for note in notes if EMBEDDED in note] == [True] * bool(said)


def run(job: Job) -> Outcome:
    return asyncio.run(execute(job))


@pytest.mark.parametrize(("judge", "settings"), JUDGES)
def test_a_judge_names_every_role_that_asks(judge: str, settings: dict[str, str], tmp_path: Path) -> None:
    job = prepared(judge, tmp_path / "run", settings)
    known = roles_of(job.annotator)
    assert known
    asked = run(job).tally.roles
    assert asked <= set(known)
    kinds = {name.partition(".")[0] for name in asked}
    if judge != "himate":  # the rules find errors of some subtypes only
        assert {name.partition(".")[0] for name in known} == kinds


def test_a_search_agent_is_a_role_where_there_is_an_engine(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.txt").write_text("Some text.")
    job = prepared("rate", tmp_path / "run", {"search": f"files:{tmp_path / 'files'}"})
    assert roles_of(job.annotator) == ("core", "search", "evaluation", "comparison")


@pytest.mark.parametrize(
    ("judge", "role", "said"),
    [
        ("m-mad", "opponentt", "did you mean opponent"),
        ("m-mad", "supporter.acuracy", "did you mean supporter.accuracy"),
        ("himate", "acuracy", "did you mean accuracy"),
        ("rate", "kern", "its roles: core, evaluation, comparison$"),
        ("fire", "overall", "its roles: faithfulness, fluency, style"),
    ],
)
def test_a_role_that_a_judge_does_not_have_is_refused_first(
    judge: str, role: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=said):
        prepared(judge, tmp_path / "run", None, role)
    assert not (tmp_path / "run").exists()


def test_debaters_are_no_roles_where_nothing_is_debated(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="asks no 'opponent'"):
        prepared("m-mad", tmp_path / "run", {"strategy": "none"}, "opponent")


@pytest.mark.parametrize("role", ["expert", "expert.accuracy", "tier-1", "accuracy", "accuracy.omission"])
def test_a_part_of_a_role_before_a_dot_serves_them_all(role: str, tmp_path: Path) -> None:
    judge = "m-mad" if role.startswith("expert") else "himate"
    assert prepared(judge, tmp_path / "run", None, role).models is not None
    assert serves("expert", ["expert.accuracy"])
    assert not serves("expert.acc", ["expert.accuracy"])


def test_a_role_that_had_nothing_to_ask_is_not_called_unknown(tmp_path: Path) -> None:
    plain = Segment(segment="1", lp="en-de", source="Good morning.", translations={"ours": "Guten Morgen."})
    models = [EMBEDDED, f"opponent={EMBEDDED}"]
    job = prepare("m-mad", TestSet(name="plain", segments=(plain,)), out=tmp_path / "run", model=models)
    assert run(job).notes == ("no question came from role 'opponent'",)


def test_a_role_of_a_judge_that_names_none_is_said(tmp_path: Path, model: Scripted) -> None:
    job = prepare(Rater(), small_set(1), out=tmp_path / "run", model=[EMBEDDED, f"cor={EMBEDDED}"])
    assert run(job).notes == ("no question came from role 'cor'; this judge's roles: none",)
