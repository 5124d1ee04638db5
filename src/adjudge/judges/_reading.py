"""The grammar of replies: one value in a closed decoration, and nothing else is an answer.

    reply := mark* thinking? decoration VALUE decoration mark*

A mark is one of a chat template, thinking one closed block before everything, decoration a fence, an answer
tag, bold, a heading, or the words of a closed list of lead-ins. VALUE is the only bracketed value of the
reply, read by one tolerant parser, which mends punctuation and never invents a bracket or a word; where a
judge asks for plain text, it is all that is left.

Prose is never evidence. No list of words says what a sentence means: any word beside the value, or in a field
that nobody asked for, makes the reply one that needs a further question (`core.ask.WordsBesideError`). Prose
that was asked for, such as an analysis, stays as it is.

In profiles paper and code a reply that the grammar does not read is read again by the rule of the authors'
code, where that code is public (`or_authors`). An answer that the rule finds counts (`authors_reader`).
Where the rule finds nothing, or takes nothing for "no errors", the failure of the grammar stands. A rule sees
the reply without thinking and marks; a reply that is cut, blocked or empty never reaches it. A rule without a
value raises ValueError.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Final, TypeVar

from adjudge.core.ask import CLEAN, UNSETTLED, Reply, WordsBesideError
from adjudge.core.frozen import frozen
from adjudge.core.protocol import find_category, is_number
from adjudge.errors import AnswerError, FailureReason

_RESULT: Final = re.compile(r'.*"result"\s*:[\s"]*(?P<value>.*)', re.DOTALL)

AUTHORS: Final = "authors_reader"
"""Flag of an answer that the rule of the authors' code found; see `or_authors`."""

T = TypeVar("T")
Name = TypeVar("Name", bound=str)


async def or_error(asked: Awaitable[T]) -> T | AnswerError:
    """What was asked for, or why there is none."""
    try:
        return await asked
    except AnswerError as error:
        return error


def object_schema(**fields: object) -> Mapping[str, object]:
    """JSON schema of an object with exactly these fields."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def shares(reply: Reply, results: Sequence[str]) -> dict[str, float]:
    """How probable each result is among those that may be given.

    Log-probabilities may be from before a grammar, which then forbids much of what was likely. So they are
    compared at the first token that tells the results apart: each alternative counts for the result that it
    would begin, and a result that none begins has 0.

    The shares, which sum to 1; none where that token cannot be found, or no alternative to it begins a
    result: a token that the grammar forced would have all of the probability.
    """
    spelled = "".join(token.token for token in reply.logprobs)
    found = _RESULT.fullmatch(spelled)
    if found is None:
        return {}
    after = ""
    for token in reply.logprobs:
        before, after = after, after + token.token
        if len(after) <= found.start("value") or not _begun(after, results):
            continue
        options = dict(token.alternatives)
        if not any(_begun(before + other, results) for other in options):
            return {}
        options.setdefault(token.token, token.logprob)
        told = [(_begun(before + other, results), logprob) for other, logprob in options.items()]
        likeliest = max((logprob for result, logprob in told if result), default=0.0)
        weights = {
            one: math.fsum(math.exp(logprob - likeliest) for result, logprob in told if result == one)
            for one in results
        }
        total = math.fsum(weights.values())
        return {one: weight / total for one, weight in weights.items()} if total else {}
    return {}


def _begun(spelled: str, results: Sequence[str]) -> str:
    found = _RESULT.fullmatch(spelled)
    value = found["value"].partition('"')[0].strip() if found else ""
    fitting = [result for result in results if value and result.startswith(value)]
    return fitting[0] if len(fitting) == 1 else ""


def shown(value: object) -> str:
    """The beginning of a value, printable, for an error message."""
    text = value if isinstance(value, str) else repr(value)
    return repr(text[:80]) + ("" if len(text) <= 80 else "...")


def check_characters(text: str) -> None:
    if _BROKEN.search(text):
        raise AnswerError("encoding", f"NUL or half a character in {shown(text)}")


# The value


_BROKEN: Final = re.compile("[\0\ud800-\udfff]")
_DEEPEST: Final = 64
_QUOTES: Final = {
    opening: re.compile(rf"\\.|[{closing}]", re.DOTALL)
    for opening, closing in (
        *(
            ('"', '"'),
            ("'", "'"),
            ("“", '”"'),
            ("„", '“”"'),
            ("”", "”"),
            ("«", "»"),
            ("‘", "’"),
            ("「", "」"),
        ),
        ("`", "`'"),
    )
}
"""What a text may open with, and what then closes it, or is an escape."""
_BESIDE: Final = re.compile(r"\s+|(?P<comment>//[^\n]*|/\*.*?\*/|#[^\n]*)", re.DOTALL)
_BARE_QUOTE: Final = re.compile(r'(?<!\\)(?:\\\\)*"')
_KEY: Final = re.compile(r"[^\W\d]\w*")
_KEY_ENDS: Final = re.compile(r"\s*:")
_TEXT_ENDS: Final = re.compile(r"\s*(?:[,}\]]|\Z|//|/\*|#|[\"'“„][^\W\d]\w*[\"'“”]\s*:)")
_SCALAR: Final = re.compile(
    r"(?:(?P<name>true|false|null)|(?P<python>True|False|None)"
    r"|(?P<number>-?(?:0|[1-9]\d*)(?:\.\d*)?(?:[eE][+-]?\d+| ?%| ?/ ?\d+)?))(?![\w.%/+-])",
    re.ASCII,
)
_NAMES: Final = {"true": True, "false": False, "null": None, "none": None}
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


class _Parser:
    """Reads one bracketed value: JSON and what models make of it.

    That is missing and trailing commas, any quotation marks, quotation marks in texts where no delimiter
    follows, unquoted keys, comments, Python's names and wrong escapes.
    """

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.at = start
        self.comments: list[str] = []
        self.is_mended = self.is_respelled = False

    def value(self, depth: int = 0) -> object:
        char = self._next()
        if depth > _DEEPEST:
            raise AnswerError("parse", f"brackets are nested deeper than {_DEEPEST}")
        if char == "{":
            return self._object(depth)
        if char == "[":
            self.at, found = self.at + 1, list[object]()
            while not self._ends("]", found):
                found.append(self.value(depth + 1))
            return found
        if char in _QUOTES:
            return self._quoted(_TEXT_ENDS)
        match = _SCALAR.match(self.text, self.at)
        if match is None:
            raise self._error()
        self.at = match.end()
        if digits := match["number"]:
            return _number(digits)
        self.is_mended |= match["python"] is not None
        return _NAMES[match[0].lower()]

    def _object(self, depth: int) -> dict[str, object]:
        self.at, found = self.at + 1, dict[str, object]()
        while not self._ends("}", found):
            if self._next() in _QUOTES:
                key = self._quoted(_KEY_ENDS)
            elif bare := _KEY.match(self.text, self.at):
                key, self.at, self.is_mended = bare[0], bare.end(), True
            else:
                raise self._error()
            if self._next() != ":":
                raise self._error()
            self.at += 1
            item = self.value(depth + 1)
            if repr(found.setdefault(key, item)) != repr(item):
                raise AnswerError("ambiguous", f"key {shown(key)} stands twice, with different values")
        return found

    def _ends(self, closing: str, found: Collection[object]) -> bool:
        has_comma = bool(found) and self._next() == ","
        self.at += has_comma
        is_end = self._next() == closing
        self.at += is_end
        self.is_mended |= has_comma == is_end and bool(found)
        return is_end

    def _quoted(self, ends: re.Pattern[str]) -> str:
        opening, start = self.text[self.at], self.at + 1
        for match in _QUOTES[opening].finditer(self.text, start):
            if len(match[0]) == 1 and ends.match(self.text, match.end()):
                raw, self.at = self.text[start : match.start()], match.end()
                break
        else:
            raise AnswerError("truncated", f"a text that does not end: {shown(self.text[self.at :])}")
        self.is_mended |= opening != '"' or ('"' in raw and _BARE_QUOTE.search(raw) is not None)
        self.is_respelled |= "\n" in raw or "\t" in raw or "\r" in raw
        if "\\" not in raw:
            return raw
        if ends is _KEY_ENDS:
            raise AnswerError("schema", f"key {shown(raw)} is spelled by escapes")
        encoded = _ESCAPE.sub(self._unescaped, raw).encode("utf-16", "surrogatepass")
        text = encoded.decode("utf-16", "surrogatepass")
        check_characters(text)
        return text

    def _unescaped(self, escape: re.Match[str]) -> str:
        if escape[1]:
            return chr(int(escape[1], 16))
        char = escape[2]
        self.is_mended |= char not in '"\\/bfnrt'
        return _ESCAPES.get(char, escape[0] if char.isalnum() else char)

    def _next(self) -> str:
        char = self.text[self.at : self.at + 1]
        if char.isspace() or char in {"/", "#"}:
            while match := _BESIDE.match(self.text, self.at):
                self.comments += filter(None, [match["comment"]])
                self.at = match.end()
            char = self.text[self.at : self.at + 1]
        if not char:
            raise AnswerError("truncated", f"JSON that does not end: {shown(self.text[-80:])}")
        return char

    def _error(self) -> AnswerError:
        return AnswerError("parse", f"broken JSON at {shown(self.text[self.at :])}")


def _number(spelled: str) -> int | float | str:
    if not spelled.replace(".", "").lstrip("-").isdigit() or spelled == "-0":
        return spelled
    number = float(spelled)
    if "." not in spelled:
        return int(spelled) if len(spelled) < 20 else spelled
    return spelled if number.is_integer() and spelled.rpartition(".")[2].strip("0") else number


# Around the value


_BLANK: Final = "".join(
    map(
        chr,
        [*range(9, 14), 32, 160, 173, *range(0x200B, 0x2010), *range(0x2028, 0x202F), 0x2060, 0x3000, 0xFEFF],
    )
)
_ENDINGS: Final = (
    *("<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<|endoftext|>", "<|end_of_text|>", "<|return|>"),
    *("<end_of_turn>", "</s>", "<eos>", "<|END_OF_TURN_TOKEN|>", "<｜end▁of▁sentence｜>", "[/s]"),
)
_BEGINNING: Final = re.compile(
    r"(?:<s>|<bos>|<\|begin_of_text\|>)?\s*"
    r"(?:<\|im_start\|>\s*assistant\b|<\|start_header_id\|>\s*assistant\s*<\|end_header_id\|>"
    r"|<start_of_turn>\s*model\b|<\|assistant\|>|\[/INST\]|<s>|(?:<\|start\|>assistant)?<\|channel\|>final\s*"
    r"(?:<\|constrain\|>\s*json\s*)?<\|message\|>)\s*"
)
_THOUGHT: Final = r"(?:[a-z]+:)?(?:think|thinking|thoughts?|reasoning|reflection|scratchpad|analysis)"
_OPENED: Final = re.compile(
    rf"<{_THOUGHT}(?:\s[^<>]*)?>|[◁\[]think[▷\]]|(?P<harmony><\|channel\|>analysis<\|message\|>)",
    re.IGNORECASE,
)
_CLOSED: Final = re.compile(rf"</{_THOUGHT}>|[◁\[]/think[▷\]]", re.IGNORECASE)
_HARMONY_CLOSED: Final = re.compile(r"<\|end\|>")
_BRACKET: Final = re.compile(r"[{}\[\]]")
_WRAPPED: Final = re.compile(r"\$*\\boxed\{(.*)\}\$*|\A([*_])([^*_\n]+)\2\Z", re.DOTALL)
_DECORATION: Final = re.compile(
    r"(?:`{3,}|~{3,})(?:json5?|jsonc|text|txt|plaintext|markdown|md)?|`|</?(?:answer|final|final[_-]answer|boxed)>"
    r"|\*\*|__|\A#{1,6}(?= )",
    re.IGNORECASE,
)
_EDGE: Final = re.compile(rf"\A(?:{_DECORATION.pattern})|(?:{_DECORATION.pattern})\Z", re.IGNORECASE)
_THING: Final = (
    r"(?:(?:the|my|your|a|an|final|overall|requested|valid|resulting) )*(?:json|answer|output|results?"
    r"|response|evaluation|assessment|analysis|verdict|judge?ment|rating|score|comparison)(?: object)?"
)
_LEAD_INS: Final = (
    rf"(?:here(?:'s| is| are) )?{_THING}(?: (?:in json|as requested))?(?: is)?",
    rf"(?:here(?:'s| is| are) )?{_THING} for (?:the|this) (?:translation|segment|text)",
    r"here (?:it is|you go|you are)|so|thus|therefore",
    r"hier ist (?:das|die|mein|meine) (?:json(?:-objekt)?|antwort|ergebnis|ausgabe|bewertung)",
    r"(?:meine |die )?(?:endgültige )?antwort|ergebnis|bewertung|ausgabe|urteil",
    r"hier is (?:de|het|mijn) (?:json|antwoord|resultaat|beoordeling)|antwoord|resultaat|beoordeling",
    r"här är (?:svaret|json|resultatet)|svar|resultat|bedömning|her er (?:svaret|json|resultatet)|vurdering",
    r"voici (?:le|la|les|ma|mon) (?:json|objet json|réponse|résultat|évaluation)",
    r"(?:ma |la )?réponse(?: finale)?|résultat|évaluation|note|risposta(?: finale)?|risultato|valutazione",
    r"ecco (?:il|la|gli) (?:json|risposta|risultato|valutazione)",
    r"aqu[ií] (?:est[áa]|tienes|tiene) (?:el|la) (?:json|respuesta|resultado|evaluación)",
    r"aqui está (?:o|a) (?:json|resposta|resultado|avaliação)",
    r"(?:la )?respuesta(?: final)?|resultado|evaluación|resposta(?: final)?|avaliação|răspuns|rezultat",
    r"zde je (?:json|odpověď|výsledek|hodnocení)|odpověď|výsledek|hodnocení|odpoveď|výsledok|hodnotenie",
    r"oto (?:json|odpowiedź|wynik|ocena)|odpowiedź|wynik|ocena",
    r"вот (?:json|ответ|результат|оценка)|ответ|результат|оценка|відповідь|оцінка",
    r"işte (?:json|cevap|yanıt|sonuç)|cevap|yanıt|sonuç|válasz|eredmény|vastaus|tulos",
    r"الإجابة|الجواب|النتيجة|תשובה|תוצאה|उत्तर|परिणाम",
    r"(?:以下是|这是|這是)?(?:json|答案|结果|結果|评估结果|評估結果|评分|評分|回答)(?:如下)?",
    r"(?:以下は)?(?:json|回答|結果|評価|評価結果)(?:です)?|답변|결과|평가|답",
)
_LIST_LEAD_INS: Final = (
    r"(?:here(?:'s| is| are) )?(?:(?:the|my|your|a|final|requested) )*(?:list of )?(?:errors|list)",
    r"annotations?|(?:here are )?(?:the )?errors (?:found|(?:for|in) (?:the|this) (?:translation|text))",
    r"(?:hier sind )?(?:die )?fehler|voici (?:les|mes) erreurs|ecco (?:gli|i miei) errori",
    r"(?:以下是)?错误列表(?:如下)?",
)
"""Words that introduce a list of errors; before a bare number they would make its length a rating."""
_POLITE: Final = (
    "sure|certainly|of course|okay|ok|natürlich|gerne|bien sûr|claro|certo|конечно|好的|当然|はい"
)
_LEAD_IN: Final = re.compile(
    rf"(?:(?:{_POLITE})[,.!。！，、]* ?)?"
    rf"(?:{'|'.join(_LEAD_INS)}|(?P<list>{'|'.join(_LIST_LEAD_INS)}))? ?[:：.]?",
    re.IGNORECASE,
)
"""All words that may introduce an answer."""
_ENDED: Final[Mapping[str, FailureReason]] = {
    **dict.fromkeys(("refused", "refusal", "content_filter", "safety", "recitation", "blocklist"), "refused"),
    **dict.fromkeys(("prohibited_content", "spii"), "refused"),
    **dict.fromkeys(("tool_calls", "tool_use", "function_call"), "no_answer"),
}
"""Why a reply is none that did not end by itself; any other ending cut it."""


def _without_marks(text: str) -> str:
    text = text.strip(_BLANK)
    while text.endswith(_ENDINGS):
        text = next(text.removesuffix(mark) for mark in _ENDINGS if text.endswith(mark)).rstrip(_BLANK)
    match = _BEGINNING.match(text)
    return text[match.end() :] if match else text


def _without_thinking(text: str) -> str:
    opened = _OPENED.match(text)
    if opened is None and text.startswith(("{", "[")):
        return text
    closed = (_HARMONY_CLOSED if opened and opened["harmony"] else _CLOSED).search(text)
    if closed is None and opened is None:
        return text
    if closed is None:
        raise AnswerError("no_answer", "thinking that does not end")
    if _OPENED.search(text, opened.end() if opened else 0, closed.start()):
        raise AnswerError("parse", f"thinking that is not one block before the answer: {shown(text)}")
    if rest := text[closed.end() :].strip(_BLANK):
        return rest
    raise AnswerError("no_answer", "thinking, and no answer behind it")


# The leaves


_ADDED: Final = frozenset({"suggestion", "correction", "type"})
"""Fields that models add to an error; `Reading._is_fair` tells which are dropped."""
_PROSE: Final = frozenset(
    (
        *(
            "note",
            "notes",
            "reason",
            "reasons",
            "reasoning",
            "comment",
            "comments",
            "explanation",
            "rationale",
        ),
        *("summary", "analysis", "justification", "thought", "thoughts", "remark", "remarks", "description"),
        *("assessment", "feedback", "details", "overall", "evaluation", "error", "refusal", "message"),
    )
)
"""Fields that hold words and nothing else; an empty one says nothing."""
_LONGER: Final = 12
"""Characters that a correction may have more than twice its span."""
MARKS_ALIKE: Final = {'"': "“”„‟«»″「」『』〝〞＂", "'": "‘’‚‛‹›′`´＇", "-": "‐‑‒–—−"}
QUOTES_ALIKE: Final = str.maketrans({mark: plain for plain, marks in MARKS_ALIKE.items() for mark in marks})
_UNQUOTED: Final = str.maketrans("", "", " \"'")
_INTEGER: Final = re.compile(
    r"(-?(?:0|[1-9][0-9]{0,17}))(?:(?:(?<=[2-9])|(?<=[0-9]{2}))\.0*)?"
    r"(?:(?P<percent> ?%)|(?: ?/ ?| out of )(?P<scale>[0-9]+))?"
)


def flat(text: str) -> str:
    """A text with one blank for white space, and straight quotation marks and dashes."""
    return " ".join(text.translate(QUOTES_ALIKE).split())


def read_integer(value: object, low: int, high: int, what: str) -> int:
    """A whole number: 87, and 87.0, "87", `87.`, 87 % or 87/100 of a scale to 100.

    1.0 and 0.0 are no whole numbers: they may be shares of 1, as .85 is.
    """
    match = _INTEGER.fullmatch(value.strip() if isinstance(value, str) else str(value))
    number = int(match[1]) if match and match[1] != "-0" else low - 1
    scale = match and (match["scale"] or (match["percent"] and "100"))
    if not low <= number <= high or scale not in (None, str(high)):
        raise AnswerError("range", f"{what} must be a whole number from {low} to {high}, got {shown(value)}")
    return number


class Reading:
    """One reply, while its answer is read: each part of the answer by one method, `settle` at the end.

    Args:
        reply: what the model said, or its text alone.
        judged: texts that were judged; an answer that stands in one of them word for word is flagged.

    Raises:
        AnswerError: the reply is cut, blocked, empty, has broken characters, or thinking and nothing else.
    """

    def __init__(self, reply: Reply | str, judged: Iterable[str] = ()) -> None:
        reply = Reply(text=reply) if isinstance(reply, str) else reply
        if reply.finish != "stop":
            reason = _ENDED.get(reply.finish.lower(), "truncated")
            raise AnswerError(reason, f"the model stopped for {reply.finish!r}, not at its end")
        check_characters(reply.text)
        self.reply = reply
        self.whole = reply.text.strip(_BLANK)
        if not self.whole:
            raise AnswerError(
                "no_answer" if reply.reasoning.strip() else "empty", "wanted an answer, got no words"
            )
        self.text = _without_marks(_without_thinking(_without_marks(self.whole)))
        self._judged = judged
        self._flags: dict[str, None] = {}
        self.flag("extracted", self.text != self.whole)
        self.flag(AUTHORS, isinstance(reply, AuthorsReply))
        self._words: list[str] = []
        self._leaves: list[Hashable] = []
        self._is_mended = self._is_plain = self._is_unsure = False

    def flag(self, name: str, on: object = True) -> None:  # noqa: FBT002 (reads as an aside)
        """Say how the answer was read."""
        if on:
            self._flags[name] = None

    def settle(self, *, is_clean: bool = False) -> tuple[str, ...]:
        """The flags of an answer that was read to its end. Every reader that takes an answer calls it.

        Args:
            is_clean: whether the answer says that all is well: no errors, the best rating, equally good. It
                is never mended, and words beside it are never read over.

        Raises:
            WordsBesideError: words stand beside the answer, and no further question has settled their
                meaning.
            AnswerError: a clean answer that had to be mended.
        """
        if self in (unsettled := UNSETTLED.get() or []):
            unsettled.remove(self)
        if is_clean and self._is_mended:
            raise AnswerError(
                "parse", f"{CLEAN} that is no JSON as it stands, and is never mended: {shown(self.whole)}"
            )
        if is_clean and self._is_unsure:
            self.beside("a confidence below half")
        way = self.reply.way
        if way == "leaves" or (self._words and (is_clean or way == "strict")):
            words = "; ".join(self._words)
            raise WordsBesideError(words and shown(words), leaves=tuple(self._leaves), is_clean=is_clean)
        self.flag("confirmed", self._words)
        return tuple(self._flags)

    def _open(self) -> None:
        """Remember that an answer was taken, which `settle` must end."""
        if (unsettled := UNSETTLED.get()) is not None and self not in unsettled:
            unsettled.append(self)

    def beside(self, words: str) -> None:
        """Take words that nobody asked for as words beside the answer."""
        self._words += filter(None, [words])

    def introduced(self, before: str, *, is_number: bool = False) -> None:
        """Take what stands before the answer for a lead-in, or for words beside the answer."""
        words = " ".join(_DECORATION.sub(" ", before.strip(_BLANK)).split())
        match = _LEAD_IN.fullmatch(words)
        if match is None or (is_number and match["list"]):
            self.beside(words)

    def plain(self) -> str:
        """The text of an answer that is no JSON, without its wrappers."""
        inner = _WRAPPED.sub(r"\1\3", self.text)
        while (less := _EDGE.sub("", inner).strip(_BLANK)) != inner:
            inner = less
        self.flag("extracted", inner != self.text)
        self.flag_copied(inner)
        self._is_plain = True
        self._open()
        return inner

    def value(self) -> object:
        """The one bracketed value of the reply, or what the authors' rule finds in it.

        Raises:
            AnswerError: parse or truncated where there is none, ambiguous where there are two.
        """
        told = json.dumps(self.reply.rule(self)) if isinstance(self.reply, AuthorsReply) else self.text
        text = _WRAPPED.sub(r"\1\3", told)
        if text.startswith('"{'):
            with suppress(ValueError):
                text = json.loads(text)
        found = _BRACKET.search(text)
        if found is None:
            raise AnswerError("parse", f"wanted a JSON object, got {shown(text)}")
        parser = _Parser(text, found.start())
        value = parser.value()
        raw, rest = text[found.start() : parser.at], text[parser.at :]
        if rest.strip(_BLANK).startswith(raw):
            rest = rest.strip(_BLANK).removeprefix(raw)
        before, after = text[: found.start()], _DECORATION.sub(" ", rest).strip(_BLANK)
        if _BRACKET.search(before + after):
            raise AnswerError("ambiguous", f"more than one JSON value, or pieces of one: {shown(text)}")
        self._words += parser.comments
        self.introduced(before)
        self.beside(after)
        self._is_mended |= parser.is_mended
        self.flag_copied(raw)
        self.flag("extracted", raw != told)
        self.flag("normalised", parser.is_respelled)
        self.flag("repaired", parser.is_mended)
        self._open()
        return value

    def flag_copied(self, raw: str) -> None:
        """Flag an answer that stands in a judged text, a bare number only where a line says no more."""
        flat = " ".join(raw.split())
        has_letters = any(map(str.isalpha, flat))
        for text in self._judged:
            lines = (" ".join(line.split()) for line in ([text] if has_letters else text.splitlines()))
            self.flag("verdict_in_text", any(flat in line if has_letters else flat == line for line in lines))

    def answer(self, *keys: str, optional: Collection[str] = (), as_list: str = "") -> dict[str, object]:
        """The fields of the one object of the reply.

        Args:
            keys: fields that must be there.
            optional: fields that may.
            as_list: the field that the reply may give without its object around it.
        """
        value = self.value()
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict) and keys[0] in value[0]:
            value = value[0]
            self.flag("normalised")
        elif isinstance(value, list) and value and as_list:
            value = {as_list: value}
            self.flag("normalised")
        return self.fields(value, keys, "the answer", optional=optional)

    def fields(
        self,
        value: object,
        keys: Collection[str],
        what: str,
        *,
        optional: Collection[str] = (),
        is_error: bool = False,
    ) -> dict[str, object]:
        """The fields that were asked for, in any capitals.

        A note, a reason and the like are words beside the answer, and so are, in an error, a type, a
        correction and a suggestion, unless they only say what the error says (`_is_fair`). Nothing is taken
        from it by a confidence above 0, or from .5 on where the answer says that all is well.

        Raises:
            AnswerError: schema for what is no object, lacks a field or has any other; ambiguous for a field
                that stands twice with different values.
        """
        if not isinstance(value, dict):
            raise AnswerError("schema", f"{what} must be an object, got {shown(value)}")
        found: dict[str, object] = {}
        error = {key.casefold(): item for key, item in value.items()} if is_error else {}
        for spelled, item in value.items():
            key = spelled.casefold()
            self.flag("normalised", key != spelled or (key not in keys and key not in optional))
            if key in keys or key in optional:
                if repr(found.setdefault(key, item)) != repr(item):
                    raise AnswerError("ambiguous", f"key {shown(key)} stands twice, with different values")
            elif AUTHORS in self._flags:
                found[key] = item
            elif key == "confidence" and is_number(item) and item > 0:
                self._is_unsure |= item < (0.5 if item <= 1 else 50)
            elif (key not in _PROSE and (key not in _ADDED or not error)) or not isinstance(item, str | None):
                raise AnswerError("schema", f"beside {what} stands {shown(key)}: {shown(item)}")
            elif item and not self._is_fair(key, item, error):
                self.beside(item)
        if missing := [key for key in keys if key not in found]:
            came = ", ".join(value) or "nothing"
            raise AnswerError(
                "schema", f"{what} must have {', '.join(keys)}; {missing[0]} is missing in {shown(came)}"
            )
        return found

    def _is_fair(self, key: str, words: str, error: Mapping[str, object]) -> bool:
        if key == "type" and (said := find_category(words)):
            category = find_category(str(error.get("category"))) or "none"
            return category.startswith(said) or said.startswith(category)
        if key == "type" or key not in _ADDED:
            return words == error.get("severity")
        now, before = (
            flat(text).casefold().translate(_UNQUOTED) for text in (words, str(error.get("span") or ""))
        )
        return self.reply.is_held and now != before and len(now) <= 2 * len(before) + _LONGER

    def integer(self, value: object, low: int, high: int, what: str) -> int:
        """A whole number; see `read_integer`.

        Raises:
            AnswerError: range.
        """
        number = self.leaf(read_integer(value, low, high, what))
        self.flag("normalised", type(value) is not int and not (self._is_plain and value == str(number)))
        return number

    def number(self, value: object, low: float, high: float, what: str) -> float:
        """A number as JSON has it.

        Raises:
            AnswerError: range.
        """
        if not is_number(value) or not low <= value <= high:
            raise AnswerError("range", f"{what} must be a number from {low} to {high}, got {shown(value)}")
        return self.leaf(float(value))

    def label(
        self, value: object, names: Sequence[Name], what: str, also: Mapping[str, Name] | None = None
    ) -> Name:
        """One of some names, in any capitals, quotation marks and full stops aside.

        Args:
            value: of the answer.
            names: that are offered.
            what: is read, for error messages.
            also: other spellings, each with its name.

        Raises:
            AnswerError: label.
        """
        folded = value.strip(" \t\n.\"'*()").casefold() if isinstance(value, str) else ""
        known = {**(also or {}), **{name.casefold(): name for name in names}}
        if folded not in known:
            raise AnswerError("label", f"{what} must be {either(names)}, got {shown(value)}")
        self.flag("normalised", known[folded] != value)
        return self.leaf(known[folded])

    def truth(self, value: object, what: str) -> bool:
        """True or false, also as a text of these letters.

        Raises:
            AnswerError: schema.
        """
        said = {"true": True, "false": False}.get(value.casefold()) if isinstance(value, str) else value
        if not isinstance(said, bool):
            raise AnswerError("schema", f"{what} must be true or false, got {shown(value)}")
        self.flag("normalised", said is not value)
        return self.leaf(said)

    def leaf(self, value: T) -> T:
        """Remember something that a confirming answer must give alike."""
        self._leaves.append(value)
        return value

    def words(self, value: object, what: str) -> str:
        """A text that was asked for and says something, without white space around it; prose is no leaf.

        Raises:
            AnswerError: schema.
        """
        if not isinstance(value, str) or not value.strip():
            raise AnswerError("schema", f"{what} must be text that says something, got {shown(value)}")
        return value.strip()

    def items(self, value: object, what: str) -> list[object]:
        """A list.

        Raises:
            AnswerError: schema.
        """
        if not isinstance(value, list):
            raise AnswerError("schema", f"{what} must be a list, got {shown(value)}")
        self.leaf(len(value))
        return value


def either(names: Sequence[str]) -> str:
    """Names as an English choice."""
    return " or ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} or {names[-1]}"


# Authors' rules


Rule = Callable[[Reading], object]
"""How the authors' code finds an answer in a reply: its value in the shape of our JSON."""


@frozen
class AuthorsReply(Reply):
    """A reply that is read by the rule of the authors' code; a field that nobody asked for says nothing."""

    rule: Rule


_CATEGORIES: Final = {
    "accuracy": "addition|mistranslation|omission|untranslated text",
    "fluency": "character encoding|grammar|inconsistency|punctuation|register|spelling",
    "locale convention": "currency|date|name|telephone|time",
    "style": "awkward",
    "terminology": "inappropriate|inconsistent",
    "non-translation": "(?!)",
    "other": "(?!)",
}
"""Names that GEMBA-MQM's code looks for in a line: the first of these core types, then a subtype of it."""
_HEADINGS: Final = ("critical:", "major:", "minor:")
_NO_ERROR: Final = re.compile("no[- ]error")
_CLEAN: Final = re.compile(r"(?i)(?=[\s\S]*no[- ]error)(?:[\W_]|critical:|major:|minor:|no[- ]errors?\b)+")
_QUOTED: Final = re.compile('["“”„«「]([^"“”„«»「」]+)["“”»」]')
_LETTER: Final = re.compile(r'result["\\]*\s*:[\\\s"{]*(?P<letter>[abe])', re.IGNORECASE | re.ASCII)
_LIST: Final = re.compile(r'"(?:annotations|errors)"\s*:\s*(\[.*\])', re.DOTALL)
_THEIR_KEYS: Final = {
    r'"error_span"(?=\s*:)': '"span"',
    r'"is_source_error"\s*:\s*"yes"': '"side": "source"',
    r'"is_source_error"\s*:\s*"no"': '"side": "translation"',
}


def or_authors(read: Callable[[Reply], T], rule: Rule | None) -> Callable[[Reply], T]:
    """Return a reader that reads by the authors' rule what `read` refuses; `read` itself without a rule."""
    if rule is None:
        return read

    def either(reply: Reply) -> T:
        try:
            return read(reply)
        except AnswerError:
            (UNSETTLED.get() or []).clear()
            with suppress(AnswerError, ValueError, RecursionError):
                return read(AuthorsReply(**vars(reply), rule=rule))
            raise

    return either


def only_number(reading: Reading) -> object:
    """GEMBA-DA, GEMBA-SQM, the rating of GEMBA-ESA: the only run of digits; our grammar reads NN/100."""
    (digits,) = re.findall(r"\d+", reading.text)
    reading.flag_copied(digits)
    return {"rating": int(digits)}


def error_lines(reading: Reading) -> object:
    """GEMBA-MQM: each line below a heading is an error, unless it says "no error".

    The code ignores lines above the first heading, and takes any reply without errors for a clean one. Here
    such a reply is clean only if a line says "no error", every line that does says nothing else, and no line
    was ignored.
    """
    reading.flag_copied(reading.text)
    lines = [line.strip() for line in reading.text.split("\n") if not _NO_ERROR.search(line.lower())]
    errors, severity = [], ""
    for line in filter(None, lines):
        low = line.lower()
        if low in _HEADINGS:
            severity = low[:-1]
            continue
        core = next(filter(low.__contains__, _CATEGORIES), "other")
        errors.append(
            {
                "span": _QUOTED.split(line)[:2][-1],
                "line": line,
                "category": "/".join([core, *re.findall(_CATEGORIES[core], low)[-1:]]),
                "severity": "critical" if severity and "non-translation" in low else severity,
            }
        )
    found = [error for error in errors if error["severity"]]
    if not found and (errors or not _CLEAN.fullmatch(reading.text)):
        raise ValueError("no line is an error, and none says only that there is no error")
    return {"errors": found}


def last_letter(reading: Reading) -> object:
    """FiRE: the letter behind the last `result:`, whatever stands behind the letter."""
    *_, last = _LETTER.finditer(reading.text)
    reading.flag_copied(last[0])
    return {"result": last["letter"], "analysis": reading.text}


def last_list(reading: Reading) -> object:
    """M-MAD: the list of the field `annotations`, here `errors`, up to the last bracket of the reply.

    Errors may have the code's keys `error_span` and `is_source_error`, yes or no.
    """
    (raw,) = _LIST.findall(reading.text)
    reading.flag_copied(raw)
    for theirs, ours in _THEIR_KEYS.items():
        raw = re.sub(theirs, ours, raw)
    return {"statement": reading.text, "errors": json.loads(raw)}


def agreement(reading: Reading) -> object:
    """M-MAD's checker: yes anywhere, else no anywhere; not in an object, which our question asks for."""
    words = re.findall("yes|no|[{]", reading.text)
    return {"agreed": "yes" in words} if words and "{" not in words else {}


def fenced(reading: Reading) -> object:
    """RATE: the JSON in the first fence of that name, else the whole reply."""
    raw = reading.text.partition("```json")[2].partition("```")[0].strip() or reading.text
    reading.flag_copied(raw)
    return json.loads(raw)
