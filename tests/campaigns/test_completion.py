"""The code at the end: for who worked, and for who noticed what was damaged."""

import pytest

from adjudge.campaigns.campaign import completion_code
from tests.campaigns.conftest import NOW, MakeCampaign
from tests.campaigns.work import person, work_off


def test_who_finished_work_gets_the_code(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign("esa", 2, assignment="pool", code_pass="YES", code_fail="NO")
    first, late = person(campaign, 0), person(campaign, 1)
    assert completion_code(campaign, first) == ""
    work_off(campaign, first, NOW)
    assert completion_code(campaign, first) == "YES"
    assert completion_code(campaign, late) == "", "nothing is left, and nothing was done"


@pytest.mark.parametrize(("rating", "code"), [(100, "NO"), (0, "YES")])
def test_who_does_not_notice_what_was_damaged_gets_the_other_code(
    make_campaign: MakeCampaign, rating: float, code: str
) -> None:
    """Translations of other texts deserve a low rating, which one person gives, and the other does not."""
    settings = {"checks": 0.4, "check_kinds": ("score",), "code_pass": "YES", "code_fail": "NO"}
    campaign, _ = make_campaign("esa", 1, **settings)
    work_off(campaign, person(campaign), NOW, rating=rating)
    assert completion_code(campaign, person(campaign)) == code


def test_one_code_for_all_is_for_those_who_worked_too(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign("esa", 1, code_pass="DONE", code_fail="DONE")
    who = person(campaign, 0)
    assert completion_code(campaign, who) == ""
    work_off(campaign, who, NOW)
    assert completion_code(campaign, who) == "DONE"
