"""The client against servers that do what they should not, and what it sends to those that do."""
import ctypes as c
import os
import pathlib
import re
import subprocess
import threading
import time

import pyarrow as pa
import pytest

import capi
from conftest import PROGRAM
from scripted_server import ARROW_FILE, ScriptedServer, Step, compressed, error, reply, rows, text

ROOT = pathlib.Path(__file__).resolve().parents[2]
NETWORK, TIMEOUT, UNKNOWN, CORRUPT, CANCELLED = 8, 5, 7, 3, 4
JOB_FAILED, JOB_NOT_FOUND, STALE, UNSUPPORTED, INVALID, UNAVAILABLE = 9, 10, 19, 100, 113, 117
FIELDS = {"fields": [{"name": "id", "type": {"type": "int64"}, "nullable": True}]}
DESCRIBED = reply({"version": 3, "schema": FIELDS})
IDS = pa.table({"id": pa.array([1, 2, 3], pa.int64())})
VIEW = reply({"source_table": "src", "projections": [{"output_column": "id", "expression": "id"}], "incarnation": "i-1"})
DONE = reply({"job_state": "DONE", "result": None})
RESULT = {"mode": "incremental", "rows_written": 2, "source_version": 5, "version": 6}


def statuses():
    text = (ROOT / "include/glaive/status.h").read_text()
    return {m[1]: int(m[2]) for m in re.finditer(r"X\((GLV_\w+), (\d+),", text)}


@pytest.fixture
def connect():
    opened = []

    def open_one(server, **options):
        opened.append(capi.Connection(server if isinstance(server, str) else server.url, **options))
        return opened[-1]

    yield open_one
    for connection in opened:
        connection.close()


def failure(function, *arguments, **named):
    with pytest.raises(capi.Failed) as caught:
        function(*arguments, **named)
    return caught.value


def create_view(connection, name="v", flags=0, query="SELECT id FROM src"):
    definition = capi.ViewDef(struct_size=c.sizeof(capi.ViewDef), query=query.encode())
    options = capi.CallOptions(c.sizeof(capi.CallOptions), flags)
    connection.call("glv_view_create", connection.conn, capi.id_of([name]), c.byref(definition), c.byref(options), None)


def drop_view(connection, name="v"):
    connection.call("glv_view_drop", connection.conn, capi.id_of([name]), None)


# ---- statuses


@pytest.mark.parametrize("name", [n for n in statuses() if n != "GLV_OK"])
def test_every_status_comes_back(connect, name):
    code = statuses()[name]
    step = error(400, code - 100 if code >= 100 else 18, name, f"text of {name}")
    with ScriptedServer({"/describe/": step}) as server:
        failed = failure(capi.Table, connect(server), ["t"])
    assert (failed.code, str(failed), failed.http_status) == (code, f"text of {name}", 400)


@pytest.mark.parametrize("step, code, words", [
    (error(404, 4, ""), 104, "went wrong"),
    (error(400, 19, "not the name of a status"), 119, "went wrong"),
    (text("<html>gone</html>", 404, "text/html"), 104, "404: <html>gone</html>"),
    (text("", 401), 116, "401"),
    (reply([1, 2], 403), 115, "403: [1, 2]"),
    (reply({"error": 5, "code": "x"}, 500), 118, "500"),
    (Step(302, b"", {"Location": "http://127.0.0.1:1/"}), CORRUPT, "302"),
    (text("not JSON", 200), CORRUPT, "not JSON"),
    (reply([]), CORRUPT, "must be an object"),
    (reply({}), CORRUPT, "'version' is missing"),
    (reply({"version": "3"}), CORRUPT, "'version' must be an integer"),
    (reply({"version": -3}), CORRUPT, "0 or more"),
])
def test_answers_of_other_servers(connect, step, code, words):
    with ScriptedServer({"/describe/": step}) as server:
        failed = failure(capi.Table, connect(server, retries=1), ["t"])
    assert failed.code == code and words in str(failed)


# ---- attempts


@pytest.mark.parametrize("status", [409, 429, 500, 502, 503, 504])
def test_read_is_repeated_until_it_succeeds(connect, status):
    with ScriptedServer({"/describe/": [error(status, 17), DESCRIBED]}) as server:
        started = time.monotonic()
        capi.Table(connect(server), ["t"]).close()
        took = time.monotonic() - started
        first, second = server.sent("/describe/")
    assert first.headers["x-request-id"] == second.headers["x-request-id"] and 0.5 <= took < 1.5


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 412, 415, 422, 501])
def test_hopeless_requests_are_sent_once(connect, status):
    with ScriptedServer({"/describe/": error(status, 13)}) as server:
        failure(capi.Table, connect(server), ["t"])
        assert len(server.requests) == 1


@pytest.mark.parametrize("retries, attempts", [(0, 3), (1, 1), (2, 2)])
def test_attempts_are_counted(connect, retries, attempts):
    with ScriptedServer({"/describe/": error(503, 17)}) as server:
        failed = failure(capi.Table, connect(server, retries=retries), ["t"])
        assert len(server.requests) == attempts and failed.code == UNAVAILABLE and failed.flags == 1


def test_inserts_are_repeated_whole_with_new_ids(connect):
    big = pa.table({"id": pa.array(range(200000), pa.int64())})
    with ScriptedServer({"/describe/": DESCRIBED, "/insert/": [error(503, 17), reply({"version": 4})]}) as server:
        with capi.Table(connect(server), ["t"]) as table:
            table.append(big)
        first, second = server.sent("/insert/")
    assert first.headers["x-request-id"] != second.headers["x-request-id"]
    assert first.body == second.body and pa.ipc.open_stream(second.body).read_all().equals(big)
    assert second.headers["transfer-encoding"] == "chunked"
    assert second.headers["content-type"] == "application/vnd.apache.arrow.stream"


CALLS = {
    "namespace create": (lambda s: s.call("glv_namespace_create", s.conn, capi.id_of(["n"]), capi.pairs_of({}), None), "/create", 1),
    "namespace list": (lambda s: s.page("namespace"), "/list", 1),
    "table list": (lambda s: s.page("table"), "/table/list", 3),
    "table create": (lambda s: s.create(["t"], IDS), "/create/", 1),
    "table drop": (lambda s: s.drop(["t"]), "/drop/", 1),
    "view create": (lambda s: create_view(s), "/create", 1),
    "view drop": (lambda s: drop_view(s), "/drop", 1),
    "view list": (lambda s: s.page("view"), "/materialized_view/list", 1),
}


@pytest.mark.parametrize("name", CALLS)
def test_which_calls_are_repeated(connect, name):
    call, path, attempts = CALLS[name]
    with ScriptedServer({path: error(503, 17)}) as server:
        failure(call, connect(server))
        assert len(server.sent(path)) == attempts


@pytest.mark.parametrize("path, call", [
    ("/update/", lambda t: t.update({"id": "id + 1"}, "id > 0")),
    ("/delete/", lambda t: t.delete("id > 0")),
    ("/merge_insert/", lambda t: t.merge(IDS, ["id"], capi.MERGE_INSERT)),
    ("/add_columns/", lambda t: t.add_columns({"x": "id"})),
    ("/alter_columns/", lambda t: t.alter_columns([{"path": "id", "nullable": True}])),
    ("/drop_columns/", lambda t: t.drop_columns(["id"])),
])
def test_changes_are_repeated_when_the_server_says_so(connect, path, call):
    with ScriptedServer({"/describe/": DESCRIBED, path: [error(503, 17), reply({"version": 4})]}) as server:
        with capi.Table(connect(server), ["t"]) as table:
            call(table)
        assert len(server.sent(path)) == 2


# ---- connections


@pytest.mark.parametrize("step", [Step(reset=True), Step(silent=True)], ids=["reset", "closed"])
def test_lost_connections_are_not_repeated(connect, step):
    with ScriptedServer({"/describe/": step}) as server:
        failed = failure(capi.Table, connect(server), ["t"])
        assert failed.code == NETWORK and "without an answer" in str(failed) and len(server.requests) == 1


@pytest.mark.parametrize("step", [Step(reset=True), Step(silent=True)], ids=["reset", "closed"])
@pytest.mark.parametrize("path, call", [
    ("/insert/", lambda t: t.append(IDS)),
    ("/update/", lambda t: t.update({"id": "1"}, "true")),
    ("/restore/", lambda t: t.call("restore", None)),
])
def test_a_change_without_an_answer_may_have_happened(connect, step, path, call):
    with ScriptedServer({"/describe/": DESCRIBED, path: step}) as server:
        with capi.Table(connect(server), ["t"]) as table:
            failed = failure(call, table)
        assert failed.code == UNKNOWN and len(server.sent(path)) == 1 and "not known" in str(failed)


def test_cut_answers(connect):
    whole = rows(IDS)
    with ScriptedServer({"/describe/": DESCRIBED, "/query/": Step(200, whole.body, whole.headers, cut=len(whole.body) - 20)}) as server:
        with pytest.raises((capi.Failed, OSError, pa.ArrowInvalid)) as caught:
            connect(server).scan(["t"]).read_all()
        assert "cut off" in str(caught.value)
    with ScriptedServer({"/describe/": reply({"version": 3}, cut=5)}) as server:
        failed = failure(capi.Table, connect(server), ["t"])
        assert failed.code == NETWORK and "cut off" in str(failed) and len(server.requests) == 1


def test_nobody_listens(connect):
    started = time.monotonic()
    failed = failure(capi.Table, connect("http://127.0.0.1:1"), ["t"])
    assert failed.code == NETWORK and "no connection" in str(failed) and time.monotonic() - started > 0.4
    assert failure(capi.Table, connect("http://host.invalid", retries=1), ["t"]).code == NETWORK


def test_silence_is_repeated_and_ends(connect):
    with ScriptedServer({"/describe/": reply({}, wait=20)}) as server:
        failed = failure(capi.Table, connect(server, read_timeout_ms=200), ["t"])
        assert failed.code == TIMEOUT and "200 ms" in str(failed)
        time.sleep(0.1)
        assert server.connections == 3


def test_the_time_of_a_request_ends(connect):
    with ScriptedServer({"/describe/": reply({}, wait=20)}) as server:
        failed = failure(capi.Table, connect(server, timeout_ms=300, retries=1), ["t"])
        assert failed.code == TIMEOUT and "300 ms" in str(failed)
        assert server.requests[0].headers["x-request-timeout-ms"] == "300"


def test_cancel_ends_a_wait(connect):
    with ScriptedServer({"/describe/": DESCRIBED, "/count_rows/": reply(5, wait=20)}) as server:
        connection = connect(server)
        token, cancel = connection.cancel()
        options, count = capi.CallOptions(c.sizeof(capi.CallOptions), 0, token), c.c_uint64()
        with capi.Table(connection, ["t"]) as table:
            threading.Timer(0.2, cancel).start()
            started = time.monotonic()
            failed = failure(table.call, "count", None, c.byref(options), c.byref(count))
        assert failed.code == CANCELLED and time.monotonic() - started < 1
        connection.lib.glv_cancel_free(token)


def test_connections_are_kept(connect):
    with ScriptedServer({"/describe/": DESCRIBED, "/query/": rows(IDS)}) as server:
        connection = connect(server)
        for _ in range(5):
            assert connection.scan(["t"]).read_all().num_rows == 3
        assert len(server.requests) == 10 and server.connections == 1


def test_an_answer_before_the_body_was_read(connect):
    big = pa.table({"id": pa.array(range(3000000), pa.int64())})
    with ScriptedServer({"/describe/": DESCRIBED, "/insert/": error(401, 16, early=True)}) as server:
        with capi.Table(connect(server), ["t"]) as table:
            failed = failure(table.append, big)
    assert failed.code in (116, UNKNOWN)


# ---- headers


def test_headers_of_every_request(connect):
    with ScriptedServer({"/describe/": DESCRIBED}) as server:
        connection = connect("db://dbname/pre/fix/", host_override=server.url.encode() + b"/base/", api_key=b"secret",
                             headers={"x-extra": "e1", "x-empty": ""})
        capi.Table(connection, ["ns 1", "t"]).close()
        sent = server.requests[0]
    assert sent.target == "/base/v1/table/ns%201$t/describe/" and sent.method == "POST"
    expected = {"x-api-key": "secret", "x-lancedb-database": "dbname", "x-lancedb-database-prefix": "pre/fix",
                "x-extra": "e1", "x-empty": "", "accept-encoding": "gzip", "accept": "*/*",
                "content-type": "application/json"}
    assert {k: sent.headers.get(k) for k in expected} == expected
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", sent.headers["x-request-id"])
    assert re.fullmatch(r"Glaive-Client/\d+\.\d+\.\d+", sent.headers["user-agent"])
    assert "expect" not in sent.headers


def test_addresses(connect, monkeypatch):
    monkeypatch.delenv("GLAIVE_URL", raising=False)
    with ScriptedServer({"/describe/": DESCRIBED}) as server, ScriptedServer({"/describe/": DESCRIBED}) as other:
        capi.Table(connect(server.url + "/base"), ["t"]).close()
        assert server.requests[0].target == "/base/v1/table/t/describe/"
        assert server.requests[0].headers["x-lancedb-database"] == "default"
        assert "x-api-key" not in server.requests[0].headers
        assert "x-lancedb-database-prefix" not in server.requests[0].headers
        assert failure(connect, "db://x").code == INVALID
        os.environ["GLAIVE_URL"] = server.url
        try:
            capi.Table(connect("db://x"), ["t"]).close()
            capi.Table(connect("db://x", host_override=other.url.encode()), ["t"]).close()
        finally:
            del os.environ["GLAIVE_URL"]
        assert len(server.requests) == 2 and len(other.requests) == 1
    for wrong in ("db://", "http://", "http://h?x", "https://a b", "http://:80"):
        assert failure(connect, wrong).code == INVALID
    assert failure(connect, "db://x", host_override=b"ftp://h").code == INVALID
    for headers in ({"a\r\nb": "c"}, {"a": "b\r\nc: d"}, {"": "x"}, {"a b": "c"}):
        assert failure(connect, "http://h", headers=headers).code == INVALID
    assert failure(connect, "http://h", api_key=b"a\nb").code == INVALID


def test_names_that_cannot_be_addressed_are_not_sent(connect):
    with ScriptedServer({}) as server:
        connection = connect(server)
        for name in ("", ".", "..", "a$b", "a/b"):
            assert failure(capi.Table, connection, [name]).code == INVALID
        assert server.requests == []


def test_a_handle_never_goes_back_in_time(connect):
    described = reply({"version": 3, "schema": FIELDS}, headers={"x-lancedb-version": "3"})
    counted = reply(7, headers={"x-lancedb-version": "9"})
    with ScriptedServer({"/describe/": described, "/count_rows/": counted, "/delete/": reply({"version": 12})}) as server:
        connection, count = connect(server), c.c_uint64()
        with capi.Table(connection, ["t"]) as table:
            table.call("count", None, None, c.byref(count))
            table.delete("id = 1")
            table.call("count", None, None, c.byref(count))
            first, second = server.sent("/count_rows/")
            assert first.json == {"version": None} and "x-lancedb-min-version" not in first.headers
            assert first.headers["x-lancedb-min-read-version"] == "3"
            assert second.headers["x-lancedb-min-version"] == "12" and second.headers["x-lancedb-min-read-version"] == "9"
            assert "x-lancedb-min-timestamp" not in second.headers
            options = capi.OpenOptions(struct_size=c.sizeof(capi.OpenOptions), version=2)
            table.call("checkout", c.byref(options))
            table.call("count", None, None, c.byref(count))
            pinned = server.sent("/count_rows/")[-1]
            assert pinned.json == {"version": 3} and not [h for h in pinned.headers if h.startswith("x-lancedb-min")]
            checked = server.sent("/describe/")[-1]
            assert checked.json == {"version": 2} and not [h for h in checked.headers if h.startswith("x-lancedb-min")]
            assert failure(table.delete, "true").code == 12
            table.call("checkout", None)
            table.call("count", None, None, c.byref(count))
            latest = server.sent("/count_rows/")[-1]
            assert latest.json == {"version": None} and "x-lancedb-min-version" not in latest.headers
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}\+00:00", latest.headers["x-lancedb-min-timestamp"])


def test_how_old_an_answer_may_be(connect):
    with ScriptedServer({"/describe/": DESCRIBED, "/count_rows/": reply(7)}) as server:
        connection, count = connect(server, flags=1, read_consistency_ms=0), c.c_uint64()
        with capi.Table(connection, ["t"]) as table:
            table.call("count", None, None, c.byref(count))
        assert "x-lancedb-min-timestamp" in server.sent("/count_rows/")[0].headers


# ---- rows


@pytest.mark.parametrize("step", [rows(IDS), rows(IDS, "application/vnd.apache.arrow.stream"), rows(IDS, None), compressed(rows(IDS))],
                         ids=["file", "stream", "no type", "gzip"])
def test_forms_of_rows(connect, step):
    with ScriptedServer({"/describe/": DESCRIBED, "/query/": step}) as server:
        assert connect(server).scan(["t"]).read_all().equals(IDS)
        body = server.sent("/query/")[0].json
    assert body == {"version": None, "vector": [], "prefilter": True, "k": 2**63 - 1}


def test_wrong_forms_of_rows(connect):
    for step in (reply({"rows": []}), text("ARROW1 but not really", 200, ARROW_FILE), Step(200, b"", {"Content-Type": ARROW_FILE})):
        with ScriptedServer({"/describe/": DESCRIBED, "/query/": step}) as server:
            assert failure(connect(server).scan, ["t"]).code == CORRUPT


def test_large_answers_are_not_held(connect):
    big = pa.table({"id": pa.array(range(4_000_000), pa.int64())})
    with ScriptedServer({"/describe/": DESCRIBED, "/query/": rows(big)}) as server:
        connection = connect(server)
        total = sum(batch.num_rows for batch in connection.scan(["t"]))
        assert total == big.num_rows


def test_rows_by_number_come_in_the_order_asked(connect):
    table = pa.table({"id": pa.array([10, 20, 30], pa.int64()), "_rowid": pa.array([5, 6, 7], pa.uint64())})
    with ScriptedServer({"/describe/": DESCRIBED, "/query/": rows(table)}) as server:
        taken = connect(server).take(["t"], [7, 5, 99, 7], by_row_id=True)
        body = server.sent("/query/")[0].json
    assert taken.to_pydict() == {"id": [30, 10, 30]}
    assert body["filter"] == "_rowid IN (7, 5, 99, 7)" and body["with_row_id"] is True


def test_counts(connect):
    for step, good in ((reply(2), True), (reply({"count": 2}), False), (reply(-1), False), (reply(2.5), False), (text("", 200), False)):
        with ScriptedServer({"/describe/": DESCRIBED, "/count_rows/": step}) as server:
            connection = connect(server)
            assert connection.count(["t"]) == 2 if good else failure(connection.count, ["t"]).code == CORRUPT


# ---- pages


def test_pages_are_walked_and_tokens_must_not_repeat(connect):
    steps = [reply({"tables": ["a", "b"], "page_token": "k/1 &"}), reply({"tables": ["c"], "page_token": ""})]
    with ScriptedServer({"/table/list": steps}) as server:
        assert connect(server).page("table") == (["a", "b", "c"], None)
        assert [r.query for r in server.requests] == ["", "page_token=k%2F1%20%26"] and server.requests[0].method == "GET"
    for kind, path in (("table", "/table/list"), ("namespace", "/list")):
        with ScriptedServer({path: reply({f"{kind}s": ["a"], "page_token": "same"})}) as server:
            failed = failure(connect(server).page, kind)
            assert failed.code == CORRUPT and "twice" in str(failed) and len(server.requests) == 2
    with ScriptedServer({"/table/list": reply({"tables": ["a"], "page_token": "same"})}) as server:
        assert connect(server).page("table", limit=1) == (["a"], "same")
        assert failure(connect(server).page, "table", limit=1, token="same").code == CORRUPT


def test_lists_that_are_none(connect):
    for step in (reply({}), reply({"tables": "x"}), reply({"tables": [1]}), reply({"tables": [None]})):
        with ScriptedServer({"/table/list": step}) as server:
            assert failure(connect(server).page, "table").code == CORRUPT
    with ScriptedServer({"/materialized_view/list": reply({})}) as server:
        assert connect(server).page("view") == ([], None)
    with ScriptedServer({"/table/list": error(404, 1)}) as server:
        assert connect(server).page("table") == ([], None)


# ---- jobs of views


@pytest.mark.parametrize("step", [
    reply({"job_id": "j"}, 200), reply({"job_id": "j"}, 201), reply({}, 202), reply({"job_id": ""}, 202), reply({"job_id": 5}, 202),
    reply({"job_id": None}, 202), text("", 202), Step(204), text("accepted", 202), reply([], 202),
], ids=str)
def test_creation_with_data_needs_a_job(connect, step):
    with ScriptedServer({"/create": step, "/jobs/describe": DONE}) as server:
        assert failure(create_view, connect(server)).code == CORRUPT
        assert server.sent("/jobs/describe") == []


def test_creation_without_data(connect):
    for step, jobs in ((reply({}, 200), 0), (reply({"job_id": "j"}, 200), 1), (reply({"job_id": "j", "version": 1}, 202), 1)):
        with ScriptedServer({"/create": step, "/jobs/describe": DONE}) as server:
            create_view(connect(server), flags=1)
            assert len(server.sent("/jobs/describe")) == jobs
            assert server.sent("/create")[0].json == {"query": "SELECT id FROM src", "with_no_data": True}
    for step in (Step(204), reply({}, 201), reply({}, 202)):
        with ScriptedServer({"/create": step}) as server:
            failed = failure(create_view, connect(server), flags=1)
            assert failed.code == CORRUPT and (str(step.status) in str(failed) or "job_id" in str(failed))


def test_drop_answers(connect):
    for step, jobs in ((reply({}, 200), 0), (reply({"job_id": "j"}, 202), 1)):
        with ScriptedServer({"/drop": step, "/jobs/describe": DONE}) as server:
            drop_view(connect(server))
            assert len(server.sent("/jobs/describe")) == jobs
    for step in (Step(204), reply({}, 202), reply({"job_id": ""}, 202), reply({"job_id": "j"}, 201)):
        with ScriptedServer({"/drop": step, "/jobs/describe": DONE}) as server:
            assert failure(drop_view, connect(server)).code == CORRUPT


def refresh(connect, script, **options):
    with ScriptedServer({"/v1/table/v/describe/": DESCRIBED, "/materialized_view/v/describe": VIEW, **script}) as server:
        with capi.View(connect(server), ["v"]) as view:
            how = capi.RefreshOptions(struct_size=c.sizeof(capi.RefreshOptions), **options)
            return view.refresh(how), server


def test_refresh_follows_its_job(connect):
    describe = [reply({"job_state": w}) for w in ("QUEUED", "in_progress", "PAUSED")] + [reply({"job_state": "succeeded", "result": RESULT})]
    result, server = refresh(connect, {"/refresh": reply({"job_id": "j-1"}, 202), "/jobs/describe": describe}, full=1)
    assert result == ("incremental", "", 2, 5)
    assert server.sent("/refresh")[0].json == {"full": True, "expected_incarnation": "i-1"}
    polls = server.sent("/jobs/describe")
    assert [p.json for p in polls] == [{"job_id": "j-1"}] * 4
    pauses = [b.at - a.at for a, b in zip(polls, polls[1:])]
    assert 0.35 < pauses[0] < 0.7 and 0.75 < pauses[1] < 1.2 and 1.5 < pauses[2] < 2.1


@pytest.mark.parametrize("step", [reply({"job_id": "j"}, 200), reply({}, 202), Step(204)], ids=["200", "no id", "204"])
def test_refresh_needs_a_job(connect, step):
    assert failure(refresh, connect, {"/refresh": step, "/jobs/describe": DONE}).code == CORRUPT


@pytest.mark.parametrize("result", [None, {}, {**RESULT, "mode": "sideways"}, {**RESULT, "rows_written": None}, {**RESULT, "version": "6"},
                                    {k: v for k, v in RESULT.items() if k != "source_version"}, [1]], ids=str)
def test_results_of_a_refresh_are_whole(connect, result):
    script = {"/refresh": reply({"job_id": "j"}, 202), "/jobs/describe": reply({"job_state": "DONE", "result": result})}
    assert failure(refresh, connect, script).code == CORRUPT


@pytest.mark.parametrize("described, code, words", [
    ({"job_state": "FAILED", "failure": {"phase": "execute", "message": "disk full", "retryable": True}}, JOB_FAILED,
     "job j failed: disk full (in execute)"),
    ({"job_state": "TIMED_OUT"}, JOB_FAILED, "no reason given"),
    ({"job_state": "failed", "failure": {"message": "gone", "detail": "GLV_E_STALE_VIEW"}}, STALE, "gone"),
    ({"job_state": "canceled"}, CANCELLED, "job j was cancelled"),
    ({"state": "DONE"}, CORRUPT, "'job_state' is missing"),
    ({"job_state": "FAILED", "failure": "x"}, CORRUPT, "'failure'"),
])
def test_jobs_that_do_not_finish(connect, described, code, words):
    failed = failure(refresh, connect, {"/refresh": reply({"job_id": "j"}, 202), "/jobs/describe": reply(described)})
    assert failed.code == code and words in str(failed)
    assert failed.flags == (1 if "disk full" in words else 0)


def test_one_refused_poll_ends_the_wait(connect):
    script = {"/refresh": reply({"job_id": "j"}, 202), "/jobs/describe": error(503, 17)}
    assert failure(refresh, connect, script).code == UNAVAILABLE
    script = {"/refresh": reply({"job_id": "j"}, 202), "/jobs/describe": error(404, 4)}
    assert failure(refresh, connect, script).code == JOB_NOT_FOUND


def test_refresh_of_a_view_made_again(connect):
    assert failure(refresh, connect, {"/refresh": error(412, 14)}).code == STALE


def test_a_refusal_of_rebuilds_is_asked_for_first(connect):
    failed = failure(refresh, connect, {"/explain": reply({"mode": "rebuild", "reason": "drift"}), "/refresh": DONE}, require=1)
    assert failed.code == 12 and "drift" in str(failed)
    failed = failure(refresh, connect, {"/refresh": DONE}, require=1)
    assert failed.code == UNSUPPORTED and "does not offer" in str(failed)


@pytest.mark.parametrize("status", [404, 405, 501])
def test_what_a_server_does_not_offer(connect, status):
    step = error(status, 0, message="what?")
    script = {"/v1/table/v/describe/": DESCRIBED, "/materialized_view/v/describe": VIEW, "/compact": step, "/status": step,
              "/verify": step, "/explain": step}
    with ScriptedServer(script) as server:
        connection = connect(server)
        with capi.Table(connection, ["v"]) as table, capi.View(connection, ["v"]) as view:
            for call in (table.compact, lambda: view.report("status"), lambda: view.report("verify"), lambda: view.report("explain")):
                failed = failure(call)
                assert failed.code == UNSUPPORTED and "the server does not offer" in str(failed)
    ours = error(404, 4, "GLV_E_TABLE_NOT_FOUND")
    with ScriptedServer({"/describe/": DESCRIBED, "/compact": ours}) as server:
        with capi.Table(connect(server), ["v"]) as table:
            assert failure(table.compact).code == 104


def test_sql_of_a_view_in_parts(connect):
    with ScriptedServer({"/create": reply({}, 200)}) as server:
        connection = connect(server)
        definition = capi.ViewDef(struct_size=c.sizeof(capi.ViewDef), flags=1, source_table=b'sr"c', source_namespace=capi.strs_of(["n s"]),
                                  projections=capi.pairs_of({"id": None, 'a "b': "age + 1"}), filter=b"age > 1", limit=0)
        options = capi.CallOptions(c.sizeof(capi.CallOptions), 1)
        connection.call("glv_view_create", connection.conn, capi.id_of(["n", "v"]), c.byref(definition), c.byref(options), None)
        sent = server.requests[0]
    assert sent.path == "/v1/materialized_view/n$v/create"
    assert sent.json["query"] == 'SELECT `id` AS "id", age + 1 AS "a ""b" FROM "n s"."sr""c" WHERE age > 1 LIMIT 0'


# ---- jobs


def job(server, *words):
    return subprocess.run([PROGRAM, "--url", server.url, "job", *words], capture_output=True, text=True)


def test_jobs_are_listed_page_by_page():
    entry = lambda i: {"job_id": f"j{i}", "table": "v", "job_type": "refresh_materialized_view", "state": "DONE", "created_at_millis": i}  # noqa: E731
    pages = [reply({"jobs": [entry(1), entry(2)], "page_token": "k"}), reply({"jobs": [entry(3)], "page_token": None})]
    with ScriptedServer({"/jobs/list": pages}) as server:
        assert [line.split()[0] for line in job(server, "list").stdout.splitlines()] == ["j1", "j2", "j3"]
        assert [r.json for r in server.requests] == [{}, {"page_token": "k"}]
    with ScriptedServer({"/jobs/list": reply({"jobs": [entry(1)], "page_token": "same"})}) as server:
        failed = job(server, "list")
        assert failed.returncode == 1 and "twice" in failed.stderr and len(server.requests) == 2
    endless = [reply({"jobs": [entry(i)], "page_token": f"k{i}"}) for i in range(150)]
    with ScriptedServer({"/jobs/list": endless}) as server:
        assert job(server, "list").returncode == 0 and len(server.requests) == 100
    for wrong in ({"jobs": "x"}, {"jobs": [{"state": "DONE"}]}, {"jobs": [{"job_id": 5, "state": "DONE"}]}):
        with ScriptedServer({"/jobs/list": reply(wrong)}) as server:
            assert job(server, "list").returncode == 1


def test_a_job_is_shown_awaited_and_cancelled():
    running, over = reply({"job_id": "j", "job_state": "IN_PROGRESS", "progress": {"done": 3, "total": 9}}), reply({"job_state": "DONE"})
    with ScriptedServer({"/jobs/describe": [running, running, over], "/jobs/cancel": reply({})}) as server:
        shown = job(server, "show", "j", "--json")
        assert '"running"' in shown.stdout and '"done": 3' in shown.stdout
        assert job(server, "wait", "j").returncode == 0
        assert job(server, "cancel", "j").returncode == 0
        assert server.sent("/jobs/cancel")[0].json == {"job_id": "j"}
    with ScriptedServer({"/jobs/describe": error(404, 4), "/jobs/cancel": error(404, 4)}) as server:
        assert job(server, "show", "j").returncode == 3 and job(server, "cancel", "j").returncode == 3


# ---- the library and the program


NO_CURL = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
void *dlopen(const char *name, int flags) {
  if (name != NULL && strstr(name, "libcurl") != NULL) { return NULL; }
  void *(*next)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
  return next(name, flags);
}
"""


def test_without_libcurl(tmp_path):
    source, library = tmp_path / "no_curl.c", tmp_path / "no_curl.so"
    source.write_text(NO_CURL)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    run = lambda *words: subprocess.run([PROGRAM, *words], env=environment, capture_output=True, text=True)  # noqa: E731
    assert run("--db", str(tmp_path / "db"), "table", "list").returncode == 0
    failed = run("--url", "http://127.0.0.1:1", "table", "list")
    assert failed.returncode == 1 and "libcurl.so.4" in failed.stderr and "libcurl4" in failed.stderr
    assert "curl" not in subprocess.run(["ldd", capi.PATH], capture_output=True, text=True).stdout


def test_the_program_on_a_server():
    with ScriptedServer({"/table/list": reply({"tables": ["a", "b"]})}) as server:
        def run(*words, **environment):
            return subprocess.run([PROGRAM, *words], env={**os.environ, **environment}, capture_output=True, text=True)

        assert run("table", "list", "--url", server.url, "--api-key", "k1").stdout == "a\nb\n"
        assert run("table", "list", GLAIVE_URL=server.url, GLAIVE_API_KEY="k2").stdout == "a\nb\n"
        assert run("table", "list", "--url", "db://x/y", GLAIVE_URL=server.url).stdout == "a\nb\n"
        assert [r.headers.get("x-api-key") for r in server.requests] == ["k1", "k2", None]
        assert [r.headers["x-lancedb-database"] for r in server.requests] == ["default", "default", "x"]
        assert run("table", "list", "--url", server.url, "--db", "d").returncode == 2
        assert run("table", "list", "--url", "db://x").returncode == 1
