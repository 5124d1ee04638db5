"""A forecast knows every call beforehand: what it says is what a server counts."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from aiohttp import web
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge.core.ask import About, Message, Reply, Sampling, Tool, Usage
from adjudge.core.judge import PROFILES, Calls
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import BudgetError
from adjudge.llm.model import Request, render_message, stored_request
from adjudge.llm.model_choice import Models, open_models
from adjudge.llm.money import estimate_text
from adjudge.llm.providers import Connection
from adjudge.runs.engines import run
from adjudge.runs.forecast import Experience, aforecast, forecast, forecast_job, learn
from adjudge.runs.job import prepare
from adjudge.runs.session import run_to_end
from adjudge.store.call_file import StoredRequest
from adjudge.store.calls import CallReader
from adjudge.store.json_lines import write_test_set
from tests.cli.calling import call
from tests.faults.server import MARK, Server, envelope
from tests.judges.asking import subject
from tests.runs.conftest import Lengths, platform_set, small_set

# Tokens of a prompt beside its messages: schemas, and tools that a model is offered.


ABOUT = About(judge="rate", stage="core", subject=subject(), wants="rating")
SEARCH = Tool(
    name="search",
    description="Look a name or a term up. " * 40,
    parameters={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)


def request(*tools: Tool) -> Request:
    messages = (Message("user", ("Judge this translation.",)),)
    return Request(messages=messages, about=ABOUT, schema=None, sampling=Sampling(), tools=tools)


def test_tools_are_part_of_the_prompt() -> None:
    bare, _ = Experience().estimate("vllm/x", request())
    one, _ = Experience().estimate("vllm/x", request(SEARCH))
    two, _ = Experience().estimate("vllm/x", request(SEARCH, SEARCH))
    words = len(SEARCH.description.split())
    assert one.typical - bare.typical > words
    assert bare.low < one.low < one.typical < one.high
    assert one.typical < two.typical


class Recorded:
    """What `learn` asks a store for."""

    def __init__(self, asked: StoredRequest, prompt: int) -> None:
        self.asked, self.prompt = asked, prompt

    def answered(self, most: int) -> Iterator[tuple[StoredRequest, Reply]]:
        for _ in range(min(most, 20)):
            yield self.asked, Reply(text="90", usage=Usage(prompt=self.prompt, completion=3))

    def seconds(self) -> float:
        return 1.0


@pytest.fixture
def models() -> Models:
    return open_models(["vllm/x"], Connection())


def test_what_a_server_counts_for_tools_is_not_added_twice(models: Models) -> None:
    asked = stored_request(models.default.identity, request(SEARCH))
    seen = learn(cast("CallReader", Recorded(asked, prompt=700)), models)
    prompt, _ = seen.estimate("vllm/x", request(SEARCH))
    assert prompt.typical == pytest.approx(700)


CASES: list[tuple[str, dict[str, str], int]] = [
    ("gemba-mqm", {}, 1),
    ("gemba-da", {}, 1),
    ("gemba-da", {"with_reference": "yes"}, 1),
    ("gemba-sqm", {}, 1),
    ("gemba-esa", {}, 2),
    ("ea-prompt", {}, 2),
    ("ea-prompt", {"steps": "1"}, 1),
    ("ea-prompt", {"with_reference": "yes"}, 2),
    ("single-agent", {}, 1),
    ("gemba-v2", {}, 10),
    ("gemba-da", {"samples": "3"}, 3),
    ("gemba-esa", {"samples": "2"}, 4),
]


@pytest.fixture
def server(server: Server) -> Server:
    server.answer = lambda payload: '{"rating": 7}'
    return server


def asked(messages: list[tuple[str, str]]) -> str:
    """A conversation, whatever its delimiters."""
    return json.dumps([[role, MARK.sub(r"<<\1>>", text)] for role, text in messages])


def rules_as_server(store: Path) -> Callable[[dict[str, Any]], str]:
    """What the embedded rules answered to the same questions."""
    reader = CallReader(store)
    known = {
        asked([said(m) for m in request.messages]): reply.text for request, reply in reader.answered(10_000)
    }
    reader.close()
    return lambda payload: known[asked([(m["role"], m["content"]) for m in payload["messages"]])]


def said(message: Message) -> tuple[str, str]:
    return message.role, render_message(message, "0" * 16)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(("judge", "settings", "calls"), CASES, ids=str)
def test_a_server_counts_the_calls_that_were_forecast(
    server: Server, tmp_path: Path, judge: str, settings: dict[str, str], calls: int, profile: Any
) -> None:
    options: Any = {"settings": settings, "profile": profile}
    run(judge, platform_set(4), out=tmp_path / "rules", **options)
    server.answer = rules_as_server(tmp_path / "rules" / "calls.sqlite")
    options |= {"base_url": server.url, "model": "mock"}
    found = forecast(judge, platform_set(4), **options)
    assert not server.log
    assert found.calls == Calls(8 * calls, 8 * calls, 8 * calls)
    done = run(judge, platform_set(4), out=tmp_path / "run", **options)
    assert done.info.counts["judged"] == 8
    assert len(server.log) == 8 * calls
    after = forecast(judge, platform_set(4), out=tmp_path / "run", **options)
    assert (after.calls, after.stored) == (Calls(0, 0, 0), 8 * calls)
    assert (after.prompt.max, after.completion.max) == (0, 0)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(
        st.tuples(
            st.sampled_from(["Guten Tag", "مرحبا", "", "a\u2028b"]), st.sampled_from(["x", "y", "missing"])
        ),
        min_size=1,
        max_size=8,
    )
)
def test_what_is_missing_and_what_is_said_twice_is_not_asked(
    server: Server, tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[str, str]]
) -> None:
    segments = [
        Segment(
            segment=str(number),
            lp="en-de",
            source=source,
            translations={"A": "always", **({} if text == "missing" else {"B": text})},
        )
        for number, (source, text) in enumerate(texts)
    ]
    test_set = TestSet(name="random", segments=tuple(segments))
    server.log.clear()
    options: Any = {"base_url": server.url, "model": "mock"}
    found = forecast("gemba-da", test_set, **options)
    done = run("gemba-da", test_set, out=tmp_path_factory.mktemp("run") / "run", **options)
    count = len(server.log)
    assert found.units == sum(done.info.counts.values())
    assert found.calls == Calls(count, count, count)


@pytest.mark.parametrize("most", [1, 5, 7, 1000])
def test_beginning_fewer_judgements_changes_no_number_of_calls(tmp_path: Path, most: int) -> None:
    job = prepare("gemba-esa", small_set(10), out=tmp_path, model="openai/gpt-4o-mini", dry_run=True)
    found, whole = run_to_end(forecast_job(job, most)), run_to_end(forecast_job(job))
    assert found.begun == min(most, 20)
    assert found.calls == whole.calls == Calls(40, 40, 40)
    assert found.prompt.typical == pytest.approx(whole.prompt.typical, rel=0.02)


def test_a_run_that_was_stopped_goes_on_as_forecast(server: Server, tmp_path: Path) -> None:
    options: Any = {"base_url": server.url, "model": "mock", "concurrency": 1}
    with pytest.raises(BudgetError):
        run("gemba-da", small_set(30), out=tmp_path / "run", budget_tokens=5000, **options)
    before = len(server.log)
    assert 0 < before < 60
    found = forecast("gemba-da", small_set(30), out=tmp_path / "run", **options)
    assert (found.units, found.stored) == (60, before)
    assert found.calls == Calls(60 - before, 60 - before, 60 - before)
    run("gemba-da", small_set(30), out=tmp_path / "run", **options)
    assert len(server.log) == 60


async def test_a_judge_that_nobody_knows_is_forecast_all_the_same() -> None:
    from dataclasses import dataclass
    from typing import ClassVar

    from adjudge.core.ask import About
    from tests.runs.conftest import Rater, read_rating

    @dataclass(frozen=True, kw_only=True)
    class Odd(Rater):
        calls: ClassVar[Calls] = Calls(1, 3, 5)

        async def annotate(self, subject: Any, ask: Any) -> Any:
            about = About(judge="odd", stage="x", subject=subject, wants="a poem")
            return await ask([Message("user", ("Rate",))], about=about, read=read_rating)

    found = await aforecast(Odd(), small_set(1, systems=["A"]), model="openai/gpt-4o")
    assert found.calls == Calls(1, 3, 5)
    assert found.price is not None
    assert found.price[0] < found.price[1] < found.price[2]
    assert found.completion == Calls(1, 600, 5 * 2048)


@pytest.mark.parametrize(("broken", "calls"), [("no number", 12), ('{"rating": 7}', 0)])
def test_what_failed_is_forecast_where_it_is_asked_again(
    server: Server, tmp_path: Path, broken: str, calls: int, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answer = lambda payload: broken
    options: Any = {"base_url": server.url, "model": "mock", "out": tmp_path / "run", "max_failed": 1}
    run("gemba-da", small_set(), **options)
    server.answer = lambda payload: '{"rating": 7}'
    assert forecast("gemba-da", small_set(), **options).calls == Calls(0, 0, 0)
    found = forecast("gemba-da", small_set(), retry_failed=True, **options)
    assert found.calls.typical == calls
    assert (found.prompt.typical > 0) == bool(calls)
    server.log.clear()
    run("gemba-da", small_set(), retry_failed=True, **options)
    assert len(server.log) == calls


def test_of_several_models_the_price_lies_between_the_cheapest_and_the_dearest() -> None:
    cheap, dear = ["openai/gpt-4o-mini"], ["openai/gpt-4o"]
    both = forecast("m-mad", small_set(1), model=[*cheap, f"expert={dear[0]}"])
    least, most = (forecast("m-mad", small_set(1), model=each).price for each in (cheap, dear))
    assert both.price is not None
    assert least is not None
    assert most is not None
    assert least[1] < both.price[1] < most[1]
    assert (both.price[0], both.price[2]) == (least[0], most[2])


def test_the_typical_price_is_that_of_the_typical_tokens() -> None:
    found = forecast("gemba-mqm", small_set(), model="openai/gpt-4o-mini")
    assert found.price is not None
    exact = (found.prompt.typical * 15 + found.completion.typical * 60) / 100_000_000
    assert float(found.price[1]) == pytest.approx(exact, rel=1e-3)
    assert (found.currency, str(found.price_date)) == ("USD", "2026-03-31")
    assert found.prompt.min < found.prompt.typical < found.prompt.max


@pytest.mark.parametrize(
    ("options", "price"),
    [
        ({"model": "builtin/rules"}, 0.0),
        ({"model": "openai/unheard-of"}, None),
        ({"model": "vllm/gpt-4o"}, None),
    ],
)
def test_what_is_free_costs_0_and_what_is_unknown_null(options: Any, price: float | None) -> None:
    found = forecast("gemba-mqm", small_set(), **options).to_json()
    assert found["price"] == price
    assert list(found) == ["units", "calls", "tokens", "price", "currency", "price_date"]


def test_a_metric_asks_nobody() -> None:
    found = forecast(Lengths(), small_set())
    assert (found.units, found.calls, found.to_json()["price"]) == (12, Calls(0, 0, 0), 0.0)


def test_what_a_run_has_seen_corrects_the_estimate(server: Server, tmp_path: Path) -> None:
    counted: list[int] = []

    async def own_tokenizer(request: web.Request, content: str) -> web.StreamResponse:
        payload = json.loads(await request.read())
        prompt = sum(len(message["content"]) for message in payload["messages"]) // 2
        counted.append(prompt)
        body = envelope(content)
        body["usage"] = {"prompt_tokens": prompt, "completion_tokens": 77}
        return web.json_response(body)

    server.fails(own_tokenizer)
    options: Any = {"base_url": server.url, "model": "mock", "store": tmp_path / "shared.sqlite"}
    run("gemba-da", small_set(6), out=tmp_path / "run", **options)
    counted.clear()
    found = forecast("gemba-da", small_set(40), **options)
    run("gemba-da", small_set(40), out=tmp_path / "more", **options)
    assert found.seen == 12
    assert found.calls.typical == len(counted) == 68
    assert found.prompt.typical == pytest.approx(sum(counted), rel=0.03)
    assert found.prompt.min <= sum(counted) <= found.prompt.max
    assert found.completion.typical == 68 * 77


def test_uncorrected_bounds_hold_for_tokenizers_from_coarse_to_fine(server: Server, tmp_path: Path) -> None:
    server.answer = lambda payload: '{"errors": []}'
    found = forecast("gemba-mqm", small_set(), base_url=server.url, model="mock")
    run("gemba-mqm", small_set(), out=tmp_path / "run", base_url=server.url, model="mock")
    texts = [message["content"] for payload in server.log for message in payload["messages"]]
    for rate in (4.6, 4.0, 3.3):  # characters a token, of English instructions
        assert found.prompt.min <= sum(len(text) for text in texts) / rate <= found.prompt.max
    assert found.prompt.typical > sum(estimate_text(text).typical for text in texts)  # frames come on top


@pytest.fixture
def test_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    write_test_set(tmp_path / "set.jsonl", small_set())
    return str(tmp_path / "set.jsonl")


def test_the_command_prints_one_json_object(test_set: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("forecast", "gemba-esa", test_set, "--model", "openai/gpt-4o", "--format", "json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == forecast("gemba-esa", small_set(), model="openai/gpt-4o").to_json()
    assert printed["calls"] == {"min": 24, "typical": 24, "max": 24}
    assert printed["tokens"].keys() == {"prompt", "completion"}


def test_the_command_takes_the_options_of_a_run(test_set: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--steps", "1", "--limit", "2", "--systems", "A", "--profile", "paper", "--concurrency", "3"]
    more = ["--timeout", "9", "--budget-tokens", "5", "--model", "vllm/x", "--out", "run"]
    assert call("forecast", "ea-prompt", test_set, *options, *more, "--format", "tsv") == 0
    said = capsys.readouterr()
    assert "calls\t2\t2\t2" in said.out
    assert "price\tunknown\tunknown\tunknown" in said.out
    assert "the price of the model is not known" in said.err


def test_a_run_that_costs_says_so_first_and_last(
    test_set: str, server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wire = ["--base-url", server.url, "--model", "mock", "--out", "run"]
    assert call("run", "gemba-da", test_set, *wire) == 0
    said = capsys.readouterr().err
    _, systems, first = said.splitlines()[:3]
    assert systems == "2 systems: A, B"
    assert first.startswith("forecast: 12 calls, about ")
    assert "price unknown" in first
    assert "price unknown" in said.splitlines()[-2]
    assert "paid in all" not in said
    prices = '[[prices.model]]\nnames = ["mock"]\nas_of = 2026-01-01\nprompt = 100\ncompletion = 1000\n'
    (tmp_path / "adjudge.toml").write_text(prices)
    wire[-1] = "priced"
    assert call("run", "gemba-da", test_set, *wire, "--trust-config") == 0
    said = capsys.readouterr().err
    assert said.splitlines()[0] == "adjudge: settings: prices of adjudge.toml"
    assert "USD (" in said.splitlines()[3]
    assert "at prices of 2026-01-01" in said.splitlines()[3]
    assert "0.36 USD paid in all" in said.splitlines()[-2]
