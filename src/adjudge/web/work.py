"""What the annotator's pages show: names for templates, nothing that tells whose translations these are."""

from __future__ import annotations

from typing import Any, Final

from markupsafe import Markup

from adjudge.campaigns.assigning import assignments
from adjudge.campaigns.campaign import Campaign
from adjudge.campaigns.people import Person
from adjudge.campaigns.progress import find_own_progress
from adjudge.campaigns.view import task_view
from adjudge.campaigns.wording import read_guidelines
from adjudge.report.segments import to_script_json
from adjudge.web.markdown import render_markdown
from adjudge.web.work_data import page_data, page_names, person_key

__all__ = ["guidelines_context", "home_context", "work_context"]

_UNDER_A_DIALOG: Final = 2  # level of the heading above


def home_context(campaign: Campaign, person: Person) -> dict[str, Any]:
    """What a person has done and has to do."""
    given = assignments(campaign, person)
    return {
        "campaign": campaign.name,
        "protocol": campaign.protocol,
        "person": person.name,
        "person_key": person_key(campaign, person),
        "current": next((one for one in given if one.state == "leased"), None),
        "finished": [one for one in given if one.state == "done"],
        "own": find_own_progress(campaign, person),
        "has_tutorial": campaign.settings.tutorial and person.tutorial_at is None,
    }


def work_context(campaign: Campaign, person: Person, assignment: int) -> dict[str, Any]:
    """A task, to work on or to look at again.

    Raises:
        NotYoursError: it is another person's.
    """
    view = task_view(campaign, person, assignment)
    guidelines = read_guidelines(campaign, view.lp)
    return {
        **page_names(campaign, view),
        "guidelines": render_markdown(guidelines, below=_UNDER_A_DIALOG),
        "data": Markup(to_script_json(page_data(campaign, person, view))),  # noqa: S704 (made safe for it)
    }


def guidelines_context(campaign: Campaign) -> dict[str, Any]:
    """Guidelines of all language pairs, each text once."""
    texts = dict.fromkeys(read_guidelines(campaign, lp) for lp in campaign.settings.lps)
    return {"campaign": campaign.name, "texts": [render_markdown(text) for text in texts]}
