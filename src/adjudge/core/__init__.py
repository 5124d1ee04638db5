"""The words that every room shares. Imports nothing of ours but `errors`."""

from collections.abc import Callable
from types import ModuleType

renderer: Callable[[], ModuleType]
"""Import the module that shows results as text, HTML, LaTeX and figures. `adjudge` sets it, so that this room
names none that stands above it."""
