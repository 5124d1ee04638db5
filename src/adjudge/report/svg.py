"""A drawing of matplotlib made fit for a page: colours of the page's theme, and nothing a CSP refuses.

Matplotlib writes `style` attributes and a `style` element, which the policy of a report would block; they
become presentation attributes and classes, and identifiers get a prefix so that figures do not share any.
"""

from __future__ import annotations

import re
from typing import Final
from xml.etree import ElementTree as ET

from markupsafe import Markup

from adjudge.report.figures import COLOURS, Figure
from adjudge.report.invisible import name_invisible

__all__ = ["page_svg"]

_SVG: Final = "{http://www.w3.org/2000/svg}"
_HREF: Final = "{http://www.w3.org/1999/xlink}href"
_DROPPED: Final = {"font-family", "font"}
_REFERENCE: Final = re.compile(r"url\(#([^)]+)\)")


def page_svg(figure: Figure, prefix: str, drawn: bytes | None = None) -> Markup:
    """Render a figure as an inline `svg` element.

    Args:
        figure: what to draw.
        prefix: of its identifiers; unique in the page.
        drawn: the figure as SVG, where that was done already.
    """
    root = ET.fromstring(figure.render("svg") if drawn is None else drawn)  # noqa: S314 (by matplotlib)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in {f"{_SVG}metadata", f"{_SVG}style"}:
                parent.remove(child)
    referred = {m for element in root.iter() for m in _references(element)}
    for element in root.iter():
        _clean(element, prefix, referred)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib.update({"class": "figure", "role": "img", "aria-label": name_invisible(figure.title)})
    root.attrib.update({"stroke-linejoin": "round", "stroke-linecap": "butt"})
    ET.register_namespace("", "http://www.w3.org/2000/svg")
    return Markup(ET.tostring(root, encoding="unicode"))  # noqa: S704 (the tree's own escaping)


def _references(element: ET.Element) -> list[str]:
    found = [element.attrib[_HREF][1:]] if _HREF in element.attrib else []
    return found + [m for value in element.attrib.values() for m in _REFERENCE.findall(value)]


def _clean(element: ET.Element, prefix: str, referred: set[str]) -> None:
    """Make one element fit for a page."""
    attributes = element.attrib
    _unstyle(attributes, is_text=element.tag == f"{_SVG}text")
    if attributes.get("transform", "").startswith("rotate(-0 "):
        del attributes["transform"]
    if (own := attributes.pop("id", "")) in referred:
        attributes["id"] = f"{prefix}-{own}"
    if _HREF in attributes:
        attributes["href"] = f"#{prefix}-{attributes.pop(_HREF)[1:]}"
    for name, value in attributes.items():
        attributes[name] = _REFERENCE.sub(rf"url(#{prefix}-\1)", value)


def _unstyle(attributes: dict[str, str], *, is_text: bool) -> None:
    """Turn style declarations into attributes, and our colours into classes that follow the theme."""
    for declaration in filter(None, attributes.pop("style", "").split(";")):
        name, _, value = declaration.partition(":")
        if name.strip() not in _DROPPED:
            attributes[name.strip()] = value.strip()
    classes = []
    for name in ("fill", "stroke"):
        if (theme := COLOURS.get(attributes.get(name, ""))) is not None:
            del attributes[name]
            classes.append(f"{theme}-{name}")
    if is_text and "fill" not in attributes and not classes:
        classes.append("ink-fill")
    if classes:
        attributes["class"] = " ".join(classes)
