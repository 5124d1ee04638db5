"""The API as its own description has it, tried by a program: no server errors."""

import json
import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.core.result import Ok

from tests.web.client import Client
from tests.web.conftest import House
from tests.web.test_security import ROWS

CASES = 40 if int(os.environ.get("ADJUDGE_CHAOS_KILLS", "0")) < 1000 else 4000
"""Of each role: on any operation, after whatever the ones before have done."""


def test_the_description_names_every_route_of_the_api(house: House) -> None:
    described = {
        f"{method.upper()} {path}" for path, item in house.app.openapi()["paths"].items() for method in item
    }
    assert described == {row for row in ROWS if " /api/" in row}


def test_every_body_is_typed_and_closed(house: House) -> None:
    schemas = house.app.openapi()["components"]["schemas"]
    bodies = [
        operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        for item in house.app.openapi()["paths"].values()
        for operation in item.values()
        if "requestBody" in operation
    ]
    assert {"Secret", "NameAndPassword", "Changes", "Ending", "Chosen", "NewPerson"} == set(bodies)
    assert all(schemas[name]["additionalProperties"] is False for name in [*bodies, "Change", "State"])


def send(client: Client, case: schemathesis.Case[Any]) -> tuple[int, Any]:
    """Status and JSON of a case, sent as it is."""
    path = case.path
    for name, value in (case.path_parameters or {}).items():
        path = path.replace("{" + name + "}", quote(str(value), safe=""))
    has_body = isinstance(case.body, str | int | float | list | Mapping | None)
    body = json.dumps(case.body).encode() if has_body and case.method == "POST" else b""
    response = client.request(case.method, path, body=body)
    is_json = response.headers["content-type"] == "application/json"
    return response.status, json.loads(response.body) if is_json else None


@pytest.mark.parametrize("mode", list(GenerationMode), ids=str)
@pytest.mark.parametrize("role", ["organiser", "annotator-1", None])
def test_whatever_the_description_allows_or_forbids_is_answered_as_described(
    house: House, role: str | None, mode: GenerationMode
) -> None:
    """One store sees all cases in a row, so that each meets what others left behind."""
    house.app.state.served.changes.most = 10**6
    client = house.browser(role)
    cookies = dict(client.cookies)
    description = house.app.openapi()
    schema = schemathesis.openapi.from_dict(description)
    operations = [found.ok() for found in schema.get_all_operations() if isinstance(found, Ok)]
    cases = st.one_of(*(one.as_strategy(generation_mode=mode) for one in operations))
    seen: set[int] = set()

    @settings(max_examples=CASES, suppress_health_check=list(HealthCheck), database=None, derandomize=True)
    @given(cases)
    def try_one(case: schemathesis.Case[Any]) -> None:
        client.cookies = dict(cookies)
        house.clock.now += 61  # no guess is waited for
        status, content = send(client, case)
        seen.add(status)
        described = description["paths"][case.path][case.method.lower()]["responses"]
        assert status < 500
        assert str(status) in described or status == 405, (case.path, status)
        assert status == 200 or content["message"]

    try_one()
    assert seen - {429}
