"""Ask a model the questions of a run, each question once, and keep every answer.

`Asker` serves all units of a run, `UnitAsk` one of them: it is the `Ask` that a judge is given. The call
store is looked up first, then the model is asked. An answer that cannot be read is asked for again, a bounded
number of times. `check_reply` says which replies may be read at all, `Tally` and `Trail` count what was
asked. `Quiet` decides which of several failed questions a judgement fails with: the first in order, and not
the one that a fast server failed first.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple, NoReturn, Protocol, TypeVar

from adjudge.core.ask import (
    About,
    Answer,
    Message,
    Query,
    Quoted,
    Reply,
    Sampling,
    SearchEngine,
    Snippet,
    Tool,
    Usage,
    WordsBesideError,
    value_of,
)
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError, FailureReason, ModelError, NoToolsError, UsageError, warn
from adjudge.llm.model import (
    Identity,
    NotYetError,
    Request,
    call_key,
    mark_of,
    question_digest,
    stored_request,
)
from adjudge.llm.model_choice import Models, OpenModel
from adjudge.llm.money import NOTHING, unsure_of
from adjudge.llm.remote import is_search, now, query_message, read_snippets
from adjudge.store.call_file import Attempt, StoredRequest, Use, unit_name

FINAL: Final[frozenset[FailureReason]] = frozenset({"logprob", "model_mismatch", "refused"})
"""Asking again would not help, or would ask until the answer pleases."""

_SHOWN: Final = 120
_SOME_LENGTH: Final = 12  # characters of a judged text that no prompt has by chance
_HINT: Final = "--max-tokens gives it more, and a lower --effort leaves more of them for the answer"
_THOUGHT: Final = re.compile(r"\s*[<◁\[](?:\w+:)?(think|thought|reason|reflect|analysis)", re.IGNORECASE)
_VERSION: Final = re.compile(
    r"(?:[-@:](?:latest|preview|exp|free|\d{4}-\d\d-\d\d|\d\d-\d{4}|\d\d-\d\d|\d{6,8}|\d{3,4}))+$"
)


def check_reply(reply: Reply, model: str, served: str | None) -> None:
    if served != "any" and not is_same_model(served or model, reply.model):
        wanted = f"asked {model!r}" if served is None else f"wanted an answer of {served!r} (--served-as)"
        raise AnswerError(
            "model_mismatch",
            f"{wanted}, answered by {reply.model[:_SHOWN]!r}; if that is right, say --served-as",
        )
    if reply.finish in {"refused", "content_filter"}:
        raise AnswerError("refused", f"{reply.finish}: {reply.text[:_SHOWN]!r}")
    if reply.finish == "length":
        raise cut_error(reply, reply.usage.completion)
    if reply.text.strip() or reply.calls:
        return
    if has_only_thought(reply):
        raise AnswerError("no_answer", f"the model thought and did not answer; {_HINT}")
    raise AnswerError("empty", "the reply has no text")


def cut_error(reply: Reply, tokens: int) -> AnswerError:
    """Why a reply that was cut is none: it may have been thinking to the end."""
    if has_only_thought(reply):
        return AnswerError("no_answer", f"the model thought for all of its {tokens} tokens; {_HINT}")
    return AnswerError("truncated", f"cut at {tokens or 'max'} tokens; --max-tokens gives it more")


def shows_thought(reply: Reply) -> bool:
    """Whether a reply, cut or not, holds thinking, in a field of its own or between tags."""
    return bool(reply.reasoning.strip() or reply.usage.reasoning or _THOUGHT.match(reply.text))


def has_only_thought(reply: Reply) -> bool:
    """Whether there is thinking and nothing else; where it is not shown, its tokens are all there are."""
    if reply.text.strip() or reply.calls:
        return False
    return bool(reply.reasoning.strip()) or reply.usage.reasoning >= max(reply.usage.completion, 1)


@lru_cache(maxsize=256)
def is_same_model(asked: str, served: str) -> bool:
    """Whether a server's name for itself is the model asked for: same but for path, date and tag.

    Two names with different dates are two models. A server that gives no name is believed.
    """
    if not served:
        return True
    (stem, date), (served_stem, served_date) = _parts(asked), _parts(served)
    return stem == served_stem and (not date or not served_date or date == served_date)


def _parts(name: str) -> tuple[str, str]:
    last = name.strip().lower().rstrip("/").rpartition("/")[2]
    found = _VERSION.search(last)
    if found is None or found.start() == 0:
        return last, ""
    return last[: found.start()], re.sub(r"\D", "", found[0])


Order = tuple[str, str, bytes]
_TURNS: Final = 10  # of the event loop; an answered question starts its next one within three


class Quiet:
    """The open and the failed questions of one unit of work."""

    def __init__(self) -> None:
        self._open = 0
        self._changes = 0
        self._held: list[tuple[Order, asyncio.Future[None]]] = []
        self._parked = 0
        self._stop: Callable[[], object] | None = None
        self.is_waiting = False
        """Whether the unit can get no further before answers come."""

    def __enter__(self) -> None:
        self._open += 1
        self._changed()

    def __exit__(self, *_: object) -> None:
        self._open -= 1
        self._changed()

    async def wait_turn(self, order: Order) -> None:
        """Hold a failed question until the unit is quiet and all that order before it are through."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        held = (order, turn)
        self._held.append(held)
        self._changed()
        try:
            await turn
        finally:
            if held in self._held:
                self._held.remove(held)

    def stop_with(self, stop: Callable[[], object]) -> None:
        """Say what is to be called once the unit can get no further before answers come."""
        self._stop = stop

    async def park(self) -> NoReturn:
        """Hold a question whose answer comes later, until its unit of work is stopped."""
        self._parked += 1
        self._changed()
        try:
            while True:
                await asyncio.get_running_loop().create_future()
        finally:
            self._parked -= 1

    def end(self) -> None:
        """Let everything go: the judgement is over."""
        for _, turn in self._held:
            if not turn.done():
                turn.set_result(None)

    def _changed(self) -> None:
        self._changes += 1
        still = len(self._held) + self._parked
        if still and still == self._open:
            self._look_again(self._changes, _TURNS)

    def _look_again(self, changes: int, turns: int) -> None:
        if changes != self._changes or not (self._held or self._parked):
            return
        if turns:
            asyncio.get_running_loop().call_soon(self._look_again, changes, turns - 1)
            return
        if self._parked:
            self.is_waiting = True
            if self._stop is not None:
                self._stop()
            return
        _, turn = min(self._held, key=lambda held: held[0])
        if not turn.done():
            turn.set_result(None)


class Trail(NamedTuple):
    """What one unit of work asked."""

    calls: int = 0  # of models and search engines, those that brought nothing included
    answered: int = 0  # calls of models that brought an answer, stored or paid
    roles: tuple[str, ...] = ()  # that asked a model
    # names that were asked for, each with = and the name that its server gave; after a # the fingerprints
    # that servers gave
    served: tuple[str, ...] = ()
    unfound: bool = False  # whether it went on without the results of a query


@dataclass
class Tally:
    """What one session has done so far."""

    asked: int = 0  # calls put to a model
    from_store: int = 0  # calls that were answered before
    usage: Usage = field(default_factory=Usage)  # tokens of the calls that were asked
    # names that were asked for, each with = and the name that its server gave; after a # the fingerprints
    # that servers gave
    served: set[str] = field(default_factory=set)
    roles: set[str] = field(default_factory=set)
    searched: int = 0  # queries that were put to a search engine
    # queries that a unit of work needed and has no results of, by the reason
    unfound: Counter[str] = field(default_factory=Counter)
    first_unfound: str = ""
    # replies that could not be read, or not at once, by the rule that they broke
    unread: Counter[str] = field(default_factory=Counter)
    shared: int = 0  # questions that were answered by the same question of another unit, then under way
    # models whose log-probabilities came with alternatives, at least once
    with_alternatives: set[str] = field(default_factory=set)
    without_alternatives: set[str] = field(default_factory=set)  # models of which some came without

    def add(self, reply: Reply) -> None:
        self.asked += 1
        self.usage += reply.usage

    def merge(self, other: Tally) -> None:
        """Count what another part of the run was asked and answered."""
        for one in fields(self):
            mine, theirs = getattr(self, one.name), getattr(other, one.name)
            if isinstance(mine, str):
                setattr(self, one.name, mine or theirs)
            else:
                setattr(self, one.name, mine | theirs if isinstance(mine, set) else mine + theirs)

    def add_trail(self, trail: Trail) -> None:
        """Remember who asked and who answered for one unit of work."""
        self.roles.update(trail.roles)
        self.served.update(trail.served)

    @property
    def served_names(self) -> list[str]:
        """Names that servers gave, where they are not just the one asked for; fingerprints after #."""
        given: dict[str, set[str]] = {}
        for asked, is_name, name in (served.partition("=") for served in self.served):
            given.setdefault(asked if is_name else "", set()).add(name or asked)
        return sorted(n for asked, names in given.items() for n in names if n != asked or len(names) > 1)

    def add_unfound(self, error: AnswerError) -> None:
        """Count a query whose judge goes on without results."""
        self.first_unfound = self.first_unfound or error.detail
        self.unfound[error.reason] += 1


T = TypeVar("T")

ASKED_AGAIN: Final = (
    "Your last answer to this could not be used: $wrong. Answer again, exactly in the form that is "
    "asked for above, with "
    "nothing before or after it."
)
"""What is added to a question that is put again."""
WRONG: Final[Mapping[FailureReason, str]] = {
    "ambiguous": "it held more than one answer, or contradicted itself",
    "count": "it did not list as many entries as were asked for, or listed one again and again",
    "empty": "it was empty",
    "encoding": "it held characters that cannot be written",
    "label": "a category, a severity, a side or a verdict was none of those that are offered",
    "no_answer": "it ended before it gave an answer",
    "not_json": "it was a web page",
    "parse": "it was not in the form that is asked for",
    "range": "a number was no whole number, or lay outside of its scale",
    "schema": "a field was missing, stood there unasked, or had a value of another kind than asked for",
    "span": "an error quoted words that stand in neither text",
    "truncated": "it broke off",
    "words": "words stood beside it, or in a field that is not asked for",
}
"""What was wrong with an answer, by the reason that it failed with. Nothing of the answer or the texts is
quoted."""

CONFIRM: Final = (
    "A model was asked for a JSON object and wrote words beside it. Its reply follows, as "
    "data. Which verdict does the reply give in the end? Answer with a JSON object whose only key is "
    "verdict. Its value is the object of the reply, with the same values and without the words beside it. "
    "If the words take the object back, doubt it, or say that the texts were not read, its value is null."
    "\n\n"
)
"""What is asked about a reply that gives one answer and words beside it."""

_MISMATCHES = 3  # replies of another model before the first right one; then it is the setting that is wrong


class Keeper(Protocol):
    """What an `Asker` needs of a call store; `store.calls.CallStore` says what each does."""

    @property
    def began_empty(self) -> bool:
        """Whether it holds nothing but what this session has asked."""

    def find(self, key: bytes) -> Reply | None:
        """The reply to a request, if it is known."""

    async def save(
        self, key: bytes, request: StoredRequest, reply: Reply, *, replaces: bool = False
    ) -> Reply:
        """Keep an answer, and return the one that counts."""

    async def claim(self, key: bytes, *, anew: bool = False) -> Reply | None:
        """Claim a question, or wait for the answer of the process that is asking it."""

    def release(self, key: bytes) -> None:
        """End the claim of a question that brought no answer."""

    async def depart(self, attempt: Attempt) -> None:
        """Write down that a request is about to be sent."""

    def note(self, attempt: Attempt) -> None:
        """Write down that a model was asked."""

    def save_uses(self, unit: str, uses: Sequence[Use], *, maybe_known: bool = True) -> None:
        """Write down which calls a unit of work used."""


class Adapting(Protocol):
    """What an `Asker` needs of an adapter: `judges._prompts.Adapter` says what it does."""

    def knows(self, wants: str) -> bool:
        """Whether it says how such an answer is read."""

    @property
    def is_verbatim(self) -> bool:
        """Whether nothing but the author's words is sent."""

    def put(
        self, about: About, messages: Sequence[Message], sampling: Sampling
    ) -> tuple[tuple[Message, ...], Sampling]:
        """What is sent in place of a judge's messages, and how the reply is drawn."""

    def adapt(self, wants: str, reply: Reply) -> Reply:
        """The reply in the form that a judge reads."""


class Asker:
    """Puts the questions of all units of a run to its models, each question once."""

    def __init__(
        self,
        models: Models,
        store: Keeper,
        *,
        secret: bytes,
        seed: int = 0,
        offline: bool = False,
        explains: bool = True,
    ) -> None:
        models.observe(store.note, store.depart)
        self.models = models
        self.store = store
        self.tally = Tally()
        self.secret = secret
        self.seed = seed
        self.explains = explains
        self.slowest = 0.0
        """Seconds that the slowest answer took."""
        self.seeks_plain = False
        """Whether a judged text in words of the judge's own is still looked for; see `UnitAsk`."""
        self.adapter: Adapting | None = None
        """Reads replies to somebody else's wording; None where the judge's own is asked."""
        self._offline = offline
        self._rooms: dict[Identity, int] = {}
        self._in_flight: dict[bytes, asyncio.Task[Reply]] = {}
        self._forgotten: set[bytes] = set()
        self._renewed: set[bytes] = set()
        self._matches = 0
        self._mismatches = 0

    def for_unit(self, subject: Subject) -> UnitAsk:
        return UnitAsk(self, subject)

    def find(self, key: bytes) -> Reply | None:
        """The stored reply to a request; None where it is missing or forgotten."""
        stored = None if key in self._forgotten else self.store.find(key)
        self.tally.from_store += stored is not None and not is_search(stored.model)
        return stored

    def adapter_of(self, about: About) -> Adapting | None:
        """The adapter, where answers to such a question are in somebody else's form."""
        return self.adapter if self.adapter is not None and self.adapter.knows(about.wants) else None

    def adapted(self, about: About, reply: Reply) -> Reply:
        """A reply in the form that the judge reads."""
        adapter = None if reply.calls else self.adapter_of(about)
        return reply if adapter is None else adapter.adapt(about.wants, reply)

    def room_of(self, model: OpenModel) -> int:
        """After how many cuts a model had the room that it needed so far."""
        return self._rooms.get(model.identity, 0)

    def note_room(self, model: OpenModel, place: int) -> None:
        """Remember that a model has answered in the room that it has after so many cuts."""
        self._rooms[model.identity] = max(place, self.room_of(model))

    def forget(self, keys: Iterable[bytes]) -> None:
        """Ask these questions anew although they are stored; each of them once in a session."""
        self._forgotten |= {*keys} - self._renewed

    async def obtain(self, model: OpenModel, request: Request) -> Reply:
        """Put a request that is not stored to the model, once for everybody who asks it now."""
        task = self._in_flight.get(request.key)
        self.tally.shared += task is not None and not is_search(model.name)
        if task is None:
            if self._offline:
                kind = NoToolsError if request.tools else AnswerError
                raise kind("missing", "the store has no answer to this question, and nobody is asked")
            task = asyncio.create_task(self._pay(model, request))
            self._in_flight[request.key] = task
            task.add_done_callback(lambda done: self._forget_task(request.key, done))
        return await asyncio.shield(task)

    async def _pay(self, model: OpenModel, request: Request) -> Reply:
        replaces = request.key in self._forgotten
        if (elsewhere := await self.store.claim(request.key, anew=replaces)) is not None:
            self.tally.from_store += not is_search(elsewhere.model)
            return elsewhere
        began, when = time.monotonic(), now()
        try:
            reply = await model.reply(request)
        except BaseException:
            self.store.release(request.key)
            raise
        seconds = round(time.monotonic() - began, 3)
        self.slowest = max(self.slowest, seconds)
        is_held = model.remote is None or model.remote.was_held(request.key)
        most = NOTHING if model.remote is None else unsure_of(request, reply)
        attempt = Attempt(request.key, when, seconds, usage=reply.usage, model=model.billed, most=most)
        self.store.note(attempt)
        if is_search(model.name):
            self.tally.searched += 1
        else:
            self.tally.add(reply)
        stored = stored_request(model.identity, request, is_held=is_held)
        held = replace(reply, is_held=stored.schema is not None)
        saved = await self.store.save(request.key, stored, held, replaces=replaces)
        if replaces:
            self._renewed.add(request.key)
            self._forgotten.discard(request.key)
        return saved

    def _forget_task(self, key: bytes, task: asyncio.Task[Reply]) -> None:
        del self._in_flight[key]
        if not task.cancelled():
            task.exception()  # whoever waited has it; who was cancelled does not want it

    def check(self, model: OpenModel, reply: Reply) -> None:
        """Refuse a reply that cannot be read, and stop when every reply is another model's."""
        try:
            check_reply(reply, model.identity.model, model.served)
        except AnswerError as error:
            if error.reason == "model_mismatch":
                self._mismatches += 1
                if not self._matches and self._mismatches >= _MISMATCHES:
                    raise ModelError(error.detail) from error
            raise
        self._matches += 1

    async def stop(self, grace: float) -> None:
        """Send nothing more; give what is in flight some seconds, for it is paid, and then leave it."""
        await self.models.drain()
        flights = list(self._in_flight.values())
        if flights:
            _, late = await asyncio.wait(flights, timeout=grace)
            for task in late:
                task.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.gather(*late, return_exceptions=True)


class UnitAsk:
    """What a judge gets for one unit of work; satisfies `core.ask.Ask` and `core.ask.SearchEngine`."""

    def __init__(self, asker: Asker, subject: Subject) -> None:
        self._asker = asker
        self._subject = subject
        self._log = _Log(partial(mark_of, subject.segment, asker.secret))
        self._samples: dict[tuple[bytes, str, str], int] = {}
        self._quiet = Quiet()

    @property
    def engine(self) -> SearchEngine | None:
        return None if self._asker.models.search is None else self

    async def search(self, query: Query) -> tuple[Snippet, ...]:
        """Snippets for a query, stored like a model's answers; the same query is put once."""
        engine = self._asker.models.search
        if engine is None:
            raise UsageError("there is no search engine to ask")
        about = About(judge="", stage="search", subject=self._subject, wants="snippets", role="engine")
        request = Request(messages=(query_message(query),), about=about, schema=None, sampling=Sampling())
        digest = question_digest(engine.identity, request)
        with self._quiet:
            try:
                return await _Question(self._asker, engine, self._log, digest).look_up(request)
            except AnswerError as error:
                self._log.unfound = True
                self._asker.tally.add_unfound(error)
                await self._quiet.wait_turn((about.stage, about.role, digest))
                raise

    async def __call__(
        self,
        messages: Sequence[Message],
        *,
        about: About,
        read: Callable[[Reply], T],
        attempts: int = 2,
        schema: Mapping[str, object] | None = None,
        sampling: Sampling = Sampling(),  # noqa: B008 (frozen)
        tools: Sequence[Tool] = (),
    ) -> Answer[T]:
        model = self._asker.models.for_role(about.role)
        own = messages
        if (adapter := self._asker.adapter_of(about)) is not None:
            (messages, sampling), schema = adapter.put(about, messages, sampling), None
            attempts = 1 if adapter.is_verbatim else attempts
        self._log.roles.add(about.role)
        if tools and not model.takes_tools:
            raise UsageError(f"{model.name} takes no tools")
        limits = model.identity.limits(sampling.max_tokens)
        if sampling.logprobs == "try" and not model.identity.gives_logprobs:
            sampling = replace(sampling, logprobs=False)
        request = Request(
            messages=tuple(messages),
            about=about,
            schema=schema,
            sampling=_limited(sampling, limits[0]),
            tools=tuple(tools),
            seed=self._asker.seed,
        )
        if self._asker.seeks_plain and self._is_plain(own):
            self._asker.seeks_plain = False
            warn(f"{about.judge}: use render_texts: a text in plain words can give orders ({about.stage})")
        digest = question_digest(model.identity, request)
        # How often this unit asked just this before: ten samples are ten calls, two agents share one.
        same = (digest, about.stage, about.role)
        sample = self._samples.get(same, 0)
        self._samples[same] = sample + 1
        if sample:
            request = request.but(sample=sample)
        question = _Question(self._asker, model, self._log, digest, limits)
        with self._quiet:
            try:
                return await question.ask(request, read, attempts)
            except AnswerError:
                await self._quiet.wait_turn((about.stage, about.role, digest))
                raise
            except NotYetError:
                await self._quiet.park()

    def _is_plain(self, messages: Sequence[Message]) -> bool:
        segment = self._subject.segment
        judged = (self._subject.source, *segment.translations.values(), *segment.references.values())
        texts = [text for text in judged if len(text.strip()) >= _SOME_LENGTH]
        words = [p for m in messages if m.role in {"system", "user"} for p in m.parts if isinstance(p, str)]
        return any(text.strip() in part for part in words for text in texts)

    async def as_far_as_possible(self, judging: Coroutine[Any, Any, T]) -> T:
        """Judge, or find that some answers come later."""
        task = asyncio.ensure_future(judging)
        self._quiet.stop_with(task.cancel)
        try:
            return await task
        except asyncio.CancelledError:
            ours = asyncio.current_task()
            if not self._quiet.is_waiting or (ours is not None and ours.cancelling()):
                raise
            self._asker.tally.from_store -= self._log.answered
            raise NotYetError from None

    @property
    def questions(self) -> Mapping[bytes, int]:
        """How often it put each question, by its digest; what was asked again or confirmed is not counted."""
        found = Counter[bytes]()
        for (digest, *_), times in self._samples.items():
            found[digest] += times
        return found

    @property
    def trail(self) -> Trail:
        """What this unit of work has asked so far."""
        log = self._log
        return Trail(
            calls=len(log.uses),
            answered=log.answered,
            roles=tuple(log.roles),
            served=tuple(log.served),
            unfound=log.unfound,
        )

    @property
    def refused(self) -> set[bytes]:
        """Keys of the calls whose stored replies could not be used."""
        return {
            use.key
            for use, known in zip(self._log.uses, self._log.stored, strict=True)
            if known and use.reason
        }

    @property
    def from_store(self) -> int:
        """How many of its answers were stored before."""
        return sum(self._log.stored)

    def end(self) -> None:
        """Close the unit of work and write down what it asked."""
        self._quiet.end()
        self._asker.tally.add_trail(self.trail)
        s = self._subject
        name = unit_name(s.lp, s.segment.segment, s.systems)
        self._asker.store.save_uses(name, self._log.uses, maybe_known=self._log.all_stored)


@dataclass
class _Log:
    """What one unit of work asked."""

    mark: Callable[[], str]  # makes the delimiters of its texts; what is stored needs none
    uses: list[Use] = field(default_factory=list)  # in the order asked
    stored: list[bool] = field(default_factory=list)  # of each use, whether its answer was stored before
    # whether every answer was stored before: then most likely its uses are too. answered, roles, served,
    # unfound: as in `Trail`.
    all_stored: bool = True
    answered: int = 0
    roles: set[str] = field(default_factory=set)
    served: set[str] = field(default_factory=set)
    unfound: bool = False


class _Question:
    """One question, until its answer is read or given up."""

    def __init__(
        self, asker: Asker, model: OpenModel, log: _Log, digest: bytes, limits: Sequence[int] = ()
    ) -> None:
        self._asker = asker
        self._model = model
        self._log = log
        self._limits = limits
        self._digest = digest
        self._wrong: FailureReason | None = None
        self._asked = 0

    async def ask(self, request: Request, read: Callable[[Reply], T], attempts: int) -> Answer[T]:
        again, put = 0, request
        kept: tuple[Reply, int] | None = None
        error: AnswerError | None = None
        while True:
            try:
                reply, use = await self._reply(put)
            except AnswerError as failed:
                if error is None or failed.reason != "missing":
                    raise
                break  # offline, where only what was asked before is asked anew
            is_last = kept is not None or attempts < 2 or not self._asker.explains
            try:
                value = self._read(request, replace(reply, is_last=is_last), use, read)
                return Answer(value=value, reply=reply, asked=self._asked)
            except _UnreadableError as unreadable:
                error = unreadable.error
            again += 1
            self._asker.tally.unread[error.reason] += 1
            if error.reason == "span":
                try:
                    self._read(request, reply, use, read)
                    kept = reply, use
                except _UnreadableError as unreadable:
                    error = unreadable.error
                self._refuse(use, error)
            if is_confirmed := await self._is_confirmed(request, reply, error, read):
                kept = replace(reply, way="confirmed"), use
            limit = max(attempts, 2) if error.reason in {"empty", "no_answer"} else attempts
            if is_confirmed or again >= limit or error.reason in FINAL:
                break
            put = self._put_again(request.but(again=again), error.reason)
        if kept is None:
            raise error
        return Answer(value=self._read(request, *kept, read), reply=kept[0], asked=self._asked)

    async def _is_confirmed(
        self, request: Request, reply: Reply, error: AnswerError, read: Callable[[Reply], object]
    ) -> bool:
        """Whether a model that is shown its reply gives the same answer without the words beside it.

        An answer that all is well is never confirmed: a model that says yes to everything would confirm it.
        """
        words = error if isinstance(error, WordsBesideError) else None
        if words is None or words.is_clean or request.schema is None or not self._asker.explains:
            return False
        message = Message("user", (CONFIRM, Quoted("reply", reply.text)))
        sampling = replace(request.sampling, logprobs=False)
        put = request.but(messages=(message,), schema=_or_null(request.schema), sampling=sampling, tools=())
        question = _Question(
            self._asker, self._model, self._log, question_digest(self._model.identity, put), self._limits
        )
        try:
            told, use = await question._reply(put)
        except AnswerError:
            return False
        finally:
            self._asked += question._asked
        try:
            question._read(put, replace(told, text=_verdict_alone(told.text), way="leaves"), use, read)
        except _UnreadableError as unreadable:
            said = unreadable.error
            if isinstance(said, WordsBesideError) and not said.has_words and said.leaves == words.leaves:
                self._log.uses[use] = replace(self._log.uses[use], reason="", detail="")
                return True
        return False

    def _put_again(self, request: Request, reason: FailureReason) -> Request:
        wrong, adapter = WRONG.get(reason), self._asker.adapter_of(request.about)
        if not self._asker.explains or wrong is None or (adapter is not None and adapter.is_verbatim):
            return request
        words = ASKED_AGAIN.replace("$wrong", wrong)
        if reason == self._wrong:  # the same words would bring the same reply
            words = f"{words} This is attempt {request.again + 1}."
        self._wrong = reason
        *before, last = request.messages
        if last.role == "user":
            messages = (*before, replace(last, parts=(*last.parts, f"\n\n{words}")))
        else:
            messages = (*request.messages, Message("user", (words,)))
        explained = request.but(messages=messages)
        self._digest = question_digest(self._model.identity, explained)
        return explained

    async def look_up(self, request: Request) -> tuple[Snippet, ...]:
        reply, use = await self._obtain(request, *self._known(request))
        try:
            return read_snippets(reply)
        except AnswerError as error:
            self._refuse(use, error)
            raise

    async def _reply(self, request: Request) -> tuple[Reply, int]:
        """One reply; where it was cut, again with more room, as long as it is thinking that takes the room.

        The room in which a model has answered is where its other questions begin, and whatever is stored is
        used first: so a run that goes on asks what it would have asked.
        """
        place, key, stored = self._begin(request)
        before = 0
        while True:
            tokens = self._limits[place]
            reply, use = await self._obtain(self._in_room(request, place), key, stored)
            if reply.finish != "length":
                self._asker.note_room(self._model, place)
                return reply, use
            error = cut_error(reply, reply.usage.completion or tokens)
            self._refuse(use, error)
            is_last = place + 1 == len(self._limits) or (place > 0 and not shows_thought(reply))
            if is_last or 0 < reply.usage.completion <= before:  # the server allows no more
                raise error
            before, place = reply.usage.completion, place + 1
            key, stored = self._known(self._in_room(request, place))

    def _begin(self, request: Request) -> tuple[int, bytes, Reply | None]:
        key, stored = self._known(request)
        if stored is not None:
            return 0, key, stored
        known = self._asker.room_of(self._model)
        keys = {0: key}
        places = range(1, len(self._limits))
        if self._asker.store.began_empty:  # nothing was asked in more room than the model is known to need
            places = range(known, known + 1) if known else range(0)
        for place in places:
            keys[place] = call_key(self._model.identity, self._in_room(request, place), self._digest)
            if (stored := self._asker.find(keys[place])) is not None:
                return place, keys[place], stored
        return known, keys[known], None

    def _in_room(self, request: Request, place: int) -> Request:
        return request.but(sampling=_limited(request.sampling, self._limits[place])) if place else request

    def _known(self, request: Request) -> tuple[bytes, Reply | None]:
        """The key of a request, and the stored reply; a key is looked for once, since a store counts."""
        key = call_key(self._model.identity, request, self._digest)
        return key, self._asker.find(key)

    async def _obtain(self, request: Request, key: bytes, stored: Reply | None) -> tuple[Reply, int]:
        use = len(self._log.uses)
        about, is_stored = request.about, stored is not None
        self._log.uses.append(Use(key, about.stage, about.role, is_answered=is_stored))
        self._log.stored.append(False)
        self._asked += 1
        if stored is not None:
            self._log.stored[use] = True
            self._log.answered += not is_search(stored.model)
            return stored, use
        try:
            reply = await self._asker.obtain(self._model, request.but(key=key, mark=self._log.mark()))
        except AnswerError as error:
            self._refuse(use, error)
            raise
        self._log.uses[use] = Use(key, about.stage, about.role)
        self._log.all_stored = False
        self._log.answered += not is_search(self._model.name)
        return reply, use

    def _read(self, request: Request, reply: Reply, use: int, read: Callable[[Reply], T]) -> T:
        asked = self._model.identity.model
        if reply.model:
            self._log.served.add(f"{asked}={asked if reply.model == self._model.name else reply.model}")
        if reply.fingerprint:
            self._log.served.add(f"#{reply.fingerprint}")
        try:
            self._asker.check(self._model, reply)
            value = value_of(read, self._asker.adapted(request.about, reply), request.about)
        except AnswerError as error:
            self._refuse(use, error)
            raise _UnreadableError(error) from error
        if request.sampling.logprobs and reply.logprobs and not self._model.identity.reads_about:
            tally, has_any = self._asker.tally, any(token.alternatives for token in reply.logprobs)
            (tally.with_alternatives if has_any else tally.without_alternatives).add(self._model.name)
        if self._log.uses[use].reason:  # it was refused at first, and is read all the same
            self._log.uses[use] = replace(self._log.uses[use], reason="", detail="")
        return value

    def _refuse(self, use: int, error: AnswerError) -> None:
        self._log.uses[use] = replace(self._log.uses[use], reason=error.reason, detail=error.detail)


def _or_null(schema: Mapping[str, object]) -> Mapping[str, object]:
    verdict = {"anyOf": [schema, {"type": "null"}]}
    return {
        "type": "object",
        "properties": {"verdict": verdict},
        "required": ["verdict"],
        "additionalProperties": False,
    }


def _verdict_alone(text: str) -> str:
    with suppress(ValueError, RecursionError):
        said = json.loads(text)
        if isinstance(said, dict) and said.keys() == {"verdict"}:
            return json.dumps(said["verdict"], ensure_ascii=False)
    return text


def _limited(sampling: Sampling, tokens: int) -> Sampling:
    return sampling if sampling.max_tokens == tokens else replace(sampling, max_tokens=tokens)


class _UnreadableError(Exception):
    """A reply came and cannot be read; unlike a reply that never came, it may be asked for again."""

    def __init__(self, error: AnswerError) -> None:
        super().__init__(str(error))
        self.error = error
