"""What a campaign comes to: the judgements that count, and the texts that they are about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from adjudge.core.annotation import Annotation, Preference
from adjudge.core.protocol import find_protocol
from adjudge.core.segment import Segment, TestSet
from adjudge.data.appraise_records import UNDECIDED_MARK
from adjudge.data.submissions import PASSES, CampaignFile, Kind, Submission, of_latest_pass
from adjudge.errors import DataError, UsageError

__all__ = ["Judgement", "campaign_test_set", "final_records", "select_lp", "unsaid_elsewhere"]

Judgement = Annotation | Preference


def final_records(submissions: Iterable[Submission]) -> tuple[list[Judgement], Counter[str]]:
    """The judgements that count, in the order in which they were finished.

    Tutorials and checks never count, and of one person's submissions of an item the last does. What was
    annotated a second time, or decided by a third person, replaces what was said of it before. What the
    agreement gate of a campaign dropped does not count.

    Returns:
        Also what was left out and how often.
    """
    kept: list[tuple[Kind, Judgement]] = []
    met: Counter[str] = Counter()
    for submission in submissions:
        if submission.is_dropped:
            met["submissions of segments that the agreement gate dropped"] += 1
        elif submission.kind not in PASSES:
            met[f"submissions of kind {submission.kind}"] += 1
        elif not submission.is_last:
            met["submissions that were submitted again"] += 1
        else:
            met["submissions without a judgement"] += not submission.records and submission.edited is None
            met["marks that say why one of two is better"] += sum(1 for _ in submission.reasons)
            kept += [(submission.kind, record) for record in submission.records]
    final = of_latest_pass(kept, kind=lambda said: said[0], about=lambda said: _about(said[1]))
    met["judgements that a later pass replaced"] = len(kept) - len(final)
    return [record for _, record in final], +met


def _about(record: Judgement) -> tuple[object, ...]:
    """What a record judges, whoever made it."""
    if isinstance(record, Annotation):
        return record.lp, record.segment, record.system
    return record.lp, record.segment, frozenset(record.systems), record.criterion


def unsaid_elsewhere(submission: Submission) -> Counter[str]:
    """What a submission says for which neither Appraise nor Pearmut has words, and how often."""
    said = [record for record in submission.records if isinstance(record, Annotation)]
    notes = (span.note for record in said for span in record.spans)
    return Counter(
        {
            "preferences": len(submission.records) - len(said),
            "references that people wrote": int(submission.edited is not None),
            "comments": sum(record.rationale is not None for record in said),
            "notes on marks": sum(note not in {"", UNDECIDED_MARK} for note in notes),
            "ratings of another scale, which are read there as of 0 to 100": sum(
                find_protocol(record.protocol).high not in {None, 100} for record in said
            ),
            "submissions of a second pass, which count there beside those that they replaced": int(
                PASSES.get(submission.kind, 0) > 0
            ),
            "submissions that the agreement gate dropped, which count there": int(submission.is_dropped),
        }
    )


def select_lp(file: CampaignFile, lp: str) -> CampaignFile:
    """Keep one language pair.

    Raises:
        UsageError: nobody judged anything of it.
    """
    kept = tuple(s for s in file.submissions if s.lp == lp)
    if not kept:
        known = ", ".join(dict.fromkeys(s.lp for s in file.submissions)) or "nothing"
        raise UsageError(f"{file.name!r} has no submission of lp {lp!r}; it has {known}")
    return replace(file, submissions=kept)


def campaign_test_set(file: CampaignFile) -> TestSet:
    """The texts that a campaign showed, as they were before any was damaged, without its tutorial.

    Segments come in the order of tasks. A translation that a person wrote stands there as one of the system
    `post-edit:PERSON`.

    Raises:
        DataError: two submissions show one segment with different texts.
    """
    found: dict[tuple[str, str], Segment] = {}
    for submission in sorted(file.submissions, key=lambda s: (s.task, s.item)):
        if submission.kind != "tutorial":
            key = submission.lp, submission.segment
            found[key] = _joined(found.get(key), submission)
    return TestSet(name=file.name, segments=tuple(found.values()))


def _joined(before: Segment | None, submission: Submission) -> Segment:
    translations = dict(before.translations) if before else {}
    if before is not None and before.source != submission.source:
        raise _differs(submission, "source")
    for system, text in _undamaged(submission):
        if translations.setdefault(system, text) != text:
            raise _differs(submission, f"translation by {system!r}")
    return Segment(
        segment=submission.segment,
        lp=submission.lp,
        source=submission.source,
        translations=translations,
        document=submission.document,
    )


def _undamaged(submission: Submission) -> Iterator[tuple[str, str]]:
    shown = submission.originals if submission.kind == "check" else submission.texts
    yield from shown.items()
    if submission.edited is not None and submission.is_last:
        yield f"post-edit:{submission.person}", submission.edited


def _differs(submission: Submission, what: str) -> DataError:
    where = f"segment {submission.segment!r} of {submission.lp}"
    return DataError(f"{where} was shown with two texts as its {what}: {submission.person!r} saw another one")
