"""Judges by name."""

import dataclasses
import importlib
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest

import adjudge.judges
from adjudge.core.judge import PROFILES, Calls, Profile
from adjudge.core.mqm import find_weights
from adjudge.core.protocol import find_protocol
from adjudge.errors import UsageError
from adjudge.judges import JUDGES, load_judge
from adjudge.judges.ea_prompt import EaPrompt
from adjudge.judges.gemba_da import GembaDa
from adjudge.judges.gemba_esa import GembaEsa
from adjudge.judges.gemba_mqm import GembaMqm
from adjudge.judges.single_agent import SingleAgent

ODD = ("Unweighted", "Unspoken", "Uncounted", "Needy")


@dataclass(frozen=True, kw_only=True)
class Outsider:
    """A judge of another package, with settings of every kind."""

    name: ClassVar[str] = "outsider"
    protocol: ClassVar[str] = "da-sqm"
    weights: ClassVar[None] = None
    with_reference: ClassVar[bool] = False
    prompts_digest: ClassVar[str] = "000000"
    calls: ClassVar[Calls] = Calls(1, 1, 1)

    profile: Profile = "recommended"
    rounds: int = 3
    threshold: float = 0.5
    strict: bool = True
    label: str = "x"
    folder: Path | None = None
    limit: int | None = None
    order: Literal["given", "random"] = "given"
    steps: Literal[1, 2] = 2
    words: tuple[str, ...] = ()


class NoDataclass:
    """Has everything but fields."""


@dataclass(frozen=True, kw_only=True)
class Silent:
    """Says little of itself, and has a property that must not be asked for."""

    name: ClassVar[str] = "silent"
    protocol: ClassVar[str] = "da-sqm"

    @property
    def prompts_digest(self) -> str:
        raise AssertionError


class Unweighted(Outsider):
    """Names weights that nobody knows."""

    name: ClassVar[str] = "unweighted"
    weights: ClassVar[str] = "mine"  # type: ignore[assignment]


class Unspoken(Outsider):
    """Names a protocol that nobody knows."""

    name: ClassVar[str] = "unspoken"
    protocol: ClassVar[str] = "da"


class Uncounted(Outsider):
    """Says a number of calls in place of three."""

    name: ClassVar[str] = "uncounted"
    calls: ClassVar[int] = 3  # type: ignore[assignment]


@dataclass(frozen=True, kw_only=True)
class Needy(Outsider):
    """Has a setting without a default."""

    name: ClassVar[str] = "needy"
    style: str = field()


@pytest.fixture
def outsider(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = EntryPoints(
        [
            EntryPoint("outsider", f"{__name__}:Outsider", "adjudge.judges"),
            EntryPoint("gemba-mqm", "nowhere:Nothing", "adjudge.judges"),
            EntryPoint("broken", "adjudge.judges:NoSuchClass", "adjudge.judges"),
            EntryPoint("absent", "no_such_package:Judge", "adjudge.judges"),
            EntryPoint("faulty", "tests.judges.no_judge:Judge", "adjudge.judges"),
            EntryPoint("plain", f"{__name__}:NoDataclass", "adjudge.judges"),
            EntryPoint("silent", f"{__name__}:Silent", "adjudge.judges"),
            *(EntryPoint(n.lower(), f"{__name__}:{n}", "adjudge.judges") for n in ODD),
            EntryPoint("renamed", f"{__name__}:Outsider", "adjudge.judges"),
        ]
    )
    monkeypatch.setattr("adjudge.core.judge.entry_points", lambda group: entries.select(group=group))


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", JUDGES)
def test_every_judge_is_made_in_every_profile(name: str, profile: Profile) -> None:
    judge: Any = load_judge(name, profile=profile)
    with pytest.raises(dataclasses.FrozenInstanceError):
        judge.profile = "paper"
    with pytest.raises(TypeError):
        type(judge)("paper")
    assert (judge.name, judge.profile) == (name, profile)
    assert len(judge.prompts_digest) == 6
    assert find_protocol(judge.protocol).name == judge.protocol
    assert judge.weights is None or find_weights(judge.weights).name == judge.weights
    assert judge.calls.min <= judge.calls.typical <= judge.calls.max
    assert not judge.with_reference


@pytest.mark.parametrize(
    ("name", "settings", "made", "calls", "weights"),
    [
        ("gemba-da", {"with_reference": "true"}, GembaDa(with_reference=True), 1, None),
        ("gemba-mqm", {}, GembaMqm(), 1, "gemba"),
        ("single-agent", {}, SingleAgent(), 1, "himate"),
        ("ea-prompt", {}, EaPrompt(), 2, "ea-prompt"),
        ("ea-prompt", {"steps": "1", "with_reference": "no"}, EaPrompt(steps=1), 1, "ea-prompt"),
        ("gemba-esa", {}, GembaEsa(), 2, None),
    ],
)
def test_a_judge_is_loaded_by_name_with_its_calls_and_weights(
    name: str, settings: dict[str, str], made: object, calls: int, weights: str | None
) -> None:
    judge: Any = load_judge(name, settings=settings)
    assert judge == made
    assert (judge.calls, judge.weights) == ((calls,) * 3, weights)


def test_every_judge_is_an_attribute_of_the_room_and_nothing_else() -> None:
    for place in JUDGES.values():
        name = place.partition(":")[2]
        made = getattr(adjudge.judges, name)
        assert made.__name__ == name
        assert made().name in JUDGES
    with pytest.raises(AttributeError, match="no attribute 'Nobody'"):
        _ = adjudge.judges.Nobody  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("settings", "changes"),
    [
        ({}, {}),
        ({"rounds": "5", "threshold": "0.25"}, {"rounds": 5, "threshold": 0.25}),
        ({"strict": "False"}, {"strict": False}),
        ({"strict": "on"}, {"strict": True}),
        ({"label": "", "folder": "here"}, {"label": "", "folder": Path("here")}),
        ({"limit": "7", "order": "random"}, {"limit": 7, "order": "random"}),
        ({"steps": "1"}, {"steps": 1}),
    ],
)
@pytest.mark.usefixtures("outsider")
def test_settings_are_converted_by_their_type(settings: dict[str, str], changes: dict[str, Any]) -> None:
    made: object = load_judge("outsider", profile="paper", settings=settings)
    assert made == Outsider(profile="paper", **changes)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"round": "5"}, "has no setting 'round'; it has rounds, threshold, strict"),
        ({"profile": "paper"}, "has no setting 'profile'"),
        ({"rounds": "five"}, "must be a whole number, got 'five'"),
        ({"strict": "maybe"}, "must be one of true, yes, on, 1, false"),
        ({"order": "sorted"}, "must be one of given, random; got 'sorted'"),
        ({"steps": "3"}, "must be one of 1, 2; got '3'"),
        ({"words": "a,b"}, "is a tuple, which a text cannot give; it must be a single value"),
    ],
)
@pytest.mark.usefixtures("outsider")
def test_a_setting_that_is_none_is_told_what_there_is(settings: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError) as error:
        load_judge("outsider", settings=settings)
    assert message in str(error.value)


@pytest.mark.usefixtures("outsider")
def test_a_judge_without_prompts_takes_no_folder_of_prompts(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no prompts to set"):
        load_judge("outsider", prompts=tmp_path)


@pytest.mark.usefixtures("outsider")
def test_judges_of_other_packages_are_found_and_cannot_take_the_name_of_ours() -> None:
    made: object = load_judge("outsider")
    assert made == Outsider()
    assert load_judge("gemba-mqm").weights == "gemba"
    with pytest.raises(UsageError, match=r"no judge 'gemba'; there are outsider, .*single-agent"):
        load_judge("gemba")


@pytest.mark.usefixtures("outsider")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("broken", "judge 'broken' cannot be loaded from"),
        ("absent", "judge 'absent' cannot be loaded from"),
        ("faulty", "cannot be loaded from 'tests.judges.no_judge:Judge': NameError"),
        ("plain", "must be a dataclass, whose fields are its settings; got"),
        ("silent", "must say its weights, profile, with_reference, calls;"),
        ("unweighted", "no weights 'mine'"),
        ("unspoken", "no protocol 'da'; there are"),
        ("uncounted", "the calls of judge 'uncounted' must be Calls(least, typical, most): 3"),
        ("needy", "cannot be made of its settings, which all need a default: "),
        ("renamed", "judge 'renamed' calls itself 'outsider'; its entry point needs that name too"),
    ],
)
def test_a_class_of_another_package_that_is_no_judge_is_told_what_it_lacks(
    name: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(module: str) -> object:
        if module == "tests.judges.no_judge":
            raise NameError("name 'datclass' is not defined")
        return original(module)

    original = importlib.import_module
    monkeypatch.setattr("adjudge.core.judge.importlib.import_module", load)
    with pytest.raises(UsageError) as refused:
        load_judge(name)
    assert said in str(refused.value)


def test_an_unknown_profile_is_an_error() -> None:
    with pytest.raises(UsageError, match="no profile 'papers'; there are recommended, paper, code"):
        load_judge("gemba-mqm", profile="papers")  # type: ignore[arg-type]
