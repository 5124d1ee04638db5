"""CampaignSettings: what no campaign can be is refused, and what is stored is read again."""

import json
from typing import Any

import pytest

from adjudge.campaigns.campaign import protocol_of
from adjudge.campaigns.settings import CampaignSettings, read_settings, render_settings
from adjudge.errors import DataError, UsageError


def test_what_is_stored_is_read_again() -> None:
    settings = CampaignSettings(protocol="esa-ai", lps=("en-de", "en-zh"), control=0.1, code_pass="ÄÖ")
    assert read_settings(render_settings(settings)) == settings
    assert json.loads(render_settings(settings))["check_kinds"] == ["damaged"]


@pytest.mark.parametrize("text", ["", "[]", "null", '{"protocol": "esa", "later": 1}', '{"lps": []}', "{"])
def test_what_are_no_settings_is_said(text: str) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_settings(text)


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"protocol": "est"}, "no campaign protocol 'est'"),
        ({"balance": "people"}, "balance must be 'documents' or 'systems'; got 'people'"),
        ({"check_kinds": ("loud",)}, "check_kinds must be 'damaged'"),
        ({"check_kinds": ()}, "check_kinds"),
        ({"checks": 0.6}, "checks must be less than or equal to 0.5"),
        ({"checks": float("nan")}, "checks must be .*; got nan"),
        ({"checks": True}, "checks must be a valid number"),
        ({"raters": 1.5}, "raters must be a valid integer"),
        ({"lease_minutes": 0}, "lease must be greater than 0"),
        ({"lease_minutes": float("inf")}, "lease must be a finite number"),
        ({"segments_each": 0}, "segments_each must be greater than or equal to 1; got 0"),
        ({"checks_first": True, "assignment": "pool"}, "checks_first needs assignment static, got pool"),
        ({"control": 0.1}, "control needs protocol esa-ai"),
        ({"half_steps": True}, "half_steps needs protocol sqm or contrastive-sqm"),
        ({"critical": True}, "critical needs protocol mqm"),
    ],
)
def test_what_no_campaign_can_be_is_refused(changes: dict[str, Any], wrong: str) -> None:
    with pytest.raises(UsageError, match=wrong):
        CampaignSettings(**{"protocol": "esa", **changes})


def test_settings_change_the_protocol() -> None:
    assert protocol_of(CampaignSettings(protocol="mqm")).severities == ("neutral", "minor", "major")
    assert protocol_of(CampaignSettings(protocol="mqm", critical=True)).severities[-1] == "critical"
    steps = [protocol_of(CampaignSettings(protocol="sqm", half_steps=half)).scale for half in (False, True)]
    assert [scale.step for scale in steps if scale is not None] == [1, 0.5]
