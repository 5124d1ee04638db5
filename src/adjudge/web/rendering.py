"""Pages from templates: texts are never markup, and a name that is missing is an error."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

__all__ = ["render"]


def render(template: str, context: Mapping[str, object], *, status: int = 200) -> HTMLResponse:
    """Render a page.

    Args:
        template: name below `templates/`.
        context: what the template names.
        status: HTTP status.
    """
    return HTMLResponse(_templates().get_template(template).render(context), status)


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("adjudge.web"),
        autoescape=True,
        auto_reload=False,  # no look at every file for every page
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
