"""Every format that is read or written, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from adjudge.errors import UsageError

__all__ = ["FORMATS", "Format", "find_format"]


@dataclass(frozen=True, kw_only=True)
class Format:
    """One format.

    Args:
        name: the word on the command line.
        title: for people.
        holds: a test set, records, or both.
        reads: whether it is read.
        writes: whether it is written.
        files: entries of its folder; empty where it is one file.
        takes_texts: whether it has no texts, or not all, and is read with those of a test set.
        needs_lp: whether a file of it does not say its language pair.
        is_campaign: whether it says who judged what when, and not the judgements alone.
        is_for_people: whether it is a table to look at, of a campaign or of judgements alone.
        is_marked_up: whether it is written as the file that its texts came from, with judgements in it.
    """

    name: str
    title: str
    holds: str
    reads: bool = True
    writes: bool = True
    files: tuple[str, ...] = ()
    takes_texts: bool = False
    needs_lp: bool = False
    is_campaign: bool = False
    is_for_people: bool = False
    is_marked_up: bool = False

    @property
    def has_records(self) -> bool:
        """Whether it holds judgements."""
        return "records" in self.holds


FORMATS: Final[tuple[Format, ...]] = (
    Format(name="jsonl", holds="test set", title="our test set, one segment a line"),
    Format(
        name="mtme",
        holds="test set",
        title="folder of mt-metrics-eval v2; scores and spans are mtme-scores and mtme-ratings",
        files=("sources", "documents", "references", "system-outputs"),
    ),
    Format(
        name="ment",
        holds="test set",
        title="folder of MENT, lines are JSON; its sys.score files are sums over segments",
        files=("sources", "references", "system-outputs"),
    ),
    Format(
        name="text",
        holds="test set",
        title="folder of line-aligned text: source.txt, translations/, references/",
        files=("source.txt", "translations", "references"),
    ),
    Format(
        name="ment-jsonl",
        holds="test set, records",
        title="MENT as on the hub",
        writes=False,
        needs_lp=True,
    ),
    Format(name="run", holds="test set, records", title="run directory", writes=False),
    Format(
        name="mqm-tsv",
        holds="test set, records",
        title="MQM TSV of WMT, any year; opens in Marot",
        takes_texts=True,
        needs_lp=True,
    ),
    Format(
        name="wmt25",
        holds="test set, records",
        title="WMT25's table of texts and marked errors (TSV); predictions of its second task",
    ),
    Format(
        name="wmt25-jsonl",
        holds="test set, records",
        title="WMT25's general task with what people said (JSONL)",
        writes=False,
    ),
    Format(
        name="campaign",
        holds="test set, records",
        title="our export of a campaign: who judged what when, a submission a line",
        is_campaign=True,
    ),
    Format(
        name="appraise",
        holds="records",
        title="Appraise's export of a campaign (CSV), with its batches beside it or in --test-set",
        takes_texts=True,
        is_campaign=True,
    ),
    Format(name="appraise-batches", holds="test set", title="Appraise's batches (JSON)", writes=False),
    Format(
        name="pearmut",
        holds="test set, records",
        title="Pearmut's annotations of a campaign (JSONL, JSON)",
        needs_lp=True,
        is_campaign=True,
    ),
    Format(name="pearmut-campaign", holds="test set", title="Pearmut's campaign (JSON)", writes=False),
    Format(
        name="spreadsheet",
        holds="records",
        title="judgements or a campaign as CSV for people, where nothing is run as a formula",
        reads=False,
        is_campaign=True,
        is_for_people=True,
    ),
    Format(
        name="xliff",
        holds="test set, records",
        title="XLIFF 1.2 and 2; judgements are quality issues of ITS 2.0 in the file that was judged",
        needs_lp=True,
        is_marked_up=True,
    ),
    Format(name="tmx", holds="test set", title="TMX, a translation memory", writes=False),
    Format(name="po", holds="test set", title="PO of gettext", writes=False),
    Format(name="csv", holds="test set", title="table of texts with a heading (CSV, TSV)", writes=False),
    Format(name="xlsx", holds="test set", title="table of texts with a heading (Excel)", writes=False),
    Format(name="records", holds="records", title="our records, one judgement a line"),
    Format(
        name="mtme-ratings",
        holds="records",
        title="error spans of mt-metrics-eval (.seg.rating)",
        takes_texts=True,
    ),
    Format(
        name="mtme-scores",
        holds="records",
        title="segment ratings of mt-metrics-eval (.seg.score)",
        takes_texts=True,
    ),
    Format(
        name="comet",
        holds="records",
        title="scores that COMET writes with --to_json",
        writes=False,
        takes_texts=True,
        needs_lp=True,
    ),
    Format(
        name="score-table",
        holds="records",
        title="table of scores with columns system and score (CSV, TSV)",
        writes=False,
        takes_texts=True,
        needs_lp=True,
    ),
    Format(
        name="score-lines",
        holds="records",
        title="scores of one system, one number a line",
        writes=False,
        takes_texts=True,
        needs_lp=True,
    ),
)


def find_format(name: str) -> Format:
    """Look a format up by its name.

    Raises:
        UsageError: there is none of that name.
    """
    found = next((form for form in FORMATS if form.name == name), None)
    if found is None:
        raise UsageError(f"no format {name!r}; there are {', '.join(form.name for form in FORMATS)}")
    return found
