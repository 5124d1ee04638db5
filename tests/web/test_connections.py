"""Connections over real sockets: too many of them, slow ones, and heads that are too large or ambiguous."""

import contextlib
import errno
import resource
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
import uvicorn

from adjudge.web.app import Connections, Listening, Patience, listen, protocol_of

GOOD = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
SHORT = Patience(head=0.2, body=0.2, reading=0.2)
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
        with contextlib.ExitStack() as opened:

            def connect() -> socket.socket:
                return opened.enter_context(socket.create_connection(address, timeout=30))

            yield connect
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


def test_what_a_refused_client_sends_on_is_no_request() -> None:
    with serving(Connections(patience=LONG)) as connect:
        connection = connect()
        connection.sendall(b"\0\0\0\r\n\r\n")
        connection.sendall(GOOD)
        assert b"200" not in rest(connection)


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


@pytest.mark.parametrize(("soft", "most"), [(1024, 2000), (4096, 2000), (100, 2000)])
def test_files_are_left_for_the_store(soft: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = [(soft, 5000)]
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits[-1])
    monkeypatch.setattr(resource, "setrlimit", lambda _, pair: limits.append(pair))
    assert Connections.that_fit().most == most
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
