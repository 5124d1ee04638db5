"""Our string metrics are sacreBLEU's, to the last digit, and never with the wrong tokenizer."""

import logging
import sys
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import sacrebleu
import sacrebleu.utils
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.annotation import Annotation
from adjudge.core.judge import Metric
from adjudge.core.segment import Segment, Subject
from adjudge.errors import DataError, UsageError
from adjudge.metrics import METRICS, load_metric
from adjudge.metrics.sacrebleu import SpBleu

GERMAN = (
    ["Der Hund biss den Mann.", "Das war keine Überraschung.", "Der Mann hatte ihn gerade gebissen."],
    [
        "Der Hund hat den Mann gebissen.",
        "Das war keine große Überraschung.",
        "Der Mann hatte ihn eben erst gebissen.",
    ],
)
CHINESE = (
    ["我们昨天去了北京的博物馆。", "他今天不在家。"],
    ["昨天我们去了北京的博物馆。", "他今天没有在家。"],
)
STRINGS = ["bleu", "chrf", "chrf++", "ter"]


def subjects(lp: str, texts: tuple[Sequence[str], Sequence[str]]) -> list[Subject]:
    return [
        Subject(
            segment=Segment(segment=str(number), lp=lp, source="?", translations={"a": translation}),
            systems=("a",),
            reference=reference,
        )
        for number, (translation, reference) in enumerate(zip(*texts, strict=True))
    ]


def ratings(annotations: list[Annotation]) -> list[float | None]:
    return [annotation.rating for annotation in annotations]


def theirs(name: str) -> tuple[Any, Any]:
    """What sacreBLEU's own functions use for a corpus and for a sentence."""
    return {
        "bleu": (sacrebleu.BLEU(), sacrebleu.BLEU(effective_order=True)),
        "chrf": (sacrebleu.CHRF(), sacrebleu.CHRF()),
        "chrf++": (sacrebleu.CHRF(word_order=2), sacrebleu.CHRF(word_order=2)),
        "ter": (sacrebleu.TER(), sacrebleu.TER()),
    }[name]


@pytest.mark.parametrize(
    ("name", "lp", "texts", "corpus", "first"),
    [
        ("bleu", "en-de", GERMAN, 29.53191727079192, 20.547995616750768),
        ("chrf", "en-de", GERMAN, 65.02498171351778, 48.22656334761587),
        ("chrf++", "en-de", GERMAN, 65.0398633202729, 49.7141766782704),
        ("ter", "en-de", GERMAN, -33.33333333333333, -50.0),
        ("bleu", "en-zh", CHINESE, 61.79687235238734, 75.10499815709778),
        ("chrf", "en-zh", CHINESE, 56.00624509561168, 68.75420875420876),
        ("ter", "en-zh", CHINESE, -14.285714285714285, -7.6923076923076925),
    ],
)
def test_a_known_score_stays_the_same(
    name: str, lp: str, texts: tuple[list[str], list[str]], corpus: float, first: float
) -> None:
    metric = load_metric(name)
    assert metric.corpus_score(subjects(lp, texts)) == pytest.approx(corpus, abs=1e-12)
    assert ratings(metric.annotate(subjects(lp, texts)))[0] == pytest.approx(first, abs=1e-12)


TEXT = st.text(max_size=30)


@pytest.mark.parametrize("name", STRINGS)
@given(texts=st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=4))
def test_every_score_is_that_of_sacrebleu_to_the_last_digit(name: str, texts: list[tuple[str, str]]) -> None:
    translations, references = [t for t, _ in texts], [r for _, r in texts]
    corpus, sentence = theirs(name)
    sign = -1 if name == "ter" else 1
    metric, chosen = load_metric(name), subjects("de-en", (translations, references))
    assert metric.corpus_score(chosen) == sign * corpus.corpus_score(translations, [references]).score
    expected = [sign * sentence.sentence_score(t, [r]).score for t, r in texts]
    assert ratings(metric.annotate(chosen)) == expected


@pytest.mark.parametrize("name", STRINGS)
def test_a_better_translation_scores_higher(name: str) -> None:
    same = subjects("en-de", (GERMAN[1], GERMAN[1]))
    metric = load_metric(name)
    best, other = metric.corpus_score(same), metric.corpus_score(subjects("en-de", GERMAN))
    assert best is not None
    assert other is not None
    assert best > other
    assert best == pytest.approx(0 if name == "ter" else 100)
    assert str(best) != "-0.0"


@pytest.mark.parametrize("name", STRINGS)
def test_the_signature_is_sacrebleus(name: str) -> None:
    settings = dict(load_metric(name).settings("en-de"))
    scorer = theirs(name)[0]
    scorer.corpus_score(*[GERMAN[0], [GERMAN[1]]])
    said = dict(pair.split(":") for pair in scorer.get_signature().format().split("|"))
    assert settings.pop("sacrebleu") == said.pop("version") == sacrebleu.__version__
    extra = {"bleu": {"segment-eff": "yes"}, "ter": {"sign": "negated"}}
    assert settings == said | extra.get(name, {})


@pytest.mark.parametrize(
    ("lp", "tokenizer"),
    [("en-de", "13a"), ("en-pt_BR", "13a"), ("en-zh", "zh"), ("en-zh_TW", "zh"), ("en-th", "char")],
)
def test_the_tokenizer_follows_the_target_language(lp: str, tokenizer: str) -> None:
    assert load_metric("bleu").settings(lp)["tok"] == tokenizer


@pytest.mark.parametrize(
    ("lp", "tokenizer"),
    [
        *(("en-zh", "13a"), ("en-zh", "intl"), ("en-ja", "13a"), ("en-th", "13a"), ("en-ko", "13a")),
        *(("en-de", "zh"), ("en-de", "none"), ("zh-en", "zh")),
    ],
)
def test_a_tokenizer_that_does_not_fit_is_refused(lp: str, tokenizer: str) -> None:
    metric = load_metric("bleu", {"tokenize": tokenizer})
    language = lp.split("-")[1]
    for use in (
        lambda: metric.settings(lp),
        lambda: metric.annotate(subjects(lp, CHINESE)),
        lambda: metric.corpus_score(subjects(lp, CHINESE)),
    ):
        with pytest.raises(UsageError, match=f"tokenizer '{tokenizer}' does not fit '{language}'"):
            use()


def test_a_forced_tokenizer_is_used_and_said() -> None:
    forced = load_metric("bleu", {"tokenize": "13a", "force": "yes"})
    assert forced.corpus_score(subjects("en-zh", CHINESE)) == 0.0
    assert {"tok": "13a", "tok-forced": "yes"}.items() <= dict(forced.settings("en-zh")).items()
    assert "tok-forced" not in load_metric("bleu", {"tokenize": "char"}).settings("en-zh")


def test_nothing_is_logged_about_a_tokenizer_that_was_chosen(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        metric = load_metric("bleu", {"tokenize": "char", "lowercase": "yes"})
        metric.settings("en-zh")
        metric.annotate(subjects("en-zh", CHINESE))
    assert not caplog.records
    assert metric.settings("en-zh")["case"] == "lc"


def test_an_unknown_tokenizer_is_named_with_those_that_exist() -> None:
    with pytest.raises(UsageError, match="no tokenizer 'words'; sacreBLEU has 13a, char"):
        load_metric("bleu", {"tokenize": "words", "force": "yes"}).settings("en-de")


@pytest.mark.parametrize("language", ["ja", "ko"])
def test_a_missing_analyser_is_named_with_its_package(language: str) -> None:
    try:
        __import__({"ja": "MeCab", "ko": "mecab_ko"}[language])
    except ImportError:
        with pytest.raises(UsageError, match=rf"pip install 'sacrebleu\[{language}\]'"):
            load_metric("bleu").settings(f"en-{language}")
    else:
        assert load_metric("bleu").settings(f"en-{language}")["tok"].startswith(f"{language}-mecab")


def test_word_pieces_without_their_model_say_where_it_belongs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sacrebleu.utils, "SACREBLEU_DIR", str(tmp_path))
    file = tmp_path / "models" / "flores200sacrebleuspm"
    with pytest.raises(UsageError, match=f"needs its model in {file}"):
        load_metric("spbleu").settings("en-de")
    file.parent.mkdir()
    file.touch()  # what a download that failed leaves behind
    with pytest.raises(UsageError, match="needs its model"):
        load_metric("spbleu").settings("en-de")


def test_word_pieces_without_sentencepiece_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place_model(tmp_path, monkeypatch)
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(UsageError, match="pip install 'sentencepiece'"):
        load_metric("spbleu", {"tokenize": "flores101"}).settings("en-de")


def test_word_pieces_are_scored_as_bleu_of_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place_model(tmp_path, monkeypatch)

    class Letters:
        """Stands in for the model: every letter is a piece."""

        def Load(self, path: str) -> None:  # noqa: N802 (their name)
            assert Path(path).read_bytes() == b"model"

        def EncodeAsPieces(self, line: str) -> list[str]:  # noqa: N802 (their name)
            return list(line.replace(" ", "▁"))

    module = types.ModuleType("sentencepiece")
    module.SentencePieceProcessor = Letters  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentencepiece", module)
    metric = SpBleu(lowercase=True)  # a cache key of its own
    chosen = subjects("en-ja", CHINESE)
    expected = sacrebleu.BLEU(tokenize="flores200", lowercase=True).corpus_score(CHINESE[0], [CHINESE[1]])
    assert metric.corpus_score(chosen) == expected.score
    assert metric.settings("en-ja")["tok"] == "flores200"


def place_model(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sacrebleu.tokenizers import tokenizer_spm

    monkeypatch.setattr(sacrebleu.utils, "SACREBLEU_DIR", str(folder))
    monkeypatch.setattr(tokenizer_spm, "SACREBLEU_DIR", str(folder))
    (folder / "models").mkdir()
    for name in ("flores200sacrebleuspm", "sacrebleu_tokenizer_spm.model"):
        (folder / "models" / name).write_bytes(b"model")


def test_ter_splits_chinese_and_refuses_what_it_cannot_split() -> None:
    assert {"asian": "yes", "norm": "yes"}.items() <= dict(load_metric("ter").settings("en-zh")).items()
    with pytest.raises(UsageError, match="'th' has no spaces"):
        load_metric("ter").settings("en-th")
    assert load_metric("ter", {"force": "yes"}).settings("en-th")["asian"] == "no"


@pytest.mark.parametrize("name", STRINGS)
def test_a_segment_without_a_reference_is_an_error_that_names_it(name: str) -> None:
    chosen = [Subject(segment=s.segment, systems=s.systems) for s in subjects("en-de", GERMAN)]
    metric = load_metric(name)
    with pytest.raises(DataError, match="segment '0' of en-de has none"):
        metric.annotate(chosen)
    with pytest.raises(DataError, match="segment '0' of en-de has none"):
        metric.corpus_score(chosen)


def test_no_translations_have_no_score_and_two_language_pairs_have_none_together() -> None:
    metric = load_metric("chrf")
    assert metric.corpus_score([]) is None
    with pytest.raises(UsageError, match="one language pair at a time, got en-de, en-zh"):
        metric.corpus_score(subjects("en-de", GERMAN) + subjects("en-zh", CHINESE))
    both = metric.annotate(subjects("en-de", GERMAN) + subjects("en-zh", CHINESE))
    assert [a.lp for a in both] == ["en-de"] * 3 + ["en-zh"] * 2


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_says_what_it_is(name: str) -> None:
    metric: Metric = load_metric(name)
    assert metric.name == name
    assert metric.protocol == ("mqm" if name == "rules" else "metric")
    assert metric.with_reference == (name != "rules")
    assert (type(metric).__doc__ or "").strip()


def test_an_unknown_metric_or_setting_is_named_with_those_that_exist() -> None:
    with pytest.raises(UsageError, match="no metric 'comet'; there are bleu, chrf"):
        load_metric("comet")
    with pytest.raises(UsageError, match="metric 'bleu' has no setting 'smooth'; it has tokenize"):
        load_metric("bleu", {"smooth": "floor"})


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("lp", "system", "name", "published"),
    [
        ("en-de", "AIRC", "bleu", "BLEU"),
        ("en-de", "ONLINE-W", "chrf", "chrF"),
        ("zh-en", "ANVITA", "bleu", "BLEU"),
    ],
)
def test_the_scores_of_wmt23_are_ours(
    adjudge_data: Path, lp: str, system: str, name: str, published: str
) -> None:
    """Published to full precision, with the reference as every system's reference."""
    folder = adjudge_data / "wmt23"

    def lines(path: str) -> list[str]:
        return (folder / path).read_text(encoding="utf-8").removesuffix("\n").split("\n")

    scores = f"metric-scores/{lp}/{published}-refA"
    by_system = dict(line.split("\t") for line in lines(f"{scores}.sys.score"))
    by_segment = [line.split("\t") for line in lines(f"{scores}.seg.score")]
    references, metric = lines(f"references/{lp}.refA.txt"), load_metric(name)
    chosen = subjects(lp, (lines(f"system-outputs/{lp}/{system}.txt"), references))
    assert metric.corpus_score(chosen) == pytest.approx(float(by_system[system]), abs=1e-9)
    expected = [float(score) for owner, score in by_segment if owner == system]
    assert ratings(metric.annotate(chosen)) == pytest.approx(expected, abs=1e-9)
