from tests.cli.conftest import _elsewhere, ask

__all__ = ["_elsewhere", "ask"]
