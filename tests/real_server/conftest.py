"""llama.cpp's server, for tests that are skipped where the group real-server is not installed."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.real_server.serve import RealServer


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[RealServer]":
    from tests.real_server.serve import running
    from tests.real_server.table import SEED

    with running(tmp_path_factory.mktemp("real"), SEED) as server:
        yield server
