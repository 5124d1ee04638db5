"""Units of work come in test-set order, one at a time, with what belongs to them."""

from dataclasses import fields, replace
from pathlib import Path

import pytest

from adjudge.analysis.pair_schedules import Schedule
from adjudge.core.segment import Segment, Term, TestSet
from adjudge.errors import DataError, UsageError
from adjudge.runs.units import Plan, plan_units, read_terms, split
from tests.runs.conftest import small_set


def plan(test_set: TestSet, **options: object) -> Plan:
    return plan_units(test_set, **{"with_reference": False} | options)  # type: ignore[arg-type]


def keys(plan: Plan) -> list[str]:
    return [unit.subject.key for unit in plan]


def test_segments_come_in_order_and_all_systems_of_one_together() -> None:
    units = plan(small_set(2, lps=["en-de", "en-zh"]))
    assert keys(units) == [
        *("en-de/0/A", "en-de/0/B", "en-de/1/A", "en-de/1/B"),
        *("en-zh/0/A", "en-zh/0/B", "en-zh/1/A", "en-zh/1/B"),
    ]
    assert [unit.index for unit in units] == list(range(8))
    assert len(units) == 8


def test_each_lp_has_its_own_systems() -> None:
    first, second = small_set(1, ["en-de"], ["A"]), small_set(1, ["en-zh"], ["B"])
    units = plan(TestSet(name="both", segments=first.segments + second.segments))
    assert keys(units) == ["en-de/0/A", "en-zh/0/B"]


def test_a_missing_translation_is_a_unit_that_says_so() -> None:
    segments = list(small_set(2).segments)
    segments[0] = replace(segments[0], translations={"A": "Satz"})
    units = list(plan(TestSet(name="gap", segments=tuple(segments))))
    assert [unit.slots[0].missing for unit in units] == [
        None,
        ("no_translation", "B has no translation of segment 0"),
        None,
        None,
    ]


def test_a_test_set_without_translations_is_refused() -> None:
    empty = Segment(segment="1", lp="en-de", source="Good morning")
    with pytest.raises(UsageError, match="no translation"):
        plan(TestSet(name="empty", segments=(empty,)))


def with_references(*names: str) -> TestSet:
    segments = (replace(s, references={n: f"{n} {s.segment}" for n in names}) for s in small_set(2))
    return TestSet(name="refs", segments=tuple(segments))


def test_the_only_reference_is_shown_and_of_several_one_must_be_named() -> None:
    for needs, shown in ((True, "refA 0"), (False, None)):
        units = plan(with_references("refA"), with_reference=needs)
        assert next(iter(units)).subject.reference == shown
    with pytest.raises(UsageError, match=r"2 references \(refA, refB\); choose one with --reference"):
        plan(with_references("refA", "refB"), with_reference=True)
    units = plan(with_references("refA", "refB"), with_reference=True, reference="refB")
    assert next(iter(units)).subject.reference == "refB 0"


@pytest.mark.parametrize(
    ("names", "options", "said"),
    [
        ((), {"with_reference": True}, "needs one: add it to the test set, or with -r FILE"),
        (("refA",), {"with_reference": True, "reference": "refB"}, "no reference 'refB'; it has refA"),
        (("refA",), {"reference": "refA"}, "shown no reference"),
    ],
)
def test_a_reference_that_cannot_be_shown_is_refused(
    names: tuple[str, ...], options: dict[str, object], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        plan(with_references(*names), **options)


BLANK = ["", " ", "\u3000\t", "\u200b", "\ufeff\u200e\n", "\x00"]


@pytest.mark.parametrize("references", [{}, *({"refA": blank} for blank in BLANK)])
def test_a_segment_without_the_reference_is_missing(references: dict[str, str]) -> None:
    segments = list(with_references("refA").segments)
    segments[1] = replace(segments[1], references=references)
    units = list(plan(TestSet(name="gap", segments=tuple(segments)), with_reference=True))
    assert [not unit.is_there for unit in units] == [False, False, True, True]


@pytest.mark.parametrize("blank", BLANK)
def test_a_translation_of_a_blank_source_is_missing_for_who_reads_the_source(blank: str) -> None:
    segments = list(small_set(2).segments)
    segments[0] = replace(segments[0], source=blank, translations={"A": "Satz", "B": blank})
    test_set = TestSet(name="gap", segments=tuple(segments))
    missing = ("missing", "segment 0 has no source")
    assert [unit.slots[0].missing for unit in plan(test_set)] == [missing, None, None, None]
    assert all(unit.is_there for unit in plan(test_set, needs_source=False))
    assert [unit.slots[0].missing for unit in plan(test_set, kind="pair", criteria=("all",))] == [
        missing,
        None,
    ]
    assert next(iter(plan(test_set, needs_translation=False))).slots[0].missing == missing


@pytest.mark.parametrize("blank", BLANK)
def test_a_blank_text_is_the_translation_and_the_reference_of_a_blank_source_alone(blank: str) -> None:
    judged = Segment(
        segment="1", lp="en-de", source="A word", translations={"A": blank}, references={"r": blank}
    )
    assert not judged.has_translation("A")
    assert not judged.has_reference("r")
    both = replace(judged, source=" ")
    assert both.has_translation("A")
    assert both.has_reference("r")


def test_a_system_that_is_the_reference_is_left_out_and_that_is_said() -> None:
    segments = (replace(s, translations={**s.translations, "refA": "r"}) for s in with_references("refA"))
    test_set = TestSet(name="refs", segments=tuple(segments))
    chosen = plan(test_set, with_reference=True)
    assert "refA" not in {system for unit in chosen for system in unit.subject.systems}
    assert chosen.notes == ("en-de: refA is the reference and is not judged as a system",)
    assert "refA" in {system for unit in plan(test_set) for system in unit.subject.systems}


def test_context_is_what_stands_before_in_the_same_document() -> None:
    units = plan(small_set(6, systems=["A"]), context=2)
    before = [[s.segment for s in unit.subject.context] for unit in units]
    assert before == [[], ["0"], ["0", "1"], [], ["3"], ["3", "4"]]
    without = tuple(replace(s, document="") for s in small_set(3, systems=["A"]))
    two = small_set(1, lps=["en-de", "en-zh"], systems=["A"])  # a document of each
    for test_set in (TestSet(name="x", segments=without), two):
        assert all(not unit.subject.context for unit in plan(test_set, context=2))


def test_only_terms_of_the_source_are_shown() -> None:
    terms = (Term(source="Bank", translation="Bank"), Term(source="river", translation="Fluss"))
    unit = next(iter(plan(small_set(1), terms=terms)))
    assert unit.subject.terms == terms[:1]


def test_a_glossary_is_source_tab_translation(tmp_path: Path) -> None:
    (tmp_path / "terms.tsv").write_text("bank\tBank\n\nriver bed \t Flussbett\n", encoding="utf-8")
    terms = read_terms(tmp_path / "terms.tsv")
    assert [(t.source, t.translation) for t in terms] == [("bank", "Bank"), ("river bed", "Flussbett")]


@pytest.mark.parametrize(
    ("name", "first", "line", "between"),
    [
        *(("terms.tsv", "a\tb", line, "a tab") for line in ("bank", "bank\t", "\tBank", "bank\tBank\tnoun")),
        *(("terms.csv", "a,b", line, "a comma") for line in ("a", "a,", ",b")),
        *(("terms.csv", "a,b", line, "two columns|not CSV") for line in ("a,b,c", '"a,b')),
    ],
)
def test_a_line_that_is_no_term_is_refused_with_its_place(
    tmp_path: Path, name: str, first: str, line: str, between: str
) -> None:
    (tmp_path / name).write_text(f"{first}\n{line}\n", "utf-8")
    with pytest.raises(DataError, match=between) as refused:
        read_terms(tmp_path / name)
    assert (refused.value.line, name in str(refused.value)) == (2, True)


def test_a_glossary_may_be_csv_of_two_columns(tmp_path: Path) -> None:
    path = tmp_path / "terms.csv"
    path.write_text('file,Datei\n\n"save, as","Speichern ""unter"""\n', "utf-8")
    terms = [(term.source, term.translation) for term in read_terms(path)]
    assert terms == [("file", "Datei"), ("save, as", 'Speichern "unter"')]
    path.write_text("a, b\tc\n", "utf-8")  # a tab tells, whatever the name
    assert [(term.source, term.translation) for term in read_terms(path)] == [("a, b", "c")]


def described(plan: Plan) -> list[tuple[object, ...]]:
    return [(u.name, u.slots, tuple(s.segment for s in u.subject.context), u.subject.reference) for u in plan]


@pytest.mark.parametrize(
    ("kind", "schedule"),
    [
        ("translation", Schedule()),
        ("source", Schedule()),
        ("pair", Schedule()),
        ("pair", Schedule(kind="sampled", per_segment=1)),
        ("pair", Schedule(kind="sampled", in_all=7)),
        ("pair", Schedule(kind="anchored", anchors=("B",))),
    ],
)
def test_parts_together_have_every_unit_once(kind: str, schedule: Schedule) -> None:
    plan = plan_units(
        small_set(9, lps=["en-de", "en-zh"], systems=["A", "B", "C"]),
        with_reference=True,
        kind=kind,  # type: ignore[arg-type]
        criteria=("overall", "style") if kind == "pair" else (),
        schedule=schedule,
        context=2,
    )
    parts = split(plan, 3)
    units = [unit for part in parts for unit in described(part)]
    assert sorted(map(repr, units)) == sorted(map(repr, described(plan)))
    assert sum(map(len, parts)) == len(plan)
    assert all([u.index for u in part] == list(range(len(list(part)))) for part in parts)
    assert all(part for part in parts), "every part has something to do"
    segments = [{(u.subject.lp, u.subject.segment.segment) for u in part} for part in parts]
    assert sum(map(len, segments)) == len(set[object]().union(*segments)), "a segment is in one part"


def test_parts_keep_every_field_of_a_plan() -> None:
    whole = plan_units(
        small_set(9, lps=["en-de", "en-zh"]),
        with_reference=True,
        kind="source",
        criteria=("overall",),
        schedule=Schedule(kind="anchored", anchors=("B",)),
        context=2,
        terms=(Term(source="bank", translation="Bank"),),
        needs_translation=False,
        needs_source=False,
    )
    whole = replace(whole, notes=("a note",))
    plain = Plan(test_set=whole.test_set, systems={}, references={})
    own = {"test_set", "shown"}
    for field in fields(Plan):
        if field.name not in own:
            assert getattr(whole, field.name) != getattr(plain, field.name), "else it shows nothing"
            assert [getattr(part, field.name) for part in split(whole, 3)] == [getattr(whole, field.name)] * 3
    for part in split(whole, 3):
        assert replace(part.test_set, segments=()) == replace(whole.test_set, segments=())
