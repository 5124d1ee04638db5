"""llama.cpp's own server in a process of its own.

`python -m tests.real_server.serve MODEL PORT` serves a GGUF file until its input ends, so that it
outlives nobody. `RealServer` starts it, kills it, and starts it again at its address.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.real_server.tiny_model import CONTEXT, write_model

SLOTS = 2


class RealServer:
    """One server; `seed` is that of its model."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder = folder
        self._model = folder / "tiny.gguf"
        write_model(self._model, seed)
        self._process: subprocess.Popen[str] | None = None
        self.address = "http://127.0.0.1:0"

    @property
    def url(self) -> str:
        return f"{self.address}/v1"

    def start(self) -> None:
        """Start it, where it was before if it was started before."""
        port = self.address.rpartition(":")[2]
        with (self._folder / "log.txt").open("a") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.real_server.serve", str(self._model), port],
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
def running(folder: Path, seed: int) -> Iterator[RealServer]:
    """A server for as long as the block lasts."""
    server = RealServer(folder, seed)
    try:
        server.start()
        yield server
    finally:
        server.kill()


def serve(model: str, port: int) -> None:
    """Serve until the input ends; the first line of the output is the address."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {"tiny"}
    params.port = port
    params.n_parallel = SLOTS
    params.n_ctx = CONTEXT * SLOTS
    params.cpuparams.n_threads = 1  # of so small a model more only wait for each other
    params.warmup = False
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
