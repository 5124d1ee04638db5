"""Settings that a folder brings: nothing of them counts before trust, but for options that can do no harm."""

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from adjudge.cli import options
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import UsageError
from adjudge.llm.credentials import counting
from adjudge.llm.model_choice import chosen_outside, open_models
from adjudge.llm.providers import Connection
from adjudge.store import settings_files
from adjudge.store.json_lines import write_test_set
from tests.cli.calling import ALL, Ask, call, parameters_of
from tests.faults.server import Server

LISTED = Path(settings_files.__file__).with_name("harmless.txt").read_text().split()
GLOBAL = ("--debug", "--accept-changed", "--trust-config")

REASONS = {
    "sends, or says where or what": (
        "model base-url key-env key-file served-as json-schema effort max-tokens concurrency timeout context "
        "terms prompts profile explain-in search search-key-env temperature samples candidates engine "
        "workers percentile name reference language"
    ),
    "spends": "budget budget-tokens prices ask-again retry-failed reparse dry-run",
    "runs code": "plugin command aligner",
    "reads a file or a database": (
        "gold gold-annotator baseline candidate scores metric metrics judge families data documents "
        "test-set source translation reference-file given pairs-file batches beside database task guidelines "
        "media tutorial-file typology"
    ),
    "writes": "out store figure figures radar decisions junit summary score-files force backup yes",
    "leaves out, or chooses what is judged": (
        "lp systems limit system segment segments annotator exclude include-human include-outliers "
        "mismatched consistency severities smallest strata pairs pairs-in-all pairs-per-segment anchors thin "
        "top share least longest flagged by tasks least-shared better log"
    ),
    "decides a verdict or a plan": (
        "margin domain-margin critical-alpha alpha power more-critical more-untranslated unseen "
        "any-signature max-failed range bad delta guarantee publish-risk reject-risk together criterion sd "
        "annotator-sd difference annotators threshold min-difference min-f1 by-document weights"
    ),
    "makes a campaign, or lets somebody in": (
        "access-log add assignment balance by-others check-kinds checks checks-first code-fail code-pass "
        "control critical dynamic-by half-steps host how idle-after languages lease loud new-link "
        "pairs-of-people pass-mark password port protocol public-url raters ratings-a-day revoke role "
        "segments-each tutorial"
    ),
}
"""Why options are not in the list; one that is listed for some commands may be left out for others."""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    monkeypatch.delenv("ADJUDGE_MODEL")
    (tmp_path / "clone").mkdir()
    monkeypatch.chdir(tmp_path / "clone")


def options_of(words: tuple[str, ...]) -> set[str]:
    there = {options._name_of(p) for p in parameters_of(words) if p.param_type_name == "option"}
    return there - {"help"}


def foreign(text: str) -> None:
    Path("adjudge.toml").write_text(text)


def own(text: str) -> Path:
    file = Path(os.environ["XDG_CONFIG_HOME"], "adjudge", "adjudge.toml")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


DONE: list[tuple[str, str]] = []
WATCHED = {"is": False}


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if WATCHED["is"] and event in {"open", "socket.connect", "subprocess.Popen", "os.mkdir", "os.remove"}:
        DONE.append((event, str(arguments[1 if event == "socket.connect" else 0])))


sys.addaudithook(_watch)  # it cannot be taken away again


@contextmanager
def watched() -> Iterator[None]:
    """What this process does: nothing but reading `adjudge.toml`, our list and modules."""
    DONE.clear()
    WATCHED["is"] = True
    try:
        yield
    finally:
        WATCHED["is"] = False
    here = str(Path.cwd())
    code = (".py", ".pyc", ".so")
    left = [
        (event, what)
        for event, what in DONE
        if event != "open"
        or not (
            what == "adjudge.toml"
            or what.endswith("harmless.txt")
            or (what.endswith(code) and not str(Path(what).absolute()).startswith(here))
            or what.isdigit()
            or "site-packages" in what
        )
    ]
    assert left == []


def test_every_option_is_listed_or_has_its_reason() -> None:
    why = {name for names in REASONS.values() for name in names.split()}
    there, denied = set(), set()
    for words in ALL:
        for name in options_of(words):
            key = ".".join((*words, name))
            there.add(key)
            if key not in LISTED:
                denied.add(name)
    assert sorted(denied - why) == []
    assert sorted(why - denied) == []
    assert sorted(set(LISTED) - there) == []
    assert len(LISTED) == len(set(LISTED))


def test_a_foreign_setting_counts_and_is_said_or_ends_the_command(ask: Ask, server: Server) -> None:
    Path("evil.py").write_text("raise SystemExit('was run')\n")
    for words in ALL:
        for name in [*options_of(words), "setting-of-a-judge"]:  # its modules are there before we watch
            key = ".".join((*words, name))
            for value in ('"x/y.toml"', *(() if key in LISTED else ("1", '["evil.py"]', "{}", "true"))):
                foreign(f"[{'.'.join(words)}]\n{name} = {value}\n")
                with watched():
                    said = ask.refused(*words)
                assert said.startswith(f"adjudge: adjudge.toml sets {key}, and you do not trust {Path.cwd()}")
                assert "--trust-config" in said
            if key in LISTED:
                foreign(f"[{'.'.join(words)}]\n{name} = 'no'\n")
                assert f"adjudge: settings: {name} of adjudge.toml\n" in ask(*words).err
    assert server.log == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('model = "vllm/x"', "and you do not trust"),
        ("[prices]\ncurrency = 'USD'", "and you do not trust"),
        ("x = 1", "and you do not trust"),
        ("[rnu]\nseed = 1", "and you do not trust"),
        ("[rank]\nsead = 1\n", "did you mean rank.seed?"),
        ("[rank]".encode("utf-16"), "cannot read adjudge.toml: it is not UTF-8, as TOML must be"),
    ],
)
def test_what_stands_in_no_table_of_a_command_needs_trust(text: str | bytes, said: str, ask: Ask) -> None:
    Path("adjudge.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    assert said in ask.refused("list", "formats")


def test_help_is_there_whatever_the_file_says(ask: Ask) -> None:
    foreign('model = "x"')
    ask.done("run", "--help")
    assert "--trust-config" in ask("--help").out


@pytest.fixture
def test_set() -> str:
    texts = {"source": "Hello", "translations": {"A": "Hallo"}}
    segments = (Segment(segment=n, lp="en-de", **texts) for n in "12")  # type: ignore[arg-type]
    write_test_set("../set.jsonl", TestSet(name="s", segments=tuple(segments)))
    return "../set.jsonl"


test_set.__test__ = False  # type: ignore[attr-defined]


def keys_of(server: Server) -> set[str]:
    """Keys that the server was sent since it was asked last."""
    found = {headers.get("Authorization", "").removeprefix("Bearer ") for headers in server.headers}
    server.reset()
    return found


def test_trust_is_of_this_file_in_this_folder_as_it_is_now(
    server: Server, test_set: str, monkeypatch: pytest.MonkeyPatch, ask: Ask
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-users-own-key")
    text = f'model = "openai/gpt-4.1-mini"\n[run]\nbase-url = "{server.url}"\nlimit = 1\n'
    run = ("run", "gemba-da", test_set, "--served-as", "mock")
    foreign(text)
    assert "sets model, run.base-url, run.limit, and" in ask.refused(*run, "--out", "a")
    assert keys_of(server) == set()
    said = ask.done(*run, "--trust-config", "--out", "b").err
    assert "adjudge: settings: base-url, limit, model of adjudge.toml\n" in said
    assert keys_of(server) == {"sk-users-own-key"}
    told = ask.done(*run, "--out", "c", "--limit", "2").err
    assert "adjudge: settings: base-url, model of adjudge.toml\n" in told
    (mark,) = Path(os.environ["XDG_STATE_HOME"], "adjudge", "trusted").iterdir()
    assert stat.S_IMODE(mark.stat().st_mode) == 0o600
    assert stat.S_IMODE(mark.parent.stat().st_mode) == 0o700
    keys_of(server)
    foreign(text.replace("limit = 1", "limit = 2"))
    assert call(*run, "--out", "d") == 2
    foreign(text)
    assert call(*run, "--out", "e") == 0
    keys_of(server)
    Path("../other").mkdir()
    monkeypatch.chdir("../other")
    foreign(text)
    assert call(*run, "--out", "f") == 2
    assert keys_of(server) == set()
    assert not Path("f").exists()


def test_python_asks_for_trust_too() -> None:
    foreign('model = "vllm/x"')
    with pytest.raises(UsageError, match="you do not trust"):
        chosen_outside()


def test_the_users_own_file_lies_below_folder_environment_and_command_line(
    monkeypatch: pytest.MonkeyPatch, ask: Ask
) -> None:
    file = own('model = "vllm/own"\n[forecast]\nmodel = "vllm/of-forecast"\nconcurrency = 3\nseed = 4\n')
    assert chosen_outside() == "vllm/own"
    foreign('model = "vllm/folder"\n[forecast]\nseed = 5\n')
    call("list", "formats", "--trust-config")
    assert chosen_outside() == "vllm/folder"
    said = f"adjudge: settings: model, seed of adjudge.toml; concurrency of {file}\n"
    assert said in ask("forecast").err
    monkeypatch.setenv("ADJUDGE_MODEL", "vllm/environment")
    assert chosen_outside() == "vllm/environment"
    assert f"adjudge: settings: concurrency of {file}\n" in ask("forecast", "--seed", "6").err


def test_paths_are_of_the_folder_of_their_file(test_set: str, ask: Ask) -> None:
    prices = '[[model]]\nnames = ["*"]\nas_of = 2026-01-01\nprompt = 1\ncompletion = 1\n'
    file = own('[forecast]\nprices = "prices.toml"\n')
    file.with_name("prices.toml").write_text(prices)
    Path("prices.toml").write_text("not toml")
    assert "prices of " in ask.done("forecast", "gemba-da", test_set, "--model", "vllm/x").err


def test_one_value_is_a_list_of_one(test_set: str, ask: Ask) -> None:
    own('[forecast]\nmodel = "vllm/gpt"\nmax-tokens = 16000\n')
    assert "vllm/gpt" in ask.done("forecast", "gemba-da", test_set).out
    own('[forecast]\nmodel = ["vllm/a", "core=vllm/b"]\nseed = [1, 2]\n')
    assert "[forecast]: seed takes one value; got 2" in ask.refused("forecast", "gemba-da", test_set)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[forcast]\nseed = 1\n", "there is no command 'forcast'; did you mean forecast?"),
        ("[campaign.nwe]\nraters = 2\n[forecast]\nseed = 1\n", ""),  # of other commands: said when they run
        ("[forecast]\nsead = 1\n", "has no setting 'sead'; it has with_reference; did you mean --seed?"),
        ("[forecast]\nkey-env = 'KEY'\n", "key-env of {} is not used, for no server is named beside it"),
    ],
)
def test_what_the_users_own_file_misspells_is_said(test_set: str, ask: Ask, text: str, said: str) -> None:
    file = own(text)
    assert said.format(file) in ask.refused(
        "forecast", "gemba-da", test_set, "--model", "vllm/x", code=2 if "did you" in said else 0
    )


# Which key goes to which server...


@pytest.mark.parametrize(
    "case",
    [
        ("--base-url URL", "", "base-url = 'http://gate/v1'\nkey-env = 'GATE'", "sk-of-the-provider"),
        ("--base-url URL", "key-env = 'GATE'", "", "sk-of-the-provider"),
        ("", "base-url = 'URL'", "key-env = 'GATE'", "sk-of-the-provider"),
        ("", "base-url = 'URL'", "key-file = 'key'\nbase-url = 'http://gate/v1'", "sk-of-the-provider"),
        ("", "key-env = 'GATE'", "base-url = 'URL'", "sk-of-the-provider"),
        ("", "base-url = 'URL'\nkey-env = 'GATE'", "key-file = 'key'", "sk-of-the-gate"),
        ("", "", "base-url = 'URL'\nkey-env = 'GATE'", "sk-of-the-gate"),
        ("--base-url URL --key-env GATE", "key-file = 'key'", "", "sk-of-the-gate"),
    ],
)
def test_a_key_is_sent_to_the_server_that_it_was_named_with(
    case: tuple[str, str, str, str], server: Server, test_set: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed, of_folder, of_user, sent = case
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-provider")
    monkeypatch.setenv("GATE", "sk-of-the-gate")
    own(f"[run]\n{of_user}".replace("URL", server.url)).with_name("key").write_text("sk-of-a-file")
    foreign(f"[run]\n{of_folder}".replace("URL", server.url))
    words = [word.replace("URL", server.url) for word in typed.split()]
    run = ("run", "gemba-da", test_set, "--model", "openai/gpt-4.1-mini", "--served-as", "mock")
    assert call(*run, "--out", "run", *words, "--trust-config") == 0
    assert keys_of(server) == {sent}


def test_a_key_without_its_address_takes_no_place_of_a_files_server(
    server: Server, test_set: str, monkeypatch: pytest.MonkeyPatch, ask: Ask
) -> None:
    monkeypatch.setenv("GATE", "sk-of-the-gate")
    own(f"[run]\nbase-url = '{server.url}'\n")
    run = ("run", "gemba-da", test_set, "--model", "openai/gpt-4.1-mini", "--out", "run")
    assert "add --base-url" in ask.refused(*run, "--key-env", "GATE")
    assert not server.log


@pytest.mark.parametrize(
    ("given", "above", "left"),
    [
        ("base-url key-env model", "", "base-url key-env model"),
        ("base-url key-env model", "model", "base-url key-env"),
        ("base-url key-env model", "base-url", "model"),
        ("base-url key-env model", "key-file", "model"),
        ("key-env model", "", "key-env model"),
        ("key-env model", "model", ""),
        ("key-env seed", "", "seed"),
        ("search search-key-env", "search", ""),
        ("search search-key-env", "seed", "search search-key-env"),
    ],
)
def test_an_address_and_its_keys_are_one_setting(given: str, above: str, left: str) -> None:
    assert counting(given.split(), above.split()) == {*left.split()}


def test_one_key_is_not_for_the_servers_of_two_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATE", "sk-of-the-gate")
    for names in (["openai/a", "core=anthropic/b"], ["vllm/a", "core=ollama/b"]):
        with pytest.raises(UsageError, match="one key is named for"):
            open_models(names, Connection(key_env="GATE"))
        open_models(names, Connection(key_env="GATE", base_url="http://localhost:1/v1"))
    open_models(["openai/a", "core=openai/b"], Connection(key_env="GATE"))


@pytest.mark.parametrize("option", GLOBAL)
def test_an_argument_behind_two_dashes_stays_one(option: str, ask: Ask) -> None:
    foreign('model = "x"')
    assert call("rank", "--", option) == 2
    Path("adjudge.toml").unlink()
    assert option in ask.refused("rank", "--lp", "en-de", "--", option)


@pytest.mark.parametrize("at", range(3))
def test_trust_is_said_anywhere(at: int) -> None:
    foreign("[list]\nplugin = 'none.py'\n")
    words = ["list", "formats"]
    words.insert(at, "--trust-config")
    call(*words)
    assert len(list(Path(os.environ["XDG_STATE_HOME"], "adjudge", "trusted").iterdir())) == 1
