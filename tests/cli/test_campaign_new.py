"""What `adjudge campaign new` says of the work that it makes, and `status` of what is left."""

import json
from pathlib import Path

import pytest
from sqlalchemy import select

from adjudge.campaigns.answers import release
from adjudge.campaigns.campaign import open_campaign
from adjudge.campaigns.database import item, task
from adjudge.core.record import Annotation
from adjudge.core.segment import (
    Segment,
    TestSet,
)
from adjudge.formats.pair_file import ListedPair, write_pairs
from adjudge.store.json_lines import write_records, write_test_set
from tests.campaigns.conftest import NOW
from tests.campaigns.work import answer_all, person, take
from tests.cli.calling import call

SYSTEMS = tuple("abcd")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One segment of four systems as one.jsonl, ten documents of them as ten.jsonl."""
    monkeypatch.chdir(tmp_path)
    segments = [
        Segment(
            segment=str(number),
            lp="en-de",
            document=f"d{number}",
            source=f"House {number} is red.",
            translations={name: f"Haus {number} ist rot, sagt {name}." for name in SYSTEMS},
        )
        for number in range(10)
    ]
    write_test_set("one.jsonl", TestSet(name="one", segments=tuple(segments[:1])))
    write_test_set("ten.jsonl", TestSet(name="ten", segments=tuple(segments)))


def told(capsys: pytest.CaptureFixture[str], test_set: str, *options: str) -> dict[str, str]:
    """Lines of what was made, by their first word."""
    assert call("campaign", "new", "autumn", test_set, "-n", "2", *options) == 0
    lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    return {line[0]: line[1] for line in lines}


@pytest.mark.parametrize(
    ("protocol", "tasks", "to_do", "work"),
    [
        ("esa", "4 documents", "4 segments", "3 minutes of work, 2 minutes each, at 34 s"),
        ("mqm", "4 documents", "4 segments", "4 minutes of work, 2 minutes each, at 49 s"),
        ("contrastive-esa", "1 document", "1 segment", "3 minutes of work, 2 minutes each, at 136 s"),
        ("pairwise", "6 documents", "6 segments", "7 minutes of work, 4 minutes each, at 68 s"),
        ("post-edit", "1 document", "1 segment", "2 minutes of work, 1 minute each, at 120 s"),
    ],
)
def test_the_time_is_that_of_all_translations_and_never_nothing(
    protocol: str, tasks: str, to_do: str, work: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = told(capsys, "one.jsonl", "--protocol", protocol)
    assert lines["tasks"] == tasks
    assert lines["to"] == f"do    {to_do}, each task by 1 of 2 people"
    assert lines["time"] == f"about {work} a segment"


def test_tasks_without_marks_and_checks_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    marked = (
        Annotation(lp="en-de", segment=str(number), system=name, annotator="judge", protocol="mqm", spans=())
        for number in range(10)
        for name in SYSTEMS
    )
    write_records("given.jsonl", marked)
    options = ("--protocol", "esa-ai", "--given", "given.jsonl", "--control", "0.1", "--checks", "0.02")
    lines = told(capsys, "ten.jsonl", *options, "--tutorial")
    assert lines["tasks"] == "43 documents, of them 2 checks, 4 controls, 1 tutorial"


def test_status_says_what_is_left_in_minutes(capsys: pytest.CaptureFixture[str]) -> None:
    told(capsys, "one.jsonl", "--assignment", "pool")
    with open_campaign("autumn") as campaign:
        who = person(campaign)
        given = take(campaign, who, NOW)
        answer_all(campaign, who, given, NOW, rating=70, active=10.0)
        release(campaign, given.number, NOW, actor="test")
    assert call("campaign", "status", "autumn") == 0
    out = capsys.readouterr().out
    assert "Still to do: 4 segments, about 1 minute of work." in out
    assert "Finished besides, in tasks that were given back: 1 segment." in out


@pytest.mark.parametrize(
    ("options", "needed"),
    [
        (["--dynamic-by", "information"], "--assignment dynamic"),
        (["--dynamic-by", "disagreement", "--assignment", "pool"], "--assignment dynamic"),
        (["--loud"], "--checks"),
        (["--checks-first"], "--checks"),
        (["--check-kinds", "missing"], "--checks"),
        (["--code-pass", "A", "--code-fail", "B"], "--checks"),
    ],
)
def test_an_option_that_would_change_nothing_is_refused(
    options: list[str], needed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("campaign", "new", "autumn", "ten.jsonl", "-n", "2", *options) == 2
    assert f"does nothing without {needed}" in capsys.readouterr().err
    assert not Path("autumn").exists()


def test_people_compare_the_pairs_that_were_drawn_and_no_others(capsys: pytest.CaptureFixture[str]) -> None:
    drawn = [("0", ("a", "b")), ("0", ("d", "c")), ("7", ("c", "d")), ("99", ("a", "b"))]
    write_pairs(
        Path("pairs.jsonl"),
        [ListedPair(lp="en-de", segment=name, document="", systems=pair) for name, pair in drawn],
    )
    options = ["--protocol", "pairwise", "--pairs-file", "pairs.jsonl"]
    assert call("campaign", "new", "autumn", "ten.jsonl", "-n", "2", *options) == 0
    said = capsys.readouterr()
    assert "3 documents" in said.out
    assert "1 of 4 pairs that were asked for is left out" in said.err
    with open_campaign(Path("autumn")) as campaign, campaign.database.reading() as connection:
        found = connection.execute(select(item.c.segment, task.c.systems).join_from(item, task)).all()
    shown = {(segment, *sorted(json.loads(systems))) for segment, systems in found}
    assert shown == {("0", "a", "b"), ("0", "c", "d"), ("7", "c", "d")}


def test_pairs_are_for_pairwise_alone(capsys: pytest.CaptureFixture[str]) -> None:
    write_pairs(Path("pairs.jsonl"), [ListedPair(lp="en-de", segment="0", document="", systems=("a", "b"))])
    assert call("campaign", "new", "autumn", "ten.jsonl", "--pairs-file", "pairs.jsonl") == 2
    assert "compares no pairs" in capsys.readouterr().err
