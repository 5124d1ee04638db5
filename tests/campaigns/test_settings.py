"""Settings: what no campaign can be is refused, and what is stored is read again."""

import json
from typing import Any

import pytest

from adjudge.campaigns.campaign import protocol_of
from adjudge.campaigns.settings import Settings, read_settings, render_settings
from adjudge.errors import DataError, UsageError


def test_what_is_stored_is_read_again() -> None:
    settings = Settings(protocol="esa-ai", lps=("en-de", "en-zh"), checks=0.12, control=0.1, code_pass="ÄÖ")
    assert read_settings(render_settings(settings)) == settings


@pytest.mark.parametrize("text", ["", "[]", "null", '{"protocol": "esa", "later": 1}', '{"lps": []}', "{"])
def test_what_are_no_settings_is_said(text: str) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_settings(text)


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"protocol": "est"}, "no campaign protocol 'est'"),
        ({"balance": "people"}, "balance must be one of documents, systems; got 'people'"),
        ({"assignment": "random"}, "assignment must be one of"),
        ({"dynamic_by": "luck"}, "dynamic_by must be one of"),
        ({"check_kinds": ("loud",)}, "check_kinds must be one of"),
        ({"check_kinds": ()}, "check_kinds"),
        ({"checks": -0.1}, "checks must be a share from 0 to 0.5"),
        ({"checks": 0.6}, "checks must be a share from 0 to 0.5"),
        ({"checks": float("nan")}, "checks must be a share"),
        ({"checks": True}, "checks must be a share"),
        ({"redundancy": 0}, "redundancy must be"),
        ({"redundancy": 1.5}, "redundancy must be a whole number"),
        ({"lease_minutes": 0}, "lease_minutes must be more than 0"),
        ({"lease_minutes": float("inf")}, "lease_minutes"),
        ({"segments_each": 0}, "segments_each must be 1 or more, got 0"),
        (
            {"checks_first": True, "assignment": "pool"},
            "checks_first: only static batches have an order, not pool",
        ),
        ({"control": 0.1}, "esa marks nothing beforehand"),
        ({"half_steps": True}, "only sqm has them, not esa"),
        ({"critical": True}, "only mqm has such errors, not esa"),
    ],
)
def test_what_no_campaign_can_be_is_refused(changes: dict[str, Any], wrong: str) -> None:
    with pytest.raises(UsageError, match=wrong):
        Settings(**{"protocol": "esa", **changes})


def test_settings_change_the_protocol() -> None:
    assert protocol_of(Settings(protocol="mqm")).severities == ("neutral", "minor", "major")
    assert protocol_of(Settings(protocol="mqm", critical=True)).severities[-1] == "critical"
    steps = [protocol_of(Settings(protocol="sqm", half_steps=half)).scale for half in (False, True)]
    assert [scale.step for scale in steps if scale is not None] == [1, 0.5]


def test_settings_are_json_of_plain_values() -> None:
    assert json.loads(render_settings(Settings(protocol="esa")))["check_kinds"] == ["damaged"]
