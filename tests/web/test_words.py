"""Annotators' pages in their language: which one it is, what is translated, and what stays English."""

import json
import re
from collections.abc import Mapping
from html import unescape
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from adjudge.campaigns.campaign import read_guidelines
from adjudge.campaigns.exporting import export_campaign
from adjudge.campaigns.people import people
from adjudge.errors import DataError, UsageError
from adjudge.web.catalogues import (
    Words,
    choose,
    missing_by_language,
    read_catalogue,
    read_words,
    texts_of,
    write_words,
)
from tests.web.client import Client, Response
from tests.web.conftest import House, OpenHouse
from tests.web.test_api import change, items_of

WEB = Path(read_words.__code__.co_filename).parent
NAME = re.compile(r"\{\w+\}")
CALL = re.compile(r"(?<![\w.$])(?:t|_)\(")
LITERAL = re.compile(r'(?<![\w.$])(?:t|_)\(\s*"(?:[^"\\]|\\.)*"[,)]')


def write_po(path: Path, texts: Mapping[tuple[str, str], str], *, flags: str = "") -> None:
    """Write a catalogue by hand, as people would."""
    lines = ['msgid ""', 'msgstr "Content-Type: text/plain; charset=UTF-8\\n"', ""]
    for (context, text), said in texts.items():
        lines += [f"#, {flags}"] if flags else []
        lines += [f"msgctxt {json.dumps(context)}"] if context else []
        lines += [f"msgid {json.dumps(text, ensure_ascii=False)}"]
        lines += [f"msgstr {json.dumps(said, ensure_ascii=False)}", ""]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines), encoding="utf-8")


def translated(house: House, code: str, texts: Mapping[tuple[str, str], str]) -> House:
    """The same house, after its organiser translated something."""
    write_po(house.campaign.folder / "words" / f"{code}.po", texts)
    return House(house.campaign, house.links, house.clock)


def reader(house: House, code: str, name: str = "annotator-1") -> Client:
    """The browser of a person, which likes one language best."""
    client = house.browser(name)
    client.headers = {"accept-language": code}
    return client


def task_page(house: House, code: str) -> Response:
    """Their page of a task."""
    client = reader(house, code)
    return client.get(f"/work/{client.post('/api/next').json()['assignment']}")


def html_of(page: Response) -> str:
    """Language and direction of a page."""
    found = re.search('<html lang="([^"]*)" dir="([^"]*)"', page.text)
    assert found is not None
    return " ".join(found.groups())


def script_of(page: Response) -> dict[str, str]:
    """What words.js reads."""
    found = re.search('<script type="application/json" id="words">(.*?)</script>', page.text)
    assert found is not None
    words: dict[str, str] = json.loads(found[1])
    return words


# Texts...


def test_every_text_stands_where_it_is_said() -> None:
    wrong = []
    for path in (*WEB.glob("templates/**/*.html"), *WEB.glob("static/js/*.js")):
        code = re.sub(r"(?m)^ ?(?:/\*|\*|//).*$", "", path.read_text(encoding="utf-8"))
        wrong += [path] * (len(CALL.findall(code)) != len(LITERAL.findall(code)))
    assert not wrong, "a text is one literal with double quotes"


def test_texts_are_found_in_templates_and_scripts() -> None:
    assert "Skip to the content" in texts_of("template")
    assert "You have done" not in texts_of("template")
    assert "All saved" in texts_of("script")
    assert "All saved" not in texts_of("template")
    assert not any("{}" in text for text in [*texts_of("template"), *texts_of("script")])


def test_a_catalogue_has_our_texts_alone_and_their_names() -> None:
    texts = {("", text) for text in [*texts_of("template"), *texts_of("script")]}
    differing = {path.stem: read_catalogue(path).keys() ^ texts for path in WEB.glob("locale/*.po")}
    assert differing == {code: set() for code in differing}, "a text lacks, or the {names} in it"
    assert differing


def test_what_is_empty_or_fuzzy_is_missing(tmp_path: Path) -> None:
    write_po(tmp_path / "words" / "eo.po", {("", "Copy"): "", ("anchor", "Copy"): "Kopii"})
    assert read_catalogue(tmp_path / "words" / "eo.po") == {("anchor", "Copy"): "Kopii"}
    write_po(tmp_path / "words" / "eo.po", {("", "Copy"): "Kopii"}, flags="fuzzy")
    assert read_catalogue(tmp_path / "words" / "eo.po") == {}
    for said in ("Restas nenio.", "{loko}: restas {what}.", "{segment}: restas {kio}."):
        write_po(tmp_path / "words" / "eo.po", {("", "{segment}: still to do: {what}."): said})
        assert read_catalogue(tmp_path / "words" / "eo.po") == {}


def test_what_is_no_catalogue_is_refused_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "words" / "de.po"
    path.parent.mkdir()
    for content in (b'msgid "open', b"\xff\xfe", b'msgstr "nothing before"\nand "so on'):
        path.write_bytes(content)
        with pytest.raises(DataError, match=re.escape("de.po")):
            read_words(tmp_path)
    path.unlink()
    write_po(path.with_name("notes.po"), {})
    with pytest.raises(UsageError, match="notes"):
        read_words(tmp_path)


def test_names_are_put_in_and_texts_are_no_markup() -> None:
    words = Words(language="eo", texts={("", "Task {number}"): "<b>{number}</b> & {other}"})
    assert (
        words.say("Task {number}", number="<i>{other}") == "&lt;b&gt;&lt;i&gt;{other}&lt;/b&gt; &amp; {other}"
    )
    assert words.say("Not there {number}", number=1) == "Not there 1"
    assert words.say_protocol("anchor", "Task {number}") == "Task {number}"


# Which language...


def test_a_browser_is_given_what_it_likes_best() -> None:
    chosen = {
        "": "en",
        "DE-at, en;q=0.8": "de",
        "en, de;q=0.9": "en",
        "fr;q=0.9, de;q=0.1": "de",
        "de;q=0.1, ar;q=0.2": "ar",
        "de;q=0, ar;q=0.000": "en",
        "pt": "pt_BR",
        "pt-br": "pt_BR",
        "zh-TW, *;q=0.1": "en",
        "*": "en",
        "de;q=2, ;;q, =, ar;q=1.": "ar",
        "\x00é" * 100: "en",
    }
    assert {accepted: choose(["ar", "de", "en", "pt_BR"], accepted) for accepted in chosen} == chosen


def test_pages_before_the_sign_in_are_in_the_browsers_language(house: House) -> None:
    house = translated(house, "eo", {("", "Go to the start"): "Al la komenco", ("", "Sign in"): "Ensaluti"})
    client = Client(house.app, headers={"accept-language": "eo"})
    assert [html_of(client.get(path)) for path in ("/", "/sign-in", "/nowhere")] == 3 * ["eo ltr"]
    assert "Al la komenco" in client.get("/nowhere").text
    assert "Ensaluti" in client.get("/sign-in").text
    assert html_of(house.browser().get("/")) == "en ltr"


def test_a_person_chooses_and_keeps_a_language(house: House) -> None:
    house = translated(house, "eo", {("", "Sign out"): "Elsaluti"})
    client = reader(house, "eo")
    assert "Elsaluti" in client.get("/work").text
    assert client.post("/api/language", {"language": "en"}).json() == {"language": "en"}
    assert "Sign out" in client.get("/work").text
    assert html_of(client.get("/nowhere")) == "eo ltr"  # nobody asks who it is
    assert [one.language for one in people(house.campaign) if one.name == "annotator-1"] == ["en"]
    again = reader(house, "eo")
    assert html_of(again.get("/work")) == "en ltr"
    assert client.post("/api/language", {"language": "xx"}).status == 422
    other = house.browser("annotator-2")
    assert '<option value="eo" lang="eo">Esperanto</option>' in other.get("/work").text


def test_a_language_that_is_gone_is_no_error(house: House) -> None:
    house = translated(house, "eo", {})
    house.browser("annotator-1").post("/api/language", {"language": "eo"})
    (house.campaign.folder / "words" / "eo.po").unlink()
    house = House(house.campaign, house.links, house.clock)
    assert html_of(house.browser("annotator-1").get("/work")) == "en ltr"


def test_organisers_pages_are_english(house: House) -> None:
    house = translated(house, "eo", {("", "Skip to the content"): "Al la enhavo"})
    client = reader(house, "eo", "organiser")
    page = client.get("/dashboard")
    assert html_of(page) == "en ltr"
    assert script_of(page) == {}
    assert "Al la enhavo" not in page.text


# What is shown...


@pytest.mark.parametrize("code", ["ar", "he", "ur"])
def test_a_page_may_run_from_right_to_left_and_its_texts_do_not(house: House, code: str) -> None:
    house = translated(house, code, {})
    page = task_page(house, code)
    assert html_of(page) == f"{code} rtl"
    assert '"target":{"lang":"de","dir":"ltr"' in page.text


def test_the_protocol_is_said_as_the_organiser_says_it(open_house: OpenHouse) -> None:
    texts = {
        ("severity", "minor"): "malgrava",
        ("category", "accuracy"): "ĝusteco",
        ("category", "omission"): "manko",
        ("", "minor"): "no text of a page",
        ("", "Undo"): "Malfari",
        ("", "Category"): "Kategorio",
        ("guidelines", "# Rules\n\nRead <b>all</b>."): "# Reguloj\n\nLegu <i>ĉion</i>.",
    }
    house = translated(open_house(protocol="mqm"), "eo", texts)
    (house.campaign.folder / "guidelines" / "guidelines.md").write_text("# Rules\n\nRead <b>all</b>.\n")
    (house.campaign.folder / "guidelines" / "en-de.md").unlink(missing_ok=True)
    page = task_page(house, "eo")
    assert '<span class="severity minor">malgrava</span>' in page.text
    assert '<span class="severity major">major</span>' in page.text
    assert '<optgroup label="ĝusteco">' in page.text
    assert ">manko</option>" in page.text
    assert "Kategorio" in page.text
    assert '<div class="prose" lang="eo" dir="auto"><h3>Reguloj</h3>' in page.text
    assert "Legu &lt;i&gt;ĉion&lt;/i&gt;." in page.text
    assert "angla al germana" not in page.text  # the sentence has no translation, its languages have
    assert "angla to germana." in unescape(page.text)
    assert script_of(page) == {
        "severity\4minor": "malgrava",
        "category\4accuracy": "ĝusteco",
        "category\4omission": "manko",
        "Undo": "Malfari",
    }


def test_the_language_of_a_page_goes_with_what_it_saves(house: House) -> None:
    client = house.browser("annotator-1")
    given = client.post("/api/next").json()["assignment"]
    body = {"assignment": given, "page": "p", "events": [change(items_of(house, given)[0])]}
    assert client.post("/api/events", body | {"language": "<b>"}).status == 422
    assert client.post("/api/events", body | {"language": "pt-BR"}).status == 200
    (said,) = export_campaign(house.campaign).submissions
    assert said.language == "pt-BR"


def test_a_tutorial_explains_in_the_persons_language(open_house: OpenHouse) -> None:
    house = open_house(tutorial=True)
    path, _ = write_words(house.campaign, "eo")
    says = next(text for context, text in of_file(path) if context == "tutorial")
    house = translated(house, "eo", {("tutorial", says): "Jen tio."})
    page = task_page(house, "eo")
    assert '"says":"Jen tio."' in page.text


def test_guidelines_without_a_translation_say_that_they_are_english(house: House) -> None:
    house = translated(house, "ar", {})
    client = reader(house, "ar")
    assert '<div lang="en" dir="auto">' in client.get("/guidelines").text


# The organiser's own...


def of_file(path: Path) -> dict[tuple[str, str], str]:
    """Entry to what stands under it, whatever that is worth."""
    with path.open("rb") as file:
        found = read_po(file)
    return {(one.context or "", str(one.id)): str(one.string) for one in found if one.id}


HOSTILE = '# Rules\r\n\r\n"All"\u2028of \\n them\x85\u061c 👩\u200d🚀 {name} <b>#~ msgid\n\n\tEnd.'


def test_a_campaign_is_translated_and_shown_so(open_house: OpenHouse) -> None:
    house = open_house(protocol="mqm", tutorial=True)
    guidelines = house.campaign.folder / "guidelines" / "guidelines.md"
    guidelines.write_bytes(HOSTILE.encode())
    (house.campaign.folder / "guidelines" / "en-de.md").unlink(missing_ok=True)
    path, missing = write_words(house.campaign, "pt-br")
    assert path == house.campaign.folder / "words" / "pt_BR.po"
    texts = of_file(path)
    contexts = {"", "protocol", "severity", "category", "guidelines", "tutorial"}
    assert {context for context, _ in texts} == contexts
    assert {text for context, text in texts if not context} == {*texts_of("template"), *texts_of("script")}
    (shown,) = [text for context, text in texts if context == "guidelines"]
    assert shown == read_guidelines(house.campaign, "en-de")
    assert missing == len(texts) == missing_by_language(house.campaign)["pt_BR"]
    write_po(path, {**texts, ("guidelines", shown): HOSTILE, ("", "Copy"): "Copiar"})
    assert write_words(house.campaign, "pt_BR") == (path, missing - 2)
    assert read_catalogue(path) == {("guidelines", shown): HOSTILE, ("", "Copy"): "Copiar"}
    assert read_words(house.campaign.folder)["pt_BR"].say_protocol("guidelines", shown) == HOSTILE
    guidelines.write_text(shown + " And more.")
    write_words(house.campaign, "pt_BR")
    assert read_catalogue(path) == {("", "Copy"): "Copiar"}  # what was said of other guidelines is fuzzy
    assert HOSTILE in of_file(path).values()


def test_our_own_translations_are_filled_in_and_yours_come_first(house: House) -> None:
    path, missing = write_words(house.campaign, "de")
    texts = read_catalogue(path)
    assert texts["", "Sign out"] == "Abmelden"
    assert missing == len([1 for context, _ in of_file(path) if context])
    write_po(path, {("", "Sign out"): "Tschüß", ("", "Copy"): "", ("", "Kwyjibo"): "Weg"})
    write_words(house.campaign, "de")
    texts = read_catalogue(path)
    assert (texts["", "Sign out"], texts["", "Copy"]) == ("Tschüß", "Kopieren")
    assert ("", "Kwyjibo") not in texts
    assert '#~ msgid "Kwyjibo"' in path.read_text(encoding="utf-8")
    assert read_words(house.campaign.folder)["de"].say("Sign out") == "Tschüß"


def test_what_is_no_language_to_translate_to_is_refused(house: House) -> None:
    for code in ("en", "English", "xx", "", "../de", "de-at-1"):
        with pytest.raises(UsageError):
            write_words(house.campaign, code)
    assert not (house.campaign.folder / "words").exists()
