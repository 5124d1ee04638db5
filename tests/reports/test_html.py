import base64
import hashlib
import json
import re
import sys
import zlib
from collections.abc import Sequence
from concurrent.futures import CancelledError
from dataclasses import replace
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import adjudge
from adjudge.core.protocol import SEVERITIES
from adjudge.core.record import Annotation, Record
from adjudge.core.scores import Run
from adjudge.errors import DataError, DataWarning, UsageError
from adjudge.reports.figures import Figure, distribution_figure
from adjudge.reports.html import (
    Drawer,
    _code,
    _style,
    _whole,
    drawer_for,
    drawing,
    drawn,
    packed_blocks,
    render_page,
    report,
)
from adjudge.reports.page import make_page
from adjudge.reports.tables import interval, p_value
from tests.analysis.records import rated
from tests.reports.samples import (
    SYSTEMS,
    failure,
    judge_all,
    judgement,
    make_run,
    many_segments,
    preferences,
    small_test_set,
)

SMALL = small_test_set(["en-de"])
ONE = replace(SMALL, segments=SMALL.segments[:1])
LONG = replace(
    many_segments(1500),
    segments=tuple(replace(s, source=s.source * 20) for s in many_segments(1500).segments),
)


def figures() -> list[Figure]:
    scores = {"Alder": [1.0, 2.0, 2.0]}
    return [distribution_figure(name, scores, name, top=4.0, lost={"failed": {}}) for name in ("one", "two")]


def test_another_process_draws_what_this_one_would() -> None:
    with Drawer() as drawer:
        svgs = [svg.result() for svg in drawer.begin(figures())]
    assert svgs == [figure.render("svg") for figure in figures()]


@pytest.mark.parametrize("executable", ["/nowhere/python", "/bin/false", sys.executable])
def test_figures_are_the_same_whoever_draws_them(executable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process, this one where there is no other, or both from both ends."""
    monkeypatch.setattr(sys, "executable", executable)
    here = [figure.render("svg") for figure in figures()]
    with Drawer() as drawer:
        waiting = drawer.begin(figures())
        assert [drawn(figure, svg) for figure, svg in zip(figures(), waiting, strict=True)] == here
    with drawing([figures()[index % 2] for index in range(30)], None) as finish:
        assert finish() == 15 * here


def test_nothing_is_drawn_once_it_has_ended() -> None:
    with Drawer() as drawer:
        pass
    (svg,) = drawer.begin(figures()[:1])
    with pytest.raises(CancelledError):
        svg.result()


def test_a_page_is_the_same_whoever_draws_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    run = make_run(LONG)
    with drawer_for([run]) as drawer:
        assert drawer is not None
        assert render_page(make_page([run]), drawer=drawer) == render_page(make_page([run]))


def test_a_small_page_is_drawn_here() -> None:
    with drawer_for([make_run()]) as drawer:
        assert drawer is None


VOID = {"meta", "link", "input", "br", "wbr", "line", "path", "use"}


class Page(HTMLParser):
    """The elements of a page in order; fails where they are not nested."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.read: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs), f"an attribute twice in {tag}"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)
            self.read += [data] if self.open[-1] not in {"style", "script"} else []

    @property
    def words(self) -> str:
        """Everything that is read, with single blanks."""
        return " ".join(" ".join(self.read).split())


def render(
    runs: Run | Sequence[Run], *, gold: Sequence[Record] = (), title: str | None = None, lp: str | None = None
) -> str:
    return render_page(make_page([runs] if isinstance(runs, Run) else runs, gold=gold, title=title, lp=lp))


def data_of(text: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    loaded: dict[str, Any] = json.loads(found[1])
    return loaded


def test_the_policy_comes_first_and_allows_this_style_and_this_script_only() -> None:
    text = render(make_run(SMALL))
    page = Page(text)
    (tag, attributes), *_ = [e for e in page.elements if e[0] not in {"html", "head"}]
    assert tag == "meta"
    assert attributes["http-equiv"] == "Content-Security-Policy"
    policy = str(attributes["content"])
    allowed = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    hashes = {}
    for name, tag in (("style-src", "style"), ("script-src", "script")):
        (body, *_) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        hashes[name] = f"'sha256-{base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()}'"
    nothing = dict.fromkeys(("default-src", "base-uri", "form-action"), "'none'")
    assert allowed == {**nothing, **hashes, "img-src": "data:"}


def test_the_page_holds_all_it_needs() -> None:
    page = Page(render([make_run(SMALL), make_run(SMALL, annotator="other")], gold=judge_all(SMALL, "rater")))
    assert [tag for tag, _ in page.elements].count("style") == 1
    assert [tag for tag, _ in page.elements].count("script") == 2
    assert not {"iframe", "img", "object", "embed", "base"} & {tag for tag, _ in page.elements}
    for tag, attributes in page.elements:
        assert not [name for name in attributes if name == "style" or name.startswith("on")], tag
        for name in ("src", "srcset", "action", "data", "poster", "xlink:href"):
            assert name not in attributes
        if "href" in attributes:
            assert str(attributes["href"]).startswith(("#", "data:,"))


def test_identifiers_are_unique_and_links_lead_somewhere() -> None:
    other = make_run(annotator="other", records=[failure(SMALL.segments[0], "Alder", "other")])
    page = Page(render([make_run(SMALL), other]))
    ids = [str(attributes["id"]) for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [str(a["href"])[1:] for _, a in page.elements if str(a.get("href", "")).startswith("#")]
    links = [link for link in links if "=" not in link]  # these set the filters, which a browser test follows
    assert links
    assert set(links) <= set(ids)


def test_the_headline_is_the_finding() -> None:
    test_set = many_segments(60)
    page = Page(render(make_run(test_set)))
    assert page.texts["h1"] == ["All 3 pairs differ significantly: Alder is best, then Birch and Cedar"]
    (title,) = page.texts["title"]
    assert title.endswith(f". {page.texts['h1'][0]} · many")
    assert title.startswith("judge is not shown to see: its score is the same within a system")


def test_the_first_chart_shows_gold_where_there_is_gold() -> None:
    runs = [make_run(SMALL), make_run(SMALL, annotator="other")]
    gold = judge_all(SMALL, "rater")
    captions = [
        re.findall(r"<figure class=\"chart\">.*?<caption>(.*?)</caption>", text, re.DOTALL)
        for text in (render(runs[0]), render_page(make_page(runs, gold=gold)))
    ]
    assert captions == [["By <bdi>judge</bdi> (openai/gpt-x), n = 2"], ["By <bdi>gold</bdi>, n = 2"]]


def test_a_long_verdict_leaves_the_rest_to_a_line_below() -> None:
    page = make_page([make_run(SMALL)])
    long = replace(page, verdict="By gold, Alder is best", more="judge judged zh-en only")
    assert long.headline == "By gold, Alder is best; judge judged zh-en only"
    shown = Page(render_page(long))
    assert shown.texts["h1"] == ["By gold, Alder is best"]
    assert "judge judged zh-en only." in shown.words


def test_a_caution_that_all_annotators_share_is_said_once() -> None:
    test_set = many_segments(30)
    runs = [make_run(test_set), make_run(test_set, judge_all(test_set, "other"), annotator="other")]
    text = render_page(make_page(runs, gold=judge_all(test_set, "rater")))
    assert text.count("There are only 3 documents") == 1
    part = [*judge_all(test_set, "other")[3:], failure(test_set.segments[0], "Alder", "other")]
    text = render_page(make_page([runs[0], make_run(test_set, part, annotator="other")]))
    assert re.search(r"<bdi>other</bdi>: \d+ of 30 segments", text)


def test_every_two_systems_have_the_interval_of_compare_and_the_p_of_the_ranking() -> None:
    test_set = many_segments(60)
    drawn = np.random.default_rng(0)
    ratings = {"Alder": 70, "Birch": 69, "Cedar": 50}
    records = [
        judgement(s, name, protocol="metric", spans=(), rating=mean + drawn.normal(0, 8))
        for s in test_set
        for name, mean in ratings.items()
    ]
    run = make_run(test_set, records, protocol="metric")
    (block,) = make_page([run]).sections[0].blocks
    ranking = adjudge.rank(run)
    assert [*block.pairs] == [*combinations([row.system for row in ranking.systems], 2)]
    for (first, second), pair in block.pairs.items():
        found = adjudge.compare(run, systems=[first, second]).whole.difference
        assert pair.difference == f"{found.value:.1f}"
        assert pair.interval == interval(found.interval, 1)
        row, column = (next(i for i, r in enumerate(ranking) if r.system == name) for name in (first, second))
        p = ranking.p_values[row][column]
        assert p is not None
        assert pair.p == p_value(p)
        assert pair.is_significant == (p < 0.05)
    assert {pair.is_significant for pair in block.pairs.values()} == {True, False}


def test_each_row_of_a_ranking_has_its_interval_n_and_failures() -> None:
    test_set = many_segments(12)
    records = [
        failure(s, name) if name == "Cedar" and s.segment in {"3", "4"} else judgement(s, name)
        for s in test_set
        for name in SYSTEMS
    ]
    text = render(make_run(test_set, records))
    rows = [
        re.sub(r"<svg.*?</svg>|<[^>]+>", " ", row).split()
        for row in re.findall(r"<tr[^>]*>(.*?)</tr>", text.split("English to German</h2>")[1], re.DOTALL)
    ][1:4]
    assert rows[0] == ["1–3", "Alder", "0.0", "0.0", "to", "0.0", "10", "0"]  # two documents show nothing
    assert rows[2][:3] == ["1–3", "Cedar", "−30.0"]
    assert rows[2][-2:] == ["10", "2"]
    assert text.count('class="bar"') == 3


def test_failures_are_named_with_their_reasons() -> None:
    records = [*judge_all(SMALL)[1:], failure(SMALL.segments[0], "Alder", detail="I cannot do that")]
    words = Page(render(make_run(SMALL, records))).words
    assert "1 judgement failed." in words
    assert "refused the model declined to answer" in words
    assert "I cannot do that" in words


@pytest.mark.parametrize(("model", "said"), [("builtin/rules", True), ("openai/gpt-x", False)])
def test_rules_are_not_passed_off_as_a_language_model(model: str, said: bool) -> None:
    words = Page(render(make_run(SMALL, model=model))).words
    assert ("No language model judged here." in words) == said
    assert model in words


def test_the_secret_of_a_run_stays_out() -> None:
    run = make_run()
    assert run.info.secret
    assert run.info.secret not in render(run)


NASTY = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "<!--<script>",
    "]]>",
    "{{ 7*7 }}{% raw %}",
    "&lt;b&gt;",
    "\u202e\u2066evil\u2069\u200b\U000e0041\ud800\0\u2028",
    "javascript:alert(1)",
]


@pytest.mark.parametrize("nasty", NASTY)
def test_whatever_a_text_says_it_stays_text(nasty: str) -> None:
    first = SMALL.segments[0]
    texts: dict[str, Any] = dict.fromkeys(("segment", "source", "document", "domain"), nasty)
    texts |= {"translations": {nasty.strip(): nasty, "B": "b"}, "references": {nasty: nasty}}
    segment = replace(first, **texts)
    record = judgement(segment, nasty.strip(), nasty, spans=(), flags=(nasty,), rationale=nasty)
    test_set = replace(SMALL, name=nasty, segments=(segment, first))
    run = make_run(test_set, [record, failure(segment, "B", nasty, detail=nasty)], annotator=nasty)
    text = render(run, title=nasty, gold=[replace(record, annotator="gold")])
    text.encode()
    page = Page(text)
    assert [tag for tag, _ in page.elements].count("script") == 2
    assert not [a for _, a in page.elements if any(name.startswith("on") for name in a)]
    data = data_of(text)
    assert data["systems"][0] == nasty.strip()
    assert data["segments"][0]["source"] == nasty
    assert data["segments"][0]["said"][0]["rationale"] == nasty


def test_the_invisible_is_shown_in_names_too() -> None:
    run = make_run(SMALL, annotator="judge\u202eevil")
    words = Page(render(run)).words
    assert "judge[RLO]evil" in words
    assert "\u202e" not in words


def test_each_text_has_its_language_and_direction() -> None:
    lps = data_of(render(make_run()))["lps"]
    assert lps["en-ar"]["target"] == {"lang": "ar", "dir": "rtl", "name": "Arabic"}
    assert lps["zh-en"]["source"] == {"lang": "zh", "dir": "ltr", "name": "Chinese"}


def test_the_same_input_gives_the_same_bytes() -> None:
    runs = [make_run(SMALL), make_run(SMALL, annotator="other")]
    first = report(runs, Path("one.html")).read_bytes()
    assert report(runs, Path("two.html")).read_bytes() == first


def test_runs_of_one_judge_are_told_apart_by_their_models() -> None:
    for models, labels in (
        (("a/x", "b/y"), ["judge, a/x", "judge, b/y"]),
        (("a/x", "a/x"), ["judge, run 1", "judge, run 2"]),
    ):
        page = make_page([make_run(SMALL, model=model) for model in models])
        assert [a.label for a in page.annotators] == labels


def test_gold_is_one_more_annotator_and_what_no_run_judged_is_counted() -> None:
    gold = [replace(r, annotator=f"rater {n}") for n in (1, 2) for r in judge_all(SMALL)]
    foreign = replace(gold[0], system="Elm") if isinstance(gold[0], Annotation) else gold[0]
    with pytest.warns(DataWarning, match="1 gold record of translations that no run judged is not shown"):
        page = make_page([make_run(SMALL)], gold=[*gold, foreign])
    assert [a.label for a in page.annotators] == ["judge", "gold"]
    assert page.gold_left_out == 1
    said = page.data["segments"][0]["said"]
    assert [one.get("who") for one in said if one["by"] == 1] == ["rater 1"] * 3 + ["rater 2"] * 3
    assert "1 gold record of translations that no run judged is not shown." in Page(render_page(page)).words


def test_gold_of_several_protocols_stands_apart() -> None:
    ratings = [rated(n, s.segment, 80.0, annotator="r") for s in SMALL for n in SYSTEMS]
    page = make_page([make_run(SMALL)], gold=[*judge_all(SMALL, "r"), *ratings])
    assert [a.label for a in page.annotators] == ["judge", "gold (mqm)", "gold (da-sqm)"]


def test_preferences_have_a_table_and_a_ranking() -> None:
    words = Page(render(make_run(SMALL, preferences(SMALL), annotator="ranker", protocol="pairwise"))).words
    assert "share of comparisons won on the criterion faithfulness" in words
    assert "A preferred equal B preferred faithfulness Alder Birch 1 1 ·" in words


def test_one_language_pair_can_be_chosen() -> None:
    page = make_page([make_run()], lp="zh-en")
    assert [s.lp for s in page.sections] == ["zh-en"]
    assert {s["lp"] for s in page.data["segments"]} == {"zh-en"}
    with pytest.raises(UsageError, match="has no lp 'fr-de'; it has en-de, zh-en, en-ar"):
        make_page([make_run()], lp="fr-de")


def test_records_that_do_not_belong_to_the_test_set_are_refused() -> None:
    foreign = replace(judgement(SMALL.segments[0], "Alder"), system="Elm")
    with pytest.raises(DataError, match="judged Elm on segment 'en-de-0' of en-de"):
        make_page([make_run(SMALL, [foreign])])
    with pytest.raises(UsageError, match="at least one run"):
        make_page([])


def test_commands_and_names_in_notes_are_set_as_such() -> None:
    assert _code("see `adjudge rank`, <b>") == "see <code>adjudge rank</code>, &lt;b&gt;"
    assert _whole("<b> and gemba-mqm do") == '&lt;b&gt; and <span class="whole">gemba-mqm</span> do'


@pytest.mark.parametrize(
    ("run", "headline"),
    [
        (make_run(SMALL, []), "Nothing was judged"),
        (make_run(replace(SMALL, segments=()), []), "Nothing was judged"),
        (
            make_run(SMALL, [failure(s, n) for s in SMALL for n in SYSTEMS]),
            "Nothing was judged: all 6 judgements failed",
        ),
        (make_run(ONE, [judgement(ONE.segments[0], "Alder")]), "Alder scores 0.00 on 1 segment"),
        (make_run(ONE, judge_all(ONE)), "Too few segments to test: 1, and 6 are needed"),
        (
            make_run(SMALL, [judgement(SMALL.segments[0], "Alder"), judgement(SMALL.segments[1], "Birch")]),
            "The systems were not judged on the same segments and cannot be ranked",
        ),
    ],
    ids=["no record", "no segment", "all failed", "one system", "one segment", "nothing in common"],
)
def test_every_run_has_a_page(run: Run, headline: str) -> None:
    page = Page(render(run))
    assert page.texts["h1"] == [headline]


def test_three_thousand_segments_are_a_file_that_opens() -> None:
    test_set = many_segments(3000)
    text = render(make_run(test_set))
    assert len(text.encode()) < 8_000_000
    assert len(data_of(text)["segments"]) == 3000


def test_the_headline_says_how_many_segments_have_gold() -> None:
    test_set = small_test_set()
    run, (first, second, *_) = make_run(test_set, judge_all(test_set)), test_set.segments
    some = [judgement(first, name, "rater") for name in first.translations]
    lost = failure(second, "Alder", annotator="rater")
    assert make_page([run], gold=[*some, lost]).headline.endswith("; gold has 1 of 6 segments")
    assert make_page([run], gold=some, lp="en-de").headline.endswith("; gold has 1 of 2 segments")
    assert "gold has" not in make_page([run], gold=judge_all(test_set, "rater")).headline
    assert "gold has" not in make_page([run]).headline


def test_gold_in_memory_counts_no_judgement_that_was_repeated(tmp_path: Path) -> None:
    first, *rest = judge_all(SMALL, "rater")
    assert isinstance(first, Annotation)
    filler = replace(judgement(SMALL.segments[0], "Cedar", "rater"), flags=("duplicate",))
    with pytest.warns(DataWarning, match="gold: 1 judgement was repeated"):
        report([make_run(SMALL)], tmp_path / "filled.html", gold=[first, filler, *rest])
    report([make_run(SMALL)], tmp_path / "plain.html", gold=[first, *rest])
    filled, plain = ((tmp_path / f"{name}.html").read_text(encoding="utf-8") for name in ("filled", "plain"))
    assert filled == plain


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
    small = render(make_run(SMALL))
    assert 'class="packed"' not in small
    assert "Kinder fahren kostenlos." in small
    assert 'id="failures"' not in small


def test_half_a_surrogate_pair_is_packed_too() -> None:
    (block,) = packed_blocks([{"source": "\ud800 and < too"}])
    assert json.loads(zlib.decompress(base64.b64decode(block))) == [{"source": "\ud800 and < too"}]


# Colours computed, not trusted: contrast in both themes, and severities in every kind of colour vision.


Vector = NDArray[np.float64]

SHEET = _style()
BLOCKS = {
    theme: dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", block))
    for theme, block in zip(("light", "dark"), re.findall(r":root \{(.*?)\}", SHEET, re.DOTALL), strict=False)
}
ENOUGH = 4.5  # contrast of text, WCAG 2.2
FAR = 20.0  # CIELAB distance; 2.3 is just noticeable

# Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB.
VISION = {
    "usual": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def linear(colour: str) -> Vector:
    values = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    dark, light = sorted(float(linear(c) @ TO_XYZ[1]) for c in (one, other))
    return (light + 0.05) / (dark + 0.05)


def lab(rgb: Vector) -> Vector:
    xyz = TO_XYZ @ np.clip(rgb, 0, 1) / np.array([0.95047, 1.0, 1.08883])
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_the_measures_know_their_ends() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert lab(linear("#ffffff")) == pytest.approx([100, 0, 0], abs=0.1)


def test_both_themes_name_the_same_colours() -> None:
    assert set(BLOCKS["light"]) == set(BLOCKS["dark"])
    assert {"paper", "ink", "soft", "accent", *SEVERITIES} <= set(BLOCKS["light"])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_is_readable(theme: str) -> None:
    colours = BLOCKS[theme]
    grounds = ["paper", "raised", "accent-tint", *(f"{s}-tint" for s in SEVERITIES)]
    pairs = [("ink", ground) for ground in grounds]
    pairs += [(name, ground) for name in ("soft", "accent") for ground in ("paper", "raised")]
    pairs += [(s, ground) for s in SEVERITIES for ground in ("paper", "raised", f"{s}-tint")]
    pairs += [("soft", "accent-tint")]
    poor = {pair: round(contrast(*(colours[name] for name in pair)), 2) for pair in pairs}
    assert not {pair: ratio for pair, ratio in poor.items() if ratio < ENOUGH}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("vision", VISION)
def test_severities_differ_in_every_colour_vision(theme: str, vision: str) -> None:
    seen = {s: lab(VISION[vision] @ linear(BLOCKS[theme][s])) for s in SEVERITIES}
    close = {
        (a, b): round(float(np.linalg.norm(seen[a] - seen[b])), 1)
        for a, b in combinations(SEVERITIES, 2)
        if np.linalg.norm(seen[a] - seen[b]) < FAR
    }
    assert not close


def test_a_severity_has_a_line_of_its_own() -> None:
    """So that nothing depends on colour."""
    strokes = dict(re.findall(r"\.(\w+) \{[^}]*--stroke: ([^;]+);", SHEET))
    lines = ("solid 1px", "dotted 2px", "solid 2px", "double 1.5px")
    assert strokes == dict(zip(("neutral", "minor", "major", "critical"), lines, strict=True))
    assert re.search(r"\.span,\s*\.severity \{[^}]*underline var\(--stroke\) var\(--severity\)", SHEET)


def test_the_stylesheet_fetches_nothing() -> None:
    assert not re.search(r"url\(|@import|@font-face|https?:", SHEET)
