"""Texts that break readers, and strategies for everything that the formats hold."""

from collections.abc import Sequence

from hypothesis import strategies as st

from adjudge.core.names import as_name, is_blank
from adjudge.core.protocol import CATEGORIES, SEVERITIES, Severity
from adjudge.core.record import Annotation, ErrorSpan, Failure, Match, Preference, Record, Side
from adjudge.core.segment import Segment, TestSet

NASTY = [
    "",
    " ",
    "trailing ",
    "\u2028line separator\u2029",
    "\x85next line\x0b\x0c\x1c",
    "carriage\rreturn",
    "ends in return\r",
    "tab\ttab",
    "line\nline",
    "\ufeffmark",
    "\x00\x01\x1f\x7f",
    "😀👩‍👩‍👧 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 \U0010ffff",
    "مرحبا \u202eבעברית\u202c",
    "हिन्दी เชียงใหม่ 한국어",
    '"quoted" ""doubled"" \'single\'',
    '"all of it is quoted"',
    "<v>tag</v>",
    "back\\slash {json} [list] $var",
    "None",
    "[No translation supplied]",
    "NaN",
]

texts = st.one_of(st.sampled_from(NASTY), st.text(max_size=12))
one_line = texts.filter(lambda text: "\n" not in text)
ids = st.text(min_size=1, max_size=5).filter(lambda text: not is_blank(text)).map(as_name)
document_names = texts.filter(lambda text: not text or not is_blank(text)).map(
    lambda text: as_name(text) if text else ""
)
words = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,7}", fullmatch=True)


@st.composite
def drawn_test_sets(
    draw: st.DrawFn,
    *,
    text: st.SearchStrategy[str] = texts,
    segment_ids: st.SearchStrategy[str] | None = ids,
    documents: st.SearchStrategy[str] = document_names,
    complete: bool = False,
    lps: Sequence[str] = ("en-de", "zh_Hant-en"),
) -> TestSet:
    """Test sets; segment ids are line numbers where no strategy is given for them."""
    systems = draw(st.lists(words, max_size=2, unique=True))
    references = draw(st.lists(words.filter(lambda n: n not in {"all", "src"}), max_size=1))
    segments = []
    for lp in draw(st.lists(st.sampled_from(lps), min_size=1, max_size=2, unique=True)):
        count = draw(st.integers(1, 3))
        names = (
            [str(n + 1) for n in range(count)]
            if segment_ids is None
            else draw(st.lists(segment_ids, min_size=count, max_size=count, unique=True))
        )
        document, domain = draw(documents), draw(documents)
        for name in names:
            present = systems if complete else [s for s in systems if draw(st.booleans())]
            segments.append(
                Segment(
                    segment=name,
                    lp=lp,
                    source=draw(text),
                    translations={system: draw(text) for system in present},
                    references={name: draw(text) for name in references},
                    document=document,
                    domain=domain,
                )
            )
    return TestSet(name="t", segments=tuple(segments))


def _span(
    category: str | None,
    label: str | None,
    severity: Severity,
    side: Side,
    place: tuple[int, int, Match],
    text: str,
    note: str,
) -> ErrorSpan:
    start, length, match = place
    placed = match != "unmatched"
    return ErrorSpan(
        category=category,
        label=label,
        severity=severity,
        side=side,
        start=start if placed else None,
        end=start + length if placed else None,
        text=text,
        match=match,
        note=note,
    )


spans = st.builds(
    _span,
    st.sampled_from([None, *CATEGORIES]),
    st.none() | texts,
    st.sampled_from(SEVERITIES),
    st.sampled_from(["translation", "source"]),
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from(["exact", "ambiguous", "unmatched"])),
    texts,
    texts,
)
annotations = st.builds(
    Annotation,
    lp=st.just("en-de"),
    segment=ids,
    system=ids,
    annotator=ids,
    protocol=st.just("mqm"),
    document=document_names,
    spans=st.lists(spans, max_size=3).map(tuple),
    counts=st.dictionaries(st.sampled_from(SEVERITIES), st.integers(0, 9), max_size=2),
    flags=st.lists(texts, max_size=2).map(tuple),
    rationale=st.none() | texts,
)
ratings = st.builds(
    Annotation,
    lp=st.just("en-de"),
    segment=ids,
    system=ids,
    annotator=ids,
    protocol=st.just("esa"),
    rating=st.floats(0, 100),
)
preferences = st.builds(
    Preference,
    lp=st.just("en-de"),
    segment=ids,
    systems=st.lists(ids, min_size=2, max_size=2, unique=True).map(tuple),
    annotator=ids,
    criterion=words,
    verdict=st.sampled_from("ABE"),
    orders=st.lists(st.sampled_from("ABE"), max_size=2).map(tuple),
    flags=st.lists(texts, max_size=2).map(tuple),
    rationale=st.none() | texts,
)
failures = st.builds(
    Failure,
    lp=st.just("en-de"),
    segment=ids,
    systems=st.lists(ids, min_size=1, max_size=2).map(tuple),
    annotator=ids,
    protocol=st.just("mqm"),
    reason=st.sampled_from(["empty", "parse"]),
    detail=texts,
    criterion=st.none() | words,
)
records: st.SearchStrategy[Record] = st.one_of(annotations, ratings, preferences, failures)
