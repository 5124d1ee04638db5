"""Translations that both gold and a run judged: the only ones on which marks can be compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from adjudge.core.annotation import Annotation, ErrorSpan, Failure, Side
from adjudge.core.language import canonical_lp
from adjudge.core.score import Signature
from adjudge.core.segment import Segment, TestSet
from adjudge.core.version import VERSION
from adjudge.core.wording import count, form, of_all
from adjudge.errors import DataError, UsageError
from adjudge.meta.spans.reading import Judged
from adjudge.scoring.repeats import repeats_note, without_repeats

__all__ = ["Both", "Key", "Paired", "keep_common", "pair_up", "signature_of"]


class Key(NamedTuple):
    """One translation."""

    lp: str
    segment: str
    system: str


class Both(NamedTuple):
    """One translation as gold and the run judged it, and its texts where they are known."""

    key: Key
    gold: Annotation
    pred: Annotation
    texts: Mapping[Side, str]


@dataclass(frozen=True, kw_only=True)
class Paired:
    """What both judged.

    Args:
        both: one for each two judgements of a translation; several annotators make several.
        failed: translations that gold judged and whose judgement in the run failed.
        notes: what a reader must know.
    """

    both: tuple[Both, ...]
    failed: int
    notes: tuple[str, ...] = ()


def pair_up(
    pred: Judged,
    gold: Judged,
    *,
    lp: str | None = None,
    annotator: str | None = None,
    gold_annotator: str | None = None,
) -> Paired:
    """Put together what gold and the run say of the same translation, in the order of the run.

    Where several annotators judged a translation, each one of gold is put beside each one of the run. A
    translation whose marks do not stand in the text is left out: gold and run saw different texts.

    Raises:
        DataError: no translation was judged by both.
        UsageError: an annotator that is not there.
    """
    lp = None if lp is None else canonical_lp(lp)
    pred, repeats = _without_repeats(pred)
    gold, gold_repeats = _without_repeats(gold)
    said = _annotations(pred, lp, annotator)
    golds = _annotations(gold, lp, gold_annotator)
    texts = _Texts(pred.test_set, gold.test_set)
    both = [
        Both(key, g, p, texts.of(key)) for key in said if key in golds for g in golds[key] for p in said[key]
    ]
    fitting = [b for b in both if _fits(b)]
    if not fitting:
        raise DataError(_nothing(pred, gold, said, golds, len(both)))
    failed = {key for key in _failed(pred, lp) if key in golds and key not in said}
    notes = [
        *(f"{judged.name}: {n} {what}." for judged in (pred, gold) for what, n in judged.met.items()),
        *repeats,
        *gold_repeats,
        *_coverage(said, golds, failed),
        *_several(pred, gold, said, golds),
        *_misfits(len(both) - len(fitting), len(both)),
    ]
    return Paired(both=tuple(fitting), failed=len(failed), notes=tuple(dict.fromkeys(notes)))


def keep_common(runs: Mapping[str, Paired]) -> dict[str, Paired]:
    """Keep of several runs the translations that all of them judged, so that their numbers compare.

    Raises:
        DataError: there is none.
    """
    common = set.intersection(*({both.key for both in paired.both} for paired in runs.values()))
    if not common:
        raise DataError(f"no translation was judged by all of {', '.join(runs)} and gold")
    kept = {}
    for name, paired in runs.items():
        both = tuple(b for b in paired.both if b.key in common)
        lost = len(paired.both) - len(both)
        which = f"{of_all(lost, len(paired.both), 'translation')} {form(lost, 'is', 'are')}"
        note = f"{which} left out, since not every run judged {form(lost, 'it', 'them')}."
        kept[name] = replace(paired, both=both, notes=(*paired.notes, *([note] if lost else [])))
    return kept


def signature_of(paired: Paired, settings: Mapping[str, object]) -> Signature:
    """What makes the numbers repeatable: whose judgements were compared, and how.

    Args:
        paired: what was compared.
        settings: name to value; those that are not set are left out.
    """
    told = {name: str(value) for name, value in settings.items() if value not in {None, ""}}
    failed = f"{paired.failed}/{paired.failed + len({b.key for b in paired.both})}"
    golds = ",".join(dict.fromkeys(b.gold.annotator for b in paired.both))
    name = ",".join(dict.fromkeys(b.pred.annotator for b in paired.both))
    return Signature(name, {"gold": golds, **told, "failed": failed, "version": VERSION})


def _without_repeats(judged: Judged) -> tuple[Judged, list[str]]:
    records, repeated = without_repeats(judged.records)
    notes = [f"{judged.name}: {note}" for note in repeats_note(repeated)]
    return replace(judged, records=tuple(records)), notes


def _annotations(judged: Judged, lp: str | None, annotator: str | None) -> dict[Key, list[Annotation]]:
    found: defaultdict[Key, list[Annotation]] = defaultdict(list)
    names = set()
    for record in judged.records:
        if isinstance(record, Annotation) and lp in {None, record.lp}:
            names.add(record.annotator)
            if annotator in {None, record.annotator}:
                found[Key(record.lp, record.segment, record.system)].append(record)
    if annotator is not None and annotator not in names:
        raise UsageError(f"{judged.name} has no annotator {annotator!r}; it has {_some(sorted(names))}")
    return dict(found)


def _failed(judged: Judged, lp: str | None) -> Iterator[Key]:
    for record in judged.records:
        if isinstance(record, Failure) and lp in {None, record.lp}:
            yield from (Key(record.lp, record.segment, system) for system in record.systems)


class _Texts:
    """Source and translation of every translation, from whoever knows them."""

    def __init__(self, *test_sets: TestSet | None) -> None:
        self._segments: list[dict[tuple[str, str], Segment]] = [
            {(s.lp, s.segment): s for s in test_set} for test_set in test_sets if test_set is not None
        ]

    def of(self, key: Key) -> Mapping[Side, str]:
        """Texts by side; what nobody knows is not in it."""
        texts: dict[Side, str] = {}
        for segments in self._segments:
            segment = segments.get((key.lp, key.segment))
            if segment is not None:
                texts.setdefault("source", segment.source)
                if key.system in segment.translations:
                    texts.setdefault("translation", segment.translations[key.system])
        return texts


def _fits(both: Both) -> bool:
    return all(_stands(span, both.texts.get(span.side)) for a in (both.gold, both.pred) for span in a.spans)


def _stands(span: ErrorSpan, text: str | None) -> bool:
    """Whether a span marks in this text what it says it marks."""
    if text is None or span.start is None or span.end is None:
        return True
    return span.end <= len(text) and (not span.text or text[span.start : span.end] == span.text)


def _nothing(
    pred: Judged,
    gold: Judged,
    said: Mapping[Key, object],
    golds: Mapping[Key, object],
    common: int,
) -> str:
    """Say why there is nothing to compare."""
    if common:
        return (
            f"{pred.name} and {gold.name} judged {count(common, 'translation')} both, but marked "
            "different texts: these are not the same translations"
        )
    parts = []
    for judged, keys in ((pred, said), (gold, golds)):
        example = next((f", such as {'/'.join(key)}" for key in keys), "")
        parts.append(f"{judged.name} judged {count(len(keys), 'translation')}{example}")
    return f"no translation was judged by both: {'; '.join(parts)}; lp, segment id and system must be equal"


def _coverage(said: Mapping[Key, object], golds: Mapping[Key, object], failed: set[Key]) -> Iterator[str]:
    if failed:
        which = of_all(len(failed), len(golds), "translation")
        yield f"{which} that gold judged failed in the run: in no number."
    left = len(golds.keys() - said.keys() - failed)
    if left:
        which = of_all(left, len(golds), "translation")
        yield f"{which} that gold judged {form(left, 'is', 'are')} not in the run."
    more = len(said.keys() - golds.keys())
    if more:
        which = of_all(more, len(said), "translation")
        yield f"{which} that the run judged {form(more, 'has', 'have')} no gold."


def _several(
    pred: Judged,
    gold: Judged,
    said: Mapping[Key, list[Annotation]],
    golds: Mapping[Key, list[Annotation]],
) -> Iterator[str]:
    for what, judged, keys in (("the run", pred, said), ("gold", gold, golds)):
        common = [key for key in keys if key in said and key in golds]
        several = sum(len(keys[key]) > 1 for key in common)
        if several:
            names = _some(sorted({a.annotator for found in keys.values() for a in found}))
            option = "--annotator" if judged is pred else "--gold-annotator"
            which = f"{of_all(several, len(common), 'translation')} {form(several, 'was', 'were')}"
            kept = f"each judgement counts, {option} NAME keeps one"
            yield f"{which} judged several times in {what}, by {names}; {kept}."


def _misfits(lost: int, of: int) -> Iterator[str]:
    if lost:
        which = f"{of_all(lost, of, 'judgement')} {form(lost, 'is', 'are')}"
        yield f"{which} left out: gold and the run marked different texts."


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "") if names else "none"
