"""MENT (the RATE paper), in its two forms: a folder like mt-metrics-eval's, and JSONL as on the hub.

The folder: every line of `sources/L.txt`, `references/L.txt` and `system-outputs/L/SYSTEM` (no extension) is
an object: `{"src": ...}`, `{"ref": ...}`, `{"trans": ...}`. So a text may hold line ends.
`human-scores/L.seg.score` is on a scale of 0 to 4. Mind that `L.sys.score`, of people and of RATE alike, is
the *sum* over segments, not the mean: `read_score_file` gives it as it stands.

The JSONL: `qid, src_lang, trans_lang, src, ref, trans_0 ..., avg_trans_0_score ...`, where `trans_3` is the
translation of `system_3` and `avg_trans_3_score` the mean of its annotators. Anything else goes to `meta`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Final

from adjudge.core.language import pair_of
from adjudge.core.record import Annotation
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DataError, UsageError
from adjudge.formats.mtme import choose_lp, find_lps
from adjudge.formats.text import absent_translations, check_file_name, json_objects, left_out
from adjudge.store.files import Fields, find_files, read_fields, read_json_lines, write_lines

REFERENCE: Final = "ref"
ANNOTATOR: Final = "ment"


def is_ment_folder(path: Path) -> bool:
    """Whether a folder is in this form: outputs have no extension, and the lines of a source are objects."""
    for stem in find_lps(path).values():
        outputs = [file.name for file in find_files(path, f"system-outputs/{stem}/*")]
        if outputs and all(name.endswith(".txt") for name in outputs):
            return False
        with (path / "sources" / f"{stem}.txt").open("rb") as file:
            return file.readline().startswith(b'{"src"')
    return False


def read_ment_folder(path: Path, lp: str | None = None) -> TestSet:
    """Read one language pair of a folder; segment ids are line numbers, from 1."""
    lps = find_lps(path)
    lp = choose_lp(lps, lp, path)
    stem = lps[lp]
    source = path / "sources" / f"{stem}.txt"
    sources = _read_column(source, "src")
    outputs = find_files(path, f"system-outputs/{stem}/*")
    columns = {file.name: _read_column(file, "trans", sources, source) for file in outputs}
    reference = find_files(path, f"references/{stem}.txt")
    references = _read_column(reference[0], "ref", sources, source) if reference else []
    segments = tuple(
        Segment(
            segment=str(index + 1),
            lp=lp,
            source=text,
            translations={name: column[index] for name, column in columns.items()},
            references={REFERENCE: references[index]} if references else {},
        )
        for index, text in enumerate(sources)
    )
    return TestSet(name=path.resolve().name, segments=segments)


def _read_column(
    file: Path, key: str, sources: list[str] | None = None, source: Path | None = None
) -> list[str]:
    known = frozenset({key})
    found = [read_fields(value, known, "MENT", file, line).text(key) for line, value in read_json_lines(file)]
    if sources is not None and len(found) != len(sources):
        raise DataError(f"{file} has {len(found)} lines, {source} has {len(sources)}; they need equally many")
    return found


def write_ment_folder(path: Path, test_set: TestSet) -> Counter[str]:
    """Write the folder form, and count what it cannot hold."""
    files: dict[Path, tuple[str, list[str]]] = {}
    if len(test_set.references) > 1:
        raise DataError(f"MENT has one reference, the test set has {', '.join(test_set.references)}")
    for lp in test_set.lps:
        part = test_set.select(lp=lp)
        files[path / "sources" / f"{lp}.txt"] = ("src", [s.source for s in part])
        for name in part.systems:
            file = path / "system-outputs" / lp / check_file_name(name)
            files[file] = ("trans", [s.translations.get(name, "") for s in part])
        for name in part.references:
            file = path / "references" / f"{lp}.txt"
            files[file] = ("ref", _references(part, name))
    for file, (key, texts) in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        write_lines(file, (json.dumps({key: text}, ensure_ascii=False) for text in texts))
    renamed = Counter({f"names of references became {REFERENCE!r}": set(test_set.references) != {REFERENCE}})
    lost = left_out(test_set, holds_documents=False) + absent_translations(test_set)
    return lost + renamed if test_set.references else lost


def _references(test_set: TestSet, name: str) -> list[str]:
    missing = [s.segment for s in test_set if name not in s.references]
    if missing:
        raise DataError(
            f"MENT cannot say that a reference is missing: {name!r} lacks {len(missing)} segments, the "
            f"first is {missing[0]!r}"
        )
    return [s.references[name] for s in test_set]


_TRANSLATION: Final = re.compile(r"trans_([0-9]+)")
_SCORE: Final = re.compile(r"avg_trans_([0-9]+)_score")


def read_ment_file(path: Path) -> TestSet:
    """Read the test set of the JSONL form."""
    segments = tuple(map(_segment, json_objects(path, "MENT")))
    return TestSet(name=path.name.split(".")[0], segments=segments)


def _segment(fields: Fields) -> Segment:
    translations = {
        f"system_{m[1]}": fields.text(key) for key in fields.values if (m := _TRANSLATION.fullmatch(key))
    }
    known = {"qid", "src_lang", "trans_lang", "src", "ref"} | {
        key for key in fields.values if _TRANSLATION.fullmatch(key) or _SCORE.fullmatch(key)
    }
    return Segment(
        segment=_id(fields),
        lp=_lp(fields),
        source=fields.text("src"),
        translations=translations,
        references={REFERENCE: fields.text("ref")} if fields.has("ref") else {},
        meta={key: value for key, value in fields.values.items() if key not in known},
    )


def _id(fields: Fields) -> str:
    return str(fields.whole("qid")) if isinstance(fields.values.get("qid"), int) else fields.name("qid")


def _lp(fields: Fields) -> str:
    try:
        return pair_of(fields.text("src_lang"), fields.text("trans_lang"))
    except UsageError as error:
        fields.fail(str(error))


def read_ment_ratings(path: Path) -> list[Annotation]:
    """Read the mean ratings of the JSONL form, 0 to 4, as annotations of `ment`; null is no annotation."""
    return [
        Annotation(
            lp=_lp(fields),
            segment=_id(fields),
            system=f"system_{match[1]}",
            annotator=ANNOTATOR,
            protocol="sqm",
            rating=fields.number(key),
        )
        for fields in json_objects(path, "MENT")
        for key in fields.values
        if (match := _SCORE.fullmatch(key)) and fields.has(key)
    ]
