"""The parts of a page: what each says of planted judgements, and when it has nothing to say."""

import pickle
from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from adjudge.core.record import Annotation, Record
from adjudge.core.scores import Run
from adjudge.core.segment import Segment
from adjudge.formats.read import Judgements
from adjudge.reports.html import render_page
from adjudge.reports.page import Page, make_page
from adjudge.reports.part_figures import Part
from adjudge.reports.parts import cost_of
from tests.analysis.records import preferred as preference
from tests.analysis.records import rated as annotation
from tests.reports.samples import failure, judgement, make_run, many_segments, mark, small_test_set
from tests.reports.test_html import Page as Markup

SIZE = 60
TEXTS = replace(
    many_segments(SIZE),
    segments=tuple(replace(s, source="word " * (1 + i)) for i, s in enumerate(many_segments(SIZE).segments)),
)


def quality(index: int, place: int) -> float:
    """A planted quality: worse with every system, and in the domain speech."""
    return -3.0 * place - 8.0 * (index % 3 == 2) - (index * 7 % 5)


def rated(name: str, rating: Callable[[int, int], float]) -> list[Record]:
    return [
        annotation(
            system, s.segment, rating(index, place), annotator=name, protocol="metric", document=s.document
        )
        for index, s in enumerate(TEXTS)
        for place, system in enumerate(s.translations)
    ]


def noise(index: int, place: int) -> float:
    return float((index * 37 + place * 11) % 23)


def run(name: str, records: Iterable[Record], **info: object) -> Run:
    made = make_run(TEXTS, records, annotator=name, protocol="metric")
    return replace(made, info=replace(made.info, **info))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def page() -> Page:
    """A good judge that costs much, one nearly as good for less, noise that costs nothing, and gold."""
    paid = {"kind": "judge", "counts": {"judged": 180, "failed": 0}, "currency": "USD"}
    agreeing = rated("good", lambda i, p: quality(i, p) + noise(i + 1, p) / 9)
    good = run("good", agreeing, calls={"asked": 180}, price=9.0, **paid)
    near = rated("near", lambda i, p: quality(i, p) + noise(i, p) / 9)
    cheap = run("cheap", near, calls={"asked": 180}, price=0.9, tokens={"prompt": 18000}, **paid)
    secret = run("secret", rated("secret", noise), calls={"asked": 180}, **paid)
    return make_page([good, cheap, secret, run("noise", rated("noise", noise))], gold=rated("x", quality))


def part(page: Page, name: str) -> Part:
    return next(p for p in page.sections[0].parts if p.name == name)


def test_agreement_names_who_agrees_with_gold_and_who_does_not(page: Page) -> None:
    found = part(page, "agreement")
    assert found.finding.startswith("good and cheap agree most with gold, at r 0.99; ")
    (table,) = found.tables
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["good and gold"][0] == rows["cheap and gold"][0] == "0.99"
    assert rows["secret and noise"][3] == "180"
    assert abs(float(rows["noise and gold"][0].replace("−", "-"))) < 0.3
    assert len(rows) == 10


def test_calibration_draws_gold_over_every_other_annotator(page: Page) -> None:
    found = part(page, "calibration")
    assert "What good and cheap score lowest is worse by gold" in found.finding
    assert "of secret and noise that is not shown" in found.finding
    assert [f.name for f in found.figures] == [
        f"calibration.en-de.{name}" for name in ("good", "cheap", "secret", "noise")
    ]


def test_cost_says_what_is_as_good_for_less_and_what_is_unknown(page: Page) -> None:
    found = part(page, "cost")
    assert "cheap agrees with gold about as far as good, at 5.00 instead of 50.00 USD" in found.finding
    assert found.notes[0] == "The cost of secret is unknown."
    rows = {row[0]: row for row in found.tables[0].rows}
    assert rows["cheap"][1:6] == ["180", "180", "100", "0.90", "5.00"]
    assert rows["secret"][3:6] == ["–", "unknown", "unknown"]
    assert rows["noise"][4] == "0.00"


def test_strata_name_the_domain_that_is_told_apart(page: Page) -> None:
    found = part(page, "strata")
    assert found.finding.startswith("By gold, speech scores lowest and ")
    means, systems = found.tables
    assert [row[:3] for row in means.rows][:6] == [
        ["domain", "news", "20"],
        ["domain", "travel", "20"],
        ["domain", "speech", "20"],
        ["length", "under 21 tokens", "20"],
        ["length", "21 to 40 tokens", "20"],
        ["length", "41 tokens and more", "20"],
    ]
    assert means.headings[3:] == ["good", "cheap", "secret", "noise", "gold"]
    assert [row[0] for row in systems.rows] == list(TEXTS.systems)
    assert sum(row[0] == "document" for row in means.rows) == 6
    assert means.notes == ["All 6 documents of several segments, the lowest by gold first."]


def test_every_part_stands_on_the_page_with_its_figures(page: Page) -> None:
    markup = Markup(render_page(page))
    ids = {attributes.get("id") for _, attributes in markup.elements}
    assert {f"en-de-{name}" for name in ("agreement", "calibration", "cost", "strata")} <= ids
    assert "Mean score of each system by gold" in markup.words
    assert {f.name.partition(".")[0] for f in page.figures} == {
        *("ranking", "scores"),
        *("agreement", "calibration", "cost", "strata"),
    }


def test_figures_of_a_page_can_be_drawn_by_another_process(page: Page) -> None:
    sent = pickle.loads(pickle.dumps(page.figures))  # noqa: S301 (our own)
    assert [f.title for f in sent] == [f.title for f in page.figures]


def test_costs_are_in_tokens_where_no_price_is_known() -> None:
    asked = {"kind": "judge", "counts": {"judged": 180}, "calls": {"asked": 180}}
    runs = [
        run("long", rated("long", quality), tokens={"prompt": 180_000}, **asked),
        run("short", rated("short", quality), tokens={"prompt": 18_000}, **asked),
    ]
    found = part(make_page(runs, gold=rated("x", quality)), "cost")
    assert "short agrees with gold about as far as long, at 100 instead of 1000 tokens" in found.finding
    assert found.notes[0] == "The cost of long and short is unknown."


def test_a_metric_costs_nothing_and_an_unpriced_judge_is_unknown() -> None:
    assert cost_of(run("m", rated("m", noise)).info).price == 0.0
    assert cost_of(run("j", rated("j", noise), kind="judge", calls={"asked": 3}).info).price is None


def test_people_of_one_campaign_are_compared_with_each_other_and_measure_judges() -> None:
    records = [*rated("anna", quality), *rated("ben", lambda i, p: quality(i, p) - noise(i, p) / 4)]
    campaign = Judgements(name="autumn", records=tuple(records), test_set=TEXTS, form="campaign")
    page = make_page([run("judge", rated("judge", noise)), campaign])
    assert part(page, "agreement").tables[0].rows[0][0] == "anna (autumn) and ben (autumn)"
    assert "by autumn" in part(page, "calibration").finding


def preferred(name: str, verdicts: str) -> list[Record]:
    return [
        preference("Alder", "Birch", verdict, s.segment, annotator=name, criterion=criterion)  # type: ignore[arg-type]
        for criterion in CRITERIA
        for s, verdict in zip(TEXTS, verdicts * SIZE, strict=False)
    ]


CRITERIA = ("faithfulness", "fluency", "style")


def test_preferences_have_a_kappa_on_each_criterion_and_a_radar() -> None:
    people = Judgements(name="people", records=tuple(preferred("anna", "AAB")), test_set=TEXTS)
    judge = Judgements(name="judge", records=tuple(preferred("judge", "AABAAE")), test_set=TEXTS)
    page = make_page([people, judge])
    (table,) = part(page, "agreement").tables
    assert [row[:2] for row in table.rows] == [[criterion, "people and judge"] for criterion in CRITERIA]
    assert table.rows[0][4:] == ["83 %", "60"]
    figures = part(page, "criteria").figures
    assert [f.name for f in figures] == ["criteria.en-de.people", "criteria.en-de.judge"]
    assert [f.title.partition(",")[0] for f in figures] == ["By people", "By judge"]


def test_a_profile_has_shares_of_the_errors_of_each_system() -> None:
    kinds = ["accuracy/mistranslation"] * 3 + ["fluency/grammar"]

    def marked(s: Segment, system: str) -> Annotation:
        text = s.translations[system]
        spans = tuple(mark(text, text.split()[-1], "minor", kind) for kind in kinds if system == "Birch")
        return judgement(s, system, spans=spans)

    records = [marked(s, system) for s in TEXTS for system in TEXTS.systems]
    page = make_page([make_run(TEXTS, records)])
    found = part(page, "errors")
    assert found.finding == "By judge, 75 % of errors are of accuracy, most frequent in every system"


def test_where_there_is_nothing_to_compare_there_is_no_part() -> None:
    texts = small_test_set(["en-de"])
    lone = replace(texts, segments=(replace(texts.segments[0], domain=""),))
    page = make_page([make_run(lone, [failure(lone.segments[0], "Alder")])])
    assert page.sections[0].parts == ()
