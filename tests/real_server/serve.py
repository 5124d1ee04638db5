"""llama.cpp's server around the tiny model, until the input ends: `python -m tests.real_server.serve MODEL`."""

import sys

import xllamacpp

from tests.real_server.tiny_model import CONTEXT

SLOTS = 2

if __name__ == "__main__":
    params = xllamacpp.CommonParams()
    params.model.path = sys.argv[1]
    params.model_alias = {"tiny"}
    params.port = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    params.n_parallel = SLOTS
    params.n_ctx = CONTEXT * SLOTS
    params.cpuparams.n_threads = 1
    params.warmup = False
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)  # noqa: T201
    sys.stdin.read()
