"""What may stand around an answer: a known wrapper, a known lead-in, or prose that takes nothing back.

A model writes an object for many reasons that are no verdict: it repeats the form it was told, says what it
would
answer if, drafts, or takes back. So what stands around an object decides whether the object is believed:

- Any answer may come in one fence, in answer, final or boxed tags, between the leftovers of a chat template,
and
  behind a lead-in of a closed list. `unwrap` takes these off.
- A rating may be followed by sentences, an answer that reports something may also have prose before it: see
  `check_around`. The prose must be English, because a refusal or a retraction in any other language might
  not be
  seen, and short.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from typing import Final, Literal, NamedTuple, TypeVar

from adjudge.core.ask import Reply
from adjudge.errors import AnswerError, FailureReason

__all__ = [
    "LEAD_IN",
    "Trust",
    "admits_no_errors",
    "check_around",
    "check_before",
    "check_characters",
    "check_reasons",
    "copied",
    "echoes",
    "is_refusal",
    "or_error",
    "read_text",
    "shown",
    "unreadable",
    "unwrap",
]

T = TypeVar("T")


async def or_error(asked: Awaitable[T]) -> T | AnswerError:
    """What was asked for, or why there is none."""
    try:
        return await asked
    except AnswerError as error:
        return error


# How models decline, in the languages they decline in.


_REACH: Final = 400
"""A refusal comes first; a report may say "I cannot" further down."""

_FOUND_NOTHING: Final = re.compile(
    r"\b(find|found|see|spot|detect|identify|discern|feststellen|finden|erkennen|trouver|encontrar)\b"
)
"""I cannot find any error: prose, but no refusal."""

_QUOTATION: Final = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|`[^`]*`")

_WAYS: Final = (
    # English
    r"\bI(?:'m| am) (?:really |very |so |truly )?(?:sorry|afraid)\b",
    r"\b(?:sorry|apologies)\b.{0,40}\b(?:can't|cannot|can not|unable|won't|not able)",
    (
        r"\bI (?:really |simply |also )?(?:can't|cannot|can not|could not|couldn't)\b"
        r"(?! (?:verify|confirm|rule out|be (?:sure|certain) (?:of|about))"
        r" (?!(?:the |this |that |these |your |any )?(?:translations?|texts?|source|content|segment)\b))"
    ),
    r"\bI (?:won't|will not|must decline)\b",
    (
        r"\b(?:I|we) (?:have to |must |would rather |prefer to |choose to |respectfully |therefore |hereby )?"
        r"(?:decline|refuse|abstain)\b|\bI(?:'d| would) (?:rather|prefer) not\b"
    ),
    (
        r"\b(?:declin(?:e|ed|es|ing)|refus(?:e|ed|es|ing)|abstain(?:ed|s|ing)?) (?:to|from) "
        r"(?:judg|rat|answer|evaluat|assess|comment|scor|respond|translat|compar|giv)"
    ),
    (
        r"\b(?:not|cannot be|can't be|could not be) (?:possible|able) to (?:judge|rate|evaluate|assess"
        r"|score|compare)\b"
    ),
    (
        r"\b(?:cannot|can't|could not|couldn't) be (?:judged|rated|evaluated|assessed|scored|compared"
        r"|determined)\b"
    ),
    (
        r"\b(?:judging|rating|evaluation|assessment|scoring|comparison) (?:is|was) (?:not possible"
        r"|impossible|skipped)\b"
    ),
    (
        r"\b(?:unable|not able) to (?:judge|rate|evaluate|assess|score|compare|help|assist|comply|answer"
        r"|process)\b"
    ),
    r"\b(?:not|never) (?:been )?(?:judged|rated|evaluated|assessed|scored)\b",
    (
        r"\b(?:texts?|translations?|sources?|segments?|inputs?) (?:(?:was|were|is|are|has|have) )?(?:not"
        r"|never) (?:been )?"
        r"(?:shown|given|provided|supplied|received|attached)\b"
    ),
    (
        r"\bno (?:text|texts|translation|translations|source|source text|input|content|segment)s?"
        r" (?:(?:was|were|is|are|has been|have been) )?"
        r"(?:given|provided|shown|supplied|received|available|present|found|attached|included|to (?:judge"
        r"|rate|evaluate))"
    ),
    (
        r"\b(?:texts?|translations?|sources?|inputs?|segments?|contents?)"
        r" (?:(?:is|are|was|were|seems?|appears?)(?: to be)? )(?:all )?"
        r"(?:missing|empty|unavailable|absent|blank)(?= *(?:[.,;!]|$|and\b|so\b|here\b|from (?:your|the) "
        r"(?:message|prompt|request)))"
    ),
    r"\bplease (?:provide|send|give|share|paste|supply|attach|resend)\b",
    r"\b(?:could|can|would|will) you (?:please )?(?:give|send|provide|share|paste|resend|supply|clarify)\b",
    (
        r"\bnothing (?:was given )?to (?:judge|rate|evaluate|assess|compare|mark)\b|\b(?:insufficient"
        r"|not enough) "
        r"(?:information|context|data|text)\b"
    ),
    (
        r"\b(?:do not|don't|did not|didn't) (?:have|see|receive|get) (?:access to )?(?:the|any|a|your"
        r"|either) "
        r"(?:texts?|translations?|source|input|content|segments?)\b"
    ),
    (
        r"\b(?:content|usage|safety) (?:policy|policies|guidelines|filter)\b|\b(?:request|content) "
        r"(?:was |is |has been )?"
        r"(?:blocked|rejected|denied|refused|filtered)\b"
    ),
    r"\b(?:I'm|I am|we are) (?:unable|not able|not allowed|not permitted)\b",
    r"\bas an? (?:AI|artificial|language model|large language|assistant)\b",
    r"\b(?:against|violates?) (?:my|our|the) (?:guidelines|polic)",
    # German, Dutch, Swedish, Danish, Norwegian
    r"\btut mir (?:sehr )?leid\b",
    r"\b(?:ich|wir) (?:kann|können|darf|dürfen)\b.{0,80}\bnicht\b",
    r"\bhet spijt me\b|\bik kan\b.{0,60}\bniet\b|\bhelaas kan ik\b",
    r"\btyvärr\b|\bjag kan (?:inte|tyvärr)\b|\bbeklager\b",
    r"\b(?:jeg|det) (?:kan|er) (?:ikke|desværre|dessverre)\b",
    (
        r"\bich (?:weigere mich|lehne\b.{0,60}\bab\b|verweigere|möchte\b.{0,60}\bnicht (?:bewerten"
        r"|beurteilen))"
        r"|\b(?:texte?|übersetzung|quelle|ausgangstext)e?n? fehl(?:t|en)\b|\bnicht bewert(?:bar|et)\b"
    ),
    (
        r"\bik (?:weiger|wil\b.{0,40}\bniet)\b|\bjag (?:vägrar|avstår|vill inte)\b"
        r"|\bjeg (?:nekter|nægter|avstår|afstår|vil ikke|avslår|afslår)\b"
    ),
    # French, Italian, Spanish, Catalan, Portuguese, Romanian
    r"\b(?:je suis|nous sommes) (?:vraiment )?désolée?s?\b|\bdésolée?,|\bje ne (?:peux|puis)\b",
    r"\bmi dispiace\b|\bnon (?:posso|sono in grado)\b",
    r"\blo siento\b|\bno (?:puedo|podré|me es posible)\b|\bho sento\b|\bno puc\b",
    r"\bdesculpe\b|\bsinto muito\b|\bnão posso\b|\blamento\b",
    r"\bîmi pare rău\b|\bnu pot\b",
    (
        r"\bje (?:refuse|décline|m'abstiens)\b|\bme niego\b|\brechazo\b|\bm'hi nego\b|\bmi rifiuto\b"
        r"|\brifiuto di\b"
        r"|\b(?:eu )?recuso(?:-me)?\b|\brefuz\b|\bdeclino\b|\bmanque(?:nt)? le texte\b|\bfalta el texto\b"
    ),
    # Czech, Slovak, Polish, Croatian, Slovene
    r"\bomlouvám se\b|\bnemohu\b|\bbohužel ne\w*|\bospravedlňujem sa\b|\bnemôžem\b",
    r"\bprzykro mi\b|\bprzepraszam\b|\bnie (?:mogę|jestem w stanie)\b",
    r"\bžao mi je\b|\bne mogu\b|\bne morem\b",
    r"\bodmítám\b|\bodmietam\b|\bodmawiam\b|\bodbijam\b|\bzavračam\b",
    # Russian, Ukrainian, Bulgarian
    r"\b(?:извините|простите|к сожалению)\b|\bя не (?:могу|в состоянии)\b",
    r"\b(?:вибачте|на жаль)\b|\bя не можу\b|\bсъжалявам\b|\bне мога\b",
    r"\b(?:отказываюсь|воздерживаюсь|відмовляюсь|відмовляюся|отказвам)\b",
    # Greek, Turkish, Hungarian, Finnish, Estonian, Lithuanian, Latvian
    r"\bλυπάμαι\b|\bδεν μπορώ\b",
    r"\büzgünüm\b|\bmaalesef\b|\byapamam\b",
    r"\bsajnálom\b|\bnem tudok\b",
    r"\bvalitettavasti\b|\ben voi\b|\bvabandust\b|\bma ei saa\b",
    r"\batsiprašau\b|\bnegaliu\b|\bdiemžēl\b",
    r"\bαρνούμαι\b|\breddediyorum\b|\bmegtagadom\b|\bkieltäydyn\b|\bkeeldun\b|\batsisakau\b|\batsakos\b",
    # Arabic, Persian, Hebrew, Urdu
    r"آسف|أعتذر|عذرا|لا أستطيع|لا يمكنني",
    r"متأسفم|نمی[\u200c ]?توانم|סליחה|מצטער|איני יכול|לא יכול|معذرت|نہیں کر سکتا",
    r"أرفض|امتنع|رد می[\u200c ]?کنم|מסרב|انکار کرتا",
    # Chinese, Japanese, Korean
    r"抱歉|对不起|對不起|我无法|我無法|我不能|不便提供",
    r"申し訳|すみません|ごめんなさい|できません|できかねます|お応え",
    r"죄송|미안|할 수 없습니다|수 없습니다",
    r"拒绝|拒絕|无法评估|無法評估|お断り|拒否|거부|거절",
    r"इनकार करत|अस्वीकार|ปฏิเสธ|\btừ chối\b|\bmenolak\b|\bninakataa\b",
    # Hindi, Bengali, Thai, Vietnamese, Indonesian, Swahili
    r"क्षमा करें|माफ़ करें|माफ कीजिए|नहीं कर सकत|দুঃখিত|করতে পারি না",
    r"ขออภัย|ขอโทษ|ไม่สามารถ",
    r"\bxin lỗi\b|\bkhông thể\b|\bmaaf\b|\btidak (?:dapat|bisa)\b|\bsamahani\b|\bsiwezi\b",
)

_DECLINES: Final = re.compile("|".join(_WAYS), re.IGNORECASE)


def is_refusal(prose: str) -> bool:
    """Whether words say that no answer is given."""
    words = _QUOTATION.sub(" ", prose[: 4 * _REACH].replace("’", "'"))
    start = " ".join(words.split())[:_REACH]
    found = _DECLINES.search(start)
    return found is not None and not _FOUND_NOTHING.search(start[found.start() :].lower())


# From a reply to its words: finished, readable, without thinking, and not declining.


_BLOCKED: Final = (
    *("refused", "refusal", "content_filter", "safety"),
    *("recitation", "blocklist", "prohibited_content", "spii"),
)
_CALLED: Final = {"tool_calls", "tool_use", "function_call"}

_THINKING: Final = re.compile(
    r"<(?P<a>/?)(?:[a-z]+:)?(?:think|thinking|thoughts?|reasoning|reflection|scratchpad|analysis)(?:\s[^<>]*)?>"
    r"|[◁\[](?P<b>/?)think[▷\]]",
    re.IGNORECASE,
)
_PAGE: Final = re.compile(r"\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_INVISIBLE: Final = re.compile(r"[\s\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]*")
_BROKEN: Final = re.compile("[\0\ud800-\udfff]")


def read_text(reply: Reply) -> str:
    """The words of a finished reply, without thinking and without white space around them.

    Raises:
        AnswerError: cut, blocked, empty, a web page, broken characters, or thinking and nothing else.
    """
    if reply.finish != "stop":
        raise AnswerError(_reason_of(reply.finish), f"the model stopped for {reply.finish!r}, not at its end")
    check_characters(reply.text)
    text = _without_thinking(reply.text)
    if _INVISIBLE.fullmatch(text):
        thought = reply.reasoning.strip() or not _INVISIBLE.fullmatch(reply.text)
        raise AnswerError("no_answer" if thought else "empty", "wanted an answer, got no words")
    if _PAGE.match(text):
        raise AnswerError("not_json", f"wanted an answer, got a web page: {shown(text)}")
    return text.strip()


def check_characters(text: str) -> None:
    """Refuse what no file could hold.

    Raises:
        AnswerError: encoding.
    """
    if _BROKEN.search(text):
        raise AnswerError("encoding", f"NUL or half a character in {shown(text)}")


def echoes(answer: str, judged: tuple[str, ...]) -> bool:
    """Whether an answer stands in a text that was judged, word for word: it may be copied from there.

    Bare numbers, which stand in many texts, must be all that one of its lines says.
    """
    flat = " ".join(answer.split())
    if all(len(flat) > len(text) for text in judged):
        return False
    if any(char.isalpha() for char in flat):
        return any(flat in " ".join(text.split()) for text in judged if len(flat) <= len(text))
    return any(flat == " ".join(line.split()) for text in judged for line in text.splitlines())


def copied(answer: str, judged: tuple[str, ...]) -> tuple[str, ...]:
    """The flag of an answer that may be copied from a judged text."""
    return ("verdict_in_text",) if echoes(answer, judged) else ()


def unreadable(text: str, wanted: str) -> AnswerError:
    """The error for words that are not what was asked for: refused if they decline, else parse."""
    return AnswerError("refused" if is_refusal(text) else "parse", f"wanted {wanted}, got {shown(text)}")


def shown(value: object) -> str:
    """The beginning of a value, printable, for an error message."""
    text = value if isinstance(value, str) else repr(value)
    return repr(text[:80]) + ("" if len(text) <= 80 else "...")


def _reason_of(finish: str) -> FailureReason:
    finish = finish.lower()
    if finish in _BLOCKED:
        return "refused"
    return "no_answer" if finish in _CALLED else "truncated"


def _without_thinking(text: str) -> str:
    """Drop thinking, which comes before an answer. A closing tag alone closes what the prompt opened.

    A text that is JSON as a whole has none: a tag in it stands in a quotation.
    """
    if not _THINKING.search(text) or _is_json(text):
        return text
    depth, kept, position = 0, "", 0
    for tag in _THINKING.finditer(text):
        closing = bool(tag["a"] or tag["b"])
        if depth == 0:
            kept += text[position : tag.start()]
        position = tag.end()
        if closing and depth == 0:
            kept = ""
        elif not closing and depth == 0 and kept.strip():
            raise AnswerError("parse", f"thinking in the middle of an answer: {shown(kept)}")
        else:
            depth += -1 if closing else 1
    if depth:
        raise AnswerError("no_answer", "thinking that does not end")
    return kept + text[position:]


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


Trust = Literal["clean", "alone", "after", "around"]
"""What may stand around an answer besides a known wrapper.

`clean`: nothing, and what stands beside it in the object may not contradict it; `alone`: nothing; `after`:
sentences
without a number behind a line break; `around`: prose before and behind.
"""

_BLANK: Final = " \t\r\n\v\f\u00a0\u00ad\u200b\u200c\u200d\u2060\u2028\u2029\u3000\ufeff"
_LONGEST_PROSE: Final = 2000
_LONGEST_LEAD_IN: Final = 80
_FEW_WORDS: Final = 200

_ENDINGS: Final = (
    *("<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<|endoftext|>", "<|end_of_text|>", "<|return|>"),
    *("<end_of_turn>", "</s>", "<eos>", "<|END_OF_TURN_TOKEN|>", "<｜end▁of▁sentence｜>", "[/s]"),
)
_BEGINNING: Final = re.compile(
    r"(?:<s>|<bos>|<\|begin_of_text\|>)?\s*"
    r"(?:<\|im_start\|>\s*assistant\b|<\|start_header_id\|>\s*assistant\s*<\|end_header_id\|>"
    r"|<start_of_turn>\s*model\b|<\|assistant\|>|\[/INST\]|<s>)\s*"
)
_HARMONY: Final = re.compile(
    r"(?:<\|channel\|>analysis<\|message\|>(?P<thought>[^<]*)<\|end\|>\s*)?"
    r"(?:<\|start\|>assistant)?<\|channel\|>final\s*(?:<\|constrain\|>\s*json\s*)?<\|message\|>"
)
_TAG: Final = re.compile(r"<(?P<name>answer|final|final[_-]answer|boxed)>", re.IGNORECASE)
_FENCE: Final = re.compile(
    r"(?P<mark>`{3,}|~{3,})[ \t]*(?:json5?|jsonc|text|txt|plaintext|markdown|md)?[ \t]*(?=[\n{\[])",
    re.IGNORECASE,
)

_NOUN: Final = (
    r"(?:(?:final|requested|resulting|required|valid|complete|single|corresponding|structured) )?"
    r"(?:json|answer|output|result|results|response|evaluation|assessment|analysis|annotation|annotations|verdict"
    r"|judg(?:e)?ment|rating|score|list|errors|comparison)"
)
_LEAD_INS: Final = (
    # English
    (
        rf"here(?:'s| is| are) (?:the |my |your |an? )?{_NOUN}(?: (?:object|output|answer|response|result"
        rf"|list|format"
        r"|found|i found|that i found|as requested|you (?:requested|asked for)|of (?:the )?(?:errors"
        r"|translation)"
        r"|for (?:the|this) (?:translation|segment|text)|in (?:the )?(?:requested )?(?:json|format)(?: "
        r"format)?)){0,3}"
    ),
    rf"(?:the |my )?{_NOUN}(?: (?:object|is|output))?",
    r"here (?:it is|you go|you are)|so|thus|therefore",
    r"the errors (?:are|i found)|errors found|output in json",
    # German, Dutch, Swedish, Danish, Norwegian
    (
        r"hier ist (?:das|die|mein|meine) (?:json(?:-objekt)?|antwort|ergebnis|ausgabe|bewertung)"
        r"|hier sind die fehler|(?:meine |die )?(?:endgültige )?antwort|ergebnis|bewertung|ausgabe|fehler"
        r"|urteil"
    ),
    r"hier is (?:de|het|mijn) (?:json|antwoord|resultaat|beoordeling)|antwoord|resultaat|beoordeling",
    r"här är (?:svaret|json|resultatet)|svar|resultat|bedömning",
    r"her er (?:svaret|json|resultatet)|vurdering",
    # French, Italian, Spanish, Catalan, Portuguese, Romanian
    (
        r"voici (?:le|la|les|ma|mon) (?:json|objet json|réponse|résultat|évaluation|erreurs)"
        r"|(?:ma |la )?réponse(?: finale)?|résultat|évaluation|note"
    ),
    (
        r"ecco (?:il|la|gli) (?:json|risposta|risultato|valutazione|errori)|risposta(?: finale)?"
        r"|risultato|valutazione"
    ),
    (
        r"aqu[ií] (?:est[áa]|tienes|tiene) (?:el|la) (?:json|objeto json|respuesta|resultado|evaluación)"
        r"|(?:la )?respuesta(?: final)?|resultado|evaluación"
    ),
    r"aqui está (?:o|a) (?:json|resposta|resultado|avaliação)|resposta(?: final)?|avaliação",
    r"iată (?:răspunsul|json-ul|rezultatul)|răspuns|rezultat",
    # Czech, Slovak, Polish, Russian, Ukrainian
    r"zde je (?:json|odpověď|výsledek|hodnocení)|odpověď|výsledek|hodnocení|odpoveď|výsledok|hodnotenie",
    r"oto (?:json|odpowiedź|wynik|ocena)|odpowiedź|wynik|ocena",
    r"вот (?:json|ответ|результат|оценка)|ответ|результат|оценка|відповідь|результат|оцінка",
    # Turkish, Hungarian, Finnish
    r"işte (?:json|cevap|yanıt|sonuç)|cevap|yanıt|sonuç|íme a (?:json|válasz)|válasz|eredmény|vastaus|tulos",
    # Arabic, Hebrew, Hindi
    r"الإجابة|الجواب|النتيجة|תשובה|תוצאה|उत्तर|परिणाम",
    # Chinese, Japanese, Korean
    r"(?:以下是|这是|這是)?(?:json|答案|结果|結果|评估结果|評估結果|评分|評分|回答|错误列表)(?:如下)?",
    r"(?:以下は)?(?:json|回答|結果|評価|評価結果)(?:です)?|답변|결과|평가|답",
)
_POLITE: Final = (
    r"(?:(?:sure|certainly|of course|okay|ok|understood|absolutely|got it|natürlich|gerne|bien sûr"
    r"|claro|certo"
    r"|конечно|好的|当然|はい)[,.!:。！，、]*\s*)?"
)
LEAD_IN: Final = re.compile(rf"[*#_ ]*{_POLITE}(?:{'|'.join(_LEAD_INS)})?[*_ ]*[:：.!]?[*_ ]*", re.IGNORECASE)
"""Everything that may introduce an answer, and nothing else may."""

_TAKEN_BACK: Final = re.compile(
    r"\b(?:if|unless|would|wouldn't|could|couldn't|might|should i|suppose|imagine|assume|assuming|pretend"
    r"|hypothetical\w*|in case|otherwise|example|e\.g|instance|sample|template|placeholder|format"
    r"|schema|syntax|dummy"
    r"|such as|something like|looks? like|instead|ignore|disregard|discard|retract\w*|withdraw\w*"
    r"|scratch that"
    r"|take (?:it|that|this) back|not my|not the|not an?|never mind|opposite"
    r"|nevermind|no longer|on second thought|on reflection|reconsider\w*|rethink\w*|wait|hold on|oops"
    r"|actually"
    r"|correction|corrected answer|my mistake|mistaken(?:ly)?|i was wrong|wrong answer|invalid|void"
    r"|draft|preliminary"
    r"|tentative\w*|provisional\w*|first attempt|attempt|plan|to-?do|pending|unfinished|incomplete"
    r"|will (?:now|then|not)"
    r"|going to|let me|let's|before i|not final|not yet|do not (?:use|count|read|believe)|don't "
    r"(?:use|count|believe)"
    r"|(?:not|n't) (?:final|what|how|valid|mine|use|count|sure|certain|confident|real|correct|right"
    r"|true|apply|answer)|guess\w*|random\w*|made up"
    r"|make[- ]?up|fabricat\w*|joke|joking|kidding|test(?:ing)? only|revised|revise|changed? my mind"
    r"|no errors?"
    r"|error-free|prompt|instruct\w*|asked (?:me )?to|told (?:me )?to|you (?:want|said|asked|told)"
    r"|user|assistant|system"
    r"|translation says|text says|text contains|source says|source contains|quot\w+|cop(?:y|ied) (?:from|of)"
    r"|none of (?:this|these|them|the)|all of (?:this|these|that) is|false|untrue|nonsense|unreliable"
    r"|meaningless"
    r"|timeout|exceeded|truncated|overloaded)\b"
    r"|[{}\[\]<>|`\\]|^\s*(?://|#|>|\*|/\*|--|%|;)|\?",
    re.IGNORECASE | re.MULTILINE,
)
"""Words by which an object is a form, a condition, a draft or taken back, and marks that are no prose."""

_NUMBER: Final = re.compile(
    r"\d|\b(?:zero|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty-\w+|twenty|thirty|forty"
    r"|fifty|sixty|seventy|eighty|ninety|hundred|thousand|percent|per cent|stars?|points?|out of|half"
    r"|scale|tokens?)\b",
    re.IGNORECASE,
)
_STOP_WORDS: Final = frozenset(
    [
        "the",
        "a",
        "an",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "has",
        "have",
        "had",
        "of",
        "to",
        "in",
        "on",
        "for",
        "and",
        "but",
        "or",
        "as",
        "with",
        "by",
        "from",
        "that",
        "this",
        "it",
        "its",
        "there",
        "here",
        "these",
        "those",
        "than",
        "very",
        "too",
        "only",
        "more",
        "most",
        "other",
        "rest",
        "all",
        "both",
        "which",
        "who",
        "while",
        "so",
        "not",
        "no",
        "i",
        "my",
    ]
)
_HYPOTHETICAL: Final = re.compile(
    r"\bI (?:would|could|might)(?: not|n't)? (?:answer|give|say|write|call|reply|finish|respond)\b"
    r"|\bif there (?:is|was|were) (?:no|nothing)\b|\b(?:format|form|call) (?:that )?(?:you|is) "
    r"(?:want|wanted|expect)"
    r"|\bon second thought\b|<(?:plan|draft|example|scratch)|<!--|\bfor example\b *:",
    re.IGNORECASE,
)
_OPEN_TAG: Final = re.compile(r"<(?!/)[a-z_!-]+[^<>]*>?\s*\Z|```[a-z]*\s*\Z|(?://|/\*|#)\s*\Z", re.IGNORECASE)
_ENDED: Final = re.compile(r"[.!][\"'”)*_]*\Z")
_SENTENCE: Final = re.compile(r"[.!?:;]\s+|\n+")
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_PROSE_QUOTATION: Final = re.compile(
    r"\"[^\"\n]{0,400}\"|“[^”\n]{0,400}”|„[^“”\n]{0,400}[“”]|«[^»\n]{0,400}»"
)
_NO_FAULT: Final = re.compile(
    r"\b(?:no|any|without(?: any)?|free of|free from|zero|not (?:find|found|see|contain|have"
    r"|detect)(?: any)?|0)"
    r"(?: (?:other|further|major|minor|critical|significant|notable|obvious|translation|grammatical"
    r"|real|apparent))*"
    r"(?: or (?:major|minor|critical))? "
    r"(?:errors?|mistakes?|issues?|problems?|omissions?|additions?|mistranslations?|faults?|defects?|deviations?)"
    r"(?:,? (?:or|and|nor) (?:other )?(?:errors?|mistakes?|issues?|problems?|omissions?|additions?"
    r"|mistranslations?))*"
    r"|\berror[- ]free\b|\bnothing (?:is )?(?:wrong|missing|omitted|added|to correct|to mark)\b"
    r"|\bno[- ]errors?\b",
    re.IGNORECASE,
)
_FAULT: Final = re.compile(
    r"error|mistak|mistransl|omit|omission|missing|wrong|incorrect|inaccura|untranslat|unnatural|awkward|issue|problem"
    r"|should (?:be|read|have)|instead|fail|bad|poor|terribl|repeat|ungrammat|misspel|typo|however"
    r"|although|but\b|except"
    r"|\bnot\b|n't\b|change[sd]? (?:of|the) meaning|different meaning|doubled|redundan|nonsens|added"
    r"|addition|unclear|odd",
    re.IGNORECASE,
)


class Unwrapped(NamedTuple):
    """An answer without its wrapper.

    Args:
        text: what is left.
        is_wrapped: whether there was one.
        is_spelled: whether it was spelled out as a JSON string, which is no known wrapper.
    """

    text: str
    is_wrapped: bool
    is_spelled: bool = False


def unwrap(text: str, *, starts: str = "") -> Unwrapped:
    """Take known wrappers off, each kind once.

    Args:
        text: a reply.
        starts: characters that an answer may start with; a lead-in is taken off before one of them only.
        Empty for
            no lead-in.
    """
    if text.startswith("{") and text.endswith("}"):
        return Unwrapped(text, is_wrapped=False)
    found = inner = text.strip(_BLANK)
    steps: list[Callable[[str], str]] = [_untemplated, _untagged, _unfenced, _unbold]
    if starts:
        steps.append(lambda words: _after_lead_in(words, starts))
    while steps:
        for step in steps:
            if (less := step(inner)) != inner:
                inner = less.strip(_BLANK)
                steps.remove(step)
                break
        else:
            break
    if starts and inner.startswith('"{') and (spelled := _spelled(inner)):
        return Unwrapped(spelled.strip(_BLANK), is_wrapped=True, is_spelled=True)
    return Unwrapped(inner, is_wrapped=inner != text.strip() or found != text.strip())


def _untemplated(text: str) -> str:
    """Without the marks of a chat template at both ends; what a template calls final is the answer."""
    is_found = True
    while is_found:
        is_found = False
        for ending in _ENDINGS:
            if text.endswith(ending):
                text, is_found = text.removesuffix(ending).rstrip(_BLANK), True
    for beginning in (_HARMONY, _BEGINNING):
        if match := beginning.match(text):
            return text[match.end() :]
    return text


def _untagged(text: str) -> str:
    if (match := _TAG.match(text)) and text.lower().endswith(f"</{match['name'].lower()}>"):
        return text[match.end() : -len(match["name"]) - 3]
    bare = text.strip("$")
    if bare.startswith(r"\boxed{") and bare.endswith("}") and text.count(r"\boxed{") == 1:
        return bare[len(r"\boxed{") : -1]
    return text


def _unfenced(text: str) -> str:
    match = _FENCE.match(text)
    if match and text.endswith(match["mark"]) and text.count(match["mark"]) == 2:
        return text[match.end() : -len(match["mark"])]
    if len(text) > 2 and text[0] == text[-1] == "`" and text.count("`") == 2:
        return text[1:-1]
    return text


def _unbold(text: str) -> str:
    for mark in ("**", "__"):
        if len(text) > 4 and text.startswith(mark) and text.endswith(mark) and text.count(mark) == 2:
            return text[2:-2]
    return text


def _after_lead_in(text: str, starts: str) -> str:
    place = min((at for start in starts if (at := text.find(start, 0, _LONGEST_LEAD_IN)) >= 0), default=0)
    words = " ".join(text[:place].split())
    if any(map(str.isalpha, words)) and LEAD_IN.fullmatch(words):
        return text[place:]
    return text


def _spelled(text: str) -> str:
    """The words of a text that is one JSON string; empty where it is none."""
    try:
        value = json.loads(text)
    except ValueError:
        return ""
    return value if isinstance(value, str) else ""


def check_around(before: str, after: str, trust: Trust, what: str) -> None:
    """Refuse words around an answer that make it none.

    Raises:
        AnswerError: refused where the words decline; parse where they are more than this answer may have
        around it,
            may take it back, or cannot be judged.
    """
    first, last = before.strip(_BLANK), after.strip(_BLANK)
    for words in filter(None, (first, last)):
        _check_words(words, what)
    if not first and not last:
        return
    is_enough = trust == "around" or (
        trust == "after" and not first and "\n" in after[: len(after) - len(after.lstrip(_BLANK))]
    )
    if not is_enough or len(first) + len(last) > _LONGEST_PROSE:
        raise AnswerError("parse", f"{what} is not read with words around it: {shown(first or last)}")
    ending = first.rpartition("\n")[2]
    if first and not (_ENDED.search(first) or LEAD_IN.fullmatch(" ".join(ending.split()))):
        raise AnswerError("parse", f"{what} stands within a sentence: {shown(first)}")
    if last and "\n" not in after[: len(after) - len(after.lstrip(_BLANK))] and not last[0].isupper():
        raise AnswerError("parse", f"{what} stands within a sentence: {shown(last)}")
    for words in filter(None, (first, last)):
        told = _PROSE_QUOTATION.sub(" ", words)
        if _TAKEN_BACK.search(told):
            raise AnswerError("parse", f"words around {what} may take it back: {shown(words)}")
        if trust == "after" and _NUMBER.search(told):
            raise AnswerError("ambiguous", f"words behind {what} hold another number: {shown(words)}")
        if not _is_english(told):
            raise AnswerError("parse", f"words around {what} are no English sentences: {shown(words)}")


def check_reasons(words: str, what: str) -> None:
    """Refuse an answer whose own reasons decline: at their beginning, or anywhere in a few words.

    Raises:
        AnswerError: refused.
    """
    if not words:
        return
    start = (
        words[:_FEW_WORDS]
        if len(words) <= _FEW_WORDS
        else _SENTENCE.split(words[:_LONGEST_PROSE], maxsplit=1)[0]
    )
    _check_words(start, what)


def _check_words(words: str, what: str) -> None:
    """Refuse an answer beside words that decline.

    Raises:
        AnswerError: refused.
    """
    if any(is_refusal(sentence) for sentence in _SENTENCE.split(words[:_LONGEST_PROSE])) or is_refusal(words):
        raise AnswerError("refused", f"words beside {what} decline: {shown(words)}")


def check_before(words: str, what: str) -> None:
    """Refuse something if the reasoning before it declines or makes it part of a sentence.

    Raises:
        AnswerError: refused; parse for an open sentence or an open tag before it.
    """
    last = words.strip(_BLANK)
    check_reasons(last, what)
    ending = re.split(r"[.!?:。！？：]\s+|\n", last)[-1]
    if _TAKEN_BACK.search(ending) and not _ENDED.search(ending):
        raise AnswerError("parse", f"{what} stands within a sentence: {shown(ending)}")
    if _HYPOTHETICAL.search(last):
        raise AnswerError("parse", f"words before {what} say that it is none: {shown(last)}")
    if _OPEN_TAG.search(last):
        raise AnswerError("parse", f"{what} stands within a tag: {shown(last)}")


def admits_no_errors(words: str) -> bool:
    """Whether words can stand beside a clean verdict: they tell of no fault."""
    told = _NO_FAULT.sub(" ", _PROSE_QUOTATION.sub(" ", words))
    return not _FAULT.search(told) and not re.search(r"[1-9]", told)


def _is_english(words: str) -> bool:
    """Whether every sentence of some length has a word that English sentences have; names alone are none."""
    found = False
    for sentence in _SENTENCE.split(words):
        spoken = [word.lower() for word in _WORD.findall(sentence)]
        has_stop_word = not _STOP_WORDS.isdisjoint(spoken)
        if len(spoken) > 3 and not has_stop_word:
            return False
        found = found or has_stop_word
    return found
