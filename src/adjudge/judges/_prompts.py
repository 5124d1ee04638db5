"""Prompts as files: found, filled in, and fingerprinted. Knows nothing of what they ask."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Final, NoReturn

from adjudge.core.ask import Message, Quoted, Role
from adjudge.core.language import source_language, target_language
from adjudge.errors import UsageError
from adjudge.judges._examples import Example, read_examples

__all__ = ["Part", "Parts", "Prompts", "find_prompts", "joined", "load_prompts", "render"]

Part = str | Quoted
Parts = tuple[Part, ...]

_SHARED: Final = "shared"
_EXAMPLES: Final = re.compile(r"(?:examples|notes)_?(?P<kind>.*)\.jsonl")


@dataclass(frozen=True, kw_only=True)
class Prompts:
    """The prompt files that one judge uses.

    Args:
        texts: file name to content.
    """

    texts: Mapping[str, str]

    @property
    def digest(self) -> str:
        """Six hexadecimal digits over names and contents."""
        digest = hashlib.sha256()
        for name in sorted(self.texts):
            digest.update(f"{name}\0{self.texts[name]}\0".encode())
        return digest.hexdigest()[:6]

    def message(self, role: Role, name: str, **values: Part | Parts) -> Message:
        """Fill in one file as a message."""
        parts = self.piece(name, **values)
        return _message(role, parts) if _is_ours(parts) else Message(role, parts)

    def piece(self, name: str, **values: Part | Parts) -> Parts:
        """Fill in one file as part of a message."""
        file = f"{name}.md"
        words = {name: value for name, value in values.items() if not isinstance(value, Quoted)}
        if not all(isinstance(value, str) or _is_ours(value) for value in words.values()):
            return render(self.texts[file], values, where=file)
        quoted = tuple([name for name in values if name not in words])
        parts = _render_words(self.texts[file], tuple(words.items()), quoted, file)
        return tuple([values[p.name] if isinstance(p, Quoted) else p for p in parts]) if quoted else parts  # type: ignore[misc]

    def examples(self, kind: str = "") -> tuple[Example, ...]:
        """Worked examples in file order: of `examples.jsonl`, or of `examples_KIND.jsonl`."""
        file, notes = (f"{name}_{kind}.jsonl" if kind else f"{name}.jsonl" for name in ("examples", "notes"))
        return read_examples(self.texts[file], self.texts.get(notes), file)

    def nearest_example(self, lp: str) -> Example:
        """The example of the lp, else one into the same language, else from it, else the first.

        Raises:
            UsageError: there is none.
        """
        found = self.examples()
        if not found:
            raise UsageError("examples.jsonl has no example, and this judge shows its model one")
        tests = (
            lambda e: e.lp == lp,
            lambda e: target_language(e.lp) == target_language(lp),
            lambda e: source_language(e.lp) == source_language(lp),
        )
        return next((example for test in tests for example in found if test(example)), found[0])


def find_prompts(judge: str, start: str, folder: Path | None) -> tuple[str, ...]:
    """Names of the files that start so, in order: the user's where there are any, else ours."""
    ours = _packaged(judge)
    theirs = {} if folder is None else _folder(folder)
    found = [sorted(name for name in names if name.startswith(start)) for names in (theirs, ours)]
    return tuple(found[0] or found[1])


def load_prompts(
    judge: str,
    names: Iterable[str],
    folder: Path | None,
    *,
    free: str | None = None,
    package: str = __package__,
) -> Prompts:
    """Load the files that a judge uses, from its own folder, from the shared one, or from the user's.

    Args:
        judge: name of its prompt folder.
        names: files it uses under its settings.
        folder: the user's; a file in it stands in for ours of that name.
        free: how names start that the user may invent, see `find_prompts`.
        package: whose `prompts` has the folder; it may have a shared one too, besides that of the judges.

    Raises:
        UsageError: no such folder, an empty one, or a file in it that the judge does not have: most likely
            misspelt; or worked examples that are none.
    """
    ours = {**_packaged(_SHARED), **_packaged(_SHARED, package), **_packaged(judge, package)}
    theirs = {} if folder is None else _folder(folder)
    if folder is not None and not theirs:
        raise UsageError(f"{folder} holds no prompts; this judge's files are {', '.join(sorted(ours))}")
    known = {name for name in theirs if name in ours or (free is not None and name.startswith(free))}
    if unknown := sorted(theirs.keys() - known):
        raise UsageError(
            f"{folder} has {', '.join(unknown)}; this judge's files are {', '.join(sorted(ours))}"
        )
    prompts = Prompts(texts={name: theirs[name] if name in theirs else ours[name] for name in names})
    for name in theirs.keys() & prompts.texts.keys():
        if kind := _EXAMPLES.fullmatch(name):
            prompts.examples(kind["kind"])  # what is wrong with them is said before anything is asked
    return prompts


def render(template: str, values: Mapping[str, Part | Parts], where: str) -> Parts:
    """Put values for the `$variables` of a template. What was put in is never looked at again.

    Args:
        template: as `string.Template` has it: `$name`, `${name}`, and `$$` for a dollar.
        values: for every variable, and for no other.
        where: name of the file, for errors.

    Raises:
        UsageError: a variable without a value, a value without a variable, or a stray dollar.
    """
    parts: list[Part] = []
    names, words = _pieces(template, where)
    if values.keys() != set(names):
        _refuse_values(names, values, where)
    for before, name in zip(words, names, strict=False):
        value = values[name]
        parts.append(before)
        parts.extend(value if isinstance(value, tuple) else (value,))
    return joined([*parts, words[-1]])


def _refuse_values(names: Sequence[str], values: Mapping[str, Part | Parts], where: str) -> NoReturn:
    """Say which variable has no value, or which value no variable.

    Raises:
        UsageError: always.
    """
    if missing := [name for name in names if name not in values]:
        raise UsageError(f"{where} asks for ${missing[0]}; it can have ${', $'.join(values) or 'nothing'}")
    raise UsageError(f"{where} must say where ${', $'.join(sorted(values.keys() - set(names)))} stands")


@lru_cache(maxsize=256)
def _pieces(template: str, where: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Variables of a template, and the words before, between and after them: one more."""
    template = template.strip()
    names: list[str] = []
    words = [""]
    position = 0
    for match in Template.pattern.finditer(template):
        words[-1] += template[position : match.start()]
        position = match.end()
        if match["escaped"]:
            words[-1] += "$"
        elif name := match["named"] or match["braced"]:
            names.append(name)
            words.append("")
        else:
            raise UsageError(
                f"{where}: a stray $ after {template[: match.start()][-30:]!r}; write $$ for a dollar"
            )
    words[-1] += template[position:]
    return tuple(names), tuple(words)


def _is_ours(value: Quoted | Parts) -> bool:
    """Whether this is all our own words."""
    return isinstance(value, tuple) and all(isinstance(part, str) for part in value)


@lru_cache(maxsize=256)
def _render_words(
    template: str, words: tuple[tuple[str, Part | Parts], ...], quoted: tuple[str, ...], where: str
) -> Parts:
    """What holds no judged text is the same for every unit of work.

    In place of each judged text stands an empty one that is called as its variable.
    """
    return render(template, dict(words) | {name: Quoted(name, "") for name in quoted}, where)


@lru_cache(maxsize=64)
def _message(role: Role, parts: Parts) -> Message:
    """The same message for the same words: what is computed of it is then found again."""
    return Message(role, parts)


def joined(parts: Iterable[Part]) -> Parts:
    """Neighbouring words become one part, so that a message has one form only."""
    merged: list[Part] = []
    words = ""
    for part in parts:
        if isinstance(part, str):
            words += part
            continue
        if words:
            merged.append(words)
            words = ""
        merged.append(part)
    return (*merged, words) if words else tuple(merged)


def _packaged(folder: str, package: str = __package__) -> dict[str, str]:
    found = files(package).joinpath("prompts", folder)
    return {file.name: file.read_text(encoding="utf-8") for file in found.iterdir() if file.is_file()}


def _folder(folder: Path) -> dict[str, str]:
    if not folder.is_dir():
        raise UsageError(f"prompts must be a folder, got {str(folder)!r}")
    found = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    try:
        return {path.name: path.read_text(encoding="utf-8") for path in found}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"prompts in {str(folder)!r} must be readable UTF-8 files: {error}") from None
