"""Records and test sets as JSON lines.

A line is one record or one segment. It is the one shape in which every judgement is kept, whoever made it. A
test set may be of one or several language pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from sys import intern
from typing import Any, Final, Literal, cast

from adjudge.core.language import lp_in
from adjudge.core.protocol import SEVERITIES, Severity, find_protocol, is_number
from adjudge.core.record import Annotation, ErrorSpan, Failure, Match, Preference, Record, Side, Verdict
from adjudge.core.segment import Digests, Segment, TestSet
from adjudge.errors import AdjudgeError, DataError, FailureReason
from adjudge.store.files import (
    LINES_WANTED,
    Fields,
    read_fields,
    read_json_lines,
    render_json_line,
    write_bytes,
)

_KEYS: Final = frozenset(
    {"segment", "document", "domain", "lp", "source", "references", "translations", "meta"}
)


def read_test_set(path: Path | str, lp: str | None = None) -> TestSet:
    path = Path(path)
    places: dict[tuple[str, str], int] = {}
    segments = []
    for line, value in read_json_lines(path):
        fields = read_fields(value, _KEYS, "segment", path, line)
        if "lp" not in fields.values and lp is None:
            fields.fail("'lp' is missing; add it to the line, or name it with --lp")
        segment = Segment(
            segment=fields.name("segment"),
            lp=fields.lp("lp", lp),
            source=fields.text("source"),
            translations=fields.text_mapping("translations"),
            references=fields.text_mapping("references"),
            document=fields.name("document", ""),
            domain=fields.text("domain", ""),
            meta=fields.mapping("meta"),
        )
        first = places.setdefault((segment.lp, segment.segment), line)
        if first != line:
            message = f"segment id {segment.segment!r} of {segment.lp} stands already in line {first}"
            raise DataError(f"{message}; ids must be unique within an lp", path=path, line=line)
        segments.append(segment)
    if not segments:
        raise DataError("the test set has no segment", path=path)
    name = path.name.removesuffix(".gz").removesuffix(".jsonl")
    test_set = TestSet(name=name, segments=tuple(segments))
    return test_set.select(lp=lp)


def write_test_set(path: Path | str, test_set: TestSet) -> None:
    """Write one segment a line; the file appears whole or not at all."""
    lines = (
        render_json_line(
            {
                "segment": segment.segment,
                "document": segment.document,
                "domain": segment.domain,
                "lp": segment.lp,
                "source": segment.source,
                "references": dict(segment.references),
                "translations": dict(segment.translations),
                "meta": dict(segment.meta),
            }
        )
        for segment in test_set
    )
    write_bytes(Path(path), lines)


Kind = Literal["annotation", "preference", "failure"]

_SHARED: Final = frozenset({"kind", "lp", "document", "segment", "annotator", "protocol", "digests"})
RECORD_KEYS: Final[dict[str, frozenset[str]]] = {
    "annotation": _SHARED
    | {
        "system",
        "rating",
        "spans",
        "counts",
        "flags",
        "rationale",
        "samples",
        "steps",
        "criterion",
        "weights",
    },
    "preference": _SHARED
    | {"systems", "criterion", "verdict", "orders", "flags", "rationale"}
    | {"samples", "strength"},
    "failure": _SHARED | {"system", "systems", "criterion", "reason", "detail"},
}
_TEXT: Final = frozenset({str})
_NONE: Final = type(None)
_SPAN_TYPES: Final[Mapping[str, frozenset[type]]] = {
    **dict.fromkeys(("severity", "text", "side", "match", "note"), _TEXT),
    **dict.fromkeys(("category", "label"), _TEXT | {_NONE}),
    **dict.fromkeys(("start", "end"), frozenset({int, _NONE})),
    "confidence": frozenset({int, float, _NONE}),
}
"""Keys of a span, and the types that their values may have."""

_NO_COUNTS: Final[Mapping[Severity, int]] = {}


def write_records(path: Path | str, records: Iterable[Record], texts: Iterable[Segment] = ()) -> None:
    """Write one record a line; the file appears whole or not at all. `records`: in order."""
    write_bytes(Path(path), map(record_to_line, with_digests(records, texts)))


def with_digests(records: Iterable[Record], texts: Iterable[Segment]) -> Iterator[Record]:
    """Records with digests of the texts that they are about, as far as these are known."""
    known = {(segment.lp, segment.segment): segment for segment in texts}
    for record in records:
        segment = known.get((record.lp, record.segment))
        if segment is not None and record.digests is None:
            record = replace(record, digests=Digests.of(segment, record.systems))  # noqa: PLW2901
        yield record


def record_to_line(record: Record) -> bytes:
    """The line of a file that holds a record, with its end."""
    value = record_to_json(record)
    if record.digests is not None:
        source, translations, reference = record.digests
        value["digests"] = {"source": source, "translations": translations}
        if reference is not None:
            value["digests"]["reference"] = reference
    return render_json_line(value)


def record_to_json(record: Record) -> dict[str, Any]:
    """The JSON object of a record.

    Left out when unset: `counts`, `samples`, `steps`, `weights`, `strength`, a span's `label`, and the
    `criterion` of a record that has none.
    """
    if isinstance(record, Annotation):
        return {
            "kind": "annotation",
            "lp": record.lp,
            "document": record.document,
            "segment": record.segment,
            "system": record.system,
            "annotator": record.annotator,
            "protocol": record.protocol,
            **({} if record.criterion is None else {"criterion": record.criterion}),
            "rating": record.rating,
            "spans": [span_to_json(span) for span in record.spans],
            **({"counts": dict(record.counts)} if record.counts else {}),
            "flags": list(record.flags),
            "rationale": record.rationale,
            **({"samples": list(record.samples)} if record.samples else {}),
            **({"steps": list(record.steps)} if record.steps else {}),
            **({} if record.weights is None else {"weights": record.weights}),
        }
    shared = {"lp": record.lp, "document": record.document, "segment": record.segment}
    by = {"annotator": record.annotator, "protocol": record.protocol}
    if isinstance(record, Preference):
        return {
            "kind": "preference",
            **shared,
            "systems": list(record.systems),
            **by,
            "criterion": record.criterion,
            "verdict": record.verdict,
            "orders": list(record.orders),
            "flags": list(record.flags),
            "rationale": record.rationale,
            **({"samples": list(record.samples)} if record.samples else {}),
            **({} if record.strength is None else {"strength": record.strength}),
        }
    single = len(record.systems) == 1 and record.criterion is None
    of = {"system": record.systems[0]} if single else {"systems": list(record.systems)}
    criterion = {} if record.criterion is None else {"criterion": record.criterion}
    why = {"reason": record.reason, "detail": record.detail}
    return {"kind": "failure", **shared, **of, **by, **criterion, **why}


def span_to_json(span: ErrorSpan) -> dict[str, Any]:
    return {
        "side": span.side,
        "start": span.start,
        "end": span.end,
        "text": span.text,
        "category": span.category,
        "severity": span.severity,
        "match": span.match,
        "note": span.note,
        **({} if span.label is None else {"label": span.label}),
        **({} if span.confidence is None else {"confidence": span.confidence}),
    }


def record_from_json(value: object, line: int | None = None, path: Path | None = None) -> Record:
    try:
        return _RECORDS[_kind(value)](value, path, line)
    except DataError as error:
        if error.path is not None or error.line is not None:
            raise
        raise DataError(str(error), path=path, line=line) from error
    except AdjudgeError as error:
        raise DataError(str(error), path=path, line=line) from error


def _kind(value: object) -> Kind:
    kind = value.get("kind") if isinstance(value, dict) else None
    if kind not in RECORD_KEYS:
        raise DataError(
            f'a record is an object with "kind" {", ".join(RECORD_KEYS)}; got kind {kind!r}'
            + (LINES_WANTED if isinstance(value, list) else "")
        )
    return cast("Kind", kind)


_PLAIN: Final = ("lp", "segment", "system", "annotator", "protocol", "document", "spans", "flags")
_plain_values: Final = itemgetter(*_PLAIN, "rating", "rationale")
_PLAIN_TYPES: Final = [*[str] * 6, list, list]
_PLAIN_KEYS: Final = frozenset({*_PLAIN, "kind", "rating", "rationale"})


def _plain_annotation(value: Any) -> Annotation | None:  # noqa: ANN401 (JSON, whatever it is)
    """Read what most annotations are, in a third of the time; None for what needs a closer look.

    It is all that ratings are, and most of what marks errors: a test set has a million of them.
    """
    if value.keys() - {"digests"} != _PLAIN_KEYS:
        return None
    *plain, rating, rationale = _plain_values(value)
    if [*map(type, plain)] != _PLAIN_TYPES or not (rationale is None or type(rationale) is str):
        return None
    lp, segment, system, annotator, protocol, document, spans, flags = plain
    if not (rating is None or is_number(rating)) or (flags and {*map(type, flags)} != {str}):
        return None
    if (lp := lp_in(lp)) is None:
        return None
    return Annotation(
        lp=lp,
        segment=intern(segment),
        system=intern(system),
        annotator=intern(annotator),
        protocol=intern(protocol),
        document=intern(document),
        rating=rating,
        spans=tuple(map(span_from_json, spans)) if spans else (),
        counts=_NO_COUNTS,
        flags=tuple(flags),
        rationale=rationale,
        digests=_digests(value),
    )


def _digests(value: Any) -> Digests | None:  # noqa: ANN401 (JSON, whatever it is)
    if (said := value.get("digests")) is None:
        return None
    try:
        reference = said.get("reference")
        return Digests(
            intern(said["source"]),
            tuple([intern(each) for each in said["translations"]]),
            None if reference is None else intern(reference),
        )
    except (AttributeError, KeyError, TypeError) as error:
        raise DataError(f"'digests' must have source and translations, got {said!r:.80}") from error


def _about(fields: Fields) -> dict[str, Any]:
    return {
        "lp": fields.lp("lp"),
        "segment": fields.name("segment"),
        "annotator": fields.name("annotator"),
        "document": fields.name("document", ""),
        "digests": _digests(fields.values),
    }


def _annotation(value: object, path: Path | None, line: int | None) -> Annotation:
    if (plain := _plain_annotation(value)) is not None:
        return plain
    fields = read_fields(value, RECORD_KEYS["annotation"], "annotation", path, line)
    spans = fields.values.get("spans", [])
    if not isinstance(spans, list):
        fields.fail(f"'spans' must be a list, got {spans!r}")
    protocol = fields.name("protocol")
    if not fields.values.keys() & {"spans", "counts"} and find_protocol(protocol).has_spans:
        fields.fail(f"protocol {protocol} needs 'spans'; an empty list says that a translation has no error")
    return Annotation(
        **_about(fields),
        system=fields.name("system"),
        protocol=protocol,
        rating=fields.number("rating"),
        spans=tuple(span_from_json(span, path, line) for span in spans),
        counts=counts_from_json(fields),
        flags=fields.texts("flags"),
        rationale=fields.optional_text("rationale"),
        samples=fields.numbers("samples"),
        steps=fields.texts("steps"),
        criterion=fields.optional_text("criterion"),
        weights=fields.optional_text("weights"),
    )


def counts_from_json(fields: Fields) -> Mapping[Severity, int]:
    if "counts" not in fields.values:
        return _NO_COUNTS
    counts = fields.inner(fields.mapping("counts"), "counts")
    for severity in counts.values:
        if severity not in SEVERITIES:
            counts.fail(f"severity must be one of {', '.join(SEVERITIES)}; got {severity!r}")
    return {cast("Severity", severity): counts.whole(severity) or 0 for severity in counts.values}


def span_from_json(value: object, path: Path | None = None, line: int | None = None) -> ErrorSpan:
    if not isinstance(value, dict) or not _is_plain_span(value):
        _refuse_span(read_fields(value, frozenset(_SPAN_TYPES), "span", path, line))
    values = cast("dict[str, Any]", value)
    category = values.get("category")
    return ErrorSpan(
        severity=cast("Severity", intern(str(values["severity"]))),
        start=values.get("start"),
        end=values.get("end"),
        text=values.get("text", ""),
        category=None if category is None else intern(str(category)),
        side=cast("Side", intern(str(values.get("side", "translation")))),
        match=cast("Match", intern(str(values.get("match", "exact")))),
        note=values.get("note", ""),
        label=values.get("label"),
        confidence=values.get("confidence"),
    )


def _is_plain_span(value: dict[str, Any]) -> bool:
    for key, each in value.items():
        if type(each) not in _SPAN_TYPES.get(key, ()):
            return False
    return "severity" in value and (value.get("start") or 0) >= 0 and (value.get("end") or 0) >= 0


def _refuse_span(fields: Fields) -> None:
    fields.text("severity")
    for key in ("start", "end"):
        fields.whole(key)
    for key in ("text", "side", "match", "note"):
        fields.text(key, "")
    for key in ("category", "label"):
        fields.optional_text(key)
    fields.number("confidence")


def _preference(value: object, path: Path | None, line: int | None) -> Preference:
    fields = read_fields(value, RECORD_KEYS["preference"], "preference", path, line)
    systems = fields.texts("systems")
    if len(systems) != 2:
        fields.fail(f"'systems' must name two systems, got {systems!r}")
    return Preference(
        **_about(fields),
        systems=(systems[0], systems[1]),
        criterion=fields.name("criterion"),
        verdict=cast("Verdict", fields.name("verdict")),
        protocol=fields.name("protocol", "pairwise"),
        orders=cast("tuple[Verdict, ...]", fields.texts("orders")),
        flags=fields.texts("flags"),
        rationale=fields.optional_text("rationale"),
        samples=cast("tuple[Verdict, ...]", fields.texts("samples")),
        strength=fields.number("strength"),
    )


def _failure(value: object, path: Path | None, line: int | None) -> Failure:
    fields = read_fields(value, RECORD_KEYS["failure"], "failure", path, line)
    if fields.has("system") == fields.has("systems"):
        fields.fail("needs 'system', or 'systems' for a pair, and not both")
    return Failure(
        **_about(fields),
        systems=(fields.name("system"),) if fields.has("system") else fields.texts("systems"),
        protocol=fields.name("protocol"),
        reason=cast("FailureReason", fields.name("reason")),
        detail=fields.text("detail", ""),
        criterion=fields.optional_text("criterion"),
    )


_RECORDS: Final[dict[Kind, Callable[[object, Path | None, int | None], Record]]] = {
    "annotation": _annotation,
    "preference": _preference,
    "failure": _failure,
}
