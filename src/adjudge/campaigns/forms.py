"""Which formats hold what people say under a protocol; others would lose it, or say something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from adjudge.campaigns.protocols import CampaignProtocol
from adjudge.errors import UsageError

if TYPE_CHECKING:
    from adjudge.data.submissions import CampaignFile

__all__ = ["check_form", "check_judged", "fitting_forms"]

_ALWAYS: Final = ("campaign", "jsonl", "spreadsheet")
_MARKS: Final = frozenset({"mqm-tsv", "mtme-ratings"})
_HUNDRED: Final = frozenset({"appraise", "pearmut"})
_NEVER_EMPTY: Final = (*_MARKS, "mtme-scores")  # a line a translation, of one language pair
_BEST: Final = 100
_FORMS: Final = (*_ALWAYS, "records", "appraise", "pearmut", *sorted(_MARKS), "mtme-scores")


def fitting_forms(protocol: CampaignProtocol) -> tuple[str, ...]:
    """Names of the formats that a campaign of a protocol can be exported to."""
    return tuple(form for form in _FORMS if not _misfit(protocol, form))


def check_form(protocol: CampaignProtocol, form: str) -> None:
    """Refuse to export a campaign to a format that does not hold it.

    Raises:
        UsageError: it does not; says why, and names those that do.
    """
    if why := _misfit(protocol, form):
        fitting = ", ".join(fitting_forms(protocol))
        raise UsageError(f"{form} {why}; a campaign of {protocol.name} is exported as {fitting}")


def check_judged(file: CampaignFile, form: str) -> None:
    """Refuse to export a campaign that nobody judged in to a format that cannot say so.

    Raises:
        UsageError: nobody did, and the format has a line for every translation that was judged.
    """
    if not file.submissions and form in _NEVER_EMPTY:
        raise UsageError(f"nobody has judged anything in {file.name} yet, and {form} cannot be empty")


def _misfit(protocol: CampaignProtocol, form: str) -> str:
    """Why a format does not hold what is said; empty where it does."""
    scale, why = protocol.scale, ""
    if form in _ALWAYS or (form == "records" and protocol.record):
        return why
    if not protocol.record:
        why = "holds judgements, and people write references here"
    elif protocol.criteria:
        why = "holds no comparisons"
    elif form in _MARKS and not protocol.severities:
        why = "holds marked errors, and would call all that was rated free of them"
    elif form in _HUNDRED and scale is not None and scale.high != _BEST:
        why = f"rates from 0 to {_BEST}, and people rate from 0 to {scale.high:g} here"
    elif form == "mtme-scores" and scale is None:
        why = "holds ratings, and people mark errors alone; `adjudge score` turns marks into numbers"
    return why
