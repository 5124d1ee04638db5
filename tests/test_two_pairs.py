"""Numbers of two language pairs: of each they are what they are when it is given alone.

Segment ids, document names, systems and people are the same in both pairs; the systems are good in one and
bad in the other, so that whatever mixes them shows.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from adjudge.analysis.study import analyse
from adjudge.campaigns.campaign import open_campaign
from adjudge.campaigns.dashboard import dashboard
from adjudge.campaigns.exporting import fitting_forms
from adjudge.cli.main import COMMANDS, GROUP_COMMANDS, GROUPS
from adjudge.cli.people_commands import _FORMATS
from adjudge.core.protocol import Severity
from adjudge.core.record import Annotation, ErrorSpan, Preference, Record, by_pair
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import AdjudgeError, UsageError
from adjudge.formats.campaign_export import CampaignFile, Submission, apart, write_campaign_file
from adjudge.formats.convert import write_content
from adjudge.formats.file_content import Content, content_of
from adjudge.formats.read import load, read_content
from adjudge.formats.registry import FORMATS, find_format
from adjudge.reports.campaign_report import analysis_data, analysis_tables, campaign_figures
from adjudge.stats.bootstrap import Draws
from tests.cli.calling import Asked, call

SIZES = {"en-de": 20, "he-en": 16}
LPS = (*SIZES,)
SYSTEMS = ("Alder", "Birch", "Cedar")
PEOPLE = ("Ann", "Bob", "Cyd")
SEED = 0
NOW = 1e9


def texts(lps: Sequence[str]) -> TestSet:
    """Test set of some pairs."""
    found = [
        Segment(
            segment=str(n),
            lp=lp,
            document=f"d{n // 2}",
            source=f"This is source {n} of {lp}.",
            translations={s: f"{lp} {s} sagt etwas {n}{' und mehr' * (n % 3)}." for s in SYSTEMS},
        )
        for lp in lps
        for n in range(SIZES[lp])
    ]
    return TestSet(name="set", segments=tuple(found))


def rated(lps: Sequence[str], seed: object, people: Sequence[str], protocol: str) -> list[Annotation]:
    """Everybody's judgements: Alder is best in the first pair and worst in the second."""
    return [
        judged(Random(f"{seed} {s.lp} {s.segment} {name} {who}"), s, name, who, protocol)
        for s in texts(lps)
        for who in people
        for name in SYSTEMS
    ]


def judged(rng: Random, one: Segment, system: str, who: str, protocol: str) -> Annotation:
    place = SYSTEMS.index(system)
    rating = 12 * place + 2 if one.lp == LPS[1] else 95 - 15 * place
    text = one.translations[system]
    starts = [rng.randrange(len(text) - 3) for _ in range(0 if protocol == "metric" else rng.randint(0, 3))]
    severities: tuple[Severity, ...] = ("minor", "major")
    return Annotation(
        lp=one.lp,
        segment=one.segment,
        system=system,
        annotator=who,
        protocol=protocol,
        document=one.document,
        rating=None if protocol == "mqm" else min(100, rating + rng.randint(0, 30)),
        spans=tuple(
            ErrorSpan(
                severity=rng.choice(severities),
                start=start,
                end=start + 3,
                text=text[start : start + 3],
                category="accuracy/mistranslation",
            )
            for start in sorted(starts)
        ),
    )


def preferences(lps: Sequence[str], seed: object, people: Sequence[str]) -> list[Preference]:
    """Everybody's verdicts on every two systems."""
    return [
        Preference(
            lp=s.lp,
            segment=s.segment,
            systems=two,
            annotator=who,
            document=s.document,
            criterion="overall",
            verdict=Random(f"{seed} {s.lp} {s.segment} {two} {who}").choice(
                ("A", "A", "B", "E") if s.lp == LPS[0] else ("B", "B", "A", "E")
            ),
        )
        for s in texts(lps)
        for who in people
        for two in (("Alder", "Birch"), ("Birch", "Cedar"))
    ]


@cache
def submissions(seed: object) -> tuple[Submission, ...]:
    """What all people said, each of them in both pairs in turn."""
    known = {(s.lp, s.segment): s for s in texts(LPS)}
    tasks = {key: n for n, key in enumerate((s.lp, s.document, name) for s in texts(LPS) for name in SYSTEMS)}
    records = rated(LPS, f"{seed} people", PEOPLE, "esa")
    found = []
    for place, r in enumerate(sorted(records, key=lambda r: (int(r.segment), r.lp, r.system))):
        shown, took = known[r.lp, r.segment], 20.0 + place % 7 + 20 * (r.lp == LPS[1])
        found.append(
            Submission(
                person=r.annotator,
                protocol="esa",
                kind="original",
                lp=r.lp,
                document=r.document,
                segment=r.segment,
                task=tasks[r.lp, r.document, r.system],
                item=int(r.segment) % 2,
                records=(r,),
                texts={r.system: shown.translations[r.system]},
                source=shown.source,
                started=NOW + 60 * place,
                ended=NOW + 60 * place + took,
                active=took,
            )
        )
    return tuple(found)


def campaign(lps: Sequence[str], seed: object) -> CampaignFile:
    """The part of it that is of some pairs."""
    own = tuple(s for s in submissions(seed) if s.lp in lps)
    return CampaignFile(name="house", protocol="esa", submissions=own)


def write_inputs(folder: Path, lps: Sequence[str], seed: int) -> Path:
    """All files of some pairs, called alike wherever they are."""
    folder.mkdir()
    known: dict[str, Sequence[Record]] = {
        "esa": rated(lps, f"{seed} people", PEOPLE, "esa"),
        "gold": rated(lps, f"{seed} gold", ("Ann",), "esa"),
        "marks": rated(lps, f"{seed} marks", ("Bob",), "mqm"),
        "judge": rated(lps, f"{seed} judge", ("gpt",), "mqm"),
        "metric": rated(lps, f"{seed} metric", ("length",), "metric"),
        "verdicts": preferences(lps, f"{seed} people", PEOPLE),
    }
    for name, records in known.items():
        write_content(folder / f"{name}.jsonl", "records", Content(test_set=None, records=records))
    write_content(folder / "set.jsonl", "jsonl", Content(test_set=texts(lps), records=()))
    write_campaign_file(folder / "campaign.jsonl", campaign(lps, seed))
    return folder


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of both pairs, and of each one alone."""
    folder = tmp_path_factory.mktemp("pairs")
    wanted = {"both": LPS, **{lp: (lp,) for lp in LPS}}
    return {name: write_inputs(folder / name, lps, SEED) for name, lps in wanted.items()}


@dataclass(frozen=True)
class Verb:
    """A verb that gives numbers.

    Args:
        arguments: it is called with.
        together: columns over all pairs that are the means of those of each pair, weighted by `n`.
        least_pairs: whether it takes one pair at a time, and refuses two.
    """

    arguments: str
    together: Sequence[str] = ()
    is_of_one: bool = False


BY_PAIR: Mapping[str, Verb] = {
    "score": Verb("esa.jsonl", ("score",)),
    "rank": Verb("esa.jsonl --set resamples=40", ("score",)),
    "compare": Verb("esa.jsonl Alder Birch", ("difference", "first", "second")),
    "gate": Verb("--baseline esa.jsonl --systems Alder,Birch --margin 3", ("difference",)),
    "power": Verb("esa.jsonl Alder Birch --set resamples=40"),
    "agreement": Verb("esa.jsonl --judge metric.jsonl --resamples 5"),
    "bias": Verb("verdicts.jsonl --gold esa.jsonl --test-set set.jsonl --resamples 5"),
    "spans": Verb("judge.jsonl --gold marks.jsonl --test-set set.jsonl --by lp"),
    "estimate": Verb("judge.jsonl --gold gold.jsonl"),
    "thresholds": Verb("judge.jsonl --gold gold.jsonl --bad 50 --publish-risk 0.4"),
    "meta": Verb("set.jsonl --gold g=gold.jsonl --scores m=metric.jsonl", is_of_one=True),
    "curate agreement": Verb("verdicts.jsonl"),
    "campaign analyse": Verb("campaign.jsonl --resamples 5 --gold gold.jsonl"),
}
"""Verbs whose numbers are of one language pair each."""

ELSEWHERE = {
    "report": "its tables are those of score, rank and compare, and its pages are tested below",
    "demo": "runs the other verbs",
    "reproduce": "papers' own data, a pair at a time",
    "calibrate": "a threshold of the judge, in tests/cli/test_calibrate.py",
    **dict.fromkeys(("run", "forecast", "show", "new-judge", "trace", "serve"), "judges, and counts calls"),
    **dict.fromkeys(("align", "convert", "fetch", "list"), "files: tests/formats/test_language_pairs.py"),
    **dict.fromkeys(("curate filter", "curate translate", "curate pairs"), "draws in each pair"),
    **dict.fromkeys(("curate select", "curate examples"), "chooses segments, and gives no number of systems"),
    "campaign status": "counts items and people's time",
    "campaign export": "tested below",
    "campaign import": "tested below",
    **dict.fromkeys(
        (
            f"campaign {name}"
            for name in ("new", "serve", "people", "again", "backup", "restore", "remove", "translate")
        ),
        "no number",
    ),
}
"""Verbs that give no number of a language pair, and why, or where else they are held to it."""


def test_every_verb_is_classed() -> None:
    verbs = {*COMMANDS} | {f"{group} {name}" for group in GROUPS for name in GROUP_COMMANDS[group]}
    assert verbs == {*BY_PAIR, *ELSEWHERE}


Row = dict[str, str]


def rows_of(rows: Sequence[Row], lp: str) -> list[Row]:
    """The rows of a pair, without its name."""
    if "lp" in rows[0]:
        return [{k: v for k, v in row.items() if k != "lp"} for row in rows if row["lp"] == lp]
    if "kind" in rows[0]:
        own = [row for row in rows if row["kind"] == "lp" and row["name"] == lp] or rows[:1]
        return [{k: v for k, v in row.items() if k not in {"kind", "name"}} for row in own]
    return [*rows]


def asked(capsys: pytest.CaptureFixture[str], verb: str, *more: str) -> list[Row]:
    found = Asked(capsys, *verb.split(), *BY_PAIR[verb].arguments.split(), *more, "--format", "csv")
    assert found.code == (1 if verb == "gate" else 0) or verb == "gate", found.err
    assert found.out, found.err
    return found.rows


@pytest.mark.parametrize("verb", BY_PAIR)
def test_what_is_said_of_a_pair_is_what_is_said_of_it_alone(
    verb: str, inputs: dict[str, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = {}
    for lp in LPS:
        monkeypatch.chdir(inputs[lp])
        alone[lp] = asked(capsys, verb)
        assert rows_of(alone[lp], lp)
    monkeypatch.chdir(inputs["both"])
    for lp in LPS:
        assert asked(capsys, verb, "--lp", lp) == alone[lp]
    if BY_PAIR[verb].is_of_one:
        refused = Asked(capsys, *verb.split(), *BY_PAIR[verb].arguments.split())
        assert (refused.code, "--lp" in refused.err) == (2, True)
        return
    both = asked(capsys, verb)
    for lp in LPS:
        assert rows_of(both, lp) == rows_of(alone[lp], lp)
    for row in (row for row in both if "all" in {row.get("lp"), row.get("kind")}):
        parts = [each for each in both if each is not row and each.get("system") == row.get("system")]
        for column in BY_PAIR[verb].together:
            n = sum(int(part["n"]) for part in parts)
            mean = sum(float(part[column]) * int(part["n"]) for part in parts) / n
            assert float(row[column]) == pytest.approx(mean)


Kept = dict[str, set[tuple[object, ...]]]


def kept(found: Content[Record]) -> Kept:
    """What was read, by language pair: judgements, or texts where there are none."""
    if not found.records:
        segments = by_pair(found.test_set or ())
        return {
            lp: {(s.source, *sorted(s.translations.items())) for s in own} for lp, own in segments.items()
        }
    return {
        lp: {
            (r.segment, r.systems, r.annotator, getattr(r, "rating", ""), *getattr(r, "spans", ()))
            for r in own
        }
        for lp, own in by_pair(found.records).items()
    }


def written(form: str, folder: Path, lps: Sequence[str]) -> Kept:
    """What a file, or a folder, of some pairs holds when it is read again."""
    target = find_format(form)
    content: Content[Record] = Content(test_set=texts(lps), records=())
    if target.has_records:
        protocol = {"mqm-tsv": "mqm", "wmt25": "mqm", "mtme-ratings": "mqm", "mtme-scores": "metric"}
        records = rated(lps, "written", PEOPLE[:1], protocol.get(form, "esa"))
        content = replace(content, records=records)
        if target.is_campaign:
            content = content_of(campaign(lps, 0))
    path = folder / "-".join(lps) / f"{lps[0] if 'mtme' in form else 'a'}.file.{NAMES.get(form, 'jsonl')}"
    path.parent.mkdir()
    write_content(path, form, content)
    return kept(read_content(path, form, lp=lps[0] if len(lps) == 1 else None, test_set=texts(lps)))


NAMES = {"mtme-ratings": "seg.rating", "mtme-scores": "seg.score", "mqm-tsv": "tsv", "wmt25": "tsv"}
NAMES |= {"appraise": "csv", "parquet": "parquet"}
MARKED_UP = {"xliff"}
"""Formats that are written into the file that was judged: tests/formats/test_xliff.py."""
FORMS = [form.name for form in FORMATS if form.writes and form.reads and form.name not in MARKED_UP]


@pytest.mark.parametrize("form", FORMS)
def test_a_file_holds_every_pair_apart_or_refuses_two(form: str, tmp_path: Path) -> None:
    alone = {lp: written(form, tmp_path, [lp]) for lp in LPS}
    assert all(alone[lp].keys() == {lp} for lp in LPS)
    try:
        both = written(form, tmp_path, LPS)
    except AdjudgeError as error:
        assert "--lp" in str(error)  # noqa: PT017 (a format may refuse)
        return
    assert both == alone[LPS[0]] | alone[LPS[1]]


@pytest.fixture(scope="module")
def houses(inputs: dict[str, Path]) -> dict[str, Path]:
    """Campaigns on a store: of both pairs, and of each one alone."""
    for folder in inputs.values():
        call(
            "campaign",
            "import",
            folder / "house",
            folder / "campaign.jsonl",
            "--test-set",
            folder / "set.jsonl",
        )
    return {name: folder / "house" for name, folder in inputs.items()}


@pytest.mark.usefixtures("cheap_passwords")
@pytest.mark.parametrize("form", _FORMATS)
def test_a_campaign_is_exported_by_pair(
    form: str, houses: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_campaign(houses["both"]) as opened:
        fits = form in fitting_forms(opened.protocol)
    one = ["--annotator", "Ann"] if "mtme" in form else []

    def exported(house: str, lp: str, *more: str) -> object:
        out = tmp_path / f"{house}{lp}" / f"{lp if one else 'a'}.file.{NAMES.get(form, 'jsonl')}"
        assert not call("campaign", "export", houses[house], out, "--to", form, *one, *more)
        if form == "spreadsheet":
            rows = csv.DictReader(io.StringIO(out.read_text("utf-8-sig")))
            return sorted(str({k: v for k, v in row.items() if k != "task"}) for row in rows)
        call("campaign", "export", houses[house], out.parent / "set", "--to", "jsonl", *more)
        return kept(read_content(out, form, lp=lp, test_set=load(out.parent / "set")))

    for lp in LPS if fits else ():
        assert exported("both", lp, "--lp", lp) == exported(lp, lp)
    found = Asked(capsys, "campaign", "export", houses["both"], tmp_path / "out", "--to", form, *one)
    assert not found.code or (found.code == 2 and ("--lp" in found.err or not fits))


def same(told: object) -> object:
    """What was told, but for what the order of answers in the store changes: draws and rounding."""
    if isinstance(told, dict):
        return {k: same(v) for k, v in told.items() if k != "interval"}
    return (
        [*map(same, told)] if isinstance(told, list) else round(told, 9) if isinstance(told, float) else told
    )


@pytest.mark.usefixtures("cheap_passwords")
def test_the_dashboard_tells_of_each_pair_what_it_tells_of_it_alone(houses: dict[str, Path]) -> None:
    def told(house: str) -> dict[str, Any]:
        with open_campaign(houses[house]) as opened:
            return dashboard(opened, NOW + 1e6)

    both = told("both")
    for lp in LPS:
        alone = told(lp)
        for name in ("rankings", "agreement"):
            own = [one for one in both[name] if one["lp"] == lp]
            assert same(own) == same(alone[name])
        for person, there in zip(both["people"], alone["people"], strict=True):
            own = [one for one in person["judged"] if one["lp"] == lp]
            assert same(own) == same(there["judged"])
            assert own or person["role"] == "organiser"
            assert all(abs(one["above"]["value"]) < 5 for one in person["judged"])  # all are equally strict


def test_an_analysis_and_its_pages_are_of_one_pair_each(inputs: dict[str, Path]) -> None:
    del inputs
    draws = Draws(resamples=5)
    both = [analyse(part, draws=draws) for part in apart(campaign(LPS, 0))]
    alone = [analyse(campaign([found.lp], 0), draws=draws) for found in both]
    assert sorted(found.lp for found in both) == [*LPS]
    assert analysis_data(*both) == analysis_data(*alone)
    names = [f"{found.lp}.{figure.name}" for found in alone for figure in campaign_figures(found)]
    assert [figure.name for figure in campaign_figures(*both)] == names
    titles = [f"{found.lp}: {t.title or 'what to mind'}" for found in alone for t in analysis_tables(found)]
    assert [table.title for table in analysis_tables(*both)] == titles
    with pytest.raises(UsageError, match="has several language pairs, each to be analysed alone"):
        analyse(campaign(LPS, 0), draws=draws)
