"""Which of sacrebleu's tokenizers finds the words of a language, and what it needs to run.

BLEU with a tokenizer that leaves a text whole measures nothing, and gives a number all the same: a Chinese
translation that scores 54 with `zh` scores 0 with `13a`. sacrebleu knows the target language of its own test
sets only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from adjudge.core.language import language_name, script_of, target_language
from adjudge.errors import UsageError

__all__ = ["PieceModel", "Tokenizer", "check_model", "choose_tokenizer", "describe_missing", "find_words"]

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


def choose_tokenizer(lp: str, wanted: Tokenizer | None, *, force: bool) -> Tokenizer:
    """The tokenizer for the target language of an lp.

    Args:
        lp: language pair.
        wanted: the one that was chosen; None for the one that fits.
        force: take the chosen one even if it does not fit.

    Raises:
        UsageError: the chosen one does not fit.
    """
    own = _tokenizer_of(lp)
    fitting = dict.fromkeys((*(_SPACED if own == "13a" else (own,)), *_ANYWHERE))
    if wanted is None or wanted in fitting or force:
        return wanted or own
    raise UsageError(
        f"tokenizer {wanted!r} does not fit {_language(lp)} and would score what is no word; choose one of "
        f"{', '.join(fitting)}, or --force to have it all the same"
    )


def find_words(lp: str) -> Literal["spaces", "characters", "nowhere"]:
    """Where the words of the target language end, for a metric that has no tokenizer but TER's."""
    own = _tokenizer_of(lp)
    if own in {"zh", "ja-mecab"}:
        return "characters"
    return "nowhere" if own == "char" else "spaces"


def check_model(tokenizer: Tokenizer) -> None:
    """Refuse a tokenizer whose sentencepiece model is not there; sacrebleu would go and download it unasked.

    Raises:
        UsageError: says where the model must lie and how it comes there.
    """
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
