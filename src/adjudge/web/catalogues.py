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
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from markupsafe import Markup, escape
from sqlalchemy import select

from adjudge.campaigns.campaign import read_guidelines
from adjudge.campaigns.database import Campaign, item, task
from adjudge.core.frozen import frozen
from adjudge.core.language import is_right_to_left, language_name, pair_of, target_language
from adjudge.errors import DataError, UsageError
from adjudge.reports.segments import to_script_json
from adjudge.store.files import write_bytes

if TYPE_CHECKING:
    from babel.messages import Catalog

Entry = tuple[str, str]
"""Context, which is empty for the pages' own words, and the English text."""

_ENGLISH: Final = "en"
FOLDER: Final = "words"
"""Where a campaign's folder has catalogues of its own."""
GUIDELINES: Final = "guidelines"
"""Context of whole guidelines, which no script reads."""

_HERE: Final = Path(__file__).parent
_OURS: Final = _HERE / "locale"
_CALL: Final = re.compile(r'(?<![\w.$])(?:t|_)\(\s*("(?:[^"\\]|\\.)*")')
_NAME: Final = re.compile(r"\{(\w+)\}")
_SEPARATOR: Final = "\4"  # between context and text, as in gettext's own files


@frozen
class Words:
    """One language."""

    language: str = _ENGLISH  # code, such as `pt_BR`
    # entry to its translation; what is missing is said in English
    texts: Mapping[Entry, str] = field(default_factory=dict)

    @property
    def tag(self) -> str:
        return self.language.replace("_", "-")

    @cached_property
    def direction(self) -> Literal["rtl", "ltr"]:
        return "rtl" if is_right_to_left(self.language) else "ltr"

    @cached_property
    def name(self) -> str:
        return language_name(self.language, self.language)

    def say(self, text: str, **names: object) -> Markup:
        """Say a text of a page; each `{name}` in it becomes what is given, which may be markup."""
        said = str(escape(self.texts.get(("", text), text)))
        return Markup(_NAME.sub(lambda match: str(escape(names.get(match[1], match[0]))), said))  # noqa: S704 (both escaped)

    def say_protocol(self, context: str, text: str) -> str:
        return self.texts.get((context, text), text)

    def tag_of(self, context: str, text: str) -> str:
        """Language in which a text of the protocol is said."""
        return self.tag if (context, text) in self.texts else _ENGLISH

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
        for path in sorted(_HERE.glob({"template": "templates/**/*.html", "script": "static/js/*.js"}[kind]))
        for text in _CALL.findall(path.read_text(encoding="utf-8"))
    )
    return tuple(dict.fromkeys(found))


def read_catalogue(path: Path) -> dict[Entry, str]:
    """Read the translations of a PO file that are there, not fuzzy, and have the `{names}` of their text."""
    said = ((one.context or "", str(one.id), str(one.string)) for one in _read(path) if not one.fuzzy)
    return {
        (context, text): string
        for context, text, string in said
        if text and string and (context or {*_NAME.findall(text)} == {*_NAME.findall(string)})
    }


def _read(path: Path) -> Catalog:
    from babel.messages.pofile import PoFileError, read_po

    try:
        with path.open("rb") as file:
            return read_po(file, abort_invalid=True)
    except PoFileError as error:
        raise DataError("it is no PO file", path=path, line=error.lineno + 1) from error
    except ValueError as error:
        raise DataError(f"it is no PO file: {error}", path=path) from error


_read_ours: Final = cache(read_catalogue)


def read_words(folder: Path) -> dict[str, Words]:
    """All languages of a campaign's pages: ours, and those of the catalogues in its folder."""
    ours = {path.stem: path for path in _OURS.glob("*.po")}
    own = {path.stem: path for path in (folder / FOLDER).glob("*.po")}
    found = {_ENGLISH: IN_ENGLISH}
    for code in sorted(ours.keys() | own.keys()):
        texts = _read_ours(ours[code]) if code in ours else {}
        found[code] = Words(language=code, texts=texts | (read_catalogue(own[code]) if code in own else {}))
        language_name(code)
    return found


def _entries_of(campaign: Campaign) -> list[Entry]:
    protocol = campaign.protocol
    anchors = () if protocol.scale is None else protocol.scale.anchors
    categories = campaign.categories if protocol.has_categories else {}
    is_tutorial = (task.c.campaign_id == campaign.id) & (task.c.kind == "tutorial")
    tutorial = select(item.c.check).join_from(item, task).where(is_tutorial, item.c.check.is_not(None))
    with campaign.database.reading() as connection:
        says = [json.loads(check).get("says", "") for check in connection.execute(tutorial).scalars()]
    of_contexts = {
        "": [*texts_of("template"), *texts_of("script")],
        "protocol": [protocol.title],
        "anchor": [anchor.means for anchor in anchors],
        "severity": protocol.severities,
        "category": [*(part for name in categories for part in name.split("/")), *categories.values()],
        "criterion": protocol.criteria,
        GUIDELINES: [read_guidelines(campaign, lp) for lp in campaign.settings.lps],
        "tutorial": says,
    }
    found = ((context, text) for context, texts in of_contexts.items() for text in texts if text)
    return list(dict.fromkeys(found))


def write_words(campaign: Campaign, language: str) -> tuple[Path, int]:
    """Write, or bring up to date, the catalogue of a language in a campaign's folder.

    What its organiser translated stays; what is not said any more, or otherwise now, is kept for them to see.

    The file, and how many of its entries are missing.
    """
    from babel.messages import Catalog
    from babel.messages.pofile import write_po

    code = target_language(pair_of(language, language))
    if code == _ENGLISH:
        raise UsageError("the pages are in English already: give another --language")
    entries, path = _entries_of(campaign), campaign.folder / FOLDER / f"{code}.po"
    ours = _OURS / f"{code}.po"
    known = _read_ours(ours) if ours.is_file() else {}
    made = Catalog(code, header_comment=_HEADER, charset="utf-8", fuzzy=False)
    for context, text in entries:
        made.add(text, known.get((context, text), ""), context=context or None)
    if path.is_file():
        old = _read(path)
        old.update(made)
        for message in made:
            kept = old.get(message.id, message.context)
            if kept is not None and message.id and message.string and (kept.fuzzy or not kept.string):
                kept.string = message.string
                kept.flags.discard("fuzzy")
        made = old
    content = BytesIO()
    write_po(content, made, width=0)
    path.parent.mkdir(exist_ok=True)
    write_bytes(path, [content.getvalue()])
    return path, _missing_of(read_catalogue(path), entries)


_HEADER: Final = """\
# What annotators read. Fill in each empty msgstr; {names} in braces stay as they are.
# Where an entry is "fuzzy", its English text is another one than it was: look, then remove that word."""


def _missing_of(texts: Mapping[Entry, str], entries: Collection[Entry]) -> int:
    return sum(entry not in texts for entry in entries)


def missing_by_language(campaign: Campaign) -> dict[str, int]:
    """Of each language that the campaign's organiser translates to, how many entries are missing."""
    own = sorted((campaign.folder / FOLDER).glob("*.po"))
    entries, words = _entries_of(campaign) if own else [], read_words(campaign.folder)
    return {path.stem: _missing_of(words[path.stem].texts, entries) for path in own}


_WISH: Final = re.compile(r"\s*([a-z0-9-]+)\s*(?:;\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*)?", re.IGNORECASE)


def choose(codes: Collection[str], accepted: str) -> str:
    """Which of some languages a browser likes best; English where it likes none."""
    exact = {code.lower(): code for code in codes}
    near = {code.partition("_")[0]: code for code in sorted(codes, reverse=True)}
    found = [match.groups("1") for part in accepted.split(",") if (match := _WISH.fullmatch(part))]
    for tag, weight in sorted(found, key=lambda wish: -float(wish[1])):
        wish = tag.lower().replace("-", "_")
        code = exact.get(wish) or near.get(wish.partition("_")[0])
        if code and float(weight):
            return code
    return _ENGLISH
