"""A folder from somebody else brings no file of this machine to a model: links out of it are refused."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import adjudge
from adjudge import examples
from adjudge.errors import DataError
from adjudge.formats.ment import write_ment_folder
from adjudge.formats.mtme import find_score_files, write_mtme
from adjudge.formats.read import detect, load, read_content
from adjudge.formats.registry import FORMATS
from adjudge.formats.text import write_text_folder
from adjudge.store.json_lines import write_test_set

SET = load(examples.path("test_set.jsonl"), "en-de").select(limit=3)


def write_all(folder: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")


def mtme(folder: Path) -> None:
    write_mtme(folder, SET)
    write_all(folder, {"documents/en-de.docs": "news\td\n" * 3})


def run(folder: Path) -> None:
    adjudge.run("chrf", SET, out=folder)


def fire(folder: Path) -> None:
    pair = {"src": "One.", "trans1": "Eins.", "trans2": "Ein.", "model1": "A", "model2": "B"}
    write_all(folder, {"en-de/en-de-annotation.json": json.dumps([pair])})


def challenge(folder: Path) -> None:
    kinds = ("src", "ref", "hyp-1", "meta")
    write_all(folder, {f"set.en-de.{kind}.txt": "news\td\nnews\td\n" for kind in kinds})


def scores(folder: Path) -> None:
    row = {"language_pair": "en-de", "domain": "news", "document_id": "d", "metric_scores": {"X": [1.0]}}
    write_all(folder, {f"{system}.jsonl": json.dumps(row) + "\n" for system in "AB"})


def systems(folder: Path) -> None:
    document = {"doc_id": "en-de_#_news_#_d"}
    source = document | {"src_text": "<p>One.</p>", "refs": {}}
    told = {f"{system}.jsonl": json.dumps(document | {"hypothesis": "<p>Eins.</p>"}) for system in "AB"}
    write_all(folder, {name: text + "\n" for name, text in told.items()})
    write_all(folder, {"sources.jsonl": json.dumps(source) + "\n"})


WRITERS: dict[str, Callable[[Path], object]] = {
    "run": run,
    "ment": lambda folder: write_ment_folder(folder, SET),
    "mtme": mtme,
    "text": lambda folder: write_text_folder(folder, SET),
    "fire-mt": fire,
    "jsonl": lambda folder: write_test_set(folder / "test_set.jsonl", SET),
    "wmt-challenge": challenge,
    "wmt-scores": scores,
    "wmt-systems": systems,
}


def read(folder: Path) -> object:
    content = read_content(folder, lp="en-de")
    return content.test_set and content.test_set.segments, content.records


def texts_in(folder: Path, form: str) -> list[Path]:
    """Files that a reader of a format opens; of a run, those whose texts a model would see."""
    if form == "run":
        return [folder / "test_set.jsonl"]
    return sorted(file for file in folder.rglob("*") if file.is_file())


def test_every_folder_that_is_read_is_tried_here() -> None:
    assert {form.name for form in FORMATS if form.reads and form.files} <= WRITERS.keys()


@pytest.mark.parametrize("form", WRITERS)
def test_links_lead_nowhere_but_into_the_folder(form: str, tmp_path: Path) -> None:
    folder, outside = tmp_path / "set", tmp_path / "outside"
    outside.mkdir()
    WRITERS[form](folder)
    assert detect(folder) == form
    before = read(folder)
    for file in texts_in(folder, form):
        for place in (outside / "secret", folder / "elsewhere" / "kept"):
            place.parent.mkdir(exist_ok=True)
            file.rename(place)
            file.symlink_to(place)
            if place.is_relative_to(folder):
                assert read(folder) == before, file
            else:
                with pytest.raises(DataError, match=re.escape(str(place))) as refused:
                    read(folder)
                assert refused.value.path == file
            place.rename(file)
        place.parent.rmdir()
    alias = tmp_path / "alias"
    alias.symlink_to(folder)  # the folder itself may be given by a link
    assert read(alias) == before


@pytest.mark.parametrize("form", ["mtme", "ment"])
def test_a_folder_behind_a_link_is_as_far_away_as_a_file(form: str, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    WRITERS[form](folder)
    (folder / "system-outputs" / "en-de").rename(tmp_path / "home")
    (folder / "system-outputs" / "en-de").symlink_to(tmp_path / "home")
    with pytest.raises(DataError, match="leads out of"):
        load(folder)


def test_sources_beside_a_file_of_one_system_are_no_link_either(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    systems(folder)
    (folder / "sources.jsonl").rename(tmp_path / "secret.jsonl")
    (folder / "sources.jsonl").symlink_to(tmp_path / "secret.jsonl")
    with pytest.raises(DataError, match="leads out of"):
        load(folder / "A.jsonl")


def test_score_files_are_no_links_either(tmp_path: Path) -> None:
    mtme(tmp_path / "set")
    write_all(tmp_path, {"secret": "A\t1\n" * 3})
    for place in ("human-scores/en-de.mqm.seg.score", "metric-scores/en-de/X-refA.seg.score"):
        link = tmp_path / "set" / place
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(tmp_path / "secret")
        with pytest.raises(DataError, match="leads out of"):
            find_score_files(tmp_path / "set", "en-de")
        link.unlink()
