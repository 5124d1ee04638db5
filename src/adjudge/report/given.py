"""What a report is about, besides runs: files of records and of scores, and campaigns, with their texts.

Each becomes one annotator of the page, or one for each protocol in it. Many of these files hold no texts, or
only line numbers: they are read with a test set, or with the texts of the runs that they stand beside.
"""

from __future__ import annotations

import filecmp
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from adjudge.core.annotation import Record
from adjudge.core.language import canonical_lp
from adjudge.core.run import Run
from adjudge.core.segment import Segment, TestSet
from adjudge.data.appraise_records import find_batches
from adjudge.data.convert import read_content
from adjudge.data.formats import find_format
from adjudge.data.load import detect
from adjudge.data.mtme_ratings import find_test_set
from adjudge.data.run_dir import TEST_SET, read_run
from adjudge.errors import DataError, DataWarning, UsageError
from adjudge.report.collecting import uncollected
from adjudge.scoring.repeats import repeats_note, without_repeats

__all__ = ["Given", "Judged", "read_judged", "shown_texts"]

_LINES: Final = frozenset({"mtme-ratings", "mtme-scores"})
"""Formats whose lines are those of a whole test set, of one language pair."""
_PEOPLE: Final = frozenset({"appraise", "campaign", "mqm-tsv", "mtme-ratings", "pearmut"})
"""Formats in which people's judgements are published or collected."""
_ENDINGS: Final = (".gz", ".seg.rating", ".seg.score", ".jsonl", ".json", ".tsv", ".csv")


@dataclass(frozen=True, kw_only=True)
class Given:
    """Judgements that are no run.

    Args:
        name: of the file or campaign.
        records: any number of annotators and protocols.
        test_set: the texts that they are about, where the file has them.
        by_people: whether they are of a campaign or in a format of people's judgements, so that judges beside
            them are measured by them where there is no gold.
    """

    name: str
    records: tuple[Record, ...]
    test_set: TestSet | None = None
    by_people: bool = False


Judged = Run | Given


def read_judged(
    paths: Sequence[Path | str],
    lp: str | None = None,
    test_set: TestSet | None = None,
    beside: TestSet | None = None,
) -> list[Judged]:
    """Read runs, records, campaigns' exports and score files; what is odd in them is warned of.

    Args:
        paths: where they are.
        lp: language pair of files that do not say their own; of the others, all is read.
        test_set: texts of what carries none.
        beside: the same where nothing was chosen and no run is among the paths.

    Raises:
        DataError: one of them is damaged, or holds no judgements.
        UsageError: one has lines without ids, and nothing says what they are about.
    """
    with uncollected():
        return _read_all([Path(path) for path in paths], lp, test_set, beside)


def _read_all(
    places: Sequence[Path], lp: str | None, test_set: TestSet | None, beside: TestSet | None
) -> list[Judged]:
    """Read what has texts of its own first, so that the rest can take them."""
    forms = [detect(place) for place in places]
    found: dict[int, Judged] = {}
    for late in (False, True):
        sets = [each.test_set for each in found.values() if each.test_set is not None]
        beside = sets[0] if sets else beside
        for index, (place, form) in enumerate(zip(places, forms, strict=True)):
            if find_format(form).takes_texts != late:
                continue
            if form == "run":
                found[index] = read_run(place, _same_texts(place, found, places))
            else:
                found[index] = _read(place, form, lp, _texts(place, form, lp, (test_set, beside)))
    return [found[index] for index in range(len(places))]


def _same_texts(path: Path, found: Mapping[int, Judged], places: Sequence[Path]) -> TestSet | None:
    """The test set of a run that was read before, where the file of this one is the same to the last byte."""
    for index, known in found.items():
        own, other = path / TEST_SET, places[index] / TEST_SET
        if isinstance(known, Run) and own.is_file() and filecmp.cmp(own, other, shallow=False):
            return known.test_set
    return None


def _texts(
    path: Path, form: str, lp: str | None, known: tuple[TestSet | None, TestSet | None]
) -> TestSet | None:
    """The texts that a file is read with: those chosen, else those it belongs to, else those beside it."""
    chosen, beside = known
    if form == "appraise":
        return find_batches(path) or chosen or beside
    if form in _LINES:
        texts = chosen or find_test_set(path) or beside
        return None if texts is None else _of_one_lp(path, texts, lp)
    return chosen or beside if form == "mqm-tsv" else None


def _read(path: Path, form: str, lp: str | None, texts: TestSet | None) -> Given:
    if not find_format(form).has_records:
        is_empty = path.is_file() and not path.stat().st_size
        raise _unjudged(path, "the file is empty" if is_empty else f"{form} holds texts and no judgements")
    content = read_content(path, form, lp=lp if find_format(form).needs_lp else None, test_set=texts)
    if content.records is None:
        raise _unjudged(path, "the file holds texts and no judgements")
    records, repeated = without_repeats(content.records)
    odd = [f"{amount:,} {what}" for what, amount in content.met.items()]
    for what in (*odd, *repeats_note(repeated)):
        warnings.warn(f"{path}: {what}", DataWarning, stacklevel=4)
    return Given(
        name=_stem(path),
        records=tuple(records),
        test_set=content.test_set,
        by_people=form in _PEOPLE,
    )


def _unjudged(path: Path, found: str) -> DataError:
    return DataError(f"{found}; give runs, records, campaigns or scores", path=path)


def _of_one_lp(path: Path, texts: TestSet, lp: str | None) -> TestSet:
    """Texts of the language pair that lines are about: the only one, that chosen, or that of the name.

    Raises:
        UsageError: there are several, and nothing tells.
    """
    named = next((known for known in texts.lps if path.name.startswith(f"{known}.")), None)
    if named is None and path.resolve().parent.name in texts.lps:
        named = path.resolve().parent.name
    chosen = named or (None if lp is None else canonical_lp(lp))
    if chosen is None and len(texts.lps) > 1:
        raise UsageError(f"{path} does not say of which lp it is, {', '.join(texts.lps)}: add --lp")
    return texts if chosen is None else texts.select(lp=chosen)


def _stem(path: Path) -> str:
    """Name of a file without the endings that say its format."""
    name = path.resolve().name
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return name or path.name


def shown_texts(records: Iterable[Record], texts: Iterable[Segment]) -> Iterator[Segment]:
    """Of some texts, the segments and translations that records are about, in the order of the texts."""
    wanted: dict[tuple[str, str], set[str]] = {}
    for record in records:
        wanted.setdefault((record.lp, record.segment), set()).update(record.systems)
    for segment in texts:
        names = wanted.get((segment.lp, segment.segment))
        if names is not None:
            yield _cut(segment, names)


def _cut(segment: Segment, names: set[str]) -> Segment:
    if names.issuperset(segment.translations):
        return segment
    kept: Mapping[str, str] = {name: text for name, text in segment.translations.items() if name in names}
    return replace(segment, translations=kept)
