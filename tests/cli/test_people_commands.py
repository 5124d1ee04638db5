"""`adjudge campaign`: made, watched, exported, and read by every command that reads a run."""

import csv
import json
import re
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adjudge.campaigns.campaign import open_campaign
from adjudge.campaigns.database import Campaign
from adjudge.campaigns.people import people
from adjudge.core.record import Annotation, ErrorSpan
from adjudge.core.segment import Segment, TestSet
from adjudge.formats.campaign_export import read_campaign_file
from adjudge.formats.read import read_content
from adjudge.store.json_lines import write_records, write_test_set
from adjudge.store.run_directory import read_records
from tests.campaigns.test_tutorial import take_test
from tests.campaigns.work import work_off
from tests.cli.calling import call

NOW = 1_760_000_000.0
SYSTEMS = ("Alder", "Birch", "Cedar")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    segments = tuple(
        Segment(
            segment=str(number),
            lp="en-de",
            document=f"d{number % 2}",
            source=f"The sofa number {number} is red and large.",
            translations={name: f"Das Sofa {number} ist rot und groß, sagt {name}." for name in SYSTEMS},
        )
        for number in sorted(range(1, 7), key=lambda n: n % 2)
    )
    write_test_set("set.jsonl", TestSet(name="set", segments=segments))


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = call(*arguments)
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def made(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    code, out, err = run(capsys, "campaign", "new", "autumn", "set.jsonl", *options)
    assert code == 0, err
    return out


def judge(campaign: Campaign, **changes: Any) -> None:
    """Every annotator does everything that there is for them."""
    for who in people(campaign):
        if who.role == "annotator" and who.revoked_at is None:
            work_off(campaign, who, NOW, **changes)


def judged(**changes: Any) -> None:
    campaign = open_campaign("autumn")
    judge(campaign, **changes)
    campaign.database.close()


def test_a_new_campaign_says_what_was_made_and_what_comes_next(capsys: pytest.CaptureFixture[str]) -> None:
    out = made(capsys, "--annotators", "2", "--checks", "0.12", "--seed", "7")
    assert out.startswith("Campaign autumn: Error Span Annotation, en-de\n")
    assert "Next: adjudge campaign serve autumn\n" in out
    assert re.search(r"^  tasks    \d+ documents, of them [1-9]\d* checks?$", out, re.MULTILINE)
    assert stat.S_IMODE(Path("autumn/links.csv").stat().st_mode) == 0o600


def test_commands_to_copy_are_quoted(capsys: pytest.CaptureFixture[str]) -> None:
    name = "s 10 日本"
    code, out, _ = run(capsys, "campaign", "new", name, "set.jsonl", "-n", "ann")
    assert (code, f"Next: adjudge campaign serve '{name}'\n" in out) == (0, True)
    _, _, err = run(capsys, "campaign", "new", name, "set.jsonl")
    assert f"open it: adjudge campaign serve '{name}'" in err
    _, _, err = run(capsys, "campaign", "import", "other", name)
    assert f"`adjudge campaign export '{name}' FILE` first" in err
    with open_campaign(name) as campaign:
        judge(campaign, rating=50)
    run(capsys, "campaign", "export", name, "export.jsonl")
    _, out, _ = run(capsys, "campaign", "import", "over there", "export.jsonl")
    assert "Next: adjudge campaign serve 'over there'\n" in out


def test_one_table_says_who_has_what(capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys, "--annotators", "ann:en-de, ben", "--raters", "2", "--pairs-of-people")
    rows = list(csv.DictReader(Path("autumn/links.csv").read_text().splitlines()))
    assert [(row["name"], row["languages"], row["segments"]) for row in rows] == [
        ("ann", "en-de", rows[0]["segments"]),
        ("ben", "en-de", rows[0]["segments"]),
        ("organiser", "", ""),
    ]
    for command in ("people", "status"):
        _, out, _ = run(capsys, "campaign", command, "autumn", "--format", "json")
        held = [(one["languages"], str(one["segments"])) for one in json.loads(out)["people"]]
        assert held[:2] == [(["en-de"], rows[0]["segments"])] * 2
        _, out, _ = run(capsys, "campaign", command, "autumn")
        assert "languages" in out


@pytest.mark.parametrize(
    ("protocol", "what"),
    [
        ("esa", "18 translations of 6 segments"),
        ("pairwise", "18 pairs of 6 segments"),
        ("post-edit", "6 segments"),
    ],
)
def test_segments_and_judgements_are_told_apart(
    capsys: pytest.CaptureFixture[str], protocol: str, what: str
) -> None:
    each = int(what.split(maxsplit=1)[0])
    out = made(capsys, "-n", "2", "--raters", "2", "--protocol", protocol)
    assert f"  to do    {what}, each by 2 of 2 people: {2 * each} judgements\n" in out
    _, out, _ = run(capsys, "campaign", "status", "autumn")
    assert f"0 of {2 * each} judgements" in out
    assert f"Still to do: {2 * each} judgements." in out


def test_what_people_have_and_what_is_left_count_checks_alike(capsys: pytest.CaptureFixture[str]) -> None:
    out = made(capsys, "-n", "2", "--raters", "2", "--checks", "0.2", "--seed", "7")
    found = re.search(r"each by 2 of 2 people, and (\d+) in checks: (\d+) judgements\n", out)
    assert found is not None, out
    assert int(found[2]) == 36 + int(found[1])
    _, out, _ = run(capsys, "campaign", "people", "autumn", "--format", "json")
    people = json.loads(out)["people"][:2]
    assert sum(one["segments"] for one in people) == int(found[2])
    assert [one["segments"] for one in people] == [one["segments_left"] for one in people]
    rows = list(csv.DictReader(Path("autumn/links.csv").read_text().splitlines()))
    assert [int(row["segments"]) for row in rows[:2]] == [one["segments"] for one in people]
    judged()
    _, out, _ = run(capsys, "campaign", "status", "autumn", "--format", "json")
    done = json.loads(out)["people"][:2]
    assert [(one["segments"], one["segments_done"], one["segments_left"]) for one in done] == [
        (one["segments"], one["segments"], 0) for one in people
    ]


def test_people_are_added_with_languages(capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys, "--annotators", "2")
    _, out, _ = run(
        capsys, "campaign", "people", "autumn", "--add", "zoe", "--languages", "en-de", "--format", "json"
    )
    assert json.loads(out)["people"][-1]["languages"] == ["en-de"]
    code, _, err = run(capsys, "campaign", "people", "autumn", "--add", "kim", "--languages", "he-en")
    assert (code, "language pairs are en-de; got he-en" in err) == (2, True)


def test_the_same_seed_makes_the_same_campaign(capsys: pytest.CaptureFixture[str]) -> None:
    outputs = []
    for name in ("one", "two"):
        run(capsys, "campaign", "new", name, "set.jsonl", "-n", "2", "--seed", "7", "--checks", "0.2")
        _, out, _ = run(capsys, "campaign", "status", name, "--format", "json")
        outputs.append({**json.loads(out), "campaign": ""})
    assert outputs[0] == outputs[1]


def test_line_aligned_files_and_chosen_systems_make_a_campaign(capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.txt").write_text("A\nB\n")
    Path("t.txt").write_text("a\nb\n")
    code, out, _ = run(
        capsys,
        "campaign",
        "new",
        "lines",
        "-s",
        "s.txt",
        "-t",
        "mine=t.txt",
        "--lp",
        "en-de",
        "-n",
        "ann,ben",
    )
    assert (code, "2 segments" in out) == (0, True)
    code, _, err = run(capsys, "campaign", "new", "odd", "set.jsonl", "--systems", "Nobody")
    assert (code, "has no system 'Nobody'" in err) == (2, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--protocol", "nothing"], "no campaign protocol 'nothing'"),
        (["--protocol", "esa-ai"], "give a run or a file of them"),
        (["--annotators", "1", "--raters", "2"], "needs 2 raters, and en-de has 1 annotator"),
        (["--annotators", ","], "takes a number, or names with commas between"),
        (["--check-kinds", "odd"], "check_kinds must be 'damaged'"),
        (["--half-steps"], "half_steps needs protocol sqm or contrastive-sqm"),
    ],
)
def test_a_campaign_that_cannot_be_is_refused_and_leaves_nothing(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(Path().iterdir())
    code, _, err = run(capsys, "campaign", "new", "autumn", "set.jsonl", *options)
    assert (code, message in err) == (2, True), err
    assert sorted(Path().iterdir()) == before


def test_a_folder_that_is_none_is_said_to_be_none(capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["status", "x"], ["people", "x"], ["export", "x", "y"]):
        code, _, err = run(capsys, "campaign", *command)
        assert (code, "no campaign in 'x'" in err) == (2, True)


def test_status_says_who_did_how_much(capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys, "-n", "ann,ben", "--checks", "0.2")
    judged()
    _, out, _ = run(capsys, "campaign", "status", "autumn")
    assert "ann" in out
    assert "Checks: noticed of done" in out
    _, out, _ = run(capsys, "campaign", "status", "autumn", "--format", "json")
    found = json.loads(out)
    assert (found["segments_left"], found["tasks"]) == (0, found["tasks_done"])
    assert [person["person"] for person in found["people"]] == ["ann", "ben", "organiser"]
    assert all(person["checks"] > person["checks_passed"] == 0 for person in found["people"][:2])
    for form in ("csv", "tsv", "markdown", "latex"):
        assert run(capsys, "campaign", "status", "autumn", "--format", form)[0] == 0


def test_a_campaign_is_translated_and_status_counts_what_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys)
    assert "Not translated" not in run(capsys, "campaign", "status", "autumn")[1]
    code, _, said = run(capsys, "campaign", "translate", "autumn", "--language", "de")
    path = Path("autumn") / "words" / "de.po"
    number = int(re.sub(r"\D", "", said.split(": ")[1]))
    assert (code, said) == (0, f"{path}: {number} entries to translate.\n")
    _, out, _ = run(capsys, "campaign", "status", "autumn")
    assert f"Not translated of what annotators read in de: {number} entries." in out
    _, out, _ = run(capsys, "campaign", "status", "autumn", "--format", "json")
    assert json.loads(out)["not_translated"] == {"de": number}
    path.write_text('msgid "open')
    assert run(capsys, "campaign", "status", "autumn")[0] == 1
    assert run(capsys, "campaign", "translate", "autumn", "--language", "klingonese")[0] == 2


def test_status_and_people_say_who_failed_the_test(capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys, "-n", "ann,ben", "--protocol", "sqm", "--tutorial", "--pass-mark", "1")
    campaign = open_campaign("autumn")
    ann, ben, _ = people(campaign)
    take_test(campaign, ann, 0)
    take_test(campaign, ben, 2)
    campaign.database.close()
    _, out, _ = run(capsys, "campaign", "status", "autumn")
    assert "ann (failed the test)" in out
    assert "Failed the test and get no work; what was dealt to them is others': ann." in out
    _, out, _ = run(capsys, "campaign", "status", "autumn", "--format", "json")
    told = {one["person"]: one["failed_test"] for one in json.loads(out)["people"]}
    assert told == {"ann": True, "ben": False, "organiser": False}
    _, out, _ = run(capsys, "campaign", "people", "autumn", "--format", "json")
    found = {one["person"]: (one["state"], one["segments_left"]) for one in json.loads(out)["people"]}
    assert found["ann"] == ("failed the test", 0)
    assert found["ben"][0] == "active"


def test_what_was_done_to_a_campaign_is_told_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys, "-n", "ann")
    run(capsys, "campaign", "people", "autumn", "--add", "zoe", "--revoke", "ann")
    _, out, _ = run(capsys, "campaign", "status", "autumn", "--log", "--format", "json")
    assert [(line["actor"], line["action"], line["detail"]) for line in json.loads(out)["log"]] == [
        ("command", "new campaign", "autumn"),
        ("command", "add person", "ann (annotator)"),
        ("command", "add person", "organiser (organiser)"),
        ("command", "add person", "zoe (annotator)"),
        ("command", "revoke", "ann"),
    ]
    _, out, _ = run(capsys, "campaign", "status", "autumn", "--log")
    assert "zoe (annotator)" in out


def test_people_are_added_renewed_and_shut_out(capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys, "-n", "ann,ben")
    _, out, err = run(
        capsys, "campaign", "people", "autumn", "--add", "zoe", "--new-link", "ann", "--revoke", "ben"
    )
    assert out.count("/#") == 2
    assert "not shown again" in err
    assert "autumn/links.csv stays as it was made; of zoe and ann, only the links above are good" in err
    _, out, _ = run(capsys, "campaign", "people", "autumn", "--format", "json")
    found = {p["person"]: p for p in json.loads(out)["people"]}
    assert [found[name]["state"] for name in ("ann", "ben", "zoe")] == ["active", "revoked", "active"]
    assert all(person["link"] is None for person in found.values())
    code, _, err = run(capsys, "campaign", "people", "autumn", "--revoke", "nobody")
    assert (code, "nobody called 'nobody'; there are ann, ben" in err) == (2, True)


# Exports...


@pytest.mark.parametrize(
    ("to", "name"),
    [
        ("campaign", "c.jsonl"),
        ("records", "r.jsonl"),
        ("appraise", "a.csv"),
        ("pearmut", "p.jsonl"),
        ("mqm-tsv", "m.tsv"),
        ("mtme-ratings", "en-de.x.seg.rating"),
        ("mtme-scores", "en-de.x.seg.score"),
        ("spreadsheet", "s.csv"),
        ("jsonl", "t.jsonl"),
    ],
)
@pytest.mark.parametrize("is_half_done", [False, True])
def test_a_campaign_is_exported_in_every_format_at_any_time(
    to: str, name: str, is_half_done: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    made(capsys, "-n", "ann,ben")
    campaign = open_campaign("autumn")
    if is_half_done:
        work_off(campaign, people(campaign)[0], NOW)
    else:
        judge(campaign)
    campaign.database.close()
    code, _, err = run(capsys, "campaign", "export", "autumn", name, "--to", to)
    assert code == 0, err
    assert Path(name).stat().st_size > 0
    assert run(capsys, "campaign", "export", "autumn", name, "--to", to)[0] == 2
    assert run(capsys, "campaign", "export", "autumn", name, "--to", to, "--force")[0] == 0
    if to in {"campaign", "records", "appraise"}:
        rated = {(r.segment, r.rating) for r in read_content(Path(name)).records or ()}  # type: ignore[union-attr]
        assert {rating for _, rating in rated} == {100}
        assert (len(rated) == 6) or is_half_done


def test_one_persons_judgements_are_exported_alone(capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys, "-n", "ann,ben")
    judged()
    run(capsys, "campaign", "export", "autumn", "r.jsonl", "--to", "records", "--annotator", "ann")
    assert {record.annotator for record in read_records("r.jsonl")} == {"ann"}
    code, _, err = run(
        capsys, "campaign", "export", "autumn", "x.jsonl", "--to", "records", "--annotator", "eve"
    )
    assert (code, "annotators are ann, ben" in err) == (2, True)
    code, _, err = run(capsys, "campaign", "export", "autumn", "x", "--to", "xliff")
    assert (code, "is exported as campaign, records" in err) == (2, True)


@pytest.mark.parametrize("to", ["records", "jsonl", "appraise", "pearmut", "spreadsheet"])
def test_an_export_before_anybody_judged_says_that_it_is_empty(
    to: str, capsys: pytest.CaptureFixture[str]
) -> None:
    made(capsys, "-n", "ann")
    code, _, err = run(capsys, "campaign", "export", "autumn", "x", "--to", to)
    assert (code, err) == (0, "adjudge: nobody has judged anything in autumn yet: x holds no judgement\n")


@pytest.mark.parametrize("to", ["mqm-tsv", "mtme-ratings"])
def test_a_format_with_a_line_a_translation_waits_for_the_first_judgement(
    to: str, capsys: pytest.CaptureFixture[str]
) -> None:
    made(capsys, "-n", "ann", "--protocol", "mqm")
    code, _, err = run(capsys, "campaign", "export", "autumn", "x", "--to", to)
    assert (code, err) == (
        2,
        f"adjudge: nobody has judged anything in autumn yet, and {to} cannot be empty\n",
    )
    assert not Path("x").exists()


def exported(capsys: pytest.CaptureFixture[str], protocol: str, *options: str, **said: Any) -> None:
    """Two people's judgements of everything as records.jsonl, and one of them as one.jsonl."""
    made(capsys, "--protocol", protocol, "-n", "ann,ben", "--raters", "2", "--checks", "0.1", *options)
    campaign = open_campaign("autumn")
    for number, who in enumerate(people(campaign)[:2]):
        if protocol == "pairwise":
            verdict = "AB"[number]
            changes = {"verdicts": dict.fromkeys(campaign.protocol.criteria, verdict)}
            work_off(campaign, who, NOW, **changes)
        else:
            work_off(campaign, who, NOW, **(said or {"rating": 60 + number}))
    campaign.database.close()
    run(capsys, "campaign", "export", "autumn", "records.jsonl", "--to", "records")
    for name in ("ann", "ben"):
        run(capsys, "campaign", "export", "autumn", f"{name}.jsonl", "--to", "records", "--annotator", name)


@pytest.mark.parametrize(
    "command",
    [
        ["score", "records.jsonl"],
        ["rank", "records.jsonl"],
        ["agreement", "records.jsonl"],
        ["compare", "records.jsonl", "Alder", "Birch"],
        ["compare", "ann.jsonl", "ben.jsonl"],
        ["spans", "ann.jsonl", "--gold", "ben.jsonl"],
        ["bias", "records.jsonl", "--test-set", "set.jsonl"],
        ["meta", "set.jsonl", "--gold", "ann.jsonl", "--scores", "ben=ben.jsonl"],
        ["score", "c.jsonl"],
    ],
    ids=" ".join,
)
def test_what_people_said_is_read_like_a_run(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    exported(capsys, "esa")
    run(capsys, "campaign", "export", "autumn", "c.jsonl")
    code, out, err = run(capsys, *command, "--format", "json")
    assert code == 0, err
    assert json.loads(out)


@pytest.mark.parametrize(
    "command",
    [
        ["rank", "records.jsonl", "--method", "copeland"],
        ["agreement", "records.jsonl"],
        ["bias", "records.jsonl"],
    ],
    ids=" ".join,
)
def test_preferences_of_people_are_read_like_a_run(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    exported(capsys, "pairwise")
    code, out, err = run(capsys, *command, "--format", "json")
    assert code == 0, err
    assert json.loads(out)


def test_nobody_else_can_read_the_folder_of_a_campaign(capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys)
    assert not Path("autumn").stat().st_mode & 0o077


# Begun elsewhere...


@pytest.mark.parametrize(
    ("form", "name"), [("campaign", "c.jsonl"), ("appraise", "a.csv"), ("pearmut", "x_#_en-de.jsonl")]
)
def test_a_campaign_begun_elsewhere_goes_on_here(
    form: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    made(capsys, "-n", "ann,ben")
    campaign = open_campaign("autumn")
    work_off(campaign, people(campaign)[0], NOW, rating=55)
    campaign.database.close()
    run(capsys, "campaign", "export", "autumn", name, "--to", form)
    code, _, err = run(capsys, "campaign", "import", "again", name, "--test-set", "set.jsonl")
    assert (code, "not in again" in err) == (0, False), err
    for folder in ("autumn", "again"):
        run(capsys, "campaign", "export", folder, f"{folder}.jsonl", "--to", "records")
    keys = [
        sorted((r.segment, r.system, r.annotator, r.rating) for r in read_records(f"{folder}.jsonl"))  # type: ignore[union-attr]
        for folder in ("autumn", "again")
    ]
    assert keys[0] == keys[1]
    _, out, _ = run(capsys, "campaign", "status", "again", "--format", "json")
    assert json.loads(out)["segments"] == 18
    assert 0 < json.loads(out)["segments_left"] < 18


FORMS = ("records", "appraise", "pearmut", "mqm-tsv", "mtme-ratings", "mtme-scores")
FITTING = {
    "esa": FORMS,
    "mqm": FORMS[:-1],
    "da-sqm": ("records", "appraise", "pearmut", "mtme-scores"),
    "sqm": ("records", "mtme-scores"),
    "pairwise": ("records",),
    "post-edit": (),
}


@pytest.mark.parametrize("protocol", FITTING)
def test_a_format_that_would_say_something_else_is_refused(
    capsys: pytest.CaptureFixture[str], protocol: str
) -> None:
    made(capsys, "-n", "1", "--protocol", protocol)
    judged()
    for form in ("campaign", "jsonl", "spreadsheet", *FORMS):
        code, _, err = run(capsys, "campaign", "export", "autumn", f"out.{form}", "--to", form)
        fits = form in {*FITTING[protocol], "campaign", "jsonl", "spreadsheet"}
        assert code == (0 if fits else 2), (form, err)
        assert Path(f"out.{form}").exists() == fits
        assert fits or f"a campaign of {protocol} is exported as campaign, jsonl, spreadsheet" in err


def test_an_import_says_what_it_took_over_and_what_it_leaves(capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys, "-n", "ann", "--checks", "0.2")
    judged(rating=50)
    run(capsys, "campaign", "export", "autumn", "autumn.jsonl")
    code, out, err = run(capsys, "campaign", "import", "winter", "autumn.jsonl")
    assert code == 0, err
    assert "done     18 judgements, by 1 person" in out
    assert "to do    0 judgements; in all 18 translations of 6 segments, each by the one person\n" in out
    assert "not made checks and tutorial" in out
    assert "in autumn.jsonl still: 4 answers to attention checks" in err
    assert "everybody has a new link, in winter/links.csv" in err


def test_times_that_nobody_measured_are_a_dash(capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys, "-n", "ann")
    judged(rating=50, active=20.0)
    run(capsys, "campaign", "export", "autumn", "autumn.jsonl")
    lines = [json.loads(line) for line in Path("autumn.jsonl").read_text().splitlines()]
    lines = [{**line, "active": None} if "active" in line else line for line in lines]
    Path("without.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    code, _, err = run(capsys, "campaign", "import", "winter", "without.jsonl")
    assert code == 0, err
    _, out, _ = run(capsys, "campaign", "status", "winter")
    (row,) = [line.split() for line in out.splitlines() if line.split()[:1] == ["ann"]]
    assert row[6:8] == ["–", "–"], out
    assert "Of 18 judgements nobody measured the time" in out
    _, out, _ = run(capsys, "campaign", "status", "winter", "--format", "json")
    told = json.loads(out)
    assert (told["active_seconds"], told["active_seconds_left"]) == (None, None)
    assert [told["people"][0][name] for name in ("active_seconds", "idle_seconds", "seconds_each")] == [
        None
    ] * 3
    _, out, _ = run(capsys, "campaign", "analyse", "winter", "--resamples", "10")
    assert "Of 18 of 18 items the active time is not known." in out
    run(capsys, "campaign", "export", "winter", "winter.csv", "--to", "spreadsheet")
    assert {row["active seconds"] for row in csv.DictReader(Path("winter.csv").read_text().splitlines())} == {
        ""
    }


def test_ratings_survive_pearmut_whatever_categories_a_machine_marked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = "Das Sofa 1 ist rot und groß, sagt Alder."
    kinds = (("fluency/grammar", 0, 3), ("accuracy/mistranslation", 4, 8))
    spans = tuple(
        ErrorSpan(severity="minor", category=c, start=a, end=b, text=text[a:b]) for c, a, b in kinds
    )
    said: dict[str, Any] = {"lp": "en-de", "annotator": "judge", "protocol": "mqm"}
    write_records("given.jsonl", [Annotation(**said, segment="1", system="Alder", spans=spans)])
    made(capsys, "-n", "ann", "--protocol", "esa-ai", "--given", "given.jsonl")
    judged(rating=70)
    _, _, err = run(capsys, "campaign", "export", "autumn", "p.jsonl", "--to", "pearmut")
    assert "2 categories of marks, which would make it MQM without ratings" in err
    _, _, err = run(capsys, "campaign", "import", "winter", "p.jsonl", "--lp", "en-de")
    assert "not in winter" not in err
    for name in ("autumn", "winter"):
        run(capsys, "campaign", "export", name, f"{name}.jsonl", "--to", "records")
    kept = [
        sorted((r.segment, r.system, r.rating, len(r.spans)) for r in read_records(f"{name}.jsonl"))  # type: ignore[union-attr]
        for name in ("autumn", "winter")
    ]
    assert kept[0] == kept[1]
    assert {rating for _, _, rating, _ in kept[1]} == {70}


def test_marks_of_a_machine_want_the_batches_that_showed_them(capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys, "-n", "ann")
    judged(rating=70)
    run(capsys, "campaign", "export", "autumn", "a.csv", "--to", "appraise")
    text = Path("a.csv").read_text()
    marked = '"[{""start_i"":0,""end_i"":1,""severity"":""minor""}]"'
    Path("a.csv").write_text(text.replace(",[],", f",{marked},", 1))
    code, _, err = run(capsys, "campaign", "import", "winter", "a.csv")
    assert code == 2
    assert "a.csv has marks that a machine made, and its batches have none" in err
    assert not Path("winter").exists()


def test_a_campaign_folder_is_exported_before_it_is_imported(capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys, "-n", "1")
    code, _, err = run(capsys, "campaign", "import", "winter", "autumn")
    assert code == 2
    assert "autumn is a campaign of adjudge already: `adjudge campaign export autumn FILE` first" in err


def test_references_that_people_wrote_come_back(capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys, "-n", "ann", "--protocol", "post-edit")
    judged()
    run(capsys, "campaign", "export", "autumn", "autumn.jsonl")
    code, out, err = run(capsys, "campaign", "import", "winter", "autumn.jsonl")
    assert (code, "not in winter" in err) == (0, False), err
    assert "done     6 judgements" in out
    run(capsys, "campaign", "export", "winter", "winter.jsonl")
    kept = [
        [(s.segment, s.chosen, s.edited) for s in read_campaign_file(Path(f"{name}.jsonl")).submissions]
        for name in ("autumn", "winter")
    ]
    assert kept[0] == kept[1]


def test_names_that_lead_out_of_the_folder_write_nothing_there(capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys, "-n", "ann")
    judged()
    run(capsys, "campaign", "export", "autumn", "c.jsonl")
    text = Path("c.jsonl").read_text().replace('"ann"', '"../../ann"').replace('"d1"', '"/etc/d1"')
    Path("deep").mkdir()
    Path("deep/c.jsonl").write_text(text.replace('"name":"autumn"', '"name":"../../../x"'))
    before = {path for path in Path().rglob("*") if "deep/again" not in str(path)}
    code, _, err = run(capsys, "campaign", "import", "deep/again", "deep/c.jsonl")
    assert code == 0, err
    assert {path for path in Path().rglob("*") if "deep/again" not in str(path)} == before


def test_other_people_look_at_what_was_marked(capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys, "--annotators", "2", "--assignment", "pool")
    judged()
    code, out, err = run(capsys, "campaign", "again", "autumn", "--how", "marks", "--format", "json")
    assert (code, json.loads(out)) == (0, {"campaign": "autumn", "how": "marks", "tasks": 6}), err
    _, out, _ = run(capsys, "campaign", "again", "autumn", "--how", "marks", "--format", "json")
    assert json.loads(out)["tasks"] == 0  # nothing is sent twice


def test_agreement_says_how_many_judgements_saw_the_marks_of_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = [
        Annotation(
            lp="en-de",
            segment=str(n),
            system=name,
            annotator=who,
            protocol="esa",
            rating=10 * n + place,
            flags=("second-look",) if who == "ben" and n < 4 else (),
        )
        for n in range(1, 7)
        for place, name in enumerate(SYSTEMS)
        for who in ("ann", "ben")
    ]
    write_records("said.jsonl", said)
    _, out, _ = run(capsys, "agreement", "said.jsonl", "--resamples", "0")
    told = " ".join(out.split())
    assert (
        "9 judgements are of people who were shown what others had marked: no independent agreement" in told
    )
    write_records("said.jsonl", [replace(one, flags=()) for one in said])
    assert "independent" not in run(capsys, "agreement", "said.jsonl", "--resamples", "0")[1]


def test_an_adjudicator_is_asked_for_before_work_is_sent(capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys, "--annotators", "2", "--raters", "2")
    judged()
    code, _, err = run(capsys, "campaign", "again", "autumn", "--how", "adjudicate")
    assert code == 2
    assert "this campaign has none; add one first" in err
    run(capsys, "campaign", "people", "autumn", "--add", "Kim", "--role", "adjudicator")
    again = ["campaign", "again", "autumn", "--how", "adjudicate"]
    _, out, _ = run(capsys, *again, "--tasks", "1,2", "--min-difference", "0", "--format", "json")
    assert json.loads(out) == {
        "campaign": "autumn",
        "how": "adjudicate",
        "measure": "ratings 0 or more apart, on the scale from 0 to 100",
        "min_difference": 0,
        "min_f1": None,
        "segments": 6,
        "differing": 6,
        "sent": 6,
        "tasks": 2,
    }
    code, out, err = run(capsys, *again)
    assert code == 0, err
    assert "People differ in 0 of 18 segments: ratings 25 or more apart, on the scale from 0 to 100." in out
    _, out, _ = run(capsys, *again, "--min-difference", "0", "--min-f1", "0.5")
    assert "or marks with an F1 below 0.5" in out
    assert "4 new tasks" in out


def test_the_gate_says_what_it_decided(capsys: pytest.CaptureFixture[str]) -> None:
    made(capsys, "--annotators", "2", "--raters", "2")
    judged(rating=50)
    _, out, _ = run(capsys, "campaign", "again", "autumn", "--how", "gate", "--format", "json")
    found = json.loads(out)
    assert (found["segments"], found["first"], found["failed"], found["unjudged"]) == (6, 0, 0, 6)
    _, out, _ = run(capsys, "campaign", "again", "autumn", "--how", "gate")
    assert "judged as often as asked" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--how", "marks", "--threshold", "0.5"], "--threshold and --by-others are for --how gate"),
        (["--how", "gate", "--tasks", "1"], "--tasks is for marks and adjudicate"),
        (["--how", "marks", "--min-f1", "1"], "--min-difference and --min-f1 are for --how adjudicate"),
        (["--how", "adjudicate", "--min-difference", "101"], "--min-difference lies in 0 to 100 points"),
        (["--how", "marks", "--tasks", "one"], "--tasks takes numbers with commas between, got 'one'"),
    ],
)
def test_what_does_not_fit_a_way_to_look_again_is_refused(
    capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    made(capsys, "--annotators", "2", "--raters", "2")
    code, _, err = run(capsys, "campaign", "again", "autumn", *options)
    assert code == 2
    assert message in err


def test_what_metrics_disagree_on_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    for name, order in (("one", 1), ("two", -1)):
        records = [
            Annotation(
                lp="en-de", segment=str(n), system=system, annotator=name, protocol="metric", rating=n * order
            )
            for n in range(1, 7)
            for system in SYSTEMS
        ]
        write_records(f"{name}.jsonl", records)
    dynamic = ("--assignment", "dynamic", "--dynamic-by", "disagreement")
    made(capsys, "--annotators", "1", *dynamic, "--metrics", "one.jsonl", "--metrics", "two.jsonl")
    code, _, err = run(capsys, "campaign", "new", "other", "set.jsonl", *dynamic, "--metrics", "one.jsonl")
    assert code == 2
    assert "needs the scores of two metrics or judges, got 1" in err
    code, _, err = run(capsys, "campaign", "new", "other", "set.jsonl", "--metrics", "one.jsonl")
    assert "--metrics are for --assignment dynamic" in err
