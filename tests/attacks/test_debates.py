"""A debate in which an agent says what an attack wants, at every stage of M-MAD."""

import pytest

from adjudge.core.segment import Subject
from adjudge.errors import AnswerError
from adjudge.judges.m_mad import MMad
from tests.attacks.corpus import ATTACKS
from tests.attacks.hostile import COPIED, PLACES, subject_with
from tests.judges.test_m_mad import AGREED, REMARK, Cast, holds, marks

OMITTED = ("", "accuracy/omission")
MAJOR, MINOR = holds((*OMITTED, "major")), holds((*OMITTED, "minor"))
AGENTS = [
    *(("consensus", agent) for agent in ("supporter", "opponent", "checker", "final")),
    *(("interactive-review", agent) for agent in ("reviewer", "arbiter")),
]


def cast_with(agent: str, words: str) -> Cast:
    """Everybody speaks sense, but for one."""
    lines = {"supporter": MAJOR, "opponent": MAJOR, "checker": AGREED, "final": MINOR}
    lines |= {"reviewer": REMARK, "arbiter": MINOR}
    return Cast(expert_accuracy=marks((*OMITTED, "major")), **lines | {agent: words})


async def outcome(subject: Subject, strategy: str, cast: Cast) -> str:
    try:
        judge = MMad(strategy=strategy, rounds=2, profile="code")  # type: ignore[arg-type]
        annotation = await judge.annotate(subject, cast)
    except AnswerError:
        return "refused"
    return "flagged" if COPIED & {*annotation.flags} else "believed"


@pytest.mark.parametrize(("strategy", "agent"), AGENTS)
async def test_what_an_agent_copies_from_a_text_is_refused_or_flagged(strategy: str, agent: str) -> None:
    for number, attack in enumerate({attack.text: attack for attack in ATTACKS[::3]}.values()):
        subject = subject_with(attack, PLACES[number % len(PLACES)])
        came = await outcome(subject, strategy, cast_with(agent, attack.text))
        assert came != "believed", attack


@pytest.mark.parametrize(("strategy", "agent"), AGENTS)
async def test_no_text_changes_what_we_say_to_an_agent(strategy: str, agent: str) -> None:
    ours: dict[tuple[str, str], list[str]] = {}
    for number, attack in enumerate(ATTACKS[::6]):
        place = PLACES[number % len(PLACES)]
        subject, cast = subject_with(attack, place), cast_with("nobody", "")
        assert await outcome(subject, strategy, cast) != "refused", "an honest debate is read"
        asked = cast.of(agent)
        assert asked
        assert [one.words for one in asked] == ours.setdefault(
            (subject.lp, place), [one.words for one in asked]
        )
        if agent != "checker":
            texts = [part.text for one in asked for part in one.quoted]
            assert attack.text in texts
