"""The server is sent nearly right requests: it answers each in good HTTP, errors in JSON, and neither ends, hangs nor leaks.

With a program that was built with sanitizers (GLAIVE_PROGRAM, or GLAIVE_ASAN_PROGRAM for this file alone) their reports fail the
test. GLAIVE_LONG=1 sends requests for ten minutes. GLAIVE_CASE=N sends case N alone.
"""
import contextlib
import http.client
import json
import os
import pathlib
import socket
import time

import http_server
import pyarrow as pa
import pytest
from http_server import Answer, Server, numbers
from request_fuzz import Case

LONG = os.environ.get("GLAIVE_LONG") == "1"
SECONDS = 600 if LONG else 8
LONGEST_ANSWER_S = 30
ROUND = 300  # cases on one database: later ones would find only what earlier ones left
SANITIZED = os.environ.get("GLAIVE_ASAN_PROGRAM")


@pytest.fixture(autouse=True)
def sanitized(monkeypatch):
    if SANITIZED:
        monkeypatch.setattr(http_server, "PROGRAM", pathlib.Path(SANITIZED))


class NoAnswer(Exception):
    pass


def make_database(path):
    import lancedb

    database = lancedb.connect(str(path))
    rows = numbers(200).rename_columns(["id", "name"]).append_column("age", pa.array(range(200), pa.int32()))
    rows = rows.append_column("vec", pa.FixedSizeListArray.from_arrays(pa.array([0.5] * 800, pa.float32()), 4))
    for name in ("t", "src"):
        database.create_table(name, rows, storage_options={"new_table_enable_stable_row_ids": "true"})
    database.create_materialized_view("v", "src", select={"id": "id", "up": "upper(name)"}, where="age > 50")
    database.create_namespace(["ns"])
    database.create_table("t", rows.slice(0, 5), namespace_path=["ns"])


def read_one(sock, method):
    answer = http.client.HTTPResponse(sock, method=method)
    answer.begin()
    return Answer(answer.status, answer.getheaders(), answer.read())


def converse(server, case, kept):
    """Send a case over a connection that may have been used before. @return the answer; None = the server closed it."""
    sock = kept.pop() if kept else server.connect(timeout=LONGEST_ANSWER_S)
    with contextlib.ExitStack() as stack:
        stack.callback(sock.close)
        with contextlib.suppress(OSError):  # the server may have closed it already
            sock.sendall(case.data)
            if not case.is_whole:
                sock.shutdown(socket.SHUT_WR)
        try:
            answer = read_one(sock, case.sent_method)
        except (ConnectionError, http.client.RemoteDisconnected):
            return None
        except TimeoutError:
            raise NoAnswer(case.describe()) from None
        except http.client.BadStatusLine as error:
            raise AssertionError(f"{error!r}: {case.describe()}") from None
        except http.client.IncompleteRead:
            return None  # an answer is cut off when an error comes after its first bytes
        if case.is_http and case.is_whole and answer.headers.get("connection", "").lower() != "close":
            stack.pop_all()
            kept.append(sock)
        return answer


def check(case, answer):
    if answer is None:
        assert not (case.is_http and case.is_whole), f"no answer to {case.describe()}"
        return
    said = f"{answer.status} {answer.body[:600]!r} to {case.describe()}"
    assert answer.status in (200, 202, 204, 400, 401, 403, 404, 405, 406, 408, 409, 412, 413, 414, 415, 417, 431, 501, 503, 505), said
    if answer.status == 503:
        assert json.loads(answer.body)["code"] in (17, 21), said
    if case.sent_method == "HEAD" or answer.status == 204:
        return
    kind = answer.headers.get("content-type", "")
    if answer.status >= 400:
        if case.is_http or kind == "application/json":
            body = json.loads(answer.body)
            assert kind == "application/json" and isinstance(body["error"], str) and type(body["code"]) is int, said
            assert body["instance"] == answer.headers.get("x-request-id", ""), (said, answer.headers)
    elif answer.headers.get("content-encoding") is None:
        if kind == "application/json":
            json.loads(answer.body)
        elif kind == "application/vnd.apache.arrow.file":
            pa.ipc.open_file(answer.body).read_all()
        elif kind == "application/vnd.apache.arrow.stream":
            pa.ipc.open_stream(answer.body).read_all()


def one_round(path, first, until):
    """@return the number of cases sent, and how the answers were spread over the statuses."""
    make_database(path)
    server = Server(path, "--no-access-log", "--timeout", "10")
    spread, number, kept = {}, first, []
    try:
        while number < first + ROUND and time.monotonic() < until:
            case = Case(number)
            answer = converse(server, case, kept)
            check(case, answer)
            assert server.process.poll() is None, f"the server ended after {case.describe()}: {server.log.read_text()[-6000:]}"
            status = answer.status if answer else 0
            spread[status] = spread.get(status, 0) + 1
            number += 1
        for sock in kept:
            sock.close()
        assert server.get("/health").status == 200
        assert server.stop() == 0, server.log.read_text()[-6000:]
        assert "Sanitizer" not in server.log.read_text() and "runtime error" not in server.log.read_text(), server.log.read_text()[-6000:]
    finally:
        server.process.kill()
        server.process.wait()
    return number - first, spread


@pytest.mark.parametrize("target", ["/v1/nothing", "/health", "/ready", "/v1/table/t%00/describe"])
def test_bodies_that_are_cut_short_end_their_requests(tmp_path, target):
    server = Server(tmp_path / "db", "--no-access-log")
    try:
        for method in ("GET", "POST"):
            with server.connect(timeout=10) as sock:
                sock.sendall(f"{method} {target} HTTP/1.1\r\nhost: x\r\ncontent-length: 79\r\n\r\nabc".encode())
                sock.shutdown(socket.SHUT_WR)
                assert sock.recv(100)[:5] in (b"", b"HTTP/")
    finally:
        assert server.stop() == 0


def test_heads_that_are_cut_short_end_their_connections(tmp_path):
    server = Server(tmp_path / "db", "--no-access-log")
    try:
        for head in (b"", b"GET", b"GET /health HTTP/1.1\r\nhost: x\r\n", b"GET /health HTTP/1.1\r\nhost: x\r\n\r\nGET /hea"):
            with server.connect(timeout=15) as sock:
                sock.sendall(head)
                sock.shutdown(socket.SHUT_WR)
                assert head.count(b"GET") < 2 or read_one(sock, "GET").status == 200
                assert sock.recv(100)[:5] in (b"", b"HTTP/")
    finally:
        assert server.stop() == 0


def test_nearly_right_requests(tmp_path):
    until = time.monotonic() + SECONDS
    first, spread, rounds = int(os.environ.get("GLAIVE_CASE", 0)), {}, 0
    if "GLAIVE_CASE" in os.environ:
        global ROUND
        ROUND = 1
    while time.monotonic() < until:
        done, part = one_round(tmp_path / f"db{rounds}", first, until)
        first, rounds = first + done, rounds + 1
        for status, count in part.items():
            spread[status] = spread.get(status, 0) + count
        if ROUND == 1:
            break
    print(f"{first} requests, statuses {dict(sorted(spread.items()))}")
    if ROUND > 1:
        assert first > 100
