"""FiRE's benchmark: a folder and its files, as test set, gold, and of what nobody agreed on."""

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge.core.judge import Profile
from adjudge.core.record import Preference
from adjudge.core.segment import Segment, TestSet, listed_pairs
from adjudge.errors import DataError, UsageError
from adjudge.formats.convert import write_content
from adjudge.formats.file_content import Content
from adjudge.formats.fire_mt import read_fire
from adjudge.formats.read import Judgements, detect, load, read_judgements
from adjudge.llm import embedded_rules
from adjudge.llm.model import Request
from adjudge.runs.job import prepare
from tests.cli.calling import Asked


def said(label: str, better: int, same: int, worse: int, level: str = "Hard") -> dict[str, Any]:
    return {"label": label, "level": level, "annotation": {"A>B": better, "A≈B": same, "A<B": worse}}


def pair(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "src": f"Sentence {number}.\nAnd more.",
        "trans1": f"第{number}句。",
        "trans2": f"句子{number}。",
        "Faithfulness": said("A", 3, 0, 0),
        "Fluency": said("E", 1, 2, 0),
        "Consistency of Style": said("NONE", 1, 1, 1),
        "Overall": said("B", 1, 0, 2),
        "model1": "GPT-4o",
        "model2": "Qwen",
    } | changes


def write(folder: Path, *pairs: dict[str, Any], lp: str = "en-zh") -> Path:
    file = folder / lp / f"{lp}-annotation.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(pairs, ensure_ascii=False, indent=2))
    return file


def verdicts(found: Judgements) -> dict[tuple[str, str], str]:
    return {(r.segment, r.criterion): r.verdict for r in found.records if isinstance(r, Preference)}


@pytest.mark.parametrize("as_folder", [False, True])
def test_a_file_or_its_folder_is_test_set_and_gold(tmp_path: Path, *, as_folder: bool) -> None:
    file = write(tmp_path, pair(1), pair(2, model1="Qwen", model2="GPT-4o"))
    write(tmp_path, pair(1), lp="ru-zh")
    path = tmp_path if as_folder else file
    assert detect(path) == "fire-mt"
    test_set = load(path, lp="en-zh")
    assert [s.segment for s in test_set] == ["1", "2"]
    assert test_set.segments[0].source == "Sentence 1.\nAnd more."
    assert test_set.segments[1].translations == {"Qwen": "第2句。", "GPT-4o": "句子2。"}
    found = read_judgements(path, lp="en-zh")
    assert verdicts(found) == {
        (str(n), c): v for n in (1, 2) for c, v in (("faithfulness", "A"), ("fluency", "E"), ("overall", "B"))
    }
    assert any("2 pairs without a majority on style" in note for note in found.notes), found.notes


def test_a_folder_with_several_language_pairs_wants_one(tmp_path: Path) -> None:
    write(tmp_path, pair(1))
    write(tmp_path, pair(1), lp="ja-zh")
    with pytest.raises(UsageError, match="has 2 language pairs: add --lp, one of en-zh, ja-zh"):
        load(tmp_path)
    with pytest.raises(UsageError, match="has no lp 'de-zh'; it has en-zh, ja-zh"):
        load(tmp_path, lp="de-zh")
    (tmp_path / "mine.json").write_text((tmp_path / "en-zh/en-zh-annotation.json").read_text())
    assert read_fire(tmp_path / "mine.json", "en-zh").test_set.lps == ("en-zh",)
    with pytest.raises(UsageError, match="does not say its language pair"):
        read_fire(tmp_path / "mine.json")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"Fluency": said("A", 1, 2, 0)}, "the label of 'Fluency' is A, and three people say E"),
        ({"Fluency": said("E", 1, 1, 0)}, "of three people"),
        ({"Fluency": said("E", -1, 4, 0)}, "of three people"),
        ({"Fluency": {"label": "E"}}, "needs 'annotation'"),
        ({"model2": "GPT-4o"}, "both translations are of 'GPT-4o'"),
        ({"trans1": 7}, "trans1"),
    ],
)
def test_a_pair_that_is_none_is_refused_with_its_place(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    file = write(tmp_path, pair(1), pair(2, **changes))
    with pytest.raises(DataError, match=message) as raised:
        read_fire(file)
    assert "pair 2" in str(raised.value)


def test_a_judge_runs_on_it_and_is_compared_with_people(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, *(pair(n) for n in range(1, 5)))
    run = adjudge.run("fire", tmp_path, lp="en-zh", out=tmp_path / "run", model="builtin/rules")
    assert run.info.counts["failed"] == 0
    said = Asked(capsys, "agreement", tmp_path / "en-zh/en-zh-annotation.json", "--judge", tmp_path / "run")
    assert said.code == 0
    assert "overall" in said.out


SYSTEMS = [f"{stem}-{n}" for stem in ("GPT-4o", "Qwen", "模型", "Ю-МТ") for n in range(4)]
SAID = {"A": (3, 0, 0), "E": (1, 2, 0), "B": (1, 0, 2)}


def benchmark(seed: int, number: int = 300) -> list[dict[str, Any]]:
    """Pairs of 16 systems, each in an order that is drawn; texts of several scripts."""
    draws = random.Random(seed)
    pairs = []
    for n in range(number):
        first, second = draws.sample(SYSTEMS, 2)
        label, level = draws.choice("AEB"), draws.choice(["Easy", "Hard"])
        pairs.append(
            pair(
                n,
                src=draws.choice(["It is {}.", "Поезд {}.", "列車は{}時。"]).format(n),
                trans1=f"{first} 第{n}句",
                trans2=f"{second} 第{n}句！",
                model1=first,
                model2=second,
                Overall=said(label, *SAID[label], level),
                Fluency=said("A", *SAID["A"], level),
            )
        )
    draws.shuffle(pairs)
    return pairs


@pytest.mark.parametrize(("seed", "lp"), [(1, "en-zh"), (2, "ru-zh"), (3, "ja-zh")])
@pytest.mark.parametrize("as_jsonl", [False, True])
def test_its_pairs_are_those_that_a_judge_of_pairs_is_asked_about(
    tmp_path: Path, seed: int, lp: str, *, as_jsonl: bool
) -> None:
    pairs = benchmark(seed)
    path = write(tmp_path, *pairs, lp=lp)
    if as_jsonl:
        write_content(tmp_path / "set.jsonl", "jsonl", Content(test_set=load(path)))
        path = tmp_path / "set.jsonl"
    wanted = [(each["model1"], each["model2"]) for each in pairs]
    asked: list[tuple[str, Profile]] = [("fire", "paper"), ("fire", "code"), ("direct-rank", "paper")]
    for judge, profile in asked:
        job = prepare(judge, path, model=["builtin/rules"], profile=profile)
        units = list(job.plan)
        assert len(units) == 300 == len(job.plan) / len(job.plan.criteria)
        assert [unit.subject.systems for unit in units] == wanted
        assert not any(slot.missing for unit in units for slot in unit.slots)
        assert job.signature.fields["pairs"].startswith("listed,")
        assert not [note for note in job.notes if "missing" in note]


@pytest.mark.parametrize("profile", ["paper", "code"])
def test_a_run_on_it_has_no_record_of_a_pair_that_never_was_and_shows_trans1_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: Profile
) -> None:
    shown: dict[str, str] = {}

    class Heard(embedded_rules.RulesModel):
        async def reply(self, request: Request) -> Any:
            parts = request.messages[-1].parts
            said = "".join(part if isinstance(part, str) else part.text for part in parts)
            shown[request.about.subject.segment.segment] = said
            return await super().reply(request)

    monkeypatch.setattr(embedded_rules, "RulesModel", Heard)
    pairs = benchmark(4, 60)
    path = write(tmp_path, *pairs)
    run = adjudge.run("direct-rank", path, out=tmp_path / "run", model="builtin/rules", profile=profile)
    assert [r.systems for r in run.records] == [(each["model1"], each["model2"]) for each in pairs]
    assert run.info.counts == {"judged": 60, "failed": 0, "pending": 0}
    assert sum(s.untranslated for s in adjudge.score(run).systems) == 0
    assert len(shown) == 60
    for number, each in enumerate(pairs, start=1):
        assert 0 <= shown[str(number)].find(each["trans1"]) < shown[str(number)].find(each["trans2"])
    ranking = adjudge.rank(run, method="copeland", resamples=20)
    assert "; 60 comparisons in 60 segments" in ranking.method


@pytest.mark.parametrize(
    ("options", "number"),
    [
        ({"pairs": "all"}, 300),
        ({"pairs": "listed"}, 300),
        ({"pairs": "sampled", "pairs_in_all": 40}, 40),
        ({"pairs": "sampled", "pairs_per_segment": 3}, 300),
        ({"pairs": "adaptive"}, 300),
        ({"limit": 20}, 20),
    ],
)
def test_every_schedule_chooses_among_its_pairs(tmp_path: Path, options: dict[str, Any], number: int) -> None:
    pairs = benchmark(5)
    job = prepare("fire", write(tmp_path, *pairs), model=["builtin/rules"], **options)
    units = list(job.plan)
    assert len(units) == len(job.plan) / len(job.plan.criteria) == number
    for unit in units:
        each = pairs[int(unit.subject.segment.segment) - 1]
        assert unit.subject.systems == (each["model1"], each["model2"])


@pytest.mark.parametrize("judge", ["gemba-mqm", "rate", "chrf"])
def test_who_judges_translations_is_asked_about_those_of_its_pairs(tmp_path: Path, judge: str) -> None:
    pairs = benchmark(6, 30)
    test_set = load(write(tmp_path, *pairs))
    if judge == "chrf":
        segments = tuple(replace(s, references={"ref": "第一句"}) for s in test_set)
        test_set = replace(test_set, segments=segments)
    options: dict[str, Any] = {} if judge == "chrf" else {"model": ["builtin/rules"]}
    plan = prepare(judge, test_set, **options).plan
    slots = [(unit.subject.segment.segment, slot) for unit in plan for slot in unit.slots]
    assert len(slots) == len(plan) == 60
    assert not any(slot.missing for _, slot in slots)


def test_systems_that_are_chosen_have_the_pairs_among_them(tmp_path: Path) -> None:
    pairs = benchmark(7)
    some = SYSTEMS[:5]
    job = prepare("direct-rank", write(tmp_path, *pairs), model=["builtin/rules"], systems=some)
    wanted = [(p["model1"], p["model2"]) for p in pairs if {p["model1"], p["model2"]} <= {*some}]
    assert [unit.subject.systems for unit in job.plan] == wanted
    assert any(f"{300 - len(wanted)} of 300 pairs are of segments or" in note for note in job.notes)


def test_agreement_shows_easy_and_hard_pairs_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = benchmark(8, 80)
    path = write(tmp_path, *pairs)
    draws = random.Random(9)
    judged = [
        Preference(
            lp="en-zh",
            segment=str(n),
            systems=(each["model2"], each["model1"]),
            annotator="judge",
            criterion="overall",
            verdict=draws.choice(["A", "B", "E"]),
        )
        for n, each in enumerate(pairs, start=1)
    ]
    write_content(tmp_path / "judge.jsonl", "records", Content(records=judged))
    asked = Asked(capsys, "agreement", path, "--judge", tmp_path / "judge.jsonl", "--format", "json")
    rows = {row["measure"]: row for row in json.loads(asked.out)["rows"] if row["criterion"] == "overall"}
    turned = {"A": "B", "B": "A", "E": "E"}
    for kind, is_tied in (("ranked", False), ("tied", True)):
        for level in ("easy", "hard"):
            same = [
                turned[j.verdict] == p["Overall"]["label"]
                for j, p in zip(judged, pairs, strict=True)
                if (p["Overall"]["label"] == "E") == is_tied and p["Overall"]["level"].lower() == level
            ]
            row = rows[f"agreement, {kind} {level}"]
            assert (row["value"], row["n"]) == (pytest.approx(sum(same) / len(same)), len(same))


@pytest.mark.parametrize(
    "listed",
    ["AB", [["A", "A"]], [["A", "B"], ["B", "A"]], [["A"]], [["A", "B", "C"]], [["A", 1]], 5, [["A", ""]]],
)
def test_pairs_that_are_none_are_refused(listed: object) -> None:
    with pytest.raises(DataError):
        listed_pairs(Segment(segment="1", lp="en-de", source="a", meta={"pairs": listed}))


def test_a_test_set_of_other_pairs_is_another_one() -> None:
    one, other, none = (
        TestSet(name="a", segments=(Segment(segment="1", lp="he-en", source="א", meta=meta),))
        for meta in ({"pairs": [["A", "B"]]}, {"pairs": [["B", "A"]]}, {})
    )
    assert len({one.digest, other.digest, none.digest}) == 3
