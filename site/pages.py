"""Pages of the site that are made of the code: judges, measures, protocols, formats, commands, names.

A hook of mkdocs. Nothing is written to `docs/`: the pages live in memory for one build.
"""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import adjudge
from adjudge.campaigns.settings import NAMES, find_campaign_protocol
from adjudge.cli.main import COMMANDS, GROUP_COMMANDS, GROUPS
from adjudge.core.protocol import PROTOCOLS
from adjudge.formats.registry import FORMATS, Format
from adjudge.judges import JUDGES
from adjudge.metrics import METRICS
from adjudge.stats.measures import MEASURES, Measure

ROOT: Final = Path(__file__).parents[1]

_FORMAT_MODULES: Final[Mapping[str, str]] = {
    "appraise-batches": "appraise",
    "campaign": "campaign_export",
    "comet": "score_file",
    "csv": "tabular",
    "jsonl": "json_lines",
    "ment-jsonl": "ment",
    "mtme-ratings": "mtme",
    "mtme-scores": "mtme",
    "pearmut-campaign": "pearmut",
    "records": "json_lines",
    "run": "run_directory",
    "score-lines": "score_file",
    "score-table": "score_file",
    "wmt25": "wmt",
    "wmt25-jsonl": "wmt",
    "wmt26": "wmt",
    "wmt26-task1": "wmt",
    "wmt26-task2": "wmt",
    "wmt26-task3": "wmt",
    "wmt-challenge": "wmt",
    "wmt-scores": "wmt",
    "wmt-systems": "wmt",
    "po": "tabular",
    "tmx": "tabular",
    "xlsx": "tabular",
    "parquet": "rows",
}
"""Formats whose module in `formats/` or `store/` has another name."""

_SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "Start": (
        "index",
        "for-students",
        "for-organisers",
        "for-engineers",
        "for-translators",
        "tutorial",
        "settings",
        "why-different",
        "citing",
    ),
    "Judge": (
        "models",
        "forecast",
        "batch",
        "scale-out",
        "notebooks",
        "report",
        "serve",
        "failures",
        "samples",
        "prompts",
        "write-a-judge",
        "search",
        "bridge",
        "rules",
        "localisation",
        "align",
    ),
    "Judges in detail": (
        "judges-himate",
        "judges-m-mad",
        "judges-rate",
        "judges-fire",
        "judges-criteria",
    ),
    "Whom to trust": (
        "results",
        "meta",
        "measures",
        "spans",
        "pairs",
        "significance",
        "coverage",
        "reproduce",
    ),
    "Decide": ("gate", "scorecards", "thresholds"),
    "People": (
        "campaigns",
        "annotate",
        "campaign-analysis",
        "campaign-measures",
        "campaign-recipes",
        "campaign-security",
    ),
    "Benchmarks of your own": ("curate", "formats"),
    "The project": (
        "glossary",
        "rooms",
        "benchmarks",
        "benchmark-tables",
        "releasing",
        "contributing",
        "changelog",
    ),
}
"""Heading to pages of docs/, in order; a page that is in none fails the build."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made, and say where each stands."""
    made = {**dict(_of_project()), **dict(_reference())}
    texts = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md")}
    made["llms.txt"] = _list_of_pages({**texts, **made})
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    config.nav = _nav(set(made) | {file.src_uri for file in files})
    return files


def _nav(known: set[str]) -> list[dict[str, Any]]:
    sections = [
        {name: [f"{page}.md" for page in pages if f"{page}.md" in known]} for name, pages in _SECTIONS.items()
    ]
    decisions = sorted(path for path in known if path.startswith("decisions/"))
    reference = {
        kind: _pages(known, kind) for kind in ("judges", "metrics", "measures", "protocols", "formats")
    }
    named = [{kind.capitalize(): pages} for kind, pages in reference.items()]
    return [
        *sections,
        {"Reference": ["reference/commands.md", "reference/python.md", "reference/kit.md", *named]},
        {"Decisions": decisions},
    ]


def _pages(known: set[str], kind: str) -> list[str]:
    return sorted(path for path in known if path.startswith(f"reference/{kind}/"))


def _list_of_pages(texts: Mapping[str, str]) -> str:
    """The pages by section, for language models (llmstxt.org): title, link, and what the page says first."""
    lines = [f"# adjudge\n\n> {_first_sentence(texts['index.md'])}"]
    for name, pages in _SECTIONS.items():
        lines.append(f"\n## {name}\n")
        for page in pages:
            text = texts[f"{page}.md"]
            title = re.search(r"^# (.+)", text, re.MULTILINE)
            said = _first_sentence(text)
            lines.append(f"- [{title[1] if title else page}]({page}.html)" + (f": {said}" if said else ""))
    lines += [
        "\n## Reference\n",
        "- [Commands](reference/commands.html)",
        "- [Python](reference/python.html)",
    ]
    return "\n".join(lines) + "\n"


def _first_sentence(text: str) -> str:
    """The first sentence of the first paragraph of plain text, links without their targets."""
    parts = (" ".join(part.split()) for part in re.split(r"\n\s*\n", text))
    plain = next((part for part in parts if part and part[0] not in "#<!|-`>["), "")
    said = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", plain)
    return re.split(r"(?<=[.:?]) ", said)[0].rstrip(":")


# Pages of the project's own files...


def _of_project() -> Iterator[tuple[str, str]]:
    yield "index.md", _relinked((ROOT / "README.md").read_text(encoding="utf-8"))
    yield "contributing.md", _relinked((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    yield "changelog.md", _relinked((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    style = (ROOT / "src/adjudge/web/static/adjudge.css").read_text(encoding="utf-8")
    yield "adjudge-colours.css", _colours(style)
    yield "iframe-worker.js", (ROOT / "site/iframe-worker.js").read_text(encoding="utf-8")


def _relinked(text: str) -> str:
    """Links from the project's folder, as links from `docs/`."""
    text = re.sub(r"\]\(docs/decisions\)", "](decisions/001-make-and-a-pinned-uv.md)", text)
    text = text.replace("](docs/", "](").replace("](CONTRIBUTING.md", "](contributing.md")
    text = text.replace("](CHANGELOG.md", "](changelog.md").replace("](README.md", "](index.md")
    return re.sub(r"\[([^\]]+)\]\((LICENSE|(?:src|examples)/[^)]*)\)", r"\1", text)


def _colours(style: str) -> str:
    """The house's accent for the theme, in both schemes.

    The header has white letters in both, so its ground is the darker accent in both.
    """
    light, dark = (re.findall(r"--accent: (#[0-9a-f]{6})", style) + [""] * 2)[:2]
    schemes = {"default": light, "slate": dark}
    return "\n".join(
        f'[data-md-color-scheme="{scheme}"] {{ --md-primary-fg-color: {light}; '
        + " ".join(f"--md-{name}-color: {colour};" for name in ("accent-fg", "typeset-a"))
        + " }"
        for scheme, colour in schemes.items()
    )


# Reference...


def _reference() -> Iterator[tuple[str, str]]:
    for name, place in {**JUDGES, **METRICS}.items():
        kind = "judges" if name in JUDGES else "metrics"
        module, _, attribute = place.partition(":")
        yield f"reference/{kind}/{name}.md", _class_page(name, module, attribute)
    for name, measure in MEASURES.items():
        yield f"reference/measures/{name}.md", _measure_page(name, measure)
    for name in dict.fromkeys((*PROTOCOLS, *NAMES)):
        yield f"reference/protocols/{name}.md", _protocol_page(name)
    for form in FORMATS:
        yield f"reference/formats/{form.name}.md", _format_page(form)
    yield "reference/commands.md", _commands_page()
    yield "reference/python.md", _python_page()
    yield "reference/kit.md", "# adjudge.kit\n\n::: adjudge.kit\n"


def _class_page(name: str, module: str, attribute: str) -> str:
    """What the file says of the method, then the class."""
    made = getattr(importlib.import_module(module), attribute)
    said = inspect.getdoc(importlib.import_module(module)) or ""
    return f"# {name}\n\n{_fields(said)}\n\n::: {made.__module__}.{attribute}\n"


def _fields(said: str) -> str:
    """A docstring's fields under headings of their own, with what differs as a list."""
    title, *fields = re.split(r"^(Paper|Code|Prompt|Differs) +", said, flags=re.MULTILINE)
    parts = [title.strip()]
    for heading, text in zip(fields[::2], fields[1::2], strict=True):
        points = re.split(r"(?:^|\n) *\d+\. ", f"\n{text}")
        told = [" ".join(point.split()) for point in points if point.strip()]
        is_list = heading == "Differs" and len(points) > 1
        shown = "\n".join(f"1. {point}" for point in told) if is_list else " ".join(told)
        parts.append(f"**{heading}**\n\n{shown}" if is_list else f"**{heading}**: {shown}")
    return "\n\n".join(parts)


def _measure_page(name: str, measure: Measure) -> str:
    function = _plain(measure.function)
    low, high = measure.range
    rows = {
        "what it is": measure.title,
        "level": {"sys": "systems", "seg": "segments"}[measure.level],
        "range": f"{low:g} to {high:g}",
        "better": "higher" if measure.higher_is_better else "lower",
        "average": measure.average or "none",
        "source": measure.source,
    }
    table = "\n".join(f"| {key} | {value} |" for key, value in rows.items())
    return f"# {name}\n\n| | |\n| --- | --- |\n{table}\n\n::: {function.__module__}.{function.__qualname__}\n"


def _plain(function: Any) -> Any:  # noqa: ANN401 (functions, and what stands around them)
    """The function that a partial or a wrapper calls in the end."""
    while (inner := getattr(function, "func", None) or getattr(function, "__wrapped__", None)) is not None:
        function = inner
    return function


def _format_page(form: Format) -> str:
    """What a format is, and what its reader or writer says of it."""
    ways = " and ".join(way for way, does in (("read", form.reads), ("written", form.writes)) if does)
    name = _FORMAT_MODULES.get(form.name, form.name.replace("-", "_"))
    room = "store" if name in {"json_lines", "run_directory"} else "formats"
    said = inspect.getdoc(importlib.import_module(f"adjudge.{room}.{name}")) or ""
    return f"# {form.name}\n\n{form.title}.\n\nHolds: {form.holds}; {ways}.\n\n{said}\n"


def _protocol_page(name: str) -> str:
    parts = [f"# {name}\n"]
    if name in PROTOCOLS:
        record = PROTOCOLS[name]
        scale = "none" if record.low is None else f"{record.low:g} to {record.high:g}, higher is better"
        parts.append(
            f"{record.title}.\n\n| | |\n| --- | --- |\n| rating | {scale} |\n"
            f"| marked spans | {'yes' if record.has_spans else 'no'} |\n"
            f"| categories | {'yes' if record.has_categories else 'no'} |\n"
            f"| severities | {', '.join(record.severities) or 'none'} |\n"
        )
    if name in NAMES:
        parts.append(_campaign_part(name))
    return "\n".join(parts)


def _campaign_part(name: str) -> str:
    asked = find_campaign_protocol(name)
    lines = [f"In a campaign: {asked.title}. Shown: {asked.shows}. `adjudge campaign new --protocol {name}`."]
    if asked.scale is not None:
        anchors = "\n".join(f"| {anchor.at:g} | {anchor.means} |" for anchor in asked.scale.anchors)
        lines.append(f"\n| rating | means |\n| ---: | --- |\n{anchors}")
    if asked.criteria:
        lines.append(f"\nCriteria: {', '.join(asked.criteria)}.")
    return "\n".join(lines) + "\n"


def _commands_page() -> str:
    parts = ["# Commands\n", *map(_help, COMMANDS)]
    for group in GROUPS:
        parts.append(f"## adjudge {group}\n\n{GROUPS[group]}\n")
        parts += [_help(group, name) for name in GROUP_COMMANDS[group]]
    return "\n".join(parts)


def _help(*names: str) -> str:
    """Options of a command as it prints them, 80 characters wide."""
    code = "import sys; from adjudge.cli.main import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", code, *names, "--all-options"]
    environment = {"COLUMNS": "88", "NO_COLOR": "1", "PATH": ""}
    said = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout  # noqa: S603
    level = "##" if len(names) == 1 else "###"
    return f"{level} adjudge {' '.join(names)}\n\n```text\n{said.strip()}\n```\n"


def _python_page() -> str:
    lines = ["# Python\n", "`import adjudge` brings these names; each is imported when it is first used.\n"]
    for name in adjudge.__all__:
        value = getattr(adjudge, name)
        home = getattr(value, "__module__", None)
        if home is None or not callable(value) or isinstance(value, type(sys)):
            lines.append(f"## {name}\n\nA module: see the pages beside this one.\n")
        else:
            lines.append(f"::: {home}.{value.__qualname__}\n")
    return "\n".join(lines)
