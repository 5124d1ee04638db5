"""Guidelines from Markdown; raw HTML in it stays text."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Final

from markdown_it import MarkdownIt
from markupsafe import Markup

__all__ = ["render_markdown"]

_DEEPEST: Final = 6


@lru_cache(maxsize=64)  # every page that is opened has the guidelines
def render_markdown(text: str, *, below: int = 0) -> Markup:
    """Render Markdown as HTML.

    Args:
        text: Markdown, with tables.
        below: level of the heading that it stands under, such as 2; its own headings come below that.
    """
    renderer = _renderer()
    tokens = renderer.parse(text)
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(int(token.tag[1:]) + below, _DEEPEST)}"
    return Markup(renderer.renderer.render(tokens, renderer.options, {}))  # noqa: S704 (escaped by the renderer)


@cache
def _renderer() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
