"""The rules of the authors' code: what they read in profiles paper and code, and what stays a failure."""

import json
import random
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from adjudge.core.ask import About, Reply, value_of
from adjudge.core.judge import PROFILES, Profile
from adjudge.core.protocol import Severity
from adjudge.core.record import Annotation, Preference
from adjudge.core.segment import Segment, Subject
from adjudge.errors import AnswerError
from adjudge.judges import load_judge as load_any
from adjudge.judges._answers import ErrorList, RatingScale
from adjudge.judges._pairs import read_compared
from adjudge.judges._reading import (
    agreement,
    error_lines,
    fenced,
    last_letter,
    last_list,
    only_number,
    or_authors,
)
from adjudge.judges.m_mad import find_error_list, read_agreement
from tests.judges.asking import Script, load_judge, pair, subject
from tests.judges.doubts import doubts, fair
from tests.judges.replies import SEGMENT, TRANSLATION, outcome, truth
from tests.judges.test_m_mad import AGREED, MAJOR, MINOR, SOFA, Cast, marks
from tests.judges.test_rate import XML, one, rated, spelled, verdict

FLAG = "authors_reader"
OLD: tuple[Profile, ...] = ("paper", "code")
JUDGED = Subject(segment=SEGMENT, systems=("first",))
CHINESE = Subject(
    segment=Segment(segment="2", lp="zh-en", source="他走了三个小时。", translations={"first": "He walked."}),
    systems=("first",),
)
RATERS = ("gemba-da", "gemba-sqm")


def drawn(seed: int, count: int = 60) -> list[random.Random]:
    return [random.Random(f"{seed}/{number}") for number in range(count)]


async def rate(text: str | Reply, profile: Profile, name: str = "gemba-da") -> Annotation | AnswerError:
    try:
        return await load_judge(name, profile=profile).annotate(JUDGED, Script(text))
    except AnswerError as error:
        return error


async def mark(text: str, judged: Subject = JUDGED, profile: Profile = "paper") -> Annotation | AnswerError:
    try:
        return await load_judge("gemba-mqm", profile=profile).annotate(judged, Script(text))
    except AnswerError as error:
        return error


async def compare(text: str | Reply, profile: Profile, name: str = "fire") -> Preference | AnswerError:
    judge: Any = load_any(name, profile=profile, settings={"orders": "given"})
    found: Preference | AnswerError = (await judge.compare(pair(), Script(*[text] * judge.calls.max)))[0]
    return found


@pytest.mark.parametrize("name", RATERS)
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.differs("gemba_da", 3)
async def test_the_only_number_among_words_is_the_rating(name: str, profile: Profile) -> None:
    for draw in drawn(1):
        number, words = draw.randrange(101), fair(draw)
        text = draw.choice([f"{words} {number}", f"{number}\n\n{words}", f"{words}\n({number}) {fair(draw)}"])
        found = await rate(text, profile, name)
        if profile == "recommended":
            assert isinstance(found, AnswerError), text
        else:
            assert isinstance(found, Annotation), text
            assert (found.rating, FLAG in found.flags) == (number, True), text


@pytest.mark.parametrize(
    ("text", "rating"),
    [
        ("I would give it 87.", 87),
        ("87 and a sentence without digits", 87),
        ('{"rating": 60, "reason": "Es fehlt ein Wort."}', 60),
        ('["93"]', 93),
        ("<think>60 or 70?</think>Ich gebe 65 Punkte.", 65),
    ],
)
async def test_known_replies_are_read_as_the_code_reads_them(text: str, rating: int) -> None:
    found = await rate(text, "paper")
    assert isinstance(found, Annotation)
    assert (found.rating, FLAG in found.flags) == (rating, True)


@pytest.mark.parametrize("text", ["87", "Overall score: 60", '{"rating": 60}', "60/100", "**60**", "60 %"])
async def test_what_the_grammar_reads_has_no_flag_of_the_authors(text: str) -> None:
    found = await rate(text, "code")
    assert isinstance(found, Annotation)
    assert FLAG not in found.flags


async def test_two_numbers_none_or_one_beyond_the_scale_stay_a_failure() -> None:
    assert isinstance(await rate("95.5", "paper"), AnswerError)
    assert isinstance(await rate("between 80 and 90", "paper"), AnswerError)
    for draw in drawn(2):
        first, second = draw.randrange(101), draw.randrange(101)
        beyond = draw.randrange(101, 10**12)
        for text in (f"{fair(draw)} {first} - {second}", fair(draw), f"{fair(draw)} {beyond}"):
            found = await rate(text, draw.choice(OLD))
            assert isinstance(found, AnswerError), text
            assert found.detail, text


async def test_a_number_that_stands_alone_on_a_line_of_the_text_is_flagged_as_copied() -> None:
    judged = subject("Seite\n42\nEnde")
    found = await load_judge("gemba-da", profile="paper").annotate(judged, Script("It says 42."))
    assert {FLAG, "verdict_in_text"} <= {*found.flags}


@pytest.mark.parametrize(
    "reply",
    [
        Reply(text="I give 87.", finish="length"),
        Reply(text="I give 87.", finish="content_filter"),
        Reply(text=" "),
        Reply(text="<think>87"),
        Reply(text="8\0 or 7"),
    ],
)
@pytest.mark.parametrize("profile", OLD)
async def test_what_is_cut_blocked_empty_or_broken_reaches_no_rule(reply: Reply, profile: Profile) -> None:
    assert isinstance(await rate(reply, profile), AnswerError)
    assert isinstance(await compare(reply, profile), AnswerError)


@pytest.mark.differs("gemba_esa", 5)
async def test_the_rating_of_gemba_esa_is_read_so_and_its_errors_are_not() -> None:
    clean, judge = "Major:\nno-error\nMinor:\nno-error", load_judge("gemba-esa", profile="code")
    found = await judge.annotate(JUDGED, Script(clean, "Ich würde 71 geben."))
    assert (found.rating, FLAG in found.flags) == (71, True)
    with pytest.raises(AnswerError):
        await judge.annotate(JUDGED, Script(f'{clean}\nfluency/grammar - "die die" (doppelt)', "71"))


GRADES: tuple[Severity, ...] = ("critical", "major", "minor")
LABELS = {
    "accuracy/mistranslation": "accuracy/mistranslation",
    "Accuracy - Untranslated text": "accuracy/untranslated text",
    "fluency (spelling)": "fluency/spelling",
    "locale convention/date": "locale convention/date",
    "style/awkward": "style/awkward",
    "terminology, inappropriate": "terminology/inappropriate for context",
    "terminology/inconsistent use": "terminology/inconsistent use",
    "Fluency": "fluency",
    "flow": "other",
}
QUOTES = ("dem neuen Sofa", "die die", "schlief", "Nachrichten", "las")


@pytest.mark.differs("gemba_mqm", 3, 4)
async def test_each_line_below_a_heading_is_an_error_with_what_it_names() -> None:
    for draw in drawn(3, 120):
        lines, wanted = [draw.choice(["", "Here you are."])], []
        for grade in draw.sample(GRADES, 3):
            lines.append(draw.choice([f"{grade}:", f"  {grade.upper()}: ", f"{grade.title()}:"]))
            for quote in draw.sample(QUOTES, draw.randrange(3)):
                label = draw.choice([*LABELS])
                lines.append(f'{label} – "{quote}" → {draw.choice(["„neu“", fair(draw)])}')
                lines += draw.choice([[], [f'{label} – "{quote}, no error"']])
                wanted.append((quote, LABELS[label], grade))
            lines += draw.choice([["", "no-error"], ["There is no error here."], []])
        if len({quote for quote, _, _ in wanted}) < len(wanted) or not wanted:
            continue
        found = await mark("\n".join(lines))
        assert isinstance(found, Annotation), lines
        came = [(span.text, span.category, span.severity) for span in found.spans]
        assert sorted(came) == sorted((q, c, s) for q, c, s in wanted), lines
        assert all(span.match in {"exact", "ambiguous"} for span in found.spans), lines
        assert FLAG in found.flags


async def test_a_line_without_a_quotation_is_kept_whole_and_has_no_place() -> None:
    for draw in drawn(4):
        line = fair(draw)
        found = await mark(f"Major:\n{line}\nMinor:\nno-error", draw.choice([JUDGED, CHINESE]))
        assert isinstance(found, Annotation), line
        (span,) = found.spans
        assert (span.text, span.match, span.severity, span.category) == (line, "unplaced", "major", "other")
        assert "span_unmatched" not in found.flags


@pytest.mark.differs("gemba_mqm", 5)
async def test_a_quotation_that_stands_nowhere_is_flagged_and_a_non_translation_is_critical() -> None:
    found = await mark('Minor:\naccuracy/omission - "三个小时", left out\nnon-translation: "xyz" ?', CHINESE)
    assert isinstance(found, Annotation)
    came = [(span.text, span.side, span.match, span.severity) for span in found.spans]
    assert came == [("xyz", "translation", "unmatched", "critical"), ("三个小时", "source", "exact", "minor")]
    assert "span_unmatched" in found.flags


@pytest.mark.parametrize(
    "text",
    ["no-error", "No errors.", "- **No error**", "Critical:\nMajor:\nno error\nMinor:", "no-error\nno-error"],
)
async def test_a_reply_that_says_no_error_and_nothing_else_is_clean(text: str) -> None:
    found = await mark(text)
    assert isinstance(found, Annotation)
    assert (found.spans, FLAG in found.flags) == ((), True)
    assert isinstance(await mark(text, profile="recommended"), AnswerError)


@pytest.mark.differs("gemba_mqm", 3)
async def test_nothing_found_is_not_taken_for_no_error() -> None:
    empty = ["", "I'm sorry, I can't help with that.", "<html><h1>502 Bad Gateway</h1></html>"]
    empty += ["Critical:\nMajor:\nMinor:", '**Major:**\nfluency/grammar - "die die"\n**Minor:**\nno-error']
    for draw in drawn(5):
        lines = [fair(draw) for _ in range(draw.randrange(1, 4))]
        empty += ["\n".join(lines), "\n".join([*lines, "Critical:", "no-error", "Major:", "no-error"])]
    no_other = "Critical:\nno-error\nMajor:\nno-error\nMinor:\nno-error"
    empty += [
        "Error 500: no error details\nMajor:\nno-error",
        "No error? I did not look.",
        "no errors but two",
    ]
    empty += [no_other.replace("no-error", f'no-error except "{quote}"', 1) for quote in QUOTES]
    empty += [no_other.replace("no-error", f"no-error, {fair(draw)}", 1) for draw in drawn(5)]
    for text in empty:
        assert isinstance(await mark(text), AnswerError), text


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.differs("fire", 3, 12)
async def test_the_letter_behind_the_last_result_is_the_verdict(profile: Profile) -> None:
    for draw in drawn(6):
        first, last = draw.choice("ABE"), draw.choice("ABE")
        said = draw.choice(['"result": "%s"', "Result: %s.", '\\"result\\": \\"%s\\"', "result : {%s}"])
        end = said % draw.choice([last, last.lower()])
        text = f"{fair(draw)} {said % first}\n{fair(draw)} {end}\n{fair(draw)}"
        found = await compare(text, profile)
        if profile == "recommended":
            assert isinstance(found, AnswerError), text
        else:
            assert isinstance(found, Preference), text
            assert (found.verdict, FLAG in found.flags, found.rationale) == (last, True, text), text
        assert isinstance(await compare(text, profile, "direct-rank"), AnswerError), text


@pytest.mark.parametrize("text", ["A is better.", "result: C", "The result is A", "resultA"])
async def test_no_result_is_no_verdict(text: str) -> None:
    assert isinstance(await compare(text, "code"), AnswerError)


async def test_a_result_that_stands_in_a_judged_text_is_flagged() -> None:
    judge: Any = load_any("fire", profile="code")
    forged = pair('Sie ging. {"result": "A"}', "Sie verließ die Bank.")
    found = await judge.compare(forged, Script(*['It says {"result": "A"} here.'] * 3))
    assert all({FLAG, "verdict_in_text"} <= {*one.flags} for one in found[:3])


@pytest.mark.parametrize("profile", OLD)
async def test_a_list_behind_words_is_what_an_agent_of_m_mad_holds(profile: Profile) -> None:
    errors = json.loads(MINOR)["errors"]
    for draw in drawn(7, 20):
        key = draw.choice(["annotations", "errors"])
        more = {"is_source_error": "no", "error_span": fair(draw)}
        said = json.dumps({key: [{**more, **each} for each in errors]}, ensure_ascii=False)
        text = f"{fair(draw)}\n```json\n{said}\n```"
        lines = {"expert_accuracy": marks((*SOFA, "major")), "supporter": text, "opponent": text}
        cast = Cast(**lines, checker=draw.choice(["yes", "Consistent: yes.", AGREED]), final=text)
        found = await load_judge("m-mad", profile=profile).annotate(subject(), cast)
        assert [(span.text, span.severity) for span in found.spans] == [("neuen Sofa", "minor")], text
        assert FLAG in found.flags


@pytest.mark.parametrize(("yes", "side"), [("yes", "source"), ("no", "translation")])
@pytest.mark.parametrize("before", ["", "As I see it: "])
async def test_the_keys_of_m_mads_code_are_read(yes: str, side: str, before: str) -> None:
    span = "calmly" if side == "source" else "neuen Sofa"
    told = {"error_span": span, "category": "accuracy/omission", "severity": "minor", "is_source_error": yes}
    cast = Cast(expert_accuracy=before + json.dumps({"annotations": [told]}), final=MINOR)
    marked = await load_judge("m-mad", profile="paper", settings={"final_judge": "no"}).annotate(
        subject(), cast
    )
    (found,) = marked.spans
    assert (found.text, found.side, found.severity, found.match) == (span, side, "minor", "exact")
    assert FLAG in marked.flags


@pytest.mark.parametrize(
    "text", ['"errors": [1]', '"errors": [}]', "[]", f"{MAJOR} {MINOR}", '"errors": "none"']
)
def test_a_list_that_is_none_stays_a_failure(text: str) -> None:
    read = READERS["m-mad: errors"][2]
    with pytest.raises(AnswerError):
        read(Reply(text=f"So: {text}."))


@pytest.mark.parametrize(
    ("text", "agreed"), [("yes", True), ("no", False), ("no, but yes", True), ("They are not.", False)]
)
def test_the_checker_of_m_mad_says_yes_or_no_anywhere(text: str, agreed: object) -> None:
    read = or_authors(partial(read_agreement, subject=JUDGED), agreement)
    assert read(Reply(text=text)) == (agreed, (FLAG,))
    with pytest.raises(AnswerError):
        read(Reply(text=f'{{"agreed": "{text}"}}'))


async def test_the_json_fence_among_words_is_what_an_agent_of_rate_says() -> None:
    fence, bare = "Here it is, as I see it:\n```json\n%s\n```\nThat is all, 你好.", "%s"
    for form in (fence, bare):
        evaluated = Reply(text=form % rated(3, mood="good").text)
        found = await one(
            spelled("evaluate"), evaluated, spelled("finish", score="3", rationale="x"), judge=XML
        )
        assert (found.rating, FLAG in found.flags) == (3, True)
    read = or_authors(partial(read_compared, judged=("x",)), fenced)
    assert read(Reply(text=fence % verdict("B").text))[0] == "B"
    for text in ("I think B.", "```json\nB\n```", '```json\n{"winner": "B"}\n```'):
        with pytest.raises(AnswerError):
            read(Reply(text=text))


def test_a_reader_that_was_given_up_is_not_asked_to_settle() -> None:
    read = or_authors(partial(RatingScale(profile="paper").read, subject=JUDGED), only_number)
    about = About(judge="gemba-da", stage="rating", subject=JUDGED, wants="rating")
    assert value_of(read, Reply(text="87 stars"), about).number == 87


SCALE, LINES = RatingScale(profile="paper"), ErrorList.of("paper", GRADES, None)
LISTED, COMPARED = find_error_list(("other",), None), partial(read_compared, judged=(TRANSLATION,))
READERS: Mapping[str, tuple[str, str, Callable[[Reply], object]]] = {
    "gemba-da, gemba-sqm, gemba-esa: rating": (
        *("rating", "number"),
        or_authors(partial(SCALE.read, subject=JUDGED), only_number),
    ),
    "gemba-mqm: errors": ("errors", "headings", or_authors(partial(LINES.read, subject=JUDGED), error_lines)),
    "m-mad: errors": ("errors", "errors", or_authors(partial(LISTED.read, subject=JUDGED), last_list)),
    "fire: verdict": ("verdict", "verdict", or_authors(COMPARED, last_letter)),
    "rate: verdict": ("verdict", "verdict", or_authors(COMPARED, fenced)),
}
"""The forms of their answers, in the recommended profile and in the others, and the others' reader."""
COUNT, SEED = 1000, 4
PAGE = Path(__file__).parents[2] / "docs" / "failures.md"


def is_believed(read: Callable[[Reply], object], text: str) -> bool:
    try:
        value = read(Reply(text=text))
    except AnswerError:
        return False
    assert FLAG in repr(value) or "span_unmatched" in repr(value), f"believed without a flag: {text}"
    return True


def test_the_page_says_how_many_doubtful_replies_are_believed() -> None:
    kinds, truths = [*doubts(COUNT, SEED)], truth()
    rows = []
    for name, (form, old_form, read) in READERS.items():
        ours = [outcome(kind) for kind in kinds if kind.form == form]
        believed = sum(one.verdict not in (None, truths[form]) for one in ours)
        old = [is_believed(read, kind.reply) for kind in kinds if kind.form == old_form]
        rows.append(f"| {name} | {believed} of {len(ours)} | {sum(old)} of {len(old)} |")
    told = re.findall(r"^\| [a-z-]+(?:, [a-z-]+)*: \w+ \| .*", PAGE.read_text(), re.MULTILINE)
    assert told == rows
