"""How our own files are served: those of a release's bundle, and the modules of a checkout."""

import gzip
import re
from collections.abc import Iterator, Mapping

import pytest

from adjudge.web import pages, requests
from tests.gauges import PACKAGE
from tests.web.client import Client
from tests.web.conftest import House

SCRIPT = b"let one = 1;" * 20
BUNDLED = "/static/bundle/AAAA2222/js/page.js"
FILES = {"bundle/AAAA2222/js/page.js.gz": gzip.compress(SCRIPT), "js/page.js": b"// a module", "a.txt": b"a"}


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


def test_nothing_else_is_served(client: Client) -> None:
    for path in (f"{BUNDLED}.gz", "/static/a.txt", "/static/bundle/", "/static/page.js"):
        assert client.get(path).status == 404, path


def test_it_is_packed_for_those_who_accept_that(client: Client) -> None:
    packed = ["gzip", "br, GZIP;q=0.1, identity", "gzip;q=0.001"]
    for accepted in [*packed, "gzip;q=0", "gzip ; q=0.000 , br", "br, zstd", "notgzipped", ""]:
        response, is_packed = client.get(BUNDLED, headers={"accept-encoding": accepted}), accepted in packed
        assert (response.headers.get("content-encoding") == "gzip") is is_packed, accepted
        assert int(response.headers["content-length"]) == len(response.body)
        assert (gzip.decompress(response.body) if is_packed else response.body) == SCRIPT


def test_templates_scripts_and_answers_ask_for_every_address() -> None:
    """One function can so put the name of a campaign before all of them."""
    wrong, web = [], PACKAGE / "web"
    for file in (web / "templates").rglob("*.html"):
        text = file.read_text("utf-8")
        wrong += re.findall(r'\b(?:href|src|action)="(?!#|{{ (?:address|static)\()[^"]*', text)
        wrong += set(re.findall(r'\bstatic\("([^"]+)"\)', text)) - set(requests.own_files())
    spelled = re.compile(r"""["'`]/[a-z#]|(?:assign|replace|href\W*)\(?["'`]/["'`]""")
    asked = re.compile(r"\b(?:address|get|post|change|wayIn|indexOf)\(")
    for file in (web / "static" / "js").glob("*.js"):
        lines = file.read_text("utf-8").splitlines()
        wrong += [(file, line) for line in lines if spelled.search(line) and not asked.search(line)]
    for file in web.glob("*.py"):
        wrong += re.findall(r'(?:RedirectResponse|to=|\bto =|path=)\(?f?"/.*', file.read_text("utf-8"))
    assert not wrong
