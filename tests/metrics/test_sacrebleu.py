"""Our string metrics are sacreBLEU's, to the last digit, and never with the wrong tokenizer."""

import io
import logging
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sacrebleu.utils
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.language import language_name
from adjudge.core.record import Annotation, Record
from adjudge.core.segment import Segment, Subject
from adjudge.errors import DataError, UsageError
from adjudge.metrics import load_metric
from adjudge.metrics.sacrebleu import Bleu, SpBleu, _scorer

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


@pytest.fixture(autouse=True)
def _no_scorer_of_another_test() -> Iterator[None]:
    _scorer.cache_clear()
    yield
    _scorer.cache_clear()


def subjects(lp: str, texts: tuple[Sequence[str], Sequence[str]]) -> list[Subject]:
    return [
        Subject(
            segment=Segment(segment=str(number), lp=lp, source="?", translations={"a": translation}),
            systems=("a",),
            reference=reference,
        )
        for number, (translation, reference) in enumerate(zip(*texts, strict=True))
    ]


def ratings(records: Sequence[Record]) -> list[float | None]:
    return [record.rating for record in records if isinstance(record, Annotation)]


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
    language = language_name(lp.split("-")[1])
    for use in (
        lambda: metric.settings(lp),
        lambda: metric.annotate(subjects(lp, CHINESE)),
        lambda: metric.corpus_score(subjects(lp, CHINESE)),
    ):
        with pytest.raises(UsageError, match=rf"tokenizer '{tokenizer}' does not fit {language} \({lp}\)"):
            use()


def test_chinese_has_no_words_for_13a_and_is_scored_so_only_when_forced() -> None:
    forced = load_metric("bleu", {"tokenize": "13a", "force": "yes"})
    assert forced.corpus_score(subjects("en-zh", CHINESE)) == 0.0
    assert forced.settings("en-zh")["tok"] == "13a"
    assert forced.settings("en-zh") != load_metric("bleu").settings("en-zh")


def test_nothing_is_logged_about_a_tokenizer_that_was_chosen(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        metric = load_metric("bleu", {"tokenize": "char", "lowercase": "yes"})
        metric.settings("en-zh")
        metric.annotate(subjects("en-zh", CHINESE))
    assert not caplog.records
    assert metric.settings("en-zh")["case"] == "lc"


def test_sacrebleus_word_on_tokenized_text_is_logged_and_is_no_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tokenized = ["Der Hund bellt ."] * 100
    chosen = subjects("en-de", (tokenized, tokenized))
    assert load_metric("bleu").corpus_score(chosen) == pytest.approx(100)
    assert "forgot to detokenize" in caplog.text
    caplog.clear()
    load_metric("bleu", {"force": "yes"}).corpus_score(chosen)
    assert not caplog.records


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tokenize": "words", "force": "yes"}, "must be one of 13a, intl, zh.*; got 'words'"),
        ({"smooth": "floor"}, "metric 'bleu' has no setting 'smooth'; it has tokenize, force"),
        ({"smooth-method": "none", "smooth-value": "1"}, "smooth_value is for floor and add-k"),
        ({"smooth-method": "floor", "smooth-value": "nan"}, "must be a number, got 'nan'"),
        ({"smooth-method": "floor", "smooth-value": "-5"}, "from 0 upwards, got -5.0"),
        ({"smooth-method": "add-k", "smooth-value": "inf"}, "must be a number, got 'inf'"),
    ],
)
def test_a_setting_that_would_do_nothing_is_refused(settings: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_metric("bleu", settings)


@pytest.mark.parametrize("wrong", [{"tokenize": "words"}, {"smooth_method": "add-one"}])
def test_a_setting_in_python_is_checked_as_on_the_command_line(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="must be one of"):
        Bleu(**wrong)
    with pytest.raises(
        UsageError, match="tokenize must be one of flores200, flores101, spBLEU-1K; got '13a'"
    ):
        SpBleu(tokenize="13a")  # type: ignore[arg-type]


def test_smoothing_is_sacrebleus() -> None:
    metric = load_metric("bleu", {"smooth-method": "add-k", "smooth-value": "0.5"})
    expected = sacrebleu.BLEU(smooth_method="add-k", smooth_value=0.5).corpus_score(GERMAN[0], [GERMAN[1]])
    assert metric.corpus_score(subjects("en-de", GERMAN)) == expected.score
    assert metric.settings("en-de")["smooth"] == "add-k[0.50]"


@pytest.fixture(params=["ja", "ko"])
def language_without_analyser(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """What sacrebleu found when it looked for the analyser is forgotten before and after."""
    module = f"sacrebleu.tokenizers.tokenizer_{request.param}_mecab"
    sys.modules.pop(module, None)
    monkeypatch.setitem(sys.modules, {"ja": "MeCab", "ko": "mecab_ko"}[request.param], None)
    yield request.param
    sys.modules.pop(module, None)


def test_a_missing_analyser_is_named_with_its_package(language_without_analyser: str) -> None:
    language = language_without_analyser
    with pytest.raises(
        UsageError, match=rf"pip install 'sacrebleu\[{language}\]'; or choose --tokenize char"
    ):
        load_metric("bleu").settings(f"en-{language}")
    assert load_metric("bleu", {"tokenize": "char"}).settings(f"en-{language}")["tok"] == "char"


@pytest.mark.parametrize(("language", "package"), [("ja", "MeCab"), ("ko", "mecab_ko")])
def test_japanese_and_korean_have_their_analyser_where_it_is_installed(language: str, package: str) -> None:
    pytest.importorskip(package, reason=f"pip install 'sacrebleu[{language}]' brings it")
    texts = {"ja": ["猫がマットの上に座った。"], "ko": ["고양이가 매트 위에 앉았다."]}[language]
    metric, lp = load_metric("bleu"), f"en-{language}"
    assert metric.settings(lp)["tok"].startswith(f"{language}-mecab")
    assert metric.corpus_score(subjects(lp, (texts, texts))) == pytest.approx(100)


# spBLEU...


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for sacrebleu's sentencepiece models."""
    from sacrebleu.tokenizers import tokenizer_spm

    for module in (sacrebleu.utils, tokenizer_spm):
        monkeypatch.setattr(module, "SACREBLEU_DIR", str(tmp_path))
    (tmp_path / "models").mkdir()
    return tmp_path / "models"


@pytest.mark.parametrize("left", [None, b""])
def test_pieces_without_their_model_say_where_it_belongs_and_nothing_is_downloaded(
    models: Path, left: bytes | None
) -> None:
    file = models / "flores200sacrebleuspm"
    if left is not None:
        file.write_bytes(left)  # what a download that failed leaves behind
    with pytest.raises(
        UsageError, match=f"'flores200' needs its sentencepiece model as {file}: download http"
    ):
        load_metric("spbleu").settings("en-de")
    assert [path.name for path in models.iterdir()] == ([] if left is None else [file.name])


def test_a_damaged_model_is_an_error_in_one_line(models: Path) -> None:
    (models / "sacrebleu_tokenizer_spm.model").write_bytes(b"<html>Not found</html>")
    with pytest.raises(
        UsageError, match="'flores101' cannot be loaded; if its model is damaged, delete it"
    ) as e:
        load_metric("spbleu", {"tokenize": "flores101"}).settings("en-de")
    assert "\n" not in str(e.value)


@pytest.mark.parametrize(("lp", "texts"), [("en-de", GERMAN), ("en-zh", CHINESE), ("en-ja", CHINESE)])
def test_spbleu_is_sacrebleus_bleu_of_pieces(
    models: Path, lp: str, texts: tuple[list[str], list[str]]
) -> None:
    """With a small model of our own in the place of flores200."""
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([*GERMAN[0], *GERMAN[1], *CHINESE[0], *CHINESE[1]]),
        model_writer=written,
        vocab_size=60,
        minloglevel=2,
    )
    (models / "flores200sacrebleuspm").write_bytes(written.getvalue())
    metric = load_metric("spbleu")
    whole, single = (sacrebleu.BLEU(tokenize="flores200", effective_order=e) for e in (False, True))
    assert metric.corpus_score(subjects(lp, texts)) == whole.corpus_score(texts[0], [texts[1]]).score > 0
    expected = [single.sentence_score(t, [r]).score for t, r in zip(*texts, strict=True)]
    assert ratings(metric.annotate(subjects(lp, texts))) == expected
    assert metric.settings(lp)["tok"] == "flores200"


# TER, and what all have in common...


def test_ter_splits_chinese_and_refuses_what_it_cannot_split() -> None:
    assert {"asian": "yes", "norm": "yes"}.items() <= dict(load_metric("ter").settings("en-zh")).items()
    with pytest.raises(
        UsageError, match="counts words between spaces, and the target language of en-th has none"
    ):
        load_metric("ter").settings("en-th")
    with pytest.raises(UsageError, match="counts words between spaces"):
        load_metric("ter", {"normalized": "no"}).settings("en-ja")
    assert load_metric("ter", {"force": "yes"}).settings("en-th")["asian"] == "no"


@pytest.mark.parametrize("name", STRINGS)
def test_a_segment_without_a_reference_is_an_error_that_names_it(name: str) -> None:
    chosen = [Subject(segment=s.segment, systems=s.systems) for s in subjects("en-de", GERMAN)]
    metric = load_metric(name)
    with pytest.raises(DataError, match="en-de/0/a has none"):
        metric.annotate(chosen)
    with pytest.raises(DataError, match="en-de/0/a has none"):
        metric.corpus_score(chosen)


def test_no_translations_have_no_score_and_two_language_pairs_have_none_together() -> None:
    metric = load_metric("chrf")
    assert metric.corpus_score([]) is None
    with pytest.raises(UsageError, match="one language pair at a time, got en-de, en-zh"):
        metric.corpus_score(subjects("en-de", GERMAN) + subjects("en-zh", CHINESE))
    both = metric.annotate(subjects("en-de", GERMAN) + subjects("en-zh", CHINESE))
    assert [a.lp for a in both] == ["en-de"] * 3 + ["en-zh"] * 2


@pytest.mark.parametrize("name", STRINGS)
def test_an_empty_translation_is_scored_and_is_worst(name: str) -> None:
    metric = load_metric(name)
    (empty,) = ratings(metric.annotate(subjects("en-de", ([""], ["Das ist gut."]))))
    assert empty == (-100 if name == "ter" else 0)


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("lp", "system"), [("en-de", "AIRC"), ("en-de", "ONLINE-W"), ("zh-en", "GPT4-5shot")]
)
@pytest.mark.parametrize(("name", "published"), [("bleu", "BLEU"), ("chrf", "chrF")])
def test_the_scores_of_wmt23_are_sacrebleus_and_the_published_ones(
    adjudge_data: Path, lp: str, system: str, name: str, published: str
) -> None:
    """Segments and systems, in all digits of the published files (up to 17); so do all other systems.

    From Python 3.12 on `sum`, with which sacrebleu adds logarithms, compensates rounding; it did not when the
    files were made.
    """
    digits = partial(pytest.approx, rel=1e-14) if name == "bleu" and sys.version_info >= (3, 12) else list
    folder = adjudge_data / "wmt23"

    def lines(path: str) -> list[str]:
        return (folder / path).read_text(encoding="utf-8").removesuffix("\n").split("\n")

    scores = f"metric-scores/{lp}/{published}-refA"
    by_system = dict(line.split("\t") for line in lines(f"{scores}.sys.score"))
    by_segment = [line.split("\t") for line in lines(f"{scores}.seg.score")]
    texts = (lines(f"system-outputs/{lp}/{system}.txt"), lines(f"references/{lp}.refA.txt"))
    metric, chosen = load_metric(name), subjects(lp, texts)
    ours = metric.corpus_score(chosen)
    assert ours == theirs(name)[0].corpus_score(texts[0], [texts[1]]).score
    assert [ours] == digits([float(by_system[system])])
    expected = [float(score) for owner, score in by_segment if owner == system]
    assert ratings(metric.annotate(chosen)) == digits(expected)


@pytest.mark.parametrize("name", ["bleu", "chrf", "chrf++", "ter"])
def test_what_is_extracted_of_a_reference_is_not_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    metric: Any = load_metric(name)
    scorer = _scorer(metric, "en-de", of_segments=False)
    alive: list[int] = [0, 0]

    class Counted(dict[str, Any]):
        def __init__(self, found: dict[str, Any]) -> None:
            super().__init__(found)
            alive[0] += 1
            alive[1] = max(alive)

        def __del__(self) -> None:
            alive[0] -= 1

    extract = scorer._extract_reference_info
    monkeypatch.setattr(scorer, "_extract_reference_info", lambda texts: Counted(extract(texts)))
    translations, references = [GERMAN[0] * 20, GERMAN[1] * 20]
    expected = theirs(name)[0].corpus_score(translations, [references]).score
    assert metric.corpus_score(subjects("en-de", (translations, references))) == metric.sign * expected
    assert alive[0] == 0
    assert 1 <= alive[1] <= 2
