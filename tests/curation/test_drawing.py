"""Pairs are drawn evenly over systems and sources, none of one text, weak systems more rarely; examples."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.protocol import SUBTYPES, Severity
from adjudge.core.record import Annotation, ErrorSpan, Side
from adjudge.core.segment import Segment, TestSet
from adjudge.curation.drawing import ExampleSample, draw_examples, draw_pairs, write_examples
from adjudge.errors import DataError, UsageError
from adjudge.formats.read import Judgements
from adjudge.judges.himate import Himate
from tests.judges.asking import Script, subject


def made(size: int, systems: str = "ABCDEF", same: tuple[str, ...] = (), absent: str = "") -> TestSet:
    """Sources translated by every system; those in `same` give one text, `absent` lacks every other."""
    segments = [
        Segment(
            segment=str(number),
            lp="en-zh",
            source=f"source {number}",
            translations={
                name: f"text {number}" + ("" if name in same else f" of {name}")
                for name in systems
                if name != absent or number % 2
            },
        )
        for number in range(size)
    ]
    return TestSet(name="made", segments=tuple(segments))


def test_all_pairs_of_six_systems_are_fifteen_a_source() -> None:
    sample = draw_pairs(made(4))
    assert len(sample.pairs) == 60
    assert {c.systems: c.drawn for c in sample.compositions} == dict.fromkeys(
        [(a, b) for a in "ABCDEF" for b in "ABCDEF" if a < b], 4
    )
    assert sample.sources == {"en-zh": {15: 4}}


def test_language_pairs_are_drawn_and_counted_apart() -> None:
    both = TestSet(
        name="both",
        segments=(*made(4, "AB"), *(replace(one, lp="de-en") for one in made(7, "AB", same=("A", "B")))),
    )
    sample = draw_pairs(both, seed=1, pairs=3)
    assert sample.sources == {"en-zh": {0: 1, 1: 3}, "de-en": {0: 7}}
    assert [(one.lp, one.there, one.identical, one.drawn) for one in sample.compositions] == [
        ("en-zh", 4, 0, 3),
        ("de-en", 7, 7, 0),
    ]


def test_identical_texts_are_dropped_and_counted() -> None:
    sample = draw_pairs(made(4, "ABC", same=("A", "B")))
    assert [(c.systems, c.there, c.identical, c.drawn) for c in sample.compositions] == [
        (("A", "B"), 4, 4, 0),
        (("A", "C"), 4, 0, 4),
        (("B", "C"), 4, 0, 4),
    ]


def test_texts_that_are_one_or_missing_make_no_pair() -> None:
    assert [pair.segment for pair in draw_pairs(made(4, "AB", absent="B")).pairs] == ["1", "3"]
    for a, b, wanted in (("a b", " a\u2003b\n", ["AC", "BC"]), ("", "b", ["BC"])):
        segment = Segment(segment="1", lp="en-de", source="x", translations={"A": a, "B": b, "C": "c"})
        sample = draw_pairs(TestSet(name="t", segments=(segment,)))
        assert ["".join(pair.systems) for pair in sample.pairs] == wanted


@given(size=st.integers(1, 30), number=st.integers(1, 500), seed=st.integers(0, 5))
def test_a_sample_is_even_over_systems(size: int, number: int, seed: int) -> None:
    sample = draw_pairs(made(size), pairs=number, seed=seed)
    assert len(sample.pairs) == min(number, 15 * size)
    assert len({(pair.segment, pair.systems) for pair in sample.pairs}) == len(sample.pairs)
    drawn = [c.drawn for c in sample.compositions]
    assert max(drawn) - min(drawn) <= 1
    assert sum(sample.sources["en-zh"].values()) == size


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("size", "number"), [(30, 225), (100, 400), (100, 750), (120, 1580)])
def test_a_sample_is_even_over_sources_as_far_as_systems_allow(size: int, number: int, seed: int) -> None:
    by_source = draw_pairs(made(size), pairs=number, seed=seed).sources["en-zh"]
    assert max(by_source) - min(by_source) <= 2


@pytest.mark.parametrize(("number", "factor"), [(None, 3), (None, 1), (300, 3), (600, 2)])
def test_pairs_of_a_thinned_system_come_up_as_much_more_rarely(number: int | None, factor: int) -> None:
    sample = draw_pairs(made(60), pairs=number, thin={"F": factor}, seed=1)
    weak = [c.drawn for c in sample.compositions if "F" in c.systems]
    strong = [c.drawn for c in sample.compositions if "F" not in c.systems]
    assert max(weak) - min(weak) <= 1
    assert max(strong) - min(strong) <= 1
    assert sum(weak) / len(weak) == pytest.approx(sum(strong) / len(strong) / factor, abs=1)


def test_a_seed_decides_and_another_one_draws_other_pairs() -> None:
    one, again, other = (draw_pairs(made(40), pairs=100, seed=seed).pairs for seed in (3, 3, 4))
    assert one == again
    assert one != other
    assert Counter(pair.lp for pair in one) == {"en-zh": 100}


@pytest.mark.parametrize(
    ("number", "thin", "same", "said"),
    [
        (0, {}, (), "must be greater than or equal to 1"),
        (1, {"Z": 2.0}, (), "has no system 'Z'"),
        (1, {"A": 0.5}, (), "1 or more"),
        (1, {"A": float("nan")}, (), "1 or more"),
        (1, {}, ("A", "B"), "no two translations"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    number: int, thin: dict[str, float], same: tuple[str, ...], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        draw_pairs(made(3, "AB", same=same), pairs=number, thin=thin)


# Worked examples...


Marks = Sequence[tuple[str, str, str]]
"""Words, category and severity of what somebody marked."""


def annotated(
    marks: Mapping[tuple[str, str], Marks], annotator: str = "a", lp: str = "en-de"
) -> list[Annotation]:
    """Annotations by source and translation, which name the segment and the system."""
    found = []
    for (source, text), errors in marks.items():
        spans = []
        for words, category, severity in errors:
            side: Side = "source" if words in source else "translation"
            start = (source if side == "source" else text).find(words)
            place = {"start": start, "end": start + len(words)} if start >= 0 else {"match": "unmatched"}
            kind = cast(Severity, severity)
            spans.append(ErrorSpan(text=words, category=category or None, severity=kind, side=side, **place))
        found.append(
            Annotation(
                lp=lp, segment=source, system=text, annotator=annotator, protocol="mqm", spans=tuple(spans)
            )
        )
    return found


def of(*records: Annotation) -> TestSet:
    """Texts of annotations: a segment is called by its source, a system by its translation."""
    texts: dict[tuple[str, str], dict[str, str]] = {}
    for record in records:
        texts.setdefault((record.lp, record.segment), {})[record.system] = record.system
    segments = (Segment(segment=s, lp=lp, source=s, translations=t) for (lp, s), t in texts.items())
    return TestSet(name="annotated", segments=tuple(segments))


def drawn(records: list[Annotation], **settings: Any) -> ExampleSample:
    return draw_examples(Judgements(name="x", records=tuple(records), test_set=of(*records)), **settings)


GRAMMAR, SPELLING = "fluency/grammar", "fluency/spelling"
MARKS: dict[tuple[str, str], Marks] = {
    ("The cats sleep.", "Die Katzen schläft."): [("schläft", GRAMMAR, "minor")],
    ("The cats sleep.", "Die Kazen schlafen."): [("Kazen", SPELLING, "minor")],
    ("The cats sleep.", "Alle Tiere ruhen sich gerade aus."): [],
    ("The cats sleep.", "Die Katzen schlafen."): [],
    ("Dogs bark.", "Hunde singen."): [("singen", "accuracy/mistranslation", "major")],
}


def test_an_agent_gets_an_error_a_sibling_and_a_clean_translation_of_one_source() -> None:
    sample = drawn(annotated(MARKS))
    pairs = {pair.category: pair for pair in sample.pairs}
    first = pairs[GRAMMAR]
    assert (first.error.translation, first.other.translation) == (
        "Die Katzen schläft.",
        "Die Kazen schlafen.",
    )
    assert first.clean == "Die Katzen schlafen."  # the one that is most like the wrong one
    lone = pairs["accuracy/mistranslation"]
    assert (lone.error.translation, lone.clean) == ("Hunde singen.", "")
    assert lone.other.segment.source == "The cats sleep."
    assert set(sample.lacking["en-de"]) == {*SUBTYPES} - pairs.keys()


def test_what_another_annotator_took_for_the_subtype_is_no_other_error_and_not_clean() -> None:
    one = annotated(MARKS)
    two = annotated(
        {
            ("The cats sleep.", "Die Kazen schlafen."): [("Kazen", GRAMMAR, "minor")],
            ("The cats sleep.", "Die Katzen schlafen."): [("Katzen", "style/awkward", "minor")],
        },
        annotator="b",
    )
    for seed in range(5):
        for pair in drawn([*one, *two], seed=seed).pairs:
            assert pair.clean != "Die Katzen schlafen."
            assert (pair.category, pair.other.translation) != (GRAMMAR, "Die Kazen schlafen.")


@pytest.mark.parametrize(
    "mark",
    [
        ("Hunde", "", "minor"),
        ("Hunde", "non-translation", "major"),
        ("Hunde", GRAMMAR, "critical"),
        ("nowhere", GRAMMAR, "minor"),
        ("e", GRAMMAR, "minor"),
    ],
)
def test_an_annotation_that_cannot_be_shown_is_left_out_and_counted(mark: tuple[str, str, str]) -> None:
    sample = drawn(annotated({**MARKS, ("Many dogs.", "Hunde rennen."): [mark]}))
    assert sample.unfit == 1
    assert all(pair.error.segment.source != "Many dogs." for pair in sample.pairs)


def test_texts_that_are_too_long_are_left_out_and_counted() -> None:
    long: dict[tuple[str, str], Marks] = {
        ("x" * 50, "y"): [],
        ("z", "w" * 50): [("w" * 50, GRAMMAR, "minor")],
    }
    sample = drawn(annotated({**MARKS, **long}), longest=49)
    assert sample.too_long == 2
    assert all(len(shown.translation) < 50 for pair in sample.pairs for shown in (pair.error, pair.other))


def test_a_seed_decides_which_examples_are_drawn() -> None:
    many: dict[tuple[str, str], Marks] = {
        (f"Source {n}.", f"Tekst {n} {category}."): [("Tekst", category, "minor")]
        for n in range(30)
        for category in (GRAMMAR, SPELLING)
    }
    one, again, other = (drawn(annotated(many), seed=seed).pairs for seed in (1, 1, 2))
    assert one == again
    assert one != other
    assert len({pair.error.segment.source for pair in one}) == 2


async def test_himate_takes_the_folder_and_each_agent_sees_what_was_drawn_for_it(tmp_path: Path) -> None:
    records = [
        *annotated(MARKS),
        *annotated({("一只猫。", "A cats."): [("cats", GRAMMAR, "minor")]}, lp="zh-en"),
    ]
    records += annotated({("一只狗。", "A doog."): [("doog", SPELLING, "minor")]}, lp="zh-en")
    write_examples(tmp_path / "new" / "shots", drawn(records))
    ask = Script(*['{"errors": []}'] * 19)
    await Himate(prompts=tmp_path / "new" / "shots").annotate(subject(), ask)
    shown = {
        name: [json.loads(str(message.parts[0]))["errors"] for message in asked.messages[2:-1:2]]
        for name, asked in zip(SUBTYPES, ask.asked, strict=True)
    }
    assert shown["accuracy/mistranslation"][-1][0]["span"] == "singen"
    assert shown["accuracy/mistranslation"][0] == []
    assert shown[GRAMMAR] or shown[SPELLING]
    assert shown["style/awkward"] == []
    notes = [
        json.loads(line) for line in (tmp_path / "new" / "shots" / "notes.jsonl").read_text().splitlines()
    ]
    assert ["An annotator marked this as accuracy/mistranslation, major."] in notes


def test_annotations_without_categories_or_texts_are_refused() -> None:
    bare = annotated({("Dogs bark.", "Hunde singen."): [("singen", "", "major")]})
    with pytest.raises(DataError, match="has no error of a subtype"):
        drawn(bare)
    with pytest.raises(UsageError, match="has no texts; name them with --test-set"):
        draw_examples(annotated(MARKS))
    with pytest.raises(UsageError, match="has no lp 'cs-de'"):
        drawn(annotated(MARKS), lp="cs-de")


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("file", "texts", "lp", "without"),
    [
        ("mqm-tsv/mqm_ted_zhen.tsv", None, "zh-en", 6),
        ("wmt23/human-scores/en-de.mqm.merged.seg.rating", "wmt23", "en-de", 6),
        ("wmt23/human-scores/zh-en.mqm.rater1.seg.rating", "wmt23", "zh-en", 6),
    ],
)
def test_examples_of_wmt_are_triples_of_one_source(
    file: str, texts: str | None, lp: str, without: int, adjudge_data: Path, tmp_path: Path
) -> None:
    sample = draw_examples(
        adjudge_data / file, lp=lp, test_set=None if texts is None else adjudge_data / texts
    )
    assert len(sample.lacking[lp]) <= without
    near = [pair.other.segment.source == pair.error.segment.source for pair in sample.pairs]
    assert sum(near) >= len(near) - 2
    assert sum(bool(pair.clean) for pair in sample.pairs) >= len(near) - 2
    assert len({pair.error.segment.source for pair in sample.pairs}) == len(near)
    write_examples(tmp_path, sample)
    told = Himate(prompts=tmp_path).lacking([lp])
    assert told[0].count(".") == len(sample.lacking[lp])
