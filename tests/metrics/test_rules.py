import pytest

from adjudge.checks import RULES, find_errors
from adjudge.core.judge import Metric
from adjudge.core.record import Annotation
from adjudge.core.segment import Segment, Subject
from adjudge.errors import UsageError
from adjudge.metrics import load_metric

SOURCE = "He paid $45,000 for 300 books (all of them old)."
TRANSLATION = "Er zahlte 54.000 € für 300 Bücher (alle alt."


def subject(translation: str, system: str = "a") -> Subject:
    segment = Segment(
        segment="7", document="d", lp="en-de", source=SOURCE, translations={system: translation}
    )
    return Subject(segment=segment, systems=(system,))


def marked(metric: Metric, translation: str) -> Annotation:
    (record,) = metric.annotate([subject(translation)])
    assert isinstance(record, Annotation)
    return record


def test_the_checks_become_mqm_annotations() -> None:
    annotation = marked(load_metric("rules"), TRANSLATION)
    assert (annotation.protocol, annotation.annotator, annotation.system) == ("mqm", "rules", "a")
    assert (annotation.lp, annotation.document, annotation.segment) == ("en-de", "d", "7")
    assert annotation.rating is None
    assert annotation.spans == tuple(f.span for f in find_errors(SOURCE, TRANSLATION, "en-de"))
    assert {"54.000", "€", "("} <= {span.text for span in annotation.spans}


def test_a_clean_translation_is_judged_and_clean() -> None:
    annotation = marked(load_metric("rules"), "Er zahlte 45.000 $ für 300 Bücher (alle alt).")
    assert annotation.spans == ()


def test_rules_that_are_seldom_right_can_be_left_out() -> None:
    strict = load_metric("rules", {"min-precision": "0.8"})
    kept = marked(strict, TRANSLATION)
    all_of_them = marked(load_metric("rules"), TRANSLATION)
    expected = [f for f in find_errors(SOURCE, TRANSLATION, "en-de") if f.precision >= 0.8]
    assert kept.spans == tuple(f.span for f in expected)
    assert 0 < len(kept.spans) < len(all_of_them.spans)
    assert strict.settings("en-de")["min-precision"] == "0.8"


@pytest.mark.parametrize("value", ["-0.1", "1.1", "nan"])
def test_a_precision_that_is_no_probability_is_refused(value: str) -> None:
    with pytest.raises(UsageError, match=r"must be a number|lies in 0 to 1"):
        load_metric("rules", {"min_precision": value})


def test_a_rule_that_is_right_exactly_as_often_as_asked_is_kept() -> None:
    findings = find_errors(SOURCE, TRANSLATION, "en-de")
    best = max(f.precision for f in findings)
    kept = marked(load_metric("rules", {"min-precision": str(best)}), TRANSLATION)
    assert kept.spans == tuple(f.span for f in findings if f.precision == best)


def test_the_signature_moves_with_the_table_of_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    metric = load_metric("rules")
    before = metric.settings("en-de")
    assert before == metric.settings("zh-en")
    assert set(before) == {"rules"}
    changed = {**RULES, "doubled-word": RULES["doubled-word"]._replace(severity="major")}
    monkeypatch.setattr("adjudge.metrics.rules.RULES", changed)
    assert metric.settings("en-de") != before


def test_a_system_is_scored_by_the_mean_of_its_segments() -> None:
    assert load_metric("rules").corpus_score([subject(TRANSLATION)]) is None
