"""Metrics by name."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, EntryPoints
from typing import Any, ClassVar

import pytest

import adjudge.metrics
from adjudge.core.mqm import find_weights
from adjudge.core.protocol import find_protocol
from adjudge.core.record import Annotation
from adjudge.core.segment import Subject
from adjudge.errors import UsageError
from adjudge.metrics import METRICS, load_metric


@dataclass(frozen=True, kw_only=True)
class Outsider:
    """A metric of another package."""

    name: ClassVar[str] = "outsider"
    with_reference: ClassVar[bool] = False
    protocol: ClassVar[str] = "metric"
    weights: ClassVar[str | None] = None

    depth: int = 3

    def settings(self, lp: str) -> Mapping[str, str]:
        return {}

    def annotate(self, subjects: Sequence[Subject]) -> list[Annotation]:
        return []

    def corpus_score(self, subjects: Sequence[Subject]) -> float | None:
        return None


@pytest.fixture
def outsider(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = EntryPoints(
        [
            EntryPoint("outsider", f"{__name__}:Outsider", "adjudge.metrics"),
            EntryPoint("bleu", "nowhere:Nothing", "adjudge.metrics"),
            EntryPoint("absent", "no_such_package:Metric", "adjudge.metrics"),
        ]
    )
    monkeypatch.setattr("adjudge.core.judge.entry_points", lambda group: entries.select(group=group))


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_says_what_it_is(name: str) -> None:
    metric: Any = load_metric(name)
    assert metric.name == name
    assert metric.protocol == ("mqm" if name == "rules" else "metric")
    assert find_protocol(metric.protocol).name == metric.protocol
    assert metric.weights is None or find_weights(metric.weights).name == metric.weights
    assert metric.with_reference == (name not in {"rules", "bridge"})
    assert 20 < len((type(metric).__doc__ or "").splitlines()[0]) < 110
    with pytest.raises(dataclasses.FrozenInstanceError):
        metric.force = True


@pytest.mark.parametrize("place", METRICS.values())
def test_every_metric_is_an_attribute_of_the_room(place: str) -> None:
    name = place.partition(":")[2]
    assert getattr(adjudge.metrics, name)().name in METRICS


def test_another_attribute_is_none_of_the_room() -> None:
    with pytest.raises(AttributeError, match=r"module 'adjudge\.metrics' has no attribute 'Comet'"):
        _ = adjudge.metrics.Comet  # type: ignore[attr-defined]


@pytest.mark.usefixtures("outsider")
def test_metrics_of_other_packages_are_found_and_cannot_take_the_name_of_ours() -> None:
    made: object = load_metric("outsider", {"depth": "5"})
    assert made == Outsider(depth=5)
    assert load_metric("bleu").with_reference
    with pytest.raises(UsageError, match="metric 'absent' cannot be loaded from 'no_such_package:Metric'"):
        load_metric("absent")


@pytest.mark.usefixtures("outsider")
def test_an_unknown_metric_is_named_with_those_that_exist() -> None:
    with pytest.raises(UsageError, match=r"no metric 'comet'; there are outsider, .*bleu, "):
        load_metric("comet")
