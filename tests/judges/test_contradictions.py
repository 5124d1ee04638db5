"""Settings that would do nothing beside others are refused, in Python and on a command line."""

from typing import Any

import pytest

from adjudge.errors import UsageError
from adjudge.judges import load_judge

REFUSED = [
    ("m-mad", {"strategy": "none", "topic": "entirety"}, "topic entirety says what is debated"),
    ("m-mad", {"rounds": "0", "topic": "category"}, "topic category says what is debated"),
    ("m-mad", {"strategy": "none", "rounds": "5"}, "rounds 5 says how long a debate is"),
    ("rate", {"order": "given", "order_seed": "3"}, "a drawn order, contradict"),
    ("rate", {"anchors": "frozen", "order_seed": "3"}, "a drawn order, contradict"),
    ("rate", {"anchors": "frozen", "order": "random"}, "a drawn order, contradict"),
    ("rate", {"without": "compare", "moves": "code"}, "--moves code and --without compare contradict"),
    ("rate", {"without": "both", "moves": "paper"}, "--moves paper and --without both contradict"),
    ("himate", {"stages": "se", "verifications": "3"}, "stages se verifies nothing"),
    ("fire", {"orders": "given", "inconsistent": "keep"}, "orders given asks for one"),
    ("fire", {"orders": "random", "inconsistent": "keep"}, "orders random asks for one"),
    ("direct-rank", {"orders": "given", "inconsistent": "keep"}, "orders given asks for one"),
    ("fire", {"order_seed": "3"}, "order_seed 3 draws no order where orders are both"),
    ("direct-rank", {"orders": "given", "order_seed": "3"}, "draws no order where orders are given"),
]
TAKEN = [
    ("m-mad", {"strategy": "none", "topic": "severity"}),
    ("m-mad", {"strategy": "deliberation", "topic": "entirety"}),
    ("m-mad", {"strategy": "none", "rounds": "3"}),
    ("m-mad", {"strategy": "none", "rounds": "0"}),
    ("rate", {"order_seed": "3"}),
    ("rate", {"without": "search", "moves": "code"}),
    ("rate", {"anchors": "frozen", "order": "given"}),
    ("himate", {"stages": "se", "verifications": "1"}),
    ("himate", {"stages": "se+sr", "verifications": "3"}),
    ("fire", {"orders": "both", "inconsistent": "keep"}),
    ("fire", {"orders": "given", "inconsistent": "E"}),
    ("direct-rank", {"orders": "random", "order_seed": "3"}),
]


@pytest.mark.parametrize(("judge", "settings", "said"), REFUSED)
def test_a_setting_that_would_do_nothing_is_refused(judge: str, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        load_judge(judge, settings=settings)


@pytest.mark.parametrize("profile", ["paper", "code"])
def test_orders_of_a_profile_count_as_those_that_are_set(profile: Any) -> None:
    with pytest.raises(UsageError, match="orders given asks for one"):
        load_judge("fire", profile=profile, settings={"inconsistent": "keep"})
    both = {"inconsistent": "keep", "orders": "both"}
    assert load_judge("fire", profile=profile, settings=both).profile == profile


@pytest.mark.parametrize(("judge", "settings"), TAKEN)
def test_settings_that_go_together_are_taken(judge: str, settings: dict[str, Any]) -> None:
    assert load_judge(judge, settings=settings).name == judge
