"""How often `rank` of 64 records goes from one file of adjudge into another: what a reader must follow.

    .venv/bin/python benchmarks/crossings.py [--most N]

Counts the calls whose nearest caller in adjudge stands in another file, in a second run, when all is loaded;
prints the number, and the N pairs of files with the most.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import adjudge  # noqa: E402 (found by the line above)
from adjudge import examples  # noqa: E402
from benchmarks.page import make_parser  # noqa: E402

PACKAGE = str(Path(adjudge.__file__).parent)


def main() -> None:
    """Count and print."""
    parser = make_parser(__doc__)
    parser.add_argument("--most", type=int, default=20, help="how many pairs of files are printed")
    wanted = parser.parse_args()
    found = count_crossings()
    print(f"{found.total():,} crossings of file borders")
    for (caller, called, name), n in found.most_common(wanted.most):
        print(f"{n:6,}  {caller} -> {called}: {name}")


def count_crossings() -> Counter[tuple[str, str, str]]:
    """Calling file, called file and function, to how often the border was crossed."""
    found: Counter[tuple[str, str, str]] = Counter()

    def note(frame: FrameType, event: str, _: object) -> None:
        called = frame.f_code.co_filename
        if event != "call" or not called.startswith(PACKAGE):
            return
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(PACKAGE):
            caller = caller.f_back
        if caller is not None and caller.f_code.co_filename != called:
            files = (
                Path(name).relative_to(PACKAGE).as_posix() for name in (caller.f_code.co_filename, called)
            )
            found[(*files, frame.f_code.co_qualname)] += 1  # type: ignore[index]

    gold = examples.path("gold.mqm.jsonl")
    adjudge.rank(gold, lp="en-de")
    sys.setprofile(note)
    adjudge.rank(gold, lp="en-de")
    sys.setprofile(None)
    return found


if __name__ == "__main__":
    main()
