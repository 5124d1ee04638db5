"""Prompts as files: found, filled in, and fingerprinted.

`load_prompts` finds the files of a judge, `render` fills them in, and the `render_...` functions put what is
judged into messages. `read_examples` reads worked examples, a file of JSON lines beside the prompts. An
`Adapter` reads replies to somebody else's wording, as the file `adapter.toml` beside the prompts says.
`find_form` and `attempts_of` say what a profile decides for every judge.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, Final, Literal, NoReturn, cast

from adjudge.core.ask import About, Message, Quoted, Reply, Role, Sampling
from adjudge.core.frozen import frozen
from adjudge.core.judge import Profile
from adjudge.core.language import canonical_lp, language_name, source_language, target_language
from adjudge.core.segment import INSTRUCTION, Subject
from adjudge.errors import AnswerError, UsageError
from adjudge.judges._reading import Reading
from adjudge.judges._reading import shown as in_short

_TEXTS: Final = ("lp", "source", "reference", "translation")
_KEYS: Final = {*_TEXTS, "errors"}
_ERROR_KEYS: Final = {"span", "category", "severity", "side"}


@frozen
class Example:
    """One worked example: texts, and the errors that a good annotator finds."""

    lp: str  # language pair
    source: str  # text that was translated
    reference: str  # a good translation of it
    translation: str
    # in the shape of an answer: span, category, severity, side, and note where there are notes
    errors: tuple[Mapping[str, str], ...]


@lru_cache(maxsize=64)
def read_examples(text: str, notes: str | None, file: str) -> tuple[Example, ...]:
    """Read examples in file order, with an explanation of each error where there are notes."""
    lines = enumerate(text.splitlines(), start=1)
    found = [_read_example(line, f"{file} line {number}") for number, line in lines if line.strip()]
    if notes is None:
        return tuple(found)
    explained = [line for line in notes.splitlines() if line.strip()]
    beside = file.replace("examples", "notes")
    if len(explained) != len(found):
        raise UsageError(f"{beside} has {len(explained)} lines, {file} {len(found)} examples")
    return tuple(_explained(*pair, beside) for pair in zip(found, explained, strict=True))


def _explained(example: Example, line: str, file: str) -> Example:
    try:
        notes = json.loads(line)
    except ValueError:
        notes = None
    count = len(example.errors)
    if not (isinstance(notes, list) and len(notes) == count and all(isinstance(n, str) for n in notes)):
        wanted = f"a list with the {count} notes of an example"
        raise UsageError(f"a line of {file} must be {wanted}, got {line[:80]!r}")
    errors = ({**error, "note": note} for error, note in zip(example.errors, notes, strict=True))
    return replace(example, errors=tuple(errors))


def _read_example(line: str, where: str) -> Example:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise UsageError(f"{where} must be a JSON object: {error}") from None
    if not isinstance(value, dict) or value.keys() != _KEYS:
        raise UsageError(f"{where} must have {', '.join(sorted(_KEYS))}, got {line[:80]!r}")
    texts, errors = {key: value[key] for key in _TEXTS}, value["errors"]
    if wrong := [key for key, text in texts.items() if not isinstance(text, str)]:
        raise UsageError(f"{where}: {wrong[0]} must be text, got {texts[wrong[0]]!r}")
    if not isinstance(errors, list) or not all(
        isinstance(error, dict)
        and error.keys() == _ERROR_KEYS
        and all(isinstance(text, str) for text in error.values())
        for error in errors
    ):
        raise UsageError(
            f"{where}: errors must be a list of objects with the texts {', '.join(sorted(_ERROR_KEYS))}, "
            f"got {json.dumps(errors, ensure_ascii=False)[:80]}"
        )
    try:
        return Example(**{**texts, "lp": canonical_lp(texts["lp"])}, errors=tuple(errors))
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None


Part = str | Quoted
Parts = tuple[Part, ...]

_SHARED: Final = "shared"
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_EXAMPLES: Final = re.compile(r"(?:examples|notes)_?(?P<kind>.*)\.jsonl")


@frozen
class Prompts:
    """The prompt files that one judge uses.

    Args:
        texts: file name to content.
        exact: files whose words are sent with their blanks, but for the last end of a line.
    """

    texts: Mapping[str, str]
    exact: frozenset[str] = frozenset()

    @cached_property
    def digest(self) -> str:
        """Six hexadecimal digits over names and contents."""
        digest = hashlib.sha256()
        for name, text in sorted(self.texts.items()):
            digest.update(f"{name}\0{text}\0".encode())
        return digest.hexdigest()[:6]

    def message(self, role: Role, name: str, **values: Part | Parts) -> Message:
        """Fill in one file as a message."""
        parts = self.piece(name, **values)
        return _message(role, parts) if _is_ours(parts) else Message(role, parts)

    def piece(self, name: str, **values: Part | Parts) -> Parts:
        """Fill in one file as part of a message.

        Raises:
            UsageError: the file was not loaded, or as `render`.
        """
        file = f"{name}.md"
        if file not in self.texts:
            raise UsageError(f"{file} is not among the files that its judge loads: {', '.join(self.texts)}")
        template = self.texts[file]
        template = _LAST_END.sub("", template) if file in self.exact else template.strip()
        if ADAPTER in self.texts:  # whose wording leaves out what it likes
            asked = Template(template).get_identifiers()
            values = {key: value for key, value in values.items() if key in asked}
        words = {name: value for name, value in values.items() if not isinstance(value, Quoted)}
        if not all(isinstance(value, str) or _is_ours(value) for value in words.values()):
            return render(template, values, where=file)
        quoted = tuple([name for name in values if name not in words])
        parts = _render_words(template, tuple(words.items()), quoted, file)
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
        return found[nearest(lp, [example.lp for example in found])]


class Prompted:
    """A judge whose prompts are files; the base of all judges.

    A judge has a cached property `_files` with what `load_prompts` gives, and a field `prompts` for the
    user's folder.
    """

    @cached_property
    def _files(self) -> Prompts:
        raise UsageError(
            f"{type(self).__name__} has no _files: a cached property with what load_prompts gives"
        )

    @property
    def prompts_digest(self) -> str:
        """Six hexadecimal digits over its prompts."""
        return self._files.digest


def nearest(lp: str, lps: Sequence[str]) -> int:
    """Place of the language pair, else of one into the same language, else of one from it, else the first."""
    tests = (
        lambda known: known == lp,
        lambda known: target_language(known) == target_language(lp),
        lambda known: source_language(known) == source_language(lp),
    )
    return next((place for test in tests for place, known in enumerate(lps) if test(known)), 0)


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
        package: whose `prompts` has the folder; it may have a shared one too, besides that of the judges. A
            judge outside of adjudge gives its own, `__package__`.

    Raises:
        UsageError: no such folder, an empty one, or a file in it that the judge does not have: most likely
            misspelt; a file that is nowhere; or worked examples that are none.
    """
    ours = {**_packaged(_SHARED), **_packaged(_SHARED, package), **_packaged(judge, package)}
    theirs = {} if folder is None else _folder(folder)
    if folder is not None and not theirs:
        raise UsageError(f"{folder} holds no prompts; this judge's files are {', '.join(sorted(ours))}")
    adapted, exact = {}, frozenset[str]()
    if ADAPTER in theirs:  # what is wrong with it is said before anything is asked
        adapter = read_adapter(theirs, str(folder))
        adapted = {ADAPTER: theirs.pop(ADAPTER)} | {f"turns/{n}": theirs.pop(n) for n in adapter.files}
        exact = frozenset(theirs if adapter.is_verbatim else ())
    for name in theirs.keys() - exact:
        theirs[name] = "\n".join(_LINE_END.split(theirs[name]))
    unknown = theirs.keys() - ours.keys()
    if unknown and free is not None:
        unknown = {name for name in unknown if not name.startswith(free)}
    if unknown:
        raise UsageError(
            f"{folder} has {', '.join(sorted(unknown))}; this judge's files are {', '.join(sorted(ours))}"
        )
    names = tuple(names)
    if missing := {*names} - ours.keys() - theirs.keys():
        raise UsageError(f"package {package!r} has no file prompts/{judge}/{min(missing)}")
    texts = {name: theirs[name] if name in theirs else ours[name] for name in names}
    prompts = Prompts(texts={**texts, **adapted}, exact=exact)
    for name in theirs.keys() & prompts.texts.keys():
        if kind := _EXAMPLES.fullmatch(name):
            prompts.examples(kind["kind"])  # what is wrong with them is said before anything is asked
    return prompts


def render(template: str, values: Mapping[str, Part | Parts], where: str) -> Parts:
    """Put values for the `$variables` of a template. What was put in is never looked at again."""
    names, words = _pieces(template, where)
    if values.keys() - _LANGUAGES != set(names) - _LANGUAGES or not set(names) <= values.keys():
        _refuse_values(names, values, where)
    return _filled(words, [values[name] for name in names])


def _filled(words: Sequence[str], values: Sequence[Part | Parts]) -> Parts:
    parts: list[Part] = []
    for before, value in zip(words, values, strict=False):
        parts.append(before)
        parts.extend(value if isinstance(value, tuple) else (value,))
    return joined([*parts, words[-1]])


_LANGUAGES: Final = frozenset({"source_language", "target_language"})
"""Names that words of a user's own may leave out: the texts are named by them, too."""


def _refuse_values(names: Sequence[str], values: Mapping[str, Part | Parts], where: str) -> NoReturn:
    if missing := [name for name in names if name not in values]:
        raise UsageError(f"{where} asks for ${missing[0]}; it can have ${', $'.join(values) or 'nothing'}")
    lacking = values.keys() - set(names) - _LANGUAGES
    raise UsageError(f"{where} must say where ${', $'.join(sorted(lacking))} stands")


@lru_cache(maxsize=256)
def _pieces(template: str, where: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
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
    return isinstance(value, tuple) and all(isinstance(part, str) for part in value)


@lru_cache(maxsize=256)
def _render_words(
    template: str, words: tuple[tuple[str, Part | Parts], ...], quoted: tuple[str, ...], where: str
) -> Parts:
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


def paragraphs(pieces: Iterable[Parts]) -> Parts:
    """Pieces one after the other, with an empty line between them."""
    return joined([part for piece in pieces for part in (*piece, "\n\n")][:-1])


@cache  # a run makes its judge twice: a signature says how it differs from the default
def _packaged(folder: str, package: str = __package__) -> Mapping[str, str]:
    found = files(package).joinpath("prompts", folder)
    there = found.iterdir() if found.is_dir() else ()
    try:
        return {file.name: file.read_text(encoding="utf-8") for file in there if file.is_file()}
    except UnicodeDecodeError as error:
        raise UsageError(f"prompts of package {package!r} in {found} must be UTF-8 files: {error}") from None


def _folder(folder: Path) -> dict[str, str]:
    if not folder.is_dir():
        raise UsageError(f"prompts must be a folder, got {str(folder)!r}")
    found = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    try:
        return {path.name: path.read_bytes().decode() for path in found}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"prompts in {str(folder)!r} must be readable UTF-8 files: {error}") from None


# Adapters


ADAPTER: Final = "adapter.toml"
"""For each kind of answer, where its fields stand in a reply; docs/prompts.md."""
VERBATIM: Final = (
    "the prompts are sent verbatim: no marks tell the judged texts from them, so that a text can give the "
    "model orders; a reply that cannot be read is a failure at once"
)

_NEXT: Final = r"\r?\n=== (?:system|user|assistant) ===(?:\r?\n|\Z)"
_TURN: Final = re.compile(rf"(?:\A|\r?\n)=== (system|user|assistant) ===(?:(?={_NEXT})|\r?\n|\Z)")
_LAST_END: Final = re.compile(r"\r?\n\Z")
_SAMPLING: Final[Mapping[str, Callable[[Any], bool]]] = {
    "temperature": lambda value: isinstance(value, int | float) and 0 <= value <= 2,
    "max_tokens": lambda value: isinstance(value, int) and value > 0,
    "stop": lambda value: isinstance(value, list) and all(isinstance(word, str) and word for word in value),
}
_KINDS: Final = ("text", "number", "truth")
_FIELD: Final = frozenset({"find", "kind", "values", "default"})
_LIST: Final = frozenset({"each", "none", "values", "default"})
_BESIDE: Final = "beside"
_JSON: Final = frozenset({"key", "rename", "values", "default", "entry"})


@frozen
class Adapter:
    """Puts questions in somebody else's wording, and makes of the reply the JSON that a judge reads."""

    # what is wanted (`errors`, `rating`, `verdict`, ...) to the fields of its object; each says with a
    # pattern where its value stands
    rules: Mapping[str, Mapping[str, Mapping[str, Any]]]
    # whether judged texts stand in the words as they are, with no marks around them
    is_verbatim: bool = False
    files: Mapping[str, str] = field(default_factory=dict)  # with turns of a conversation, by name
    # a kind of answer, or `KIND.ROLE`, to the file that is sent in place of the judge's messages
    turns: Mapping[str, str] = field(default_factory=dict)
    # a kind of answer, or nothing for all, to what differs in how its reply is drawn
    sampling: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def knows(self, wants: str) -> bool:
        """Whether it says how such a question is put, or its answer read."""
        return wants in self.rules or any(name.partition(".")[0] == wants for name in self.turns)

    def put(
        self, about: About, messages: Sequence[Message], sampling: Sampling
    ) -> tuple[tuple[Message, ...], Sampling]:
        """What is sent in place of a judge's messages, and how the reply is drawn."""
        changes = {**self.sampling.get("", {}), **self.sampling.get(about.wants, {})}
        drawn = replace(sampling, **changes) if changes else sampling
        if not self.is_verbatim:
            return tuple(messages), drawn
        file = self.turns.get(role_of(about), self.turns.get(about.wants))
        if file is not None:
            shown: dict[str, Part] = {}
            for part in (part for message in messages for part in message.parts if isinstance(part, Quoted)):
                name = part.name.replace("-", "_")
                if shown.setdefault(name, part) != part:
                    raise UsageError(
                        f"turns of somebody else have no place for several texts called {part.name}"
                    )
            messages = _spoken(self.files[file], shown, about.subject.lp, file)
        return tuple(
            replace(m, parts=joined(getattr(p, "text", p) for p in m.parts)) for m in messages
        ), drawn

    def adapt(self, wants: str, reply: Reply) -> Reply:
        """The reply in our form, without the log-probabilities of its tokens; or as it is, without a rule."""
        if wants not in self.rules:
            return reply
        rules = {name: rule for name, rule in self.rules[wants].items() if name != _BESIDE}
        needed = [rule["key"] for rule in rules.values() if "key" in rule and "default" not in rule]
        said: Mapping[str, object] = {}
        if any("key" in rule for rule in rules.values()):
            reading = Reading(reply)
            value = reading.value()
            reading.settle()
            if not isinstance(value, dict) or not value.keys() >= {*needed}:
                raise AnswerError(
                    "schema", f"wanted an object with {', '.join(needed)}, got {in_short(value)}"
                )
            said = value
        found = {
            name: _keyed(name, rule, said) if "key" in rule else _field(name, rule, reply.text)
            for name, rule in rules.items()
        }
        _check_beside(rules.values(), cast(str, self.rules[wants].get(_BESIDE, "")), reply.text)
        return replace(reply, text=json.dumps(found, ensure_ascii=False), logprobs=())


def role_of(about: About) -> str:
    """How an adapter names the questions of one role, or of a stage where there are no roles: `KIND.ROLE`."""
    return f"{about.wants}.{about.role or about.stage.rpartition(': ')[2]}"


def _spoken(template: str, shown: Mapping[str, Part], lp: str, file: str) -> tuple[Message, ...]:
    said = _TURN.split(_LAST_END.sub("", template))
    values = {**language_names(lp), **shown}
    turns = [
        (cast(Role, role), *_pieces(words, file)) for role, words in zip(said[1::2], said[2::2], strict=True)
    ]
    asked = [name for _, names, _ in turns for name in names]
    if set(asked) - values.keys() or shown.keys() - set(asked):
        _refuse_values(asked, values, file)
    return tuple(
        Message(role, _filled(words, [values[name] for name in names])) for role, names, words in turns
    )


def find_adapter(folder: Path) -> Adapter | None:
    """The adapter of a folder of prompts; None where there is none."""
    return read_adapter(_folder(folder), str(folder)) if (folder / ADAPTER).is_file() else None


def read_adapter(files: Mapping[str, str], where: str) -> Adapter:
    where = f"{where}/{ADAPTER}"
    try:
        rules = tomllib.loads(files[ADAPTER])
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{where} is no TOML: {error}") from None
    is_verbatim, turns, sampling = (rules.pop(name, kind()) for name, kind in _ABOUT.items())
    for wants, fields in rules.items():
        if not isinstance(fields, dict) or not fields:
            raise UsageError(f"{where}: [{wants}] must name the fields of an answer")
        for name, rule in fields.items():
            _check_rule(f"{where}: {wants}.{name}", {"find": rule} if name == _BESIDE else rule)
    if not isinstance(is_verbatim, bool) or (turns and not is_verbatim):
        raise UsageError(f"{where}: [turns] are sent as they are, which `verbatim = true` must allow")
    if not isinstance(turns, dict):
        raise UsageError(f"{where}: [turns] must be a table")
    for turn, file in turns.items():
        if not isinstance(file, str) or not _TURN.match(files.get(file, "")):
            raise UsageError(
                f"{where}: [turns] {turn} must name a file of the folder that begins with a line "
                f"=== system ===, === user === or === assistant ===, got {file!r}"
            )
    return Adapter(
        rules=rules,
        is_verbatim=is_verbatim,
        files={file: files[file] for file in turns.values()},
        turns=turns,
        sampling=_read_sampling(f"{where}: [sampling]", sampling),
    )


_ABOUT: Final = {"verbatim": bool, "turns": dict, "sampling": dict}
"""Tables of an adapter that are no kinds of answers, and what they are where they are missing."""


def _read_sampling(what: str, table: object) -> Mapping[str, Mapping[str, Any]]:
    if not isinstance(table, dict):
        raise UsageError(f"{what} must be a table")
    general = {name: value for name, value in table.items() if not isinstance(value, dict)}
    found = {"": general} | {name: value for name, value in table.items() if isinstance(value, dict)}
    for name, value in (item for changes in found.values() for item in changes.items()):
        if name not in _SAMPLING or not _SAMPLING[name](value):
            raise UsageError(
                f"{what} {name} = {value!r}; there are temperature, from 0 to 2, max_tokens, and stop, a list"
            )
    return {
        name: {key: tuple(value) if key == "stop" else value for key, value in changes.items()}
        for name, changes in found.items()
    }


def _check_rule(what: str, rule: object) -> None:
    if not isinstance(rule, dict) or len({"find", "each", "key"} & rule.keys()) != 1:
        raise UsageError(f"{what} needs `find`, `each` for a list, or `key` for a reply in JSON")
    if unknown := rule.keys() - (_LIST if "each" in rule else _JSON if "key" in rule else _FIELD):
        raise UsageError(f"{what} has {', '.join(sorted(unknown))}, which means nothing here")
    if rule.get("kind", "text") not in _KINDS:
        raise UsageError(f"{what}: kind must be {', '.join(_KINDS)}, got {rule['kind']!r}")
    for key in ("find", "each", "none"):
        try:
            re.compile(rule.get(key, ""))
        except (re.error, TypeError) as error:
            raise UsageError(f"{what}: {key} is no pattern: {error}") from None
    if "each" in rule and not re.compile(rule["each"]).groupindex:
        raise UsageError(f"{what}: `each` must name its groups, such as (?P<span>...)")


def _check_beside(rules: Iterable[Mapping[str, Any]], beside: str, text: str) -> None:
    patterns = [rule[key] for rule in rules for key in ("find", "each", "none") if key in rule]
    if not patterns:
        return
    for pattern in patterns:
        text = re.sub(pattern, " ", text)
    left = re.sub(beside, " ", text) if beside else text
    if any(char.isalnum() for char in left):
        raise AnswerError("words", f"words stand beside what the adapter finds: {in_short(left.strip())}")


def _keyed(name: str, rule: Mapping[str, Any], said: Mapping[str, object]) -> object:
    if rule["key"] not in said:
        return rule["default"]
    value = said[rule["key"]]
    if isinstance(value, str) and "values" in rule:
        return _value(name, rule, value)
    return [_entry(rule, item) for item in value] if isinstance(value, list) else _entry(rule, value)


def _entry(rule: Mapping[str, Any], value: object) -> object:
    if not isinstance(value, dict):
        return value
    names, known = rule.get("rename", {}), rule.get("values", {})
    entry = rule.get("entry", {}) | {names.get(key, key): said for key, said in value.items()}
    return {
        name: known.get(name, {}).get(said, said) if isinstance(said, str) else said
        for name, said in entry.items()
    }


def _field(name: str, rule: Mapping[str, Any], text: str) -> object:
    if "each" in rule:
        entries = [
            {
                **rule.get("default", {}),
                **{key: said.strip() for key, said in match.groupdict().items() if said},
            }
            for match in re.finditer(rule["each"], text)
        ]
        is_none = "none" in rule and re.search(rule["none"], text) is not None
        if entries and is_none:
            raise AnswerError("ambiguous", f"{name} are listed, and said to be none")
        if not entries and not is_none:
            raise AnswerError("parse", f"no {name} where the adapter looks for them, nor that there are none")
        known = {str(key).casefold(): value for key, value in rule.get("values", {}).items()}
        return [{key: known.get(said.casefold(), said) for key, said in entry.items()} for entry in entries]
    found = {match[1] if match.re.groups else match[0] for match in re.finditer(rule["find"], text)}
    values = [_value(name, rule, said.strip()) for said in sorted(found)]
    if not values:
        if "default" in rule:
            return rule["default"]
        raise AnswerError("parse", f"no {name} where the adapter looks for it")
    if any(value != values[0] for value in values[1:]):
        raise AnswerError("ambiguous", f"{name} stands there with several values: {values!r}")
    return values[0]


def _value(name: str, rule: Mapping[str, Any], said: str) -> object:
    known = {str(key).casefold(): value for key, value in rule.get("values", {}).items()}
    if known:
        if said.casefold() not in known:
            raise AnswerError("label", f"{name} is {said[:60]!r}, which the adapter does not know")
        return known[said.casefold()]
    kind = rule.get("kind", "text")
    if kind == "text":
        return said
    try:
        number = json.loads(said.lower())
    except ValueError:
        number = None
    if kind == "truth" and isinstance(number, bool):
        return number
    if kind == "number" and isinstance(number, int | float) and not isinstance(number, bool):
        return number
    raise AnswerError("range", f"{name} must be a {kind}, got {said[:60]!r}")


# Messages


TEXT_FILES: Final = (
    *("markers.md", "instruction.md", "context.md", "context_segment.md", "terms.md", "term.md"),
)
"""Files that every judge uses, besides `texts.md` or `texts_with_reference.md`."""

_PAIR_NAMES: Final = {"source": "source", "first": "translation-a", "second": "translation-b"}


def judged_texts(subject: Subject) -> tuple[str, ...]:
    """Everything a model is shown that it did not get from us."""
    context = [text for s in subject.context for text in (s.source, *s.translations.values())]
    terms = [text for t in subject.terms for text in (t.source, t.translation)]
    translations = [subject.segment.translations[name] for name in subject.systems]
    return (subject.source, *translations, subject.reference or "", *context, *terms)


def render_texts(prompts: Prompts, subject: Subject, *, with_reference: bool = False) -> Parts:
    """Context and glossary, where there are any, then the texts themselves.

    Raises:
        AnswerError: a reference is to be shown and there is none.
    """
    texts = {"source": subject.source, "translation": subject.translation}
    if with_reference:
        if subject.reference is None:
            raise AnswerError("missing", "with_reference needs a reference, and this segment has none")
        texts["reference"] = subject.reference
    quoted = {name: Quoted(name, text) for name, text in texts.items()}
    return render_around(prompts, subject, _fill(prompts, subject.lp, quoted))


def render_pair(prompts: Prompts, subject: Subject) -> Parts:
    """Context and glossary, where there are any, then the source and its two translations."""
    first, second = (subject.segment.translations[name] for name in subject.systems)
    texts = {"source": subject.source, "first": first, "second": second}
    quoted = {key: Quoted(_PAIR_NAMES[key], text) for key, text in texts.items()}
    return render_around(prompts, subject, prompts.piece("pair", **language_names(subject.lp), **quoted))


def render_around(prompts: Prompts, subject: Subject, shown: Parts) -> Parts:
    """Put instruction, context and glossary, where there are any, before what is judged.

    Every question that judges shows them. An agent without the glossary would take back what another agent
    found by it.
    """
    told = subject.segment.meta.get(INSTRUCTION)
    instruction: Parts = ()
    if isinstance(told, str) and told.strip():
        instruction = (*prompts.piece("instruction", instruction=Quoted("instruction", told)), "\n\n")
    if not subject.context and not subject.terms and not instruction:
        return shown
    context = _render_context(prompts, subject)
    return joined((*instruction, *context, *render_terms(prompts, subject), *shown))


@lru_cache(maxsize=256)
def language_names(lp: str) -> Mapping[str, str]:
    """What both languages are called, as prompts name them."""
    return {
        "source_language": language_name(source_language(lp)),
        "target_language": language_name(target_language(lp)),
    }


def render_example(
    prompts: Prompts, example: Example, answer: str, *, with_reference: bool = False
) -> tuple[Message, Message]:
    """One worked example as a question and its answer."""
    texts = {"source": example.source, "translation": example.translation}
    if with_reference:
        texts["reference"] = example.reference
    # In the look of a quoted text, but the same in every call: a prefix cache then holds the examples.
    marked = {name: Quoted(name, text).render("example") for name, text in texts.items()}
    return Message("user", _fill(prompts, example.lp, marked)), Message("assistant", (answer,))


def _fill(prompts: Prompts, lp: str, texts: Mapping[str, Part]) -> Parts:
    return prompts.piece(
        "texts_with_reference" if "reference" in texts else "texts",
        **language_names(lp),
        **texts,
    )


def _render_context(prompts: Prompts, subject: Subject) -> Parts:
    if not subject.context:
        return ()
    is_pair = len(subject.systems) > 1
    file, names = ("context_pair", ("first", "second")) if is_pair else ("context_segment", ("translation",))
    segments: list[Part] = []
    for segment in subject.context:
        texts = (segment.translations.get(system) for system in subject.systems)
        shown = ("(none)" if text is None else Quoted("context-translation", text) for text in texts)
        values = dict(zip(names, shown, strict=True))
        segments += [*prompts.piece(file, source=Quoted("context-source", segment.source), **values), "\n\n"]
    return (*prompts.piece("context", segments=tuple(segments[:-1])), "\n\n")


def render_terms(prompts: Prompts, subject: Subject) -> Parts:
    if not subject.terms:
        return ()
    terms: list[Part] = []
    for term in subject.terms:
        source, translation = Quoted("term", term.source), Quoted("term-translation", term.translation)
        terms += [*prompts.piece("term", source=source, translation=translation), "\n\n"]
    return (*prompts.piece("terms", terms=tuple(terms[:-1])), "\n\n")


Form = Literal["json", "headings"]


def find_form(profile: Profile) -> Form:
    """JSON is ours; the papers and their code have headings.

    Raises:
        UsageError: no such profile.
    """
    forms: dict[str, Form] = {"recommended": "json", "paper": "headings", "code": "headings"}
    if profile not in forms:
        raise UsageError(f"no profile {profile!r}; there are {', '.join(forms)}")
    return forms[profile]


def attempts_of(profile: Profile) -> int:
    """How often an unreadable answer is asked for, of methods whose papers ask once."""
    return 1 if profile == "paper" else 2
