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
from adjudge.campaigns.people import people
from adjudge.core.record import Annotation, ErrorSpan
from adjudge.core.segment import Segment, TestSet
from adjudge.formats.campaign_export import read_campaign_file
from adjudge.formats.read import read_content
from adjudge.store.json_lines import write_records, write_test_set
from adjudge.store.run_directory import read_records
from tests.analysis.records import rated
from tests.campaigns.test_tutorial import take_test
from tests.campaigns.work import work_off
from tests.cli.calling import Ask, Asked

NOW = 1_760_000_000.0
SYSTEMS = ("Alder", "Birch", "Cedar")


@pytest.fixture(autouse=True)
def _texts(_elsewhere: None) -> None:
    segments = tuple(
        Segment(
            segment=str(number),
            lp="en-de",
            document=f"d{number % 2}",
            source=f"The sofa number {number} is red and large.",
            translations={name: f"Das Sofa {number} ist rot und groß, sagt {name}." for name in SYSTEMS},
        )
        for number in (2, 4, 6, 1, 3, 5)
    )
    write_test_set("set.jsonl", TestSet(name="set", segments=segments))


def made(ask: Ask, *options: str) -> str:
    return ask.done("campaign", "new", "autumn", "set.jsonl", *options).out


def told(ask: Ask, verb: str, *words: str) -> Any:
    """What is said of the campaign as JSON."""
    return ask.done("campaign", verb, "autumn", *words, "--format", "json").json


def records_of(ask: Ask, *folders: str) -> list[list[Any]]:
    """Judgements of campaigns that people made, as exported."""
    for folder in folders:
        ask.done("campaign", "export", folder, f"{folder}.jsonl", "--to", "records", "--force")
    found = [[r for r in read_records(f"{f}.jsonl") if isinstance(r, Annotation)] for f in folders]
    return [
        sorted((r.segment, r.system, r.annotator, r.rating, len(r.spans)) for r in each) for each in found
    ]


def imported(ask: Ask, file: str, *words: str, name: str = "winter") -> Asked:
    """What is said where everything is taken over."""
    asked = ask.done("campaign", "import", name, file, *words)
    assert f"not in {name}" not in asked.err
    return asked


def links() -> list[dict[str, str]]:
    return list(csv.DictReader(Path("autumn/links.csv").read_text().splitlines()))


def judged(name: str = "autumn", most: int = 99, **changes: Any) -> None:
    """Every annotator, or as many as are said, does everything that there is for them."""
    with open_campaign(name) as campaign:
        annotators = [who for who in people(campaign) if who.role == "annotator" and who.revoked_at is None]
        for who in annotators[:most]:
            work_off(campaign, who, NOW, **changes)


def test_a_new_campaign_says_what_was_made_and_what_comes_next(ask: Ask) -> None:
    out = made(ask, "--annotators", "2", "--checks", "0.12", "--seed", "7")
    assert out.startswith("Campaign autumn: Error Span Annotation, en-de\n")
    assert "Next: adjudge campaign serve autumn\n" in out
    assert re.search(r"^  tasks    \d+ documents, of them [1-9]\d* checks?$", out, re.MULTILINE)
    assert stat.S_IMODE(Path("autumn/links.csv").stat().st_mode) == 0o600
    assert not Path("autumn").stat().st_mode & 0o077


def test_commands_to_copy_are_quoted(ask: Ask) -> None:
    name = "s 10 日本"
    out = ask.done("campaign", "new", name, "set.jsonl", "-n", "ann").out
    assert f"Next: adjudge campaign serve '{name}'\n" in out
    assert f"open it: adjudge campaign serve '{name}'" in ask("campaign", "new", name, "set.jsonl").err
    assert f"`adjudge campaign export '{name}' FILE` first" in ask("campaign", "import", "other", name).err
    judged(name, rating=50)
    ask.done("campaign", "export", name, "export.jsonl")
    out = ask("campaign", "import", "over there", "export.jsonl").out
    assert "Next: adjudge campaign serve 'over there'\n" in out


def test_one_table_says_who_has_what(ask: Ask) -> None:
    made(ask, "--annotators", "ann:en-de, ben", "--raters", "2", "--pairs-of-people")
    rows = [(row["name"], row["languages"], row["segments"]) for row in links()]
    segments = rows[0][2]
    assert rows == [("ann", "en-de", segments), ("ben", "en-de", segments), ("organiser", "", "")]
    for verb in ("people", "status"):
        held = [(one["languages"], str(one["segments"])) for one in told(ask, verb)["people"]]
        assert held[:2] == [(["en-de"], segments)] * 2
        assert "languages" in ask("campaign", verb, "autumn").out


@pytest.mark.parametrize(
    ("protocol", "what"),
    [
        ("esa", "18 translations of 6 segments"),
        ("pairwise", "18 pairs of 6 segments"),
        ("post-edit", "6 segments"),
    ],
)
def test_segments_and_judgements_are_told_apart(ask: Ask, protocol: str, what: str) -> None:
    each = int(what.split(maxsplit=1)[0])
    out = made(ask, "-n", "2", "--raters", "2", "--protocol", protocol)
    assert f"  to do    {what}, each by 2 of 2 people: {2 * each} judgements\n" in out
    out = ask("campaign", "status", "autumn").out
    assert f"0 of {2 * each} judgements" in out
    assert f"Still to do: {2 * each} judgements." in out


def test_what_people_have_and_what_is_left_count_checks_alike(ask: Ask) -> None:
    out = made(ask, "-n", "2", "--raters", "2", "--checks", "0.2", "--seed", "7")
    found = re.search(r"each by 2 of 2 people, and (\d+) in checks: (\d+) judgements\n", out)
    assert found is not None, out
    assert int(found[2]) == 36 + int(found[1])
    people = told(ask, "people")["people"][:2]
    assert sum(one["segments"] for one in people) == int(found[2])
    assert [one["segments"] for one in people] == [one["segments_left"] for one in people]
    assert [int(row["segments"]) for row in links()[:2]] == [one["segments"] for one in people]
    judged()
    done = told(ask, "status")["people"][:2]
    wanted = [(one["segments"], one["segments"], 0) for one in people]
    assert [(one["segments"], one["segments_done"], one["segments_left"]) for one in done] == wanted


def test_people_are_added_with_languages(ask: Ask) -> None:
    made(ask, "--annotators", "2")
    add = ("--add", "zoe", "--languages")
    assert told(ask, "people", *add, "en-de")["people"][-1]["languages"] == ["en-de"]
    said = ask.refused("campaign", "people", "autumn", *add, "he-en")
    assert "language pairs are en-de; got he-en" in said


def test_the_same_seed_makes_the_same_campaign(ask: Ask) -> None:
    outputs = []
    for name in ("one", "two"):
        ask.done("campaign", "new", name, "set.jsonl", "-n", "2", "--seed", "7", "--checks", "0.2")
        outputs.append({**ask("campaign", "status", name, "--format", "json").json, "campaign": ""})
    assert outputs[0] == outputs[1]


def test_line_aligned_files_make_a_campaign(ask: Ask) -> None:
    Path("s.txt").write_text("A\nB\n")
    Path("t.txt").write_text("a\nb\n")
    words = ("-s", "s.txt", "-t", "mine=t.txt", "--lp", "en-de", "-n", "ann,ben")
    assert "2 segments" in ask.done("campaign", "new", "lines", *words).out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--protocol", "nothing"], "no campaign protocol 'nothing'"),
        (["--protocol", "esa-ai"], "give a run or a file of them"),
        (["--annotators", "1", "--raters", "2"], "needs 2 raters, and en-de has 1 annotator"),
        (["--annotators", ","], "takes a number, or names with commas between"),
        (["--check-kinds", "odd"], "check_kinds must be 'damaged'"),
        (["--half-steps"], "half_steps needs protocol sqm or contrastive-sqm"),
        (["--systems", "Nobody"], "has no system 'Nobody'"),
    ],
)
def test_a_campaign_that_cannot_be_is_refused_and_leaves_nothing(
    options: list[str], message: str, ask: Ask
) -> None:
    before = sorted(Path().iterdir())
    assert message in ask.refused("campaign", "new", "autumn", "set.jsonl", *options)
    assert sorted(Path().iterdir()) == before


def test_status_says_who_did_how_much(ask: Ask) -> None:
    made(ask, "-n", "ann,ben", "--checks", "0.2")
    judged()
    out = ask("campaign", "status", "autumn").out
    assert "ann" in out
    assert "Checks: noticed of done" in out
    found = told(ask, "status")
    assert (found["segments_left"], found["tasks"]) == (0, found["tasks_done"])
    assert [person["person"] for person in found["people"]] == ["ann", "ben", "organiser"]
    assert all(person["checks"] > person["checks_passed"] == 0 for person in found["people"][:2])
    for form in ("csv", "tsv", "markdown", "latex"):
        ask.done("campaign", "status", "autumn", "--format", form)


def test_a_campaign_is_translated_and_status_counts_what_is_not(ask: Ask) -> None:
    made(ask)
    status = ("campaign", "status", "autumn")
    assert "Not translated" not in ask(*status).out
    said = ask.done("campaign", "translate", "autumn", "--language", "de").err
    path = Path("autumn/words/de.po")
    number = int(re.sub(r"\D", "", said.split(": ")[1]))
    assert said == f"{path}: {number} entries to translate.\n"
    assert f"Not translated of what annotators read in de: {number} entries." in ask(*status).out
    assert told(ask, "status")["not_translated"] == {"de": number}
    path.write_text('msgid "open')
    assert ask(*status).code == 1
    assert ask("campaign", "translate", "autumn", "--language", "klingonese").code == 2


def test_status_and_people_say_who_failed_the_test(ask: Ask) -> None:
    made(ask, "-n", "ann,ben", "--protocol", "sqm", "--tutorial", "--pass-mark", "1")
    with open_campaign("autumn") as campaign:
        ann, ben, _ = people(campaign)
        take_test(campaign, ann, 0)
        take_test(campaign, ben, 2)
    out = ask("campaign", "status", "autumn").out
    assert "ann (failed the test)" in out
    assert "Failed the test and get no work; what was dealt to them is others': ann." in out
    failed = {one["person"]: one["failed_test"] for one in told(ask, "status")["people"]}
    assert failed == {"ann": True, "ben": False, "organiser": False}
    left = {one["person"]: (one["state"], one["segments_left"]) for one in told(ask, "people")["people"]}
    assert left["ann"] == ("failed the test", 0)
    assert left["ben"][0] == "active"


def test_what_was_done_to_a_campaign_is_told_in_order(ask: Ask) -> None:
    made(ask, "-n", "ann")
    ask.done("campaign", "people", "autumn", "--add", "zoe", "--revoke", "ann")
    log = told(ask, "status", "--log")["log"]
    assert [(line["actor"], line["action"], line["detail"]) for line in log] == [
        ("command", "new campaign", "autumn"),
        ("command", "add person", "ann (annotator)"),
        ("command", "add person", "organiser (organiser)"),
        ("command", "add person", "zoe (annotator)"),
        ("command", "revoke", "ann"),
    ]
    assert "zoe (annotator)" in ask("campaign", "status", "autumn", "--log").out


def test_people_are_added_renewed_and_shut_out(ask: Ask) -> None:
    made(ask, "-n", "ann,ben")
    change = ("campaign", "people", "autumn")
    said = ask.done(*change, "--add", "zoe", "--new-link", "ann", "--revoke", "ben")
    assert said.out.count("/#") == 2
    assert "not shown again" in said.err
    assert "autumn/links.csv stays as it was made; of zoe and ann, only the links above are good" in said.err
    found = {p["person"]: p for p in told(ask, "people")["people"]}
    assert [found[name]["state"] for name in ("ann", "ben", "zoe")] == ["active", "revoked", "active"]
    assert all(person["link"] is None for person in found.values())
    assert "nobody called 'nobody'; there are ann, ben" in ask.refused(*change, "--revoke", "nobody")


EXPORTS = {
    "campaign": "c.jsonl",
    "records": "r.jsonl",
    "appraise": "a.csv",
    "pearmut": "p.jsonl",
    "mqm-tsv": "m.tsv",
    "mtme-ratings": "en-de.x.seg.rating",
    "mtme-scores": "en-de.x.seg.score",
    "spreadsheet": "s.csv",
    "jsonl": "t.jsonl",
}


@pytest.mark.parametrize("is_half_done", [False, True])
def test_a_campaign_is_exported_in_every_format_at_any_time(is_half_done: bool, ask: Ask) -> None:
    made(ask, "-n", "ann,ben")
    judged(most=1 if is_half_done else 2)
    for to, name in EXPORTS.items():
        export = ("campaign", "export", "autumn", name, "--to", to)
        ask.done(*export)
        assert Path(name).stat().st_size > 0, to
        assert ask(*export).code == 2, to
        ask.done(*export, "--force")
        if to in {"campaign", "records", "appraise"}:
            rated = {(r.segment, r.rating) for r in read_content(Path(name)).records or ()}  # type: ignore[union-attr]
            assert {rating for _, rating in rated} == {100}, to
            assert (len(rated) == 6) or is_half_done, to


def test_one_persons_judgements_are_exported_alone(ask: Ask) -> None:
    made(ask, "-n", "ann,ben")
    judged()
    export = ("campaign", "export", "autumn", "r.jsonl", "--to")
    ask.done(*export, "records", "--annotator", "ann")
    assert {record.annotator for record in read_records("r.jsonl")} == {"ann"}
    assert "annotators are ann, ben" in ask.refused(*export, "records", "--annotator", "eve", "--force")
    assert "is exported as campaign, records" in ask.refused(*export, "xliff", "--force")


def test_an_export_before_anybody_judged_says_that_it_is_empty(ask: Ask) -> None:
    made(ask, "-n", "ann")
    for to in ("records", "jsonl", "appraise", "pearmut", "spreadsheet"):
        said = ask.done("campaign", "export", "autumn", to, "--to", to).err
        assert said == f"adjudge: nobody has judged anything in autumn yet: {to} holds no judgement\n"


def test_a_format_with_a_line_a_translation_waits_for_the_first_judgement(ask: Ask) -> None:
    made(ask, "-n", "ann", "--protocol", "mqm")
    for to in ("mqm-tsv", "mtme-ratings"):
        said = ask.refused("campaign", "export", "autumn", to, "--to", to)
        assert f"nobody has judged anything in autumn yet, and {to} cannot be empty" in said
        assert not Path(to).exists()


def exported(ask: Ask, protocol: str) -> None:
    """Two people's judgements of everything as records.jsonl, and one of them as one.jsonl."""
    made(ask, "--protocol", protocol, "-n", "ann,ben", "--raters", "2", "--checks", "0.1")
    with open_campaign("autumn") as campaign:
        for who, rating, verdict in zip(people(campaign), (60, 61), "AB", strict=False):
            verdicts = {"verdicts": dict.fromkeys(campaign.protocol.criteria, verdict)}
            said: dict[str, Any] = verdicts if protocol == "pairwise" else {"rating": rating}
            work_off(campaign, who, NOW, **said)
    export = ("campaign", "export", "autumn")
    ask.done(*export, "records.jsonl", "--to", "records")
    for name in ("ann", "ben"):
        ask.done(*export, f"{name}.jsonl", "--to", "records", "--annotator", name)
    ask.done(*export, "c.jsonl")


@pytest.mark.parametrize(
    ("protocol", "commands"),
    [
        (
            "esa",
            """score records.jsonl
            rank records.jsonl
            agreement records.jsonl
            compare records.jsonl Alder Birch
            compare ann.jsonl ben.jsonl
            spans ann.jsonl --gold ben.jsonl
            bias records.jsonl --test-set set.jsonl
            meta set.jsonl --gold ann.jsonl --scores ben=ben.jsonl
            score c.jsonl""",
        ),
        ("pairwise", "rank records.jsonl --method copeland\nagreement records.jsonl\nbias records.jsonl"),
    ],
)
def test_what_people_said_is_read_like_a_run(protocol: str, commands: str, ask: Ask) -> None:
    exported(ask, protocol)
    for command in commands.splitlines():
        assert ask.done(*command.split(), "--format", "json").json, command


@pytest.mark.parametrize(
    ("form", "name"), [("campaign", "c.jsonl"), ("appraise", "a.csv"), ("pearmut", "x_#_en-de.jsonl")]
)
def test_a_campaign_begun_elsewhere_goes_on_here(form: str, name: str, ask: Ask) -> None:
    made(ask, "-n", "ann,ben")
    judged(most=1, rating=55)
    ask.done("campaign", "export", "autumn", name, "--to", form)
    imported(ask, name, "--test-set", "set.jsonl")
    here, there = records_of(ask, "autumn", "winter")
    assert here == there
    found = ask("campaign", "status", "winter", "--format", "json").json
    assert found["segments"] == 18
    assert 0 < found["segments_left"] < 18


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
def test_a_format_that_would_say_something_else_is_refused(ask: Ask, protocol: str) -> None:
    made(ask, "-n", "1", "--protocol", protocol)
    judged()
    for form in ("campaign", "jsonl", "spreadsheet", *FORMS):
        asked = ask("campaign", "export", "autumn", f"out.{form}", "--to", form)
        fits = form in {*FITTING[protocol], "campaign", "jsonl", "spreadsheet"}
        assert asked.code == (0 if fits else 2), (form, asked.err)
        assert Path(f"out.{form}").exists() == fits
        assert fits or f"{protocol} is exported as campaign, jsonl, spreadsheet" in asked.err


def test_an_import_says_what_it_took_over_and_what_it_leaves(ask: Ask) -> None:
    made(ask, "-n", "ann", "--checks", "0.2")
    judged(rating=50)
    ask.done("campaign", "export", "autumn", "autumn.jsonl")
    said = ask.done("campaign", "import", "winter", "autumn.jsonl")
    assert "done     18 judgements, by 1 person" in said.out
    assert "to do    0 judgements; in all 18 translations of 6 segments, each by the one" in said.out
    assert "not made checks and tutorial" in said.out
    assert "in autumn.jsonl still: 4 answers to attention checks" in said.err
    assert "everybody has a new link, in winter/links.csv" in said.err


def test_times_that_nobody_measured_are_a_dash(ask: Ask) -> None:
    made(ask, "-n", "ann")
    judged(rating=50, active=20.0)
    ask.done("campaign", "export", "autumn", "autumn.jsonl")
    lines = [json.loads(line) for line in Path("autumn.jsonl").read_text().splitlines()]
    lines = [{**line, "active": None} if "active" in line else line for line in lines]
    Path("without.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    ask.done("campaign", "import", "winter", "without.jsonl")
    out = ask("campaign", "status", "winter").out
    (row,) = [line.split() for line in out.splitlines() if line.split()[:1] == ["ann"]]
    assert row[6:8] == ["–", "–"], out
    assert "Of 18 judgements nobody measured the time" in out
    told = ask("campaign", "status", "winter", "--format", "json").json
    assert (told["active_seconds"], told["active_seconds_left"]) == (None, None)
    of_ann = told["people"][0]
    assert {of_ann[name] for name in ("active_seconds", "idle_seconds", "seconds_each")} == {None}
    out = ask("campaign", "analyse", "winter", "--resamples", "10").out
    assert "Of 18 of 18 items the active time is not known." in out
    ask.done("campaign", "export", "winter", "winter.csv", "--to", "spreadsheet")
    rows = csv.DictReader(Path("winter.csv").read_text().splitlines())
    assert {row["active seconds"] for row in rows} == {""}


def test_ratings_survive_pearmut_whatever_categories_a_machine_marked(ask: Ask) -> None:
    text = "Das Sofa 1 ist rot und groß, sagt Alder."
    kinds = (("fluency/grammar", 0, 3), ("accuracy/mistranslation", 4, 8))
    spans = tuple(
        ErrorSpan(severity="minor", category=c, start=a, end=b, text=text[a:b]) for c, a, b in kinds
    )
    said: dict[str, Any] = {"lp": "en-de", "annotator": "judge", "protocol": "mqm"}
    write_records("given.jsonl", [Annotation(**said, segment="1", system="Alder", spans=spans)])
    made(ask, "-n", "ann", "--protocol", "esa-ai", "--given", "given.jsonl")
    judged(rating=70)
    err = ask("campaign", "export", "autumn", "p.jsonl", "--to", "pearmut").err
    assert "2 categories of marks, which would make it MQM without ratings" in err
    imported(ask, "p.jsonl", "--lp", "en-de")
    here, there = records_of(ask, "autumn", "winter")
    assert here == there
    assert {rating for _, _, _, rating, _ in here} == {70}


def test_marks_of_a_machine_want_the_batches_that_showed_them(ask: Ask) -> None:
    made(ask, "-n", "ann")
    judged(rating=70)
    ask.done("campaign", "export", "autumn", "a.csv", "--to", "appraise")
    text = Path("a.csv").read_text()
    marked = '"[{""start_i"":0,""end_i"":1,""severity"":""minor""}]"'
    Path("a.csv").write_text(text.replace(",[],", f",{marked},", 1))
    said = ask.refused("campaign", "import", "winter", "a.csv")
    assert "a.csv has marks that a machine made, and its batches have none" in said
    assert not Path("winter").exists()


def test_references_that_people_wrote_come_back(ask: Ask) -> None:
    made(ask, "-n", "ann", "--protocol", "post-edit")
    judged()
    ask.done("campaign", "export", "autumn", "autumn.jsonl")
    assert "done     6 judgements" in imported(ask, "autumn.jsonl").out
    ask.done("campaign", "export", "winter", "winter.jsonl")
    kept = [
        [(s.segment, s.chosen, s.edited) for s in read_campaign_file(Path(f"{name}.jsonl")).submissions]
        for name in ("autumn", "winter")
    ]
    assert kept[0] == kept[1]


def test_names_that_lead_out_of_the_folder_write_nothing_there(ask: Ask) -> None:
    made(ask, "-n", "ann")
    judged()
    ask.done("campaign", "export", "autumn", "c.jsonl")
    text = Path("c.jsonl").read_text().replace('"ann"', '"../../ann"').replace('"d1"', '"/etc/d1"')
    Path("deep").mkdir()
    Path("deep/c.jsonl").write_text(text.replace('"name":"autumn"', '"name":"../../../x"'))
    before = {path for path in Path().rglob("*") if "deep/again" not in str(path)}
    ask.done("campaign", "import", "deep/again", "deep/c.jsonl")
    assert {path for path in Path().rglob("*") if "deep/again" not in str(path)} == before


def test_other_people_look_at_what_was_marked(ask: Ask) -> None:
    made(ask, "--annotators", "2", "--assignment", "pool")
    judged()
    assert told(ask, "again", "--how", "marks") == {"campaign": "autumn", "how": "marks", "tasks": 6}
    assert told(ask, "again", "--how", "marks")["tasks"] == 0  # nothing is sent twice


def test_agreement_says_how_many_judgements_saw_the_marks_of_others(ask: Ask) -> None:
    records = [
        rated(name, str(n), 10 * n + place, annotator=who)
        for n in range(1, 7)
        for place, name in enumerate(SYSTEMS)
        for who in ("ann", "ben")
    ]
    seen = [
        replace(r, flags=("second-look",)) if r.annotator == "ben" and r.segment < "4" else r for r in records
    ]
    for written, is_told in ((seen, True), (records, False)):
        write_records("said.jsonl", written)
        out = " ".join(ask("agreement", "said.jsonl", "--resamples", "0").out.split())
        assert ("9 judgements are of people who were shown what others had marked" in out) == is_told
        assert ("no independent agreement" in out) == is_told


def test_an_adjudicator_is_asked_for_before_work_is_sent(ask: Ask) -> None:
    made(ask, "--annotators", "2", "--raters", "2")
    judged()
    again = ("campaign", "again", "autumn", "--how", "adjudicate")
    assert "this campaign has none; add one first" in ask.refused(*again)
    ask.done("campaign", "people", "autumn", "--add", "Kim", "--role", "adjudicator")
    found = told(ask, "again", "--how", "adjudicate", "--tasks", "1,2", "--min-difference", "0")
    assert found["measure"] == "ratings 0 or more apart, on the scale from 0 to 100"
    assert (found["min_difference"], found["min_f1"], found["tasks"]) == (0, None, 2)
    assert [found[name] for name in ("segments", "differing", "sent")] == [6, 6, 6]
    said = "People differ in 0 of 18 segments: ratings 25 or more apart, on the scale from 0 to 100."
    assert said in ask.done(*again).out
    out = ask(*again, "--min-difference", "0", "--min-f1", "0.5").out
    assert "or marks with an F1 below 0.5" in out
    assert "4 new tasks" in out


def test_the_gate_says_what_it_decided(ask: Ask) -> None:
    made(ask, "--annotators", "2", "--raters", "2")
    judged(rating=50)
    found = told(ask, "again", "--how", "gate")
    assert (found["segments"], found["first"], found["failed"], found["unjudged"]) == (6, 0, 0, 6)
    assert "judged as often as asked" in ask("campaign", "again", "autumn", "--how", "gate").out


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
def test_what_does_not_fit_a_way_to_look_again_is_refused(ask: Ask, options: list[str], message: str) -> None:
    made(ask, "--annotators", "2", "--raters", "2")
    assert message in ask.refused("campaign", "again", "autumn", *options)


def test_what_metrics_disagree_on_comes_first(ask: Ask) -> None:
    for name, order in (("one", 1), ("two", -1)):
        scores = [
            rated(system, str(n), n * order, annotator=name, protocol="metric")
            for n in range(1, 7)
            for system in SYSTEMS
        ]
        write_records(f"{name}.jsonl", scores)
    dynamic = ("--assignment", "dynamic", "--dynamic-by", "disagreement")
    one, two = (("--metrics", f"{name}.jsonl") for name in ("one", "two"))
    made(ask, "--annotators", "1", *dynamic, *one, *two)
    new = ("campaign", "new", "other", "set.jsonl")
    assert "needs the scores of two metrics or judges, got 1" in ask.refused(*new, *dynamic, *one)
    assert "--metrics are for --assignment dynamic" in ask.refused(*new, *one)
