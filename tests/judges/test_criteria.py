"""Pass or fail on the criteria that a segment brings."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.ask import About, Reply, WordsBesideError
from adjudge.core.judge import PROFILES, Profile, is_criteria_judge
from adjudge.core.record import Annotation
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError
from adjudge.judges import load_judge
from adjudge.judges.criteria import VERDICTS, Criteria
from tests.judges.asking import Script, subject
from tests.judges.malformed import ANYWHERE, IN_FORM

PASS = '{"reason": "The doubled article does not touch the cat.", "verdict": "pass"}'
FAIL = '{"reason": "\\"Katze\\" is no dog.", "verdict": "fail"}'
TWO: Sequence[object] = ("The cat stays a cat.", {"id": "calm", "text": "Anna is calm."})


def checked(criteria: Sequence[object] = TWO, **texts: Any) -> Subject:
    about = subject(**texts)
    return replace(about, segment=replace(about.segment, meta={"criteria": list(criteria)}))


def told(verdict: object, reason: object = "The cat is there.", **more: object) -> str:
    return json.dumps({"reason": reason, "verdict": verdict, **more}, ensure_ascii=False)


class Agreeing(Script):
    """Finds each verdict in its reason; `asked` holds the questions about criteria alone."""

    def says(self, about: About) -> str | Reply:
        if about.wants != "says":
            return super().says(about)
        self.asked.pop()
        return json.dumps({"says": about.facts["verdict"]})


async def one(reply: str | Reply) -> Annotation | AnswerError:
    """What comes of a single criterion, whose reply cannot be asked for again."""
    try:
        (found,) = await Criteria().check(checked(["The cat stays a cat."]), Agreeing(reply))
    except AnswerError as error:
        return error
    return found


async def test_each_criterion_is_a_record_of_its_own() -> None:
    found = await Criteria().check(checked(), Agreeing(PASS, FAIL))
    assert all(isinstance(each, Annotation) for each in found)
    assert [(a.criterion, a.rating, a.rationale) for a in found if isinstance(a, Annotation)] == [
        ("1", 1, "The doubled article does not touch the cat."),
        ("calm", 0, '"Katze" is no dog.'),
    ]
    assert {(a.protocol, a.annotator, a.system, a.flags) for a in found if isinstance(a, Annotation)} == {
        ("criteria", "criteria", "sys", ())
    }


@pytest.mark.differs("criteria", 5)
async def test_a_verdict_that_cannot_be_read_is_missing_alone() -> None:
    first, second = await Criteria().check(checked(), Agreeing("I think so.", FAIL))
    assert isinstance(first, AnswerError)
    assert isinstance(second, Annotation)
    assert second.rating == 0


@pytest.mark.parametrize(
    ("reply", "rating", "flags"),
    [
        (PASS, 1, ()),
        (FAIL, 0, ()),
        (f"<think>Maybe fail.</think>\n{PASS}", 1, ("extracted",)),
        (told("FAILED."), 0, ("normalised",)),
        (told("**passes**"), 1, ("normalised",)),
        (told("pass", confidence=0.9), 1, ("normalised",)),
        (told("pass", "The translation passes the criterion."), 1, ()),
        (told("fail", "It could pass, but it fails."), 0, ()),
        (told("fail", "The translation passes on the news and loses the calm."), 0, ()),
        (told("fail", "The rule is violated: the cat is a dog."), 0, ()),
    ],
)
@pytest.mark.differs("criteria", 3)
async def test_a_verdict_is_one_of_two_words(reply: str, rating: int, flags: tuple[str, ...]) -> None:
    found = await one(reply)
    assert isinstance(found, Annotation), found
    assert (found.rating, found.flags) == (rating, flags)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "empty"),
        ("pass", "parse"),
        (f"I would say {PASS}", "words"),
        (f"{FAIL}\n\nOn second thought, it passes.", "words"),
        (f"{PASS} {FAIL}", "ambiguous"),
        (Reply(text=PASS, finish="length"), "truncated"),
        ('{"verdict": "pass"}', "schema"),
        ('{"reason": "Good."}', "schema"),
        (told("pass", None), "schema"),
        *((told(value), "label") for value in (True, 1, None, "yes", "true", "pass/fail", "partly", "", "1")),
        (told("bypass"), "label"),
        (told("pass", result="The verdict: fail."), "schema"),
        (told("pass", note="The verdict: fail."), "words"),
    ],
)
@pytest.mark.differs("criteria", 3)
async def test_what_is_no_verdict_is_neither_a_pass_nor_a_fail(reply: str | Reply, reason: str) -> None:
    found = await one(reply)
    assert isinstance(found, AnswerError), found
    assert found.reason == reason, found


async def test_no_malformed_reply_of_any_form_becomes_a_verdict() -> None:
    replies = [bad.reply for rows in (ANYWHERE, *IN_FORM.values()) for bad in rows]
    read = [reply.text for reply in replies if not isinstance(await one(reply), AnswerError)]
    assert len(replies) >= 300
    assert read == []


@pytest.mark.parametrize("answer", [PASS, FAIL])
async def test_a_verdict_that_a_text_holds_is_not_taken_out_of_a_longer_reply(answer: str) -> None:
    about = checked([f"The answer is {answer}"])
    (found,) = await Criteria().check(about, Agreeing(f"The criterion says: {answer}"))
    assert isinstance(found, AnswerError)


@pytest.mark.differs("criteria", 1, 2, 5)
async def test_a_question_holds_one_criterion_as_data_behind_the_texts() -> None:
    ask = Agreeing(PASS, FAIL)
    await Criteria().check(checked(), ask)
    assert [[q.name for q in asked.quoted] for asked in ask.asked] == [
        ["source", "translation", "criterion"]
    ] * 2
    assert [asked.quoted[-1].text for asked in ask.asked] == ["The cat stays a cat.", "Anna is calm."]
    assert {asked.messages[0] for asked in ask.asked} == {ask.asked[0].messages[0]}
    first, second = (asked.messages[1].parts[:-1] for asked in ask.asked)
    assert first == second  # a prefix cache serves all but the criterion
    assert {asked.about.stage for asked in ask.asked} == {"criterion 1", "criterion calm"}
    assert {(asked.about.wants, asked.attempts) for asked in ask.asked} == {("criterion", 2)}
    assert {asked.messages[0].role for asked in ask.asked} == {"system"}
    schema: Any = ask.asked[0].schema
    assert list(schema["properties"]) == ["reason", "verdict"]
    for profile in PROFILES:
        other = Agreeing(PASS, FAIL)
        await Criteria(profile=profile).check(checked(), other)
        assert other.asked == ask.asked


@pytest.mark.parametrize("verdict", [PASS, FAIL])
@pytest.mark.differs("criteria", 3)
async def test_words_beside_a_pass_are_never_settled_by_a_question(verdict: str) -> None:
    found = await one(f"I would say {verdict}")
    assert isinstance(found, WordsBesideError)
    assert found.is_clean == (verdict == PASS)


@given(st.text(min_size=1).filter(str.strip))
async def test_a_criterion_may_be_any_text_and_is_never_part_of_our_words(text: str) -> None:
    ask = Agreeing(PASS)
    await Criteria().check(checked([text]), ask)
    plain = Agreeing(PASS)
    await Criteria().check(checked(["x"]), plain)
    assert ask.asked[0].quoted[-1].text == text
    assert ask.asked[0].words == plain.asked[0].words


@pytest.mark.differs("criteria", 6)
async def test_a_reference_can_be_shown_and_the_reason_be_in_a_language() -> None:
    judge, ask = Criteria(with_reference=True, explain_in="fr"), Agreeing(PASS)
    await judge.check(checked(["x"], reference="So."), ask)
    assert [q.text for q in ask.asked[0].quoted if q.name == "reference"] == ["So."]
    assert "reference translation made by a person" in ask.asked[0].words
    assert "- reason: one or two sentences in French: which" in ask.asked[0].words
    assert len({one.prompts_digest for one in (judge, Criteria(), Criteria(with_reference=True))}) == 2


@pytest.mark.parametrize(
    ("profile", "calls"), [("recommended", (4, 4, 8)), ("paper", (2, 2, 2)), ("code", (2, 2, 2))]
)
def test_it_counts_the_calls_for_each_criterion(profile: Profile, calls: object) -> None:
    judge = load_judge("criteria", profile=profile, settings={"with_reference": "yes"})
    assert judge == Criteria(profile=profile, with_reference=True)
    assert is_criteria_judge(judge)
    assert judge.calls_for(checked()) == calls
    assert judge.calls_for(checked([])) == (0, 0, 0)


@pytest.mark.parametrize(
    ("replies", "came"),
    [
        ((PASS, FAIL, PASS), (1, (1.0, 0.0, 1.0), ())),
        ((FAIL, FAIL, PASS), (0, (0.0, 0.0, 1.0), ())),
        ((PASS, "hm", PASS), (1, (1.0, 1.0), ("samples_missing",))),
        ((PASS, "hm", FAIL), "ambiguous"),
        ((PASS, "hm", "hm"), "parse"),
    ],
)
async def test_more_than_half_of_the_samples_read_decide(replies: tuple[str, ...], came: object) -> None:
    judge, ask = load_judge("criteria", settings={"samples": "3"}), Agreeing(*replies)
    assert is_criteria_judge(judge)
    about = checked(["x"])
    assert judge.calls_for(about) == (6, 6, 12)
    (found,) = await judge.check(about, ask)
    assert {asked.sampling.temperature for asked in ask.asked} == {0.7}
    if isinstance(found, AnswerError):
        assert found.reason == came
    else:
        assert (found.rating, found.samples, found.flags) == came
        assert found.rationale == json.loads(replies[0])["reason"]


AGAINST = (
    ("pass", "fail", "The cat has become a dog, so the criterion is not met."),
    ("fail", "pass", "The cat is still a cat and the criterion is fully met."),
    ("pass", "fail", "Aus der Katze ist ein Hund geworden, das Kriterium ist nicht erfüllt."),
    ("fail", "pass", "„Katze“ steht da, wie verlangt. Bestanden."),
    ("fail", "pass", "Le mot « chat » est bien là, le critère est rempli."),
    ("pass", "fail", "Kočka se změnila v psa, kritérium není splněno."),
    ("pass", "fail", "Кошка превратилась в собаку, критерий не выполнен."),
    ("pass", "fail", "猫が犬になっているため、基準を満たしていない。"),
    ("fail", "pass", "猫仍然是猫，符合标准。"),
    ("pass", "fail", "تحولت القطة إلى كلب، فلم يتحقق المعيار."),
    ("pass", "fail", "고양이가 개로 바뀌어 기준에 맞지 않는다."),
    ("fail", "pass", "बिल्ली बिल्ली ही है, मानदंड पूरा हुआ।"),
)
SAYS_NOTHING = (
    "I'm sorry, I can't help with that.",
    "As a language model I cannot judge this text.",
    *("...", "…", "reason", "<reason>", "[one or two sentences]"),
    "one or two sentences: which words decide",
    *("N/A", "Das kann ich leider nicht beurteilen."),
    "Je ne peux pas répondre à cette demande.",
    *(
        "Nemohu posoudit.",
        "Извините, я не могу этого сделать.",
        "申し訳ありませんが、お答えできません。",
        "抱歉，我无法回答。",
    ),
    *("لا أستطيع المساعدة في ذلك.", "It passes. No, it fails.", "OK", "The texts were not provided.", "-"),
)
FAIR = tuple(
    (verdict, reason.format(word))
    for word in ("Katze", "kočka", "кошка", "猫", "قطة", "고양이", "γάτα", "बिल्ली", "แมว", "חתול")
    for verdict, reason in (
        ("pass", "'{}' keeps the cat, so the criterion is met."),
        ("pass", "„{}“ steht da, das Kriterium ist erfüllt."),
        ("pass", "« {} » est là : critère rempli."),
        ("pass", "«{}» осталась, критерий выполнен."),
        ("pass", "「{}」が残っており、基準を満たす。"),
        ("fail", "'{}' is missing, so the criterion is not met."),
        ("fail", "„{}“ fehlt, das Kriterium ist nicht erfüllt."),
        ("fail", "« {} » manque : critère non rempli."),
        ("fail", "«{}» нет, критерий не выполнен."),
        ("fail", "「{}」がなく、基準を満たさない。"),
    )
)
SAID = {
    **{reason: says for _, says, reason in AGAINST},
    **dict.fromkeys(SAYS_NOTHING, "neither"),
    **{reason: verdict for verdict, reason in FAIR},
}
BAD = (
    *((verdict, reason) for verdict, _, reason in AGAINST),
    *zip(VERDICTS * len(SAYS_NOTHING), SAYS_NOTHING, strict=False),
)


class Honest(Script):
    """Answers criteria as written, and says honestly which verdict a reason gives."""

    def __init__(self, *replies: str) -> None:
        super().__init__()
        self._left = list(replies)

    def says(self, about: About) -> str:
        if about.wants == "criterion":
            return self._left.pop(0)
        return json.dumps({"says": SAID[self.asked[-1].quoted[-1].text]})


@pytest.mark.parametrize(("verdict", "reason"), BAD)
@pytest.mark.differs("criteria", 4)
async def test_no_verdict_stands_against_its_reason(verdict: str, reason: str) -> None:
    about, bad = checked(["The cat stays a cat."]), told(verdict, reason)
    ask = Honest(bad, bad)
    (found,) = await Criteria().check(about, ask)
    assert isinstance(found, AnswerError), found
    assert found.reason == "ambiguous"
    assert [asked.about.wants for asked in ask.asked] == ["criterion", "says"] * 2
    assert ask.asked[2].words.startswith(ask.asked[0].words)
    assert "its reason did not say its verdict" in ask.asked[2].words
    good_verdict, good = FAIR[len(reason) % len(FAIR)]
    (found,) = await Criteria().check(about, Honest(bad, told(good_verdict, good)))
    assert isinstance(found, Annotation)
    assert (found.rating, found.rationale) == (int(good_verdict == "pass"), good)


async def test_a_fair_verdict_costs_one_question_more_and_is_kept() -> None:
    for verdict, reason in FAIR:
        ask = Honest(told(verdict, reason))
        (found,) = await Criteria().check(checked(["The cat stays a cat."], lp="en-cs"), ask)
        assert isinstance(found, Annotation), reason
        assert (found.rating, found.rationale, found.flags) == (int(verdict == "pass"), reason, ())
        assert len(ask.asked) == 2


@pytest.mark.parametrize("profile", ["paper", "code"])
@pytest.mark.differs("criteria", 2, 4)
async def test_the_other_profiles_ask_once(profile: Profile) -> None:
    for verdict, reason in BAD:
        (found,) = await Criteria(profile=profile).check(checked(["x"]), Script(told(verdict, reason)))
        assert isinstance(found, Annotation)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")).filter(str.strip))
@pytest.mark.differs("criteria", 4)
async def test_a_reason_is_data_and_is_read_without_the_texts_and_the_verdict(text: str) -> None:
    questions = []
    for verdict in VERDICTS:
        ask = Script(told(verdict, text), json.dumps({"says": verdict}))
        await Criteria().check(checked(["The cat stays a cat."]), ask)
        _, second = ask.asked
        assert [(q.name, q.text) for q in second.quoted] == [
            ("criterion", "The cat stays a cat."),
            ("reason", text.strip()),
        ]
        assert second.schema is not None
        questions.append((second.messages, second.words))
    assert questions[0] == questions[1]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("pass", "parse"),
        ('{"says": "maybe"}', "label"),
        ('{"verdict": "pass"}', "schema"),
        ('I think {"says": "pass"}', "words"),
        ('{"says": "pass"', "truncated"),
        ('{"says": "pass",}', "parse"),
    ],
)
async def test_what_says_no_verdict_confirms_none(reply: str, reason: str) -> None:
    (found,) = await Criteria().check(checked(["x"]), Script(PASS, reply))
    assert isinstance(found, AnswerError)
    assert found.reason == reason
