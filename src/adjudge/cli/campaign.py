"""`adjudge campaign`: people judge, from the first link to the ranking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["COMMANDS"]

COMMANDS: Final[Mapping[str, str]] = {
    "new": "Make a campaign of a test set: tasks, checks, links.",
    "serve": "Serve a campaign to its annotators and its organiser.",
    "status": "Say how far it is, who did how much, and when it will end.",
    "people": "List who takes part; add people, renew links, shut somebody out.",
    "again": "Have what was judged looked at again, decided between two, or judged anew.",
    "export": "Write what people said so far, in any format that holds it.",
    "import": "Go on here with a campaign that was begun in Appraise, Pearmut or elsewhere.",
    "backup": "Copy the store to a file, also while it is served.",
    "analyse": "Say everything that a campaign shows, whole or half done.",
}
"""Command to its line in `--help`. Its function `command` stands in `cli/campaign_NAME.py`."""
