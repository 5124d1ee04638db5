"""What a judge has to say before a run: what will cost more than it need, and what it cannot do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Final, Protocol, runtime_checkable

from adjudge.core.segment import Subject
from adjudge.errors import FailureReason, UsageError
from adjudge.judges import Repeated, Sampled
from adjudge.llm.models import Models
from adjudge.llm.providers import COMPATIBLE, PROVIDERS
from adjudge.runs.annotators import Annotator, settings_of
from adjudge.runs.units import Plan

__all__ = ["Advising", "advise", "check_logprobs", "check_roles", "remedy_for", "roles_of", "serves"]

_FORM: Final = "try --json-schema off (or on), or another --model; `adjudge trace OUT` shows the replies"
_BODY: Final = "check that --base-url leads to an OpenAI-compatible server, and try another --model"
_LATER: Final = "check the server, or lower --concurrency or raise --timeout"
_REMEDIES: Final[Mapping[FailureReason, str]] = {
    **dict.fromkeys(("ambiguous", "count", "label", "parse", "range", "schema"), _FORM),
    **dict.fromkeys(("bad_envelope", "encoding", "not_json", "oversize"), _BODY),
    **dict.fromkeys(("connection", "server_error", "timeout"), _LATER),
    "empty": "try --json-schema off, or another --model",
    "logprob": "choose a --model that gives log-probabilities, or draw samples with --samples",
    "model_mismatch": "if this is the same model, add --served-as NAME; else correct --model",
    "no_answer": "the model spends its tokens on thinking: try --effort low, or another --model",
    "refused": "the model or a content filter refuses these texts: try another --model or filter",
    "too_long": "lower --context, shorten --terms, or choose a --model with a longer context",
    "truncated": "answers are longer than their token limit: try --effort low, or another --model",
}
_WITHOUT_TOOLS: Final = frozenset({"bad_envelope", "count", "empty", "no_answer", "parse", "schema"})

_LOOK: Final = 20  # translations that a judge may look at


@runtime_checkable
class Advising(Protocol):
    """A judge that looks at what it is to do."""

    @property
    def needs_logprobs(self) -> Sequence[str]:
        """Roles whose answers are worth nothing without log-probabilities."""
        ...

    def advise(self, model: str, lps: Sequence[str], subjects: Sequence[Subject]) -> tuple[str, ...]:
        """What the user must know.

        Args:
            model: whom the run asks, as its signature names it.
            lps: language pairs that it judges.
            subjects: the first translations that it judges.

        Raises:
            UsageError: it cannot judge these with this model under its settings.
        """
        ...


def advise(annotator: Annotator, models: Models | None, plan: Plan) -> tuple[str, ...]:
    """Ask a judge, if it has something to say.

    Raises:
        UsageError: it cannot be run so.
    """
    judge = annotator.judge if isinstance(annotator, Sampled) else annotator
    if models is None or not isinstance(judge, Advising):
        return ()
    check_logprobs(models, judge.needs_logprobs)
    subjects = list(islice((unit.subject for unit in plan if unit.is_there), _LOOK))
    return judge.advise(models.name, plan.test_set.lps, subjects)


def remedy_for(annotator: Annotator, reason: FailureReason) -> str:
    """Say which options to change where every judgement fails for one reason."""
    if settings_of(annotator).get("tools") == "native" and reason in _WITHOUT_TOOLS:
        return "the model may not call tools: try --tools xml, or another --model"
    return _REMEDIES.get(reason, _FORM)


def check_logprobs(models: Models, roles: Iterable[str]) -> None:
    """Refuse a model that is known not to give log-probabilities where they are needed.

    Raises:
        UsageError: one of the roles has such a model.
    """
    for identity in (models.for_role(role).identity for role in roles):
        if not PROVIDERS.get(identity.endpoint, COMPATIBLE).gives_logprobs(identity.model):
            raise UsageError(
                f"{identity.name} gives no log-probabilities; take samples with --verifications 5"
            )


def check_roles(annotator: Annotator, models: Models | None) -> None:
    """Refuse a model for a role that the judge does not have, before anything is paid for the others.

    Raises:
        UsageError: there is no such role, and the judge says which there are.
    """
    known = roles_of(annotator)
    if models is None or known is None:
        return
    words = {
        ".".join(parts[:n]) for parts in (name.split(".") for name in known) for n in range(1, len(parts) + 1)
    }
    for role in models.roles:
        if not serves(role, known):
            near = difflib.get_close_matches(role, sorted(words), n=1)
            kinds = ", ".join(dict.fromkeys(name.partition(".")[0] for name in known))
            raise UsageError(
                f"--model {role}=...: {annotator.name} so set asks no {role!r}; its roles: {kinds}"
                + (f"; did you mean {near[0]}?" if near else "")
            )


def roles_of(annotator: Annotator) -> tuple[str, ...] | None:
    """The roles in which a judge can ask under its settings, if it names them in `roles`."""
    judge = annotator.judge if isinstance(annotator, Repeated) else annotator
    return getattr(judge, "roles", None)


def serves(role: str, names: Iterable[str]) -> bool:
    """Whether one of these asks the model of a role; `expert.accuracy` asks that of `expert`."""
    return any(name == role or name.startswith(f"{role}.") for name in names)
