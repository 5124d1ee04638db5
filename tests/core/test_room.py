import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "first", ["import adjudge", "import adjudge.report.tables", "from adjudge.report import tables"]
)
def test_report_is_a_verb_and_a_room_whatever_is_imported_first(first: str) -> None:
    code = (
        f"{first}\nimport adjudge\nfrom adjudge.report.tables import Table\nassert callable(adjudge.report)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
