"""The public test sets: where they are, what is in them, and where they lie once they were fetched.

Nothing here touches the network; `formats/fetch.py` does, when asked to.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from adjudge.core.frozen import frozen
from adjudge.errors import UsageError
from adjudge.store.settings_files import user_folder


@frozen
class PublicSet:
    """One public test set."""

    name: str  # the word on the command line
    title: str
    url: str  # of an archive or of a file
    lps: tuple[str, ...]  # language pairs, in canonical form
    form: str  # name of its format, as in `adjudge list formats`
    size: str  # of the download, for people
    licence: str  # as its source states it
    inside: str = ""  # folder, or name of the file, within the archive; empty where `url` is the file itself


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
    """Look a public test set up by its name."""
    found = next((entry for entry in CATALOG if entry.name == name), None)
    if found is None:
        from adjudge.examples import of_demo

        names = ", ".join(entry.name for entry in CATALOG)
        raise UsageError(
            f"no file, folder or public test set {name!r}{of_demo(Path(name))}; the public ones are {names}"
        )
    return found


def cache_folder() -> Path:
    """Where downloads are kept: `ADJUDGE_CACHE`, else `adjudge` in the user's cache folder."""
    chosen = os.environ.get("ADJUDGE_CACHE")
    return Path(chosen) if chosen else user_folder("XDG_CACHE_HOME", ".cache")


def cached_path(entry: PublicSet) -> Path:
    """Where a test set lies once it was fetched: a folder, or a file for formats of one file."""
    ending = ".tsv" if entry.form == "mqm-tsv" else ""
    return cache_folder() / "test-sets" / f"{entry.name}{ending}"
