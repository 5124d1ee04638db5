"""What a language model says instead of a translation, or around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from adjudge.checks.texts import Mark, Texts, whole

__all__ = ["check_chatter", "check_refusal"]

_REFUSAL: Final = re.compile(
    r"\bas an? (?:AI|artificial intelligence|language model|AI language model)\b"
    r"|\bI(?:'m| am) (?:sorry|unable)\b[^.!?]{0,40}\b(?:cannot|can't|not able|unable|translat|assist|help)"
    r"|\bI (?:cannot|can't|can not) (?:translate|assist|help with|fulfil|comply|provide)\b"
    r"|\bals (?:KI|Sprachmodell|KI-Sprachmodell|künstliche Intelligenz)\b"
    r"|\b(?:ich kann|kann ich)\b[^.!?]{0,40}\bnicht (?:übersetzen|erfüllen|nachkommen)\b"
    r"|\ben tant (?:que modèle|qu'(?:IA|assistant))\b|\bje ne peux pas (?:traduire|répondre à cette)\b"
    r"|\bcomo (?:modelo de lenguaje|IA|asistente)\b|\bno puedo (?:traducir|ayudar con)\b"
    r"|作为(?:一个)?(?:人工智能|AI|语言模型)|(?:抱歉|对不起)，?我(?:无法|不能)(?:翻译|提供|满足|协助)"
    r"|(?:翻訳|お手伝い)(?:することは)?できません|言語モデルとして"
    r"|как (?:языковая модель|искусственный интеллект)|я не могу (?:перевести|выполнить)"
    r"|بصفتي (?:مساعد|نموذج)|لا يمكنني (?:ترجمة|تلبية|المساعدة)",
    re.IGNORECASE,
)
_WORD: Final = "translation|übersetzung|traduction|traducción|traduzione|tradução|перевод|译文|翻译|翻訳"
_PREAMBLE: Final = re.compile(
    r"\A\s*(?:(?:sure|certainly|of course|okay)[,!.:]\s*)?(?:here(?:'s| is)|this is)\s+(?:the|your|a|my)\s+"
    r"(?:\w+\s+){0,3}translation[^\n:]{0,40}[:.]"
    rf"|\A\s*(?:\w+ )?(?:{_WORD})\s?[:：]"
    rf"|\A\s*(?:hier ist|voici|aquí está|ecco|以下是|これは)[^\n:：]{{0,40}}(?:{_WORD})[^\n:：]{{0,20}}[:：]",
    re.IGNORECASE,
)
_NOTE: Final = re.compile(
    r"\n[^\S\n]*[(\[*]*(?:translator's note|note|anmerkung|hinweis|remarque|nota|注|примечание)\b"
    r"[^\n:：]{0,40}[:：][^\n]*",
    re.IGNORECASE,
)


def check_refusal(texts: Texts) -> Iterator[Mark]:
    """Find a model that declines, unless the source speaks so."""
    if _REFUSAL.search(texts.translation) and not _REFUSAL.search(texts.source):
        yield Mark("refusal", *whole(texts.translation), note="a model declines; this is no translation")


def check_chatter(texts: Texts) -> Iterator[Mark]:
    """Find announcements of the translation and notes below it, unless the source has the like."""
    for pattern in (_PREAMBLE, _NOTE):
        found = pattern.search(texts.translation)
        if found and not pattern.search(texts.source):
            start, end = whole(found[0])
            note = "a model speaks of its translation"
            yield Mark("chatter", found.start() + start, found.start() + end, note=note)
