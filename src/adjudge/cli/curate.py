"""`adjudge curate`: build a benchmark as MENT and FiRE did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["COMMANDS"]

COMMANDS: Final[Mapping[str, str]] = {
    "filter": "Keep the sources that are hardest to translate; flag what is personal or offensive.",
    "translate": "Translate a test set with a model or a command: systems to judge, or drafts to edit.",
    "pairs": "Draw pairs of translations, balanced over sources and systems.",
    "select": "Choose the segments that people annotate, and say what that choice is worth.",
    "agreement": "Settle what people said: majority, kappa, easy and hard; or the gate of ratings.",
    "classify": "Say of which kind the errors are that people marked.",
}
"""Command to its line in `--help`. Its function `command` stands in `cli/curate_NAME.py`."""
