from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.ask import Quoted, Reply
from adjudge.core.record import Side
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError, UsageError
from adjudge.judges import load_judge
from adjudge.judges._answers import ErrorList, Listed, Marked, find_place
from adjudge.judges._answers import place_errors as place_all
from adjudge.judges._reading import Reading
from tests.judges.asking import subject
from tests.llm.chat_tokens import ALL_TOKENS, HONEST, WORDS

REFUSED = [
    ("m-mad", {"strategy": "none", "topic": "entirety"}, "topic entirety needs a debate"),
    ("m-mad", {"rounds": "0", "topic": "category"}, "topic category needs a debate"),
    ("m-mad", {"strategy": "none", "rounds": "5"}, "rounds 5 needs a debate"),
    ("rate", {"order": "given", "order_seed": "3"}, "a drawn order, contradict"),
    ("rate", {"anchors": "frozen", "order": "random"}, "a drawn order, contradict"),
    ("rate", {"without": "compare", "moves": "code"}, "--moves code and --without compare contradict"),
    ("himate", {"stages": "se", "verifications": "3"}, "stages se verifies nothing"),
    ("fire", {"orders": "given", "inconsistent": "keep"}, "orders given asks for one"),
    ("direct-rank", {"orders": "random", "inconsistent": "keep"}, "orders random asks for one"),
    ("fire", {"order_seed": "3"}, "order_seed 3 draws no order where orders are both"),
    ("direct-rank", {"orders": "given", "order_seed": "3"}, "draws no order where orders are given"),
]
TAKEN: list[tuple[str, dict[str, str]]] = [
    ("m-mad", {"strategy": "none", "rounds": "3", "topic": "severity"}),
    ("m-mad", {"strategy": "deliberation", "topic": "entirety"}),
    ("rate", {"order_seed": "3", "without": "search", "moves": "code"}),
    ("rate", {"anchors": "frozen", "order": "given"}),
    ("himate", {"stages": "se", "verifications": "1"}),
    ("fire", {"orders": "both", "inconsistent": "keep"}),
    ("direct-rank", {"orders": "random", "order_seed": "3"}),
]


@pytest.mark.parametrize(("judge", "settings", "said"), REFUSED)
def test_a_setting_that_would_do_nothing_is_refused(judge: str, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        load_judge(judge, settings=settings)


@pytest.mark.parametrize("profile", ["paper", "code"])
def test_orders_of_a_profile_count_as_those_that_are_set(profile: Any) -> None:
    with pytest.raises(UsageError, match="orders given asks for one"):
        load_judge("fire", profile=profile, settings={"inconsistent": "keep"})
    both = {"inconsistent": "keep", "orders": "both"}
    assert load_judge("fire", profile=profile, settings=both).profile == profile


@pytest.mark.parametrize(("judge", "settings"), TAKEN)
def test_settings_that_go_together_are_taken(judge: str, settings: dict[str, Any]) -> None:
    assert load_judge(judge, settings=settings).name == judge


def place_errors(listed: list[Listed], judged: Subject, *, is_last: bool = True) -> Marked:
    reading = Reading(Reply(text="x", is_last=is_last))
    return Marked(place_all(listed, judged, reading), reading.settle())


def place(quote: str, translation: str, source: str = "-", **more: object) -> tuple[object, ...]:
    side = more.get("said")
    said: Side | None = "source" if side == "source" else "translation" if side else None
    category = str(more.get("category", "accuracy/mistranslation"))
    return find_place(quote, subject(translation, source), said=said, category=category, taken=())


@pytest.mark.parametrize(
    ("quote", "translation", "start", "end", "match"),
    [
        ("Haus", "Das Haus hier", 4, 8, "exact"),
        ("😀", "Gut 👍🏽 so 😀!", 10, 11, "exact"),
        ("قطة", "هذه قطة", 4, 7, "exact"),
        ("é", "cafe\u0301 é", 6, 7, "exact"),
        (" ", "a b", 1, 2, "exact"),
        ("Das Haus", "Das\u00a0 Haus hier", 0, 9, "normalised"),
        ('"Haus"', "Das „Haus“ hier", 4, 10, "normalised"),
        ("doesn't", "He doesn’t", 3, 10, "normalised"),
        ('"Haus"', "Das Haus hier", 4, 8, "normalised"),
        (" Haus ", "Das Haus", 4, 8, "normalised"),
        ("Hund", "Das Haus", None, None, "unmatched"),
        ("haus", "Das Haus", 4, 8, "normalised"),
        ("İSTANBUL", "in İstanbul", 3, 11, "normalised"),
        ('""', "Das Haus", None, None, "unmatched"),
        ("die", "die die", 0, 3, "ambiguous"),
        ('"a"', "„a“ «a»", 0, 3, "ambiguous"),
    ],
)
def test_a_quotation_is_found_in_code_points(
    quote: str, translation: str, start: int | None, end: int | None, match: str
) -> None:
    assert place(quote, translation) == ("translation", start, end, match)


@pytest.mark.parametrize(
    ("said", "category", "translation", "source", "side", "match"),
    [
        (None, "accuracy/mistranslation", "y", "x", "translation", "unmatched"),
        (None, "accuracy/omission", "y", "x", "source", "exact"),
        (None, "accuracy/omission", "x", "x", "translation", "exact"),
        (None, "source error", "y", "x", "source", "exact"),
        ("translation", "accuracy/omission", "y", "x", "source", "exact"),
        ("translation", "accuracy/mistranslation", "y", "x", "translation", "unmatched"),
        ("source", "accuracy/mistranslation", "x", "x", "source", "exact"),
        ("source", "accuracy/mistranslation", "x", "y", "translation", "exact"),
        ("source", "accuracy/omission", "y", "y", "source", "unmatched"),
    ],
)
def test_the_side_is_the_one_named_or_the_one_where_the_words_stand(
    said: str | None, category: str, translation: str, source: str, side: str, match: str
) -> None:
    found = place("x", translation, source, said=said, category=category)
    assert (found[0], found[3]) == (side, match)


def test_repeated_quotations_take_one_place_each_and_overlapping_errors_are_kept() -> None:
    error = Listed("die", "fluency/grammar", "minor")
    marked = place_errors([error] * 4, subject("die die die"))
    assert [(span.start, span.match) for span in marked.spans] == [(n, "ambiguous") for n in (0, 4, 8)]
    assert marked.flags == ("repeated_errors",)
    listed = [Listed("neuen Sofa", "style/awkward", "minor"), Listed("Sofa", "fluency/spelling", "major")]
    marked = place_errors(listed, subject("Auf dem neuen Sofa."))
    assert [(span.start, span.end) for span in marked.spans] == [(8, 18), (14, 18)]
    assert not marked.flags


def test_an_unmatched_quotation_is_kept_and_flagged() -> None:
    error = Listed("Hund", "style/awkward", "minor")
    with pytest.raises(AnswerError, match="span: 'Hund' stands in neither text"):
        place_errors([error], subject("Die Katze."), is_last=False)
    marked = place_errors([error], subject("Die Katze."))
    (span,) = marked.spans
    assert (span.text, span.start, span.match, span.severity) == ("Hund", None, "unmatched", "minor")
    assert marked.flags == ("span_unmatched",)


@pytest.mark.parametrize("category", ["accuracy/omission", "non-translation", "omission"])
def test_an_omission_and_a_non_translation_may_point_at_nothing(category: str) -> None:
    marked = place_errors([Listed("", category, "major", "translation")], subject())
    assert [(span.match, span.text, span.start) for span in marked.spans] == [("unplaced", "", None)]
    assert marked.flags == (() if "/" in category or "-" in category else ("normalised",))


@pytest.mark.parametrize(
    ("label", "category", "kept"),
    [
        ("accuracy/mistranslation", "accuracy/mistranslation", None),
        ("Accuracy/Mistranslation", "accuracy/mistranslation", "Accuracy/Mistranslation"),
        ("Mistranslation", "accuracy/mistranslation", "Mistranslation"),
        ("locale convention/date format", "locale convention/date", "locale convention/date format"),
    ],
)
def test_a_category_in_another_spelling_keeps_its_label(label: str, category: str, kept: str | None) -> None:
    (span,) = place_errors([Listed("Katze", label, "major")], subject("Katze")).spans
    assert (span.category, span.label, span.severity) == (category, kept, "major")


@given(st.text(alphabet="ab „“\"'\n\u00a0", max_size=12), st.text(alphabet="ab „“\"'\n\u00a0", min_size=1))
def test_what_is_placed_is_the_quotation_but_for_blanks_and_quotation_marks(text: str, quote: str) -> None:
    side, start, end, match = find_place(
        quote, subject(text, "-"), said=None, category="style/awkward", taken=()
    )
    assert side == "translation"
    if start is None or end is None:
        assert match == "unmatched"
        assert quote not in text
        return
    found = text[start:end]
    assert found
    letters = [char for char in found if char in "ab"]
    assert letters == [char for char in quote if char in "ab"]
    if match == "exact":
        assert found == quote


@pytest.mark.parametrize("lp", ["en-de", "cs-ja"])
@pytest.mark.parametrize("token", [*ALL_TOKENS, *(text for text in HONEST if '"' not in text)])
def test_a_span_with_a_chat_token_is_found_as_it_was_shown(token: str, lp: str) -> None:
    for number, word in enumerate(WORDS[:12]):
        about = subject(f"Halt! {token}{word} Ende.", lp=lp)
        shown = Quoted("translation", token + word).render("0").split("\n")[1][1:-1]
        error = '"category": "accuracy/addition", "severity": "major", "side": "translation"'
        replies = [
            *(
                ("recommended", f'{{"errors": [{{"span": "{one}", {error}}}]}}')
                for one in (shown, token + word)
            ),
            ("paper", f'Major:\naccuracy/addition - "{shown}"\nMinor:\nno-error'),
            ("paper", f'Major:\naccuracy/addition - "{shown.replace("003c", "003C")}"\nMinor:\nno-error'),
        ]
        for profile, reply in replies:
            marked = ErrorList.of(profile, ("major", "minor"), None).read(Reply(text=reply), about)  # type: ignore[arg-type]
            (span,) = marked.spans
            is_copied = profile == "recommended" or shown == token + word
            match = "exact" if is_copied else "normalised"
            assert (span.start, span.end, span.match) == (6, 6 + len(token + word), match), number
            assert span.text == token + word


def test_an_escape_that_the_text_itself_spells_is_found_first() -> None:
    about = subject("Write \\u003cb> or <b>.")
    assert find_place("\\u003cb>", about, said=None, category=None, taken=()) == (
        "translation",
        6,
        14,
        "exact",
    )
