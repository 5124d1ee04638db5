"""`adjudge campaign serve` and `backup`, as they are called."""

import contextlib
import errno
import http.client
import io
import json
import logging
import os
import resource
import shlex
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from adjudge.campaigns.campaign import alone, read_links
from adjudge.campaigns.people import new_link, people
from adjudge.cli.main import main
from adjudge.errors import UsageError
from adjudge.web import app as app_module
from adjudge.web.app import Connections, Listening, Patience, address_of, listen, protocol_of
from tests.campaigns.conftest import MakeCampaign
from tests.web.conftest import House

# Connections over real sockets: too many of them, slow ones, and heads that are too large or ambiguous.


GOOD = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
SHORT = Patience(head=1.0, body=1.0, reading=1.0)
LONG = Patience(head=600, body=600, reading=600)


async def app(
    scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]
) -> None:
    """Answer with the body; /long with 40 MB."""
    body = b""
    while scope["method"] == "POST" and (message := await receive()):
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    is_long = scope["path"] == "/long"
    body += b"good"
    length = [] if is_long else [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": length})
    for _ in range(40 if is_long else 0):
        await send({"type": "http.response.body", "body": bytes(1_000_000), "more_body": True})
    await send({"type": "http.response.body", "body": body})


@contextlib.contextmanager
def serving(connections: Connections) -> Iterator[Callable[[], socket.socket]]:
    """Serve in a thread; make connections to it."""
    with listen("127.0.0.1", 0) as listening:
        config = uvicorn.Config(app, http=protocol_of(connections), lifespan="off", log_config=None)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        address = listening.getsockname()
        try:
            with contextlib.ExitStack() as opened:

                def connect() -> socket.socket:
                    return opened.enter_context(socket.create_connection(address, timeout=30))

                yield connect
        finally:
            server.should_exit = True
            thread.join(30)
        assert not thread.is_alive()


def answer(connection: socket.socket, request: bytes = GOOD) -> bytes:
    """Send a request and read until the answer's end or the connection's."""
    connection.sendall(request)
    return rest(connection, b"good")


def rest(connection: socket.socket, last: bytes = b"\0never") -> bytes:
    """Read on until these bytes, or the end."""
    found = b""
    with contextlib.suppress(ConnectionResetError):
        while not found.endswith(last) and (part := connection.recv(1 << 20)):
            found += part
    return found


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 100_000 + b"\r\n\r\n", b" 431 "),
        (b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", b" 431 "),
        (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 120 + b"\r\n", b" 431 "),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 100_000, b" 431 "),
        (
            b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            b"either Content-Length or Transfer-Encoding",
        ),
        (b"\0\0\0\r\n\r\n", b" 400 "),
        (GOOD, b" 200 "),
        (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ngood\r\n0\r\n\r\n", b" 200 "),
    ],
    ids=["header", "target", "headers", "header without end", "two lengths", "no HTTP", "good", "chunked"],
)
def test_a_head_is_small_and_has_one_length(request_: bytes, said: bytes) -> None:
    with serving(Connections(patience=LONG)) as connect:
        assert said in answer(connect(), request_)
        assert answer(connect()).endswith(b"good")


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b" 505 "),
        (b"GET / HTTP/2.0\r\n\r\n", b" 505 "),
        (b"CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\nGET /", b" 400 "),
        (b"CONNECT / HTTP/1.1\r\nHost: x\r\n\r\n", b" 400 "),
        (b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", b" 400 "),
        (b"GET x HTTP/1.1\r\nHost: x\r\n\r\n", b" 400 "),
    ],
)
def test_what_asks_for_no_path_of_this_server_is_refused_and_logs_no_fault(
    request_: bytes, said: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(Connections(patience=LONG)) as connect:
        connection = connect()
        connection.sendall(request_)
        found = connection.recv(1)
        connection.sendall(GOOD)  # what a refused client sends on is no request
        found += rest(connection)  # up to the end: the connection is closed
    assert said in found
    assert b" 200 " not in found
    assert not [r for r in caplog.records if r.levelno >= logging.ERROR or r.exc_info]


@pytest.mark.parametrize(
    "sent", [b"\0\0\0\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", GOOD + b"\0\r\n\r\n"]
)
def test_a_client_that_is_gone_before_it_reads_why_is_no_fault(
    sent: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    connections = Connections(patience=LONG)
    with serving(connections) as connect:
        for _ in range(10):
            with connect() as gone:
                gone.sendall(sent)
        assert answer(connect()).endswith(b"good")
        while len(connections) > 1:  # those that went are forgotten
            threading.Event().wait(0.01)
    assert not [r for r in caplog.records if r.levelno >= logging.ERROR or r.exc_info]


@pytest.mark.parametrize(
    ("begun", "said"),
    [
        (b"", b""),
        (b"GET / HTTP/1.1\r\n", b" 408 "),
        (GOOD + b"GET", b" 408 "),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1", b""),
        (b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1", b"good"),
    ],
    ids=["nothing", "part of the headers", "part of a second request", "part of a body", "body nobody reads"],
)
def test_a_client_that_does_not_go_on_is_cut_off(begun: bytes, said: bytes) -> None:
    with serving(Connections(patience=SHORT)) as connect:
        connection = connect()
        connection.sendall(begun)
        assert said in rest(connection)


def test_headers_that_drip_in_are_not_given_more_time() -> None:
    with serving(Connections(patience=SHORT)) as connect:
        connection = connect()
        found = b""
        connection.settimeout(0.02)
        while not found:
            connection.sendall(b"a")
            with contextlib.suppress(TimeoutError):
                found = connection.recv(1000)
        assert b" 408 " in found


def test_a_client_that_does_not_read_is_cut_off() -> None:
    connections = Connections(patience=SHORT)
    with serving(connections) as connect:
        slow = connect()
        slow.sendall(b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n")
        answer(connect())
        while len(connections) > 1:  # ends once the answer is given up
            threading.Event().wait(0.01)
        assert len(rest(slow)) < 40_000_000


def test_many_unfinished_requests_of_one_address_stop_nobody() -> None:
    connections = Connections(most_by_address=20, patience=LONG)
    with serving(connections) as connect:
        for _ in range(100):
            connect().sendall(b"GET / HTTP/1.1\r\n")
        assert answer(connect()).endswith(b"good")
        assert len(connections) == 20


def test_an_answered_connection_that_waits_makes_room_for_another() -> None:
    with serving(Connections(most=1, patience=LONG)) as connect:
        first = connect()
        assert answer(first).endswith(b"good")
        assert answer(connect()).endswith(b"good")
        assert rest(first) == b""


def test_an_address_that_is_a_proxys_may_have_more() -> None:
    with serving(Connections(most_by_address=2, proxies=frozenset({"127.0.0.1"}), patience=LONG)) as connect:
        opened = [connect() for _ in range(5)]
        assert [answer(each)[-4:] for each in opened] == [b"good"] * 5


class Line:
    """A connection that notes how it went on."""

    def __init__(self, connections: Connections, address: str) -> None:
        self.connections, self.address, self.is_open = connections, address, True
        connections.open(self, address, self.close)

    def close(self) -> None:
        self.is_open = False


def test_the_address_with_most_connections_loses_the_one_that_waits_longest() -> None:
    connections = Connections(most=6, most_by_address=4)
    mine = Line(connections, "192.0.2.1")
    many = [Line(connections, "192.0.2.2") for _ in range(6)]
    assert [line.is_open for line in many] == [False, False, True, True, True, True]
    connections.work(many[2], "192.0.2.2")
    late = [Line(connections, "192.0.2.3"), Line(connections, "192.0.2.4")]
    assert [line.is_open for line in [mine, *many[2:], *late]] == [True, True, False, True, True, True, True]
    for line in (mine, many[2], many[4], many[5], *late):
        connections.closed(line, line.address)
    assert len(connections) == 0
    assert connections == Connections(most=6, most_by_address=4)


def test_where_all_are_being_answered_the_new_one_is_closed() -> None:
    connections = Connections(most=2)
    busy = [Line(connections, "192.0.2.1"), Line(connections, "192.0.2.1")]
    for line in busy:
        connections.work(line, "192.0.2.1")
    assert not Line(connections, "192.0.2.2").is_open
    assert len(connections) == 2


def test_a_lack_of_files_is_one_error_and_not_one_for_each_try(monkeypatch: pytest.MonkeyPatch) -> None:
    with listen("127.0.0.1", 0) as listening:
        listening.setblocking(False)
        tries = []

        def lack(_: socket.socket) -> None:
            tries.append(1)
            raise OSError(errno.EMFILE, "Too many open files")

        monkeypatch.setattr(socket.socket, "accept", lack)
        with pytest.raises(OSError, match="Too many open files"):
            listening.accept()
        for _ in range(2048):
            with pytest.raises(BlockingIOError):
                listening.accept()
        assert len(tries) == 1
        monkeypatch.undo()
        listening._until = 0.0
        with socket.create_connection(listening.getsockname()):
            listening.setblocking(True)
            listening.accept()[0].close()


def test_files_are_left_for_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = [(0, 0)]
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits[-1])
    monkeypatch.setattr(resource, "setrlimit", lambda _, pair: limits.append(pair))
    for soft in (1024, 4096, 100):
        limits.append((soft, 5000))
        assert Connections.that_fit().most == 2000
        assert limits[-1] == (max(soft, 2256), 5000)

    def refuse(*_: object) -> None:
        raise ValueError("current limit exceeds maximum limit")

    monkeypatch.setattr(resource, "setrlimit", refuse)
    limits.append((1024, 5000))
    assert Connections.that_fit().most == 768


def test_a_port_can_be_taken_over_by_other_processes() -> None:
    with listen("::1", 0) as listening:
        assert isinstance(listening, Listening)
        rebuild, (_, *kind) = listening.__reduce__()
        assert callable(rebuild)
        assert kind == [socket.AF_INET6, socket.SOCK_STREAM, listening.proto]


PROGRAM = "from adjudge.cli.main import main; main()"


@contextlib.contextmanager
def started(program: str, *arguments: str, **more: Any) -> Iterator[subprocess.Popen[str]]:
    """A program in a group of its own, of which nothing is left afterwards, whatever happens."""
    command = [sys.executable, "-c", program, *arguments]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, start_new_session=True, **more
    ) as process:
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def call(*arguments: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(["campaign", *arguments])
    return int(end.value.code or 0)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=str)
def test_a_server_says_where_it_is_answers_and_ends_quietly(house: House, number: signal.Signals) -> None:
    command = ["campaign", "serve", str(house.campaign.folder), "--port", "0", "--access-log"]
    with started(PROGRAM, *command) as process:
        assert process.stderr is not None
        where = process.stderr.readline()
        assert where.startswith("Campaign campaign-0 is at http://127.0.0.1:")
        secret = house.links["organiser"].secret
        assert "printed on a terminal only" in process.stderr.readline()
        port = int(where.rpartition(":")[2])
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
            connection.request("GET", "/health?secret=canary")
            response = connection.getresponse()
            assert (response.status, response.read()) == (200, b'{"status":"ok"}')
            assert response.headers["server"] is None
            body = b'{"secret": "canary"}'
            connection.request("POST", "/api/enter", body, {"Content-Type": "application/json"})
            assert connection.getresponse().status == 401
        process.send_signal(number)
        rest = process.stderr.read()
        assert process.wait(60) == 0
    assert "GET /health 200" in rest
    assert "POST /api/enter 401" in rest
    assert "canary" not in rest
    assert secret not in rest
    assert "Stopped." in rest


@pytest.mark.slow
def test_several_processes_serve_one_campaign_from_a_server(make_campaign_on_a_server: MakeCampaign) -> None:
    """A session that one process began is known to the others, and all end together."""
    campaign, links = make_campaign_on_a_server()
    command = ["campaign", "serve", str(campaign.folder), "--port", "0", "--workers", "2"]
    with started(PROGRAM, *command) as process:
        assert process.stderr is not None
        port = int(process.stderr.readline().rpartition(":")[2])
        cookie = ""
        for target in ("/api/enter", *["/work"] * 8):
            body = json.dumps({"secret": links[0].secret}) if not cookie else None
            headers = {"Content-Type": "application/json"} if not cookie else {"Cookie": cookie}
            with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
                connection.request("GET" if cookie else "POST", target, body, headers)
                response = connection.getresponse()
                assert response.status == 200
                cookie = cookie or str(response.headers["set-cookie"]).partition(";")[0]
        process.send_signal(signal.SIGTERM)
        rest = process.stderr.read()
        assert process.wait(60) == 0
    assert "Stopped." in rest


SLOWLY = """
import sys, time
if "spawn_main" in str(sys.orig_argv):
    with open({path!r}, "a") as file:
        file.write("started ")
    time.sleep(8)
"""
TOGETHER = """
import sys
from pathlib import Path
from adjudge.web.app import address_of, listen, serve
listening = listen("127.0.0.1", 0)
print(address_of(listening), file=sys.stderr, flush=True)
serve(Path(sys.argv[1]), listening, public_url=None, workers=2, is_logged=False)
"""


@pytest.mark.slow
def test_processes_that_take_long_to_start_are_waited_for(house: House, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    (tmp_path / "sitecustomize.py").write_text(SLOWLY.format(path=str(starts)))
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    with started(TOGETHER, str(house.campaign.folder), env=environment) as process:
        assert process.stderr is not None
        port = int(process.stderr.readline().rpartition(":")[2])
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
            connection.request("GET", "/health")
            assert connection.getresponse().status == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    assert starts.read_text().split() == ["started"] * 2


def test_a_port_that_is_taken_is_said_in_words() -> None:
    with (
        listen("127.0.0.1", 0) as first,
        pytest.raises(UsageError, match=r"port \d+: Address already in use; try another --port"),
    ):
        listen("127.0.0.1", first.getsockname()[1])
    with listen("::1", 0) as six:
        assert address_of(six).startswith("http://[::1]:")


def test_what_cannot_be_served_is_a_wrong_call(house: House, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert call("serve", str(tmp_path / "empty")) == 2
    for options in (["--workers", "2"], ["--public-url", "ftp://x"], ["--host", "203.0.113.1"]):
        assert call("serve", str(house.campaign.folder), "--port", "0", *options) == 2, options


def test_links_that_are_gone_are_no_reason_not_to_serve(house: House) -> None:
    path = house.campaign.folder / "links.csv"
    path.unlink()
    assert read_links(house.campaign.folder) == ()
    for content in (b"\xff\xfe\x00", b"", b"a,b\n1,2\n", b'"' + b"x" * 200_000):
        path.write_bytes(content)
        assert read_links(house.campaign.folder) == ()


def test_a_backup_is_the_store_and_never_replaces_a_file(house: House, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite"
    assert call("backup", str(house.campaign.folder), str(copy)) == 0
    store = sqlite3.connect(copy)
    assert store.execute("SELECT name FROM person ORDER BY id").fetchall()[0] == ("annotator-1",)
    store.close()
    assert call("backup", str(house.campaign.folder), str(copy)) == 2


def test_a_backup_is_gone_back_to_with_one_command(
    house: House, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, copy = str(house.campaign.folder), str(tmp_path / "copy.sqlite")
    house.campaign.database.close()
    assert call("backup", folder, copy) == 0
    assert call("people", folder, "--add", "someone") == 0
    assert call("restore", folder, copy) == 0
    capsys.readouterr()
    assert call("people", folder) == 0
    assert "someone" not in capsys.readouterr().out
    assert call("restore", folder, copy, "--database", "other.sqlite") == 0
    said = capsys.readouterr().err
    assert "other.sqlite now" in said
    assert call(*shlex.split(said.partition("`adjudge campaign ")[2].partition("`")[0]), "--yes") == 0
    assert not (house.campaign.folder / "campaign.sqlite").exists()
    assert call("status", folder) == 0


def test_a_campaign_is_removed_after_its_name_was_typed(
    house: House, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, copy = str(house.campaign.folder), str(tmp_path / "kept here.sqlite")
    house.campaign.database.close()
    assert call("remove", folder, "--yes") == 2
    assert "--backup FILE" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", io.StringIO("another\n"))
    assert call("remove", folder, "--backup", copy) == 2
    assert "nothing is removed" in capsys.readouterr().err
    assert call("status", folder) == 0
    capsys.readouterr()
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{Path(folder).name}\n"))
    assert call("remove", folder, "--backup", copy) == 0
    assert f"restore {folder} '{copy}'` brings it back" in capsys.readouterr().err
    assert not (house.campaign.folder / "campaign.sqlite").exists()
    assert call("status", folder) != 0
    assert call("restore", folder, copy) == 0
    assert call("status", folder) == 0


def test_a_campaign_is_served_once(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    folder = house.campaign.folder
    with alone(folder):
        assert call("serve", str(folder), "--port", "0") == 2
        assert "another process serves" in capsys.readouterr().err
        assert call("status", str(folder)) == 0  # everything else goes on beside it
    with alone(folder):
        pass


@pytest.mark.parametrize(
    ("renewed", "said", "unsaid"),
    [
        ([], ["Everyone's links are in ", "The organiser's link: http://x/#"], ["None there"]),
        (["annotator-1"], ["\nLinks are in ", "None there lets in annotator-1: "], ["Everyone"]),
        (["organiser"], ["None there lets in organiser: "], ["The organiser's link"]),
        (
            ["annotator-1", "annotator-2", "annotator-3", "organiser"],
            ["There are no links here any more"],
            ["links.csv"],
        ),
    ],
)
def test_links_that_let_nobody_in_are_not_called_everyones(
    house: House,
    renewed: list[str],
    said: list[str],
    unsaid: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(app_module, "serve", lambda *_, **__: None)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    for person in people(house.campaign):
        if person.name in renewed:
            new_link(house.campaign, person.id, 0.0, actor="command")
    assert call("serve", str(house.campaign.folder), "--port", "0", "--public-url", "http://x") == 0
    err = capsys.readouterr().err
    assert [text for text in said if text not in err] == [text for text in unsaid if text in err] == []


def test_the_organisers_link_is_in_no_log(house: House, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(app_module, "serve", lambda *_, **__: None)
    for is_terminal in (False, True):
        monkeypatch.setattr("sys.stderr.isatty", lambda is_terminal=is_terminal: is_terminal)
        assert call("serve", str(house.campaign.folder), "--port", "0") == 0
        err = capsys.readouterr().err
        assert (house.links["organiser"].secret in err) == is_terminal
        assert ("printed on a terminal only" in err) != is_terminal


def test_a_store_of_another_program_is_left_as_it_is(
    house: House, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "foreign"
    folder.mkdir()
    (folder / "campaign.json").write_bytes((house.campaign.folder / "campaign.json").read_bytes())
    store = folder / "campaign.sqlite"
    for script in ("", "CREATE TABLE notes (text)"):
        store.unlink(missing_ok=True)
        with closing(sqlite3.connect(store)) as connection:
            connection.executescript(script)
            assert call("status", str(folder)) == 1
            assert "holds no campaign" in capsys.readouterr().err
            tables = connection.execute("SELECT name FROM sqlite_master").fetchall()
        assert tables == ([("notes",)] if script else [])


def test_an_answer_does_not_wait_until_its_first_part_is_acknowledged() -> None:
    with listen("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        connection, _ = listening.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
