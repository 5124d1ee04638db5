import base64
import json
import re
import zlib
from dataclasses import replace
from typing import Any

from adjudge.reports.html import packed_blocks, render_page
from adjudge.reports.page import make_page
from tests.report.samples import make_run, many_segments, small_test_set

LONG = replace(
    many_segments(1500),
    segments=tuple(replace(s, source=s.source * 20) for s in many_segments(1500).segments),
)


def unpacked(segment: dict[str, Any]) -> dict[str, Any]:
    """What the script of the page does with a segment."""
    numbers = iter(segment.pop("scores", ()))
    bare = [{"by": by, "of": of, "score": next(numbers)} for by, of in zip(numbers, numbers, strict=False)]
    segment["said"] = sorted([*segment["said"], *bare], key=lambda one: (one["by"], one["of"]))
    return segment


def test_a_large_page_holds_the_segments_of_a_small_one_packed() -> None:
    page = make_page([make_run(LONG)])
    text = render_page(page)
    blocks = re.findall(r'<script type="text/plain" class="packed">([^<]*)</script>', text)
    assert len(blocks) == 2
    found = [unpacked(s) for block in blocks for s in json.loads(zlib.decompress(base64.b64decode(block)))]
    assert found == json.loads(json.dumps(page.data["segments"]))
    assert '"segments":' not in text
    assert len(text) < 1_500_000


def test_a_small_page_is_plain_text() -> None:
    text = render_page(make_page([make_run(small_test_set(["en-de"]))]))
    assert 'class="packed"' not in text
    assert "Kinder fahren kostenlos." in text


def test_half_a_surrogate_pair_is_packed_too() -> None:
    (block,) = packed_blocks([{"source": "\ud800 and < too"}])
    assert json.loads(zlib.decompress(base64.b64decode(block))) == [{"source": "\ud800 and < too"}]
