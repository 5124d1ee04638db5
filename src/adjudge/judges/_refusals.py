"""How models decline, in the languages they decline in.

Only words around an answer are looked at, or words in place of one: never an answer, and nothing quoted.
Words in place of an answer are refused or unreadable, which both fail; words around one that decline make it
no answer.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["is_refusal"]

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
