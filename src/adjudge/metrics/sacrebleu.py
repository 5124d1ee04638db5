"""String metrics of sacreBLEU, with the tokenizer that the target language needs.

Segments are scored as sacreBLEU's `sentence_score` does, systems as its `corpus_score` does. A tokenizer that
cannot find the words of the target language gives a number all the same, and a wrong one (0.0 for good Chinese
with 13a), so that it is refused unless it is forced, and every tokenizer stands in the signature.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from adjudge.core.annotation import Annotation
from adjudge.core.language import target_language
from adjudge.core.segment import Subject
from adjudge.errors import DataError, UsageError

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric as Scorer

__all__ = ["Bleu", "Chrf", "ChrfPlusPlus", "SpBleu", "Ter"]

_PIECES: Final = ("flores200", "flores101", "spBLEU-1K")
_CHINESE: Final = frozenset({"zh", "yue", "wuu", "nan", "hak", "lzh"})
_UNSPACED: Final = frozenset({"th", "lo", "km", "my", "bo", "dz", "shn"})
_CJK: Final = _CHINESE | {"ja"}


class _StringMetric(ABC):
    """What all of them share. One reference; higher is better."""

    name: ClassVar[str]
    with_reference: ClassVar[bool] = True
    protocol: ClassVar[str] = "metric"
    weights: ClassVar[None] = None
    sign: ClassVar[int] = 1

    @abstractmethod
    def scorer(self, lp: str, *, of_segment: bool = False) -> Scorer:
        """The scorer of sacreBLEU for a language pair.

        Raises:
            UsageError: it cannot score this target language, or needs something that is not installed.
        """

    def settings(self, lp: str) -> Mapping[str, str]:
        """The fields of sacreBLEU's own signature.

        Raises:
            UsageError: as `scorer`.
        """
        scorer = self.scorer(lp)
        scorer.sentence_score("a", ["a"])  # sacreBLEU knows its signature after the first score
        fields = {
            key: _shown(value) for key, value in scorer.get_signature().info.items() if value is not None
        }
        fields["sacrebleu"] = fields.pop("version")
        return fields

    def annotate(self, subjects: Sequence[Subject]) -> list[Annotation]:
        """Score each translation on its own.

        Raises:
            UsageError: as `scorer`.
            DataError: a segment without a reference.
        """
        return [self._annotate(subject) for subject in subjects]

    def corpus_score(self, subjects: Sequence[Subject]) -> float | None:
        """Score of all translations of one system together, which is not the mean of their scores.

        Raises:
            UsageError: translations of several language pairs, or as `scorer`.
            DataError: a segment without a reference.
        """
        lps = list(dict.fromkeys(subject.lp for subject in subjects))
        if not lps:
            return None
        if len(lps) > 1:
            raise UsageError(f"{self.name} scores one language pair at a time, got {', '.join(lps)}")
        references = [self._reference(subject) for subject in subjects]
        translations = [subject.translation for subject in subjects]
        return self._signed(self.scorer(lps[0]).corpus_score(translations, [references]).score)

    def _annotate(self, subject: Subject) -> Annotation:
        scorer = self.scorer(subject.lp, of_segment=True)
        score = scorer.sentence_score(subject.translation, [self._reference(subject)]).score
        return Annotation(
            lp=subject.lp,
            document=subject.segment.document,
            segment=subject.segment.segment,
            system=subject.system,
            annotator=self.name,
            protocol=self.protocol,
            rating=self._signed(score),
        )

    def _signed(self, score: float) -> float:
        return self.sign * score + 0.0  # no negative zero

    def _reference(self, subject: Subject) -> str:
        if subject.reference is None:
            segment = f"segment {subject.segment.segment!r} of {subject.lp}"
            raise DataError(f"{self.name} compares with a reference, and {segment} has none")
        return subject.reference


@dataclass(frozen=True, kw_only=True)
class Bleu(_StringMetric):
    """BLEU (Papineni et al. 2002), 0 to 100: words in a row that the reference has too.

    Args:
        tokenize: tokenizer of sacreBLEU; empty for the one that the target language needs.
        force: whether a tokenizer may be used that does not fit the target language.
        lowercase: whether capitals count as small letters.
    """

    name: ClassVar[str] = "bleu"

    tokenize: str = ""
    force: bool = False
    lowercase: bool = False

    def scorer(self, lp: str, *, of_segment: bool = False) -> Scorer:
        """BLEU; for segments with `effective_order`, as in sacreBLEU's `sentence_bleu`."""
        language = _language(lp)
        fitting = _fitting(language)
        tokenizer = self.tokenize or fitting[0]
        if tokenizer not in fitting and not self.force:
            raise UsageError(
                f"tokenizer {tokenizer!r} does not fit {language!r}, and {self.name} would be wrong; "
                f"it has {', '.join(fitting)} (force=yes uses it all the same)"
            )
        return _bleu(tokenizer, of_segment, self.lowercase)

    def settings(self, lp: str) -> Mapping[str, str]:
        """The fields of sacreBLEU's own signature; segments differ in one."""
        forced = (
            {"tok-forced": "yes"} if self.tokenize and self.tokenize not in _fitting(_language(lp)) else {}
        )
        return {**super().settings(lp), "segment-eff": "yes", **forced}


@dataclass(frozen=True, kw_only=True)
class SpBleu(Bleu):
    """BLEU of word pieces that fit every language (Goyal et al. 2022), 0 to 100.

    Args:
        tokenize: the model of the pieces; empty for flores200.
        lowercase: whether capitals count as small letters.
    """

    name: ClassVar[str] = "spbleu"

    tokenize: Literal["flores200", "flores101", "spBLEU-1K"] = "flores200"


@dataclass(frozen=True, kw_only=True)
class Chrf(_StringMetric):
    """ChrF (Popović 2015), 0 to 100: characters in a row, recall counted twice; no tokenizer.

    Args:
        lowercase: whether capitals count as small letters.
    """

    name: ClassVar[str] = "chrf"
    word_order: ClassVar[int] = 0

    lowercase: bool = False

    def scorer(self, lp: str, *, of_segment: bool = False) -> Scorer:  # noqa: ARG002 (alike for all)
        """ChrF, the same for systems and segments."""
        return _chrf(self.word_order, self.lowercase)


@dataclass(frozen=True, kw_only=True)
class ChrfPlusPlus(Chrf):
    """ChrF++ (Popović 2017), 0 to 100: chrF with words and pairs of words.

    Args:
        lowercase: whether capitals count as small letters.
    """

    name: ClassVar[str] = "chrf++"
    word_order: ClassVar[int] = 2


@dataclass(frozen=True, kw_only=True)
class Ter(_StringMetric):
    """Translation edit rate (Snover et al. 2006), negated: minus edits per 100 words of the reference.

    Chinese and Japanese are split into characters; sacreBLEU leaves them whole by default, one word a
    sentence.

    Args:
        case_sensitive: whether capitals count.
        force: whether a language may be scored in which no words can be found.
    """

    name: ClassVar[str] = "ter"
    sign: ClassVar[int] = -1

    case_sensitive: bool = False
    force: bool = False

    def scorer(self, lp: str, *, of_segment: bool = False) -> Scorer:  # noqa: ARG002 (alike for both)
        """TER, the same for systems and segments."""
        language = _language(lp)
        if language in _UNSPACED and not self.force:
            raise UsageError(
                f"ter counts words, and {language!r} has no spaces between them; "
                "use chrf or spbleu (force=yes counts what stands between spaces)"
            )
        return _ter(language in _CJK, self.case_sensitive)

    def settings(self, lp: str) -> Mapping[str, str]:
        """The fields of sacreBLEU's own signature, and that the sign is turned."""
        return {**super().settings(lp), "sign": "negated"}


def _language(lp: str) -> str:
    return target_language(lp).partition("_")[0]


def _fitting(language: str) -> tuple[str, ...]:
    """Tokenizers of sacreBLEU that find the words of a language, the one to use first."""
    if language in _CHINESE:
        return ("zh", "char", *_PIECES)
    if language in {"ja", "ko"}:
        return (f"{language}-mecab", "char", *_PIECES)
    return ("char", *_PIECES) if language in _UNSPACED else ("13a", "intl", "char", *_PIECES)


@lru_cache(maxsize=16)
def _bleu(tokenizer: str, effective_order: bool, lowercase: bool) -> Scorer:  # noqa: FBT001 (keys of the cache)
    from sacrebleu.metrics.bleu import BLEU

    if tokenizer not in BLEU.TOKENIZERS:
        raise UsageError(f"no tokenizer {tokenizer!r}; sacreBLEU has {', '.join(sorted(BLEU.TOKENIZERS))}")
    _check_model(tokenizer)
    try:
        return BLEU(tokenize=tokenizer, effective_order=effective_order, lowercase=lowercase)
    except (ImportError, RuntimeError, AssertionError) as error:
        raise UsageError(f"tokenizer {tokenizer!r} cannot be used: {_remedy(tokenizer, error)}") from error


@lru_cache(maxsize=16)
def _chrf(word_order: int, lowercase: bool) -> Scorer:  # noqa: FBT001 (keys of the cache)
    from sacrebleu.metrics.chrf import CHRF

    return CHRF(word_order=word_order, lowercase=lowercase)


@lru_cache(maxsize=16)
def _ter(by_character: bool, case_sensitive: bool) -> Scorer:  # noqa: FBT001 (keys of the cache)
    from sacrebleu.metrics.ter import TER

    return TER(normalized=by_character, asian_support=by_character, case_sensitive=case_sensitive)


def _check_model(tokenizer: str) -> None:
    """Refuse word pieces whose model is not there: sacreBLEU would go and download it unasked."""
    from sacrebleu.tokenizers.tokenizer_spm import SPM_MODELS
    from sacrebleu.utils import SACREBLEU_DIR

    if tokenizer not in SPM_MODELS:
        return
    file = Path(SACREBLEU_DIR) / "models" / Path(SPM_MODELS[tokenizer]["url"]).name
    if not file.exists() or not file.stat().st_size:
        raise UsageError(
            f"tokenizer {tokenizer!r} needs its model in {file}. Where there is a network, sacreBLEU and "
            f"sentencepiece fetch it: echo a > a.txt; sacrebleu a.txt -i a.txt -tok {tokenizer}. "
            "Then copy that file, or use chrf"
        )


def _remedy(tokenizer: str, error: Exception) -> str:
    packages = {"ja-mecab": "sacrebleu[ja]", "ko-mecab": "sacrebleu[ko]"}
    package = packages.get(tokenizer, "sentencepiece")
    said = " ".join(str(error).split())[:100]
    return f"pip install '{package}' gives what is missing, or use chrf or tokenize=char ({said})"


def _shown(value: Any) -> str:  # noqa: ANN401 (whatever sacreBLEU says of itself)
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
