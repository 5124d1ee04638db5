import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from pypdf import PdfReader

from adjudge.core.record import Annotation, ErrorSpan, Record
from adjudge.core.scores import Run
from adjudge.core.segment import Segment
from adjudge.reports.html import render_page
from adjudge.reports.page import Page as ReportPage
from adjudge.reports.page import make_page
from tests.browser.conftest import OpenPage
from tests.browser.payloads import PAYLOADS
from tests.browser.served import faults
from tests.reports.samples import (
    failure,
    judge_all,
    judgement,
    make_run,
    many_segments,
    mark,
    preferences,
    small_test_set,
)

pytestmark = pytest.mark.browser

TEST_SET = small_test_set()


def render(runs: Run | Sequence[Run], gold: Sequence[Record] = ()) -> str:
    """A page without figures, which take seconds to draw."""
    return render_page(undrawn(make_page([runs] if isinstance(runs, Run) else runs, gold=gold)))


def undrawn(page: ReportPage) -> ReportPage:
    sections = (
        replace(s, blocks=tuple(replace(b, figures=()) for b in s.blocks), parts=()) for s in page.sections
    )
    return replace(page, sections=tuple(sections))


@pytest.fixture(scope="module")
def page_of_several() -> ReportPage:
    """Two annotators and gold, with a failure, ratings and preferences."""
    other = judge_all(TEST_SET, "other")
    other[2] = failure(TEST_SET.segments[0], "Cedar", "other")
    other[4] = (
        replace(other[4], spans=(), rationale="Fine.") if isinstance(other[4], Annotation) else other[4]
    )
    gold = [*judge_all(TEST_SET, "rater"), *preferences(TEST_SET, "rater")]
    return make_page([make_run(), make_run(records=other, annotator="other")], gold=gold)


@pytest.fixture(scope="module")
def several(page_of_several: ReportPage) -> str:
    return render_page(undrawn(page_of_several))


@pytest.fixture(scope="module")
def several_drawn(page_of_several: ReportPage) -> str:
    return render_page(page_of_several)


@pytest.fixture(scope="module")
def single() -> str:
    return render(make_run())


@pytest.fixture(scope="module")
def single_drawn() -> str:
    return render_page(make_page([make_run()]))


def texts(page: Page, selector: str) -> list[str]:
    return [" ".join(text.split()) for text in page.locator(selector).all_text_contents()]


def segments(page: Page) -> list[str]:
    return page.locator("#list > li > header > span:first-child").all_text_contents()


def computed(page: Page, selector: str, name: str) -> str:
    value: str = page.locator(selector).first.evaluate("(e, name) => getComputedStyle(e)[name]", name)
    return value


# What it must not do...


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize(
    "width", [320, *(pytest.param(n, marks=pytest.mark.exhaustive) for n in (768, 1440))]
)
def test_it_asks_nothing_says_nothing_and_fits(
    several_drawn: str, open_page: OpenPage, width: int, scheme: str
) -> None:
    watched = open_page(several_drawn, width=width, color_scheme=scheme, offline=True)
    expect(watched.page.locator("#list > li")).to_have_count(6)
    assert watched.page.evaluate("document.documentElement.scrollWidth") <= width
    assert not watched.misdeeds


# First screen...


def many_systems(amount: int) -> Run:
    """Names in several scripts, one of them long, in three language pairs."""
    names = [
        "Nachtschifffahrtsgesellschaft-v2",
        "夜间渡轮系统",
        "عبّارة الليل",
        *(f"NLLB_{n}" for n in range(amount - 3)),
    ]
    texts = small_test_set()
    texts = replace(
        texts, segments=tuple(replace(s, translations=dict.fromkeys(names, s.source)) for s in texts)
    )
    return make_run(texts, [judgement(s, name) for s in texts for name in names])


@pytest.mark.parametrize("size", [(390, 844), (1280, 720), (1920, 1080)], ids=str)
@pytest.mark.parametrize("systems", [4, 30])
def test_the_verdict_and_the_first_ranking_are_the_first_screen(
    open_page: OpenPage, systems: int, size: tuple[int, int]
) -> None:
    run = many_systems(systems)
    page = open_page(render(run, judge_all(run.test_set, "rater")), width=size[0]).page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    chart = page.locator(".chart table").first
    expect(chart.locator("tbody tr")).to_have_count(min(systems, 12))
    box = chart.bounding_box()
    assert box is not None
    assert 0 < box["y"] < box["y"] + box["height"] <= size[1]
    lines = page.locator("h1").evaluate("e => e.offsetHeight / parseFloat(getComputedStyle(e).lineHeight)")
    assert round(lines) <= (2 if size[0] >= 1280 else 5)
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


def test_the_index_stays_in_view_and_covers_nothing_that_it_leads_to(
    several: str, open_page: OpenPage
) -> None:
    page = open_page(several, width=390).page
    index = page.get_by_label("Contents")
    for name in ("Chinese to English", "Segments", "Failures", "What the numbers mean"):
        link = index.get_by_role("link", name=name, exact=True)
        link.focus()
        page.keyboard.press("Enter")
        page.wait_for_function("scrollY > 500")
        assert index.evaluate("e => e.getBoundingClientRect().top") == 0
        bottom = index.evaluate("e => e.getBoundingClientRect().bottom")
        heading = page.get_by_role("heading", name=name, exact=True).bounding_box()
        assert heading is not None
        assert bottom <= heading["y"] < 900
        page.evaluate("scrollTo(0, 0)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390])
def test_the_index_fades_at_a_side_where_it_goes_on_and_only_there(
    several: str, open_page: OpenPage, width: int, scheme: str
) -> None:
    page = open_page(several, width=width, color_scheme=scheme).page
    index = page.get_by_label("Contents")
    links = index.get_by_role("link")
    for link in (links.first, links.last):  # as the key Tab reaches them
        link.focus()
        box = link.bounding_box()
        assert box is not None
        assert box["x"] >= 16
        assert box["x"] + box["width"] <= width - 48
    for side, width_of_fade in (("::before", "16px"), ("::after", "48px")):
        fade = "(e, side) => (({position, width}) => [position, width])(getComputedStyle(e, side))"
        assert index.evaluate(fade, side) == ["sticky", width_of_fade]
    page.emulate_media(media="print")
    expect(index).to_be_hidden()


def test_the_first_language_pair_is_open_and_a_link_or_paper_opens_the_others(
    several: str, open_page: OpenPage
) -> None:
    page = open_page(several).page
    open_ones = "all => all.map((one) => one.open)"
    assert page.locator(".pair").evaluate_all(open_ones) == [True, False, False]
    ranking = page.locator("#en-ar .ranking").first
    page.emulate_media(media="print")
    expect(ranking).to_be_visible()
    page.emulate_media(media="screen")
    expect(ranking).to_be_hidden()
    page.get_by_label("Contents").get_by_role("link", name="English to Arabic").click()
    expect(ranking).to_be_visible()
    assert page.locator(".pair").evaluate_all(open_ones) == [True, False, True]


def test_on_paper_every_row_of_every_table_is_whole(
    several_drawn: str, open_page: OpenPage, tmp_path: Path
) -> None:
    page = open_page(several_drawn).page
    page.pdf(path=tmp_path / "page.pdf", format="A4")
    sheets = PdfReader(tmp_path / "page.pdf").pages
    paper = "\n".join(sheet.extract_text(extraction_mode="layout") for sheet in sheets)
    paper = unicodedata.normalize("NFKC", paper)  # letters that the font joins
    lines = Counter("".join(line.replace("✕", "").split()) for line in paper.splitlines())
    found_rows = page.locator(".ranking tbody tr, .pair .tables tbody tr").all_text_contents()
    rows = Counter("".join(row.split()) for row in found_rows)
    assert len(rows) > 10
    assert dict(rows - lines) == {}


def test_a_table_of_thirteen_systems_shows_them_all(open_page: OpenPage) -> None:
    names = [f"NLLB_MBR_BLEU_{n}" for n in range(13)]
    texts = small_test_set(["en-de"])
    texts = replace(
        texts, segments=tuple(replace(s, translations=dict.fromkeys(names, s.source)) for s in texts)
    )
    records = [judgement(s, name, spans=(mark(s.source, s.source),)) for s in texts for name in names]
    page = make_page([make_run(texts, records)])
    table = open_page(render_page(undrawn(page)), width=1440).page.get_by_label("Errors by category")
    assert table.first.evaluate("(e) => e.scrollWidth <= e.clientWidth")


# Tables...


@pytest.fixture(scope="module")
def varied() -> str:
    """Systems that differ by several errors, segment by segment, and one failure; gold agrees."""
    texts = many_segments(12)
    marks = {"Alder": 0, "Birch": 1, "Cedar": 3}
    records: list[Record] = []
    for place, s in enumerate(texts):
        for name, amount in marks.items():
            words = s.translations[name].split()[: amount * (place + 1) // 4]
            records.append(
                judgement(s, name, spans=tuple(mark(s.translations[name], word) for word in words))
            )
    lost = failure(texts.segments[3], "Birch", "other")
    other = [
        lost if (r.segment, r.systems) == ("3", ("Birch",)) else replace(r, annotator="other")
        for r in records
    ]
    return render([make_run(texts, records), make_run(texts, other, annotator="other")])


def test_a_heading_sorts_its_table_and_the_third_click_undoes_it(varied: str, open_page: OpenPage) -> None:
    page = open_page(varied).page
    table = page.locator(".ranking").first
    names = table.locator("tbody th")
    heading = table.locator("thead th", has_text="System")
    first = names.all_text_contents()
    orders = []
    for key in ("Enter", "Space", "Enter"):
        heading.get_by_role("button").press(key)
        orders.append((heading.get_attribute("aria-sort"), names.all_text_contents()))
    assert orders == [("ascending", sorted(first)), ("descending", sorted(first)[::-1]), (None, first)]
    score = table.locator("thead th", has_text="Score")
    score.get_by_role("button").click()
    score.get_by_role("button").click()
    assert (score.get_attribute("aria-sort"), names.all_text_contents()) == ("ascending", first[::-1])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_with_everything_open(several_drawn: str, open_page: OpenPage, scheme: str) -> None:
    page = open_page(several_drawn, color_scheme=scheme).page
    page.evaluate("for (const e of document.querySelectorAll('details')) e.open = true")
    assert faults(page) == []


def holed() -> str:
    """Twelve segments, one of which a system did not translate, and a failure."""
    texts = many_segments(12)
    *others, last = texts.segments
    last = replace(last, translations=dict.fromkeys(("Alder", "Birch"), last.source))
    texts = replace(texts, segments=(*others, last))
    records: list[Record] = [judgement(s, name) for s in texts for name in s.translations]
    records[0] = failure(texts.segments[0], "Alder")
    records.append(replace(failure(last, "Cedar"), reason="no_translation"))
    return render(make_run(texts, records))


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_every_number_of_a_ranking_stands_under_its_heading(open_page: OpenPage, width: int) -> None:
    table = open_page(holed(), width=width).page.locator(".ranking").first
    headings = table.locator("thead th")
    names = headings.all_text_contents()
    assert names[-1] == "not translated"
    edges = "e => { const {left, right, top} = e.getBoundingClientRect(); return [left, right, top]; }"
    rights = {}
    for place in range(len(names)):
        if headings.nth(place).is_visible():
            left, right, _ = headings.nth(place).evaluate(edges)
            for cell in table.locator(f"tbody tr > :nth-child({place + 1})").all():
                start, end, _ = cell.evaluate(edges)
                assert min(right, end) - max(left, start) > 0, names[place]
            rights[names[place]] = right
    assert [*rights] == sorted(rights, key=lambda name: rights[name])
    tops = table.locator("tbody tr:first-child > td:nth-child(n+6)").evaluate_all(f"all => all.map({edges})")
    assert len({top for _, _, top in tops}) == 1
    assert table.evaluate("e => e.scrollWidth <= e.clientWidth")


def test_without_scripts_headings_are_words(varied: str, open_page: OpenPage) -> None:
    page = open_page(varied, java_script_enabled=False).page
    assert page.locator(".ranking thead button").count() == 0
    assert texts(page, ".ranking >> nth=0 >> thead th")[:3] == ["Rank", "System", "Score"]


def test_every_number_of_a_table_leads_to_its_segments(varied: str, open_page: OpenPage) -> None:
    page = open_page(varied).page
    links = page.locator(":is(.ranking, .counts) td a").evaluate_all(
        "all => all.map((a) => a.getAttribute('href'))"
    )
    assert len(links) > 20
    amounts = {}
    for link in links:
        page.evaluate("link => { location.hash = ''; location.hash = link; }", link)
        page.wait_for_function(
            "link => location.hash === link && !document.querySelector('#list').hasAttribute('aria-busy')",
            arg=link,
        )
        expect(page.locator("#segments .notice[role=alert]")).to_be_hidden()
        amounts[link] = page.locator("#list > li").count()
    assert min(amounts.values()) > 0
    (lost,) = (link for link in amounts if "failures=on" in link)
    assert amounts[lost] == 1
    assert amounts[next(link for link in amounts if "severity=major" in link and "Cedar" in link)] == 11


def test_two_systems_stand_side_by_side_where_they_differ_most(varied: str, open_page: OpenPage) -> None:
    page = open_page(varied).page
    page.locator("summary", has_text="Every two systems").first.click()
    page.locator(".matrix").first.get_by_role("link").nth(1).click()
    expect(page.locator("#segments")).to_be_in_viewport()
    expect(page.locator("#shown")).to_have_text("Showing 12 of 12 segments.")
    assert segments(page)[:2] == ["11", "10"]
    first = page.locator("#list > li").first
    assert first.locator(".translation .system").all_text_contents() == ["Alder", "Cedar"]


@pytest.fixture(scope="module")
def hostile() -> str:
    """A page with a payload in every field that a person or a model can fill."""
    made: list[Segment] = []
    records: list[Record] = []
    for index, payload in enumerate(PAYLOADS):
        segment = Segment(
            segment=f"{index} {payload}",
            lp="en-de",
            source=payload,
            translations={"Alder": payload, "Birch": payload},
            references={payload: payload},
            document=payload,
            domain=payload,
        )
        span = mark(payload, payload, "major")
        records += [
            judgement(
                segment,
                "Alder",
                PAYLOADS[0],
                spans=(
                    replace(span, note=payload),
                    ErrorSpan(severity="minor", match="unmatched", text=payload),
                ),
                flags=(payload,),
                rationale=payload,
            ),
            failure(segment, "Birch", PAYLOADS[0], detail=payload),
        ]
        made.append(segment)
    bad = replace(made[0], translations={**made[0].translations, **dict.fromkeys(PAYLOADS[:22], "x")})
    test_set = replace(TEST_SET, name=PAYLOADS[1], segments=(bad, *made[1:]))
    run = make_run(test_set, records, annotator=PAYLOADS[0], model=PAYLOADS[2])
    return render_page(make_page([run], title=PAYLOADS[3]), commands=PAYLOADS)


@pytest.mark.parametrize("protected", [True, False], ids=["with policy", "without policy"])
def test_no_text_runs_even_without_the_policy(hostile: str, open_page: OpenPage, protected: bool) -> None:
    assert len(PAYLOADS) >= 150
    html = hostile if protected else hostile.replace('http-equiv="Content-Security-Policy"', "", 1)
    assert protected == ('http-equiv="Content-Security-Policy"' in html)
    watched = open_page(html)
    page = watched.page
    while page.locator("#more").is_visible():
        page.locator("#more").click()
    expect(page.locator("#list > li")).to_have_count(len(PAYLOADS))
    page.evaluate("for (const e of document.querySelectorAll('details')) e.open = true")
    page.locator("mark").first.hover()
    page.select_option("select[name=sort]", index=1)
    page.fill("input[name=search]", PAYLOADS[0])
    page.evaluate("new Promise((done) => setTimeout(done, 100))")
    assert page.evaluate("window.pwned") is None
    assert page.locator("iframe, img, object, embed, base, form:not(#filters)").count() == 0
    assert not watched.misdeeds


# Texts and marks...


def test_every_text_is_shown_as_it_is(open_page: OpenPage) -> None:
    odd = "a\u200bb 👩\u200d🚀\r\n\u202eabc\u202c é \U000e0041 x\u2028y <b>&amp;"
    first, second = small_test_set(["en-de"]).segments
    segment = replace(first, source=odd[::-1], translations={"Alder": odd, "Birch": "nichts"})
    spans = (
        mark(odd, "b 👩\u200d🚀", "minor"),
        mark(odd, "👩\u200d🚀\r\n\u202eabc", "major"),
        mark(odd, "é", "neutral"),
    )
    test_set = replace(TEST_SET, segments=(segment, second))
    run = make_run(
        test_set, [judgement(segment, "Alder", spans=spans), judgement(segment, "Birch", spans=())]
    )
    page = open_page(render(run)).page
    assert page.locator("#list .source .text").first.text_content() == odd[::-1]
    assert page.locator("#list .translation .text").first.text_content() == odd
    names = (
        page.locator(".translation")
        .first.locator("p .invisible")
        .evaluate_all("all => all.map((e) => e.dataset.name)")
    )
    assert names == ["ZWSP", "CR", "RLO", "PDF", "U+E0041", "LS"]


def test_texts_have_language_and_direction(single: str, open_page: OpenPage) -> None:
    page = open_page(single).page
    page.select_option("select[name=lp]", "en-ar")
    text = page.locator(".translation .text").first
    assert (text.get_attribute("lang"), text.get_attribute("dir")) == ("ar", "rtl")
    assert computed(page, ".translation .text", "direction") == "rtl"
    assert computed(page, ".source .text", "direction") == "ltr"
    assert page.locator(".translation q").first.get_attribute("dir") == "rtl"


def test_overlapping_marks_keep_a_line_each(single: str, open_page: OpenPage) -> None:
    page = open_page(single).page
    cedar = page.locator("#list > li").first.locator(".translation").nth(2)
    expect(cedar.locator("mark mark")).to_have_count(1)
    offsets = cedar.locator("mark:has(mark), mark mark").evaluate_all(
        "all => all.map(getComputedStyle).map((s) => [s.textUnderlineOffset, s.textDecorationStyle])"
    )
    assert len({offset for offset, _ in offsets}) == 2
    assert [style for _, style in offsets] == ["double", "solid"]


def test_a_mark_lights_up_with_its_error_on_hover_and_focus(single: str, open_page: OpenPage) -> None:
    page = open_page(single).page
    birch = page.locator("#list > li").first.locator(".translation").nth(1)
    label, error = birch.locator(".tag"), birch.locator(".errors li")
    hidden = "e => getComputedStyle(e, '::after').display === 'none'"
    assert label.evaluate(hidden)
    birch.locator("mark").hover()
    assert "on" in str(error.get_attribute("class"))
    assert not label.evaluate(hidden)
    assert label.get_attribute("data-label") == "awkward"
    page.mouse.move(0, 0)
    assert label.evaluate(hidden)
    birch.locator("mark").focus()
    assert not label.evaluate(hidden)
    assert error.get_attribute("id") == birch.locator("mark").get_attribute("aria-describedby")


def test_errors_of_the_source_are_marked_in_the_source(open_page: OpenPage) -> None:
    first = small_test_set(["en-de"]).segments[0]
    omitted = replace(mark(first.source, "night", "major", "accuracy/omission"), side="source")
    graver = replace(omitted, severity="critical")
    run = make_run(
        replace(TEST_SET, segments=(first,)),
        [judgement(first, "Alder", spans=(omitted,)), judgement(first, "Birch", spans=(graver,))],
    )
    page = open_page(render(run)).page
    expect(page.locator(".source mark")).to_have_text("night")
    assert "critical" in str(page.locator(".source mark").get_attribute("class"))
    assert page.locator(".source .tag").get_attribute("data-label") == "omission: Alder, Birch"
    expect(page.locator(".translation mark")).to_have_count(0)
    assert texts(page, ".errors li")[0] == "major accuracy/omission night (in the source): night is wrong"


def test_an_error_without_a_place_is_listed(open_page: OpenPage) -> None:
    first = small_test_set(["en-de"]).segments[0]
    spans = (
        ErrorSpan(severity="minor", match="unplaced", category="accuracy/omission"),
        ErrorSpan(severity="major", match="unmatched", text="nirgends"),
    )
    run = make_run(replace(TEST_SET, segments=(first,)), [judgement(first, "Alder", spans=spans)])
    page = open_page(render(run)).page
    expect(page.locator("mark")).to_have_count(0)
    assert texts(page, ".errors li") == [
        "minor accuracy/omission (no place given)",
        "major nirgends (found nowhere in the text)",
    ]


# Annotators...


def test_each_annotator_has_its_own_copy_of_a_text(several: str, open_page: OpenPage) -> None:
    page = open_page(several).page
    cedar = page.locator("#list > li").first.locator(".translation").nth(2)
    titles = [" ".join(title.split()) for title in cedar.locator(".judgement > header").all_text_contents()]
    assert titles == ["judge−30", "other", "gold (mqm)−30"]
    expect(cedar.locator(".failed")).to_have_text("failed: refused")
    page.locator("#list > li").first.locator("summary", has_text="preference").click()
    assert "gold (pairwise), faithfulness: Alder and Birch equally good" in texts(page, ".errors li")


def test_a_score_has_no_digits_that_say_nothing(open_page: OpenPage) -> None:
    ratings = {"Alder": 5.5, "Birch": 5.0, "Cedar": -2.5}
    records = [
        judgement(s, name, "m", protocol="metric", spans=(), rating=rating)
        for s in TEST_SET
        for name, rating in ratings.items()
    ]
    page = open_page(render(make_run(records=records, annotator="m", protocol="metric"))).page
    assert texts(page, "#list > li:first-child .score") == ["5.5", "5", "−2.5"]


def test_a_score_without_marks_stands_beside_the_name(open_page: OpenPage) -> None:
    ratings = [
        Annotation(
            lp=s.lp,
            segment=s.segment,
            system=name,
            annotator="chrf",
            protocol="metric",
            rating=61.25,
            rationale="short",
        )
        for s in TEST_SET
        for name in s.translations
    ]
    chrf = make_run(records=ratings, annotator="chrf", protocol="metric")
    page = open_page(render([make_run(), chrf])).page
    first = page.locator("#list > li").first.locator(".translation").first
    expect(first.locator(".judgement")).to_have_count(1)
    expect(first.locator("header")).to_have_text("Alder judge0chrf 61.25")
    first.locator("summary").click()
    expect(first.locator(".rationale p")).to_have_text("short")


# Filters...


def choose(page: Page, **wanted: str) -> list[str]:
    """Set filters by what a reader reads, and tell which segments are left."""
    page.locator("button[type=reset]").click()
    expect(page.locator("#shown")).to_have_text("Showing 6 of 6 segments.")
    for name, value in wanted.items():
        field = page.locator(f"[name={name}]")
        if name == "search":
            field.fill(value)
        elif value == "on":
            field.check()
        else:
            field.select_option(label=value)
    expect(page.locator("#list:not([aria-busy])")).to_have_count(1)
    return segments(page)


def test_filters_do_what_they_say(several: str, open_page: OpenPage) -> None:
    page = open_page(several).page
    everything = [s.segment for s in TEST_SET]
    assert choose(page) == everything
    assert choose(page, lp="Chinese to English") == ["zh-en-0", "zh-en-1"]
    assert choose(page, domain="travel") == ["en-de-1", "zh-en-1", "en-ar-1"]
    assert choose(page, search="KORSUND") == ["en-de-0"]
    assert choose(page, search="夜间渡轮") == ["zh-en-0"]
    assert choose(page, search="no such words") == []
    expect(page.locator("#shown")).to_contain_text("No segment matches, of ")
    assert choose(page, failures="on") == ["en-de-0"]
    assert choose(page, disagreement="on") == ["en-de-1"]  # other found Birch clean there
    assert choose(page, severity="critical") == everything
    assert choose(page, severity="critical", system="Birch") == []
    assert choose(page, category="fluency") == everything
    assert choose(page, category="style/awkward", system="Alder") == []
    assert choose(page, severity="minor", category="fluency/grammar") == []


def test_a_chosen_system_is_shown_alone(several: str, open_page: OpenPage) -> None:
    page = open_page(several).page
    choose(page, system="Birch", lp="English to German")
    assert texts(page, ".translation .system") == ["Birch", "Birch"]


def test_orders_do_what_they_say(open_page: OpenPage) -> None:
    test_set = many_segments(6)
    worse = {"4": ("Alder",), "2": ("Alder", "Birch")}
    records: list[Record] = []
    for s in test_set:
        for name in s.translations:
            text = s.translations[name]
            spans = (mark(text, text, "major"),) if name in worse.get(s.segment, ()) else ()
            records.append(judgement(s, name, spans=spans))
    records[0] = failure(test_set.segments[0], "Alder")
    records[1:3] = [failure(test_set.segments[0], name) for name in ("Birch", "Cedar")]
    page = open_page(render(make_run(test_set, records))).page
    assert choose(page, sort="lowest score first, judge") == ["2", "4", "1", "3", "5", "0"]  # 0 has no score
    assert choose(page, sort="highest score first, judge") == ["1", "3", "5", "4", "2", "0"]


def test_only_useful_filters_are_offered(open_page: OpenPage) -> None:
    page = open_page(render(make_run(small_test_set(["en-de"])))).page
    names = page.locator("#filters [name]").evaluate_all("all => all.map((e) => e.name)")
    assert names == ["search", "system", "against", "severity", "category", "domain", "sort"]


# Hands and eyes...


def test_everything_can_be_reached_by_keyboard(single_drawn: str, open_page: OpenPage) -> None:
    page = open_page(single_drawn).page
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    assert page.locator(".skip").evaluate("e => e.getBoundingClientRect().left") >= 0
    reached = []
    for _ in range(90):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.name || document.activeElement.tagName"))
    for name in ("A", "search", "lp", "system", "severity", "category", "sort", "BUTTON", "MARK", "SUMMARY"):
        assert name in reached
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


@pytest.mark.parametrize(
    ("lp", "forward", "back"), [("en-de", "ArrowRight", "ArrowLeft"), ("en-ar", "ArrowLeft", "ArrowRight")]
)
def test_arrow_keys_go_from_mark_to_mark(
    single: str, open_page: OpenPage, lp: str, forward: str, back: str
) -> None:
    page = open_page(single).page
    page.select_option("select[name=lp]", lp)
    marks = page.locator("#list > li").first.locator(".translation").nth(2).locator("mark[tabindex]")
    expect(marks).to_have_count(2)
    marks.first.focus()
    page.keyboard.press(forward)
    expect(marks.nth(1)).to_be_focused()
    page.keyboard.press(forward)
    expect(marks.nth(1)).to_be_focused()
    page.keyboard.press(back)
    expect(marks.first).to_be_focused()
    assert marks.evaluate_all("all => all.map((e) => e.tabIndex)") == [0, -1]


def test_light_and_dark_follow_the_reader(single: str, open_page: OpenPage) -> None:
    grounds = {
        scheme: computed(open_page(single, color_scheme=scheme).page, "html", "backgroundColor")
        for scheme in ("light", "dark")
    }
    assert grounds == {"light": "rgb(252, 251, 249)", "dark": "rgb(22, 24, 27)"}


def test_figures_follow_the_theme(single_drawn: str, open_page: OpenPage) -> None:
    inks = {
        scheme: computed(
            open_page(single_drawn, color_scheme=scheme).page, "figure [fill='var(--ink)']", "fill"
        )
        for scheme in ("light", "dark")
    }
    assert inks == {"light": "rgb(28, 29, 32)", "dark": "rgb(232, 230, 225)"}


def test_print_shows_categories_and_no_controls(single_drawn: str, open_page: OpenPage) -> None:
    page = open_page(single_drawn, color_scheme="dark").page
    page.emulate_media(media="print")
    expect(page.locator("#filters")).to_be_hidden()
    assert computed(page, "html", "backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator(".tag").first.evaluate("e => getComputedStyle(e, '::after').display") == "inline"
    assert page.pdf()[:5] == b"%PDF-"


def test_without_scripts_the_numbers_are_there(single_drawn: str, open_page: OpenPage) -> None:
    page = open_page(single_drawn, java_script_enabled=False).page
    expect(page.locator(".ranking").first).to_be_visible()
    expect(page.get_by_text("scripts are switched off")).to_be_visible()
    expect(page.locator("#filters")).to_be_hidden()


def test_a_packed_page_shows_and_finds_its_segments(open_page: OpenPage) -> None:
    """So large that its segments are compressed within it; nothing is asked of anybody for them."""
    texts = many_segments(1200)
    long = tuple(replace(s, source=s.source * 25) for s in texts.segments)
    watched = open_page(render(make_run(replace(texts, segments=long))), offline=True)
    page = watched.page
    expect(page.locator("#list > li")).to_have_count(20)
    page.locator("input[name=search]").fill("1199.")
    expect(page.locator("#shown")).to_have_text("Showing 1 of 1 segments that match, of 1,200.")
    assert page.locator("script.packed").count() == 0
    assert not watched.misdeeds


def test_three_thousand_segments_are_shown_some_at_a_time_and_searched_at_once(open_page: OpenPage) -> None:
    html = render(make_run(many_segments(3000)))
    watched = open_page(html)
    page = watched.page
    expect(page.locator("#list > li")).to_have_count(20)
    page.locator("#more").click()
    expect(page.locator("#list > li")).to_have_count(70)
    expect(page.locator("#shown")).to_have_text("Showing 70 of 3,000 segments.")
    assert page.evaluate("document.activeElement === document.querySelectorAll('#list > li')[20]")
    page.evaluate(
        """() => {
          document.forms[0].search.value = "2999.";
          document.forms[0].search.dispatchEvent(new Event("input", {bubbles: true}));
        }"""
    )
    expect(page.locator("#shown")).to_have_text("Showing 1 of 1 segments that match, of 3,000.")
    assert not watched.misdeeds
