"""Which of sacrebleu's tokenizers fits a language, and what it needs to run.

BLEU with a tokenizer that leaves a text whole measures nothing: a Chinese translation that scores 54 with
`zh` scores 0 with `13a`. sacrebleu knows the target language of its own test sets only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from adjudge.core.language import language_name, script_of, target_language
from adjudge.errors import UsageError

__all__ = ["PieceModel", "Tokenizer", "check_model", "choose_tokenizer", "find_words"]

PieceModel = Literal["flores200", "flores101", "spBLEU-1K"]
Tokenizer = Literal[
    "13a", "intl", "zh", "ja-mecab", "ko-mecab", "char", "none", "flores200", "flores101", "spBLEU-1K"
]

_ANY_LANGUAGE: Final = ("char", "flores200", "flores101", "spBLEU-1K")
_OWN: Final[dict[str, Tokenizer | None]] = {
    **dict.fromkeys(("Hans", "Hant", "Hani"), "zh"),
    **dict.fromkeys(("Jpan", "Hira", "Kana"), "ja-mecab"),
    **dict.fromkeys(("Kore", "Hang"), "ko-mecab"),
    **dict.fromkeys(("Thai", "Laoo", "Khmr", "Mymr", "Tibt")),
}
"""Scripts in which the usual tokenizers find no words, and the one that does; None if there is none."""


def choose_tokenizer(lp: str, wanted: Tokenizer | None, *, force: bool) -> Tokenizer:
    """The tokenizer for the target language of an lp.

    Args:
        lp: language pair.
        wanted: the one that was chosen; None for the one that fits.
        force: take the chosen one even if it does not fit.

    Raises:
        UsageError: the chosen one does not fit, or none was chosen and sacrebleu has none that does.
    """
    target = target_language(lp)
    own = _OWN.get(script_of(target), "13a")
    if wanted is None:
        if own is None:
            raise UsageError(
                f"{language_name(target)} ({lp}) is written without spaces between words, and sacrebleu has "
                "no tokenizer that finds them: choose --tokenize char, or the metric spbleu or chrf"
            )
        return own
    fitting: tuple[str | None, ...] = (own, *_ANY_LANGUAGE)
    if own == "13a":
        fitting = (*fitting, "intl", "none")
    if wanted in fitting or force:
        return wanted
    raise UsageError(
        f"tokenizer {wanted!r} does not fit {language_name(target)} ({lp}); choose one of "
        f"{', '.join(name for name in fitting if name)}, or --force to have it all the same"
    )


def find_words(lp: str) -> Literal["spaces", "characters", "unknown"]:
    """How words are told apart in the target language of an lp; Chinese and Japanese go by characters."""
    own = _OWN.get(script_of(target_language(lp)), "13a")
    if own in {"zh", "ja-mecab"}:
        return "characters"
    return "unknown" if own is None else "spaces"


def check_model(tokenizer: str) -> None:
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
    if not path.is_file():
        command = f"from sacrebleu import BLEU; BLEU(tokenize='{tokenizer}')"
        raise UsageError(
            f"tokenizer {tokenizer!r} needs its sentencepiece model, and {path} is not there: download {url} "
            f'to it, or let sacrebleu do so with python -c "{command}". The environment variable SACREBLEU '
            "names another folder for it"
        )
