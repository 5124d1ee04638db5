"""`adjudge campaign new`, `import`, `status` and `analyse`: what they say, and files that are too much."""

import gzip
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from sqlalchemy import select

from adjudge.analysis.pair_schedules import ListedPair, write_pairs
from adjudge.campaigns.answers import release
from adjudge.campaigns.campaign import open_campaign
from adjudge.campaigns.database import item, task
from adjudge.campaigns.making import new_campaign
from adjudge.campaigns.settings import CampaignSettings
from adjudge.core.segment import Segment, TestSet
from adjudge.core.wording import count
from adjudge.formats.campaign_export import write_campaign_file
from adjudge.store.json_lines import write_records, write_test_set
from tests.analysis.records import mqm
from tests.analysis.study_campaigns import campaign
from tests.analysis.test_study import two_systems
from tests.campaigns.conftest import NOW, make_test_set
from tests.campaigns.work import answer_all, person, take, work_off
from tests.cli.calling import Ask, Asked

# `adjudge campaign analyse`: a folder, an export or an Appraise CSV, whole or half done.


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("export") / "small.jsonl"
    write_campaign_file(path, campaign(*two_systems()))
    return path


def analysed(ask: Ask, *words: object) -> Asked:
    return ask("campaign", "analyse", *words)


def value(done: Asked, section: str, of: str, measure: str) -> float:
    numbers = done.json["pairs"][0]["sections"][section]["numbers"]
    (found,) = (n for n in numbers if (n["of"], n["measure"]) == (of, measure))
    return float(found["value"])


@pytest.mark.usefixtures("_one_format")
def test_an_export_is_analysed_and_drawn(ask: Ask, export: Path) -> None:
    done = analysed(ask, export, "--resamples", 20, "--format", "json", "--figures", Path("figures"))
    assert value(done, "profile", "A", "rating") == 77.5
    assert Path("figures/ranking.rating.svg").is_file()
    table = analysed(ask, export, "--resamples", 0, "--format", "markdown").out
    assert "**Which systems are better? By rating**" in table


def test_a_campaign_that_is_half_done_is_analysed_from_its_folder(ask: Ask) -> None:
    made, _ = new_campaign(Path("half"), make_test_set("en-de"), CampaignSettings(protocol="esa"), 3, now=NOW)
    work_off(made, person(made), NOW)
    made.database.close()
    done = analysed(ask, Path("half"), "--resamples", 20, "--format", "json")
    assert value(done, "profile", "all", "rating") == 100
    assert done.json["pairs"][0]["campaign"] == "half"


def test_a_campaign_without_judgements_is_said_to_have_none_yet(ask: Ask, export: Path) -> None:
    new_campaign(Path("new"), make_test_set("en-de"), CampaignSettings(protocol="esa"), 3, now=NOW)
    said = analysed(ask, Path("new"), "--lp", "en-de").err
    assert "'new' has no judgements yet of en-de" in said
    for path in (Path("new"), export):
        assert "has no lp 'en-cs'; it has en-de" in analysed(ask, path, "--lp", "en-cs").err


def test_a_csv_without_its_batches_says_what_is_wanted(ask: Ask) -> None:
    Path("scores.csv").write_text("")
    assert "name one with --batches" in analysed(ask, Path("scores.csv")).err


@pytest.mark.realdata
def test_the_esa_papers_numbers_come_out_of_its_csv(ask: Ask, adjudge_data: Path) -> None:
    gold = adjudge_data / "wmt23" / "human-scores" / "en-de.mqm.merged.seg.rating"
    csv = adjudge_data / "esa" / "240315rc5ESA.scores.csv"
    done = analysed(ask, csv, "--gold", gold, "--resamples", 20, "--format", "json")
    wanted = pytest.approx(0.2271, abs=5e-4)  # the paper leaves fillers out
    assert value(done, "gold", "rating", "Kendall tau-c") == wanted
    assert value(done, "gold", "points", "Kendall tau-c") == pytest.approx(0.1702, abs=5e-4)
    assert value(done, "systems", "with gold", "pairwise accuracy") == pytest.approx(0.9487, abs=1e-4)
    assert value(done, "weights", "all", "best weight") == 4.8
    with_rating = value(done, "features", "major errors", "Pearson with the rating")
    assert with_rating == pytest.approx(-0.52, abs=0.005)


# Files that are made to fill memory or time end `campaign import` and `campaign new` with one clear line.


MEGABYTE = 1 << 20
MOST = 160  # MB that a command may take besides what the commands themselves take
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
XML = """<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 {}>{}]><{} version="1.2"><file><body><trans-unit>
<source>&l9;</source><target>x</target></trans-unit></body></file></{}>"""
RUN = """
import contextlib, io, json, resource, sys
from adjudge.cli.main import main

def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

found = {}
for command in (["--version"], *json.load(sys.stdin)):
    said, before = io.StringIO(), most()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        try:
            main(command)
        except SystemExit as left:
            found[" ".join(command)] = [left.code, said.getvalue(), most() - before]
print(json.dumps(found))
"""


def sparse(path: Path, start: bytes = b"") -> None:
    """A gigabyte without a line end, of which no disk is filled."""
    with path.open("wb") as file:
        file.write(start)
        file.truncate(1024 * MEGABYTE)


def bombs(folder: Path) -> dict[str, str]:
    """Name of each file to what is said of it."""
    (folder / "zeros.jsonl.gz").write_bytes(gzip.compress(b"{" * MEGABYTE) * 1024)
    (folder / "lists.jsonl").write_bytes(b'{"segment": ' + b"[" * 1_000_000)
    name = b'{"schema": "adjudge-campaign/1", "name": '
    (folder / "objects.jsonl").write_bytes(name + b'{"a": ' * 200_000)
    (folder / "annotations.json").write_bytes(b'{"annotation": ' + b"[" * 500_000 + b', "item": []')
    sparse(folder / "line.jsonl", b"{")
    sparse(folder / "line.csv", b"source,target\n")
    (folder / "columns.csv").write_bytes(b"source" + b",x" * 1_000_000 + b"\n")
    (folder / "cells.csv").write_bytes(b"source,A\n" + b"x" + b",y" * 1_000_000 + b"\n")
    rater = b"system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity"
    (folder / "columns.tsv").write_bytes(rater + b"\tx" * 1_000_000 + b"\n" + b"x\t" * 9 + b"\n")
    for root in ("xliff", "tmx"):
        (folder / f"laughs.{root}").write_text(XML.format('"l"', LAUGHS, root, root))
        (folder / f"file.{root}").write_text(XML.format("SYSTEM 'file:///etc/passwd'", LAUGHS, root, root))
    with zipfile.ZipFile(folder / "sheet.xlsx", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        packed.writestr("xl/workbook.xml", "<workbook/>")
        with packed.open("xl/worksheets/sheet1.xml", "w") as sheet:
            for _ in range(400):
                sheet.write(b" " * MEGABYTE)
    packed_once = "unpacks to more than 200 times its size"
    declares = "a document type that declares something, such as entities, is not read"
    deep, long = "nested too deeply", "a line of 16 MB or more, which is no record"
    return {
        "zeros.jsonl.gz": packed_once,
        **dict.fromkeys(("lists.jsonl", "objects.jsonl", "annotations.json"), deep),
        **dict.fromkeys(("line.jsonl", "line.csv"), long),
        "columns.csv": "a table of more than 16,384 columns",
        "cells.csv": "row 1: 1000001 cells, and the heading has 2",
        "columns.tsv": "severity must be neutral, minor, major, critical or No-error",
        **dict.fromkeys(("laughs.xliff", "laughs.tmx", "file.xliff", "file.tmx"), declares),
        "sheet.xlsx": "unpacks to 400 MB",
    }


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in other units elsewhere")
def test_no_bomb_fills_memory_or_time_whatever_command_opens_it(tmp_path: Path) -> None:
    said = bombs(tmp_path)
    ways = (["campaign", "import", "out", "--lp", "en-de"], ["campaign", "new", "out", "--lp", "en-de"])
    commands = {" ".join(one := [*way, name]): (one, name) for name in said for way in ways}
    ran = subprocess.run(  # a process of its own: what it takes is what the commands take
        [sys.executable, "-c", RUN],
        input=json.dumps([one for one, _ in commands.values()]),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "COLUMNS": "200"},
        timeout=100,
        check=True,
    )
    found = json.loads(ran.stdout)
    for command, (_, name) in commands.items():
        code, words, more = found[command]
        assert code == 1, (command, words)
        assert words.count("\n") == 1, (command, words)
        assert name in words
        assert said[name] in words, (command, words)
        assert more < MOST, (command, more)
    assert not (tmp_path / "out").exists()
    assert not [one for one in tmp_path.iterdir() if one.name.startswith(".")]


def test_an_import_that_is_refused_leaves_no_folder(ask: Ask) -> None:
    contents = {
        "batches.json": "[]",
        "mine.csv": "anna,sys,1,TGT,en,de,1,doc#a,False,[],1,1,1,1\n",  # and no batches beside it
        "empty.jsonl": "",
        "texts.csv": "source,A\nOne.,Eins.\n",  # nobody judged anything
        "scores.csv": "name,score\nanna,3\n",
        "nul.jsonl": "\0",
    }
    for name, content in contents.items():
        Path(name).write_text(content)
        asked = ask("campaign", "import", "out", name, "--lp", "en-de")
        assert (asked.code in {1, 2}, name in asked.err, asked.err.count("\n")) == (True, True, 1)
        assert not Path("out").exists()
        Path(name).unlink()  # none lies beside the next


SYSTEMS = tuple("abcd")


@pytest.fixture(autouse=True)
def _files(_elsewhere: None) -> None:
    """One segment of four systems as one.jsonl, ten documents of them as ten.jsonl."""
    segments = tuple(
        Segment(
            segment=str(number),
            lp="en-de",
            document=f"d{number}",
            source=f"House {number} is red.",
            translations={name: f"Haus {number} ist rot, sagt {name}." for name in SYSTEMS},
        )
        for number in range(10)
    )
    write_test_set("one.jsonl", TestSet(name="one", segments=segments[:1]))
    write_test_set("ten.jsonl", TestSet(name="ten", segments=segments))


def told(ask: Ask, test_set: str, *options: str) -> dict[str, str]:
    """Lines of what was made, by their first word."""
    made = ask.done("campaign", "new", "autumn", test_set, "-n", "2", *options).out
    lines = [line.split(maxsplit=1) for line in made.splitlines()]
    return {line[0]: line[1] for line in lines}


@pytest.mark.parametrize(
    ("protocol", "tasks", "to_do", "work"),
    [
        ("esa", "4 documents", "4 translations of 1 segment", "3 minutes of work, 2 minutes each, at 34 s"),
        ("mqm", "4 documents", "4 translations of 1 segment", "4 minutes of work, 2 minutes each, at 49 s"),
        ("contrastive-esa", "1 document", "1 segment", "3 minutes of work, 2 minutes each, at 136 s"),
        ("pairwise", "6 documents", "6 pairs of 1 segment", "7 minutes of work, 4 minutes each, at 68 s"),
        ("post-edit", "1 document", "1 segment", "2 minutes of work, 1 minute each, at 120 s"),
    ],
)
def test_the_time_is_that_of_all_translations_and_never_nothing(
    protocol: str, tasks: str, to_do: str, work: str, ask: Ask
) -> None:
    lines = told(ask, "one.jsonl", "--protocol", protocol)
    assert lines["tasks"] == tasks
    judgements = count(int(to_do.split(maxsplit=1)[0]), "judgement")
    assert lines["to"] == f"do    {to_do}, each by 1 of 2 people: {judgements}"
    assert lines["time"] == f"about {work} a segment"


def test_tasks_without_marks_and_checks_are_counted(ask: Ask) -> None:
    write_records(
        "given.jsonl", [mqm(name, str(n), annotator="judge") for n in range(10) for name in SYSTEMS]
    )
    options = ("--protocol", "esa-ai", "--given", "given.jsonl", "--control", "0.1", "--checks", "0.02")
    lines = told(ask, "ten.jsonl", *options, "--tutorial")
    assert lines["tasks"] == "43 documents, of them 2 checks, 4 controls, 1 tutorial"


def test_status_says_what_is_left_in_minutes(ask: Ask) -> None:
    told(ask, "one.jsonl", "--assignment", "pool")
    with open_campaign("autumn") as campaign:
        who = person(campaign)
        given = take(campaign, who, NOW)
        answer_all(campaign, who, given, NOW, rating=70, active=10.0)
        release(campaign, given.number, NOW, actor="test")
    out = ask.done("campaign", "status", "autumn").out
    assert "Still to do: 4 judgements, about 1 minute of work." in out
    assert "Finished besides, in tasks that were given back: 1 judgement." in out


def test_people_compare_the_pairs_that_were_drawn_and_no_others(ask: Ask) -> None:
    drawn = [("0", ("a", "b")), ("0", ("d", "c")), ("7", ("c", "d")), ("99", ("a", "b"))]
    pairs = [ListedPair(lp="en-de", segment=name, document="", systems=pair) for name, pair in drawn]
    write_pairs(Path("pairs.jsonl"), pairs)
    options = ["--protocol", "pairwise", "--pairs-file", "pairs.jsonl"]
    said = ask.done("campaign", "new", "autumn", "ten.jsonl", "-n", "2", *options)
    assert "3 documents" in said.out
    assert "1 of 4 pairs that were asked for is left out" in said.err
    with open_campaign(Path("autumn")) as campaign, campaign.database.reading() as connection:
        found = connection.execute(select(item.c.segment, task.c.systems).join_from(item, task)).all()
    shown = {(segment, *sorted(json.loads(systems))) for segment, systems in found}
    assert shown == {("0", "a", "b"), ("0", "c", "d"), ("7", "c", "d")}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--dynamic-by information", "does nothing without --assignment dynamic"),
        ("--dynamic-by disagreement --assignment pool", "does nothing without --assignment dynamic"),
        ("--loud", "does nothing without --checks"),
        ("--checks-first", "does nothing without --checks"),
        ("--check-kinds missing", "does nothing without --checks"),
        ("--code-pass A --code-fail B", "does nothing without --checks"),
        ("--pairs-file pairs.jsonl", "compares no pairs"),
    ],
)
def test_an_option_that_would_change_nothing_is_refused(options: str, said: str, ask: Ask) -> None:
    write_pairs(Path("pairs.jsonl"), [ListedPair(lp="en-de", segment="0", document="", systems=("a", "b"))])
    assert said in ask.refused("campaign", "new", "autumn", "ten.jsonl", "-n", "2", *options.split())
    assert not Path("autumn").exists()
