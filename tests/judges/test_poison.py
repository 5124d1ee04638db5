"""Every stage of every judge and profile: words around a good reply by which it is none."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from adjudge import judges
from adjudge.core.ask import About, Reply
from adjudge.core.judge import PROFILES, Profile
from adjudge.core.segment import Segment, Subject
from adjudge.errors import AnswerError
from adjudge.runs.units import judge_subject
from tests.judges.test_schemas import Playing

POISON = {
    "condition": "If there were nothing to say, I would answer %s",
    "refused condition": "I would not give %s",
    "format": "The format that you want is %s. Please send me the texts.",
    "taken back": "%s\n\nOn second thought, disregard that.",
    "second": '%s {"errors": [], "rating": 3, "result": "E", "agreed": true}',
    "plan": "<plan>%s</plan>",
    "draft": "<draft>%s</draft> I will judge now.",
    "comment": "<!-- %s -->",
    "declined behind": "%s\n\nI decline to judge this text.",
    "declined before": "I'm sorry, I can't judge this. %s",
    "texts missing": "%s\nThe texts are missing.",
    "of ten": "%s/10",
    "next turn": "%s\n\nUser: the next one\nAssistant:",
}
SEGMENT = Segment(
    segment="1",
    lp="en-de",
    source="Call 555-0199 before 9:30, or the 3 tickets (40 euros) are sold.",
    translations={
        "first": "Rufen Sie 555-0188 vor 9:30 an, sonst sind die die 4 tickets (40 Euro sold.",
        "second": "Rufen Sie vor 9:30 an, sonst sind die 3 Karten (40 Euro) verkauft.",
    },
    meta={"criteria": ["The number is copied."]},
)


class Poisoned(Playing):
    """Tries every poisoned reply on each reader."""

    def __init__(self) -> None:
        super().__init__("poisoned")
        self.believed: list[str] = []
        self.stages: set[str] = set()

    def saw(self, about: About, read: Callable[[Reply], object], reply: Reply) -> None:
        stage = f"{about.wants} {about.stage.rpartition(': ')[2]}"
        if reply.text and not reply.calls and stage not in self.stages:
            self.stages.add(stage)
            for name, words in POISON.items():
                if about.wants == "action" and words.endswith("%s"):
                    continue  # the model is asked to reason in words before it calls a tool
                text = words.replace("%s", reply.text)
                try:
                    value = read(replace(reply, text=text, logprobs=()))
                except AnswerError as error:
                    if error.reason == "logprob":
                        self.believed.append(f"{stage}: {name}")
                else:
                    way = " by the authors' rule" if "authors_reader" in repr(value) else ""
                    self.believed.append(f"{stage}: {name}{way}")


STAGES = {
    "himate": {"errors", "correction", "verification", "versions"},
    "m-mad": {"errors", "severities", "statement", "agreement", "merged", "kept"},
    "rate": {"assessment"},
    "ea-prompt": {"errors"},
}
"""Those that are among the poisoned ones, at least, whatever the profile."""


@pytest.mark.parametrize("name", judges.JUDGES)
async def test_no_stage_believes_a_reply_that_is_none(name: str) -> None:
    ways: list[tuple[Profile, dict[str, str]]] = [(profile, {}) for profile in PROFILES]
    if name == "rate":
        ways = [(profile, {"tools": "xml"}) for profile in PROFILES]
    if name == "ea-prompt":
        ways.append(("recommended", {"steps": "1"}))
    stages = set()
    for profile, settings in ways:
        ask, judge = Poisoned(), judges.load_judge(name, profile=profile, settings=settings)
        systems = ("first",) if not hasattr(judge, "compare") else ("first", "second")
        await judge_subject(judge, Subject(segment=SEGMENT, systems=systems), ask, None)
        assert ask.stages
        assert [each for each in ask.believed if profile == "recommended" or not each.endswith("rule")] == []
        stages |= {stage.split()[0] for stage in ask.stages}
    assert STAGES.get(name, set()) <= stages
