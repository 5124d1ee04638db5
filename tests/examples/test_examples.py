"""The example test set is what its README says, and its gold fits its texts."""

import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator

import pytest

from adjudge.core.mqm import find_weights
from adjudge.core.protocol import CATEGORIES, SEVERITIES, SUBTYPES, Severity
from adjudge.core.record import Annotation, ErrorSpan, Preference
from adjudge.core.segment import Segment, TestSet
from adjudge.examples import path
from adjudge.store.json_lines import read_test_set
from adjudge.store.run_directory import read_records

LPS = ("en-de", "zh-en", "en-ar")
SYSTEMS = ("Alder", "Birch", "Cedar", "Dogwood")
CRITERIA = {
    "faithfulness": {"accuracy", "terminology", "non-translation"},
    "fluency": {"fluency", "locale convention"},
    "style": {"style"},
}
FILES = ("test_set.jsonl", "gold.mqm.jsonl", "gold.esa.jsonl", "gold.pairwise.jsonl")
WEIGHTS = find_weights("mqm-google")

Key = tuple[str, str, str]


@pytest.fixture(scope="module")
def test_set() -> TestSet:
    return read_test_set(path("test_set.jsonl"))


@pytest.fixture(scope="module")
def segments(test_set: TestSet) -> dict[tuple[str, str], Segment]:
    return {(s.lp, s.segment): s for s in test_set}


@pytest.fixture(scope="module")
def mqm() -> list[Annotation]:
    return read_annotations("gold.mqm.jsonl")


@pytest.fixture(scope="module")
def esa() -> list[Annotation]:
    return read_annotations("gold.esa.jsonl")


@pytest.fixture(scope="module")
def preferences() -> list[Preference]:
    return [r for r in read_records(path("gold.pairwise.jsonl")) if isinstance(r, Preference)]


def read_annotations(name: str) -> list[Annotation]:
    return [r for r in read_records(path(name)) if isinstance(r, Annotation)]


def key(annotation: Annotation) -> Key:
    return annotation.lp, annotation.segment, annotation.system


def points(span: ErrorSpan) -> float:
    return WEIGHTS.points(span.severity, span.category)


def cost(annotation: Annotation, criterion: str) -> float:
    spans = (s for s in annotation.spans if (s.category or "").split("/")[0] in CRITERIA[criterion])
    return round(sum(map(points, spans)), 6)


def both(mqm: list[Annotation], esa: list[Annotation]) -> Iterator[tuple[Annotation, Annotation]]:
    return zip(sorted(mqm, key=key), sorted(esa, key=key), strict=True)


def test_every_language_pair_has_two_documents_of_four_segments_in_both_domains(test_set: TestSet) -> None:
    assert test_set.lps == LPS
    documents = Counter((s.lp, s.domain, s.document) for s in test_set)
    assert set(documents.values()) == {4}
    assert Counter((lp, domain) for lp, domain, _ in documents) == dict.fromkeys(
        itertools.product(LPS, ("news", "support")), 2
    )


def test_documents_stand_together(test_set: TestSet) -> None:
    runs = [document for document, _ in itertools.groupby(s.document for s in test_set)]
    assert len(runs) == len(set(runs))


def test_every_segment_has_a_source_a_reference_and_four_systems(test_set: TestSet) -> None:
    for segment in test_set:
        assert segment.source
        assert segment.references["refA"]
        assert tuple(segment.translations) == SYSTEMS


def test_one_translation_is_empty_and_none_copies_the_reference(test_set: TestSet) -> None:
    texts = [(s, text) for s in test_set for text in s.translations.values()]
    assert [text for _, text in texts].count("") == 1
    assert not [text for s, text in texts if text in s.references.values()]


@pytest.mark.parametrize("name", FILES)
def test_files_are_plain_lines_without_escapes(name: str) -> None:
    raw = path(name).read_bytes()
    assert raw.endswith(b"\n")
    assert b"\r" not in raw
    for line in raw.decode().splitlines():
        assert line == json.dumps(json.loads(line), ensure_ascii=False)


@pytest.mark.parametrize("name", ["gold.mqm.jsonl", "gold.esa.jsonl"])
def test_every_translation_is_annotated_once(name: str, segments: dict[tuple[str, str], Segment]) -> None:
    annotations = read_annotations(name)
    wanted = {(lp, segment, system) for lp, segment in segments for system in SYSTEMS}
    assert sorted(map(key, annotations)) == sorted(wanted)
    for annotation in annotations:
        assert annotation.annotator == "constructed"
        assert annotation.document == segments[annotation.lp, annotation.segment].document


@pytest.mark.parametrize("name", ["gold.mqm.jsonl", "gold.esa.jsonl"])
def test_offsets_yield_the_marked_text(name: str, segments: dict[tuple[str, str], Segment]) -> None:
    for annotation in read_annotations(name):
        segment = segments[annotation.lp, annotation.segment]
        texts = {"source": segment.source, "translation": segment.translations[annotation.system]}
        for span in annotation.spans:
            assert span.text, annotation
            assert span.text == texts[span.side][span.start : span.end]
            assert (span.match, bool(span.note)) == ("exact", True)


def test_every_kind_of_error_is_planted_at_least_twice(mqm: list[Annotation]) -> None:
    planted = Counter(span.category for a in mqm for span in a.spans)
    for category in (*SUBTYPES, "source error", "non-translation", "other"):
        assert planted[category] >= 2, category
    assert {span.severity for a in mqm for span in a.spans} == set(SEVERITIES)


def test_what_is_missing_is_marked_on_the_source(mqm: list[Annotation]) -> None:
    for annotation in mqm:
        for span in annotation.spans:
            on_source = span.category in {"accuracy/omission", "source error"}
            assert (span.side == "source") == on_source, annotation


def test_output_that_translates_nothing_is_marked_as_a_whole(
    mqm: list[Annotation], segments: dict[tuple[str, str], Segment]
) -> None:
    empty = 0
    for annotation in mqm:
        segment = segments[annotation.lp, annotation.segment]
        translation = segment.translations[annotation.system]
        if not translation:
            empty += 1
            (span,) = annotation.spans
            assert (span.text, span.severity) == (segment.source, "critical")
        for span in annotation.spans:
            if span.category == "non-translation":
                assert span.text == translation
    assert empty == 1


def test_esa_marks_the_places_of_mqm_in_its_own_words(mqm: list[Annotation], esa: list[Annotation]) -> None:
    severities: dict[Severity, Severity] = {"minor": "minor", "major": "major", "critical": "major"}
    for of_mqm, of_esa in both(mqm, esa):
        assert [(s.side, s.start, s.end, s.severity, s.category) for s in of_esa.spans] == [
            (s.side, s.start, s.end, severities[s.severity], None)
            for s in of_mqm.spans
            if s.severity in severities
        ]


def test_ratings_follow_the_errors(mqm: list[Annotation], esa: list[Annotation]) -> None:
    for of_mqm, of_esa in both(mqm, esa):
        assert of_esa.rating is not None
        severities = {span.severity for span in of_mqm.spans}
        low = 97 if not sum(map(points, of_mqm.spans)) else 0
        high = 33 if "critical" in severities else 80 if "major" in severities else 100
        assert low <= of_esa.rating <= high, of_mqm


def test_systems_get_worse_in_the_order_of_the_alphabet(esa: list[Annotation]) -> None:
    for lp in LPS:
        totals = [sum(a.rating or 0 for a in esa if (a.lp, a.system) == (lp, name)) for name in SYSTEMS]
        assert totals == sorted(totals, reverse=True)
        assert len(set(totals)) == len(SYSTEMS)


def test_at_least_half_of_the_best_system_is_free_of_errors(mqm: list[Annotation]) -> None:
    assert sum(not a.spans for a in mqm if a.system == "Alder") >= 24


def test_all_pairs_are_compared_by_all_criteria(
    preferences: list[Preference], segments: dict[tuple[str, str], Segment]
) -> None:
    compared = {(p.lp, p.segment) for p in preferences}
    assert Counter(lp for lp, _ in compared) == dict.fromkeys(LPS, 8)
    wanted = itertools.product(compared, itertools.combinations(SYSTEMS, 2), (*CRITERIA, "overall"))
    assert Counter(((p.lp, p.segment), p.systems, p.criterion) for p in preferences) == Counter(wanted)
    for preference in preferences:
        assert preference.annotator == "constructed"
        assert preference.document == segments[preference.lp, preference.segment].document


def test_preferences_follow_from_the_errors(preferences: list[Preference], mqm: list[Annotation]) -> None:
    annotations = {key(a): a for a in mqm}
    verdicts = {(p.lp, p.segment, p.systems, p.criterion): p.verdict for p in preferences}
    for (lp, segment, systems, criterion), verdict in verdicts.items():
        if criterion == "overall":
            single = [verdicts[lp, segment, systems, name] for name in CRITERIA]
            lead = single.count("A") - single.count("B")
            first = next((v for v in single if v != "E"), "E")
            assert verdict == ("A" if lead > 0 else "B" if lead < 0 else first)
        else:
            a, b = (cost(annotations[lp, segment, system], criterion) for system in systems)
            assert verdict == ("A" if a < b else "B" if b < a else "E")


def test_the_readme_counts_what_was_planted(mqm: list[Annotation]) -> None:
    rows = re.findall(r"^\| ([^|]+) \| ([\d |]+) \|$", path("README.md").read_text("utf-8"), re.MULTILINE)
    told = {name: [int(n) for n in numbers.split("|")] for name, numbers in rows}
    assert len(told) == len(rows)
    counts: dict[str, Counter[str]] = {}
    for annotation in mqm:
        for span in annotation.spans:
            counts.setdefault(span.category or "", Counter())[annotation.system] += 1
            counts.setdefault(span.severity, Counter())[annotation.system] += 1
        if not annotation.spans:
            counts.setdefault("translations without a mark", Counter())[annotation.system] += 1
    assert counts.keys() <= {*CATEGORIES, *SEVERITIES, "translations without a mark"}
    assert told == {name: [*(n[s] for s in SYSTEMS), n.total()] for name, n in counts.items()}
