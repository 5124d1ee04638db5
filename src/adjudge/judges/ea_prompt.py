"""
EAPrompt: list the major and minor errors, then count them; the count is scored.

Paper    Lu et al., 2024, https://arxiv.org/abs/2303.13809
Code     Coldmist-Lu/ErrorAnalysis_Prompt at c74bf77, EAPrompt/eaprompt.py and EAPrompt/constants/context.py;
         one step: SU-JIAYUAN/M-MAD, its baseline (M-MAD, appendix B)
Prompt   prompts/ea_prompt, in our own words, with examples of our own (en-de, en-ru, zh-en)
Differs  1. What to do stands in a system message, and the texts are quoted data.
         2. The recommended profile asks for JSON with a schema, profiles paper and code for headings and for
            the two numbers of the original; `Major: 1` and `Minor: 2` on two lines are read as well. Errors
            have MQM categories, where the original's examples name the kind in free words.
         3. The listed errors are read too. A count that disagrees with the list is flagged `count_mismatch`
            and kept: the count is what the paper scores.
         4. The original has one example for each of three language pairs; any other lp gets the nearest: same
            target language, else same source language, else the first.
         5. Every reply that is not in the form is a failure. Words beside the list or the counts, or in a
            field that nobody asked for, are asked about in the recommended profile, but beside an answer that
            there are no errors the question is put anew; in the others they are a failure. Profile paper asks
            once, the others once more.
         6. The second question stands in the same conversation, as in the paper's figure; profile code shows
            it the list alone, as the code does. The list is shown as quoted data.
         7. With steps=1 the reply lists, counts and closes with a score. A score that disagrees with the
            counts is flagged `score_mismatch`, and the counts are kept.
         8. With explain_in each error has a note in that language (recommended profile).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import ClassVar, Final, Literal, NamedTuple

from adjudge.core.ask import About, Answer, Ask, Message, Quoted, Reply
from adjudge.core.frozen import frozen
from adjudge.core.judge import Calls, Profile, annotation_of
from adjudge.core.mqm import find_weights
from adjudge.core.protocol import Severity
from adjudge.core.record import Annotation
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError
from adjudge.judges._answers import ErrorList, Marked
from adjudge.judges._prompts import (
    TEXT_FILES,
    Form,
    Prompted,
    Prompts,
    attempts_of,
    judged_texts,
    load_prompts,
    render_example,
    render_texts,
)
from adjudge.judges._reading import Reading, object_schema, shown

SEVERITIES: Final[tuple[Severity, ...]] = ("major", "minor")
MOST: Final = 999
LOWEST: Final = 6 * MOST

COUNTS: Final = object_schema(**{severity: {"type": "integer", "minimum": 0} for severity in SEVERITIES})

NUMBER: Final = "(0|[1-9][0-9]*)"
PAIR: Final = re.compile(rf"(?:{NUMBER}, *|Major: *{NUMBER}\s*\nMinor: *){NUMBER}")
CLOSED: Final = re.compile(rf"(.*)\nCounts: {NUMBER}, *{NUMBER}\s*\n<score>(-?{NUMBER})</score>", re.DOTALL)

Counts = dict[Severity, int]


class Counted(NamedTuple):
    """How many errors a reply says there are, and the flags that go on the annotation."""

    counts: Counts
    flags: tuple[str, ...]


@frozen
class EaPrompt(Prompted):
    """Major and minor errors, listed and then counted; the count is scored."""

    name: ClassVar[str] = "ea-prompt"
    protocol: ClassVar[str] = "mqm"
    weights: ClassVar[str] = "ea-prompt"

    profile: Profile = "recommended"
    steps: Literal[1, 2] = 2
    with_reference: bool = False
    explain_in: str | None = None
    prompts: Path | None = None

    async def annotate(self, subject: Subject, ask: Ask) -> Annotation:
        """List the errors of one translation, then count them."""
        if self.steps == 1:
            marked, counted = (await self.list_and_count(subject, ask)).value
        else:
            listed = await self.list_errors(subject, ask)
            marked = listed.value
            counted = (await self.count(subject, listed, ask)).value
        agree = all(counted.counts[s] == [e.severity for e in marked.spans].count(s) for s in SEVERITIES)
        flags = (*marked.flags, *counted.flags, *(() if agree else ("count_mismatch",)))
        return annotation_of(self, subject, spans=marked.spans, counts=counted.counts, flags=flags)

    async def list_errors(self, subject: Subject, ask: Ask) -> Answer[Marked]:
        """First step: which errors there are."""
        return await ask(
            self.list_messages(subject),
            about=self._about("errors", "errors", subject),
            read=partial(self._errors.read, subject=subject),
            attempts=attempts_of(self.profile),
            schema=self._errors.schema,
        )

    async def count(self, subject: Subject, listed: Answer[Marked], ask: Ask) -> Answer[Counted]:
        """Second step: how many there are of each severity."""
        return await ask(
            self.count_messages(subject, listed),
            about=self._about("count", "counts", subject),
            read=partial(read_counts, subject=subject, form=self._errors.form),
            attempts=attempts_of(self.profile),
            schema=COUNTS if self._errors.form == "json" else None,
        )

    async def list_and_count(self, subject: Subject, ask: Ask) -> Answer[tuple[Marked, Counted]]:
        """Both in one step, closed by a score."""
        score = {"type": "integer", "maximum": 0}
        schema = object_schema(errors=self._errors.list_schema, counts=COUNTS, score=score)
        return await ask(
            self.list_messages(subject),
            about=self._about("errors", "errors+counts", subject),
            read=partial(read_one_step, subject=subject, errors=self._errors),
            attempts=attempts_of(self.profile),
            schema=schema if self._errors.form == "json" else None,
        )

    def list_messages(self, subject: Subject) -> list[Message]:
        """What to list, one worked example, the texts."""
        files, kind = self._files, "_with_reference" if self.with_reference else ""
        example = files.nearest_example(subject.lp)
        answer = self._errors.render_answer(example.errors)
        if self.steps == 1:
            answer = render_one_step(answer, [e["severity"] for e in example.errors], self._errors.form)
        form = self._errors.render_form(files, self._form_file)
        system = files.message("system", f"system{kind}", markers=files.piece("markers"), form=form)
        shot = render_example(files, example, answer, with_reference=self.with_reference)
        texts = render_texts(files, subject, with_reference=self.with_reference)
        return [system, *shot, Message("user", texts)]

    def count_messages(self, subject: Subject, listed: Answer[Marked]) -> list[Message]:
        """The conversation so far and the second question; under profile code the list alone."""
        is_json = self._errors.form == "json"
        text = self._errors.render_spans(listed.value.spans) if is_json else Reading(listed.reply).text
        errors = Quoted("errors", text, is_json=is_json)
        if self.profile == "code":
            markers = self._files.piece("markers")
            question = self._files.message("user", "count_alone", errors=errors)
            return [Message("system", markers), question]
        question = self._files.message("user", f"count_{self._errors.form}")
        return [*self.list_messages(subject), Message("assistant", (errors,)), question]

    @property
    def calls(self) -> Calls:
        """One call a step."""
        return Calls(self.steps, self.steps, self.steps)

    def _about(self, stage: str, wants: str, subject: Subject) -> About:
        return About(judge=self.name, stage=stage, subject=subject, wants=wants, facts=self._errors.facts)

    @cached_property
    def _errors(self) -> ErrorList:
        return ErrorList.of(self.profile, SEVERITIES, self.explain_in)

    @property
    def _form_file(self) -> str:
        file = self._errors.file
        return file.replace("errors_", "one_step_") if self.steps == 1 else file

    @cached_property
    def _files(self) -> Prompts:
        kind = "_with_reference" if self.with_reference else ""
        count = "count_alone.md" if self.profile == "code" else f"count_{self._errors.form}.md"
        last = () if self.steps == 1 else (count,)
        own = (f"system{kind}.md", f"texts{kind}.md", *self._errors.example_files, self._form_file, *last)
        return load_prompts("ea_prompt", (*own, *TEXT_FILES), self.prompts)


def render_one_step(errors: str, severities: Sequence[str], form: Form) -> str:
    """Close a list of errors with its counts and its score."""
    counts = {severity: severities.count(severity) for severity in SEVERITIES}
    score = stated_score(counts)
    if form == "json":
        return json.dumps({**json.loads(errors), "counts": counts, "score": score}, ensure_ascii=False)
    return f"{errors}\nCounts: {counts['major']}, {counts['minor']}\n<score>{score}</score>"


def stated_score(counts: Mapping[Severity, int]) -> int:
    """What the question says that the score is."""
    weights = find_weights("ea-prompt")
    return -sum(count * int(weights.points(severity, None)) for severity, count in counts.items())


def read_counts(reply: Reply, subject: Subject, form: Form) -> Counted:
    """Read the second answer: an object, two numbers with a comma, or one a line with its name."""
    reading = Reading(reply, judged_texts(subject))
    if form == "json":
        counts = _read_counts(reading.answer(*SEVERITIES), reading)
    elif match := PAIR.fullmatch(reading.plain()):
        counts = _read_counts({"major": match[1] or match[2], "minor": match[3]}, reading)
    else:
        raise AnswerError("parse", f"wanted two numbers and nothing else, got {shown(reading.text)}")
    return Counted(counts, reading.settle(is_clean=not any(counts.values())))


def read_one_step(reply: Reply, subject: Subject, errors: ErrorList) -> tuple[Marked, Counted]:
    """Read list, counts and score of one reply."""
    reading = Reading(reply, judged_texts(subject))
    if errors.form == "json":
        answer = reading.answer("errors", "counts", "score")
        spans = errors.read_list(answer["errors"], subject, reading)
        said, score = answer["counts"], answer["score"]
    elif match := CLOSED.fullmatch(reading.plain()):
        spans = errors.read_headings(match[1], subject, reading)
        said, score = {"major": match[2], "minor": match[3]}, match[4]
    else:
        raise AnswerError(
            "parse", f"wanted errors, counts and a score in its tags, got {shown(reading.text)}"
        )
    counts = _read_counts(said, reading)
    agrees = reading.integer(score, -LOWEST, 0, "the score") == stated_score(counts)
    marked = Marked(spans, reading.settle(is_clean=not spans))
    return marked, Counted(counts, () if agrees else ("score_mismatch",))


def _read_counts(value: object, reading: Reading) -> Counts:
    counts = reading.fields(value, SEVERITIES, "the counts")
    return {severity: reading.integer(counts[severity], 0, MOST, severity) for severity in SEVERITIES}
