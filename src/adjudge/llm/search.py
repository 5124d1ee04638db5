"""Which search engine a judge looks things up with: by its name, as a model is named.

none                         no engine
files:DIR                    a folder of notes, without a network
http:URL, or the URL         an endpoint of anybody's own
searxng:URL                  a SearXNG server
wikipedia, wikipedia:LANG    Wikipedia in English or another language; wikipedia:URL for any MediaWiki
recorded:RUN[#ENGINE]        what a run or a call store has kept: another machine repeats it without a network
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from adjudge.core.ask import Reply
from adjudge.core.search import NO_ENGINE
from adjudge.errors import AnswerError, ServerAwayError, UsageError
from adjudge.llm.credentials import check_address, read_key
from adjudge.llm.endpoint import Endpoint
from adjudge.llm.identity import Identity
from adjudge.llm.model import Model, Request
from adjudge.llm.models import OpenModel
from adjudge.llm.providers import Provider
from adjudge.llm.remote import RemoteModel
from adjudge.llm.replay import open_recorded
from adjudge.llm.retry import Patience
from adjudge.llm.search_files import FilesModel
from adjudge.llm.search_results import ENDPOINT

__all__ = ["open_search"]

_FORMS: Final = "none, files:DIR, http:URL, searxng:URL, wikipedia[:LANG] or recorded:RUN"
_PATIENCE: Final = Patience(attempts=4, longest_wait=60.0, first_wait=5.0, seconds=180.0)
_CONCURRENCY: Final = 4
_LANGUAGE: Final = re.compile(r"[a-z][a-z-]{1,11}")
_PROVIDER: Final = Provider(name=ENDPOINT, title="search engine", dialect="search", needs_key=False)


class _Patient:
    """A search engine behind the wire: one that is away has not stopped the run, it has not answered."""

    def __init__(self, remote: RemoteModel) -> None:
        self._remote = remote
        self.name = remote.name

    async def reply(self, request: Request) -> Reply:
        """Answer one request; see `llm.model.Model`."""
        try:
            return await self._remote.reply(request)
        except ServerAwayError as error:
            raise AnswerError("connection", str(error)) from error


def open_search(
    name: str, *, key_env: str | None = None, timeout: float = 30.0, needs_key: bool = True
) -> OpenModel | None:
    """Open a search engine; None for `none`.

    Args:
        name: see above.
        key_env: environment variable with its key, for engines behind a wire.
        timeout: seconds for one attempt.
        needs_key: whether the key must be there; not where nothing is sent.

    Raises:
        UsageError: no engine has this name, or its address, folder or run is none.
        ModelError: the key is missing.
    """
    kind, _, place = name.partition(":")
    if kind in {"http", "https"}:
        return _remote(
            "http", name if place.startswith("//") else place, key_env, timeout, needs_key=needs_key
        )
    if key_env is not None and kind not in {"searxng", "wikipedia"}:
        raise UsageError(f"--search-key-env: {name} needs no key")
    if name == NO_ENGINE:
        return None
    if kind == "files" and place:
        model = FilesModel(Path(place))
        return _opened(model.engine, model)
    if kind == "recorded" and place:
        return _recorded(place)
    if kind == "searxng" and place:
        return _remote(kind, place, key_env, timeout, needs_key=needs_key)
    if kind == "wikipedia":
        return _remote(kind, _mediawiki(place), key_env, timeout, needs_key=needs_key)
    raise UsageError(f"no search engine {name!r}; say {_FORMS}")


def _mediawiki(place: str) -> str:
    """Address of the API: of a Wikipedia by its language, or as it is given."""
    if "://" in place:
        return place
    if not _LANGUAGE.fullmatch(place or "en"):
        raise UsageError(f"--search wikipedia:LANG takes the code of a language, such as de; got {place!r}")
    return f"https://{place or 'en'}.wikipedia.org/w/api.php"


def _remote(kind: str, address: str, key_env: str | None, timeout: float, *, needs_key: bool) -> OpenModel:
    url = check_address(address, "", option="--search")
    parts = urlsplit(url)
    engine = f"{kind}:{parts.netloc}{parts.path}"
    remote = RemoteModel(
        Endpoint(
            provider=_PROVIDER,
            url=url,
            model=engine,
            key=read_key(key_env, None) if needs_key and key_env is not None else "",
            timeout=timeout,
            concurrency=_CONCURRENCY,
            patience=_PATIENCE,
        )
    )
    return _opened(engine, _Patient(remote), remote)


def _recorded(place: str) -> OpenModel:
    path, _, wanted = place.partition("#")
    if not Path(path).exists():
        raise UsageError(f"--search recorded:{path}: no run and no call store there")
    name = f"{ENDPOINT}/{wanted}" if wanted else ""
    identity, model = open_recorded(Path(path), name, kind="search engine")
    return _opened(identity.model, model)


def _opened(engine: str, model: Model, remote: RemoteModel | None = None) -> OpenModel:
    identity = Identity(endpoint=ENDPOINT, model=engine)
    return OpenModel(identity=identity, model=model, served="any", remote=remote, takes_tools=False)
