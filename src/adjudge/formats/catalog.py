"""What there is, as data: every format by name, and the public test sets, fetched or not.

Nothing here touches the network; `formats/fetch.py` does, when asked to.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from adjudge.errors import UsageError

__all__ = [
    "CATALOG",
    "FORMATS",
    "Format",
    "PublicSet",
    "cache_folder",
    "cached_path",
    "find_format",
    "find_public_set",
]


# Every format that is read or written, by name.


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
        name="fire-mt",
        holds="test set, records",
        title="FiRE's benchmark (LP-annotation.json, or the folder annotation): pairs and their majorities",
        writes=False,
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
        name="wmt-scores",
        holds="records",
        title="WMT25's scores: TSV with `overall`, or JSONL with `metric_scores` (file or folder)",
        writes=False,
    ),
    Format(
        name="wmt-systems",
        holds="test set",
        title="documents of WMT25's and WMT26's systems (JSONL, file or folder) beside their sources",
        writes=False,
    ),
    Format(
        name="wmt-challenge",
        holds="test set",
        title="challenge set of WMT25 (SET.LP.src.txt, .ref.txt, .hyp-N.txt, .meta.txt)",
        writes=False,
    ),
    Format(
        name="wmt26",
        holds="test set, records",
        title="WMT26's evaluation task: mteval-test26.jsonl, or predictions for it",
        writes=False,
    ),
    Format(name="wmt26-task1", holds="records", title="predictions of errors for WMT26", reads=False),
    Format(name="wmt26-task2", holds="records", title="predictions of scores for WMT26", reads=False),
    Format(name="wmt26-task3", holds="records", title="predictions of error-free for WMT26", reads=False),
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


# Public test sets: where they are, what is in them, where they lie once fetched.


@dataclass(frozen=True, kw_only=True)
class PublicSet:
    """One public test set.

    Args:
        name: the word on the command line.
        title: for people.
        url: of an archive or of a file.
        lps: language pairs, in canonical form.
        form: name of its format, as in `adjudge list formats`.
        size: of the download, for people.
        licence: as its source states it.
        inside: folder, or name of the file, within the archive; empty where `url` is the file itself.
    """

    name: str
    title: str
    url: str
    lps: tuple[str, ...]
    form: str
    size: str
    licence: str
    inside: str = ""


_MTME: Final = "https://data.statmt.org/wmt26/mt-metrics-eval-v2.tgz"
_MQM: Final = (
    "https://raw.githubusercontent.com/google/wmt-mqm-human-evaluation/"
    "7fadea281aff8db61cc72fc3d469a4dca78b82a6/"
)
_FIRE: Final = "d6a2321f2e84e9b509a668641e9149f2b4856de8"
_RATE: Final = "8efee2e3598f4fb384a6c2acaeaaa0cf2d7e39a5"


def _wmt(name: str, title: str, lps: str) -> PublicSet:
    return PublicSet(
        name=name,
        title=f"{title}, with human and metric scores (mt-metrics-eval)",
        url=_MTME,
        lps=tuple(lps.split()),
        form="mtme",
        size="0.9 GB, shared by all of mt-metrics-eval",
        licence="not stated; WMT data is released for research",
        inside=f"mt-metrics-eval-v2/{name}",
    )


def _mqm(name: str, title: str, path: str, lp: str, size: str) -> PublicSet:
    return PublicSet(
        name=name,
        title=f"MQM annotations of {title}, every rater's marks",
        url=_MQM + path,
        lps=(lp,),
        form="mqm-tsv",
        size=size,
        licence="not stated in the files",
        inside=path.rpartition("/")[2].removesuffix(".tar.gz") if path.endswith(".tar.gz") else "",
    )


CATALOG: Final[tuple[PublicSet, ...]] = (
    _wmt(
        "wmt24", "WMT 2024 general task", "en-de en-es ja-zh cs-uk en-cs en-hi en-is en-ja en-ru en-uk en-zh"
    ),
    _wmt(
        "wmt23",
        "WMT 2023 general task",
        "en-de he-en zh-en cs-uk de-en en-cs en-he en-ja en-ru en-uk en-zh ja-en ru-en uk-en",
    ),
    _wmt(
        "wmt22",
        "WMT 2022 general task",
        "en-de en-ru zh-en cs-en cs-uk de-en de-fr en-cs en-hr en-ja en-liv en-uk en-zh fr-de ja-en liv-en "
        "ru-en ru-sah sah-ru uk-cs uk-en",
    ),
    _wmt(
        "wmt21.news",
        "WMT 2021 news task",
        "en-cs en-de en-ha en-is en-ja en-ru en-zh cs-en de-en de-fr fr-de ha-en is-en ja-en ru-en zh-en",
    ),
    _wmt("wmt21.tedtalks", "WMT 2021 TED talks", "en-de en-ru zh-en"),
    _wmt("wmt21.flores", "WMT 2021 Flores", "bn-hi hi-bn xh-zu zu-xh"),
    _wmt(
        "wmt20",
        "WMT 2020 news task",
        "cs-en de-en en-cs en-de en-iu en-ja en-pl en-ru en-ta en-zh iu-en ja-en km-en pl-en ps-en ru-en "
        "ta-en zh-en",
    ),
    _wmt(
        "wmt19",
        "WMT 2019 news task",
        "de-cs de-en de-fr en-cs en-de en-fi en-gu en-kk en-lt en-ru en-zh fi-en fr-de gu-en kk-en lt-en "
        "ru-en zh-en",
    ),
    PublicSet(
        name="ment",
        title="MENT: non-literal translation, rated 0 to 4 (RATE paper)",
        url=f"https://github.com/BITHLP/RATE/archive/{_RATE}.tar.gz",
        lps=("zh-en", "en-zh"),
        form="ment",
        size="5 MB",
        licence="MIT",
        inside=f"RATE-{_RATE}/meta_eval/workspace",
    ),
    PublicSet(
        name="fire-mt",
        title="FiRE: pairs of translations, ranked by three people on three criteria and overall",
        url=f"https://github.com/wygao8/FiRE-MT/archive/{_FIRE}.tar.gz",
        lps=("en-zh", "ru-zh", "ja-zh"),
        form="fire-mt",
        size="10 MB",
        licence="Apache-2.0",
        inside=f"FiRE-MT-{_FIRE}/annotation",
    ),
    _mqm("mqm-2020-ende", "newstest2020", "newstest2020/ende/mqm_newstest2020_ende.tsv", "en-de", "50 MB"),
    _mqm("mqm-2020-zhen", "newstest2020", "newstest2020/zhen/mqm_newstest2020_zhen.tsv", "zh-en", "70 MB"),
    _mqm("mqm-2021-ende", "newstest2021", "newstest2021/ende/mqm_newstest2021_ende.tsv", "en-de", "10 MB"),
    _mqm("mqm-2021-zhen", "newstest2021", "newstest2021/zhen/mqm_newstest2021_zhen.tsv", "zh-en", "20 MB"),
    _mqm("mqm-ted-ende", "the TED talks of WMT 2021", "ted/ende/mqm_ted_ende.tsv", "en-de", "2 MB"),
    _mqm("mqm-ted-zhen", "the TED talks of WMT 2021", "ted/zhen/mqm_ted_zhen.tsv", "zh-en", "2 MB"),
    _mqm(
        "mqm-2023-ende-sxs",
        "WMT 2023 side by side",
        "generalMT2023/ende/sxs_mqm_generalMT2023_ende.3ratingsPerSegment.tsv.tar.gz",
        "en-de",
        "2 MB",
    ),
    _mqm(
        "mqm-2023-zhen-sxs",
        "WMT 2023 side by side",
        "generalMT2023/zhen/sxs_mqm_generalMT2023_zhen.3ratingsPerSegment.tsv.tar.gz",
        "zh-en",
        "4 MB",
    ),
)


def find_public_set(name: str) -> PublicSet:
    """Look a public test set up by its name.

    Raises:
        UsageError: there is none of that name.
    """
    found = next((entry for entry in CATALOG if entry.name == name), None)
    if found is None:
        names = ", ".join(entry.name for entry in CATALOG)
        raise UsageError(f"no file, folder or public test set {name!r}; the public ones are {names}")
    return found


def cache_folder() -> Path:
    """Where downloads are kept: `ADJUDGE_CACHE`, else `adjudge` in the user's cache folder."""
    if chosen := os.environ.get("ADJUDGE_CACHE"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "adjudge"


def cached_path(entry: PublicSet) -> Path:
    """Where a test set lies once it was fetched: a folder, or a file for formats of one file."""
    ending = ".tsv" if entry.form == "mqm-tsv" else ""
    return cache_folder() / "test-sets" / f"{entry.name}{ending}"
