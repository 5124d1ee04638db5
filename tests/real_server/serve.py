"""llama.cpp's own server in a process of its own.

`python -m tests.real_server.serve MODEL PORT THREADS CONTEXT` serves a GGUF file, called as the file is,
until its input ends, so that it outlives nobody. `RealServer` starts it, kills it, and starts it again at
its address.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SLOTS = 2


class RealServer:
    """One server; `context` is in tokens, `folder` for its log."""

    def __init__(self, folder: Path, model: Path, threads: int, context: int) -> None:
        self._folder = folder
        self._started = (str(model), str(threads), str(context))
        self._process: subprocess.Popen[str] | None = None
        self.address = "http://127.0.0.1:0"

    @property
    def url(self) -> str:
        return f"{self.address}/v1"

    def start(self) -> None:
        """Start it, where it was before if it was started before."""
        port = self.address.rpartition(":")[2]
        model, *limits = self._started
        with (self._folder / "log.txt").open("a") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.real_server.serve", model, port, *limits],
                cwd=Path(__file__).parents[2],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip()
        assert self.address, f"no server: {self._folder / 'log.txt'} says why"

    def kill(self) -> None:
        """End it with SIGKILL, whatever it is doing."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()


@contextmanager
def serving(folder: Path, model: Path, threads: int, context: int) -> Iterator[RealServer]:
    """A server for as long as the block lasts."""
    server = RealServer(folder, model, threads, context)
    try:
        server.start()
        yield server
    finally:
        server.kill()


@contextmanager
def running(folder: Path, seed: int) -> Iterator[RealServer]:
    """A server of the model of random weights, which only waits where it has more threads."""
    from tests.real_server.tiny_model import CONTEXT, write_model

    write_model(folder / "tiny.gguf", seed)
    with serving(folder, folder / "tiny.gguf", threads=1, context=CONTEXT) as server:
        yield server


def serve(model: str, port: int, threads: int, context: int) -> None:
    """Serve until the input ends; the first line of the output is the address."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {Path(model).stem}
    params.port = port
    params.n_parallel = SLOTS
    params.n_ctx = context * SLOTS
    params.cpuparams.n_threads = threads
    params.warmup = False
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    serve(sys.argv[1], *map(int, sys.argv[2:]))
