"""What people said elsewhere, into a campaign's store: work that was begun in another tool goes on here.

Each translation finds the item that shows it; the person gets its task, done where all of it was judged, and
else free to be gone on with. What has no place here (checks and tutorials of the other tool, what was
submitted again later, marks that this protocol does not have) is counted and left out.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Connection, insert, select

from adjudge.campaigns.assigning import close_if_full
from adjudge.campaigns.database import Campaign, answer, assignment, event, item, task, write_audit
from adjudge.campaigns.exporting import NON_TRANSLATION
from adjudge.campaigns.items import (
    ITEM_COLUMNS,
    TURNED,
    ItemShown,
    MarkedSpan,
    Missing,
    State,
    TranslationState,
    faults,
    lacks,
    read_item,
)
from adjudge.campaigns.people import people
from adjudge.core.protocol import INSTRUCTION_FAULT, Severity
from adjudge.core.record import Annotation, ErrorSpan
from adjudge.errors import UsageError
from adjudge.formats.campaign_export import FIRST, Submission

_SPOKEN: Final = {
    "check": "answers to attention checks, which belong to the campaign that made them",
    "tutorial": "answers in a tutorial, which belongs to the campaign that had it",
}
"""What is left out by what it was shown for, for people."""

_Place = tuple[str, str, frozenset[str]]
"""Language pair, segment, and the systems that stand side by side."""


def import_submissions(campaign: Campaign, submissions: Iterable[Submission], now: float) -> Counter[str]:
    """Put submissions into a campaign that nobody has worked on yet.

    What was left out, and how often. `now`: seconds since 1970.
    """
    numbers = {person.name: person.id for person in people(campaign)}
    with campaign.database.writing() as connection:
        importing = _Importing(campaign, connection, now)
        importing.read()
        in_order = sorted(submissions, key=lambda one: not one.is_filler)  # of one item the later counts
        for submission in in_order:
            if submission.person not in numbers:
                raise UsageError(f"campaign {campaign.name!r} has nobody called {submission.person!r}")
            importing.take(submission, numbers[submission.person])
        importing.write()
        detail = f"tasks: {len(importing.rows)}"
        write_audit(connection, campaign.id, now, actor="command", action="import", detail=detail)
    return +importing.left_out


@dataclass
class _Answer:
    shown: ItemShown
    state: State
    submission: Submission


@dataclass
class _Importing:
    campaign: Campaign
    connection: Connection
    now: float
    items: dict[_Place, tuple[int, Any]] = field(default_factory=dict)
    sizes: Counter[int] = field(default_factory=Counter)
    rows: defaultdict[tuple[int, int], dict[int, _Answer]] = field(default_factory=lambda: defaultdict(dict))
    left_out: Counter[str] = field(default_factory=Counter)

    def read(self) -> None:
        of_campaign = task.c.campaign_id == self.campaign.id
        begun = select(assignment.c.id).join_from(assignment, task).where(of_campaign).limit(1)
        if self.connection.execute(begun).first() is not None:
            raise UsageError(f"people have worked on {self.campaign.name!r} already: import into a new one")
        query = select(task.c.id.label("task"), task.c.lp, task.c.kind, *ITEM_COLUMNS).join_from(item, task)
        for row in self.connection.execute(query.where(of_campaign, task.c.kind.in_(FIRST))):
            systems = frozenset(shown["system"] for shown in json.loads(row.translations))
            self.items[row.lp, row.segment, systems] = row.task, row
            self.sizes[row.task] += 1

    def take(self, submission: Submission, person: int) -> None:
        """Turn one submission into an answer, where there is an item for it."""
        if submission.kind not in FIRST or not submission.is_last:
            what = _SPOKEN.get(submission.kind, f"submissions of kind {submission.kind}")
            self.left_out[what if submission.is_last else "submissions that were submitted again"] += 1
            return
        place = (submission.lp, submission.segment, frozenset(submission.texts))
        if place not in self.items:
            self.left_out["submissions of translations that the campaign does not have"] += 1
            return
        number, row = self.items[place]
        shown = read_item(self.campaign, row, number)
        if any(submission.texts[one["system"]] != one["text"] for one in shown.translations):
            self.left_out["submissions of another text than the campaign's"] += 1
            return
        if submission.chosen is not None and submission.chosen not in submission.texts:
            self.left_out["submissions that chose a draft that was not shown"] += 1
            return
        state = self._state(submission, shown)
        if wrong := faults(state, shown.asked):
            self.left_out[f"submissions that the protocol does not allow ({wrong[0]})"] += 1
            return
        self.left_out["submissions of a translation by one who judged it twice"] += (
            shown.id in self.rows[person, number]
        )
        self.rows[person, number][shown.id] = _Answer(shown, state, submission)

    def _state(self, submission: Submission, shown: ItemShown) -> State:
        names = [one["system"] for one in shown.translations]
        said = {r.system: r for r in submission.records if isinstance(r, Annotation)}
        comments = dict.fromkeys(r.rationale for r in submission.records if r.rationale)
        is_none = [any(map(self._is_non_translation, said[n].spans)) if n in said else False for n in names]
        return State(
            is_non_translation=is_none if any(is_none) else [],
            translations=[
                self._translation(said.get(name), place, shown) for place, name in enumerate(names)
            ],
            verdicts={
                record.criterion: record.verdict
                if list(record.systems) == list(names)
                else TURNED[record.verdict]
                for record in submission.records
                if not isinstance(record, Annotation)
            },
            chosen=None if submission.chosen is None else names.index(submission.chosen),
            edited=submission.edited,
            comment="\n".join(comments),
        )

    def _translation(self, said: Annotation | None, place: int, shown: ItemShown) -> TranslationState:
        given = shown.asked.given_of(place)
        if said is None:
            return TranslationState(removed=[*range(len(given))])
        left = {  # of equal marks the first
            (span.get("side", "translation"), span["start"], span["end"]): index
            for index, span in reversed([*enumerate(given)])
        }
        spans: list[MarkedSpan] = []
        missing: Missing | None = None
        fault: Severity | None = None
        for number, span in enumerate(said.spans, start=1):
            if self._is_non_translation(span):
                continue  # said of the whole translation
            if span.severity not in self.campaign.protocol.severities:
                self.left_out[f"marks of severity {span.severity}"] += 1
            elif span.start is None and (span.match == "unmatched" or span.category is span.label is None):
                self.left_out["marks whose place in their text is not known"] += 1
            elif span.start is None and span.category == INSTRUCTION_FAULT:
                if shown.asked.marks_instruction:
                    fault = fault or span.severity
                else:
                    self.left_out["marks that an instruction is not followed, where none is shown"] += 1
            elif span.start is None or span.end is None:
                self.left_out["marks that something is missing, after the first one"] += missing is not None
                missing = missing or Missing(severity=span.severity, category=self._category(span))
            else:
                kept = left.pop((span.side, span.start, span.end), None)
                spans.append(
                    MarkedSpan(
                        id=(f"i{number}"),
                        start=span.start or 0,
                        end=span.end or 0,
                        text=span.text,
                        severity=span.severity,
                        side=span.side,
                        category=self._category(span),
                        note=span.note,
                        given=kept,
                    )
                )
        return TranslationState(
            rating=said.rating,
            spans=spans,
            missing=missing,
            instruction_fault=fault,
            removed=sorted(left.values()),
        )

    def _is_non_translation(self, span: ErrorSpan) -> bool:
        is_asked = self.campaign.protocol.record == "mqm" and NON_TRANSLATION not in self.campaign.categories
        return is_asked and span.category == NON_TRANSLATION

    def _category(self, span: ErrorSpan) -> str | None:
        return span.category if self.campaign.protocol.has_categories else None

    def write(self) -> None:
        places: Counter[int] = Counter()
        begun = {key: min(one.submission.started for one in own.values()) for key, own in self.rows.items()}
        for (person, number), answers in sorted(self.rows.items(), key=lambda entry: begun[entry[0]]):
            place = places[person]
            submissions = [one.submission for one in answers.values()]
            is_done = len(answers) == self.sizes[number] and all(map(_is_complete, answers.values()))
            ended = max(one.ended for one in submissions)
            values = {
                "task_id": number,
                "person_id": person,
                "state": "done" if is_done else "expired",
                "place": place,
                "seed": number,
                "leased_until": self.now,
                "started_at": min(one.started for one in submissions),
                "done_at": ended if is_done else None,
            }
            added = self.connection.execute(insert(assignment).values(**values)).inserted_primary_key
            given = int(added[0]) if added else 0
            places[person] += 1
            rows = [self._answer(given, one) for one in answers.values()]
            self.connection.execute(insert(answer), rows)
            self.connection.execute(insert(event), [self._event(row, person) for row in rows])
        for number in sorted({number for _, number in self.rows}):
            close_if_full(self.connection, number)

    def _answer(self, given: int, one: _Answer) -> dict[str, Any]:
        return {
            "assignment_id": given,
            "item_id": one.shown.id,
            "revision": 1,
            "state": one.state.model_dump_json(),
            "is_complete": _is_complete(one),
            "active": one.submission.active,
            "idle": one.submission.idle,
            "first_at": one.submission.started,
            "last_at": one.submission.ended,
            "language": one.submission.language,
        }

    def _event(self, row: Mapping[str, Any], person: int) -> dict[str, Any]:
        same = {key: row[key] for key in ("assignment_id", "item_id", "revision", "state")}
        name = f"import-{row['assignment_id']}-{row['item_id']}"
        times = {"client_at": row["last_at"], "at": self.now}
        return {**same, **times, "person_id": person, "client_id": name, "page": "import", "kind": "complete"}


def _is_complete(one: _Answer) -> bool:
    return not lacks(one.state, one.shown.asked, is_declared=True)
