"""Scorecards: points in so many words, and whether that passes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adjudge.analysis.gate import gate
from adjudge.analysis.score import score, scored
from adjudge.core.record import Annotation, Failure, Record
from adjudge.core.scores import Card
from adjudge.core.segment import Segment, TestSet
from adjudge.core.verb import OneAnnotator
from adjudge.errors import UsageError
from adjudge.formats.read import read_judgements
from adjudge.reports.page import make_page
from adjudge.store.json_lines import write_records, write_test_set
from tests.analysis.records import error, mqm
from tests.analysis.records import failed as records_failed
from tests.cli.calling import Asked

TEN = "one two three four five six seven eight nine ten"
CARD = """
[points]
critical = 25
major = 5
minor = 1
[passing]
points = 100
"""


def texts(n: int = 4, lp: str = "en-de", source: str = TEN) -> TestSet:
    """Segments of ten words, with translations of three."""
    said = dict.fromkeys("ab", "ein zwei drei")
    segments = (Segment(segment=str(i), lp=lp, source=source, translations=said) for i in range(1, n + 1))
    return TestSet(name="texts", segments=tuple(segments))


@pytest.fixture
def weights(tmp_path: Path) -> str:
    path = tmp_path / "card.toml"
    path.write_text(CARD)
    return str(path)


def failed(system: str, segment: str) -> Failure:
    return records_failed(system, segment=segment, protocol="mqm", annotator="x")


def cards(records: list[Record], weights: str, given: TestSet | None = None) -> dict[str, Any]:
    settings = OneAnnotator(weights=weights, test_set=given or texts())
    return {s.system: s.card for s in scored(records, settings).scores.systems}


def judged(*errors: str, system: str = "a") -> list[Record]:
    """One error of each severity in a segment of its own, in order; empty for none."""
    return [
        mqm(system, str(i), *([error(severity)] if severity else []))  # type: ignore[arg-type]
        for i, severity in enumerate(errors, 1)
    ]


def test_points_are_counted_in_a_thousand_words(weights: str) -> None:
    (card,) = cards(judged("minor", "minor", "", "minor"), weights).values()
    assert card == Card(points=3, words=40, rate=75, quality=92.5, critical=0, unjudged=0, verdict="pass")


@pytest.mark.parametrize(
    ("errors", "verdict"),
    [
        (("minor",) * 4, "pass"),  # 100 points in 1,000 words: the most that pass
        (("major", "", "", ""), "fail"),
        (("", "", "", ""), "pass"),
        (("critical", "", "", ""), "fail"),
    ],
)
def test_the_mark_itself_passes(weights: str, errors: tuple[str, ...], verdict: str) -> None:
    (card,) = cards(judged(*errors), weights).values()
    assert card.verdict == verdict


def test_tenths_of_points_add_up_to_the_mark(tmp_path: Path) -> None:
    path = tmp_path / "card.toml"
    path.write_text("[points]\nminor = 0.1\n[passing]\npoints = 7.5\n")
    (card,) = cards([mqm("a", "1", *[error("minor")] * 3), *judged("", "", "", "")[1:]], str(path)).values()
    assert card.verdict == "pass"  # 0.1 + 0.1 + 0.1 is 0.30000000000000004, and the mark is 0.3


def test_a_gate_looks_at_each_language_pair_where_the_systems_differ(weights: str) -> None:
    other = texts(30, "en-fr")
    both = TestSet(name="both", segments=(*texts(30).segments, *other.segments))
    french = [replace(r, lp="en-fr") for r in judged(*[""] * 30) if isinstance(r, Annotation)]
    third = [replace(r, system="c") for r in french]
    german = [*judged(*["major"] * 30), *judged(*["major"] * 30, system="b")]
    records = [*german, *french, *(replace(r, system="b") for r in french), *third]
    keywords = {"margin": 1.0, "weights": weights, "test_set": both, "systems": ("a", "b"), "scale": (-25, 0)}
    found = gate(records, None, **keywords)  # type: ignore[arg-type]
    told = {name: card.verdict for name, card in found.cards.items()}
    assert told in ({"b": "fail"}, {"b, en-de": "fail", "b, en-fr": "pass"})
    assert found.verdict == "do-not-ship"


def test_a_critical_error_fails_whatever_the_points(tmp_path: Path) -> None:
    path = tmp_path / "kind.toml"
    path.write_text(CARD.replace("critical = 25", "critical = 1"))
    (card,) = cards(judged("critical", "", "", ""), str(path)).values()
    assert (card.rate, card.critical, card.verdict) == (25, 1, "fail")
    path.write_text(path.read_text() + "critical = 1\n")
    (card,) = cards(judged("critical", "", "", ""), str(path)).values()
    assert card.verdict == "pass"


@pytest.mark.parametrize(
    ("errors", "verdict"),
    [
        (("", "", ""), "open"),  # clean so far: the segment that failed may hold anything
        (("major", "", ""), "fail"),  # 125 in 1,000 words even if the rest is clean
        (("minor", "minor", "minor"), "open"),
        (("major", "major", "major"), "fail"),
    ],
)
def test_a_scorecard_with_a_failure_never_passes(weights: str, errors: tuple[str, ...], verdict: str) -> None:
    (card,) = cards([*judged(*errors), failed("a", "4")], weights).values()
    assert (card.words, card.unjudged, card.verdict) == (30, 1, verdict)


def test_over_the_mark_by_judged_words_alone_is_open(weights: str) -> None:
    few = [*judged("major"), *(failed("a", str(i)) for i in range(2, 7))]
    (card,) = cards(few, weights, texts(6)).values()
    assert (card.rate, card.verdict) == (500, "open")


def test_the_mean_of_several_people_counts_and_anyone_vetoes(weights: str) -> None:
    first = judged("minor", "", "", "")
    second = [replace(r, annotator="y") for r in judged("critical", "", "", "") if isinstance(r, Annotation)]
    (card,) = cards([*first, *second], weights).values()
    assert (card.points, card.critical, card.verdict) == (13, 1, "fail")


def test_words_of_the_translation_are_each_systems_own(tmp_path: Path) -> None:
    path = tmp_path / "card.toml"
    path.write_text(CARD + 'text = "translation"\n')
    (card,) = cards(judged("", "", "", ""), str(path)).values()
    assert card.words == 12


def test_texts_are_needed(weights: str) -> None:
    with pytest.raises(UsageError, match="have no texts: add --test-set"):
        score(judged("", ""), weights=weights)
    with pytest.raises(UsageError, match="the texts have no segment en-de/4"):
        cards(judged("", "", "", ""), weights, texts(3))
    thai = texts(lp="th-en", source="สวัสดีชาวโลก")
    records = [replace(r, lp="th-en") for r in judged("", "") if isinstance(r, Annotation)]
    with pytest.raises(UsageError, match="Thai is written without blanks"):
        cards([*records], weights, thai)


def test_a_gate_does_not_ship_what_fails_its_scorecard(weights: str) -> None:
    many = texts(30)
    good = judged(*[""] * 30)
    bad = judged(*["major"] * 29, "minor", system="b")
    both = [*judged(*["major"] * 30), *bad]
    keywords = {"margin": 1.0, "weights": weights, "test_set": many, "systems": ("a", "b"), "scale": (-25, 0)}
    found = gate(both, None, **keywords)  # type: ignore[arg-type]
    assert found.verdict == "do-not-ship"
    assert found.reasons[0].startswith("The scorecard of b fails: 146 points in 300 words")
    found = gate([*good, *judged(*[""] * 30, system="b")], None, **keywords)  # type: ignore[arg-type]
    assert found.cards["b"].verdict == "pass"
    open_card = [*good, *judged(*[""] * 30, system="b")]
    open_card[-1] = failed("b", "30")
    found = gate(open_card, None, max_failed=0.5, **keywords)  # type: ignore[arg-type]
    assert found.verdict == "not-enough-data"
    assert found.reasons[0].startswith("The scorecard of b is open")


def test_a_report_shows_the_scorecards(weights: str) -> None:
    records = [*judged("", "minor", "", ""), *judged("critical", "", "", "", system="b")]
    gold = [replace(record, annotator="rater") for record in judged("", "", "", "")]
    page = make_page([read_judgements(records)], gold=gold, test_set=texts(), weights=weights)
    (part,) = [p for p in page.sections[0].parts if p.name == "scorecards"]
    assert part.finding == "By records, of 2 scorecards 1 passes, 1 fails; by gold, of 1 scorecard 1 passes"
    assert [row[-1] for row in part.tables[0].rows] == ["pass", "fail", "pass"]
    assert "Weights card@" in dict(page.meanings).popitem()[1]


@pytest.mark.parametrize("n", range(1, 5))
def test_a_test_set_judged_in_part_is_open_or_fails(weights: str, n: int) -> None:
    """Nobody judged the other segments, and no record says so."""
    (clean,) = cards(judged(*[""] * n), weights).values()
    assert (clean.words, clean.unjudged, clean.verdict) == (10 * n, 4 - n, "open" if n < 4 else "pass")
    (bad,) = cards(judged(*["major"] * n), weights).values()
    assert bad.verdict == "fail"  # 5 points in 40 words are over the mark, however clean the others are
    both = cards([*judged(*[""] * 4), *judged(*[""] * n, system="b")], weights)
    assert {s: c.verdict for s, c in both.items() if c} == {"a": "pass", "b": clean.verdict}


def test_a_language_pair_that_nobody_judged_leaves_scorecards_open(weights: str) -> None:
    both = TestSet(name="both", segments=(*texts().segments, *texts(3, "en-fr").segments))
    scores = score(judged(*[""] * 4), weights=weights, test_set=both)
    card: Any = scores.systems[0].card
    assert (card.unjudged, card.verdict) == (3, "open")
    assert any("Nothing of en-fr is judged" in note for note in scores.notes)
    chosen: Any = score(judged(*[""] * 4), weights=weights, test_set=both, lp="en-de").systems[0].card
    assert chosen.verdict == "pass"


@pytest.mark.parametrize(
    ("errors", "other", "code"),
    [
        (("", "", "", ""), "", 0),
        (("", "", ""), "", 6),
        (("critical", "", "", ""), "", 5),
        (("critical", "", ""), "", 5),
        (("", "", ""), "critical", 5),  # one fails, one is open
        (("", "", "", ""), "critical", 5),
    ],
)
def test_score_ends_with_what_the_scorecards_say(
    weights: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    errors: tuple[str, ...],
    other: str,
    code: int,
) -> None:
    """The other language pair has a system of its own, so that no scorecard is over both."""
    french = [mqm("b", str(i), *([error("critical")] if other else []), lp="en-fr") for i in range(1, 5)]
    write_records(tmp_path / "r.jsonl", [*judged(*errors), *french])
    both = TestSet(name="both", segments=(*texts().segments, *texts(4, "en-fr").segments))
    write_test_set(tmp_path / "t.jsonl", both)
    files = tmp_path / "r.jsonl", "--test-set", tmp_path / "t.jsonl"
    assert Asked(capsys, "score", *files, "-w", weights).code == code
    assert Asked(capsys, "score", *files, "-w", weights, "--level", "seg").code == code
    assert Asked(capsys, "score", files[0]).code == 0


def test_json_has_the_card(weights: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_records(tmp_path / "r.jsonl", judged("minor", "", "", ""))
    write_test_set(tmp_path / "t.jsonl", texts())
    files = tmp_path / "r.jsonl", "--test-set", tmp_path / "t.jsonl"
    card = Asked(capsys, "score", *files, "-w", weights, "--format", "json").json["systems"]["a"]["card"]
    assert (card["rate"], card["verdict"]) == (25, "pass")


def test_a_category_of_a_scorecard_that_nothing_has_is_named_with_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "card.toml").write_text('[points]\nmajor = 5\n"*/omision" = 10\n[multipliers]\ngender = 2\n')
    records = judged("major")
    notes = score(records, weights=str(tmp_path / "card.toml")).notes
    said = [note for note in notes if "none of the typology" in note]
    assert ["'gender'" in said[0], "did you mean omission" in said[1]] == [True, True]
    marked = judged("major")
    span = replace(marked[0].spans[0], category=None, label="Gender")  # type: ignore[union-attr]
    own = [replace(marked[0], spans=(span,))]  # type: ignore[arg-type]
    (only,) = [n for n in score(own, weights=str(tmp_path / "card.toml")).notes if "typology" in n]
    assert "'omision'" in only
