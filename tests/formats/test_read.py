"""What a path holds is found out, and what it does not hold is said."""

import io
import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from adjudge.core.scores import RunInfo, Signature
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DataError, UsageError
from adjudge.formats.catalog import CATALOG, cached_path
from adjudge.formats.read import detect, load, read_content, read_judgements, reading_as
from adjudge.store.json_lines import write_records, write_test_set
from adjudge.store.run_directory import write_run_info

SET = TestSet(
    name="set",
    segments=(Segment(segment="1", lp="en-de", source="a"), Segment(segment="1", lp="en-cs", source="a")),
)


def test_a_jsonl_file_is_loaded_whatever_its_name(tmp_path: Path) -> None:
    for name in ("set.jsonl", "set.json", "set"):
        write_test_set(tmp_path / name, SET)
        assert load(tmp_path / name).segments == SET.segments
    assert load(str(tmp_path / "set"), "en-cs").lps == ("en-cs",)


def test_a_run_directory_is_its_test_set_under_its_own_name(tmp_path: Path) -> None:
    info = RunInfo(
        signature=Signature("j", {}), kind="judge", annotator="j", protocol="mqm", test_set={"name": "mine"}
    )
    write_run_info(tmp_path, info)
    write_test_set(tmp_path / "test_set.jsonl", SET)
    write_records(tmp_path / "records.jsonl", [])
    assert detect(tmp_path) == "run"
    assert load(tmp_path) == TestSet(name="mine", segments=SET.segments)
    assert load(tmp_path, "eng/ces").lps == ("en-cs",)


def test_a_folder_with_a_test_set_is_loaded(tmp_path: Path) -> None:
    write_test_set(tmp_path / "test_set.jsonl", SET)
    assert load(tmp_path, "en-de").segments == SET.segments[:1]


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        ("x.jsonl", '{"segment": "1"}\n', "jsonl"),
        ("x.jsonl", "", "jsonl"),
        ("x.jsonl", '\ufeff\r\n{"kind": "failure", "annotator": "a"}\n', "records"),
        ("x.jsonl", '{"src_lang": "zh", "trans_lang": "en"}\n', "ment-jsonl"),
        ("x.jsonl", '{"scores": {}, "src_text": "a", "tgt_text": {}, "doc_id": "b"}\n', "wmt25-jsonl"),
        ("x.tsv", "system\tdoc\tdoc_id\tsource\ttarget\tcategory\tseverity\n", "mqm-tsv"),
        ("x.tsv", "doc_id\tsegment_id\tsource_lang\n", "wmt25"),
        ("x.seg.rating", "", "mtme-ratings"),
        ("x.seg.score", "", "mtme-scores"),
        ("x.avg_seg_scores.tsv", "", "mtme-scores"),
    ],
)
def test_a_file_is_told_by_its_name_or_its_first_line(
    tmp_path: Path, name: str, text: str, form: str
) -> None:
    (tmp_path / name).write_text(text)
    assert detect(tmp_path / name) == form


def test_a_folder_of_no_format_is_refused_with_what_was_looked_for_and_found(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=re.escape("sources (mtme)") + ".*found an empty folder"):
        load(tmp_path)
    for name in "fedcba":
        (tmp_path / name).touch()
    with pytest.raises(DataError, match="found a, b, c, d, e, \\.\\.\\."):
        load(tmp_path)


def test_records_are_no_test_set(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"kind": "failure", "annotator": "a"}\n')
    with pytest.raises(DataError, match="records holds judgements and no texts"):
        load(tmp_path / "r.jsonl")


# Names...


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ADJUDGE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_name_that_is_not_there_is_refused_with_the_names_there_are(cache: Path) -> None:
    with pytest.raises(UsageError, match=r"no file, folder or public test set 'wmt1812'; .*wmt23.*ment"):
        load("wmt1812")


def test_a_public_name_says_how_to_get_it(cache: Path) -> None:
    with pytest.raises(DataError, match=r"`adjudge fetch wmt23` downloads it \(0\.9 GB"):
        load("wmt23", "en-de")


def test_a_public_name_is_loaded_from_the_cache(cache: Path) -> None:
    folder = cache / "test-sets" / "wmt23" / "sources"
    folder.mkdir(parents=True)
    (folder / "en-de.txt").write_text("Hello.\n")
    test_set = load("wmt23", "en-de")
    assert (test_set.name, test_set.segments[0].source) == ("wmt23", "Hello.")


def test_a_public_set_of_one_language_pair_needs_none_named(cache: Path) -> None:
    (cache / "test-sets").mkdir(parents=True)
    heading = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
    row = "A\td\t1\t1\tr\ts\tt\tNo-error\tNo-error\n"
    (cache / "test-sets" / "mqm-ted-zhen.tsv").write_text(heading + row)
    assert load("mqm-ted-zhen").lps == ("zh-en",)
    assert [r.lp for r in read_content("mqm-ted-zhen").records or ()] == ["zh-en"]


def test_a_path_is_stronger_than_a_name(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.mkdir()
    monkeypatch.chdir(cache)
    write_test_set("ment", SET)
    assert load("ment") == TestSet(name="ment", segments=SET.segments)


def test_the_cache_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    entry, ours = CATALOG[0], Path("adjudge", "test-sets", CATALOG[0].name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("ADJUDGE_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cached_path(entry) == tmp_path / ".cache" / ours
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cached_path(entry) == tmp_path / "xdg" / ours
    monkeypatch.setenv("ADJUDGE_CACHE", str(tmp_path / "ours"))
    assert cached_path(entry) == tmp_path / "ours" / "test-sets" / entry.name


def test_every_public_set_is_complete_and_its_pairs_canonical() -> None:
    from adjudge.core.language import canonical_lp
    from adjudge.formats.registry import find_format

    assert len({entry.name for entry in CATALOG}) == len(CATALOG)
    for entry in CATALOG:
        assert entry.url.startswith("https://")
        assert entry.title
        assert entry.licence
        assert find_format(entry.form).reads
        assert [canonical_lp(lp) for lp in entry.lps] == list(entry.lps)
    json.dumps([vars(entry) for entry in CATALOG])


def test_a_campaign_is_read_from_its_export(tmp_path: Path) -> None:
    (tmp_path / "campaign.json").write_text("{}")
    with pytest.raises(DataError, match=r"`adjudge campaign export \S+ FILE.jsonl` writes what is read here"):
        detect(tmp_path)


def pearmut(campaigns: Iterable[str], *, indent: int | None) -> str:
    """What Pearmut says of a WMT26 campaign, whose items have ids like those of WMT26's metrics task."""
    item = {"item_id": "wmt26_###_en_###_de_###_news_###_doc_###_1", "src": "A", "tgt": {"X": "B"}}
    said = {"item": [item], "annotation": [{"X": {"score": 80, "error_spans": []}}]}
    return json.dumps({name: [said] for name in campaigns}, indent=indent)


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("campaigns", [["eng---deu v3"], ["eng---deu v3", "eng---ces v1"]])
def test_annotations_of_wmt26_are_pearmuts_and_no_predictions(
    campaigns: list[str], indent: int | None, tmp_path: Path
) -> None:
    (tmp_path / "annotations.json").write_text(pearmut(campaigns, indent=indent))
    assert detect(tmp_path / "annotations.json") == "pearmut"


@pytest.mark.parametrize(
    "key", ["item", "annotation", "metric_scores", "hypothesis", "kind", "COMET", "schema"]
)
def test_a_format_is_known_by_keys_and_not_by_words_in_its_texts(key: str, tmp_path: Path) -> None:
    odd = f'"{key}": {{"item_id" [' + "\\"
    segment = {
        "lp": "en-de",
        "segment": "1",
        "source": odd,
        "translations": {"A": odd},
        "meta": {"x": {key: 1}},
    }
    (tmp_path / "t.jsonl").write_text(json.dumps(segment) + "\n")
    assert detect(tmp_path / "t.jsonl") == "jsonl"
    assert load(tmp_path / "t.jsonl").segments[0].source == odd


def test_what_a_path_is_may_be_said(tmp_path: Path) -> None:
    (path := tmp_path / "app.json").write_text('{"menu": "Open"}')
    with reading_as("jsonl", [path]), pytest.raises(DataError, match="unknown key 'menu'"):
        load(path)
    with pytest.raises(DataError, match="no known format"):
        load(path)
    with (
        pytest.raises(UsageError, match="spreadsheet is written, not read"),
        reading_as("spreadsheet", [path]),
    ):
        pass


def test_a_path_is_the_same_however_it_is_spelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.json").write_text('{"menu": "Open"}')
    for said in ("app.json", "./app.json", tmp_path / "x" / ".." / "app.json", ["app.json"]):
        for path in (Path("app.json"), tmp_path / "app.json"):
            with reading_as("records", said):
                assert detect(path) == "records"


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "system\tdoc\nA\t1\n", "score,source\n1,x\n"])
def test_a_table_that_is_said_to_be_of_scores_has_their_columns(text: str, tmp_path: Path) -> None:
    (path := tmp_path / "t.csv").write_text(text)
    with reading_as("score-table", path), pytest.raises(DataError, match="a table of scores has a column"):
        read_judgements(path, "en-de")


# A file is what it holds...


SUBTITLES = b"1\n00:00:01,000 --> 00:00:02,500\nHello\n"
OTHERS = [
    ("subtitles.srt", SUBTITLES, "subtitles"),
    ("short.srt", b"1\r\n00:01,000 --> 00:02,500\r\nHello\r\n", "subtitles"),
    ("renamed.txt", SUBTITLES, "subtitles"),
    ("film.vtt", b"WEBVTT\n\n00:01.000 --> 00:02.500\nHello\n", "WebVTT"),
    ("strings.xml", b'<?xml version="1.0"?>\n<resources><string name="a">Hi</string></resources>', "Android"),
    ("app.json", b'{"menu": {"source": "Source"}, "quit": "Quit"}', "JSON with the keys menu, quit"),
    ("app.jsonl", b'{"menu": "Open"}\n', "JSON with the keys menu"),
    ("list.json", b'[{"id": 1, "text": "Hello"}]', "JSON with the keys id, text"),
    ("page.html", b"<html><body>Hello</body></html>", "a page of HTML"),
    ("en-de.mqm.sys.score", b"A\t1\n", "scores of systems"),
    ("prose.txt", b"Hello there.\n", "begins with 'Hello there.'"),
    ("x.txt", b"Hello.\n", "line-aligned files are given with -s and -t"),
    ("x.tgz", b"Hello.\n", "an archive: unpack it first"),
    ("a.docx", b"PK\x03\x04\x14\0word/document.xml", "a zip archive that is no workbook"),
    ("a.xlsx", b"PK\x03\x04\x14\0word/document.xml", "a zip archive that is no workbook"),
    ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Office document of the old kind"),
    ("a.pdf", b"%PDF-1.7\n", "a PDF, which is not read"),
    ("a.htm", b"<!DOCTYPE html>\n<html>", "a page of HTML"),
    ("a.yaml", b"a: b\n", "YAML"),
    ("a.csv", "source,A\nä,b\n".encode("utf-16"), "iconv -f UTF-16 -t UTF-8"),
    ("b.csv", "source,A\nä,b\n".encode("utf-16-be"), "iconv -f UTF-16 -t UTF-8"),
    ("empty.json", b" [\n]\n", "an empty list"),
    ("empty.jsonl", b"[]\n", "an empty list"),
    ("prose.jsonl", b"Hello.\n", "begins with 'Hello.'; `adjudge list formats`"),
    ("prose.xlsx", b"Hello.\n", "begins with 'Hello.'; `adjudge list formats`"),
    *(("x.csv", nothing, "the file is empty") for nothing in (b"", b"\n\n", b"\xef\xbb\xbf")),
]


@pytest.mark.parametrize(("name", "content", "message"), OTHERS)
def test_a_file_is_refused_by_what_it_is_whatever_its_name(
    name: str, content: bytes, message: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=re.escape(message)) as refused:
        detect(tmp_path / name)
    assert len(str(refused.value)) < 250 + len(str(tmp_path))


@pytest.mark.parametrize("name", ["x", "x.jsonl", "x.json"])
def test_json_that_is_no_object_a_line_is_refused_with_what_is_wanted(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    segment = {"segment": "1", "lp": "en-de", "source": "a", "translations": {}}
    for text in (json.dumps([segment]), json.dumps([segment], indent=1), json.dumps(segment, indent=1)):
        path.write_text(text)
        with pytest.raises(DataError, match=r"one (JSON )?object a line is wanted: `jq -c"):
            load(path)


COMET = [{"src": "a", "mt": "b", "ref": "c"}, {"src": "d", "mt": "e", "ref": "f"}]


@pytest.mark.parametrize(
    "text", [json.dumps(COMET), json.dumps(COMET, indent=2), "\n".join(map(json.dumps, COMET))]
)
def test_texts_for_comet_are_those_of_one_system(text: str, tmp_path: Path) -> None:
    (path := tmp_path / "input.json").write_text(text)
    assert detect(path) == "csv"
    first, second = load(path, "en-de")
    assert (first.source, first.translations, first.references) == ("a", {"mt": "b"}, {"ref": "c"})
    assert second.source == "d"
    with pytest.raises(UsageError, match="add --lp"):
        load(path)


def test_a_key_that_texts_for_comet_do_not_have_is_refused(tmp_path: Path) -> None:
    (path := tmp_path / "input.json").write_text(json.dumps([{"src": "a", "mt": "b", "COMET": 1}]))
    with pytest.raises(DataError, match="segment 1: unknown key 'COMET'"):
        load(path, "en-de")


def test_scores_by_document_are_known_by_their_content(tmp_path: Path) -> None:
    lists = {"document_id": "d", "language_pair": "en-de", "domain": "n", "metric_scores": {"M": [1.0]}}
    (path := tmp_path / "scores.txt").write_text(json.dumps(lists) + "\n")
    assert [record.annotator for record in read_judgements(path).records] == ["M"]


def test_scores_of_segments_may_have_another_name_where_that_is_said(tmp_path: Path) -> None:
    (path := tmp_path / "scores.tsv").write_text("A\t1\nA\t2\nB\t3\nB\tNone\n")
    with reading_as("mtme-scores", path):
        found = read_judgements(path, "en-de")
        assert [(r.segment, *r.systems, r.annotator) for r in found.records] == [
            *(("1", "A", "scores"), ("2", "A", "scores"), ("1", "B", "scores"))
        ]
        with pytest.raises(UsageError, match="add --lp"):
            read_judgements(path)
    for name, message in (("x.sys.score", "those of segments are read"), ("x.score", "told by its name")):
        (tmp_path / name).write_text("A\t1\nB\t2\n")
        with reading_as("mtme-scores", tmp_path / name), pytest.raises(DataError, match=message):
            read_judgements(tmp_path / name, "en-de")


HEADING = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
BLANK_FIRST = {
    "mqm-tsv": HEADING + "A\td\t1\t1\tr\ts\tt\tNo-error\tNo-error\n",
    "csv": "source;A\na;b\n",
    "score-table": "system;score\nA;1\n",
}


@pytest.mark.parametrize("form", BLANK_FIRST)
@pytest.mark.parametrize("blank", ["\n", "\n\n", " \r\n"])
def test_empty_lines_before_a_heading_are_skipped(form: str, blank: str, tmp_path: Path) -> None:
    (path := tmp_path / "x").write_text(blank + BLANK_FIRST[form], newline="")
    assert detect(path) == form
    content = read_content(path, lp="en-de")
    assert content.records or content.test_set


def test_an_empty_line_before_numbers_may_be_a_score_that_is_missing(tmp_path: Path) -> None:
    (path := tmp_path / "x.txt").write_text("\n1\n2\n")
    with pytest.raises(DataError, match=r"the line is empty: write None for a missing score.*line 1"):
        read_judgements(path, "en-de")


def test_a_folder_is_not_said_to_be_what_it_is_not(tmp_path: Path) -> None:
    for name, text in (
        ("sources/en-de.txt", '{"src": "a"}\n'),
        ("system-outputs/en-de/A", '{"trans": "b"}\n'),
    ):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    assert detect(tmp_path) == "ment"
    for form in ("mtme", "mqm-tsv", "run"):
        with reading_as(form, tmp_path), pytest.raises(UsageError, match=f"a folder, and not one of {form}"):
            load(tmp_path)
    with reading_as("ment", tmp_path):
        assert load(tmp_path).segments[0].translations == {"A": "b"}


@pytest.mark.parametrize("form", BLANK_FIRST)
def test_standard_input_is_told_by_its_beginning(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(BLANK_FIRST[form].encode())))
    content = read_content("-", lp="en-de")
    assert content.records or content.test_set


def test_standard_input_that_nobody_knows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"A\t0.5\n")))
    with pytest.raises(DataError, match=r"no known format: .* --from NAME"):
        load("-")


def test_of_a_folder_of_runs_the_runs_are_named(tmp_path: Path) -> None:
    for name in "abcd":
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text("{}")
    (tmp_path / "e").mkdir()
    named = ", ".join(re.escape(str(tmp_path / name)) for name in "abc")
    with pytest.raises(DataError, match=rf"a folder of runs; name a run: {named}, \.\.\. "):
        read_judgements(tmp_path)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("there/test_set.jsonl", "`adjudge demo --out demo` writes"),
        ("test_set.jsonl", "`adjudge demo --out demo` writes"),
        ("mine.jsonl", None),
    ],
)
def test_of_a_file_of_the_demo_it_is_said_how_it_is_written(name: str, said: str | None) -> None:
    with pytest.raises(UsageError) as refused:
        load(name)
    assert ("adjudge demo" in str(refused.value)) == bool(said)
    assert (said or "") in str(refused.value)
