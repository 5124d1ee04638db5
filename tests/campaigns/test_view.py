"""What an annotator sees: texts and their own work, never whose translations they are."""

import json
from dataclasses import asdict

import pytest

from adjudge.campaigns.answers import finish, save, task_view
from adjudge.campaigns.assigning import assign_next
from adjudge.campaigns.items import text_hash
from adjudge.errors import NotYoursError
from tests.campaigns.conftest import NOW, SYSTEMS, MakeCampaign
from tests.campaigns.work import answer_all, change, finished, items, person, take


@pytest.mark.parametrize("protocol", ["esa", "mqm", "sqm", "contrastive-esa", "pairwise", "post-edit"])
def test_a_view_is_blind_and_its_hashes_are_of_its_texts(make_campaign: MakeCampaign, protocol: str) -> None:
    campaign, _ = make_campaign(protocol, 1, checks=0.3)
    who = person(campaign)
    while (given := assign_next(campaign, who, NOW)) is not None:
        view = task_view(campaign, who, given.id)
        shown = [(asdict(one), one.state.model_dump()) for one in view.items]
        said = json.dumps([[{**fields, "state": None}, state] for fields, state in shown])
        assert not any(system in said for system in SYSTEMS)
        assert "original" not in said
        assert all(one.says == "" for one in view.items)
        for one in view.items:
            assert list(one.hashes) == [text_hash(text) for text in (one.source, *one.texts)]
        answer_all(campaign, who, given, NOW)
        finish(campaign, who, given.id, NOW)


def test_earlier_tasks_can_be_read_and_changed_again(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign("esa", 1)
    who = person(campaign)
    given = take(campaign, who, NOW)
    answer_all(campaign, who, given, NOW)
    finish(campaign, who, given.id, NOW)
    view = task_view(campaign, who, given.id)
    assert (view.is_done, view.is_editable) == (True, True)
    shown = items(campaign, given)[0]
    assert save(campaign, who, given.id, "later", [change(shown, 1, **finished(campaign))], NOW).saved
    assert task_view(campaign, who, given.id).items[0].revision == 2


def test_nobody_sees_the_task_of_another(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign("esa", 2)
    who = person(campaign)
    given = take(campaign, who, NOW)
    with pytest.raises(NotYoursError, match="is not yours"):
        task_view(campaign, person(campaign, 1), given.id)
