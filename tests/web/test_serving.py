"""`adjudge campaign serve` and `backup`, as they are called."""

import http.client
import json
import signal
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from adjudge.campaigns.campaign import alone, read_links
from adjudge.campaigns.people import new_link, people
from adjudge.cli.main import main
from adjudge.errors import UsageError
from adjudge.web import app
from adjudge.web.app import address_of, listen
from tests.campaigns.conftest import MakeCampaign
from tests.web.conftest import House

PROGRAM = "from adjudge.cli.main import main; main()"


def call(*arguments: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(["campaign", *arguments])
    return int(end.value.code or 0)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=str)
def test_a_server_says_where_it_is_answers_and_ends_quietly(house: House, number: signal.Signals) -> None:
    command = [sys.executable, "-c", PROGRAM, "campaign", "serve", str(house.campaign.folder), "--port", "0"]
    with subprocess.Popen([*command, "--access-log"], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        where = process.stderr.readline()
        assert where.startswith("Campaign campaign-0 is at http://127.0.0.1:")
        secret = house.links["organiser"].secret
        assert "printed on a terminal only" in process.stderr.readline()
        connection = http.client.HTTPConnection("127.0.0.1", int(where.rpartition(":")[2]), timeout=60)
        connection.request("GET", "/health?secret=canary")
        response = connection.getresponse()
        assert (response.status, response.read()) == (200, b'{"status":"ok"}')
        assert response.headers["server"] is None
        connection.request(
            "POST", "/api/enter", b'{"secret": "canary"}', {"Content-Type": "application/json"}
        )
        assert connection.getresponse().status == 401
        connection.close()
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
    command = [sys.executable, "-c", PROGRAM, "campaign", "serve", str(campaign.folder), "--port", "0"]
    with subprocess.Popen([*command, "--workers", "2"], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        port = int(process.stderr.readline().rpartition(":")[2])
        cookie = ""
        for target in ("/api/enter", *["/work"] * 8):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            body = json.dumps({"secret": links[0].secret}) if not cookie else None
            headers = {"Content-Type": "application/json"} if not cookie else {"Cookie": cookie}
            connection.request("GET" if cookie else "POST", target, body, headers)
            response = connection.getresponse()
            assert response.status == 200
            cookie = cookie or str(response.headers["set-cookie"]).partition(";")[0]
            connection.close()
        process.send_signal(signal.SIGTERM)
        rest = process.stderr.read()
        assert process.wait(60) == 0
    assert "Stopped." in rest


def test_a_port_that_is_taken_is_said_in_words() -> None:
    with (
        listen("127.0.0.1", 0) as first,
        pytest.raises(UsageError, match=r"port \d+: Address already in use; try another --port"),
    ):
        listen("127.0.0.1", first.getsockname()[1])
    with listen("::1", 0) as six:
        assert address_of(six).startswith("http://[::1]:")


@pytest.mark.parametrize(
    "options", [["--workers", "2"], ["--public-url", "ftp://x"], ["--host", "203.0.113.1"]], ids=str
)
def test_what_cannot_be_served_is_a_wrong_call(house: House, options: list[str]) -> None:
    assert call("serve", str(house.campaign.folder), "--port", "0", *options) == 2


def test_a_folder_without_a_campaign_is_a_wrong_call(tmp_path: Path) -> None:
    assert call("serve", str(tmp_path)) == 2


def test_a_backup_is_the_store_and_never_replaces_a_file(house: House, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite"
    with pytest.raises(SystemExit) as end:
        main(["campaign", "backup", str(house.campaign.folder), str(copy)])
    assert not end.value.code
    store = sqlite3.connect(copy)
    assert store.execute("SELECT name FROM person ORDER BY id").fetchall()[0] == ("annotator-1",)
    store.close()
    assert call("backup", str(house.campaign.folder), str(copy)) == 2


def test_a_campaign_is_served_once(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    folder = house.campaign.folder
    with alone(folder):
        assert call("serve", str(folder), "--port", "0") == 2
        assert "another process serves" in capsys.readouterr().err
        assert call("status", str(folder)) == 0  # everything else goes on beside it
    with alone(folder):
        pass


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00", b"", b"a,b\n1,2\n", b'"' + b"x" * 200_000])
def test_links_that_are_gone_are_no_reason_not_to_serve(house: House, content: bytes | None) -> None:
    path = house.campaign.folder / "links.csv"
    path.unlink(missing_ok=True)
    if content is not None:
        path.write_bytes(content)
    assert read_links(house.campaign.folder) == ()


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
    monkeypatch.setattr(app, "serve", lambda *_, **__: None)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    for person in people(house.campaign):
        if person.name in renewed:
            new_link(house.campaign, person.id, 0.0, actor="command")
    assert call("serve", str(house.campaign.folder), "--port", "0", "--public-url", "http://x") == 0
    err = capsys.readouterr().err
    assert [text for text in said if text not in err] == [text for text in unsaid if text in err] == []


def test_the_organisers_link_is_in_no_log(house: House, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(app, "serve", lambda *_, **__: None)
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
