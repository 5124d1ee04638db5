"""What names its language pair keeps it, in any spelling and in every format; --lp chooses among pairs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.analysis.segment_scores import score_records
from adjudge.core.language import canonical_lp, is_same_language, lp_among, one_spelling, pair_of
from adjudge.core.record import Annotation
from adjudge.errors import AdjudgeError, DataWarning, UsageError
from adjudge.formats.campaign_export import CampaignFile
from adjudge.formats.convert import write_content
from adjudge.formats.file_content import content_of
from adjudge.formats.join import put_together
from adjudge.formats.read import load, read_content, read_judgements
from tests.formats.campaigns import submission

TAGS = {
    "de": (
        *("de", "DE", "deu", "ger", "de-DE", "de_DE", "DE_DE", "de_DE@euro", "deu_Latn", "de-Latn-DE"),
        *("de_DE.UTF-8", "de_DE.ISO-8859-1@euro"),
    ),
    "fr": ("fr", "FR", "Fr", "fra", "fre", "fr-FR", "FR_fr", "fra_Latn", "fr_FR.utf8"),
    "zh": ("zh", "ZH", "zho", "chi", "cmn", "zh_Hans", "zh-hans", "zho_Hans", "zh-CN", "zh_cn", "zh-Hans-CN"),
    "zh_Hant": ("zh_Hant", "zh-TW", "zh_tw", "zho_Hant", "zh-Hant-TW", "cmn_Hant"),
    "zh_HK": ("zh-HK", "zh_hk", "zh-Hant-HK"),
    "sr": ("sr", "srp", "sr-Cyrl", "sr_RS", "sr_Cyrl_RS", "sr_RS@cyrillic"),
    "sr_Latn": ("sr@latin", "sr_Latn", "sr-latn-rs", "sr_RS@latin", "sr_RS.UTF-8@latin", "srp_Latn"),
    "pt": ("pt", "PT", "por", "pt-BR", "pt_br", "por_Latn"),
    "pt_PT": ("pt-PT", "pt_pt", "pt_PT.UTF-8"),
    "ca": ("ca", "cat", "ca-ES"),
    "ca_valencia": ("ca@valencia", "ca-valencia", "ca-ES-VALENCIA", "ca_ES@valencia", "ca_ES.UTF-8@valencia"),
    "de_AT": ("de-AT", "de_at", "de_AT.UTF-8"),
    "de_1901": ("de-1901", "de-DE-1901"),
    "es_MX": ("es-MX", "es_mx", "spa_Latn_MX"),
    "es_419": ("es-419", "ES_419"),
    "he": ("he", "iw", "heb", "he-IL"),
    "en": ("en", "EN", "En", "eng", "ENG", "en-US", "en_us", "eng_Latn", "EN-LATN-US", "en_US.UTF-8"),
}
SPELLINGS = [(kind, tag) for kind, tags in TAGS.items() for tag in tags]


@pytest.mark.parametrize(("kind", "tag"), SPELLINGS)
def test_a_tag_is_the_language_that_it_means_and_no_other(kind: str, tag: str) -> None:
    assert len(SPELLINGS) > 60
    assert [other for other in TAGS if is_same_language(tag, other)] == [kind]


@pytest.mark.parametrize(
    "tag", ["", "e", "english-gb", "xx", "de_DE@", "de@unheard", "de-", "-de", "sr@latin@x"]
)
def test_what_is_no_tag_is_refused(tag: str) -> None:
    with pytest.raises(UsageError, match="no language code"):
        pair_of("en", tag)


@given(
    st.sampled_from(["en", "de_AT", "zh_Hant_TW", "sr_Latn", "ca_valencia", "pt_BR", "es_419"]),
    st.sampled_from(["fr", "zh_CN", "sr_Cyrl_RS", "de_1996", "he", "bho"]),
    st.data(),
)
def test_case_and_separators_have_no_meaning(source: str, target: str, data: st.DataObject) -> None:
    def odd(tag: str) -> str:
        swap = data.draw(st.lists(st.booleans(), min_size=len(tag), max_size=len(tag)))
        text = "".join(c.swapcase() if turn else c for c, turn in zip(tag, swap, strict=True))
        return text.replace("_", data.draw(st.sampled_from("-_")))

    assert pair_of(odd(source), odd(target)) == f"{source}-{target}"


def test_a_pair_is_found_as_it_is_spelled_there() -> None:
    there = ["en-zh_TW", "en-zh_Hans", "en-pt", "en-pt_BR"]
    assert lp_among("en-zh", there, "x") == "en-zh_Hans"
    with pytest.warns(DataWarning, match="x spells en-pt_BR also en-pt: what is spelled so is left out"):
        assert lp_among("en-pt_BR", there, "x") == "en-pt_BR"
    with pytest.warns(DataWarning, match="x spells en-pt also en-pt_BR"):
        assert lp_among("eng_Latn-por", there, "x") == "en-pt"
    assert lp_among(None, there, "x") is None
    with pytest.raises(UsageError, match="x has no lp 'en-zh_HK'; it has en-zh_TW, en-zh_Hans, en-pt"):
        lp_among("en-zh_HK", there, "x")


def test_the_first_input_says_how_a_pair_is_spelled() -> None:
    given = [["en-de"], ["en_Latn-de_DE", "he-en"], ["en-pt", "en-pt_BR"], ["en-pt_BR"], ["en-de_AT"]]
    assert one_spelling(given) == [{}, {"en_Latn-de_DE": "en-de"}, {}, {}, {}]


XLIFF = (
    '<xliff version="1.2"><file original="a" source-language="{}" target-language="{}" datatype="x"><body>'
)
XLIFF += (
    '<trans-unit id="1"><source>Open 1 file</source><target>T</target></trans-unit></body></file></xliff>'
)
XLIFF2 = '<xliff version="2.0" xmlns="urn:oasis:names:tc:xliff:document:2.0" srcLang="{}" trgLang="{}">'
XLIFF2 += (
    '<file id="a"><unit id="1"><segment><source>A</source><target>T</target></segment></unit></file></xliff>'
)
TMX = '<tmx version="1.4"><header srclang="{0}"/><body><tu tuid="1"><tuv xml:lang="{0}"><seg>A</seg></tuv>'
TMX += '<tuv xml:lang="{1}"><seg>T</seg></tuv></tu></body></tmx>'
PO = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n"Language: {1}\\n"\n'
PO += '"X-Source-Language: {0}\\n"\n\nmsgid "A"\nmsgstr "T"\n'
BATCH = (
    '[{{"task": {{"batchNo": 1, "sourceLanguage": "{}", "targetLanguage": "{}"}}, "items": [{{"itemID": 1, '
)
BATCH += '"itemType": "TGT", "documentID": "d#A", "sourceID": "s", "targetID": "s.A", "sourceText": "A", '
BATCH += '"targetText": "T", "mqm": [], "_item": "A | 0 | d", "isCompleteDocument": false}}]}}]'
MENT = '{{"qid": "1", "src_lang": "{}", "trans_lang": "{}", "src": "A", "trans_0": "T"}}\n'
FILES = {
    "a.xlf": XLIFF,
    "b.xlf": XLIFF2,
    "a.tmx": TMX,
    "a.po": PO,
    "batches.json": BATCH,
    "ment.jsonl": MENT,
    "a.csv": "source,A,lp\nA,T,{}>{}\n",
    "set.jsonl": '{{"segment": "1", "lp": "{}>{}", "source": "A", "translations": {{"A": "T"}}}}\n',
}
ODD = [
    ("en", "FR", "en-fr"),
    ("EN", "Fr", "en-fr"),
    ("en-US", "DE", "en_US-de"),
    ("en", "sr@latin", "en-sr_Latn"),
    ("he", "de_DE.UTF-8", "he-de_DE"),
    ("eng", "ca-ES-valencia", "en-ca_ES_valencia"),
    ("ZH-cn", "EN", "zh_CN-en"),
]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(("source", "target", "lp"), ODD)
def test_every_reader_takes_an_odd_spelling_and_no_wrong_label(
    tmp_path: Path, name: str, source: str, target: str, lp: str
) -> None:
    path = tmp_path / name
    path.write_text(FILES[name].format(source, target))
    assert load(path).lps == (lp,)
    assert load(path, lp).lps == (lp,)
    spelled = f"{source.partition('.')[0].partition('@')[0].lower()}>{lp.partition('-')[2]}"
    assert load(path, spelled).lps == (lp,)
    with pytest.raises(UsageError, match=path.name):
        load(path, "ja-cs")


@pytest.mark.parametrize("name", FILES)
def test_a_language_that_is_none_is_refused_with_the_name_of_the_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(FILES[name].format("en", "xx"))
    with pytest.raises(AdjudgeError, match="xx") as refused:
        load(path)
    assert str(path) in str(refused.value)


def record(lp: str, segment: str, system: str, rating: float, person: str = "ann") -> Annotation:
    about: dict[str, Any] = {"lp": lp, "segment": segment, "document": "d", "protocol": "esa"}
    return Annotation(**about, system=system, annotator=person, rating=rating)


def test_two_inputs_that_spell_a_pair_in_two_ways_are_of_one(tmp_path: Path) -> None:
    from adjudge.analysis.compare import compare

    lines = {}
    for name, lp in (("a", "en-de"), ("b", "eng_Latn-de_DE")):
        lines[name] = tmp_path / f"{name}.csv"
        rows = [f"{lp},{n},S,{50 + n + (name == 'b')}" for n in range(1, 13)]
        lines[name].write_text("lp,segment,system,score\n" + "\n".join(rows))
    one, other = put_together([read_judgements(path) for path in lines.values()], "sources").sides
    assert {r.lp for r in (*one.records, *other.records)} == {"en-de"}
    found = compare(lines["a"], lines["b"], lp="en_US-de")
    assert found.whole.difference.units == 12


def test_a_campaign_that_names_its_pair_is_chosen_and_never_relabelled(tmp_path: Path) -> None:
    def line(model: dict[str, float]) -> dict[str, object]:
        item = {"item_id": "1", "doc_id": "d", "src": "A", "tgt": dict.fromkeys(model, "T")}
        said = {name: {"score": score, "error_spans": []} for name, score in model.items()}
        return {"item": [item], "annotation": [said], "user_id": "ann"}

    path = tmp_path / "annotations.json"
    ours = {"x_#_eng---deu": [line({"A": 90, "B": 10})], "x_#_heb---eng": [line({"A": 13, "B": 93})]}
    path.write_text(json.dumps(ours))
    for lp, ratings in (("en-de", [90, 10]), ("he-EN".lower(), [13, 93]), ("eng-deu", [90, 10])):
        records = read_content(path, lp=lp).records
        assert [r.rating for r in records if isinstance(r, Annotation)] == ratings
        assert {r.lp for r in records} == {canonical_lp(lp)}
    with pytest.raises(UsageError, match=r"annotations\.json.* has no lp 'en-cs'; it has en-de, he-en"):
        read_content(path, lp="en-cs")


def annotated(path: Path, lp: str) -> list[Annotation]:
    return [r for r in read_content(path, lp=lp).records if isinstance(r, Annotation)]


def test_a_table_of_scores_and_documents_of_marks_keep_the_pairs_that_they_name(tmp_path: Path) -> None:
    table = tmp_path / "scores.csv"
    table.write_text("lp,segment,system,score\nEN>DE,1,A,90\nhe>en,1,A,10\n")
    assert [(r.lp, r.rating) for r in annotated(table, "en-de")] == [("en-de", 90.0)]
    with pytest.raises(UsageError, match=r"scores\.csv has no lp 'en-cs'; it has en-de, he-en"):
        read_content(table, lp="en-cs")
    marks = tmp_path / "marks.tsv"
    heading = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
    rows = [
        f"A\td:{lp}\t1\t{n}\tann\tS\tT\tNo-error\tno-error\n" for n, lp in enumerate(("EN_de", "he-en"), 1)
    ]
    marks.write_text(heading + "".join(rows))
    for lp, segment in (("en-de", "1"), ("he-en", "2")):
        assert [(r.lp, r.segment) for r in read_content(marks, lp=lp).records] == [(lp, segment)]
    with pytest.raises(UsageError, match=r"marks\.tsv has no lp 'en-cs'; it has en-de, he-en"):
        read_content(marks, lp="en-cs")
    with pytest.raises(UsageError, match=r"marks\.tsv has 2 language pairs: add --lp"):
        read_content(marks)


RATINGS = {"en-de": {"A": (90, 80, 70), "B": (10, 20, 30)}, "he-en": {"A": (13, 9, 5), "B": (93, 99, 98)}}


def campaign(lps: tuple[str, ...]) -> CampaignFile:
    said = [
        submission(
            person,
            1 + 2 * list(RATINGS).index(lp) + place,
            system,
            f"{system} {number} {lp}",
            lp=lp,
            segment=str(number + 1),
            item=number,
            records=(record(lp, str(number + 1), system, rating, person),),
            source=f"source {number} {lp}",
            started=float(number),
            ended=number + 0.5,
        )
        for person in ("ann", "ben")
        for lp in lps
        for place, (system, ratings) in enumerate(RATINGS[lp].items())
        for number, rating in enumerate(ratings)
    ]
    return CampaignFile(name="autumn", protocol="esa", submissions=tuple(said))


@pytest.mark.parametrize(("form", "name"), [("appraise", "out.csv"), ("pearmut", "out.jsonl")])
def test_a_campaign_of_two_pairs_comes_back_as_each_pair_alone(tmp_path: Path, form: str, name: str) -> None:
    found: dict[str, dict[str, float | None]] = {}
    for lps in (("en-de",), ("he-en",), ("en-de", "he-en")):
        path = tmp_path / "-".join(lps) / name
        path.parent.mkdir()
        write_content(path, form, content_of(campaign(lps)), force=False)
        for lp in lps:
            content = read_content(path, lp=lp)
            scores = score_records(content.records, lp=lp)
            assert content.test_set is not None
            assert content.test_set.lps == (lp,)
            assert [s.segment for s in content.test_set] == ["1", "2", "3"]
            told = {s.system: s.score for s in scores.systems}
            assert found.setdefault(lp, told) == told
        whole = read_judgements(path)
        assert {r.lp for r in whole.records} == set(lps)
        assert len(whole.records) == 12 * len(lps)
    assert found["en-de"]["A"] == 80
    assert found["he-en"]["A"] == 9


def test_a_row_of_another_pair_than_its_batch_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    write_content(path, "appraise", content_of(campaign(("en-de",))), force=False)
    path.write_text(path.read_text().replace(",en,de,", ",eng,DE,"))
    assert len(read_judgements(path).records) == 12
    path.write_text(path.read_text().replace(",eng,DE,", ",heb,eng,", 1))
    for as_campaign in (False, True):
        with pytest.raises(AdjudgeError, match=r"batch 1 has no lp 'he-en'; it has en-de .*out\.csv"):
            read_content(path, as_campaign=as_campaign)
