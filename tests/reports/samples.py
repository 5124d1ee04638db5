"""Small runs of our own, with everything in them that a page must show."""

from collections.abc import Iterable, Mapping
from typing import Any

from adjudge.core.record import Annotation, ErrorSpan, Failure, Preference, Record
from adjudge.core.scores import Run, RunInfo, Signature
from adjudge.core.segment import Segment, TestSet

SYSTEMS = ("Alder", "Birch", "Cedar")
TEXTS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "en-de": (
        (
            "The night ferry to Korsund leaves at 9:15 p.m. and costs 48 euros.",
            "Die Nachtfähre nach Korsund legt um 21.15 Uhr ab und kostet 48 Euro.",
            "Die Nachtfähre nach Korsund fährt um 21.15 Uhr und kostet 48 Euros.",
            "Die Nachtschifffahrtsgesellschaftsfähre nach Korsund fährt um 9.15 Uhr und kostet 84 Euro.",
        ),
        (
            "Children travel free.",
            "Kinder fahren kostenlos.",
            "Kinder reisen gratis.",
            "Kinder fahren nicht kostenlos.",
        ),
    ),
    "zh-en": (
        (
            "夜间渡轮二十一点十五分启航，票价四十八欧元。",
            "The night ferry sails at 9:15 p.m.; a ticket costs 48 euros.",
            "Night ferry sails at 21:15, ticket costs 48 euro.",
            "The night ferry sails at 9:15 a.m.",
        ),
        ("儿童免费。", "Children travel free.", "Children are free.", "The child is free of charge."),
    ),
    "en-ar": (
        (
            "The night ferry leaves at 9:15 p.m. and costs 48 euros.",
            "تغادر عبّارة الليل في الساعة 21:15 وتكلّف 48 يورو.",
            "تترك عبّارة الليل في الساعة 21:15 وتكلّف 48 يورو.",
            "تغادر عبّارة الليل في الساعة 9:15 صباحًا وتكلّف 84 يورو.",
        ),
        ("Children travel free.", "يسافر الأطفال مجانًا.", "الأطفال مجانًا.", "لا يسافر الأطفال مجانًا."),
    ),
}


def small_test_set(lps: Iterable[str] = TEXTS) -> TestSet:
    segments = [
        Segment(
            segment=f"{lp}-{index}",
            lp=lp,
            source=source,
            translations=dict(zip(SYSTEMS, translations, strict=True)),
            references={"refA": translations[0]},
            document=f"ferry-{lp}",
            domain="travel" if index else "news",
        )
        for lp in lps
        for index, (source, *translations) in enumerate(TEXTS[lp])
    ]
    return TestSet(name="ferries", segments=tuple(segments))


def mark(
    text: str, part: str, severity: str = "major", category: str = "accuracy/mistranslation"
) -> ErrorSpan:
    start = text.index(part)
    what: dict[str, Any] = {"severity": severity, "category": category, "note": f"{part} is wrong"}
    return ErrorSpan(start=start, end=start + len(part), text=part, **what)


def judgement(segment: Segment, system: str, annotator: str = "judge", **more: object) -> Annotation:
    """An annotation that marks the last word of Birch and Cedar, and the whole text of Cedar besides."""
    text = segment.translations[system]
    last = text.split()[-1]
    spans = {
        "Alder": (),
        "Birch": (mark(text, last, "minor", "style/awkward"),),
        "Cedar": (mark(text, text, "critical"), mark(text, last, "major", "fluency/grammar")),
    }.get(system, ())
    place = {"lp": segment.lp, "segment": segment.segment, "document": segment.document}
    said: dict[str, Any] = {"annotator": annotator, "protocol": "mqm", "spans": spans, **place, **more}
    return Annotation(system=system, **said)


def failure(segment: Segment, system: str, annotator: str = "judge", detail: str = "Sorry, no.") -> Failure:
    place: dict[str, Any] = {"lp": segment.lp, "segment": segment.segment, "document": segment.document}
    said: dict[str, Any] = {"annotator": annotator, "protocol": "mqm", "reason": "refused", "detail": detail}
    return Failure(systems=(system,), **place, **said)


def judge_all(test_set: TestSet, annotator: str = "judge") -> list[Record]:
    return [judgement(s, system, annotator) for s in test_set for system in s.translations]


def make_run(
    test_set: TestSet | None = None,
    records: Iterable[Record] | None = None,
    *,
    annotator: str = "judge",
    model: str = "openai/gpt-x",
    protocol: str = "mqm",
) -> Run:
    test_set = small_test_set() if test_set is None else test_set
    records = judge_all(test_set, annotator) if records is None else records
    fields = {"model": model, "prompts": "3fa19c", "seed": "0", "version": "0.1.0"}
    kind = "metric" if protocol == "metric" else "judge"
    if kind == "metric":
        del fields["model"]
    info = RunInfo(
        signature=Signature(annotator, fields),
        kind=kind,  # type: ignore[arg-type]
        annotator=annotator,
        protocol=protocol,
        weights="mqm-google" if protocol == "mqm" else None,
        secret="0123456789abcdef" * 2,
    )
    return Run(info=info, test_set=test_set, records=tuple(records))


def many_segments(amount: int) -> TestSet:
    source, *translations = TEXTS["en-de"][0]
    segments = [
        Segment(
            segment=str(index),
            lp="en-de",
            source=f"{index}. {source} {source}",
            translations={
                name: f"{index}. {text} {text}" for name, text in zip(SYSTEMS, translations, strict=True)
            },
            document=f"doc-{index // 10}",
            domain=("news", "travel", "speech")[index % 3],
        )
        for index in range(amount)
    ]
    return TestSet(name="many", segments=tuple(segments))


def preferences(test_set: TestSet, annotator: str = "ranker") -> list[Preference]:
    return [
        Preference(
            lp=s.lp,
            segment=s.segment,
            document=s.document,
            systems=("Alder", "Birch"),
            annotator=annotator,
            criterion="faithfulness",
            verdict="A" if index % 2 else "E",
        )
        for index, s in enumerate(test_set)
    ]
