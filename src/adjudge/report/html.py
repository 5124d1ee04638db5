"""`report`: one HTML file about runs, with everything in it and nothing outside of it.

The page is opened by people who did not write the texts in it. So: no request leaves it, a policy at its
head allows only the style and the script whose hashes it names, and texts are never markup.
"""

from __future__ import annotations

import base64
import hashlib
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from adjudge.core.annotation import Record
from adjudge.core.keywords import checks_keywords
from adjudge.core.language import canonical_lp
from adjudge.core.run import Run
from adjudge.core.segment import TestSet
from adjudge.core.version import VERSION
from adjudge.core.wording import count
from adjudge.data.files import write_text
from adjudge.data.load import load
from adjudge.errors import DataWarning, UsageError
from adjudge.report.annotators import RULES_MODEL
from adjudge.report.collecting import uncollected
from adjudge.report.drawer import Drawer, drawer_for, drawing
from adjudge.report.figures import Figure
from adjudge.report.given import Given, Judged, read_judged
from adjudge.report.invisible import name_invisible
from adjudge.report.numbers import share
from adjudge.report.packed import is_large, packed_blocks, size_of
from adjudge.report.page import Page, make_page
from adjudge.report.repeat import page_commands, run_command
from adjudge.report.segments import to_script_json
from adjudge.report.svg import page_svg
from adjudge.report.words import FAILURES
from adjudge.scoring.repeats import repeats_note, without_repeats

__all__ = ["render_page", "report", "served_policy"]

_SCRIPTS: Final = ("text.js", "said.js", "unpack.js", "find.js", "report.js")
_SERVED: Final = ("text.js", "said.js", "served.js", "report.js")
_LONGEST: Final = 16


@checks_keywords()
def report(  # noqa: PLR0913 (what a report can be asked for; every one has its default)
    judged: Judged | Path | str | Sequence[Judged | Path | str],
    out: Path | str,
    *,
    title: str | None = None,
    gold: Sequence[Record] | Path | str = (),
    lp: str | None = None,
    test_set: TestSet | Path | str | None = None,
    force: bool = False,
) -> Path:
    """Write one self-contained HTML file about runs, campaigns and metrics.

    Several of them of one test set are several annotators, shown side by side; gold is one more.

    Args:
        judged: what to report: runs, run directories, files of records, exports of campaigns, score files.
        out: the file.
        title: of the page; None for the name of the test set.
        gold: records to show beside those of the others, or the path of their file.
        lp: keep one language pair.
        test_set: the texts of what carries none; a path is loaded.
        force: replace the file if it exists.

    Returns:
        The file.

    Raises:
        UsageError: the file exists, nothing given, no texts, an lp that nothing has, or judgements of
            different texts.
        DataError: a file that is damaged, or holds no judgements.
    """
    if Path(out).exists() and not force:
        raise UsageError(f"{out} exists; force=True replaces it")
    given = [judged] if isinstance(judged, (Run, Given, Path, str)) else list(judged)
    lp = None if lp is None else canonical_lp(lp)
    texts = load(test_set, lp) if isinstance(test_set, (Path, str)) else test_set
    read = iter(read_judged([each for each in given if isinstance(each, (Path, str))], lp, texts))
    whole = [next(read) if isinstance(each, (Path, str)) else each for each in given]
    beside = next((each.test_set for each in whole if each.test_set is not None), None)
    records = _read_gold(gold, lp, texts, beside)
    asked = {"gold": gold, "test_set": test_set, "title": title, "lp": lp, "out": out, "force": True}
    commands = _commands(given, whole, asked)
    with drawer_for(whole) as drawer:
        page = make_page(whole, title=title, gold=records, lp=lp, test_set=texts)
        write_text(Path(out), [render_page(page, commands, drawer=drawer)])
    return Path(out)


def _read_gold(
    gold: Sequence[Record] | Path | str, lp: str | None, texts: TestSet | None, beside: TestSet | None
) -> Sequence[Record]:
    """Gold of a file, or records in which repeats do not count either."""
    if isinstance(gold, (Path, str)):
        return read_judged([gold], lp, texts, beside)[0].records
    records, repeated = without_repeats(gold)
    for what in repeats_note(repeated):
        warnings.warn(f"gold: {what}", DataWarning, stacklevel=3)
    return records


def _commands(
    given: Sequence[Judged | Path | str], judged: Sequence[Judged], asked: Mapping[str, object]
) -> list[str]:
    """The command lines that make a page again; those of its runs, where not all of it came from files."""
    places = [each for each in given if isinstance(each, (Path, str))]
    wanted = {name: value for name, value in asked.items() if value is not None and value != ()}
    if len(places) == len(given) and all(isinstance(v, (Path, str, bool)) for v in wanted.values()):
        return page_commands("report", judged, places, wanted)
    return [run_command(run.info) for run in judged if isinstance(run, Run)]


def render_page(
    page: Page,
    commands: Sequence[str] = (),
    *,
    served: Mapping[str, object] | None = None,
    drawer: Drawer | None = None,
) -> str:
    """Render a page as HTML.

    Args:
        page: what stands on it.
        commands: the command lines that make it again.
        served: for a page whose segments and figures come from a server: what its script reads in place of
            `page.data`.
        drawer: draws its figures meanwhile.
    """
    figures = page.figures
    if served is not None:
        places = {id(figure): place for place, figure in enumerate(figures)}
        return _render(page, commands, _Filled(served, partial(_awaited, places), is_served=True))
    with uncollected(), drawing(figures, drawer) as finish:
        size = size_of(page.segments.values())
        packed = [*packed_blocks(page.iter_segments(is_thin=True), size)] if is_large(size) else []
        svgs = dict(zip(map(id, figures), finish(), strict=True))
        data = page.facts if packed else page.data
        return _render(page, commands, _Filled(data, partial(_drawn, svgs), packed=packed))


@dataclass(frozen=True)
class _Filled:
    """What a page is filled with.

    Args:
        data: what its script reads.
        svg: what stands in the place of a figure.
        packed: its segments, where they are packed.
        is_served: whether it asks a server.
    """

    data: Mapping[str, object]
    svg: Callable[[Figure, str], Markup]
    packed: Sequence[str] = ()
    is_served: bool = False


def _drawn(svgs: Mapping[int, bytes], figure: Figure, prefix: str) -> Markup:
    return page_svg(figure, prefix, svgs[id(figure)])


def _awaited(places: Mapping[int, int], figure: Figure, _: str) -> Markup:
    """What stands in the place of a figure until the server has drawn it: what it shows, in words."""
    words = name_invisible(figure.title)
    return Markup('<p class="soft small" data-figure="{}">{} …</p>').format(places[id(figure)], words)


def _render(page: Page, commands: Sequence[str], filled: _Filled) -> str:
    style, script = _style(), _script(_SERVED if filled.is_served else _SCRIPTS)
    return (
        _templates()
        .get_template("report.html.j2")
        .render(
            page=page,
            commands=commands,
            style=Markup(style),  # noqa: S704 (our own file)
            script=Markup(script),  # noqa: S704 (our own files)
            data=Markup(to_script_json(filled.data)),  # noqa: S704 (made safe for a script element)
            policy=served_policy() if filled.is_served else _policy(style, script),
            packed=map(Markup, filled.packed),  # base64, which no markup is in
            svg=filled.svg,
            is_served=filled.is_served,
            version=VERSION,
            failure_words=FAILURES,
            rules_model=RULES_MODEL,
        )
    )


def _style() -> str:
    """The house's one stylesheet; it lives with the pages, which use it too."""
    return (files("adjudge") / "web" / "static" / "adjudge.css").read_text(encoding="utf-8")


def _script(names: Sequence[str]) -> str:
    folder = files("adjudge.report") / "templates"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def served_policy() -> str:
    """The policy of a page whose segments come from a server, which it may ask and no other."""
    return _policy(_style(), _script(_SERVED)) + "; connect-src 'self'"


def _policy(style: str, script: str) -> str:
    """Content Security Policy: this style, this script, images within the page, and nothing else."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _templates() -> Environment:
    templates = Environment(
        loader=PackageLoader("adjudge.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    templates.globals.update(count=count, share=share)
    templates.filters.update(code=_code, breakable=_breakable, whole=_whole)
    return templates


def _finalize(value: object) -> object:
    """Show the invisible in whatever a template prints, for it may be a name that others gave."""
    return name_invisible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _code(text: str) -> Markup:
    """Set what stands between backticks as code, as the terminal's notes have it."""
    parts = [escape(name_invisible(part)) for part in text.split("`")]
    marked = (Markup("<code>{}</code>").format(p) if i % 2 else p for i, p in enumerate(parts))
    return Markup("").join(marked)


def _breakable(name: str) -> Markup:
    """Let a long name break after its underscores and points, not within its words."""
    return Markup(re.sub(r"([_./])", r"\1<wbr>", str(escape(name_invisible(name)))))  # noqa: S704 (escaped)


def _whole(text: str) -> Markup:
    """Keep names with hyphens, such as gemba-mqm, on one line of a headline."""
    words = (escape(name_invisible(word)) for word in text.split(" "))
    kept = (
        Markup('<span class="whole">{}</span>').format(w) if 0 < w.find("-") < _LONGEST else w for w in words
    )
    return Markup(" ").join(kept)
