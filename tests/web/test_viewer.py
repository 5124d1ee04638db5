"""`adjudge serve`: what it answers, to whom, and what it never does."""

import gc
import http.client
import os
import re
import signal
import subprocess
import sys
import weakref
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from fastapi import FastAPI

from adjudge.cli.look_commands import _look, _make
from adjudge.cli.main import main
from adjudge.core.record import Record
from adjudge.core.segment import Segment
from adjudge.errors import StoreError
from adjudge.reports.figures import page_svg
from adjudge.reports.html import Drawer
from adjudge.reports.page import Page, PageSettings, make_page
from adjudge.store.json_lines import write_records, write_test_set
from adjudge.store.run_directory import RECORDS, write_run_info
from adjudge.web.app import listen
from adjudge.web.viewer import create_follower, create_viewer, serve_viewer
from tests.analysis.judged import write_run
from tests.reports.samples import failure, judge_all, make_run, preferences, small_test_set
from tests.web.client import Client
from tests.web.drawing import Waiting

TEST_SET = small_test_set()
HALF = "half of a pair: \ud800, NUL: \0"
NAMES = [s.segment for s in TEST_SET]


def make() -> Page:
    """Two judges who disagree, a failure, gold of a pair, and a source that is no good UTF-8."""
    first = replace(TEST_SET.segments[0], source=HALF)
    test_set = replace(TEST_SET, segments=(first, *TEST_SET.segments[1:]))
    other: list[Record] = [*judge_all(test_set, "other")]
    other[2] = failure(first, "Cedar", "other", detail="Never.")
    gold = preferences(test_set, "rater")
    page = make_page([make_run(test_set), make_run(test_set, other, annotator="other")], gold=gold)
    return replace(page, sections=())  # no figures: drawing them takes seconds


def talk(segment: Segment, systems: tuple[str, ...]) -> Sequence[dict[str, object]]:
    if "Cedar" in systems:
        raise StoreError("call store x: gone; look for it")
    return [{"stage": segment.segment, "role": " and ".join(systems), "detail": segment.source}]


@dataclass
class Served:
    """A server, and what it was made of."""

    app: FastAPI
    segments: list[dict[str, Any]]
    page: weakref.ref[Page]


@pytest.fixture(scope="module")
def served() -> Served:
    page = make()
    segments, left = list(page.iter_segments()), weakref.ref(page)
    return Served(create_viewer(page, talks={0: talk}, commands=["adjudge serve run"]), segments, left)


@pytest.fixture
def client(served: Served) -> Client:
    return Client(served.app)


def found(client: Client, **wanted: object) -> list[str]:
    answer = client.get(f"/api/segments?{urlencode({'amount': 100, **wanted})}")
    assert answer.status == 200, answer.text
    content = answer.json()
    assert content["total"] == len(NAMES)
    assert content["found"] == len(content["segments"])
    return [segment["id"] for segment in content["segments"]]


# What it shows...


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        ({}, NAMES),
        ({"lp": "zh-en"}, ["zh-en-0", "zh-en-1"]),
        ({"segment": "en-ar-1"}, ["en-ar-1"]),
        ({"domain": 1}, ["en-de-1", "zh-en-1", "en-ar-1"]),
        ({"severity": "critical"}, NAMES),
        ({"severity": "critical", "system": 1}, []),
        ({"category": "fluency", "annotator": 0}, NAMES),
        ({"category": "style/awkward", "system": 0}, []),
        ({"failures": "on", "annotator": 0}, []),
        ({"failures": "on", "system": 2}, ["en-de-0"]),
        ({"annotator": 2, "system": 2}, []),
        ({"disagreement": "on"}, []),
        ({"search": " NACHTSCHIFFFAHRT"}, ["en-de-0"]),
        ({"search": "儿童"}, ["zh-en-1"]),
        ({"search": "' OR 1=1 --"}, []),
        ({"segment": "' OR ''='"}, []),
        ({"order": "low", "by": 0, "system": 2}, NAMES),
        ({"order": "high", "by": 1, "system": 2}, [*NAMES[1:], NAMES[0]]),
        ({"severity": "critical", "system": 1, "against": 2}, NAMES),
        ({"severity": "critical", "system": 0, "against": 1}, []),
        ({"failures": "on", "system": 1, "against": 2}, ["en-de-0"]),
        ({"annotator": 2, "system": 2, "against": 1}, NAMES),
        ({"order": "gap", "by": 1, "system": 0, "against": 2}, [*NAMES[1:], NAMES[0]]),
    ],
    ids=str,
)
def test_filters_and_orders_are_those_of_the_page(
    client: Client, wanted: dict[str, object], ids: list[str]
) -> None:
    assert found(client, **wanted) == ids


def test_the_largest_disagreement_comes_first(client: Client, served: Served) -> None:
    spread = {s["id"]: max(s.get("spread", [0])) for s in served.segments}
    assert len(set(spread.values())) > 1
    assert found(client, order="spread") == sorted(NAMES, key=lambda name: -spread[name])


def test_segments_come_in_parts_with_all_that_was_said(client: Client, served: Served) -> None:
    parts = [client.get(f"/api/segments?start={start}&amount=4").json() for start in (0, 4, 8)]
    assert [len(part["segments"]) for part in parts] == [4, 2, 0]
    assert [part["found"] for part in parts] == [6, 6, 6]
    shown = [segment for part in parts for segment in part["segments"]]
    assert [{**segment, "row": 0} for segment in shown] == [
        {**segment, "row": 0} for segment in served.segments
    ]
    assert [segment["row"] for segment in shown] == list(range(6))


def test_a_conversation_is_that_of_the_judgement(client: Client) -> None:
    said = client.get("/api/conversation?row=0&by=0&of=0,1").json()
    assert said == {"exchanges": [{"stage": "en-de-0", "role": "Alder and Birch", "detail": HALF}]}
    gone = client.get("/api/conversation?row=0&by=0&of=2")
    assert (gone.status, gone.json()) == (503, {"message": "call store x: gone; look for it"})


def test_the_page_has_no_segments_and_may_ask_only_its_server(client: Client) -> None:
    answer = client.get("/")
    assert "ferry to Korsund" not in answer.text
    assert re.search(r'"talks":true.*"talks":false.*"total":6', answer.text)
    assert "adjudge serve run" in answer.text
    policy = answer.headers["content-security-policy"]
    for part in (
        "default-src 'none'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
    ):
        assert part in policy.split("; ")
    assert "unsafe" not in policy
    written = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', answer.text)
    assert written is not None
    assert written[1].replace("&#39;", "'") in policy


def test_figures_come_when_they_are_drawn_and_nothing_else_waits_for_them() -> None:
    drawer, page = Waiting(), make_page([make_run(small_test_set(["en-de"]))])
    client = Client(create_viewer(page, talks={}, drawer=drawer))
    text = client.get("/").text
    places = re.findall(r'data-figure="(\d+)">([^<]+) …<', text)
    assert sorted(places) == [(str(place), figure.title) for place, figure in enumerate(page.figures)]
    assert 'class="figure"' not in text
    with ThreadPoolExecutor(1) as beside:
        asked = beside.submit(client.get, "/api/figure?number=0")
        assert client.get("/api/segments").status == 200
        drawer.svgs[0].set_result(page.figures[0].render("svg"))
        answer = asked.result()
    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.text == page_svg(page.figures[0], "figure-0")
    drawer.svgs[1].cancel()
    assert client.get("/api/figure?number=1").text == page_svg(page.figures[1], "figure-1")
    missing = client.get("/api/figure?number=99")
    assert (missing.status, missing.json()) == (404, {"message": "There is no such figure."})


# To whom, and what it does not do...


PATHS = ("/", "/api/segments", "/api/figure?number=0", "/api/conversation?row=0&by=0&of=0")


def test_another_name_that_points_here_is_refused(client: Client) -> None:
    for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", ""):
        answers = [client.get(path, headers={"host": host}) for path in PATHS]
        assert [(answer.status, b"Korsund" in answer.body) for answer in answers] == [(400, False)] * 4


def test_it_only_shows(client: Client) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        assert [client.request(method, path).status for path in PATHS] == [405] * 4, method


def test_there_is_nothing_else(client: Client) -> None:
    up = ["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/api/segments/..%2f..%2fetc%2fpasswd"]
    ours = ["/api", "/api/segments/", "/openapi.json", "/docs", "/static/adjudge.css"]
    for target in [*up, *ours, "//evil.example/"]:
        answer = client.get(target)
        assert (answer.status, answer.json()) == (404, {"message": "There is no such page."}), target


def test_what_makes_no_sense_is_refused_in_words(client: Client) -> None:
    amounts = ["amount=101", "amount=0", "start=-1", "start=99999999999999999999"]
    others = ["system=x", "order=id;drop", "path=/etc/passwd", "failures=maybe", f"search={'x' * 1001}"]
    places = [
        "",
        "row=0&by=0&of=../x",
        "row=0&by=0&of=0,1,2",
        "row=0&by=-1&of=0",
        "row=0&by=0&of=99999999999",
    ]
    wrong = [f"segments?{query}" for query in amounts + others]
    wrong += [f"conversation?{query}" for query in places]
    for target in [*wrong, "figure?number=-1", "figure?number=../x"]:
        answer = client.get(f"/api/{target}")
        assert answer.status == 422, target
        assert ": " in answer.json()["message"]


def test_what_is_not_there_is_said(client: Client) -> None:
    for target in ("row=6&by=0&of=0", "row=0&by=1&of=0", "row=0&by=7&of=0", "row=0&by=0&of=3"):
        answer = client.get(f"/api/conversation?{target}")
        assert (answer.status, answer.json()) == (404, {"message": "There is no such judgement."}), target


def test_it_keeps_no_page_in_memory(served: Served) -> None:
    gc.collect()
    assert served.page() is None


def test_it_is_served_over_http_until_it_is_told_to_end(served: Served) -> None:
    with listen("127.0.0.1", 0) as listening, ThreadPoolExecutor(1) as beside:

        def ask() -> tuple[int, str | None, bytes]:
            address, port = listening.getsockname()
            with closing(http.client.HTTPConnection(address, port, timeout=60)) as connection:
                connection.request("GET", "/")
                response = connection.getresponse()
                found = response.status, response.headers["server"], response.read()
            os.kill(os.getpid(), signal.SIGTERM)
            return found

        asked = beside.submit(ask)
        serve_viewer(served.app, listening)
        status, server, page = asked.result()
    assert (status, server) == (200, None)
    assert b"adjudge serve run" in page


# The command...


def call(*arguments: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(["serve", *arguments])
    return int(end.value.code or 0)


@pytest.mark.slow
def test_the_command_says_where_it_is_tells_conversations_and_ends_quietly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_test_set("set.jsonl", small_test_set(["en-de"]))
    with pytest.raises(SystemExit):
        main(["run", "gemba-mqm", "set.jsonl", "--lp", "en-de", "--out", "run"])
    assert call("run", "nowhere") == 2
    before = {path: path.read_bytes() for path in Path("run").iterdir()}
    program = "from adjudge.cli.main import main; main()"
    command = [sys.executable, "-c", program, "serve", "run", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        where = next(line for line in lines if line.startswith("The report is at http://127.0.0.1:"))
        connection = http.client.HTTPConnection("127.0.0.1", int(where.rpartition(":")[2]), timeout=60)

        def ask(target: str) -> Any:
            connection.request("GET", target)
            response = connection.getresponse()
            assert response.headers["server"] is None
            return response.status, response.read().decode()

        assert ask("/")[0] == 200
        assert ask("/api/figure?number=0")[1].startswith("<svg ")
        status, said = ask("/api/conversation?row=1&by=0&of=2")
        assert status == 200
        assert "Kinder fahren nicht kostenlos." in said
        connection.close()
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        assert process.wait(60) == 0
    assert rest.splitlines()[-1] == "Stopped."
    assert {path: path.read_bytes() for path in before} == before


# A run that has not ended, or goes on


def test_the_next_request_shows_what_a_run_holds_then(tmp_path: Path) -> None:
    """It is read when it changed, and not before; what cannot be read is said, and is no page."""
    out, texts, made = tmp_path / "run", small_test_set(), 0
    run = make_run(texts)
    info = replace(run.info, counts={"judged": len(run.records), "failed": 0, "pending": 0})
    write_run(out, run)
    whole = (out / RECORDS).read_bytes()
    write_run_info(out, replace(info, counts={"judged": 3, "failed": 1, "pending": 8}))
    (out / RECORDS).unlink()
    with Drawer() as drawer:

        def make() -> FastAPI:
            nonlocal made
            made += 1
            return _make([out], PageSettings(), drawer)

        client = Client(create_follower(partial(_look, [out]), make, is_ready=False))
        waiting = client.get("/")
        assert (waiting.status, "has not ended: 3 judged, 1 failed, 8 pending" in waiting.text) == (503, True)
        assert client.get("/api/segments").status == 404
        write_run_info(out, info)
        (out / RECORDS).write_bytes(whole[: whole.index(b"\n") + 9])
        assert client.get("/").status == 503
        (out / RECORDS).write_bytes(whole)
        before = made
        assert [client.get("/").status for _ in range(3)] == [200] * 3
        assert made == before + 1
        told = client.get("/api/segments").text
        fewer = make_run(texts, run.records[:-1])
        write_records(out / RECORDS, fewer.records)
        assert client.get("/").status == 503  # other records than are counted
        assert client.get("/api/segments").text == told
        write_run_info(out, replace(info, counts={"judged": len(fewer.records), "failed": 0, "pending": 0}))
        assert client.get("/").status == 200
        assert client.get("/api/segments").text != told
        assert client.get("/api/figure?number=0").text.startswith("<svg ")  # of a second page
