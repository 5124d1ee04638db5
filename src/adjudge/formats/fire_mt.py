"""FiRE's benchmark: pairs of translations, and which of both three people prefer on each criterion.

`annotation/LP/LP-annotation.json` is a list of pairs, `{"src", "trans1", "trans2", "model1", "model2"}` with
an object for each criterion: `{"label": "A", "level": "Hard", "annotation": {"A>B": 2, "A≈B": 1, "A<B": 0}}`.
The label is the majority of three people, and NONE where each of them says something else. Who said what is
not told. The benchmark is a test set of pairs: each segment lists its one pair, `model1` first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from adjudge.core.frozen import frozen
from adjudge.core.language import canonical_lp
from adjudge.core.record import Preference, Verdict
from adjudge.core.segment import LEVELS, PAIRS, Segment, TestSet
from adjudge.errors import DataError, UsageError
from adjudge.formats.file_content import ContentWithTexts
from adjudge.formats.mtme import choose_lp
from adjudge.store.files import Fields, find_files, read_json, read_text

ANNOTATOR: Final = "people"
"""Who the majority of a pair is by."""
CRITERIA: Final[Mapping[str, str]] = {
    "Faithfulness": "faithfulness",
    "Fluency": "fluency",
    "Consistency of Style": "style",
    "Overall": "overall",
}
"""FiRE's name of a criterion to ours."""

_COUNTS: Final[Mapping[str, Verdict]] = {"A>B": "A", "A≈B": "E", "A<B": "B"}
_NAME: Final = re.compile(r"(?P<lp>[a-z]{2,3}-[a-z]{2,3})-annotation\.json")


@frozen
class FirePair:
    """One pair of translations, and what people said of it."""

    number: int  # of the pair in the file, from 1
    source: str  # text that was translated
    translations: tuple[str, str]
    systems: tuple[str, str]
    # FiRE's name of a criterion to the verdicts of three people, in no order
    verdicts: Mapping[str, tuple[Verdict, Verdict, Verdict]]
    levels: Mapping[str, str]  # our name of a criterion to how hard the pair is, `easy` or `hard`

    def label(self, criterion: str) -> Verdict | None:
        """The majority of a criterion; None where each of the three says something else."""
        verdict, count = Counter(self.verdicts[criterion]).most_common(1)[0]
        return verdict if count > 1 else None


def is_fire_folder(path: Path) -> bool:
    """Whether a folder holds the benchmark, a folder with a file for each language pair."""
    return any(_NAME.fullmatch(file.name) for file in find_files(path, "*/*-annotation.json"))


def find_fire_file(path: Path, lp: str | None) -> tuple[Path, str]:
    """The file of one language pair, and the language pair."""
    if not path.is_dir():
        match = _NAME.fullmatch(path.name)
        if match is None and lp is None:
            raise UsageError(f"{path.name} does not say its language pair: give it with --lp")
        return path, canonical_lp(match["lp"] if match else lp or "")
    found = {
        canonical_lp(match["lp"]): file
        for file in find_files(path, "*/*-annotation.json")
        if (match := _NAME.fullmatch(file.name)) is not None
    }
    wanted = choose_lp(found, lp, path)
    return found[wanted], wanted


def read_fire(path: Path, lp: str | None = None) -> ContentWithTexts[Preference]:
    """Read the benchmark of one language pair as test set and gold."""
    file, lp = find_fire_file(path, lp)
    pairs = read_fire_pairs(file)
    segments = tuple(
        Segment(
            segment=str(pair.number),
            lp=lp,
            source=pair.source,
            translations=dict(zip(pair.systems, pair.translations, strict=True)),
            meta={PAIRS: [pair.systems], LEVELS: pair.levels},
        )
        for pair in pairs
    )
    records = []
    met: Counter[str] = Counter()
    for pair in pairs:
        for theirs in pair.verdicts:
            if (label := pair.label(theirs)) is None:
                met[f"pairs without a majority on {CRITERIA[theirs]}"] += 1
                continue
            records.append(
                Preference(
                    lp=lp,
                    segment=str(pair.number),
                    systems=pair.systems,
                    annotator=ANNOTATOR,
                    protocol="pairwise",
                    criterion=CRITERIA[theirs],
                    verdict=label,
                )
            )
    name = file.name.removesuffix("-annotation.json")
    return ContentWithTexts(
        test_set=TestSet(name=f"fire-mt-{name}", segments=segments), records=tuple(records), met=met
    )


def read_fire_pairs(file: Path) -> Sequence[FirePair]:
    rows = read_json(read_text(file), path=file)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise DataError("wanted a list of pairs of translations", path=file)
    return [_pair(Fields(row, f"pair {number}", file), number) for number, row in enumerate(rows, start=1)]


def _pair(row: Fields, number: int) -> FirePair:
    systems = row.name("model1"), row.name("model2")
    if systems[0] == systems[1]:
        row.fail(f"both translations are of {systems[0]!r}")
    verdicts = {name: _verdicts(row, name) for name in CRITERIA if row.has(name)}
    return FirePair(
        number=number,
        source=row.text("src"),
        translations=(row.text("trans1"), row.text("trans2")),
        systems=systems,
        verdicts=verdicts,
        levels={CRITERIA[name]: str(row.mapping(name).get("level")).lower() for name in verdicts},
    )


def _verdicts(row: Fields, criterion: str) -> tuple[Verdict, Verdict, Verdict]:
    judged = row.mapping(criterion)
    counts, label = judged.get("annotation"), judged.get("label")
    if (
        not isinstance(counts, dict)
        or counts.keys() != _COUNTS.keys()
        or not all(isinstance(n, int) and n >= 0 for n in counts.values())
        or sum(counts.values()) != 3
    ):
        row.fail(
            f"{criterion!r} needs 'annotation' with {', '.join(_COUNTS)} of three people, got {counts!r}"
        )
    said = [verdict for name, verdict in _COUNTS.items() for _ in range(counts[name])]
    verdict, count = Counter(said).most_common(1)[0]
    wanted = verdict if count > 1 else "NONE"
    if label is not None and label in {"A", "B", "E", "NONE"} and label != wanted:
        row.fail(f"the label of {criterion!r} is {label}, and three people say {wanted}: {counts!r}")
    return said[0], said[1], said[2]
