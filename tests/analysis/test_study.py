"""A whole campaign: what counts, what is left out, and numbers that a person can count."""

from dataclasses import replace
from typing import Any

import pytest

from adjudge.analysis.study import Analysis, analyse
from adjudge.analysis.study_people import fates, pace_section, seconds_by_person
from adjudge.analysis.study_pieces import Section, final_pieces, pieces_of
from adjudge.errors import UsageError
from adjudge.formats.campaign_export import Kind, Submission, campaign_test_set
from adjudge.formats.read import Judgements, read_judgements
from adjudge.stats.bootstrap import Draws
from tests.analysis.records import rated
from tests.analysis.study_campaigns import campaign, compare, missing, span, work

FEW = Draws(resamples=20)
COUNT = "they count in place of what they decide between, and in no agreement"


def value(section: Section, of: str, measure: str, definition: str = "") -> float | None:
    (found,) = (n for n in section.numbers if (n.of, n.measure, n.definition) == (of, measure, definition))
    return found.result.value


def two_systems() -> list[Submission]:
    """Ann and Ben rate both systems on six segments; Ben gives 10 less, and marks one error more."""
    found = []
    for place in range(6):
        for system, rating, at in (("A", 80 + place, 100.0 * place), ("B", 60 + place, 100.0 * place + 50)):
            one = (span(0, 3, "major"),) if system == "B" else ()
            found.append(work("ann", system, str(place), rating, one, at=at, active=20))
            found.append(work("ben", system, str(place), rating - 10, (*one, span(4, 9)), at=at, active=40))
    return found


def test_a_later_pass_decides_and_what_was_replaced_counts_nowhere() -> None:
    submissions = [
        work("ann", "A", "1", 10),
        work("ben", "A", "1", 20),
        work("cem", "A", "1", 50, kind="adjudication"),
        work("ann", "A", "2", 30, kind="again"),
        work("ann", "A", "2", 90),
        work("ben", "A", "3", 1, is_last=False),
        work("ben", "A", "3", 2),
        work("ben", "A", "3", 99, kind="tutorial"),
        work("ben", "A", "3", 3, kind="check"),
    ]
    assert [piece.score for piece in final_pieces(pieces_of(submissions))] == [50, 30, 2]
    assert analyse(campaign(*submissions), draws=FEW).notes == (
        "1 submissions were replaced by a later one of the same person, and count nowhere.",
        "1 submissions belong to a tutorial, and count nowhere.",
        "1 submissions are of damaged copies: they count in checks and times alone.",
        f"1 submissions are decisions of adjudicators: {COUNT}.",
    )


def test_agreement_is_that_of_people_who_did_not_see_each_other_and_scores_are_the_decisions() -> None:
    said = two_systems()
    decided = [work("kim", next(iter(s.texts)), s.segment, 5, kind="adjudication") for s in said[:4:2]]
    before, after = (analyse(campaign(*each), draws=FEW) for each in (said, [*said, *decided]))
    assert after.section("agreement") == before.section("agreement")
    kept = final_pieces(pieces_of([*said, *decided]))
    assert {piece.score for piece in kept if piece.person == "kim"} == {5}
    assert {piece.key for piece in kept if piece.person == "kim"}.isdisjoint(
        piece.key for piece in kept if piece.person != "kim"
    )


def test_a_second_look_at_marks_that_were_shown_is_in_no_agreement_and_a_note_says_so() -> None:
    said = two_systems()
    shown = {"A": (), "B": ()}
    looks = [replace(work("kim", "A", s.segment, 5, kind="again"), given=shown) for s in said[:4:2]]
    anew = [replace(one, given={}) for one in looks]
    before, after, blind = (
        analyse(campaign(*each), draws=FEW) for each in (said, [*said, *looks], [*said, *anew])
    )
    told = after.section("agreement")
    assert told.numbers == before.section("agreement").numbers
    assert told.notes == ("2 second looks at marks that people were shown are in none of these numbers.",)
    assert any(note.startswith("2 submissions are second looks at marks") for note in after.notes)
    assert blind.section("agreement").numbers != before.section("agreement").numbers, "who saw nothing agrees"
    assert {piece.score for piece in final_pieces(pieces_of([*said, *looks])) if piece.person == "kim"} == {5}


def test_a_decision_between_two_verdicts_ranks_alone_and_is_in_no_agreement() -> None:
    said = [each for n in range(4) for each in (compare("ann", str(n), "A"), compare("ben", str(n), "B"))]
    decided: list[Submission] = [replace(compare("kim", str(n), "B"), kind="adjudication") for n in range(4)]
    before, after = (
        analyse(campaign(*each, protocol="pairwise"), draws=FEW) for each in (said, [*said, *decided])
    )
    assert [before.rankings["overall"].systems[n].score for n in (0, 1)] == [0.5, 0.5]
    assert after.rankings["overall"].systems[0].system == "B"
    assert after.section("agreement") == before.section("agreement")
    assert after.section("sides") == before.section("sides")


def test_what_the_agreement_gate_dropped_is_in_no_number_about_translations() -> None:
    dropped = replace(work("ann", "A", "2", 10), more={"gate": "dropped"})
    submissions = [work("ann", "A", "1", 90), dropped]
    assert [piece.score for piece in final_pieces(pieces_of(submissions))] == [90]
    assert analyse(campaign(*submissions), draws=FEW).notes == (
        "1 submissions are of segments that the agreement gate dropped: they count in times alone.",
    )


@pytest.fixture(scope="module")
def small() -> Analysis:
    return analyse(campaign(*two_systems()), draws=FEW)


def test_means_errors_and_severities_are_those_of_the_records(small: Analysis) -> None:
    profile = small.section("profile")
    assert value(profile, "A", "rating") == 77.5
    assert value(profile, "all", "points") == -(12 * 5 + 12 * 1) / 24
    assert value(profile, "all", "errors a translation") == 1
    assert value(profile, "all", "share of minor errors") == 0.5
    assert value(profile, "B", "share without errors") == 0
    assert value(profile, "all", "share rated 80 to 90") == 6 / 24


def test_systems_are_ranked_by_rating_and_by_points(small: Analysis) -> None:
    assert {name: [s.system for s in r.systems] for name, r in small.rankings.items()} == {
        "rating": ["A", "B"],
        "points": ["A", "B"],
    }
    assert small.rankings["rating"].systems[1].cluster == 2
    assert value(small.section("systems"), "all", "clusters by rank sums", "paper") == 2
    of = "mean of all sizes", "pairs of systems ordered alike", "mended"
    assert value(small.section("subsets"), *of) is not None


def test_two_people_who_order_alike_correlate_fully_whatever_their_level(small: Analysis) -> None:
    agreement = small.section("agreement")
    assert value(agreement, "two people", "Pearson") == pytest.approx(1)
    assert value(agreement, "two people", "error recall, any", "paper") == 0.5
    assert value(agreement, "two people", "error kappa, any", "mended") == 0
    assert value(agreement, "two people", "marks met, any", "paper") == 1
    assert value(agreement, "two people", "marks met, any", "mended") == pytest.approx(12 / 24)
    overlap = small.section("overlap")
    covers = "two people: the first covers the second"
    assert value(overlap, covers, "share of marks covered", "paper") == pytest.approx(6 * 0.5 / 12)
    assert value(overlap, covers, "share of marks covered", "mended") == pytest.approx(6 / 18)


def test_times_are_active_where_known_and_from_start_to_start_as_the_paper_has_them(small: Analysis) -> None:
    pace = small.section("pace")
    assert value(pace, "ann", "median seconds", "mended") == 20
    assert value(pace, "all", "mean of people's medians", "mended") == 30
    assert value(pace, "all", "median seconds", "paper") == 50


def test_a_pause_is_no_work_where_active_time_is_unknown() -> None:
    submissions = [work("ann", "A", str(n), 50, at=at) for n, at in enumerate((0.0, 20.0, 40.0, 4000.0))]
    assert seconds_by_person(submissions, "paper")["ann"][1].tolist() == [0, 20, 20, 3960]
    assert seconds_by_person(submissions, "mended")["ann"][1].tolist() == [20, 20, 20, 20]


def test_times_are_told_by_the_language_of_the_pages_where_it_is_known() -> None:
    said = {"ann": "ar", "ben": "de", "eve": None}
    submissions = [
        replace(work(name, "A", str(n), 50, at=10.0 * n), active=10.0 * n + len(name), language=language)
        for name, language in said.items()
        for n in range(3)
    ]
    pace = pace_section(submissions)
    assert value(pace, "pages in ar", "median seconds", "mended") == 13
    assert [row.of for row in pace.numbers if row.of.startswith("pages")] == ["pages in ar", "pages in de"]
    assert pace.notes == ("Who had pages in ar: ann.", "Who had pages in de: ben.")


def test_drift_is_told_of_the_score_above_the_mean_of_the_system(small: Analysis) -> None:
    drift = small.section("drift")
    assert value(drift, "ann", "rating above others") == 5
    assert value(drift, "ben", "rating above others") == -5
    assert value(drift, "ann", "change of rating in 100 translations") == pytest.approx(50, rel=0.1)


def test_gold_is_compared_where_it_judged_and_what_it_lacks_is_counted() -> None:
    pairs = [(s, r, n) for n in range(5) for s, r in (("A", 90), ("B", 20))]
    gold = [rated(s, str(n), r + n, annotator="gold", protocol="esa") for s, r, n in pairs]
    found = analyse(campaign(*two_systems()), gold=read_judgements(gold), draws=FEW)
    assert value(found.section("systems"), "with gold", "pairwise accuracy") == 1
    assert value(found.section("gold"), "rating", "Kendall tau-c") == pytest.approx(1)
    assert found.section("gold").notes == ("Translations left out, for which gold has no score: 2.",)


def test_another_campaign_meets_this_one_translation_by_translation() -> None:
    later = campaign(*(work("ann", "A", str(n), 70 + n) for n in range(4)), name="later")
    for beside in (later, later.spelled({"en-de": "eng_Latn-deu_Latn"})):
        found = analyse(campaign(*two_systems()), beside=beside, draws=FEW)
        assert value(found.section("agreement"), "with later", "Pearson") == pytest.approx(1)


@pytest.mark.parametrize("changed", ["source", "texts"])
def test_gold_and_another_campaign_must_be_about_the_same_texts(changed: str) -> None:
    ours = campaign(*two_systems())

    def other(said: Submission) -> Submission:
        if said.segment != "3":
            return said
        texts = {system: f"{text} x" for system, text in said.texts.items()}
        return replace(said, source="x") if changed == "source" else replace(said, texts=texts)

    later = replace(ours, name="later", submissions=tuple(map(other, ours.submissions)))
    records = tuple(r for s in later.submissions for r in s.records)
    gold = Judgements(name="gold", records=records, test_set=campaign_test_set(later))
    asked: list[dict[str, Any]] = [{"beside": later}, {"gold": gold}]
    for beside in asked:
        with pytest.raises(UsageError, match="1 of 6 segments"):
            analyse(ours, draws=FEW, **beside)
        found = analyse(ours, draws=FEW, mismatched="leave-out", **beside)
        assert any("1 of 6 segments" in note for note in found.notes)


def test_one_person_who_judges_twice_is_compared_with_itself() -> None:
    submissions = [work("ann", "A", str(n), 50 + n) for n in range(4)]
    submissions += [work("ann", "A", str(n), 50 - n, at=1000, kind="again") for n in range(4)]
    found = analyse(campaign(*submissions), draws=FEW).section("agreement")
    assert value(found, "one person twice", "Pearson") == pytest.approx(-1)


@pytest.mark.parametrize(
    ("given", "marked", "wanted"),
    [
        ((span(0, 3),), (span(0, 3),), {"kept": 1}),
        ((span(0, 3),), (span(0, 3, "major"),), {"changed": 1}),
        ((span(0, 3),), (span(2, 9),), {"changed": 1}),
        ((span(0, 3),), (span(3, 9),), {"deleted": 1, "added": 1}),
        ((span(0, 3), missing()), (missing(),), {"kept": 1, "deleted": 1}),
        ((missing(),), (missing("major"),), {"changed": 1}),
        ((), (span(0, 3),), {"added": 1}),
        ((span(0, 3), span(0, 3)), (span(0, 3), span(1, 2)), {"kept": 1, "changed": 1}),
    ],
)
def test_a_given_span_is_kept_changed_or_deleted(
    given: tuple[object, ...], marked: tuple[object, ...], wanted: dict[str, int]
) -> None:
    assert +fates(given, marked) == wanted  # type: ignore[arg-type]


def test_help_is_weighed_against_control() -> None:
    submissions = [
        work("ann", "A", "1", 60, (span(0, 3),), given=(span(0, 3), span(4, 9))),
        work("ann", "A", "2", 60, (span(0, 3),), given=(span(0, 3),)),
        work("ben", "B", "1", 90, (), kind="control", withheld=(span(0, 3), span(4, 9))),
        work("ben", "B", "2", 80, (span(1, 2),), kind="control", withheld=(span(0, 3),)),
        work("ben", "B", "3", 85, (span(1, 2),), kind="control"),
    ]
    found = analyse(campaign(*submissions, protocol="esa-ai"), draws=FEW).section("assistance")
    assert value(found, "all", "share of given spans kept") == pytest.approx(2 / 3)
    assert value(found, "all", "share of given spans deleted") == pytest.approx(1 / 3)
    assert value(found, "with marks less without", "rating") == -25
    assert value(found, "with marks less without", "errors a translation") == pytest.approx(1 / 3)
    assert value(found, "shown with the marks", "share of given spans marked") == pytest.approx(2 / 3)
    assert value(found, "shown without", "share of given spans marked") == pytest.approx(1 / 3)


def test_comparisons_are_ranked_and_their_sides_counted() -> None:
    submissions = [
        compare("ann", "1", "A"),
        compare("ben", "1", "A", first="B"),
        compare("ann", "2", "B"),
        compare("ben", "2", "E"),
    ]
    found = analyse(campaign(*submissions, protocol="pairwise"), draws=FEW)
    assert [s.system for s in found.rankings["overall"].systems] == ["A", "B"]
    assert value(found.section("sides"), "all", "share for the first side") == 0.25
    assert value(found.section("sides"), "all", "share for the second side") == 0.5
    assert value(found.section("sides"), "ben", "share tied") == 0.5
    assert value(found.section("agreement"), "ann and ben", "overall: agreement") == 0.5


@pytest.mark.parametrize(
    "submissions",
    [
        [],
        [work("ann", "A", "1", 90, kind="tutorial")],
        [work("ann", "A", "1", 90, kind="check")],
        [work("ann", "A", "1", 90)],
        [work("ann", "A", "1", 90), work("ann", "B", "2", 90)],
        [compare("ann", "1", "E")],
    ],
)
@pytest.mark.parametrize("protocol", ["esa", "esa-ai"])
def test_a_campaign_that_has_just_begun_says_what_it_can(
    submissions: list[Submission], protocol: str
) -> None:
    found = analyse(campaign(*submissions, protocol=protocol), draws=FEW)
    for section in found.sections:
        for number in section.numbers:
            assert (number.result.value is None) == bool(number.result.reason), number


def test_annotators_who_share_enough_systems_are_compared_two_by_two() -> None:
    rows = {"ann": (0, 1, 2, 3, 4), "ben": (0, 1, 2, 4, 3), "cem": (4, 3, 2, 1, 0)}
    shared = {"1": ("ann", "ben"), "2": ("ben", "cem")}
    submissions = [
        work(person, f"S{place}", segment, rating)
        for segment, people in shared.items()
        for person in people
        for place, rating in enumerate(rows[person])
    ]
    found = analyse(campaign(*submissions), draws=FEW)
    section = found.section("annotators")
    assert value(section, "ann and ben", "Pearson over systems") == pytest.approx(0.9)
    assert value(section, "ben and cem", "Pearson within segments") == pytest.approx(-0.9)
    assert value(section, "all", "share of segments with r of 0.7") == 0.5
    assert [(pair.name, pair.summed) for pair in found.curves.annotators] == [
        ("ann and ben", 1),
        ("ben and cem", 1),
    ], "ann and cem share nothing"
    assert all(section.name != "annotators" for section in analyse(campaign(*two_systems())).sections)


def write(person: str, segment: str, text: str, *, chosen: str = "A", kind: Kind = "original") -> Submission:
    texts = {"A": "eins", "B": "zwei"} | ({"edited 1": text} if chosen == "edited 1" else {})
    seen: dict[str, Any] = {"lp": "en-de", "segment": segment, "texts": texts}
    return Submission(person=person, protocol="post-edit", kind=kind, chosen=chosen, edited=text, **seen)


def test_a_second_review_passes_references_that_it_leaves_as_they_are() -> None:
    first = [write("ann", "1", "eins"), write("ann", "2", "drei"), write("ann", "3", "vier")]
    seen = {"1": "eins", "2": "drei", "3": "mehr"}
    again = [write("ben", n, text, chosen="edited 1", kind="again") for n, text in seen.items()]
    for submissions, passed in ((first, None), (first + again, 2 / 3)):
        found = analyse(campaign(*submissions, protocol="post-edit"), draws=FEW).section("drafts")
        assert value(found, "A", "share chosen") == 1
        assert value(found, "all", "share left as it was") == pytest.approx(1 / 3)
        if passed is not None:
            assert value(found, "all", "share passed at second review") == pytest.approx(passed)
        assert len(found.numbers) == 3 + (passed is not None)
