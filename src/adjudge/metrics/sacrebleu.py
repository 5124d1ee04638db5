"""BLEU, spBLEU, chrF, chrF++ and TER as sacrebleu computes them, with one reference.

A segment's score is sacrebleu's `sentence_score`, a system's its `corpus_score`; no digit is ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from adjudge.core.annotation import Annotation
from adjudge.core.language import language_name, target_language
from adjudge.core.segment import Subject
from adjudge.errors import UsageError
from adjudge.metrics.tokenizers import PieceModel, Tokenizer, check_model, choose_tokenizer, find_words

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric as Scorer

__all__ = ["Bleu", "Chrf", "ChrfPlusPlus", "SpBleu", "Ter"]

_EXTRA: Final = {"ja-mecab": "ja", "ko-mecab": "ko"}


@dataclass(frozen=True, kw_only=True)
class _SacreBleu:
    """What the metrics of sacrebleu have in common."""

    name: ClassVar[str]
    with_reference: ClassVar[bool] = True
    protocol: ClassVar[str] = "metric"
    weights: ClassVar[str | None] = None
    sign: ClassVar[int] = 1

    def make(self, lp: str) -> Scorer:
        """Make sacrebleu's own metric.

        Raises:
            UsageError: these settings and that language pair do not go together.
        """
        raise NotImplementedError

    def make_for_segments(self, lp: str) -> Scorer:
        """Make the one that scores single segments, where it is another."""
        return self.make(lp)

    def settings(self, lp: str) -> Mapping[str, str]:
        """The fields of sacrebleu's signature; its version stands under `sacrebleu`.

        Raises:
            UsageError: these settings and that language pair do not go together.
        """
        fields = _read_signature(_scorer(self, lp, for_segments=False))
        version = fields.pop("version")
        for name, value in _read_signature(_scorer(self, lp, for_segments=True)).items():
            if fields.get(name, version) != value:
                fields[f"{name}-seg"] = value
        return {**fields, "sacrebleu": version}

    def annotate(self, subjects: Sequence[Subject]) -> list[Annotation]:
        """Score each translation on its own.

        Raises:
            UsageError: a subject without a reference.
        """
        return [self._annotate(subject) for subject in subjects]

    def corpus_score(self, subjects: Sequence[Subject]) -> float | None:
        """Score all translations of one system into one language together.

        Raises:
            UsageError: a subject without a reference.
        """
        if not subjects:
            return None
        scorer = _scorer(self, subjects[0].lp, for_segments=False)
        references = [self._reference(subject) for subject in subjects]
        return self._signed(scorer.corpus_score([s.translation for s in subjects], [references]).score)

    def _annotate(self, subject: Subject) -> Annotation:
        scorer = _scorer(self, subject.lp, for_segments=True)
        score = scorer.sentence_score(subject.translation, [self._reference(subject)]).score
        return Annotation(
            lp=subject.lp,
            segment=subject.segment.segment,
            system=subject.system,
            annotator=self.name,
            protocol=self.protocol,
            document=subject.segment.document,
            rating=self._signed(score),
        )

    def _reference(self, subject: Subject) -> str:
        if subject.reference is None:
            raise UsageError(f"{self.name} needs a reference, and {subject.key} has none")
        return subject.reference

    def _signed(self, score: float) -> float:
        return 0.0 + self.sign * score  # a perfect TER is 0.0 and not -0.0


@dataclass(frozen=True, kw_only=True)
class Bleu(_SacreBleu):
    """BLEU (Papineni et al. 2002): n-grams of words; 0 to 100, tokenizer by target language.

    A segment's score uses the effective order, a system's does not, as in sacrebleu.

    Args:
        tokenize: tokenizer; None for the one that fits the target language.
        force: take a tokenizer that does not fit, and texts that look tokenized.
        lowercase: ignore case.
        smooth_method: what becomes of orders without a match.
        smooth_value: for `floor` and `add-k`; None for sacrebleu's.
    """

    name: ClassVar[str] = "bleu"

    tokenize: Tokenizer | None = None
    force: bool = False
    lowercase: bool = False
    smooth_method: Literal["exp", "floor", "add-k", "none"] = "exp"
    smooth_value: float | None = None

    def __post_init__(self) -> None:
        """Refuse a value that sacrebleu would ignore."""
        if self.smooth_value is not None and self.smooth_method not in {"floor", "add-k"}:
            raise UsageError(f"smooth_value is for floor and add-k, not for {self.smooth_method!r} smoothing")

    def make(self, lp: str) -> Scorer:
        """Make sacrebleu's BLEU with the tokenizer for that language pair."""
        return self._make(lp, effective_order=False)

    def make_for_segments(self, lp: str) -> Scorer:
        """Make the one with effective order, so that a short segment is not 0 for want of n-grams."""
        return self._make(lp, effective_order=True)

    def _make(self, lp: str, *, effective_order: bool) -> Scorer:
        from sacrebleu.metrics.bleu import BLEU

        tokenizer = choose_tokenizer(lp, self.tokenize, force=self.force)
        check_model(tokenizer)
        try:
            return BLEU(
                lowercase=self.lowercase,
                force=self.force,
                tokenize=tokenizer,
                smooth_method=self.smooth_method,
                smooth_value=self.smooth_value,
                effective_order=effective_order,
            )
        except (AssertionError, ImportError, OSError, RuntimeError) as error:
            raise UsageError(_what_is_missing(tokenizer, lp, error)) from error


@dataclass(frozen=True, kw_only=True)
class SpBleu(Bleu):
    """spBLEU (Goyal et al. 2022): BLEU over sentencepieces, one tokenizer for 200 languages; 0 to 100.

    Args:
        tokenize: name of the sentencepiece model.
    """

    name: ClassVar[str] = "spbleu"

    tokenize: PieceModel = "flores200"


@dataclass(frozen=True, kw_only=True)
class Chrf(_SacreBleu):
    """chrF (Popović 2015): n-grams of characters, no tokenizer; 0 to 100.

    Args:
        lowercase: ignore case.
        whitespace: let white space be a character.
        eps_smoothing: smooth as chrF++.py, NLTK and Moses do, instead of by effective order.
    """

    name: ClassVar[str] = "chrf"
    word_order: ClassVar[int] = 0

    lowercase: bool = False
    whitespace: bool = False
    eps_smoothing: bool = False

    def make(self, lp: str) -> Scorer:  # noqa: ARG002 (the same for all languages)
        """Make sacrebleu's chrF."""
        from sacrebleu.metrics.chrf import CHRF

        return CHRF(
            word_order=self.word_order,
            lowercase=self.lowercase,
            whitespace=self.whitespace,
            eps_smoothing=self.eps_smoothing,
        )


@dataclass(frozen=True, kw_only=True)
class ChrfPlusPlus(Chrf):
    """chrF++ (Popović 2017): chrF with words and pairs of words; 0 to 100."""

    name: ClassVar[str] = "chrf++"
    word_order: ClassVar[int] = 2


@dataclass(frozen=True, kw_only=True)
class Ter(_SacreBleu):
    """TER (Snover et al. 2006): edits to the reference in percent of its words, as a negative number.

    0 is best, and there is no worst.

    Args:
        case_sensitive: tell capitals from small letters.
        no_punct: leave out punctuation.
        normalized: split punctuation from words; None for where the language needs it.
        asian_support: split Chinese and Japanese into characters; None for where the language needs it.
        force: score a language whose words sacrebleu cannot find.
    """

    name: ClassVar[str] = "ter"
    sign: ClassVar[int] = -1

    case_sensitive: bool = False
    no_punct: bool = False
    normalized: bool | None = None
    asian_support: bool | None = None
    force: bool = False

    def settings(self, lp: str) -> Mapping[str, str]:
        """The fields of sacrebleu's signature, and that the sign is turned."""
        return {**super().settings(lp), "sign": "negative"}

    def make(self, lp: str) -> Scorer:
        """Make sacrebleu's TER, by characters where the language needs it."""
        from sacrebleu.metrics.ter import TER

        words = find_words(lp)
        split = words == "characters"
        normalized = split if self.normalized is None else self.normalized
        asian_support = split if self.asian_support is None else self.asian_support
        if not self.force and (words == "unknown" or (split and not (normalized and asian_support))):
            language = language_name(target_language(lp))
            raise UsageError(
                f"ter as set counts words between spaces, and {language} ({lp}) has none: take chrf, or "
                "--force to have it all the same"
            )
        return TER(
            normalized=normalized,
            no_punct=self.no_punct,
            asian_support=asian_support,
            case_sensitive=self.case_sensitive,
        )


@lru_cache(maxsize=16)
def _scorer(metric: _SacreBleu, lp: str, *, for_segments: bool) -> Scorer:
    """One object for all segments of an lp, since a tokenizer may take a second to load."""
    return metric.make_for_segments(lp) if for_segments else metric.make(lp)


def _read_signature(scorer: Any) -> dict[str, str]:  # noqa: ANN401 (sacrebleu sets `num_refs` as it goes)
    scorer.num_refs = 1
    info = scorer.get_signature().info
    words = {True: "yes", False: "no"}
    return {
        name: words[value] if isinstance(value, bool) else str(value)
        for name, value in info.items()
        if value is not None
    }


def _what_is_missing(tokenizer: str, lp: str, error: Exception) -> str:
    """Why a tokenizer cannot be had, and what to do."""
    if extra := _EXTRA.get(tokenizer):
        language = language_name(target_language(lp))
        why = "" if "pip install" in str(error) else f" ({error})"
        return (
            f"{tokenizer}, the tokenizer for {language} ({lp}), needs pip install 'sacrebleu[{extra}]'{why}; "
            "or choose --tokenize char, or the metric chrf"
        )
    if isinstance(error, ImportError):
        return f"tokenizer {tokenizer!r} needs pip install sentencepiece"
    return f"tokenizer {tokenizer!r} cannot be loaded ({error}); if its model is damaged, delete it"
