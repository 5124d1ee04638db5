"""A run without a model: every judge puts its real questions, and nothing is sent or written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from adjudge.core.ask import Reply
from adjudge.core.judge import Calls, Judge
from adjudge.data.call_rows import Attempt, StoredRequest, Use
from adjudge.data.calls import CallReader
from adjudge.errors import AnswerError, DataError, ModelError
from adjudge.llm.ask import Asker
from adjudge.llm.identity import Identity
from adjudge.llm.model import Model, Request
from adjudge.llm.models import Models, OpenModel
from adjudge.llm.rules import RulesModel
from adjudge.llm.search_results import is_search, search_reply
from adjudge.llm.tokens import Tokens
from adjudge.runs.experience import Experience
from adjudge.runs.judging import calls_of, judge_subject
from adjudge.runs.units import Plan, Unit

__all__ = ["Rehearsal", "Sums"]

_BEGIN: Final = 100_000  # judgements of which it is found out whether they ask anything; exact up to here
_SECRET: Final = bytes(16)


@dataclass
class Sums:
    """Tokens of one model."""

    prompt: Tokens = field(default_factory=Tokens)
    completion: Tokens = field(default_factory=Tokens)


@dataclass(frozen=True)
class _Call:
    """One question that would be sent."""

    model: str
    prompt: Tokens
    completion: Tokens


class _Ledger:
    """What an `Asker` takes for its store; it reads the real one, and writes nothing."""

    def __init__(self, reader: CallReader | None) -> None:
        self.stored = 0
        self._reader = reader
        self._new: dict[bytes, Reply] = {}

    def find(self, key: bytes) -> Reply | None:
        """The stored reply, or that of another judgement to the same question."""
        if key in self._new:
            return self._new[key]
        reply = None if self._reader is None else self._reader.find(key)
        self.stored += reply is not None and not is_search(reply.model)
        return reply

    async def save(
        self,
        key: bytes,
        request: StoredRequest,
        reply: Reply,
        *,
        replaces: bool = False,  # noqa: ARG002 (as in `Keeper`)
    ) -> Reply:
        """Keep it for the next who asks the same."""
        del request
        self._new[key] = reply
        return reply

    async def claim(self, key: bytes, *, anew: bool = False) -> None:
        """Let every question be asked."""

    def release(self, key: bytes) -> None:
        """Nothing is claimed."""

    def note(self, attempt: Attempt) -> None:
        """Nothing was attempted."""

    def save_uses(self, unit: str, uses: Sequence[Use], *, maybe_known: bool = True) -> None:
        """Nothing was used."""


class _Understudy:
    """Answers in a model's place."""

    def __init__(self, identity: Identity, model: Model, script: _Script) -> None:
        self.name = identity.name
        self._sends_schema = identity.constrained
        self._model = model
        self._script = script

    async def reply(self, request: Request) -> Reply:
        """Answer by the rules.

        Raises:
            AnswerError: nothing more need be known of this judgement, or the rules do not know the question.
        """
        self._script.meet(request.key)
        sent = request if self._sends_schema else replace(request, schema=None)
        try:
            reply = await self._model.reply(request)
        except ModelError as error:
            self._script.count(self.name, sent, Reply(text=""))
            raise AnswerError("missing", str(error)) from error
        self._script.count(self.name, sent, reply)
        return reply


class _Silence:
    """Answers in a search engine's place: a rehearsal looks nothing up, so it finds nothing."""

    def __init__(self, engine: OpenModel) -> None:
        self.name = engine.name
        self._engine = engine.identity.model

    async def reply(self, request: Request) -> Reply:
        """No snippets."""
        del request
        return search_reply(self._engine, ())


class _Script:
    """Which questions of one judgement would be sent; some judgements are only begun, to know that."""

    def __init__(self, experience: Experience) -> None:
        self.calls: list[_Call] = []
        self.is_asked = False
        self._experience = experience
        self._is_brief = False
        self._is_over = False
        self._met: set[bytes] = set()

    def begin(self, *, is_brief: bool) -> None:
        """The next judgement."""
        self.calls.clear()
        self.is_asked = self._is_over = False
        self._is_brief = is_brief

    def meet(self, key: bytes) -> None:
        """A question that the store cannot answer.

        Raises:
            AnswerError: a judgement before asks the same, or this one is only begun.
        """
        if not self._is_over and key not in self._met:
            self.is_asked = True
        self._is_over = self._is_over or self._is_brief or key in self._met
        if self._is_over:
            self._met.add(key)
            raise AnswerError("missing", "not rehearsed any further")

    def count(self, model: str, request: Request, reply: Reply) -> None:
        """A question that would be sent, and what might be answered."""
        prompt, completion = self._experience.estimate(model, request, reply)
        self.calls.append(_Call(model, prompt, completion))


class Rehearsal:
    """Judgements without a model.

    Args:
        plan: what would be judged.
        models: whom it would ask.
        reader: of the run's store, if there is one.
        experience: of the tokens of these models.
        seed: of sampling.
    """

    def __init__(
        self, plan: Plan, models: Models, reader: CallReader | None, experience: Experience, *, seed: int
    ) -> None:
        self.looked_at = self.begun = self.stored = 0
        self.bounds = [0, 0, 0]  # of all that were begun ...
        self.known = 0  # ... and typically, of those that were looked at to their end
        self.sums: dict[str, Sums] = {}
        self._plan = plan
        self._ledger = _Ledger(reader)
        self._script = _Script(experience)
        understudies = Models(
            default=self._understudy(models.default),
            roles={role: self._understudy(model) for role, model in models.roles.items()},
            search=_silenced(models.search),
        )
        self._asker = Asker(understudies, self._ledger, secret=_SECRET, seed=seed)

    def _understudy(self, opened: OpenModel) -> OpenModel:
        model = RulesModel() if opened.remote is not None else opened.model
        stand_in = _Understudy(opened.identity, model, self._script)
        return OpenModel(identity=opened.identity, model=stand_in, served="any")

    async def run(self, judge: Judge, look: int) -> int:
        """Rehearse some judgements, evenly spread, and begin the others; how many there are in all."""
        count = sum(unit.is_there for unit in self._plan)
        begun = min(count, _BEGIN)
        for place, unit in enumerate(_spread(self._plan, count, begun)):
            is_brief = place * look // begun == (place - 1) * look // begun and look < begun
            self.looked_at += not is_brief
            self.begun += 1
            await self._judge(judge, unit, is_brief=is_brief)
        return count

    async def _judge(self, judge: Judge, unit: Unit, *, is_brief: bool) -> None:
        self._script.begin(is_brief=is_brief)
        self._ledger.stored = 0
        ask = self._asker.for_unit(unit.subject)
        with suppress(AnswerError, DataError):
            await judge_subject(judge, unit.subject, ask, ask.engine)
        ask.end()
        self.stored += self._ledger.stored
        if self._script.is_asked:  # else store or another judgement answers everything
            least, typical, most = (
                max(bound - self._ledger.stored, 1) for bound in calls_of(judge, unit.subject)
            )
            for place, bound in enumerate((least, typical, most)):
                self.bounds[place] += bound
            if self._script.calls:
                self.known += typical
                self._add(Calls(least, typical, most))

    def _add(self, bounds: Calls) -> None:
        """The tokens of one judgement."""
        calls = self._script.calls
        least, typical, most = (bound / len(calls) for bound in bounds)
        longest = max(call.prompt.high for call in calls)
        for call in calls:
            p, c = call.prompt, call.completion
            high = p.high * min(most, 1.0) + longest * max(most - 1.0, 0.0)
            sums = self.sums.setdefault(call.model, Sums())
            sums.prompt += Tokens(p.low * least, p.typical * typical, high)
            sums.completion += Tokens(c.low * least, c.typical * typical, c.high * most)


def _silenced(engine: OpenModel | None) -> OpenModel | None:
    if engine is None:
        return None
    return OpenModel(identity=engine.identity, model=_Silence(engine), served="any")


def _spread(plan: Plan, count: int, wanted: int) -> Iterator[Unit]:
    """So many of the units that have something to judge, evenly."""
    present = (unit for unit in plan if unit.is_there)
    for place, unit in enumerate(present):
        if (place + 1) * wanted // count > place * wanted // count:
            yield unit
