"""A judgement that fails in several places fails the same way every time."""

import asyncio
import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from adjudge.core.ask import About, Answer, Message, Quoted, Reply, Sampling, Usage
from adjudge.core.segment import Segment, Subject
from adjudge.errors import AnswerError, ModelError, ServerStopError
from adjudge.judges._reading import Reading, object_schema
from adjudge.llm.asking import (
    ASKED_AGAIN,
    CONFIRM,
    WRONG,
    Asker,
    Quiet,
    Tally,
    check_reply,
    is_same_model,
)
from adjudge.llm.model import Identity, Request
from adjudge.llm.model_choice import Models, OpenModel
from tests.llm.conftest import Bench, Script, make_subject

# Which replies may be read at all.


SAME = [
    ("gpt-4o", ""),
    ("gpt-4o", "gpt-4o"),
    ("gpt-4o", "gpt-4o-2024-08-06"),
    ("gpt-4o", "GPT-4o"),
    ("anthropic/claude-x", "claude-x"),
    ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929"),
    ("mistral-large-latest", "mistral-large-2411"),
    ("meta-llama/Llama-3-8B", "/models/Llama-3-8B/"),
    ("llama3", "llama3:latest"),
    ("deepseek/deepseek-r1:free", "deepseek/deepseek-r1"),
    ("gemini-2.5-flash-preview-05-20", "gemini-2.5-flash-preview-05-20"),
    ("qwen-plus", "qwen-plus-2025-07-28"),
]
OTHER = [
    ("gpt-4o", "gpt-4o-mini"),
    ("gpt-4", "gpt-4o"),
    ("gpt-4", "gpt-5"),
    ("gpt-4o-2024-05-13", "gpt-4o-2024-08-06"),
    ("llama3:8b", "llama3:70b"),
    ("Llama-3-8B", "Llama-3-70B"),
    ("deepseek-v3", "deepseek-v3.1"),
    ("mock", "another-model"),
]


def test_a_date_a_tag_or_a_path_makes_no_other_model_and_another_size_or_version_does() -> None:
    assert [pair for pair in SAME + OTHER if is_same_model(*pair)] == SAME


def test_a_user_may_know_the_name_that_the_server_gives() -> None:
    reply = Reply(text="x", model="deployment-7")
    check_reply(reply, "gpt-4o", "deployment-7")
    check_reply(reply, "gpt-4o", "any")
    with pytest.raises(AnswerError, match="--served-as"):
        check_reply(reply, "gpt-4o", None)
    with pytest.raises(AnswerError, match="'deployment-8' \\(--served-as\\), answered by 'deployment-7'"):
        check_reply(reply, "gpt-4o", "deployment-8")


# The engine's `ask`: store first, each question once, unreadable answers again and never for ever.


def read_yes(reply: Reply) -> str:
    if reply.text != "yes":
        raise AnswerError("parse", f"wanted yes, got {reply.text!r}")
    return reply.text


SUBJECT = make_subject()


async def put(
    asker: Asker,
    subject: Subject | None = None,
    *said: str | Quoted,
    read: Callable[[Reply], Any] = read_yes,
    **options: Any,
) -> Answer[Any]:
    subject = subject or SUBJECT
    unit = asker.for_unit(subject)
    about = About(judge="test", stage="errors", subject=subject, wants="errors", role=options.pop("role", ""))
    try:
        return await unit([Message("user", said or ("Well?",))], about=about, read=read, **options)
    finally:
        unit.end()


def in_turn(*texts: str) -> Script:
    replies = iter(texts)
    return lambda request: Reply(text=next(replies))


async def test_an_answer_is_stored_before_it_is_used_and_never_asked_for_again(bench: Bench) -> None:
    answer = await put(bench.asker())
    assert (answer.value, answer.asked) == ("yes", 1)
    again = bench.asker()
    assert (await put(again)).value == "yes"
    assert len(bench.model.requests) == 1
    assert (again.tally.asked, again.tally.from_store) == (0, 1)


async def test_the_same_question_asked_by_many_at_once_is_asked_once(bench: Bench) -> None:
    asker = bench.asker()
    answers = await asyncio.gather(*(put(asker, make_subject(system=str(n))) for n in range(20)))
    assert [answer.value for answer in answers] == ["yes"] * 20
    assert len(bench.model.requests) == 1


async def test_the_same_question_twice_in_one_unit_is_two_samples(bench: Bench) -> None:
    bench.model.script = lambda request: Reply(text="yes", model=str(request.sample))
    unit = bench.asker().for_unit(SUBJECT)
    about = About(judge="test", stage="errors", subject=SUBJECT, wants="errors")
    answers = await asyncio.gather(
        *(unit([Message("user", ("Well?",))], about=about, read=read_yes) for _ in range(3))
    )
    unit.end()
    assert [answer.reply.model for answer in answers] == ["0", "1", "2"]
    assert {request.sample for request in bench.model.requests} == {0, 1, 2}


async def test_two_roles_with_the_same_question_share_its_answer(bench: Bench) -> None:
    asker = bench.asker()
    await put(asker, role="one")
    await put(asker, role="two")
    assert len(bench.model.requests) == 1


async def test_an_unreadable_answer_is_asked_for_again_as_the_next_sample(bench: Bench) -> None:
    bench.model.script = in_turn("what", "yes")
    answer = await put(bench.asker())
    assert (answer.value, answer.asked) == ("yes", 2)
    assert [(r.sample, r.again) for r in bench.model.requests] == [(0, 0), (0, 1)]
    assert [(e.use.reason, e.reply and e.reply.text) for e in bench.conversation(SUBJECT)] == [
        ("parse", "what"),
        ("", "yes"),
    ]


@pytest.mark.parametrize("attempts", [1, 2, 3])
async def test_unreadable_answers_are_given_up_after_so_many_attempts(bench: Bench, attempts: int) -> None:
    bench.model.script = lambda request: Reply(text="what")
    for _ in range(2):
        with pytest.raises(AnswerError, match="wanted yes, got 'what'"):
            await put(bench.asker(), attempts=attempts)
    assert len(bench.model.requests) == attempts


@pytest.mark.parametrize(
    ("reply", "reason", "asked"),
    [
        (Reply(text=""), "empty", 2),
        (Reply(text=" \n\u3000"), "empty", 2),
        (Reply(text="", reasoning="hm"), "no_answer", 2),
        (Reply(text="No.", finish="refused"), "refused", 1),
        (Reply(text="yes", finish="content_filter"), "refused", 1),
        (Reply(text="yes", finish="length"), "truncated", 2),
    ],
)
async def test_what_is_no_answer_has_its_own_limit_even_if_asked_once(
    bench: Bench, reply: Reply, reason: str, asked: int
) -> None:
    bench.model.script = lambda request: reply
    with pytest.raises(AnswerError) as caught:
        await put(bench.asker(), attempts=1)
    assert caught.value.reason == reason
    assert len(bench.model.requests) == asked


# A reply that leaves a doubt is asked about, in the recommended profile.


SCHEMA = object_schema(rating={"type": "integer"})
BESIDE = '{"rating": 60, "reason": "I did not read the translation."}'


def read_rating(reply: Reply) -> tuple[int, tuple[str, ...]]:
    reading = Reading(reply)
    number = reading.integer(reading.answer("rating")["rating"], 0, 100, "the rating")
    if number == 1 and not reply.is_last:
        raise AnswerError("span", "'x' stands in neither text")
    return number, reading.settle(is_clean=number == 100)


async def rate(
    asker: Asker, subject: Subject | None = None, attempts: int = 2
) -> Answer[tuple[int, tuple[str, ...]]]:
    question = ("Rate ", Quoted("translation", "Guten Morgen"))
    return await put(asker, subject, *question, read=read_rating, attempts=attempts, schema=SCHEMA)


@pytest.mark.parametrize(
    "told", ['{"verdict": {"rating": 60}}', '{"rating": 60}', '{"verdict": {"rating": "60"}}']
)
async def test_a_reply_with_words_beside_it_is_shown_back_without_the_texts(bench: Bench, told: str) -> None:
    bench.model.script = in_turn(BESIDE, told)
    asker = bench.asker()
    answer = await rate(asker)
    assert (answer.value, answer.asked) == ((60, ("normalised", "confirmed")), 2)
    assert asker.tally.unread == {"words": 1}
    put, shown = bench.model.requests
    assert shown.messages == (Message("user", (CONFIRM, Quoted("reply", BESIDE))),)
    assert shown.schema is not None
    assert shown.schema["properties"] == {"verdict": {"anyOf": [SCHEMA, {"type": "null"}]}}
    assert put.schema == SCHEMA
    assert [exchange.use.reason for exchange in bench.conversation(SUBJECT)] == ["", ""]
    again = await rate(bench.asker())
    assert again.value == answer.value
    assert len(bench.model.requests) == 2


@pytest.mark.parametrize(
    "told",
    [
        *('{"verdict": null}', "null", "", BESIDE, "yes", '{"verdict": "60"}', '{"rating": 60} or 50'),
        '{"verdict": {"rating": 61}}',
        '{"verdict": {"rating": 60}} I think',
        '{"verdict": {"rating": 60, "note": "x"}}',
    ],
)
async def test_another_verdict_or_none_confirms_nothing(bench: Bench, told: str) -> None:
    bench.model.script = in_turn(BESIDE, told, '{"rating": 31}')
    answer = await rate(bench.asker())
    assert answer.value == (31, ())
    assert bench.conversation(SUBJECT)[0].use.reason == "words"
    assert WRONG["words"] in str(bench.model.requests[-1].messages)


async def test_an_answer_that_all_is_well_is_never_confirmed(bench: Bench) -> None:
    bench.model.script = lambda request: Reply(text='{"rating": 100, "note": "Skipped."}')
    with pytest.raises(AnswerError, match="words stand beside a clean answer: 'Skipped"):
        await rate(bench.asker())
    assert len(bench.model.requests) == 2
    assert all(CONFIRM not in request.messages[-1].parts for request in bench.model.requests)


@pytest.mark.parametrize("how", [{"explains": False}, {"offline": True}])
async def test_papers_and_old_answers_are_asked_nothing_more(bench: Bench, how: dict[str, bool]) -> None:
    bench.model.script = lambda request: Reply(text=BESIDE)
    with pytest.raises(AnswerError, match="words"):
        await rate(bench.asker(explains=False))
    asked = len(bench.model.requests)
    with pytest.raises(AnswerError, match="words"):
        await rate(bench.asker(**how), attempts=1)
    assert len(bench.model.requests) == asked == 2


@pytest.mark.parametrize(
    ("replies", "number", "asked"),
    [(("1", "2"), 2, 2), (("1", "1"), 1, 2), (("1", "no"), 1, 2), (("1", ""), 1, 2)],
)
async def test_words_that_stand_nowhere_are_asked_for_once_more_and_then_kept(
    bench: Bench, replies: tuple[str, ...], number: int, asked: int
) -> None:
    texts = [f'{{"rating": {said}}}' if said.isdigit() else said for said in replies]
    bench.model.script = in_turn(*texts, *texts)
    assert (await rate(bench.asker())).value[0] == number
    assert len(bench.model.requests) == asked
    assert WRONG["span"] in str(bench.model.requests[1].messages)
    plain = await rate(bench.asker(explains=False, seed=1))
    assert (plain.value[0], plain.asked) == (1, 1)


def confirms(bench: Bench, told: str) -> None:
    """Say this when asked whether the rating 1, beside which words stand, is meant."""
    both = '{"rating": 1, "reason": "I looked."}'
    bench.model.script = lambda request: Reply(text=told if CONFIRM in request.messages[-1].parts else both)


@pytest.mark.parametrize("told", ["null", '{"verdict": {"rating": 1}, "note": "x"}', BESIDE, ""])
async def test_words_beside_an_error_that_stands_nowhere_are_a_failure(bench: Bench, told: str) -> None:
    confirms(bench, told)
    with pytest.raises(AnswerError, match="words stand beside the answer"):
        await rate(bench.asker())


async def test_words_beside_an_error_that_stands_nowhere_are_confirmed_and_both_are_kept(
    bench: Bench,
) -> None:
    confirms(bench, '{"verdict": {"rating": 1}}')
    answer = await rate(bench.asker())
    assert (answer.value, answer.asked) == ((1, ("normalised", "confirmed")), 2)


async def test_a_reader_that_sees_a_refusal_is_believed_at_once(bench: Bench) -> None:
    def read(reply: Reply) -> str:
        raise AnswerError("refused", "it says no")

    with pytest.raises(AnswerError, match="refused"):
        await put(bench.asker(), read=read)
    assert len(bench.model.requests) == 1


def needs(tokens: int, *, reasoning: str = "Hm.", counted: bool = False) -> Callable[[Request], Reply]:
    """A model whose reply takes so many tokens."""

    def reply(request: Request) -> Reply:
        most = request.sampling.max_tokens
        if most < tokens:
            usage = Usage(completion=most if counted else 0)
            return Reply(text="", reasoning=reasoning, finish="length", usage=usage)
        return Reply(text="yes", reasoning=reasoning)

    return reply


@pytest.mark.parametrize(
    ("tokens", "reasoning", "asked"),
    [
        (150, "", [100, 8292]),
        (6000, "Hm.", [100, 8292]),
        (9000, "Hm.", [100, 8292, 16_484]),
        (30_000, "Hm.", [100, 8292, 16_484, 32_868]),
        (32_869, "Hm.", [100, 8292, 16_484, 32_868]),
        (9000, "", [100, 8292]),
    ],
)
async def test_a_reply_that_was_cut_gets_more_room_as_long_as_it_is_thinking_that_takes_it(
    bench: Bench, tokens: int, reasoning: str, asked: list[int]
) -> None:
    bench.model.script = needs(tokens, reasoning=reasoning)
    asker = bench.asker()
    fits = tokens <= asked[-1]
    if fits:
        answer = await put(asker, sampling=Sampling(max_tokens=100))
        assert (answer.value, answer.asked) == ("yes", len(asked))
    else:
        with pytest.raises(AnswerError, match="--max-tokens"):
            await put(asker, sampling=Sampling(max_tokens=100))
    assert [r.sampling.max_tokens for r in bench.model.requests] == asked
    if fits:
        await put(asker, None, "another", sampling=Sampling(max_tokens=100))
        assert bench.model.requests[-1].sampling.max_tokens == asked[-1]
        assert len(bench.model.requests) == len(asked) + 1


async def test_a_run_that_goes_on_finds_every_answer_in_whatever_room_it_was_given(bench: Bench) -> None:
    bench.model.script = needs(9000)
    asker = bench.asker()
    for text in ("one", "two"):
        await put(asker, None, text, sampling=Sampling(max_tokens=100))
    asked = len(bench.model.requests)
    bench.store.began_empty = False  # as a later session finds it
    later = bench.asker(offline=True)
    for text in ("two", "one"):
        assert (await put(later, None, text, sampling=Sampling(max_tokens=100))).value == "yes"
    assert len(bench.model.requests) == asked


async def test_a_server_that_cuts_no_later_with_more_room_is_not_asked_a_third_time(bench: Bench) -> None:
    bench.model.script = lambda request: Reply(
        text="", reasoning="Hm.", finish="length", usage=Usage(completion=90)
    )
    with pytest.raises(AnswerError, match="thought for all of its 90 tokens"):
        await put(bench.asker(), sampling=Sampling(max_tokens=100))
    assert len(bench.model.requests) == 2


async def test_all_questions_of_a_segment_share_one_mark_and_another_segment_has_another(
    bench: Bench,
) -> None:
    asker = bench.asker()
    await put(asker, make_subject(), "one")
    await put(asker, make_subject(system="B"), "two")
    segment = Segment(segment="2", lp="en-de", source="Good morning", translations={"A": "x"})
    await put(asker, Subject(segment=segment, systems=("A",)), "three")
    first, second, third = (request.mark for request in bench.model.requests)
    assert first == second != third


async def test_one_reply_of_another_model_fails_and_says_what_to_do(bench: Bench) -> None:
    names = {"1": "right", "2": "stranger"}
    bench.model.script = lambda request: Reply(text="yes", model=names[str(request.messages[0].parts[0])])
    asker = bench.asker()
    asker.models = Models(
        default=OpenModel(identity=Identity(endpoint="test", model="right"), model=bench.model)
    )
    await put(asker, None, "1")
    with pytest.raises(AnswerError, match=r"model_mismatch.*--served-as"):
        await put(asker, None, "2")
    assert asker.tally.served_names == ["right", "stranger"]
    assert Tally(served={"right=right"}).served_names == []
    assert Tally(served={"a=a", "b=c", "#fp_1"}).served_names == ["#fp_1", "c"]


async def test_parallel_questions_fail_with_the_same_reason_whatever_the_timing(bench: Bench) -> None:
    texts, said = ("one", "two", "three"), set()
    for seed, delays in enumerate(itertools.permutations([0.0, 0.01, 0.02])):

        async def slow(request: Request, waits: tuple[float, ...] = delays) -> Reply:
            bench.model.requests.append(request)
            text = str(request.messages[0].parts[0])
            await asyncio.sleep(waits[texts.index(text)])
            return Reply(text=text)

        bench.model.reply = slow  # type: ignore[method-assign]
        unit = bench.asker(seed=seed).for_unit(SUBJECT)
        about = About(judge="test", stage="errors", subject=SUBJECT, wants="errors")
        drawn = Sampling(temperature=1)
        asks = (
            unit([Message("user", (t,))], about=about, read=read_yes, sampling=drawn, attempts=1)
            for t in texts
        )
        with pytest.raises(AnswerError) as caught:
            await asyncio.gather(*asks)
        unit.end()
        said.add(caught.value.detail)
    assert len(said) == 1
    assert len(bench.model.requests) == 6 * 3


@pytest.mark.parametrize("error", [ServerStopError("quota"), ModelError("setting")])
async def test_what_stops_the_run_is_raised_to_everybody_who_waits(bench: Bench, error: Exception) -> None:
    def stop(request: Request) -> Reply:
        raise error

    bench.model.script = stop
    asker = bench.asker()
    results = await asyncio.gather(*(put(asker) for _ in range(3)), return_exceptions=True)
    assert [type(result) for result in results] == [type(error)] * 3


async def test_quoted_texts_are_stored_plain(bench: Bench) -> None:
    parts = ("Judge ", Quoted("translation", "Guten\nMorgen"))
    await put(bench.asker(), None, *parts)
    (exchange,) = bench.conversation(SUBJECT)
    assert exchange.request is not None
    assert exchange.request.messages == (Message("user", parts),)


def unreadable_once(reason: str) -> Callable[[Reply], str]:
    """Read the second answer, and refuse the first for a reason."""

    def read(reply: Reply) -> str:
        if reply.text == "bad":
            raise AnswerError(reason, "got 'bad'")  # type: ignore[arg-type]
        return reply.text

    return read


def first_bad(request: Request) -> Reply:
    return Reply(text="good" if request.again else "bad")


@pytest.mark.parametrize("reason", sorted(WRONG))
async def test_a_question_that_is_put_again_says_what_was_wrong_and_nothing_of_the_texts(
    bench: Bench, reason: str
) -> None:
    bench.model.script = first_bad
    parts = ("Judge.", Quoted("translation", "Die Katze."))
    await put(bench.asker(), None, *parts, read=unreadable_once(reason))
    first, second = bench.model.requests
    assert first.messages == (Message("user", parts),)
    added = second.messages[-1].parts[len(parts) :]
    assert added == (f"\n\n{ASKED_AGAIN.replace('$wrong', WRONG[reason])}",)  # type: ignore[index]
    assert not any("bad" in part or "Katze" in part for part in added)
    assert first.key != second.key


@pytest.mark.parametrize("reasons", [("parse", "parse", "parse"), ("parse", "label", "label")])
async def test_no_request_is_sent_twice(bench: Bench, reasons: tuple[str, ...]) -> None:
    bench.model.script = lambda request: Reply(text=str(request.again))

    def read(reply: Reply) -> str:
        if int(reply.text) < len(reasons):
            raise AnswerError(reasons[int(reply.text)], "")  # type: ignore[arg-type]
        return reply.text

    await put(bench.asker(), read=read, attempts=4)
    sent = [request.messages for request in bench.model.requests]
    assert len(sent) == len(set(sent)) == 4
    assert str(sent[-1][-1].parts[-1]).endswith("This is attempt 4.")


async def test_the_words_of_papers_are_repeated_as_they_are(bench: Bench) -> None:
    bench.model.script = first_bad
    await put(bench.asker(explains=False), read=unreadable_once("parse"))
    first, second = bench.model.requests
    assert (first.messages, second.again) == (second.messages, 1)


async def test_a_question_that_was_put_again_is_answered_from_the_store(bench: Bench) -> None:
    bench.model.script = first_bad
    for _ in range(2):
        answer = await put(bench.asker(), read=unreadable_once("label"))
        assert (answer.value, answer.asked) == ("good", 2)
    assert len(bench.model.requests) == 2


async def question(quiet: Quiet, name: str, seconds: float, *, fails: bool) -> None:
    with quiet:
        await asyncio.sleep(seconds)
        if fails:
            await quiet.wait_turn(("stage", name, b""))
            raise ValueError(name)


async def parked(quiet: Quiet) -> None:
    with quiet:
        await quiet.park()


async def test_a_failure_waits_for_questions_that_are_still_open() -> None:
    quiet = Quiet()
    slow = asyncio.create_task(question(quiet, "a", 0.02, fails=False))
    with pytest.raises(ValueError, match="b"):
        await question(quiet, "b", 0, fails=True)
    assert slow.done()


async def test_a_branch_that_goes_on_may_still_ask_before_silence_counts() -> None:
    quiet = Quiet()

    async def branch() -> None:
        await question(quiet, "c1", 0.01, fails=False)
        await asyncio.gather(asyncio.gather(question(quiet, "a2", 0.01, fails=True)))

    with pytest.raises(ValueError, match="a2"):
        await asyncio.gather(question(quiet, "b", 0, fails=True), branch())
    quiet.end()


async def test_a_single_question_that_fails_does_not_wait() -> None:
    quiet = Quiet()
    async with asyncio.timeout(60):
        with pytest.raises(ValueError, match="a"):
            await question(quiet, "a", 0, fails=True)


async def test_a_caller_that_catches_a_failure_can_ask_on() -> None:
    quiet = Quiet()

    async def careful() -> str:
        for name in ("a", "b"):
            try:
                await question(quiet, name, 0, fails=True)
            except ValueError:
                continue
        return "done"

    async with asyncio.timeout(60):
        assert list(await asyncio.gather(careful(), careful())) == ["done", "done"]


async def test_a_cancelled_question_holds_nobody_up() -> None:
    quiet = Quiet()
    held = asyncio.create_task(question(quiet, "a", 0, fails=True))
    stuck = asyncio.create_task(question(quiet, "b", 600, fails=False))
    await asyncio.sleep(0.01)
    assert not held.done()
    stuck.cancel()
    async with asyncio.timeout(60):
        with pytest.raises(ValueError, match="a"):
            await held


async def test_a_unit_whose_questions_are_all_parked_or_failed_is_stopped() -> None:
    quiet = Quiet()

    async def judging() -> None:
        await asyncio.gather(parked(quiet), question(quiet, "a", 0.01, fails=True))

    task = asyncio.create_task(judging())
    quiet.stop_with(task.cancel)
    async with asyncio.timeout(60):
        with pytest.raises(asyncio.CancelledError):
            await task
    assert quiet.is_waiting


async def test_a_parked_question_waits_for_those_that_may_still_ask() -> None:
    quiet, stopped = Quiet(), asyncio.Event()
    quiet.stop_with(stopped.set)
    task = asyncio.create_task(parked(quiet))
    await question(quiet, "a", 0.02, fails=False)
    assert not stopped.is_set()
    async with asyncio.timeout(60):
        await stopped.wait()
    task.cancel()


def test_tallies_of_two_parts_of_a_run_are_one() -> None:
    one, other = (
        Tally(asked=1, shared=2, roles={"a"}),
        Tally(asked=3, shared=5, roles={"b"}, first_unfound="x"),
    )
    other.unread["rule"] += 1
    one.merge(other)
    assert one == Tally(asked=4, shared=7, roles={"a", "b"}, first_unfound="x", unread=Counter(rule=1))
