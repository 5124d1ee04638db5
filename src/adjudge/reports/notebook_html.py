"""Runs, records and tables as HTML for notebooks: styles stand in the elements, and no script is needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from string import ascii_uppercase
from typing import Final

from adjudge.core.language import source_language, target_language
from adjudge.core.record import Annotation, ErrorSpan, Failure, Preference, Record
from adjudge.core.scores import Run
from adjudge.core.segment import Segment, TestSet
from adjudge.core.wording import count
from adjudge.errors import AdjudgeError, UsageError
from adjudge.reports.result_tables import system_table
from adjudge.reports.segments import plain, render_marked, span_words
from adjudge.reports.tables import Table, number

_SEGMENTS: Final = 5  # of a run; its report has them all
_ROWS: Final = 20  # translations or pairs of each of them
_CELL: Final = "padding:.2em .8em;vertical-align:top;background:transparent"
_RULE: Final = ";border-bottom:1px solid currentColor"
_SOFT: Final = "opacity:.75;font-size:90%"


def render_tables(tables: Iterable[Table]) -> str:
    """Tables as the report has them, one below the other."""
    return "".join(map(_table, tables))


def _table(table: Table) -> str:
    heads = "".join(
        f'<th scope="col" style="{_style(right=right)}{_RULE}">{plain(name)}</th>'
        for name, right in zip(table.headings, table.right, strict=True)
    )
    rows = "".join(_row(table, index, row) for index, row in enumerate(table.rows))
    title = f'<caption style="text-align:left">{plain(table.title)}</caption>' if table.title else ""
    notes = "".join(f'<div style="{_SOFT}">{plain(note)}</div>' for note in table.notes)
    return (
        f'<div><table style="border-collapse:collapse">{title}'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{notes}</div>"
    )


def _row(table: Table, index: int, row: Sequence[str]) -> str:
    cells = ""
    for column, (cell, right) in enumerate(zip(row, table.right, strict=True)):
        style = _style(right=right) + (_RULE if index in table.rules else "")
        shown = f"<b>{plain(cell)}</b>" if (index, column) in table.best else plain(cell)
        cells += f'<td style="{style}"><bdi>{shown}</bdi></td>'
    return f"<tr>{cells}</tr>"


def _style(*, right: bool) -> str:
    return f"{_CELL};text-align:{'right' if right else 'left'}"


def render_run(run: Run) -> str:
    """Counts and signature of a run, its table of scores, and its first segments."""
    reasons = Counter(record.reason for record in run.records if isinstance(record, Failure))
    holes = reasons.pop("no_translation", 0)
    failed, pending = reasons.total(), run.info.counts.get("pending", 0)
    why = ", ".join(f"{reason} {number:,}" for reason, number in sorted(reasons.items()))
    said = [
        f"{len(run.records) - failed - holes:,} judged",
        f"{holes:,} not translated" if holes else "",
        f"{failed:,} failed" + (f" ({why})" if why else ""),
        f"{pending:,} pending" if pending else "",
    ]
    words = ", ".join(filter(None, said))
    segments = list(islice(run.test_set, _SEGMENTS))
    more = len(run.test_set) - len(segments)
    rest = f"{count(more, 'more segment')}: adjudge.report([run], FILE) shows all" if more else ""
    return (
        f"<div><b>{plain(run.info.annotator)}</b> on {plain(run.test_set.name)}: {plain(words)}</div>"
        + _scores(run)
        + render_records(run.records, TestSet(name=run.test_set.name, segments=tuple(segments)), _ROWS)
        + f'<div style="{_SOFT}">{plain(rest)}</div>'
    )


def _scores(run: Run) -> str:
    from adjudge.analysis.score import score

    try:
        return render_tables([system_table(score(run), exact=False)])
    except AdjudgeError as error:
        lines = (f"no table of scores: {error}", str(run.info.signature))
        return "".join(f'<div style="{_SOFT}">{plain(line)}</div>' for line in lines)


def render_records(records: Iterable[Record], test_set: TestSet, most: int | None = None) -> str:
    """What was said of each translation, under its source, with the errors underlined in the texts.

    `most`: translations or pairs of each segment; None for all.
    """
    said: dict[tuple[str, str], list[Record]] = {(s.lp, s.segment): [] for s in test_set}
    for record in records:
        if (key := (record.lp, record.segment)) in said:
            said[key].append(record)
    return "".join(_segment(segment, said[segment.lp, segment.segment], most) for segment in test_set)


def _segment(segment: Segment, said: list[Record], most: int | None) -> str:
    groups: dict[tuple[str, ...], list[Record]] = {}
    for record in said:
        groups.setdefault(record.systems, []).append(record)
    rows = "".join(_judged(segment, names, group) for names, group in islice(groups.items(), most))
    left = 0 if most is None else max(len(groups) - most, 0)
    rest = f'<div style="{_SOFT}">{left:,} more: show(run, segments=[...]) shows all</div>' if left else ""
    source = render_marked(segment.source, _errors(said, "source"), _lang(source_language, segment.lp))
    return (
        f'<div style="margin-top:.8em">'
        f'<span style="{_SOFT}">{plain(segment.lp)} {plain(segment.segment)}</span> {source}</div>'
        f'<table style="border-collapse:collapse">{rows}</table>{rest}'
    )


def _errors(said: Iterable[Record], side: str) -> list[ErrorSpan]:
    return [s for r in said if isinstance(r, Annotation) for s in r.spans if s.side == side]


def _judged(segment: Segment, names: tuple[str, ...], said: list[Record]) -> str:
    lang, spans = _lang(target_language, segment.lp), _errors(said, "translation")
    texts = [render_marked(segment.translations.get(name, ""), spans, lang) for name in names]
    if len(texts) > 1:
        texts = [f"<div>{letter} {text}</div>" for letter, text in zip(ascii_uppercase, texts, strict=False)]
    people = {record.annotator for record in said}
    verdicts = "".join(
        f"<div>{f'<b>{plain(r.annotator)}</b> ' if len(people) > 1 else ''}{_verdict(r)}</div>" for r in said
    )
    cells = (f"<bdi>{plain(' / '.join(names))}</bdi>", "".join(texts), verdicts)
    return "<tr>" + "".join(f'<td style="{_style(right=False)}">{cell}</td>' for cell in cells) + "</tr>"


def _lang(side: Callable[[str], str], lp: str) -> str:
    """The language as a page names it; empty for a language pair of somebody's own making."""
    try:
        return side(lp).replace("_", "-")
    except UsageError:
        return ""


def _verdict(record: Record) -> str:
    if isinstance(record, Failure):
        if record.reason == "no_translation":
            return "<b>not translated</b>"
        about = f" on {record.criterion}" if record.criterion else ""
        return f"<b>failed{plain(about)}: {plain(record.reason)}</b> {plain(record.detail)}"
    if isinstance(record, Preference):
        a, b = record.systems
        better = {"A": f"A, {a}, is better", "B": f"B, {b}, is better", "E": "equally good"}[record.verdict]
        return plain(f"{record.criterion}: {'undecided' if record.is_undecided else better}") + _more(record)
    if record.criterion is not None:
        return plain(f"{record.criterion}: {'pass' if record.rating else 'fail'}") + _more(record)
    rating = [] if record.rating is None else [f"rating {number(record.rating, 1).removesuffix('.0')}"]
    errors = [count(len(record.spans), "error") if record.spans else "no error marked"]
    return plain(", ".join(rating + (errors if record.spans or not rating else []))) + _more(record)


def _more(record: Annotation | Preference) -> str:
    errors = record.spans if isinstance(record, Annotation) else ()
    flags = f"flags: {', '.join(record.flags)}" if record.flags else ""
    lines = filter(None, [*(f"{span_words(s)}{_place(s)}" for s in errors), flags, record.rationale])
    return "".join(
        f'<div style="{_SOFT};white-space:pre-wrap" dir="auto">{plain(line)}</div>' for line in lines
    )


def _place(span: ErrorSpan) -> str:
    """The marked words, and where they are when that is not where a reader would look."""
    where = " (in the source)" if span.side == "source" else ""
    lost = f" ({span.match})" if span.match in {"unmatched", "unplaced"} else ""
    return (f": “{span.text}”" if span.text else "") + where + lost


def render_record(record: Record) -> str:
    """One record without its texts; the words of each error underlined as they are in their text."""
    heading = f"{record.annotator}, {record.lp} {record.segment}, {' / '.join(record.systems)}"
    marked = [s for s in record.spans if s.text] if isinstance(record, Annotation) else []
    whole = [replace(s, start=0, end=len(s.text), match="exact") for s in marked]
    quotes = "".join(f"<div>{render_marked(s.text, [s])}</div>" for s in whole)
    return f"<div><b>{plain(heading)}</b></div><div>{_verdict(record)}</div>{quotes}"
