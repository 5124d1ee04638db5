"""BLEU, spBLEU, chrF, chrF++ and TER as sacrebleu computes them, with one reference.

A segment's score is sacrebleu's `sentence_score`, a system's its `corpus_score`; no digit is ours. Equal in
every digit to the published BLEU and chrF scores of WMT23 (en-de and zh-en, segments and systems).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, get_args

from adjudge.core.frozen import frozen
from adjudge.core.judge import annotation_of
from adjudge.core.language import language_name, script_of, target_language
from adjudge.core.record import Annotation, check_one_of
from adjudge.core.segment import Subject
from adjudge.errors import DataError, UsageError

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric as Scorer

PieceModel = Literal["flores200", "flores101", "spBLEU-1K"]
Tokenizer = Literal[
    "13a", "intl", "zh", "ja-mecab", "ko-mecab", "char", "none", "flores200", "flores101", "spBLEU-1K"
]
"""Names that sacrebleu has; `spm`, which it is about to remove, is its other name for `flores101`."""

_BY_SCRIPT: Final[dict[str, Tokenizer]] = {
    **dict.fromkeys(("Hans", "Hant", "Hani", "Bopo"), "zh"),
    **dict.fromkeys(("Jpan", "Hira", "Kana"), "ja-mecab"),
    **dict.fromkeys(("Kore", "Hang"), "ko-mecab"),
    **dict.fromkeys(("Thai", "Laoo", "Khmr", "Mymr", "Tibt"), "char"),
}
"""Scripts whose words the usual tokenizers do not find, and the tokenizer to use."""
_SPACED: Final[tuple[Tokenizer, ...]] = ("13a", "intl")
_ANYWHERE: Final[tuple[Tokenizer, ...]] = ("char", "flores200", "flores101", "spBLEU-1K")
_PACKAGES: Final = {"ja-mecab": "sacrebleu[ja]", "ko-mecab": "sacrebleu[ko]"}


def check_model(tokenizer: Tokenizer) -> None:
    """Refuse a tokenizer whose sentencepiece model is not there; sacrebleu would download it unasked."""
    from sacrebleu.tokenizers.tokenizer_spm import SPM_MODELS
    from sacrebleu.utils import SACREBLEU_DIR

    if tokenizer not in SPM_MODELS:
        return
    url = SPM_MODELS[tokenizer]["url"]
    path = Path(SACREBLEU_DIR) / "models" / Path(url).name
    if not path.is_file() or not path.stat().st_size:  # a download that broke off leaves an empty file
        command = f"from sacrebleu import BLEU; BLEU(tokenize='{tokenizer}')"
        raise UsageError(
            f"tokenizer {tokenizer!r} needs its sentencepiece model as {path}: download {url} to there, or "
            f'let sacrebleu do it with python -c "{command}"; the environment variable SACREBLEU names '
            "another folder. The metric chrf needs no model"
        )


def describe_missing(tokenizer: Tokenizer, lp: str, error: Exception) -> str:
    """Why a tokenizer cannot be had, and what to do."""
    said = " ".join(str(error).split())
    if package := _PACKAGES.get(tokenizer):
        why = "" if "pip install" in said else f" ({said})"
        return (
            f"{tokenizer}, the tokenizer for {_language(lp)}, needs pip install '{package}'{why}; "
            "or choose --tokenize char, or the metric chrf"
        )
    return f"tokenizer {tokenizer!r} cannot be loaded; if its model is damaged, delete it ({said})"


def _tokenizer_of(lp: str) -> Tokenizer:
    return _BY_SCRIPT.get(script_of(target_language(lp)), "13a")


def _language(lp: str) -> str:
    return f"{language_name(target_language(lp))} ({lp})"


Smoothing = Literal["exp", "floor", "add-k", "none"]


class _SacreBleu(ABC):
    name: ClassVar[str]
    with_reference: ClassVar[bool] = True
    protocol: ClassVar[str] = "metric"
    weights: ClassVar[str | None] = None
    low: ClassVar[float | None] = 0.0
    high: ClassVar[float | None] = 100.0
    sign: ClassVar[int] = 1

    @abstractmethod
    def make(self, lp: str) -> Scorer:
        """Make sacrebleu's own metric.

        Raises:
            UsageError: it cannot score this target language, or needs what is not installed.
        """

    def make_for_segments(self, lp: str) -> Scorer:
        """Make the one that scores single segments, where it is another."""
        return self.make(lp)

    def settings(self, lp: str) -> Mapping[str, str]:
        """The fields of sacrebleu's own signature, its version under `sacrebleu`.

        A field in which the scores of segments differ stands a second time, as `segment-...`.

        Raises:
            UsageError: as `make`.
        """
        fields = _read_signature(_scorer(self, lp, of_segments=False))
        segments = _read_signature(_scorer(self, lp, of_segments=True))
        different = {f"segment-{name}": text for name, text in segments.items() if fields[name] != text}
        version = fields.pop("version")
        return {**fields, **different, "sacrebleu": version}

    def annotate(self, subjects: Sequence[Subject]) -> list[Annotation]:
        """Score each translation on its own.

        Raises:
            UsageError: as `make`.
            DataError: a segment without a reference.
        """
        return [self._annotate(subject) for subject in subjects]

    def corpus_score(self, subjects: Sequence[Subject]) -> float | None:
        """Score all translations of one system together, which is not the mean of their scores.

        Raises:
            UsageError: translations of several language pairs, or as `make`.
            DataError: a segment without a reference.
        """
        if not subjects:
            return None
        lps = list(dict.fromkeys(subject.lp for subject in subjects))
        if len(lps) > 1:
            raise UsageError(f"{self.name} scores one language pair at a time, got {', '.join(lps)}")
        references = [self._reference(subject) for subject in subjects]
        translations = [subject.translation for subject in subjects]
        return self._signed(_score_corpus(_scorer(self, lps[0], of_segments=False), translations, references))

    def _annotate(self, subject: Subject) -> Annotation:
        scorer = _scorer(self, subject.lp, of_segments=True)
        score = scorer.sentence_score(subject.translation, [self._reference(subject)]).score
        return annotation_of(self, subject, rating=self._signed(score))

    def _reference(self, subject: Subject) -> str:
        if subject.reference is None:
            raise DataError(f"{self.name} compares with a reference, and {subject.key} has none")
        return subject.reference

    def _signed(self, score: float) -> float:
        return self.sign * score + 0.0  # a perfect TER is 0.0 and not -0.0


@frozen
class Bleu(_SacreBleu):
    """BLEU (Papineni et al. 2002), 0 to 100: words in a row that the reference has too.

    A segment's score uses the effective order, as sacrebleu's `sentence_bleu` does; a system's does not.

    Args:
        tokenize: tokenizer; None for the one that finds the words of the target language.
        force: take a tokenizer that does not fit, and do not warn of texts that look tokenized.
        lowercase: ignore case.
        smooth_method: what an order of n-grams without a match counts.
        smooth_value: for `floor` and `add-k`; None for sacrebleu's.

    Raises:
        UsageError: a value that sacrebleu does not know, would ignore, or cannot compute with.
    """

    name: ClassVar[str] = "bleu"
    tokenizers: ClassVar[tuple[str, ...]] = get_args(Tokenizer)

    tokenize: Tokenizer | None = None
    force: bool = False
    lowercase: bool = False
    smooth_method: Smoothing = "exp"
    smooth_value: float | None = None

    def __post_init__(self) -> None:
        if self.tokenize is not None:
            check_one_of("tokenize", self.tokenize, self.tokenizers, UsageError)
        check_one_of("smooth_method", self.smooth_method, get_args(Smoothing), UsageError)
        if self.smooth_value is None:
            return
        if self.smooth_method not in {"floor", "add-k"}:
            raise UsageError(
                f"smooth_value is for floor and add-k, not for smooth_method {self.smooth_method!r}"
            )
        if not 0 <= self.smooth_value < math.inf:
            raise UsageError(f"smooth_value must be a number from 0 upwards, got {self.smooth_value!r}")

    def make(self, lp: str) -> Scorer:
        """BLEU for a system."""
        return self._make(lp, effective_order=False)

    def make_for_segments(self, lp: str) -> Scorer:
        """BLEU for segments, that one of three words is not 0 for want of four."""
        return self._make(lp, effective_order=True)

    def _make(self, lp: str, *, effective_order: bool) -> Scorer:
        from sacrebleu.metrics.bleu import BLEU

        own = _tokenizer_of(lp)
        fitting = dict.fromkeys((*(_SPACED if own == "13a" else (own,)), *_ANYWHERE))
        if self.tokenize is None or self.tokenize in fitting or self.force:
            tokenizer = self.tokenize or own
        else:
            raise UsageError(
                f"tokenizer {self.tokenize!r} does not fit {_language(lp)} and would score what is no word; "
                f"choose one of {', '.join(fitting)}, or --force to have it all the same"
            )
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
            raise UsageError(describe_missing(tokenizer, lp, error)) from error


@frozen
class SpBleu(Bleu):
    """spBLEU (Goyal et al. 2022), 0 to 100: BLEU of sentencepieces, one tokenizer for all languages.

    Args:
        tokenize: model of the pieces.
    """

    name: ClassVar[str] = "spbleu"
    tokenizers: ClassVar[tuple[str, ...]] = get_args(PieceModel)

    tokenize: PieceModel = "flores200"


@frozen
class Chrf(_SacreBleu):
    """chrF (Popović 2015), 0 to 100: characters in a row, recall counted twice; no tokenizer.

    Args:
        lowercase: ignore case.
        whitespace: let white space count as a character.
        eps_smoothing: smooth as chrF++.py, NLTK and Moses do, instead of by effective order.
    """

    name: ClassVar[str] = "chrf"
    word_order: ClassVar[int] = 0

    lowercase: bool = False
    whitespace: bool = False
    eps_smoothing: bool = False

    def make(self, lp: str) -> Scorer:  # noqa: ARG002 (the same for all languages)
        """ChrF, or chrF++ where words count too."""
        from sacrebleu.metrics.chrf import CHRF

        return CHRF(
            word_order=self.word_order,
            lowercase=self.lowercase,
            whitespace=self.whitespace,
            eps_smoothing=self.eps_smoothing,
        )


@frozen
class ChrfPlusPlus(Chrf):
    """chrF++ (Popović 2017), 0 to 100: chrF with words and pairs of words."""

    name: ClassVar[str] = "chrf++"
    word_order: ClassVar[int] = 2


@frozen
class Ter(_SacreBleu):
    """TER (Snover et al. 2006), negated, 0 is best: minus edits per 100 words of the reference; slow.

    Chinese and Japanese are split into characters; by sacrebleu's own default each sentence of theirs is one
    word. There is no worst score. Looking for shifts takes long: about 0.1 s for a paragraph, a hundred times
    what chrF takes.

    Args:
        case_sensitive: tell capitals from small letters.
        no_punct: leave out punctuation.
        normalized: split punctuation from words; None for where the language needs it.
        asian_support: with `normalized`, split into characters; None for where the language needs it.
        force: score a language whose words cannot be found.
    """

    name: ClassVar[str] = "ter"
    low: ClassVar[float | None] = None
    high: ClassVar[float | None] = 0.0
    sign: ClassVar[int] = -1

    case_sensitive: bool = False
    no_punct: bool = False
    normalized: bool | None = None
    asian_support: bool | None = None
    force: bool = False

    def settings(self, lp: str) -> Mapping[str, str]:
        """The fields of sacrebleu's own signature, and that the sign is turned."""
        return {**super().settings(lp), "sign": "negated"}

    def make(self, lp: str) -> Scorer:
        """TER, by characters where the language needs it."""
        from sacrebleu.metrics.ter import TER

        own = _tokenizer_of(lp)
        words = "characters" if own in {"zh", "ja-mecab"} else "nowhere" if own == "char" else "spaces"
        split = words == "characters"
        normalized = split if self.normalized is None else self.normalized
        asian_support = split if self.asian_support is None else self.asian_support
        if not self.force and (words == "nowhere" or (split and not (normalized and asian_support))):
            raise UsageError(
                f"ter with these settings counts words between spaces, and the target language of {lp} has "
                "none: take chrf or spbleu, or --force to have it all the same"
            )
        return TER(
            normalized=normalized,
            no_punct=self.no_punct,
            asian_support=asian_support,
            case_sensitive=self.case_sensitive,
        )


@lru_cache(maxsize=16)
def _scorer(metric: _SacreBleu, lp: str, *, of_segments: bool) -> Scorer:
    """One object for all segments of an lp, since a tokenizer may take a second to load."""
    return metric.make_for_segments(lp) if of_segments else metric.make(lp)


def _score_corpus(scorer: Scorer, translations: Sequence[str], references: Iterable[str]) -> float:
    prepare, extract = scorer._preprocess_segment, scorer._extract_reference_info  # noqa: SLF001 (no public way)
    scorer.num_refs = 1  # sacrebleu sets it where it reads references itself
    scorer._ref_cache = (extract([prepare(reference)]) for reference in references)  # noqa: SLF001
    try:
        return float(scorer.corpus_score(translations, None).score)
    finally:
        scorer._ref_cache = None  # noqa: SLF001


def _read_signature(scorer: Any) -> dict[str, str]:  # noqa: ANN401 (`num_refs` is declared nowhere)
    scorer.num_refs = 1  # sacrebleu knows it after the first score
    info = scorer.get_signature().info
    return {
        name: (("yes" if value else "no") if isinstance(value, bool) else str(value))
        for name, value in info.items()
        if value is not None
    }
