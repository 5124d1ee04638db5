"""Guidelines and categories: ours for every protocol, and people's own."""

from pathlib import Path

import pytest

from adjudge.campaigns.campaign import (
    open_campaign,
    read_guidelines,
    write_guidelines,
)
from adjudge.campaigns.settings import NAMES, OURS, canonical_category, read_typology
from adjudge.core.typology import CATEGORIES
from adjudge.errors import DataError, UsageError
from tests.campaigns.conftest import MakeCampaign, make_test_set


@pytest.mark.parametrize("protocol", NAMES)
def test_every_protocol_has_guidelines(tmp_path: Path, protocol: str) -> None:
    write_guidelines(tmp_path, protocol, ["en-de", "en-zh"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["en-de.md", "guidelines.md"]
    assert (tmp_path / "guidelines.md").read_text().startswith("# ")


def test_guidelines_are_read_as_they_stand_now(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign(test_set=make_test_set("en-de", "en-zh"))
    assert "# English to German" in read_guidelines(campaign, "en-de")
    assert "# English to German" not in read_guidelines(campaign, "en-zh")
    (campaign.folder / "guidelines" / "en-zh.md").write_text("# 规则")
    assert read_guidelines(campaign, "en-zh").startswith("# Mark the errors")
    assert read_guidelines(campaign, "en-zh").endswith("\n\n# 规则")


@pytest.mark.parametrize("lp", ["en-xx", "../campaign", "/etc/passwd", "\0"])
def test_no_other_file_is_ever_read_as_guidelines(make_campaign: MakeCampaign, lp: str) -> None:
    campaign, _ = make_campaign()
    assert read_guidelines(campaign, lp) == read_guidelines(campaign, "")


def test_guidelines_of_ones_own_take_the_place_of_ours(make_campaign: MakeCampaign, tmp_path: Path) -> None:
    (tmp_path / "guidelines.md").write_text("# Mine")
    campaign, _ = make_campaign(guidelines=tmp_path)
    assert read_guidelines(campaign, "en-de").startswith("# Mine\n\n# English to German")
    (tmp_path / "guidelines.md").unlink()
    with pytest.raises(UsageError, match=r"has none of guidelines\.md, en-de\.md"):
        make_campaign(guidelines=tmp_path)


# Categories...


def test_our_categories_are_all_but_non_translation(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign("mqm")
    assert campaign.categories == OURS
    assert set(CATEGORIES) - set(OURS) == {"non-translation"}


def test_a_campaign_may_have_categories_of_its_own(make_campaign: MakeCampaign, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('[categories]\n"Accuracy/Omission" = "left out"\n"Tone" = "not ours"\n')
    campaign, _ = make_campaign("mqm", typology=own)
    opened = open_campaign(campaign.folder)
    assert dict(opened.categories) == {"Accuracy/Omission": "left out", "Tone": "not ours"}
    opened.database.close()
    with pytest.raises(UsageError, match="esa asks for no categories"):
        make_campaign("esa", typology=own)


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("Accuracy/Omission", "accuracy/omission"),
        ("accuracy/whatever", "accuracy"),
        ("Tone/Too casual", "other"),
        ("non-translation", "non-translation"),
    ],
)
def test_categories_of_ones_own_count_as_one_of_ours(name: str, canonical: str) -> None:
    assert canonical_category(name) == canonical


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "[categories]",
        "categories = 1",
        '[categories]\n"a/b/c" = "x"',
        "[categories]\na = 1",
        '[categories]\n"" = "x"',
    ],
)
def test_what_is_no_typology_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "own.toml").write_text(text)
    with pytest.raises(DataError, match=r"own\.toml"):
        read_typology(tmp_path / "own.toml")
