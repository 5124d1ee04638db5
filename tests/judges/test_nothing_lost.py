"""No judge loses an error unflagged: scripted models report errors, and withdraw some of them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.ask import About
from adjudge.core.judge import PROFILES, Profile
from adjudge.core.protocol import SUBTYPES
from adjudge.core.record import ErrorSpan
from adjudge.judges._answers import render_headings
from tests.judges.asking import Asking, load_judge, subject

JUDGES = ("gemba-mqm", "gemba-esa", "gemba-v2", "ea-prompt", "single-agent", "himate", "m-mad")
"""Those that mark errors."""

LOST = {
    *("merged_errors", "reflection_dropped", "discussion_dropped", "errors_cut"),
    *("debate_dropped", "final_dropped", "tidied"),
}
"""Flags for an error that was withdrawn, or became one with another."""

WORDS = [f"Wort{number:02}" for number in range(8)]
OF_DEBATES = {
    "strategy": ["consensus", "deliberation", "interactive-review", "consultancy-review"],
    "topic": ["severity", "category", "entirety"],
    "final-judge": ["yes", "no"],
}
TEXT = subject(" ".join(WORDS), "Some words.")
GARBLED = "non-translation"
STAGES = ("verification", "expert", "supporter", "opponent", "arbiter", "final")


@dataclass(frozen=True)
class Claim:
    """An error that is reported, and the stages that withdraw it."""

    category: str
    severity: str
    first: int
    words: int
    denied: frozenset[str]

    @property
    def span(self) -> str:
        return "" if self.category == GARBLED else " ".join(WORDS[self.first : self.first + self.words])

    def listed(self, **note: str) -> dict[str, str]:
        error = {"span": self.span, **note, "category": self.category, "severity": self.severity}
        return {**error, "side": "translation"}

    def is_at(self, span: ErrorSpan) -> bool:
        return (span.text, span.category) == (self.span, self.category)

    def meets(self, span: ErrorSpan) -> bool:
        """Whether both have words in common."""
        return span.text != "" and bool({*span.text.split()} & {*self.span.split()})


@st.composite
def claims(draw: st.DrawFn, *, non_translation: bool) -> list[Claim]:
    """No subtype is reported twice of one word."""
    names = [*SUBTYPES[:13], *([GARBLED] if non_translation else [])]
    found = []
    for name in draw(st.lists(st.sampled_from(names), unique=True, max_size=6)):
        first = draw(st.integers(0, 3))
        for place in {first, first + 4} if name != GARBLED and draw(st.booleans()) else {first}:
            severity = "major" if name == GARBLED else draw(st.sampled_from(["major", "minor"]))
            denied = draw(st.sets(st.sampled_from(STAGES), max_size=3)) if draw(st.booleans()) else set()
            found.append(Claim(name, severity, place, draw(st.integers(1, 3)), frozenset(denied)))
    return found


class Model(Asking):
    """Says what the claims say; whether anybody agrees is drawn."""

    def __init__(self, claims: Sequence[Claim], *, agrees: bool) -> None:
        super().__init__()
        self.claims, self.agrees = claims, agrees

    def find(self, error: Mapping[str, object]) -> Claim:
        return next(c for c in self.claims if (c.category, c.span) == (error["category"], error["span"]))

    def left(self, errors: Sequence[Mapping[str, object]], stage: str) -> Iterator[Mapping[str, object]]:
        return (error for error in errors if stage not in self.find(error).denied)

    def says(self, about: About) -> str:  # noqa: PLR0911 (one for each kind of answer)
        facts: Any = about.facts
        agent = about.role.partition(".")[0]
        if about.wants == "errors":
            note = {"note": "So."} if "explain_in" in facts else {}
            own = [claim.listed(**note) for claim in self.claims if claim.category in facts["categories"]]
            if facts["form"] == "headings":
                return render_headings(own, facts["severities"])
            return json.dumps({"errors": own})
        if about.wants == "counts":
            severities = [claim.severity for claim in self.claims]
            counts = {name: severities.count(name) for name in facts["severities"]}
            return json.dumps(counts) if facts["form"] == "json" else ", ".join(map(str, counts.values()))
        if about.wants in {"severities", "labels", "kept"}:
            left = [*self.left(facts["held"], agent)]
            words: Any = {
                "severities": lambda error: error["severity"] if error in left else "none",
                "labels": lambda error: error["category"],
                "kept": lambda error: "keep" if error in left else "no error",
            }[about.wants]
            numbered = {str(n): words(error) for n, error in enumerate(facts["held"], 1)}
            return json.dumps({"statement": "So.", "errors": numbered})
        if about.wants in {"statement", "merged"}:
            return json.dumps({"statement": "So.", "errors": [*self.left(facts["held"], agent)]})
        if about.wants in {"verification", "versions"}:
            drops, keeps = (
                ("neither", facts.get("original")) if "original" in facts else ("no difference", "corrected")
            )
            return json.dumps({"result": drops if "verification" in self.find(facts).denied else keeps})
        if about.wants in {"opinion", "place"}:
            reported = facts.get("claims", [facts])
            named = next(self.left(reported, "expert"), None)
            subtype = {"subtype": (named or reported[0])["category"]} if about.wants == "place" else {}
            said = {"opinion": "So.", "exists": named is not None, **subtype}
            return json.dumps({**said, "severity": self.find(named).severity if named else "neutral"})
        return {
            "rating": '{"rating": 50}' if facts.get("form") == "json" else "50",
            "correction": json.dumps({"translation": f"{TEXT.translation} Besser."}),
            "response": json.dumps({"reply": "So.", "agrees": self.agrees}),
            "agreement": json.dumps({"agreed": self.agrees}),
            "remark": '{"statement": "Why?"}',
        }[about.wants]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", JUDGES)
@given(data=st.data())
async def test_what_nobody_withdrew_is_there_once_the_rest_flagged(
    name: str, profile: Profile, data: st.DataObject
) -> None:
    settings = {"most": "5"} if name == "himate" else {}
    if name == "m-mad":
        settings = {key: data.draw(st.sampled_from(values)) for key, values in OF_DEBATES.items()}
    reported = data.draw(claims(non_translation=name == "m-mad"))
    model = Model(reported, agrees=data.draw(st.booleans()))
    record = await load_judge(name, profile=profile, settings=settings).annotate(TEXT, model)
    places = [(span.category, span.start, span.end, span.text) for span in record.spans]
    assert len({*places}) == len(places)
    is_garbled = any(span.category == GARBLED for span in record.spans)
    for claim in reported:
        is_there = any(map(claim.is_at, record.spans))
        assert is_there or LOST & {*record.flags}, f"{claim} is lost"
        if not claim.denied:
            assert is_there or is_garbled or any(map(claim.meets, record.spans)), f"nobody denied {claim}"
        if not claim.denied and (claim.category == GARBLED or (name, profile) != ("himate", "recommended")):
            is_one_of_its_span = name == "m-mad" and any(s.text == claim.span for s in record.spans)
            assert is_there or is_garbled or is_one_of_its_span, f"nobody denied {claim}"
    if name == "himate" and profile == "recommended":
        assert len({place[1:] for place in places}) == len(places), "a place has one error"


async def test_an_error_that_was_lost_unflagged_would_be_found() -> None:
    """The scene that ended in no error: the expert was asked about the first subtype of a place alone."""
    denied = Claim("accuracy/addition", "major", 0, 1, frozenset({"expert"}))
    reported = [denied, Claim("accuracy/mistranslation", "major", 0, 1, frozenset())]
    record = await load_judge("himate").annotate(TEXT, Model(reported, agrees=True))
    (span,) = record.spans
    assert (span.category, span.severity) == ("accuracy/mistranslation", "major")
    assert record.flags == ("merged_errors",)
