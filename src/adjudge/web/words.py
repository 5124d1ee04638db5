"""The words of annotators' pages, each in the annotator's language.

A page is written in English, and its texts are looked up in catalogues: PO files, ours in `locale/` and those
of a campaign in its folder `words/`, which come first. A text is found where a template says `_("...")` or a
script says `t("...")`; texts of the protocol, such as anchors, have a context. What a catalogue lacks, or has
marked as fuzzy, stays English.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import field
from functools import cache, cached_property
from pathlib import Path
from typing import Final, Literal

from markupsafe import Markup, escape

from adjudge.core.frozen import frozen
from adjudge.core.language import is_right_to_left, language_name
from adjudge.errors import DataError
from adjudge.reports.segments import to_script_json

Entry = tuple[str, str]
"""Context, which is empty for the pages' own words, and the English text."""

ENGLISH: Final = "en"
FOLDER: Final = "words"
"""Where a campaign's folder has catalogues of its own."""
GUIDELINES: Final = "guidelines"
"""Context of whole guidelines, which no script reads."""

_HERE: Final = Path(__file__).parent
_OURS: Final = _HERE / "locale"
_PLACES: Final = {"template": "templates/**/*.html", "script": "static/js/*.js"}
_CALL: Final = re.compile(r'(?<![\w.$])(?:t|_)\(\s*("(?:[^"\\]|\\.)*")')
_NAME: Final = re.compile(r"\{(\w+)\}")
_SEPARATOR: Final = "\4"  # between context and text, as in gettext's own files


@frozen
class Words:
    """One language.

    Args:
        language: code, such as `pt_BR`.
        texts: entry to its translation; what is missing is said in English.
    """

    language: str = ENGLISH
    texts: Mapping[Entry, str] = field(default_factory=dict)

    @property
    def tag(self) -> str:
        """The language as HTML writes it."""
        return self.language.replace("_", "-")

    @cached_property
    def direction(self) -> Literal["rtl", "ltr"]:
        """Where lines begin."""
        return "rtl" if is_right_to_left(self.language) else "ltr"

    @cached_property
    def name(self) -> str:
        """The language's name for itself."""
        return language_name(self.language, self.language)

    def say(self, text: str, **names: object) -> Markup:
        """Say a text of a page; each `{name}` in it becomes what is given, which may be markup."""
        said = str(escape(self.texts.get(("", text), text)))
        return Markup(_NAME.sub(lambda match: str(escape(names.get(match[1], match[0]))), said))  # noqa: S704 (both escaped)

    def say_protocol(self, context: str, text: str) -> str:
        """Say a text of the protocol."""
        return self.texts.get((context, text), text)

    def tag_of(self, context: str, text: str) -> str:
        """Language in which a text of the protocol is said."""
        return self.tag if (context, text) in self.texts else ENGLISH

    @cached_property
    def script(self) -> Markup:
        """What words.js reads: the texts of scripts, and those of the protocol behind their context."""
        of_scripts = {("", text) for text in texts_of("script")}
        known = {
            context + _SEPARATOR + text if context else text: said
            for (context, text), said in self.texts.items()
            if (context and context != GUIDELINES) or (context, text) in of_scripts
        }
        return Markup(to_script_json(known))  # noqa: S704 (made safe for a script element)


IN_ENGLISH: Final = Words()


@cache
def texts_of(kind: Literal["template", "script"]) -> tuple[str, ...]:
    """English texts of our templates or scripts, each once."""
    found = (
        json.loads(text)
        for path in sorted(_HERE.glob(_PLACES[kind]))
        for text in _CALL.findall(path.read_text(encoding="utf-8"))
    )
    return tuple(dict.fromkeys(found))


def read_catalogue(path: Path) -> dict[Entry, str]:
    """Read the translations of a PO file that are there and not fuzzy.

    Raises:
        DataError: it is no PO file; says which line.
    """
    from babel.messages.pofile import PoFileError, read_po

    try:
        with path.open("rb") as file:
            catalogue = read_po(file, abort_invalid=True)
    except (PoFileError, ValueError) as error:
        raise DataError(f"it is no PO file: {error}", path=path) from error
    said = (one for one in catalogue if one.id and one.string and not one.fuzzy)
    return {(one.context or "", str(one.id)): str(one.string) for one in said}


_read_ours: Final = cache(read_catalogue)


def read_words(folder: Path) -> dict[str, Words]:
    """All languages of a campaign's pages: ours, and those of the catalogues in its folder.

    Raises:
        DataError: a catalogue is none.
        UsageError: the name of one is no language.
    """
    ours = {path.stem: path for path in _OURS.glob("*.po")}
    own = {path.stem: path for path in (folder / FOLDER).glob("*.po")}
    found = {ENGLISH: IN_ENGLISH}
    for code in sorted(ours.keys() | own.keys()):
        texts = _read_ours(ours[code]) if code in ours else {}
        found[code] = Words(language=code, texts=texts | (read_catalogue(own[code]) if code in own else {}))
        language_name(code)
    return found


_WISH: Final = re.compile(r"\s*([a-z0-9-]+)\s*(?:;\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*)?", re.IGNORECASE)


def choose(codes: Collection[str], accepted: str) -> str:
    """Which of some languages a browser likes best; English where it likes none.

    Args:
        codes: of the languages.
        accepted: an Accept-Language header, whatever is in it.
    """
    exact = {code.lower(): code for code in codes}
    near = {code.partition("_")[0]: code for code in sorted(codes, reverse=True)}
    found = [match.groups("1") for part in accepted.split(",") if (match := _WISH.fullmatch(part))]
    for tag, weight in sorted(found, key=lambda wish: -float(wish[1])):
        wish = tag.lower().replace("-", "_")
        code = exact.get(wish) or near.get(wish.partition("_")[0])
        if code and float(weight):
            return code
    return ENGLISH
