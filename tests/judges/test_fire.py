"""FiRE and its baseline: criteria, orders, the overall verdict, and every way to have none."""

import json
import math
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.analysis.rank import rank
from adjudge.analysis.segment_scores import score_records
from adjudge.core.ask import Reply, TokenLogprob
from adjudge.core.judge import PROFILES, Profile
from adjudge.core.record import Preference, Verdict
from adjudge.core.segment import Segment, Subject
from adjudge.errors import AnswerError, UsageError
from adjudge.judges import load_judge
from adjudge.judges._pairs import TieThreshold, majority, read_criterion, read_strength, synthesise
from adjudge.judges._reading import shares
from adjudge.judges.fire import Fire
from adjudge.runs.engines import run
from adjudge.runs.job import prepare
from adjudge.runs.run import execute
from adjudge.runs.session import run_to_end
from tests.faults.server import running, status
from tests.judges.asking import Script, pair
from tests.runs.conftest import small_set

ASPECTS = {
    "faithfulness": ("accuracy of information", "accuracy of named entities"),
    "fluency": ("lexical quality", "syntactic quality", "punctuation", "untranslated text"),
    "style": ("tone", "emotion", "manner of writing"),
}


def says(criterion: str, verdict: str) -> str:
    return json.dumps({"analysis": dict.fromkeys(ASPECTS[criterion], "A is closer."), "result": verdict})


def replies(*verdicts: str) -> list[str]:
    """In the order asked: faithfulness, fluency, style, each in every order."""
    orders = len(verdicts) // 3
    return [says(c, v) for c, v in zip((c for c in ASPECTS for _ in range(orders)), verdicts, strict=True)]


async def verdicts(judge: Fire, *came: str, subject: Subject | None = None) -> dict[str, Any]:
    outcomes = await judge.compare(subject or pair(), Script(*replies(*came)))
    return {
        criterion: o.reason if isinstance(o, AnswerError) else o.verdict
        for criterion, o in zip(judge.criteria, outcomes, strict=True)
    }


async def preferences(judge: Fire, *came: str | Reply, texts: Subject | None = None) -> list[Preference]:
    """What a judge prefers by each criterion, where none of them fails."""
    found = await judge.compare(texts or pair(), Script(*came))
    assert all(isinstance(outcome, Preference) for outcome in found), found
    return [outcome for outcome in found if isinstance(outcome, Preference)]


@pytest.mark.parametrize(
    ("given", "overall"), [("AAA", "A"), ("ABB", "B"), ("AEE", "A"), ("BAE", "B"), ("EAB", "A"), ("EEE", "E")]
)
async def test_the_overall_verdict_is_what_more_criteria_favour(given: str, overall: str) -> None:
    found = await verdicts(Fire(profile="paper"), *given)
    assert "".join(found[c] for c in ASPECTS) == given
    assert found["overall"] == overall


@given(st.lists(st.sampled_from(["A", "B", "E"]), max_size=5))
def test_turning_the_pair_turns_the_overall_verdict(given: list[Verdict]) -> None:
    turned: dict[Verdict, Verdict] = {"A": "B", "B": "A", "E": "E"}
    assert majority([turned[verdict] for verdict in given]) == turned[majority(given)]


@given(st.lists(st.sampled_from(["A", "B", "E", None]), max_size=4))
def test_an_unknown_verdict_never_decides(given: Sequence[Verdict | None]) -> None:
    known = synthesise(given)
    ways: list[list[Verdict]] = [["A", "B", "E"] if v is None else [v] for v in given]
    assert (known is None) == (len({majority(way) for way in product(*ways)}) > 1)
    if known is not None:
        assert all(majority(way) == known for way in product(*ways))


@pytest.mark.differs("fire", 2)
async def test_both_orders_are_asked_and_mapped_back() -> None:
    ask = Script(*replies("A", "B", "B", "A", "E", "E"))
    found: Any = await Fire().compare(pair(), ask)
    assert [(p.criterion, p.verdict, p.orders) for p in found] == [
        ("faithfulness", "A", ("A", "A")),
        ("fluency", "B", ("B", "B")),
        ("style", "E", ("E", "E")),
        ("overall", "A", ("A", "A")),
    ]
    assert {p.systems for p in found} == {("X", "Y")}
    shown = [[(q.name, q.text) for q in asked.quoted] for asked in ask.asked[:2]]
    x, y = pair().segment.translations.values()
    assert shown[0][1:] == [("translation-a", x), ("translation-b", y)]
    assert shown[1][1:] == [("translation-a", y), ("translation-b", x)]


@pytest.mark.differs("fire", 2, 6)
async def test_verdicts_that_follow_the_position_are_e_and_flagged_and_speak_for_neither() -> None:
    first, *_, overall = await preferences(Fire(), *replies(*"AAABAB"))
    assert (first.verdict, first.orders, first.flags) == ("E", ("A", "B"), ("position_inconsistent",))
    assert (overall.verdict, overall.orders, overall.flags) == ("A", ("A", "A"), ())
    overall = (await preferences(Fire(), *replies(*"AABAEE")))[-1]
    assert (overall.verdict, overall.orders) == ("B", ("A", "B"))
    overall = (await preferences(Fire(), *replies(*"AAAAAA")))[-1]
    assert (overall.verdict, overall.orders, overall.flags) == ("E", ("A", "B"), ("position_inconsistent",))


@pytest.mark.differs("fire", 6)
@pytest.mark.parametrize("last", ["E", "?"])
async def test_the_overall_verdict_has_the_flags_of_how_its_criteria_were_read(last: str) -> None:
    loose = f"Sure! The result: A. {says('fluency', 'A')}"
    fenced = f"```json\n{says('faithfulness', 'A')}\n```"
    style = says("style", last) if last == "E" else "I cannot say."
    found = await Fire(profile="paper").compare(pair(), Script(fenced, loose, style, style, style))
    flags = {one.criterion: one.flags for one in found if isinstance(one, Preference)}
    assert flags["faithfulness"] == ("extracted",)
    assert "authors_reader" in flags["fluency"]
    assert flags["overall"] == tuple(dict.fromkeys((*flags["faithfulness"], *flags["fluency"])))


def test_rank_and_score_count_how_the_criteria_were_read(tmp_path: Path) -> None:
    def answer(payload: dict[str, Any]) -> str:
        told = payload["messages"][0]["content"]
        criterion = next(name for name, aspects in ASPECTS.items() if aspects[0] in told)
        return f"I think so. {says(criterion, 'A')}" if criterion == "style" else says(criterion, "A")

    with running(answer) as server:
        done = run(
            Fire(profile="paper"), small_set(3), out=tmp_path / "run", base_url=server.url, model="mock"
        )
    for found in (score_records(done), rank(done)):
        assert found.signature.fields["authors_reader"] == "3/3"
        assert any("3 of 3 judgements were found by the rule of the authors' code" in n for n in found.notes)


@pytest.mark.parametrize(
    ("judge", "calls"),
    [
        (Fire(), 6),
        (Fire(profile="paper"), 3),
        (Fire(profile="code"), 3),
        (Fire(orders="given"), 3),
        (Fire(orders="random"), 3),
        (Fire(profile="paper", orders="both"), 6),
    ],
)
@pytest.mark.differs("fire", 2, 3)
async def test_the_calls_are_those_of_the_settings(judge: Fire, calls: int) -> None:
    ask = Script(*replies(*"E" * calls))
    await judge.compare(pair(), ask)
    assert judge.calls == (calls, calls, calls)
    assert len(ask.asked) == calls
    assert {asked.attempts for asked in ask.asked} == {3}


async def drawn(seed: int) -> list[str]:
    """The texts that are shown first, in an order that is drawn for each of forty pairs."""
    firsts: list[str] = []
    for number in range(40):
        segment = Segment(segment=str(number), lp="en-de", source="a", translations={"X": "x", "Y": "y"})
        ask = Script(*replies("A", "A", "A"))
        judge = Fire(orders="random", order_seed=seed)
        found: Any = await judge.compare(Subject(segment=segment, systems=("X", "Y")), ask)
        (shown,) = {asked.quoted[1].text for asked in ask.asked}
        assert found[0].verdict == ("A" if shown == "x" else "B")
        firsts.append(shown)
    return firsts


@pytest.mark.differs("fire", 2)
async def test_a_random_order_is_one_for_a_pair_both_for_many_and_follows_the_seed() -> None:
    assert {*await drawn(3)} == {"x", "y"}
    assert await drawn(3) == await drawn(3) != await drawn(4)


@pytest.mark.parametrize(
    ("first", "overall"),
    [("AA", "A"), ("BB", "B"), ("AB", "parse"), ("AE", "A"), ("EB", "B"), ("EE", "parse")],
)
@pytest.mark.parametrize("profile", ["paper", "code"])
@pytest.mark.differs("fire", 3, 4, 9)
async def test_a_failed_criterion_fails_what_it_decides(first: str, overall: str, profile: Profile) -> None:
    ask = Script(*replies(*first, "E")[:2], "I prefer the first.")
    found = await Fire(profile=profile).compare(pair(), ask)
    assert isinstance(found[2], AnswerError)
    last = found[3]
    assert (last.reason if isinstance(last, AnswerError) else last.verdict) == overall


async def test_an_analysis_must_speak_of_every_aspect() -> None:
    missing = json.dumps({"analysis": {"accuracy of information": "fine"}, "result": "A"})
    given = Script(missing, *replies("A", "A", "A")[1:])
    found: Any = await Fire(orders="given").compare(pair(), given)
    assert found[0].reason == "schema"


@pytest.mark.differs("fire", 5)
async def test_the_same_text_twice_is_equal_and_nobody_is_asked() -> None:
    found = await preferences(Fire(), texts=pair("Same.", "Same."))
    assert [(o.verdict, o.orders, o.flags) for o in found] == [("E", (), ("identical",))] * 4


@pytest.mark.differs("fire", 11)
async def test_the_analysis_is_kept_and_may_be_in_any_language() -> None:
    ask = Script(*replies("A", "A", "A"))
    judge = Fire(profile="paper", explain_in="fr")
    found: Any = await judge.compare(pair(), ask)
    assert found[0].rationale == (
        "accuracy of information: A is closer.\naccuracy of named entities: A is closer."
    )
    assert "in French" in ask.asked[0].words


@pytest.mark.differs("fire", 1, 11)
@pytest.mark.parametrize("profile", PROFILES)
async def test_long_texts_are_data_behind_a_task_that_asks_for_analysis_and_result(profile: Profile) -> None:
    x, y = "$criterion Sie hat die Bank verlassen. " * 5000, "Sie verließ die Bank."
    ask = Script(*replies("A", "A", "A"))
    await Fire(profile=profile, orders="given").compare(pair(x, y), ask)
    assert [q.text for q in ask.asked[0].quoted] == ["She left the bank.", x, y]
    assert [message.role for message in ask.asked[0].messages] == ["system", "user"]
    system = str(ask.asked[0].messages[0].parts[0])
    assert json.dumps(dict.fromkeys(ASPECTS["faithfulness"], "...")) in system.partition('"result"')[0]
    schema: Any = ask.asked[0].schema
    if profile != "recommended":
        assert schema is None
        return
    assert list(schema["properties"]) == ["analysis", "result"]
    assert list(schema["properties"]["analysis"]["properties"]) == list(ASPECTS["faithfulness"])


async def test_a_criterion_is_told_with_its_aspects_and_none_of_the_others() -> None:
    ask = Script(*replies("A", "A", "A"))
    await Fire(profile="paper").compare(pair(), ask)
    for asked, (name, aspects) in zip(ask.asked, ASPECTS.items(), strict=True):
        assert asked.about.role == name
        assert asked.about.facts["aspects"] == aspects
        assert all(f"- {aspect}:" in asked.words for aspect in aspects)
        others = [a for other, names in ASPECTS.items() if other != name for a in names]
        assert not any(f"- {aspect}:" in asked.words for aspect in others)


@pytest.mark.differs("fire", 7)
def test_criteria_of_ones_own_stand_in_for_the_three(tmp_path: Path) -> None:
    (tmp_path / "criterion_2-brevity.md").write_text("Which is shorter?\n")
    (tmp_path / "criterion_1-tone.md").write_text("Tone.\n\n- warmth: how warm it is\n")
    judge = load_judge("fire", prompts=tmp_path)
    assert isinstance(judge, Fire)
    assert judge.criteria == ("tone", "brevity", "overall")
    assert judge.calls == (4, 4, 4)
    assert judge.prompts_digest != Fire().prompts_digest


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["criterion_overall.md"], "none is overall"),
        (["criterion_1-tone.md", "criterion_2-tone.md"], "names of their own"),
        (["criterion_Tone!.md"], "small letters"),
        (["fluency.md"], "this judge's files are"),
    ],
)
def test_criteria_that_cannot_be_are_refused(tmp_path: Path, names: list[str], said: str) -> None:
    for name in names:
        (tmp_path / name).write_text("Which is better?\n")
    with pytest.raises(UsageError, match=said):
        _ = Fire(prompts=tmp_path).criteria


def test_two_aspects_of_one_name_are_refused() -> None:
    with pytest.raises(UsageError, match="two aspects of one name"):
        read_criterion("tone", "- warmth: a\n- warmth: b")


@pytest.mark.differs("fire", 2, 6)
async def test_verdicts_that_follow_the_position_can_be_kept_apart_from_ties() -> None:
    found = await preferences(Fire(inconsistent="keep"), *replies(*"AAABAB"))
    assert [(p.criterion, p.verdict, p.is_undecided) for p in found] == [
        ("faithfulness", "E", True),
        *((name, "A", False) for name in ("fluency", "style", "overall")),
    ]
    assert found[0].flags == ("position_inconsistent", "position_undecided")
    assert found[3].orders == ("A", "A")
    overall = (await preferences(Fire(inconsistent="keep"), *replies(*"AAEEEE")))[-1]
    assert (overall.verdict, overall.orders, overall.is_undecided) == ("E", ("A", "B"), True)


def sure(verdict: str, probability: float, criterion: str = "style") -> Reply:
    """A reply whose verdict has this probability; a letter of the analysis has another."""
    start, end = says(criterion, verdict).rsplit(verdict, 1)
    tokens = [(start, -3.0), (verdict, math.log(probability)), (end, -2.0)]
    return Reply(text=start + verdict + end, logprobs=tuple(TokenLogprob(*token) for token in tokens))


FORCED = {"A": -3.96, "1": -3.21, "B": -4.5, "E": -6.0}
"""What llama.cpp says of an A that its grammar forced: the likeliest token was none of the three letters."""
OF_A = math.exp(-3.96) / (math.exp(-3.96) + math.exp(-4.5) + math.exp(-6.0))


def among(letter: str, alternatives: dict[str, float], start: str = "", end: str = "") -> Reply:
    """A reply whose letter, in one token with what stands around it, had alternatives."""
    text = says("style", letter)
    before, after = text.rsplit(letter, 1)
    chosen = start + letter + end
    tokens = (
        TokenLogprob(before.removesuffix(start), -3.0, (("Hm", -1.0),)),
        TokenLogprob(chosen, alternatives.get(chosen, -3.96), tuple(alternatives.items())),
        TokenLogprob(after.removeprefix(end), -2.0),
    )
    return Reply(text=text, logprobs=tokens)


@pytest.mark.parametrize(
    ("reply", "share"),
    [
        (among("A", FORCED), OF_A),
        (among("A", {'"A': -3.96, '"1': -3.21, '"B': -4.5, ' "E': -6.0, '"': -0.1}, start='"'), OF_A),
        (among("A", {'A"': -3.96, "1": -3.21, 'B"': -4.5, "E": -6.0}, end='"'), OF_A),
        (among("A", {'"A"': -3.96, '"B"': -4.5, '"E"': -6.0}, start='"', end='"'), OF_A),
        (among("A", {"A": -3.96, " B": -4.5, 'E"}': -6.0, "An": -0.1, "Equal": -0.2, "AB": -0.3}), OF_A),
        (among("A", {"A": math.log(0.3), 'A"': math.log(0.1), "B": math.log(0.1)}), 0.8),
        (among("A", {"A": -3.96, "1": -3.21}), 1.0),
        (among("B", {"A": -900.0, "B": -901.0}), 1 / (1 + math.e)),
        (among("E", FORCED), 0.0),
    ],
)
@pytest.mark.differs("fire", 8)
def test_the_strength_is_the_share_of_the_letter_among_the_three(reply: Reply, share: float) -> None:
    verdict: Verdict = json.loads(reply.text)["result"]
    sign = {"A": 1, "B": -1, "E": 0}[verdict]
    strength, flags = read_strength(reply, verdict)
    assert strength == pytest.approx(sign * share)
    assert flags == ("renormalised",)


@pytest.mark.parametrize("alternatives", [{}, {"1": -0.1, "Hm": -3.0}, None])
@pytest.mark.differs("fire", 8)
def test_without_a_letter_among_alternatives_the_strength_is_the_probability(alternatives: Any) -> None:
    reply = sure("A", 0.019) if alternatives is None else among("A", alternatives)
    plain = 0.019 if alternatives is None else math.exp(-3.96)
    strength, flags = read_strength(reply, "A")
    assert strength == pytest.approx(plain)
    assert flags == ()


@given(
    st.dictionaries(
        st.sampled_from(["A", 'A"', " A", "B", 'B"', "E", ' E"', "1", "An", '"', ""]), st.floats(-2000, 0)
    ).filter(bool),
    st.sampled_from(["A", "B", "E"]),
)
def test_shares_are_probabilities_that_sum_to_one(alternatives: dict[str, float], letter: str) -> None:
    found = shares(among(letter, alternatives), ("A", "B", "E"))
    if alternatives.keys() <= {"1", "An", '"', ""}:
        assert not found
        return
    assert set(found) == {"A", "B", "E"}
    assert all(0 <= share <= 1 for share in found.values())
    assert math.fsum(found.values()) == pytest.approx(1)


async def test_a_record_with_a_share_is_flagged(tmp_path: Path) -> None:
    judge = one_criterion(tmp_path, strength="logprob")
    style, overall = await preferences(judge, among("A", FORCED), among("B", {"A": -4.0, "B": -4.0}))
    assert style.strength == pytest.approx((OF_A + 0.5) / 2)
    assert (style.flags, overall.flags) == (("renormalised",), ())


def one_criterion(folder: Path, **settings: Any) -> Fire:
    (folder / "criterion_style.md").write_text(
        "Style.\n\n" + "".join(f"- {aspect}: which is closer\n" for aspect in ASPECTS["style"])
    )
    return Fire(prompts=folder, **settings)


@pytest.mark.parametrize(
    ("first", "second", "strength"),
    [(("A", 0.9), ("B", 0.5), 0.7), (("B", 0.6), ("A", 0.6), -0.6), (("A", 0.8), ("E", 0.9), 0.4)],
)
@pytest.mark.differs("fire", 8)
async def test_the_strength_is_the_mean_probability_of_the_verdicts_of_both_orders(
    tmp_path: Path, first: tuple[str, float], second: tuple[str, float], strength: float
) -> None:
    judge = one_criterion(tmp_path, strength="logprob")
    ask = Script(sure(*first), sure(*second))
    found: Any = (await judge.compare(pair(), ask))[0]
    assert found.strength == pytest.approx(strength)
    assert all(asked.sampling.logprobs for asked in ask.asked)


@pytest.mark.parametrize(
    ("first", "second", "threshold", "verdict"),
    [("A", "B", 0.69, "A"), ("A", "B", 0.71, "E"), ("B", "A", 0.69, "B"), ("B", "A", 0.71, "E")],
)
@pytest.mark.differs("fire", 8)
async def test_a_weak_preference_is_a_tie(
    tmp_path: Path, first: str, second: str, threshold: float, verdict: str
) -> None:
    judge = one_criterion(tmp_path, strength="logprob", tie_threshold=TieThreshold(threshold))
    style, overall = await preferences(judge, sure(first, 0.9), sure(second, 0.5))
    assert (style.verdict, overall.verdict) == (verdict, verdict)
    assert ("tie_by_strength" in style.flags) == ("tie_by_strength" in overall.flags) == (verdict == "E")


@pytest.mark.differs("fire", 6, 8)
async def test_an_overall_verdict_that_others_decide_is_no_tie_by_strength() -> None:
    judge = Fire(orders="given", strength="logprob", tie_threshold=TieThreshold("style=0.9"))
    weak = [sure(verdict, 0.5, criterion) for criterion, verdict in zip(ASPECTS, "AEA", strict=True)]
    *_, style, overall = await preferences(judge, *weak)
    assert (style.flags, overall.verdict, overall.flags) == (("tie_by_strength",), "A", ())


async def test_without_log_probabilities_there_is_no_measured_verdict(tmp_path: Path) -> None:
    judge = one_criterion(tmp_path, strength="logprob")
    found = await judge.compare(pair(), Script(says("style", "A"), says("style", "B")))
    assert [outcome.reason for outcome in found if isinstance(outcome, AnswerError)] == ["logprob"] * 2


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"tie_threshold": "0.5"}, "needs measured preferences"),
        ({"tie_threshold": "1.5", "strength": "logprob"}, "must be from 0 to 1"),
        ({"inconsistent": "drop"}, "must be one of E, keep"),
        ({"orders": "twice"}, "must be one of both, given, random"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        load_judge("fire", settings=settings)


@pytest.mark.differs("fire", 10)
async def test_the_criterion_of_the_locale_has_no_part_in_the_overall_verdict() -> None:
    judge = Fire(orders="given", locale=True)
    assert judge.criteria == ("faithfulness", "fluency", "style", "locale", "overall")
    assert judge.calls == (4, 4, 4)
    aspects = ("formats", "names and titles", "writing")
    local = json.dumps({"analysis": dict.fromkeys(aspects, "A is closer."), "result": "A"})
    ask = Script(*replies("E", "E", "E"), local)
    found: Any = await judge.compare(pair(), ask)
    assert [o.verdict for o in found] == ["E", "E", "E", "A", "E"]
    assert "Criterion: locale convention." in ask.asked[3].words


@pytest.mark.parametrize(("profile", "temperature", "tokens"), [("code", 0.6, 8000), ("paper", 0.0, 2048)])
@pytest.mark.differs("fire", 3, 9)
async def test_the_code_draws_its_answers(profile: Profile, temperature: float, tokens: int) -> None:
    ask = Script(*replies("A", "A", "A"))
    await Fire(profile=profile).compare(pair(), ask)
    assert {(a.sampling.temperature, a.sampling.max_tokens) for a in ask.asked} == {(temperature, tokens)}
    assert {a.attempts for a in ask.asked} == {3}


def test_a_threshold_for_each_criterion_is_taken_and_one_for_none_refused() -> None:
    judge = load_judge("fire", settings={"strength": "logprob", "tie-threshold": "fluency=0.2,style=0.5"})
    assert isinstance(judge, Fire)
    threshold = judge.tie_threshold
    assert threshold is not None
    assert [threshold.takes(0.3, name) for name in ("faithfulness", "fluency", "style")] == [
        False,
        False,
        True,
    ]
    assert threshold.takes(-0.5, "style"), "not stronger than it"
    for said, message in (("beauty=0.2", "names 'beauty'"), ("0.2,style=0.1", "one for all or one for each")):
        with pytest.raises(UsageError, match=message):
            load_judge("fire", settings={"strength": "logprob", "tie-threshold": said})


@pytest.mark.parametrize("has_any", [True, False])
def test_a_run_says_what_is_plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_any: bool) -> None:
    top = [{"token": token, "logprob": logprob} for token, logprob in FORCED.items()] if has_any else []

    def told(content: str) -> dict[str, Any]:
        before, after = content.rsplit("A", 1)
        tokens = [(before, -0.5, []), ("A", -3.96, top), (after, -0.5, [])]
        return {"content": [{"token": t, "logprob": n, "top_logprobs": o} for t, n, o in tokens]}

    monkeypatch.setattr("tests.faults.server.spelled", told)
    judge = one_criterion(tmp_path, strength="logprob")
    with running(lambda payload: says("style", "A")) as server:
        options: Any = {"base_url": server.url, "model": "mock"}
        done = run_to_end(execute(prepare(judge, small_set(2), out=tmp_path / "run", **options)))
        assert {payload["top_logprobs"] for payload in server.log} == {20}
        asked = len(server.log)
        replayed = prepare(judge, small_set(2), out=tmp_path / "again", model=f"replay:{tmp_path / 'run'}")
        again = run_to_end(execute(replayed))
        assert len(server.log) == asked
    for outcome, out in ((done, tmp_path / "run"), (again, tmp_path / "again")):
        assert sum("without alternatives" in note for note in outcome.notes) == (not has_any)
        records = (out / "records.jsonl").read_text()
        assert records.count("renormalised") == (len(small_set(2).segments) if has_any else 0)


def test_answers_without_log_probabilities_are_paid_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.faults.server.spelled", lambda content: None)
    judge = one_criterion(tmp_path, strength="logprob")
    with running(lambda payload: says("style", "A")) as server:
        first = run(judge, small_set(2), out=tmp_path / "run", base_url=server.url, model="mock")
        asked = len(server.log)
        again = run(judge, small_set(2), out=tmp_path / "run", base_url=server.url, model="mock")
        assert len(server.log) == asked == first.info.calls["asked"]
    assert first.info.failures == again.info.failures == {"logprob": first.info.counts["failed"]}


def test_a_server_that_refuses_log_probabilities_is_no_fault_of_the_server(tmp_path: Path) -> None:
    judge = one_criterion(tmp_path, strength="logprob")
    with running(lambda payload: says("style", "A")) as server:
        server.play = lambda number: status(400, "logprobs is not supported")
        found = run(
            judge, small_set(2), out=tmp_path / "run", base_url=server.url, model="mock", max_failed=1
        )
    assert found.info.failures == {"logprob": found.info.counts["failed"]}
    assert "the server refuses log-probabilities: status 400" in str(found.records[0])
