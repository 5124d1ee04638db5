"""How our own files are served: those of a release's bundle, and the modules of a checkout."""

import gzip
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from adjudge.web import pages, requests
from tests.gauges import PACKAGE
from tests.web.client import Client
from tests.web.conftest import House

SCRIPT = b"let one = 1;" * 20
BUNDLED = "/static/bundle/AAAA2222/js/page.js"
FILES = {"bundle/AAAA2222/js/page.js.gz": gzip.compress(SCRIPT), "js/page.js": b"// a module", "a.txt": b"a"}
TEMPLATES = sorted((PACKAGE / "web" / "templates").rglob("*.html"))
SCRIPTS = sorted((PACKAGE / "web" / "static" / "js").glob("*.js"))


@pytest.fixture
def client(house: House, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """A browser at the server of a release."""

    def own_files() -> Mapping[str, bytes]:
        return FILES

    requests.static.cache_clear()
    for module in (pages, requests):
        monkeypatch.setattr(module, "own_files", own_files)
    yield house.browser()
    requests.static.cache_clear()


def test_pages_name_the_bundle_where_there_is_one(client: Client) -> None:
    assert requests.static("js/page.js") == BUNDLED
    assert requests.static("js/home.js") == "/static/js/home.js"


def test_a_file_of_the_bundle_is_kept_for_a_year(client: Client) -> None:
    response = client.get(BUNDLED)
    assert (response.status, response.body) == (200, SCRIPT)
    assert response.headers["content-type"].startswith("text/javascript")
    assert response.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert response.headers["vary"] == "Accept-Encoding"
    assert "script-src 'self'" in response.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("accepted", "is_packed"),
    [
        ("gzip", True),
        ("br, GZIP;q=0.1, identity", True),
        ("gzip;q=0.001", True),
        ("gzip;q=0", False),
        ("gzip ; q=0.000 , br", False),
        ("br, zstd", False),
        ("notgzipped", False),
        ("", False),
    ],
)
def test_it_is_packed_for_those_who_accept_that(client: Client, accepted: str, is_packed: bool) -> None:
    response = client.get(BUNDLED, headers={"accept-encoding": accepted})
    assert (response.headers.get("content-encoding") == "gzip") is is_packed
    assert int(response.headers["content-length"]) == len(response.body)
    assert (gzip.decompress(response.body) if is_packed else response.body) == SCRIPT


@pytest.mark.parametrize("path", [BUNDLED, "/static/js/page.js"])
def test_a_tag_names_one_form_of_a_file(client: Client, path: str) -> None:
    plain = client.get(path).headers["etag"]
    packed = client.get(path, headers={"accept-encoding": "gzip"}).headers["etag"]
    assert (plain != packed) is (path == BUNDLED)
    for known in (packed, f"W/{packed}", f'"other", {packed}'):
        response = client.get(path, headers={"accept-encoding": "gzip", "if-none-match": known})
        assert (response.status, response.body, response.headers["etag"]) == (304, b"", packed)
        assert "content-encoding" not in response.headers
    for known in ('"other"', packed.strip('"'), plain if path == BUNDLED else ""):
        assert client.get(path, headers={"accept-encoding": "gzip", "if-none-match": known}).status == 200


def test_a_module_is_asked_for_each_time(client: Client) -> None:
    response = client.get("/static/js/page.js", headers={"accept-encoding": "gzip"})
    assert (response.body, response.headers["cache-control"]) == (b"// a module", "no-cache")
    assert "content-encoding" not in response.headers


@pytest.mark.parametrize("path", [f"{BUNDLED}.gz", "/static/a.txt", "/static/bundle/", "/static/page.js"])
def test_nothing_else_is_served(client: Client, path: str) -> None:
    assert client.get(path).status == 404


def test_what_annotators_get_is_packed_unless_it_is_short(house: House) -> None:
    client = house.browser("annotator-1")
    task = client.post("/api/next").json()["assignment"]
    for path, is_packed in ((f"/work/{task}", True), (f"/api/work/{task}", False)):
        plain, packed = client.get(path), client.get(path, headers={"accept-encoding": "gzip, br"})
        assert (len(plain.body) > 1_000) is is_packed
        assert "content-encoding" not in plain.headers
        assert packed.headers.get("content-encoding") == ("gzip" if is_packed else None)
        assert int(packed.headers["content-length"]) == len(packed.body)
        assert (gzip.decompress(packed.body) if is_packed else packed.body) == plain.body
        assert packed.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: file.name)
def test_a_template_asks_for_every_address(file: Path) -> None:
    """One function can so put the name of a campaign before all of them."""
    text = file.read_text("utf-8")
    assert not re.findall(r'\b(?:href|src|action)="(?!#|{{ (?:address|static)\()[^"]*', text)
    for name in re.findall(r'\bstatic\("([^"]+)"\)', text):
        assert name in requests.own_files()


@pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: file.name)
def test_a_script_asks_for_every_address(file: Path) -> None:
    spelled = re.compile(r"""["'`]/[a-z#]|(?:assign|replace|href\W*)\(?["'`]/["'`]""")
    asked = re.compile(r"\b(?:address|get|post|change|wayIn|indexOf)\(")
    lines = file.read_text("utf-8").splitlines()
    assert not [line for line in lines if spelled.search(line) and not asked.search(line)]


def test_redirects_and_answers_ask_for_every_address() -> None:
    for file in (PACKAGE / "web").glob("*.py"):
        assert not re.findall(r'(?:RedirectResponse|to=|\bto =|path=)\(?f?"/.*', file.read_text("utf-8")), (
            file
        )
