"""Somebody else's wording: an adapter says how a reply to it is read."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from adjudge.core.ask import Reply
from adjudge.core.record import Annotation
from adjudge.errors import AnswerError, UsageError
from adjudge.judges import load_judge
from adjudge.judges._prompts import find_adapter, read_adapter
from adjudge.runs.run import run
from tests.faults.server import running
from tests.runs.conftest import small_set

TOML = r"""
[rating]
beside = '(?m)^Reason:.*'

[rating.rating]
find = 'Score: *(\d+)'
kind = "number"

[opinion]
opinion = { find = '(?s).+' }
exists = { find = 'Error Exist: *(Yes|No)', values = { Yes = true, No = false } }
severity = { find = 'Error Severity: *(\w+)', values = { Major = "major", Minor = "minor" } }

[errors.errors]
each = '(?m)^(?P<severity>Major|Minor): *(?P<category>[\w/ ]+?) *- *"(?P<span>[^"]*)"'
none = '(?m)^No errors\.?$'
values = { Major = "major", Minor = "minor", Mistranslation = "accuracy/mistranslation" }
default = { side = "translation" }
"""


def adapted(wants: str, text: str) -> Any:
    return json.loads(read_adapter(TOML, "here").adapt(wants, Reply(text=text)).text)


def test_fields_are_found_by_their_patterns() -> None:
    assert adapted("rating", "Reason: it is good.\nScore: 87") == {"rating": 87}
    said = "Error Exist: Yes. Error Severity: Major. It changes the meaning."
    assert adapted("opinion", said) == {"opinion": said, "exists": True, "severity": "major"}
    errors = adapted("errors", 'Major: Mistranslation - "die Bank"\nMinor: fluency/grammar - "der"')["errors"]
    assert errors == [
        {
            "side": "translation",
            "severity": "major",
            "category": "accuracy/mistranslation",
            "span": "die Bank",
        },
        {"side": "translation", "severity": "minor", "category": "fluency/grammar", "span": "der"},
    ]
    assert adapted("errors", "No errors.") == {"errors": []}
    assert adapted("rating", "**Score: 87**. Score: 87.") == {"rating": 87}


@pytest.mark.parametrize(
    ("wants", "text", "reason"),
    [
        ("rating", "It is good.", "parse"),
        ("rating", "I am sorry, but I cannot rate this translation. Score: 100", "words"),
        ("rating", "If it were good, Score: 100. It is not.", "words"),
        ("rating", "Score: 87.5", "words"),
        ("rating", "Score: 87/100", "words"),
        ("errors", "I am sorry, I cannot help.\nNo errors", "words"),
        ("errors", "No errors? I cannot tell.", "parse"),
        ("errors", 'Major: Mistranslation - "6. Mai"\nCritical: Mistranslation - "Bank"', "words"),
        ("errors", 'Major: Mistranslation - "6. Mai"\nMajor: Mistranslation "Bank"', "words"),
        ("rating", "Score: 87 or Score: 12", "ambiguous"),
        ("opinion", "Error Exist: Maybe. Error Severity: Major", "parse"),
        ("opinion", "Error Exist: Yes. Error Severity: Grave", "label"),
        ("errors", "It is fine.", "parse"),
        ("errors", 'Major: Mistranslation - "x"\nNo errors.', "ambiguous"),
        ("errors", "", "parse"),
    ],
)
def test_what_is_not_there_or_there_twice_is_a_failure(wants: str, text: str, reason: str) -> None:
    with pytest.raises(AnswerError) as failed:
        adapted(wants, text)
    assert failed.value.reason == reason


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rating = ", "is no TOML"),
        ("rating = 7", r"\[rating\] must name the fields"),
        ("[rating]\nrating = 7", "needs `find`, `each` for a list, or `key`"),
        ("[rating.rating]\nkind = 'number'", "needs `find`, `each` for a list, or `key`"),
        ("[rating.rating]\nfind = '('", "find is no pattern"),
        ("[rating.rating]\nfind = 'x'\nkind = 'date'", "kind must be"),
        ("[rating.rating]\nfind = 'x'\nmore = 1", "has more, which means nothing"),
        ("[errors.errors]\neach = 'x'", "must name its groups"),
    ],
)
def test_an_adapter_that_cannot_be_is_refused_before_anything_is_asked(
    text: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "adapter.toml").write_text(text)
    with pytest.raises(UsageError, match=message):
        load_judge("gemba-da", prompts=tmp_path)


def test_a_run_asks_in_other_words_and_reads_the_reply(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "system.md").write_text("Score the $target_language translation. Write 'Score: N'.")
    (folder / "adapter.toml").write_text(TOML)
    assert find_adapter(folder) is not None
    assert find_adapter(tmp_path) is None
    with running(lambda payload: "Reason: it is fine.\nScore: 87") as server:
        options: Any = {"base_url": server.url, "model": "mock", "prompts": folder}
        done = run("gemba-da", small_set(2), out=tmp_path / "run", **options)
        assert all("response_format" not in payload for payload in server.log)
        assert "Score the German translation." in server.log[0]["messages"][0]["content"]
        plain = run("gemba-da", small_set(2), out=tmp_path / "plain", base_url=server.url, model="mock")
    assert {record.rating for record in done.records if isinstance(record, Annotation)} == {87}
    assert done.info.counts["failed"] == 0
    assert plain.info.counts["failed"] == len(plain.records)
    assert done.info.signature.fields["prompts"] != plain.info.signature.fields["prompts"]


# Replies in JSON with other keys, and the prompts of RATE...


RATE_UTILS = """CORE_AGENT_URL = "http://..."
COMPARISON_AGENT_TASK_PROMPT = \"\"\"Compare A and B. A price of $5. Say {"winner": "A" | "B" | "Tie"}.\"\"\"
GENERAL_EVALUATION_AGENT_TASK_PROMPT = \"\"\"Rate from 0 to 4.\"\"\"
SEARCH_AGENT_OUTPUT_PROMPT = "Answer now."
"""


@pytest.fixture
def rate_prompts(tmp_path: Path) -> Path:
    """The folder that the documented command makes of a clone of RATE."""
    page = (Path(__file__).parents[2] / "docs" / "prompts.md").read_text("utf-8")
    script = page.partition("rate-prompts <<'END'\n")[2].partition("\nEND\n")[0]
    (tmp_path / "utils.py").write_text(RATE_UTILS, "utf-8")
    folder = tmp_path / "rate-prompts"
    subprocess.run([sys.executable, "-", tmp_path / "utils.py", folder], input=script.encode(), check=True)
    return folder


def test_the_documented_command_makes_prompts_of_a_clone_of_rate(rate_prompts: Path) -> None:
    judge: Any = load_judge("rate", prompts=rate_prompts)
    said = judge._files.message("system", "compare", markers="MARKERS").parts[0]
    assert said == 'Compare A and B. A price of $5. Say {"winner": "A" | "B" | "Tie"}.\n\nMARKERS'
    adapter = find_adapter(rate_prompts)
    assert adapter is not None
    verdict = adapter.adapt(
        "verdict", Reply(text='```json\n{"winner": "Tie", "rationale": "Both \\"say\\" it."}\n```')
    )
    assert json.loads(verdict.text) == {"analysis": 'Both "say" it.', "result": "E"}
    spans = [{"source_segment": "a", "target_segment": "b", "issue": "wrong"}]
    told = {"score": 3, "confidence": 0.9, "rationale": "Good.", "error_spans": spans}
    read = adapter.adapt("assessment", Reply(text=json.dumps({**told, "suspected_knowledge_gaps": []})))
    found = json.loads(read.text)
    assert found["error_spans"] == [{"source": "a", "translation": "b", "issue": "wrong"}]
    assert (found["score"], found["confidence"], found["suspected_gaps"]) == (3, 0.9, [])


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ('{"winner": "C", "rationale": "So."}', "label"),
        ('{"rationale": "So."}', "schema"),
        ('{"winner": "A", "rationale": "So."} or {"winner": "B", "rationale": "So."}', "ambiguous"),
        ('I think {"winner": "A", "rationale": "So."}, or not', "words"),
        ("A is better.", "parse"),
    ],
)
def test_a_reply_in_json_is_read_strictly_by_its_keys(rate_prompts: Path, reply: str, reason: str) -> None:
    adapter = find_adapter(rate_prompts)
    assert adapter is not None
    with pytest.raises(AnswerError) as caught:
        adapter.adapt("verdict", Reply(text=reply))
    assert caught.value.reason == reason


def test_room_for_a_model_that_a_run_does_not_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--max-tokens typo=100: no model of this run is called typo"):
        run("gemba-da", small_set(1), out=tmp_path / "run", max_tokens=["typo=100"])


def test_words_of_ones_own_may_leave_out_the_languages_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "system.md").write_text("Rate it from 0 to 100, for patients. $markers $form")
    done = run("gemba-da", small_set(2), out=tmp_path / "run", prompts=tmp_path / "mine")
    assert done.info.counts["failed"] == 0
    (tmp_path / "mine" / "system.md").write_text("Rate it from 0 to 100, for patients. $form")
    with pytest.raises(UsageError, match=r"system.md must say where \$markers stands"):
        run("gemba-da", small_set(2), out=tmp_path / "other", prompts=tmp_path / "mine")
