"""Every operation of the document, with valid and invalid generated requests: no reply is a fault
of the service, and the document describes each.

The same cases run each time; make schemathesis-long generates many more.
"""

import copy
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from schemathesis.core.failures import FailureGroup

from support.document import DOCUMENT
from support.fuzz import Fuzz
from support.scale import rounds
from support.served import Served, served

FUZZ = Fuzz(DOCUMENT)


@pytest.fixture(scope="module", autouse=True)
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    logging.disable(logging.INFO)
    with served(tmp_path_factory.mktemp("fuzz"), {"PUBLIC_REGISTER": "true"}) as service:
        FUZZ.begin(service)
        yield service
        FUZZ.end()
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("label", FUZZ.labels)
def test_every_response_matches_the_document(label: str) -> None:
    assert FUZZ.check_bounds(label) >= 2
    assert FUZZ.at_random(label, examples=rounds(2, 12)) >= 1


def _without_404(document: dict[str, Any]) -> None:
    del document["paths"]["/api/v1/phones/{mac}"]["get"]["responses"]["404"]


def _change_message(document: dict[str, Any]) -> None:
    listed = document["components"]["schemas"]["Listed_Phone_"]
    listed["properties"]["message"] = {"const": "phones"}


def _remove_field(document: dict[str, Any]) -> None:
    schema = document["components"]["schemas"]["Phone"]
    del schema["properties"]["brand"]
    schema["required"].remove("brand")


def _add_required_header(document: dict[str, Any]) -> None:
    reply = document["paths"]["/api/v1/phones"]["get"]["responses"]["200"]
    reply["headers"]["X-Nothing"] = {"required": True, "schema": {"type": "string"}}


def _limit(document: dict[str, Any]) -> dict[str, Any]:
    parameters = document["paths"]["/api/v1/phones"]["get"]["parameters"]
    [schema] = [one["schema"] for one in parameters if one["name"] == "limit"]
    return schema  # type: ignore[no-any-return]


def _raise_limit(document: dict[str, Any]) -> None:
    _limit(document)["maximum"] = 1001


def _lower_limit(document: dict[str, Any]) -> None:
    _limit(document)["maximum"] = 999


def _add_required_field(document: dict[str, Any]) -> None:
    document["components"]["schemas"]["CreateCompanyContact"]["required"].append("work")


def _without_a_token(document: dict[str, Any]) -> None:
    document["paths"]["/health/live"]["get"]["security"] = [{"bearer": []}]


@pytest.mark.parametrize(
    ("lie", "label"),
    [
        (_without_404, "GET /api/v1/phones/{mac}"),
        (_change_message, "GET /api/v1/phones"),
        (_remove_field, "GET /api/v1/phones"),
        (_add_required_header, "GET /api/v1/phones"),
        (_raise_limit, "GET /api/v1/phones"),
        (_lower_limit, "GET /api/v1/phones"),
        (_add_required_field, "POST /api/v1/company-directory"),
        (_without_a_token, "GET /health/live"),
    ],
)
def test_wrong_schema_is_found(service: Served, lie: Any, label: str) -> None:
    document = copy.deepcopy(DOCUMENT)
    lie(document)
    fuzz = Fuzz(document)
    fuzz.begin(service, fill_it=False)

    with pytest.raises(FailureGroup):
        fuzz.check_bounds(label)
