"""Scores with and without what is flagged."""

import pytest

from adjudge.analysis.segment_scores import score_records
from adjudge.core.record import SUSPECT, Annotation, Preference, Record
from tests.scoring.records import failed

ALONE = (SUSPECT, "instruction@translation")
BOTH = (SUSPECT, "instruction@both")


def rated(segment: str, system: str, rating: float, *flags: str, lp: str = "en-de") -> Annotation:
    return Annotation(
        lp=lp, segment=segment, system=system, annotator="a", protocol="da-sqm", rating=rating, flags=flags
    )


TABLE = [
    *(rated("1", "A", 80), rated("1", "B", 60)),
    *(rated("2", "A", 100, *ALONE), rated("2", "B", 50)),
    *(rated("3", "A", 70, *BOTH), rated("3", "B", 60, *BOTH)),
    *(rated("4", "A", 60), rated("4", "B", 50)),
]


def test_a_flagged_segment_is_left_out_for_every_system() -> None:
    scores = score_records(TABLE)
    assert {s.system: s.score for s in scores.systems} == {"A": 77.5, "B": 55.0}
    found = scores.suspects
    assert found is not None
    assert (found.judgements, found.asked, found.in_translation, found.segments) == (3, 8, 1, 2)
    assert {s.system: (s.score, s.n) for s in found.systems} == {"A": (70.0, 2), "B": (55.0, 2)}


def test_a_note_says_how_much_it_matters() -> None:
    (note,) = score_records(TABLE).notes
    assert note == (
        "3 of 8 judgements are flagged injection_suspect, 1 of them for what a translation holds and its "
        "source does not. Without their segments (2) A moves most, by -7.5."
    )


def test_nothing_is_said_where_nothing_is_flagged() -> None:
    scores = score_records([r for r in TABLE if r.segment in {"1", "4"}])
    assert scores.suspects is None
    assert scores.notes == ()


def test_where_every_segment_is_flagged_there_is_nothing_to_compare() -> None:
    scores = score_records([rated("1", "A", 80, *ALONE), rated("1", "B", 60)])
    assert scores.suspects is not None
    assert scores.suspects.systems == ()
    assert scores.notes[0].endswith("no score can be had without their segments (1).")


def test_each_language_pair_has_its_own() -> None:
    other = [rated("1", "A", 10, *ALONE, lp="en-cs"), rated("2", "A", 20, lp="en-cs")]
    scores = score_records([*TABLE, *other])
    assert scores.suspects is None  # the language pairs have not the same systems
    assert scores.systems == ()
    assert [lp for lp, part in scores.lps.items() if part.suspects is not None] == ["en-de", "en-cs"]
    assert [note.partition(":")[0] for note in scores.notes if SUSPECT in note] == ["en-de", "en-cs"]


@pytest.mark.parametrize("flags", [ALONE, BOTH])
def test_a_flagged_comparison_is_one_judgement(flags: tuple[str, ...]) -> None:
    records: list[Record] = [
        Preference(
            lp="en-de",
            segment=str(n),
            systems=("A", "B"),
            annotator="a",
            criterion="overall",
            verdict="A",
            flags=f,
        )
        for n, f in enumerate([(), flags])
    ]
    records.append(failed("A", "B", segment="9", protocol="pairwise", annotator="a", criterion="overall"))
    found = score_records(records).suspects
    assert found is not None
    assert (found.judgements, found.asked, found.segments) == (1, 3, 1)
    assert found.in_translation == (flags is ALONE)
    assert {s.system: (s.score, s.n, s.failed) for s in found.systems} == {"A": (1.0, 1, 1), "B": (0.0, 1, 1)}
