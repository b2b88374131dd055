"""The routes that only Glaive's servers have, over HTTP as it is, and through the client."""
import ctypes
import json
import re
import subprocess
import urllib.error
import urllib.request

import pyarrow as pa
import pytest

import capi
from conftest import PROGRAM

PEOPLE = pa.table({"id": pa.array(range(10), pa.int64()), "name": [f"n{i}" for i in range(10)]})


@pytest.fixture
def server(glaive):
    glaive.write("people", PEOPLE)
    program = [PROGRAM, "--db", str(glaive.db), "serve", "--no-access-log"]
    process = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
    yield re.search(r"http://\S+", process.stdout.readline())[0]
    process.terminate()
    assert process.wait(30) == 0


def post(url, path, body=None, raw=False):
    """(status, answer)"""
    data = b"" if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url + path, data=data, headers={"Content-Type": "application/json"}, method="POST")
    try:
        with urllib.request.urlopen(request) as answer:
            content = answer.read()
            return answer.status, content if raw else json.loads(content)
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def test_sql(server, glaive):
    status, body = post(server, "/v1/query", {"query": "SELECT id, upper(name) AS n FROM people WHERE id < 3"}, raw=True)
    assert status == 200
    assert pa.ipc.open_file(body).read_all().to_pydict() == {"id": [0, 1, 2], "n": ["N0", "N1", "N2"]}
    out = subprocess.run([PROGRAM, "--url", server, "query", "SELECT count(*) AS n FROM people", "--format", "jsonl"],
                         capture_output=True, text=True)
    assert json.loads(out.stdout) == {"n": 10}
    for body, code, name in (({}, 400, "GLV_E_INVALID_INPUT"), ({"query": 5}, 400, "GLV_E_INVALID_INPUT"),
                             ({"query": "SELEC 1"}, 400, "GLV_E_SQL_PARSE"), ({"query": "SELECT * FROM nobody"}, 404, "GLV_E_TABLE_NOT_FOUND")):
        status, answer = post(server, "/v1/query", body)
        assert (status, answer["detail"]) == (code, name)


def test_errors_of_sql_come_back(server):
    failed = subprocess.run([PROGRAM, "--url", server, "query", "SELECT nothing FROM people"], capture_output=True, text=True)
    assert failed.returncode in (1, 3) and "nothing" in failed.stderr


def test_compaction_and_cleanup(server, glaive):
    for _ in range(3):
        glaive.write("people", PEOPLE, "--append")
    status, done = post(server, "/v1/table/people/compact", {"target_rows": 100})
    assert status == 200 and done["fragments_removed"] == 4 and done["fragments_added"] == 1
    assert post(server, "/v1/table/people/compact/")[1]["attempts"] == 0
    status, seen = post(server, "/v1/table/people/cleanup", {"older_than_ms": 0, "dry_run": True})
    assert status == 200 and seen["versions"] == done["version"] - 1
    assert len(glaive.json("table", "versions", "people")) == done["version"]
    assert post(server, "/v1/table/people/cleanup", {"older_than_ms": 0})[1] == seen
    assert len(glaive.json("table", "versions", "people")) == 1
    assert post(server, "/v1/table/people/compact", {"deletion_threshold": "x"})[0] == 400
    assert post(server, "/v1/table/nobody/compact")[1]["detail"] == "GLV_E_TABLE_NOT_FOUND"


def test_migration(server, glaive):
    glaive.write("old", PEOPLE, "--no-stable-row-ids")
    status, done = post(server, "/v1/table/old/migrate", {"stable_row_ids": True})
    assert status == 200 and done["version"] == 2
    assert glaive.json("table", "describe", "old")["stable_row_ids"]
    assert post(server, "/v1/table/old/migrate", {})[0] == 400


def test_metadata(server, glaive):
    status, done = post(server, "/v1/table/people/metadata", {"target": "table", "metadata": {"a": "1", "b": "2"}})
    assert status == 200 and done["version"] == 2
    post(server, "/v1/table/people/metadata", {"target": "table", "metadata": {"a": None, "c": "3"}})
    post(server, "/v1/table/people/metadata", {"target": "config", "metadata": {"k": "v"}})
    post(server, "/v1/table/people/metadata", {"target": "schema", "metadata": {"s": "t"}, "replace": True})
    described = glaive.json("table", "describe", "people")
    assert described["table_metadata"] == {"b": "2", "c": "3"} and described["metadata"] == {"s": "t"}
    assert described["config"]["k"] == "v"
    for body in ({}, {"target": "field"}, {"target": "table", "metadata": {"a": 1}}, {"target": "table", "metadata": []}):
        assert post(server, "/v1/table/people/metadata", body)[0] == 400


def test_questions_about_views(server, glaive):
    glaive.run("view", "create", "v", "--as", "SELECT id, name FROM people WHERE id > 4")
    status, told = post(server, "/v1/materialized_view/v/status")
    assert status == 200 and told["state"] == "ok" and told["rows"] == 5 and told["versions_behind"] == 0
    glaive.write("people", PEOPLE, "--append")
    assert post(server, "/v1/materialized_view/v/status")[1]["versions_behind"] == 1
    assert post(server, "/v1/materialized_view/v/explain", {"full": True})[1]["mode"] == "rebuild"
    assert post(server, "/v1/materialized_view/v/explain")[1]["mode"] == "incremental"
    assert post(server, "/v1/materialized_view/v/explain", {"source_version": 99})[0] == 404
    assert post(server, "/v1/materialized_view/v/explain", {"expected_incarnation": "other"})[0] == 412
    assert post(server, "/v1/materialized_view/v/verify")[1]["equal"] is True
    status, answer = post(server, "/v1/materialized_view/people/status")
    assert (status, answer["code"], answer["detail"]) == (400, 19, "GLV_E_NOT_A_VIEW")


def test_a_view_that_differs(server, glaive):
    glaive.run("view", "create", "v", "--as", "SELECT id, name FROM people")
    connection = capi.Connection(str(glaive.db))
    with capi.Table(connection, ["v"]) as table:
        options = capi.CallOptions(ctypes.sizeof(capi.CallOptions), 1)
        table.call("delete", b"id = 1", ctypes.byref(options), None)
    connection.close()
    status, told = post(server, "/v1/materialized_view/v/verify")
    assert status == 200 and told["equal"] is False and told["missing"] == 1


def test_upkeep_as_jobs(server, glaive):
    def result_of(path, body):
        status, begun = post(server, path, body | {"background": True})
        assert status == 202, begun
        while (job := post(server, "/v1/jobs/describe", begun)[1])["job_state"] in ("QUEUED", "IN_PROGRESS"):
            pass
        assert job["job_state"] == "DONE" and job["table"] == "people" and job["spec"] == body | {"background": True}, job
        return job["job_type"], job["result"]

    for _ in range(3):
        glaive.write("people", PEOPLE, "--append")
    kind, done = result_of("/v1/table/people/compact", {"target_rows": 100})
    assert kind == "compact_table" and done["fragments_removed"] == 4 and done["fragments_added"] == 1
    kind, done = result_of("/v1/table/people/cleanup", {"older_than_ms": 0})
    assert kind == "cleanup_table" and done["versions"] == 5
    assert post(server, "/v1/table/people/count_rows")[1] == 40
    assert post(server, "/v1/table/nobody/compact", {"background": True})[0] == 404
