"""Questions of curation over a loopback server: what is asked, read, refused, stored and gone on with."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adjudge.analysis.segment_scores import score_records
from adjudge.core.record import Failure
from adjudge.core.segment import Term, TestSet
from adjudge.curation.drafting import AskTranslation, candidate_names, with_translations
from adjudge.curation.questions import Gathered, Question, blank, gather
from adjudge.curation.sources import PLACE, AskDifficulty, Difficulty
from adjudge.errors import DataError, UsageError
from adjudge.llm.asking import CONFIRM
from adjudge.runs.job import prepare
from adjudge.runs.session import run_to_end
from adjudge.store.run_directory import read_run
from tests.curation.conftest import sources
from tests.faults.server import Server

HARD = {"reasons": "an idiom", "personal": False, "offensive": True, "difficulty": 8}
BAD: list[str] = [
    "",
    "8",
    "I cannot help with that.",
    "{}",
    *(json.dumps(HARD | {"difficulty": number}) for number in (11, 8.5, True)),
    *(json.dumps(HARD | more) for more in ({"offensive": "no"}, {"reasons": None}, {"score": 3})),
    *(json.dumps(HARD | more) for more in ({"scale": "1 to 100"}, {"note": "I cannot judge this text."})),
    json.dumps(HARD) + json.dumps(HARD | {"difficulty": 9}),
]


def put(
    question: Question[Any], asked: TestSet, out: Path, server: Server | None = None, **options: Any
) -> Any:
    where = {} if server is None else {"base_url": server.url, "model": "mock"}
    job = prepare(question, asked, out=out, **where, **options)  # type: ignore[arg-type]
    return run_to_end(gather(job, question))


def told(server: Server, place: int = -1) -> str:
    return "\n".join(message["content"] for message in server.log[place]["messages"])


def test_a_difficulty_is_read_with_its_reasons(server: Server, tmp_path: Path) -> None:
    server.answer = lambda payload: json.dumps(HARD)
    asked = blank(sources("Break a leg", "Two"), [PLACE])
    gathered: Gathered[Difficulty] = put(AskDifficulty(), asked, tmp_path / "run", server, context=1)
    hard = Difficulty(score=8, reasons="an idiom", personal=False, offensive=True)
    assert list(gathered.found.values()) == [hard, hard]
    assert gathered.failures == ()
    assert any("Break a leg" in told(server, place) for place in range(2))
    assert any("texts that come before" in told(server, place) for place in range(2))
    assert "A says" not in told(server)


@pytest.mark.parametrize("reply", BAD)
def test_an_answer_that_is_none_is_a_failure_and_no_difficulty(
    reply: str, server: Server, tmp_path: Path
) -> None:
    server.answer = lambda payload: reply
    gathered = put(AskDifficulty(), blank(sources("One"), [PLACE]), tmp_path / "run", server)
    assert gathered.found == {}
    (failure,) = gathered.failures
    assert isinstance(failure, Failure)
    assert gathered.outcome.info.counts == {"judged": 0, "failed": 1, "pending": 0}


def test_the_same_question_is_never_paid_twice(server: Server, tmp_path: Path) -> None:
    server.answer = lambda payload: json.dumps(HARD)
    asked = blank(sources("One", "Two", "Three"), [PLACE])
    first = put(AskDifficulty(), asked, tmp_path / "run", server)
    paid = len(server.log)
    second = put(AskDifficulty(), asked, tmp_path / "run", server)
    assert second.found == first.found
    assert (paid, len(server.log)) == (3, 3)


def test_what_failed_while_the_server_was_down_is_asked_again(server: Server, tmp_path: Path) -> None:
    server.answer = lambda payload: json.dumps(HARD)
    server.fails("500")
    asked = blank(sources("One", "Two"), [PLACE])
    assert len(put(AskDifficulty(), asked, tmp_path / "run", server).failures) == 2
    server.fails(None)
    gathered = put(AskDifficulty(), asked, tmp_path / "run", server)
    assert (len(gathered.found), gathered.failures) == (2, ())


def numbered() -> Callable[[dict[str, Any]], str]:
    """Each reply is another one."""
    count = iter(range(1000))
    return lambda payload: json.dumps({"translation": f"Satz {next(count)}"})


def test_candidates_are_drawn_apart_and_become_systems(server: Server, tmp_path: Path) -> None:
    server.answer = numbered()
    test_set, names = sources("One", "Two"), candidate_names("m", 5)
    question = AskTranslation(temperature=0.9)
    gathered = put(question, blank(test_set, names), tmp_path / "run", server)
    made = with_translations(test_set, gathered.found, names)
    assert made.systems == ("A", "B", "m-1", "m-2", "m-3", "m-4", "m-5")
    assert len({text for s in made for text in s.translations.values()}) == 14
    assert {payload["temperature"] for payload in server.log} == {0.9}
    again = put(question, blank(test_set, names), tmp_path / "run", server)
    assert with_translations(test_set, again.found, names) == made
    assert len(server.log) == 10


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ('{"translation": ""}', "empty"),
        ('{"translation": " \\n "}', "empty"),
        ("", "empty"),
        ('{"translation": null}', "schema"),
        ('{"translation": "x", "note": "I cannot translate this text."}', "words"),
        ("Hier ist die Übersetzung: Satz", "parse"),
        ("I'm sorry, but I can't help with that.", "parse"),
    ],
)
def test_a_failed_translation_is_absent_and_never_an_empty_text(
    reply: str, reason: str, server: Server, tmp_path: Path
) -> None:
    server.answer = lambda payload: reply
    test_set = sources("One")
    gathered = put(AskTranslation(), blank(test_set, ["m"]), tmp_path / "run", server)
    assert [failure.reason for failure in gathered.failures] == [reason]
    made = with_translations(test_set, gathered.found, ["m"])
    assert dict(made.segments[0].translations) == dict(test_set.segments[0].translations)


def test_a_translation_with_a_note_beside_it_is_read_without_the_note(server: Server, tmp_path: Path) -> None:
    def answer(payload: dict[str, Any]) -> str:
        is_confirming = CONFIRM in payload["messages"][-1]["content"]
        return '{"verdict": {"translation": "x"}}' if is_confirming else '{"translation": "x", "note": "y"}'

    server.answer = answer
    gathered = put(AskTranslation(), blank(sources("One"), ["m"]), tmp_path / "run", server)
    assert ([*gathered.found.values()], gathered.failures) == (["x"], ())


def test_one_failed_candidate_costs_the_others_nothing(server: Server, tmp_path: Path) -> None:
    replies = iter(['{"translation": "eins"}', "no", "no", '{"translation": "drei"}'])
    server.answer = lambda payload: next(replies)
    names = candidate_names("m", 3)
    gathered = put(AskTranslation(temperature=1.0), blank(sources("One"), names), tmp_path / "run", server)
    assert {key.system: text for key, text in gathered.found.items()} == {"m-1": "eins", "m-3": "drei"}
    assert [failure.systems for failure in gathered.failures] == [("m-2",)]


def test_a_glossary_and_own_words_reach_the_model(server: Server, tmp_path: Path) -> None:
    server.answer = numbered()
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    (prompts / "system.md").write_text(
        "Ins $target_language aus dem $source_language. $markers JSON translation"
    )
    (tmp_path / "terms.tsv").write_text("bank\tUfer\n")
    question = AskTranslation(prompts=prompts)
    put(question, blank(sources("The bank"), ["m"]), tmp_path / "run", server, terms=tmp_path / "terms.tsv")
    assert "Ins German aus dem English." in told(server)
    assert '"Ufer"' in told(server)
    assert question.prompts_digest != AskTranslation().prompts_digest
    assert Term(source="bank", translation="Ufer").translation in told(server)


def test_a_system_has_a_name_that_files_can_have_and_nobody_else_has() -> None:
    for name in ("", "a/b", "a,b", "a:b", "a\tb"):
        with pytest.raises(UsageError):
            candidate_names(name, 1)
    with pytest.raises(UsageError, match="has 'A' already"):
        with_translations(sources("One"), {}, ["A"])


def test_the_rules_answer_every_question_offline_and_nothing_of_it_is_scored(tmp_path: Path) -> None:
    test_set = sources("Soooo good! 😀", "Plain words")
    hard = put(AskDifficulty(), blank(test_set, [PLACE]), tmp_path / "a").found
    assert [found.score for found in hard.values()] == [4, 1]
    texts = put(AskTranslation(), blank(test_set, ["m"]), tmp_path / "b").found
    assert list(texts.values()) == ["[de] Soooo good! 😀", "[de] Plain words"]
    with pytest.raises(DataError, match="has no rating"):
        score_records(read_run(tmp_path / "a"))
