"""Every judge in every profile against every malformed reply: none may become an annotation."""

from collections.abc import Iterator

import pytest

from adjudge.core.ask import Reply
from adjudge.core.judge import PROFILES, Profile, TranslationJudge
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError
from tests.judges.asking import SINGLE, Script, load_judge, subject
from tests.judges.malformed import (
    ANYWHERE,
    ECHOED,
    ECHOING_TRANSLATION,
    FINE,
    FORMS,
    IN_FORM,
    VALID,
    Bad,
    distinct,
    unfinished,
)

STEPS = {
    "gemba-mqm": ("errors",),
    "gemba-da": ("rating",),
    "gemba-sqm": ("rating",),
    "gemba-esa": ("errors", "rating"),
    "gemba-v2": ("errors",),
    "ea-prompt": ("errors", "counts"),
    "single-agent": ("errors",),
}
MANY_AGENTS = {"m-mad", "himate"}
"""Judges whose own tests put the malformed replies to every agent."""
HEADINGS = {"gemba-mqm": ("Critical", "Minor"), "single-agent": ("Major", "Neutral")}
"""A third heading that a judge has, before or after the two of `malformed`."""


def form_of(wants: str, profile: Profile) -> str:
    text = "number" if wants == "rating" else "headings"
    return f"{wants}-{'json' if profile == 'recommended' else text}"


def cases() -> Iterator[tuple[str, Profile, dict[str, str], int]]:
    for name, steps in STEPS.items():
        for profile in PROFILES:
            yield from ((name, profile, {}, step) for step in range(len(steps)))
    yield from (("ea-prompt", profile, {"steps": "1"}, 0) for profile in PROFILES)


def forms_of(name: str, profile: Profile, settings: dict[str, str]) -> tuple[str, ...]:
    wants = ("one-step",) if settings else STEPS[name]
    profile = "recommended" if name == "gemba-v2" else profile  # its original asks for JSON too
    return tuple(form_of(want, profile) for want in wants)


def with_third_heading(text: str, name: str, form: str) -> str:
    """The same mistake for a judge with three headings: complete what is right, leave what is wrong."""
    if form != "errors-headings" or name not in HEADINGS or "Major:\n" not in text:
        return text
    if name == "gemba-mqm":
        return text.replace("Major:\n", "Critical:\nno-error\nMajor:\n", 1)
    return text + "\nNeutral:\nno-error"


async def outcome(judge: TranslationJudge, judged: Subject, before: list[str], reply: Reply) -> str:
    try:
        await judge.annotate(judged, Script(*before, *[reply] * judge.calls.max))
    except AnswerError as error:
        return error.reason if error.detail else "no detail"
    return "ANNOTATION"


def at_step(
    name: str, profile: Profile, settings: dict[str, str], step: int
) -> tuple[TranslationJudge, list[str], str]:
    """A judge, good replies to what it asks before a step, and the form of the step itself."""
    forms = forms_of(name, profile, settings)
    before = [with_third_heading(VALID[form], name, form) for form in forms[:step]]
    return load_judge(name, profile=profile, settings=settings), before, forms[step]


def test_the_table_of_steps_knows_every_judge() -> None:
    assert STEPS.keys() | MANY_AGENTS == set(SINGLE)


def test_the_corpus_holds_what_it_says() -> None:
    assert distinct() >= 300
    for form in FORMS:
        texts = [bad.reply.text for bad in (*ANYWHERE, *IN_FORM[form])]
        assert len(texts) == len(set(texts)), f"a reply stands twice for {form}"


@pytest.mark.parametrize(("name", "profile", "settings", "step"), list(cases()))
async def test_no_malformed_reply_becomes_an_annotation(
    name: str, profile: Profile, settings: dict[str, str], step: int
) -> None:
    judge, before, form = at_step(name, profile, settings, step)
    wrong, reasons_wrong = [], []
    for bad in (*ANYWHERE, *IN_FORM[form], *unfinished(form)):
        text = with_third_heading(bad.reply.text, name, form)
        reply = Reply(text=text, finish=bad.reply.finish, reasoning=bad.reply.reasoning)
        came = await outcome(judge, subject(), before, reply)
        if came == "ANNOTATION":
            wrong.append(text[:80])
        elif came != bad.reason:
            reasons_wrong.append((bad.reason, came, text[:80]))
    assert not wrong
    assert not reasons_wrong


@pytest.mark.parametrize(("name", "profile", "settings", "step"), list(cases()))
async def test_a_reply_malformed_for_another_form_is_refused_too(
    name: str, profile: Profile, settings: dict[str, str], step: int
) -> None:
    judge, before, form = at_step(name, profile, settings, step)
    others: list[Bad] = [bad for other, rows in IN_FORM.items() if other != form for bad in rows]
    own = {bad.reply.text for bad in IN_FORM[form]} | FINE.get(form, set())
    accepted = [
        bad.reply.text[:80]
        for bad in others
        if bad.reply.text not in own and await outcome(judge, subject(), before, bad.reply) == "ANNOTATION"
    ]
    assert not accepted


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("reply", ECHOED)
async def test_a_verdict_quoted_from_the_judged_text_is_no_verdict(name: str, reply: str) -> None:
    judged = subject(translation=ECHOING_TRANSLATION)
    came = await outcome(load_judge(name), judged, [], Reply(text=reply))
    assert came == "ambiguous"


@pytest.mark.parametrize(("name", "profile", "settings", "step"), list(cases()))
async def test_the_good_reply_of_the_corpus_is_accepted(
    name: str, profile: Profile, settings: dict[str, str], step: int
) -> None:
    judge = load_judge(name, profile=profile, settings=settings)
    forms = forms_of(name, profile, settings)
    samples = 10 if name == "gemba-v2" else 1
    ask = Script(*(with_third_heading(VALID[form], name, form) for form in forms for _ in range(samples)))
    annotation = await judge.annotate(subject(), ask)
    assert not annotation.flags
    assert len(ask.asked) == len(forms) * samples == judge.calls.typical
