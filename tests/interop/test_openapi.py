"""`/openapi.json`: a valid document, and requests made from it, right and wrong, whose answers are as it says.

`GLAIVE_SEED` chooses the requests; `GLAIVE_LONG=1` sends fifty times as many.
"""
import copy
import io
import json
import os

import hypothesis
import openapi_spec_validator
import pyarrow as pa
import pytest
import schemathesis
from http_server import ARROW, Server, key, numbers, stream_of
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error  # noqa: F401 (registers the checks)
from schemathesis.specs.openapi import checks

ROWS, FILE = "application/vnd.apache.arrow.stream", "application/vnd.apache.arrow.file"
EXAMPLES = 320 if os.environ.get("GLAIVE_LONG") else 5
SEED = int(os.environ.get("GLAIVE_SEED", 1))
# What requests often say: in paths by what the path is about, in bodies and query strings by the name of the member.
IDS = {"namespace": ["$", "ops", "nobody"], "table": ["people", "points", "ops$people", "adults", "nobody"],
       "materialized_view": ["adults", "adults", "other", "people", "nobody"]}
SQL = ["SELECT id, upper(text) AS t FROM people WHERE id > 2", "SELECT * FROM ops.people", "SELECT count(*) AS n FROM people GROUP BY id",
       "SELECT nope FROM people", "SELECT 1 / 0 FROM people", "SELECT id FROM nobody", "SELECT"]
PREDICATES = ["id > 2", "id = 1", "text = 'x' OR id IN (1, 2)", "nope = 1", "id", "1 / 0 = id", "'"]
USUAL = {"query": SQL, "source_query": SQL, "filter": PREDICATES, "predicate": PREDICATES, "expression": ["id * 2", "upper(text)", "nope", "1 / 0"],
         "tag": ["first", "second"], "source_table": ["people", "nobody"], "delimiter": ["$"], "branch": ["main"], "job_id": ["nobody"],
         "kind": ["query", "udtf"], "path": ["id", "text", "nope"], "new_table_name": ["fresh", "people"], "column_name": ["id", "text", "nope"],
         "type": ["int64", "int32", "string", "float", "nothing"], "on": ["id"], "when_matched_update_all_filt": ["target.id > source.id", "nope"],
         "when_not_matched_by_source_delete_filt": PREDICATES}
NAMES = ["id", "text", "nope", "ops"]
VALUES = {"vector": [[1, 0], [[1, 0], [0, 3]], {"single_vector": [1, 0]}, {"multi_vector": [[1, 0], [0, 3]]}, [], [1]],
          "columns": [["id"], ["v", "id"], {"x": "id * 2", "y": "v"}, {"column_names": ["id"]}, ["nope"], None],
          "full_text_query": [None]}
BODIES = {
    "materialized_view_create": [
        {"query": SQL[0]}, {"query": SQL[2], "with_no_data": True}, {"query": SQL[3]}, {"source_query": SQL[0], "kind": "query"}, {"query": SQL[1]},
        {"source_table": "people", "projections": [{"output_column": "x", "expression": "id + 1"}], "filter": "id > 1", "limit": 3},
        {"source_table": "nobody"}, {"query": SQL[0], "source_table": "people"}, {"query": "SELECT v FROM points", "stored_form": "query"}],
    "table_update": [{"updates": [["text", "upper(text)"]]}, {"updates": [["id", "id + 1"]], "predicate": "id < 3"}, {"updates": [["nope", "1"]]},
                     {"updates": []}, {"updates": [["id", "'x'"]]}, {"updates": [["v", "NULL"]]}],
    "table_add_columns": [{"new_columns": [{"name": "twice", "expression": "id * 2"}]}, {"new_columns": []},
                          {"new_columns": [{"name": "a", "expression": "upper(text)"}, {"name": "a", "expression": "1"}]}],
    "table_alter_columns": [{"alterations": [{"path": "text", "rename": "words"}]}, {"alterations": [{"path": "id", "data_type": {"type": "int32"}}]},
                            {"alterations": [{"path": "v", "nullable": False}]}, {"alterations": []}]}
POINTS = pa.table({"id": [1, 2, 3], "v": pa.array([[1, 0], None, [0, 3]], pa.list_(pa.float32(), 2))})
STREAMS = [stream_of(numbers(5)), stream_of(numbers(3, start=7)), stream_of(numbers(0))] * 3 + [
    stream_of(pa.table({"other": [1.5]})), stream_of(numbers(5))[:-40], b"", b"no rows", stream_of(pa.schema([("extra", pa.int32())]).empty_table())]

schemathesis.openapi.media_type(ROWS, st.sampled_from(STREAMS))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("openapi") / "db", "--no-access-log")
    yield server
    assert server.stop() == 0, server.log.read_text()
    assert "Sanitizer" not in server.log.read_text()


@pytest.fixture(scope="module")
def document(server):
    answer = server.get("/openapi.json")
    assert answer.status == 200 and answer.headers["content-type"] == "application/json"
    return answer.json()


def prepare(server):
    """The tables and the view that requests are about, whatever became of them."""
    server.post("/v1/namespace/ops/create", b'{"mode": "ExistOk"}')
    for name in ("people", "ops$people"):
        answer = server.request("POST", f"/v1/table/{name}/create?mode=overwrite", stream_of(numbers(10)), ARROW)
        assert answer.status in (200, 400), answer.body
        server.post(f"/v1/table/{name}/tags/create", b'{"tag": "first", "version": 1}')
    server.request("POST", "/v1/table/points/create?mode=exist_ok", stream_of(POINTS), ARROW)
    answer = server.post("/v1/materialized_view/adults/create", b'{"query": "SELECT id, upper(text) AS t FROM people WHERE id > 2"}')
    if answer.status == 202:
        USUAL["job_id"][:] = [answer.json()["job_id"], "nobody"]


def operations(document):
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield path, method, operation


def test_document(document):
    openapi_spec_validator.validate(document)
    ids = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(ids) == len(set(ids)) > 60


def test_every_described_path_is_served(server, document):
    for path, method, operation in operations(document):
        answer = server.request(method.upper(), path.replace("{id}", "no").replace("{name}", "no"), headers={"content-type": "application/json"})
        known = operation["responses"].keys()
        assert str(answer.status) in known and answer.status != 405, (method, path, answer.status, answer.body)
        assert answer.status != 404 or not answer.json()["error"].startswith("there is no route"), (method, path)
        other = "GET" if method == "post" else "POST"
        if other.lower() not in document["paths"][path]:
            answer = server.request(other, path.replace("{id}", "no").replace("{name}", "no"))
            assert (answer.status, answer.headers["allow"]) == (405, method.upper()), (other, path, answer.status)


def test_what_needs_a_key(tmp_path, document):
    reader = key(tmp_path / "db", "--scope", "read")["key"]
    server = Server(tmp_path / "db", "--no-access-log")
    try:
        for path, method, operation in operations(document):
            target = path.replace("{id}", "no").replace("{name}", "no")
            found = server.request(method.upper(), target).status
            assert (found == 401) == (operation.get("security") != []), (method, path, found)
            found = server.request(method.upper(), target, headers={"x-api-key": reader}).status
            assert (found == 403) == (operation.get("x-scope") in ("write", "admin")), (method, path, found)
            assert server.request(method.upper(), target, headers={"Authorization": f"Bearer {reader}"}).status == found
    finally:
        assert server.stop() == 0


def close(node):
    """Objects have the members that are described, and no others."""
    if isinstance(node, list):
        for item in node:
            close(item)
    elif isinstance(node, dict):
        if node.get("type") == "object" and "properties" in node and "anyOf" not in node:
            node.setdefault("additionalProperties", False)
        for value in node.values():
            close(value)


def seed(schema, name, wild):
    """Texts are ones that mean something, numbers small ones; wild: any. (A schema of both would be read as one of any.)"""
    if isinstance(schema, list):
        for item in schema:
            seed(item, name, wild)
    if not isinstance(schema, dict) or "enum" in schema:
        return
    if name in VALUES and "type" not in schema:
        if not wild:
            schema["anyOf"] = [{"enum": VALUES[name]}]
        return
    for key, value in schema.items():
        for member, inner in value.items() if key == "properties" else [(name, value)]:
            seed(inner, member, wild)
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    usual = USUAL.get(name, NAMES) if "string" in kinds else [0, 1, 2, 3, 2**63 - 1] if "integer" in kinds else None
    if usual and not wild:
        schema.clear()
        schema["enum"] = usual + [None] * ("null" in kinds)


def for_tests(document, wild):
    """The document, stricter about answers, and unless wild with requests that are likely to reach something.

    Schemas that requests and answers share become two."""
    document = copy.deepcopy(document)
    parts = document["components"]

    def asked(node):
        return json.loads(json.dumps(node).replace("#/components/schemas/", "#/components/schemas/Asked"))

    asked_schemas = {f"Asked{name}": asked(schema) for name, schema in parts["schemas"].items()}
    close(document["paths"])
    close(parts["schemas"])
    parts["parameters"] = asked(parts["parameters"])
    for parameter in parts["parameters"].values():
        seed(parameter.get("schema", {}), parameter["name"], wild)
    for name, schema in asked_schemas.items():
        seed(schema, "branch" if name == "AskedBranch" else None, wild)
    parts["schemas"] |= asked_schemas
    for path, _, operation in operations(document):
        if "requestBody" in operation:
            operation["requestBody"] = asked(operation["requestBody"])
            seed(operation["requestBody"], None, wild)
            if operation["operationId"] in BODIES and not wild:
                operation["requestBody"]["content"]["application/json"]["schema"] = {"enum": BODIES[operation["operationId"]]}
        if "{id}" in path:
            usual = {"enum": IDS.get(path.split("/")[2], ["some"])}
            operation["parameters"][0] = parts["parameters"]["id"] | ({} if wild else {"schema": usual})
    return document


def read_rows(response):
    kind = response.headers["content-type"][0]
    if response.status_code == 200 and kind == FILE:
        pa.ipc.open_file(io.BytesIO(response.content)).read_all()
    elif response.status_code == 200 and kind == ROWS:
        pa.ipc.open_stream(io.BytesIO(response.content)).read_all()


CHECKS = [checks.status_code_conformance, checks.content_type_conformance, checks.response_schema_conformance]


def send(server, operation, mode, statuses):
    count = 2 if "others" in operation.definition.raw["tags"] else EXAMPLES
    settings = hypothesis.settings(max_examples=count, deadline=None, database=None, derandomize=False, phases=[hypothesis.Phase.generate],
                                   suppress_health_check=list(hypothesis.HealthCheck))

    @hypothesis.seed(SEED)
    @settings
    @hypothesis.given(operation.as_strategy(generation_mode=mode))
    def run(case):
        response = case.call(base_url=server.url)
        statuses[response.status_code] = statuses.get(response.status_code, 0) + 1
        assert response.status_code < 500 or response.status_code in (501, 503), response.text
        case.validate_response(response, checks=CHECKS)
        read_rows(response)

    run()


RIGHT, WRONG = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE


@pytest.mark.parametrize("mode, wild", [(RIGHT, False), (RIGHT, True), (WRONG, True)], ids=["likely", "right", "wrong"])
def test_answers_are_as_described(server, document, mode, wild):
    failures, told = [], {}
    prepare(server)
    schema = schemathesis.openapi.from_dict(for_tests(document, wild))
    for result in schema.get_all_operations():
        operation = result.ok()
        prepare(server)
        try:
            send(server, operation, mode, told.setdefault(operation.label, {}))
        except hypothesis.errors.Unsatisfiable:
            pass  # nothing can be wrong about this one
        except BaseException as failure:  # groups of failures, too
            failures.append(f"{operation.label}: {failure}")
    print("\n".join(f"{label}: {counts}" for label, counts in told.items()))
    assert not failures, "\n\n".join(failures)
