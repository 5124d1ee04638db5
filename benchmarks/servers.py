"""Servers that a browser or a load generator meets: ours, and Pearmut's."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from adjudge.core.segment import TestSet

__all__ = ["pearmut_served", "served"]

Served = tuple[subprocess.Popen[bytes], str]


@contextmanager
def served(folder: Path, package: Path | None = None) -> Iterator[Served]:
    """`adjudge campaign serve` on a free port; `package` is where a wheel is unpacked, if one serves."""
    port = _free_port()
    command = [sys.executable, "-m", "adjudge", "campaign", "serve", str(folder), "--port", str(port)]
    more = {} if package is None else {"env": {**os.environ, "PYTHONPATH": str(package)}, "cwd": package}
    url = f"http://127.0.0.1:{port}"
    with _running(command, f"{url}/health", **more) as process:
        yield process, url


@contextmanager
def pearmut_served(
    python: Path, folder: Path, campaigns: Mapping[str, TestSet], users: int | None = None
) -> Iterator[Served]:
    """Pearmut's server with these campaigns, all ESA; `python` is of an environment that has Pearmut.

    So many users get any document; without a number, each language pair has one user, who gets its documents.
    """
    program, port = str(python.with_name("pearmut")), _free_port()
    more: dict[str, Any] = {"env": {**os.environ, "PEARMUT_ROOT": str(folder)}, "cwd": folder}
    (folder / "data").mkdir()
    for name, test_set in campaigns.items():
        pairs: dict[str, dict[str, list[dict[str, Any]]]] = {}
        for segment in test_set.segments:
            items = pairs.setdefault(segment.lp, {}).setdefault(segment.document or "", [])
            items.append({"src": segment.source, "tgt": dict(segment.translations)})
        people = [list(documents.values()) for documents in pairs.values()]
        is_by_pair = users is None
        info = {"assignment": "task-based" if is_by_pair else "single-stream", "protocol": "ESA"}
        data = people if is_by_pair else [items for documents in people for items in documents]
        said = {"campaign_id": name, "info": info | {"users": users or len(people)}, "data": data}
        (folder / "pearmut.json").write_text(json.dumps(said))
        subprocess.run([program, "add", "pearmut.json"], check=True, stdout=subprocess.DEVNULL, **more)  # noqa: S603
    url = f"http://127.0.0.1:{port}"
    with _running([program, "run", "--port", str(port)], url, **more) as process:
        yield process, url


@contextmanager
def _running(command: list[str], url: str, **more: Any) -> Iterator[subprocess.Popen[bytes]]:  # noqa: ANN401
    """A server, once it answers."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)  # noqa: S603 (ours)
    try:
        while not _answers(url):
            if process.poll() is not None:
                raise RuntimeError(f"{command} ended with {process.returncode}")
            time.sleep(0.1)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def _answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=5):  # noqa: S310 (ours)
            return True
    except OSError:
        return False


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])
