"""What a profile decides for every judge: the form of answers, and how often one may be asked for again."""

from __future__ import annotations

from typing import Literal

from adjudge.core.judge import Profile
from adjudge.errors import UsageError

__all__ = ["Form", "attempts_of", "find_form"]

Form = Literal["json", "headings"]


def find_form(profile: Profile) -> Form:
    """JSON is ours; the papers and their code have headings.

    Raises:
        UsageError: no such profile.
    """
    forms: dict[str, Form] = {"recommended": "json", "paper": "headings", "code": "headings"}
    if profile not in forms:
        raise UsageError(f"no profile {profile!r}; there are {', '.join(forms)}")
    return forms[profile]


def attempts_of(profile: Profile) -> int:
    """How often an unreadable answer is asked for, of methods whose papers ask once."""
    return 1 if profile == "paper" else 2
