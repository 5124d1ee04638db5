"""Which model is asked and under which name, and docs/models.md, which says what the table says."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from adjudge.core.ask import Reply
from adjudge.errors import AdjudgeError, AnswerError, ModelError, UsageError
from adjudge.llm.model import Identity, call_key, stored_request
from adjudge.llm.model_choice import EMBEDDED, Models, describe_models, open_model, open_models
from adjudge.llm.providers import PROVIDERS, ROOM, Connection, Provider
from adjudge.llm.remote import RemoteModel
from adjudge.store.call_file import run_name
from adjudge.store.calls import CallStore
from adjudge.store.settings_files import trust_folder
from tests.llm.conftest import make_request
from tests.open_files import files_open_in

# Which model is asked, and under which name.


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ADJUDGE_MODEL")


def endpoint_of(name: str, **connection: Any) -> Any:
    model = open_model(name, Connection(**connection)).model
    assert isinstance(model, RemoteModel)
    return model.endpoint


def test_the_option_comes_before_the_environment_and_that_before_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "adjudge.toml").write_text('model = "vllm/from-file"\n')
    with pytest.raises(UsageError, match="sets model, and you do not trust"):
        open_models([], Connection())
    trust_folder()
    assert open_models([], Connection()).name == "vllm/from-file"
    monkeypatch.setenv("ADJUDGE_MODEL", "vllm/from-environment")
    assert open_models([], Connection()).name == "vllm/from-environment"
    assert open_models(["vllm/from-option"], Connection()).name == "vllm/from-option"


@pytest.mark.parametrize("content", [b"model = ", b"\xff", b"model = 7", b'model = ""'])
def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "adjudge.toml").write_bytes(content)
    with pytest.raises(UsageError, match=r"adjudge\.toml"):
        open_models([], Connection())


@pytest.mark.parametrize(
    ("names", "who"),
    [([], "a judge needs a model: add --model"), (["core=vllm/x"], "every other role needs a model")],
)
def test_nothing_stands_in_for_a_model_that_nobody_named(tmp_path: Path, names: list[str], who: str) -> None:
    for content in ("", "[other]\n"):
        (tmp_path / "adjudge.toml").write_text(content)
        with pytest.raises(
            UsageError, match=f"{who}.*--base-url.*--model builtin/rules has fixed rules answer"
        ):
            open_models(names, Connection())


def test_roles_have_models_of_their_own() -> None:
    models = open_models(["vllm/a", "core=vllm/b", "judge=builtin/rules"], Connection())
    assert models.name == "vllm/a;core=vllm/b;judge=builtin/rules"
    assert models.for_role("").name == "vllm/a"
    assert models.for_role("core").name == "vllm/b"
    assert models.for_role("core.omission").name == "vllm/b"
    assert models.for_role("corex").name == "vllm/a"
    with pytest.raises(UsageError, match="twice"):
        open_models(["vllm/a", "vllm/b"], Connection())


def test_every_provider_of_the_table_can_be_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    for row in PROVIDERS.values():
        monkeypatch.setenv(row.key_env, "canary-key-1234567890")
        model = open_model(f"{row.name}/some/model-x", Connection())
        endpoint = endpoint_of(f"{row.name}/some/model-x")
        found = (model.name, endpoint.url, endpoint.key, model.identity.constrained)
        assert found == (f"{row.name}/some/model-x", row.base_url, "canary-key-1234567890", row.schema)


def test_a_provider_that_needs_a_key_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError, match="MISTRAL_API_KEY"):
        open_model("mistral/m", Connection())
    assert endpoint_of("vllm/m").key == ""


@pytest.mark.parametrize("name", ["gpt-4o", "nobody/gpt-4o", "openai/", ""])
def test_an_unknown_name_lists_what_there_is(name: str) -> None:
    with pytest.raises(UsageError, match="openai, vllm"):
        open_model(name, Connection())


@pytest.mark.parametrize(
    ("name", "shown", "model", "provider"),
    [
        ("my-model", "my-model", "my-model", "compatible"),
        ("meta-llama/Llama-3-8B", "meta-llama/Llama-3-8B", "meta-llama/Llama-3-8B", "compatible"),
        ("openai/my-model", "openai/my-model", "my-model", "compatible"),
        ("vllm/my-model", "vllm/my-model", "my-model", "vllm"),
    ],
)
def test_a_base_url_reaches_any_server(name: str, shown: str, model: str, provider: str) -> None:
    opened = open_model(name, Connection(base_url="http://host:9000"))
    endpoint = endpoint_of(name, base_url="http://host:9000")
    assert opened.name == shown
    assert (endpoint.url, endpoint.model, endpoint.provider.name) == ("http://host:9000/v1", model, provider)


def test_a_server_that_moves_is_still_the_same_model() -> None:
    """On a cluster every job has another host; nothing is paid again for that."""
    first = open_model("my-model", Connection(base_url="http://node1:8000/v1"))
    second = open_model("my-model", Connection(base_url="http://node2:8000/v1"))
    assert first.identity == second.identity


@pytest.mark.parametrize(("choice", "constrained"), [("auto", True), ("on", True), ("off", False)])
def test_the_user_decides_on_the_schema_of_an_unknown_server(choice: Any, constrained: bool) -> None:
    endpoint = endpoint_of("m", base_url="http://h", json_schema=choice)
    assert endpoint.constrained == constrained
    assert endpoint.tries_schema == (choice == "auto")
    assert not endpoint_of("vllm/m", json_schema="off").constrained


def test_no_list_of_models_shows_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary")
    rows = list(describe_models())
    assert rows[0][0] == EMBEDDED
    assert {len(row) for row in rows} == {4}
    assert "canary" not in str(rows)
    assert "canary" not in repr(open_model("openai/m", Connection()))


RECORDED = Identity(endpoint="openai", model="gpt-x")


async def record(path: Path, *identities: Identity) -> None:
    with closing(CallStore(path, run_name("00"))) as store:
        for identity in identities:
            request = make_request(identity.model)
            await store.save(
                call_key(identity, request), stored_request(identity, request), Reply(text="yes")
            )


async def test_a_recorded_store_answers_asks_nobody_and_is_open_from_its_first_question_to_the_end(
    tmp_path: Path,
) -> None:
    await record(tmp_path / "calls.sqlite", RECORDED)
    models = open_models([f"replay:{tmp_path / 'calls.sqlite'}"], Connection())
    model = models.default
    assert (model.name, model.identity) == ("openai/gpt-x", RECORDED)
    assert files_open_in(tmp_path) == []
    asked = make_request("gpt-x", key=call_key(RECORDED, make_request("gpt-x")))
    assert (await model.reply(asked)).text == "yes"
    with pytest.raises(AnswerError, match="missing"):
        await model.reply(make_request("other"))
    assert files_open_in(tmp_path) != []
    await models.close()
    assert files_open_in(tmp_path) == []


async def test_of_several_recorded_models_one_must_be_named(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    await record(path, RECORDED, Identity(endpoint="vllm", model="other"))
    with pytest.raises(UsageError, match="openai/gpt-x, vllm/other"):
        open_model(f"replay:{path}", Connection())
    model = open_model(f"replay:{path}#vllm/other", Connection())
    assert model.name == "vllm/other"
    await Models(default=model).close()
    with pytest.raises(UsageError, match="no model 'third'"):
        open_model(f"replay:{path}#third", Connection())


def test_nothing_to_replay_is_an_error(tmp_path: Path) -> None:
    for place in (tmp_path / "calls.sqlite", tmp_path):
        with pytest.raises(AdjudgeError):
            open_model(f"replay:{place}", Connection())


PAGE = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
DIALECTS = {
    "chat": "OpenAI's chat",
    "anthropic": "Anthropic's Messages",
    "gemini": "Gemini's generateContent",
}


def facts(row: Provider) -> str:
    """One row of the first table."""
    key = f"`{row.key_env}`" + ("" if row.needs_key else " if it wants one")
    cells = (
        f"`{row.name}/NAME`",
        f"`{row.base_url}`",
        key,
        DIALECTS[row.dialect],
        *("yes" if has else "no" for has in (row.schema, row.no_logprobs != ".*", bool(row.seed))),
        f"`{row.cached}`",
        row.checked,
    )
    return "| " + " | ".join(cells) + " |"


def patterns() -> Iterator[str]:
    """What is said of the names of models, and at which providers."""
    grouped: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for row in PROVIDERS.values():
        said = {
            "think by themselves": row.thinks,
            "give no log-probabilities": row.no_logprobs.replace(".*", ""),
            "take no temperature": row.fixed_temperature,
            "take `--effort`": row.effort,
            "take no tools": row.no_tools,
        }
        for pattern in dict.fromkeys(filter(None, said.values())):
            words = tuple(word for word, its in said.items() if its == pattern)
            grouped.setdefault((pattern, words), []).append(f"`{row.name}`")
    for (pattern, words), names in grouped.items():
        yield f"- {', '.join(names)}: {', '.join(words)}: `{pattern}`"


def test_the_page_of_models_says_what_the_table_says() -> None:
    lines = PAGE.splitlines()
    rows = [line for line in lines if line.startswith("| `") and "/NAME`" in line]
    assert rows == [facts(row) for row in PROVIDERS.values()]
    assert [line for line in lines if line.startswith("- `") and ": `" in line] == [*patterns()]
    assert [effort for effort, tokens in ROOM.items() if f"| `{effort}` | {tokens:,} |" not in PAGE] == []
    assert {row.checked for row in PROVIDERS.values()} == {"2026-11"}
