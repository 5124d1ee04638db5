"""What annotators read: guidelines of a protocol and of a language pair, as Markdown to be edited."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

from adjudge.data.files import read_text, write_text
from adjudge.errors import UsageError

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign

__all__ = ["read_guidelines", "write_guidelines"]

_GENERAL: Final = "guidelines.md"


def write_guidelines(folder: Path, protocol: str, lps: Iterable[str], *, own: Path | None = None) -> None:
    """Put guidelines into a campaign's folder: ours, or one's own where there are some.

    Args:
        folder: of the campaign's guidelines.
        protocol: name.
        lps: language pairs.
        own: a folder with `guidelines.md`, `LP.md`, or both.

    Raises:
        UsageError: the folder of one's own has no such file.
    """
    names = {_GENERAL: f"{protocol}.md", **{f"{lp}.md": f"{lp}.md" for lp in lps}}
    ours = files("adjudge.campaigns") / "guidelines"
    texts = {name: read_text(own / name) for name in names if own is not None and (own / name).is_file()}
    if own is not None and not texts:
        raise UsageError(f"guidelines: {str(own)!r} has none of {', '.join(names)}")
    for name, file in names.items():
        if name not in texts and (ours / file).is_file():
            texts[name] = (ours / file).read_text(encoding="utf-8")
    for name, text in texts.items():
        write_text(folder / name, [text])


def read_guidelines(campaign: Campaign, lp: str) -> str:
    """Guidelines as they stand in a campaign's folder now; the general ones where there are no others."""
    folder = campaign.folder / "guidelines"
    names = [_GENERAL, *(f"{known}.md" for known in campaign.settings.lps if known == lp)]
    found = [folder / name for name in names if (folder / name).is_file()]
    return "\n\n".join(read_text(path).strip() for path in found)
