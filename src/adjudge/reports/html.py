"""A page of a report as HTML: `report` writes a file, `render_page` also serves the viewer.

The page is opened by people who did not write the texts in it. So no request leaves a page that is a file, a
policy at the head of every page allows only the style and the script whose hashes it names, and texts are
never markup. A large page carries its segments compressed (`packed_blocks`), and a process of its own draws
the figures meanwhile (`Drawer`, which starts this module with `python -m`).
"""

from __future__ import annotations

import base64
import hashlib
import os
import pickle
import re
import signal
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import fields, replace
from functools import partial
from importlib.resources import files
from itertools import islice
from pathlib import Path
from threading import Thread
from typing import IO, Any, Final

import orjson
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from adjudge.core.extras import has_library
from adjudge.core.record import repeats_note, without_repeats
from adjudge.core.scores import VERSION, Run
from adjudge.core.segment import Segment, TestSet
from adjudge.core.verb import takes
from adjudge.core.wording import count
from adjudge.errors import UsageError, warn
from adjudge.formats.read import Given, Judgements, load, read_judgements, refuse_twice, sources_of
from adjudge.reports.annotators import RULES_MODEL, Judged, read_judged
from adjudge.reports.figures import Figure, page_svg
from adjudge.reports.page import Page, PageSettings, ReportSettings, make_page, page_commands, run_command
from adjudge.reports.segments import to_script_json
from adjudge.reports.tables import name_invisible, share
from adjudge.reports.words import FAILURES
from adjudge.store.files import uncollected, write_text

_LARGE: Final = 4_000_000  # characters of texts; a smaller page is plain text that anybody can search
_BLOCK: Final = 1000  # segments
_LEVEL: Final = 3
_LARGEST: Final = 28_000_000  # characters from which the file would not stay below 20 MB
_HIGHEST: Final = 6  # level for these: twice the time for one part in eleven


def size_of(segments: Iterable[Segment]) -> int:
    return sum(len(s.source) + sum(map(len, s.translations.values())) for s in segments)


def packed_blocks(segments: Iterable[Mapping[str, Any]], size: int = 0) -> Iterator[str]:
    """Blocks of segments as text, in order: compressed, then base64, which a browser takes apart by itself.

    `size`: characters of their texts.
    """
    rows, level = iter(segments), _HIGHEST if size > _LARGEST else _LEVEL
    with ThreadPoolExecutor(1) as beside:
        blocks = iter(lambda: _json([*islice(rows, _BLOCK)]), b"[]")
        found = [beside.submit(zlib.compress, block, level) for block in blocks]
        for each in found:
            yield base64.b64encode(each.result()).decode("ascii")


def _json(rows: list[Mapping[str, Any]]) -> bytes:
    """JSON as UTF-8; half a surrogate pair, which UTF-8 cannot hold, becomes an escape."""
    try:
        return orjson.dumps(rows)
    except TypeError:
        import json

        return json.dumps(rows, allow_nan=False, separators=(",", ":")).encode("ascii")


_SIZE: Final = struct.Struct(">Q")  # before each SVG: how many bytes it has
_MANY: Final = 20  # figures that take longer to draw than another process, or this one, takes to begin
_FEW: Final = 3


class Drawer(AbstractContextManager["Drawer"]):
    """A process that draws. It starts at once, so that matplotlib is there when the figures are."""

    def __init__(self) -> None:
        path = os.pathsep.join(filter(None, sys.path))  # it finds the same packages, wherever they are
        self._is_open = True
        self._threads: list[Thread] = []
        try:
            self._process: subprocess.Popen[bytes] | None = subprocess.Popen(  # noqa: S603 (our own)
                [sys.executable, "-P", "-m", __name__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": path},
            )
        except OSError:  # no second Python can be started: figures are drawn here
            self._process = None

    def __exit__(self, *_: object) -> None:
        self._is_open = False
        with self._process or nullcontext():  # closes its pipes
            if self._process is not None:
                self._process.kill()
            for thread in self._threads:
                thread.join()

    def begin(self, figures: Sequence[Figure]) -> list[Future[bytes]]:
        """Draw figures, once; each future becomes an SVG, or is cancelled where nothing draws it."""
        waiting: list[Future[bytes]] = [Future() for _ in figures]
        self._threads.append(Thread(target=self._draw, args=(figures, waiting), daemon=True))
        self._threads[-1].start()
        return waiting

    def _draw(self, figures: Sequence[Figure], waiting: Sequence[Future[bytes]]) -> None:
        process = self._process if self._is_open else None
        try:
            if process is not None and process.stdin is not None and process.stdout is not None:
                with suppress(OSError, EOFError, ValueError):  # the process ended, or drew another page
                    with process.stdin as sent:
                        pickle.dump(list(figures), sent)
                    with process.stdout as answers:
                        for future in waiting:
                            if len(head := answers.read(_SIZE.size)) < _SIZE.size:
                                raise EOFError
                            (size,) = _SIZE.unpack(head)
                            if len(svg := answers.read(size)) < size:
                                raise EOFError
                            future.set_result(svg)
        finally:
            for future in waiting:
                future.cancel()


def drawn(figure: Figure, waiting: Future[bytes] | None) -> bytes:
    """A figure as SVG, drawn by another process, or here where none does it."""
    try:
        return figure.render("svg") if waiting is None else waiting.result()
    except CancelledError:
        return figure.render("svg")


@contextmanager
def drawing(figures: Sequence[Figure], drawer: Drawer | None) -> Iterator[Callable[[], list[bytes]]]:
    """Begin to draw figures; what this gives finishes that, and returns all as SVG."""
    own = Drawer() if drawer is None and len(figures) > _MANY else nullcontext(drawer)
    with own as given:
        waiting = [None] * len(figures) if given is None else given.begin(figures)
        yield partial(_finish, figures, waiting)


def _finish(figures: Sequence[Figure], waiting: Sequence[Future[bytes] | None]) -> list[bytes]:
    known: dict[int, bytes] = {}
    for place in reversed(range(len(figures))):
        done = sum(future is not None and future.done() for future in waiting)
        if place - done < (_FEW if known else _MANY):
            break
        known[place] = figures[place].render("svg")
    return [
        known[place] if place in known else drawn(figure, waiting[place])
        for place, figure in enumerate(figures)
    ]


def drawer_for(judged: Sequence[Judged]) -> AbstractContextManager[Drawer | None]:
    """A drawer where segments take so long to pack that drawing beside them is worth a process; else None."""
    texts = {id(each.test_set.segments): each.test_set for each in judged if each.test_set is not None}
    return Drawer() if sum(map(size_of, texts.values())) > _LARGE else nullcontext()


def _draw_all(asked: IO[bytes], answers: IO[bytes]) -> None:
    import matplotlib.backends.backend_svg
    import matplotlib.figure  # noqa: F401 (before the figures come)

    for figure in pickle.load(asked):  # noqa: S301 (of the process that started this one)
        svg = figure.render("svg")
        answers.write(_SIZE.pack(len(svg)) + svg)
        answers.flush()


_SCRIPTS: Final = ("text.js", "said.js", "unpack.js", "find.js", "report.js")
_SERVED: Final = ("text.js", "said.js", "served.js", "report.js")
_LONGEST: Final = 16


@takes(ReportSettings)
def report(judged: Given | Sequence[Any], out: Path | str | None, settings: ReportSettings) -> Path:
    """Write one self-contained HTML file about runs, campaigns and metrics.

    Several of them of one test set are several annotators, shown side by side; gold is one more.

    Args:
        judged: what to report: runs, run directories, files of records, exports of campaigns, score files,
            records, data frames; one or several.
        out: the file; `report.html` if left out.
        settings: what stands on the page besides.

    Returns:
        The file.

    Raises:
        UsageError: the file exists, nothing given, one source twice, no texts, an lp that nothing has, or
            judgements of different texts.
        DataError: a file that is damaged, or holds no judgements.
    """
    out = Path(out or "report.html")
    if out.exists() and not settings.force:
        raise UsageError(f"{out} exists; force=True replaces it")
    given = sources_of(judged)
    refuse_twice(given)
    lp, texts = settings.lp, settings.test_set
    if texts is not None and not isinstance(texts, TestSet):
        texts = load(texts, lp)
    read = iter(read_judged([each for each in given if isinstance(each, (Path, str))], lp, texts))
    whole = [next(read) if isinstance(each, (Path, str)) else _in_memory(each, lp, texts) for each in given]
    beside = next((each.test_set for each in whole if each.test_set is not None), None)
    gold = _read_gold(settings.gold, lp, texts, beside)
    wanted = {field.name: getattr(settings, field.name) for field in fields(PageSettings)}
    commands = _commands(given, whole, {**wanted, "out": out, "force": True})
    with drawer_for(whole) as drawer:
        page = make_page(
            whole,
            title=settings.title,
            gold=gold,
            lp=lp,
            test_set=texts,
            weights=settings.weights,
            mismatched=settings.mismatched,
        )
        write_text(out, [render_page(page, commands, drawer=drawer)])
    return out


def _in_memory(source: Given, lp: str | None, texts: TestSet | None) -> Judged:
    if isinstance(source, (Run, Judgements)):
        return source
    found = read_judgements(source, lp, texts, needed=False).warn()
    return replace(found, name=", ".join(found.annotators))


def _read_gold(gold: Given, lp: str | None, texts: TestSet | None, beside: TestSet | None) -> Judgements:
    """Gold of a file or of what is in memory, in which repeats do not count either."""
    if isinstance(gold, (Path, str)):
        return read_judgements(read_judged([gold], lp, texts, beside)[0])
    given = read_judgements(gold, lp, texts, beside=beside, needed=False).warn()
    records, repeated = without_repeats(given.records)
    for what in repeats_note(repeated):
        warn(f"gold: {what}")
    return replace(given.with_records(records), name="gold")


def _commands(given: Sequence[Given], judged: Sequence[Judged], asked: Mapping[str, object]) -> list[str]:
    places = [each for each in given if isinstance(each, (Path, str))]
    wanted = {
        name: value
        for name, value in asked.items()
        if value is not None and not (isinstance(value, tuple) and not value)
    }
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
    figures = page.figures if has_library("matplotlib") else []
    if served is not None:
        places = {id(figure): place for place, figure in enumerate(figures)}

        def awaited(figure: Figure, _: str) -> Markup:
            if (place := places.get(id(figure))) is None:
                return _undrawn(figure)
            words = name_invisible(figure.title)
            return Markup('<p class="soft small" data-figure="{}">{} …</p>').format(place, words)

        return _render(page, commands, served, awaited, is_served=True)
    with uncollected(), drawing(figures, drawer) as finish:
        size = size_of(page.segments.values())
        packed = [*packed_blocks(page.iter_segments(is_thin=True), size)] if size > _LARGE else []
        svgs = dict(zip(map(id, figures), finish(), strict=True))

        def drawn_svg(figure: Figure, prefix: str) -> Markup:
            svg = svgs.get(id(figure))
            return _undrawn(figure) if svg is None else page_svg(figure, prefix, svg)

        return _render(page, commands, page.facts if packed else page.data, drawn_svg, packed=packed)


def _undrawn(figure: Figure) -> Markup:
    return Markup('<p class="soft small">{}.</p>').format(name_invisible(figure.title))


def _render(
    page: Page,
    commands: Sequence[str],
    data: Mapping[str, object],
    svg: Callable[[Figure, str], Markup],
    *,
    packed: Sequence[str] = (),
    is_served: bool = False,
) -> str:
    style, script = _style(), _script(_SERVED if is_served else _SCRIPTS)
    templates = Environment(
        loader=PackageLoader("adjudge.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    templates.globals.update(count=count, share=share)
    templates.filters.update(code=_code, breakable=_breakable, whole=_whole)
    return templates.get_template("report.html.j2").render(
        page=page,
        commands=commands,
        style=Markup(style),  # noqa: S704 (our own file)
        script=Markup(script),  # noqa: S704 (our own files)
        data=Markup(to_script_json(data)),  # noqa: S704 (made safe for a script element)
        policy=served_policy() if is_served else _policy(style, script),
        packed=map(Markup, packed),  # base64, which no markup is in
        svg=svg,
        is_undrawn=bool(page.figures) and not has_library("matplotlib"),
        is_served=is_served,
        version=VERSION,
        failure_words=FAILURES,
        rules_model=RULES_MODEL,
    )


def _style() -> str:
    return (files("adjudge") / "web" / "static" / "adjudge.css").read_text(encoding="utf-8")


def _script(names: Sequence[str]) -> str:
    folder = files("adjudge.reports") / "templates"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def served_policy() -> str:
    """The policy of a page whose segments come from a server, which it may ask and no other."""
    return _policy(_style(), _script(_SERVED)) + "; connect-src 'self'"


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _finalize(value: object) -> object:
    """Show the invisible in whatever a template prints, for it may be a name that others gave."""
    return name_invisible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _code(text: str) -> Markup:
    parts = [escape(name_invisible(part)) for part in text.split("`")]
    marked = (Markup("<code>{}</code>").format(p) if i % 2 else p for i, p in enumerate(parts))
    return Markup("").join(marked)


def _breakable(name: str) -> Markup:
    return Markup(re.sub(r"([_./])", r"\1<wbr>", str(escape(name_invisible(name)))))  # noqa: S704 (escaped)


def _whole(text: str) -> Markup:
    words = (escape(name_invisible(word)) for word in text.split(" "))
    kept = (
        Markup('<span class="whole">{}</span>').format(w) if 0 < w.find("-") < _LONGEST else w for w in words
    )
    return Markup(" ").join(kept)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    _draw_all(sys.stdin.buffer, sys.stdout.buffer)
