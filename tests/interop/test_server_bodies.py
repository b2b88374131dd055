"""`glaive serve` with tables behind it: bodies and answers of all sizes and speeds, limits, keys, and running requests at the end."""
import contextlib
import gzip
import http.client
import io
import json
import signal
import socket
import ssl
import subprocess
import threading
import time

import pyarrow as pa
import pytest
from http_server import (ARROW, PROGRAM, SLOW, certificate, key, numbers, read_all, read_answer, revoke, serve, server, stream_of,  # noqa: F401
                         table_routes, until)

pytestmark = pytest.mark.usefixtures("table_routes")


# ---- requests ----

@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "BREW", "POST"])
def test_methods_that_a_route_does_not_answer(server, method):
    answer = server.request(method, "/health")
    assert answer.status == 405
    assert answer.headers["allow"] == "GET"
    if method != "HEAD":
        assert answer.json()["code"] == 0
    assert server.get("/v1/table/t/describe/").headers["allow"] == "POST"


def test_a_slash_at_the_end_does_not_count(server):
    assert server.get("/health/").status == 200
    server.create("t", numbers(3))
    assert server.post("/v1/table/t/count_rows").body == server.post("/v1/table/t/count_rows/").body == b"3"


@pytest.mark.parametrize("part", ["..", "%2e%2e", ".", "%2e", "..%2fx", "a%2fb", "a%5cb", "%00", "a%00", "a%0ab", "%ff", "%c3", "%", "%4", "%zz", "a$$b",
                                  "$a", "a$", "a$..", "%24%2e%2e", "x" * 5000, "%7f", "a$" * 70 + "b"])
def test_paths_that_are_no_names(server, part):
    answer = server.post(f"/v1/table/{part}/describe/")
    assert answer.status == 400, answer.body
    assert answer.json()["code"] == 13
    assert server.get(f"/v1/namespace/{part}/list").status == 400


def test_parameters(server):
    assert server.get("/v1/namespace/%24/list?delimiter=%24").status == 200
    assert server.get("/v1/namespace/./list?delimiter=.").status == 200
    assert server.get("/v1/namespace/$/list?delimiter=").status == 400
    assert server.get("/v1/namespace/$/list?x=%zz").status == 400
    assert server.get("/v1/namespace/$/list?" + "x=1&" * 70).status == 400
    assert server.get("/v1/namespace/$/list?unknown=1&&=&x").status == 200


def test_bodies_must_be_objects(server):
    server.create("t", numbers(3))
    assert server.post("/v1/table/t/count_rows/", b"").status == 200
    for body in (b"[]", b"1", b"{", b"nonsense", b'{"a":1}x', b"\xff"):
        answer = server.post("/v1/table/t/count_rows/", body)
        assert answer.status == 400
        assert answer.json()["detail"] == "GLV_E_INVALID_INPUT"


# ---- connections ----

def test_requests_in_a_row_are_answered_in_order(server):
    server.create("t", numbers(7))
    with server.connect() as sock:
        for _ in range(3):
            sock.sendall(b"GET /health HTTP/1.1\r\nhost: x\r\nx-request-id: one\r\n\r\n"
                         b"POST /v1/table/t/count_rows/ HTTP/1.1\r\nhost: x\r\nx-request-id: two\r\ncontent-length: 2\r\n\r\n{}"
                         b"GET /nothing HTTP/1.1\r\nhost: x\r\nx-request-id: three\r\n\r\n")
            reader = sock.makefile("rb")
            for name, status in (("one", 200), ("two", 200), ("three", 404)):
                head = b""
                while not head.endswith(b"\r\n\r\n"):
                    head += reader.read(1)
                assert head.startswith(f"HTTP/1.1 {status}".encode())
                fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:] if line)
                assert fields["x-request-id"] == name
                reader.read(int(fields["Content-Length"]))


def test_a_connection_that_says_nothing_is_closed(serve):
    server = serve("--no-access-log", "--idle-timeout", 1)
    with server.connect(timeout=20 * SLOW) as sock:
        assert sock.recv(1) == b""
    with server.connect(timeout=20 * SLOW) as sock:
        sock.sendall(b"POST /v1/table/t/count_rows/ HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{")
        assert read_all(sock) == b""


# ---- bodies ----

def test_bodies_have_a_limit(serve):
    server = serve("--no-access-log", "--max-body", "1K", "--max-upload", "64K")
    path, small, large = "/v1/table/t/count_rows/", b'{"x":"' + b"y" * 900 + b'"}', b'{"x":"' + b"y" * 2000 + b'"}'
    server.create("t", numbers(3))
    assert server.post(path, small).status == 200
    answer = server.post(path, large)
    assert (answer.status, answer.json()["code"]) == (413, 13)
    answer = server.request("POST", path, chunks=[large[i:i + 100] for i in range(0, len(large), 100)])
    assert (answer.status, answer.json()["code"]) == (413, 13)
    answer = server.request("POST", "/v1/table/u/create/", stream_of(numbers(100_000)), ARROW)
    assert answer.status == 413
    body = stream_of(numbers(100_000))
    answer = server.request("POST", "/v1/table/u/create/", headers=ARROW, chunks=[body[i:i + 9000] for i in range(0, len(body), 9000)])
    assert answer.status == 413
    with server.connect() as sock:  # a client that asks first is told before it sends
        sock.sendall(b"POST " + path.encode() + b" HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 5000\r\n\r\n")
        assert read_answer(sock).status == 413
    assert server.post("/v1/table/u/count_rows/").status == 404


def test_encoded_bodies_are_refused(server):
    answer = server.post("/v1/table/t/count_rows/", gzip.compress(b"{}"), content_encoding="gzip")
    assert (answer.status, answer.json()["code"]) == (501, 0)


@pytest.mark.parametrize("step", [1, 7, 64])
@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
def test_uploads_in_small_chunks(server, step, codec):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, numbers(50).schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
        writer.write_table(numbers(50), max_chunksize=20)
    body = sink.getvalue()
    answer = server.request("POST", "/v1/table/t/create/", headers=ARROW, chunks=[body[i:i + step] for i in range(0, len(body), step)])
    assert answer.status == 200, answer.body
    assert server.count("t") == 50


def test_long_uploads(server):
    body = stream_of(numbers(1_000_000), rows=30_000)
    assert len(body) > 16 << 20
    for name, step in (("a", 1000), ("b", 70_000), ("c", 5_000_000)):
        answer = server.request("POST", f"/v1/table/{name}/create/", headers=ARROW, chunks=(body[i:i + step] for i in range(0, len(body), step)))
        assert answer.status == 200, answer.body
        assert server.count(name) == 1_000_000
    assert server.request("POST", "/v1/table/d/create/", body, ARROW).status == 200
    until(lambda: server.metric("glaive_uploads_running") == 0)
    assert server.metric("glaive_memory_peak_bytes") < 400 << 20


def upload_cut(server, path, body, sent, chunked):
    with server.connect() as sock:
        head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: {ARROW['content-type']}\r\n".encode()
        if chunked:
            sock.sendall(head + b"transfer-encoding: chunked\r\n\r\n")
            for i in range(0, sent, 50_000):
                part = body[i:min(i + 50_000, sent)]
                sock.sendall(b"%x\r\n%s\r\n" % (len(part), part))
        else:
            sock.sendall(head + b"content-length: %d\r\n\r\n" % len(body) + body[:sent])


@pytest.mark.parametrize("chunked", [False, True])
def test_cut_uploads_commit_nothing(server, chunked):
    small, large = stream_of(numbers(1000)), stream_of(numbers(600_000), rows=30_000)
    server.create("t", numbers(10))
    for body in (small, large):
        for sent in (0, 10, len(body) // 2, len(body) - 9):
            upload_cut(server, "/v1/table/t/insert/", body, sent, chunked)
            upload_cut(server, "/v1/table/new/create/", body, sent, chunked)
    until(lambda: server.metric("glaive_uploads_running") == 0 and server.metric("glaive_requests_running") <= 1)
    assert server.count("t") == 10
    assert server.post("/v1/table/new/count_rows/").status == 404
    assert server.request("POST", "/v1/table/t/insert/", small, ARROW).status == 200
    assert server.count("t") == 1010


@pytest.mark.parametrize("rows", [100, 600_000])
def test_streams_without_their_end_mark_are_refused(server, rows):
    body = stream_of(numbers(rows), rows=30_000)
    for cut in (1, 8, 100, len(body) // 2):
        answer = server.request("POST", "/v1/table/t/create/", body[:-cut], ARROW)
        assert (answer.status, answer.json()["code"]) == (400, 13)
    assert server.post("/v1/table/t/count_rows/").status == 404


def test_an_upload_that_is_refused_early_is_read_over(server):
    server.create("t", numbers(10))
    body = stream_of(numbers(600_000), rows=30_000)
    for name in ("t", "missing$t"):
        answer = server.request("POST", f"/v1/table/{name}/create/", headers=ARROW, chunks=(body[i:i + 50_000] for i in range(0, len(body), 50_000)))
        assert answer.status in (400, 404), answer.body
    broken = body[:5_000_000] + body[5_000_003:]
    assert server.request("POST", "/v1/table/t/insert/", broken, ARROW).status == 400
    assert server.count("t") == 10


def test_an_upload_that_stalls_is_ended(serve):
    server = serve("--no-access-log", "--idle-timeout", 1)
    body = stream_of(numbers(600_000), rows=30_000)
    with server.connect() as sock:
        sock.sendall(f"POST /v1/table/t/create/ HTTP/1.1\r\nhost: x\r\ncontent-type: {ARROW['content-type']}\r\ncontent-length: {len(body)}\r\n\r\n".encode())
        sock.sendall(body[:len(body) // 2])
        until(lambda: server.metric("glaive_uploads_running") == 1)
        until(lambda: server.metric("glaive_uploads_running") == 0, seconds=20)
    assert server.post("/v1/table/t/count_rows/").status == 404


def test_long_uploads_at_once_are_limited(serve):
    server = serve("--no-access-log", "--max-uploads", 2)
    body = stream_of(numbers(600_000), rows=30_000)
    head = f"HTTP/1.1\r\nhost: x\r\ncontent-type: {ARROW['content-type']}\r\ncontent-length: {len(body)}\r\n\r\n".encode()
    with contextlib.ExitStack() as stack:
        socks = [stack.enter_context(server.connect()) for _ in range(2)]
        for i, sock in enumerate(socks):
            sock.sendall(f"POST /v1/table/t{i}/create/ ".encode() + head + body[:8_000_000])
        until(lambda: server.metric("glaive_uploads_running") == 2)
        answer = server.request("POST", "/v1/table/t3/create/", body, ARROW)
        assert (answer.status, answer.json()["code"]) == (503, 21)
        for sock in socks:
            sock.sendall(body[8_000_000:])
            assert read_answer(sock).status == 200
    assert server.count("t0") == server.count("t1") == 600_000


def test_slow_clients_hold_no_thread(serve):
    server = serve("--no-access-log", "--threads", 2)
    server.create("t", numbers(5))
    with contextlib.ExitStack() as stack:
        socks = [stack.enter_context(server.connect()) for _ in range(20)]
        for sock in socks:
            sock.sendall(b"POST /v1/table/t/count_rows/ HTTP/1.1\r\nhost: x\r\ncontent-length: 20\r\n\r\n")
        for i in range(20):
            for sock in socks:
                sock.sendall(b"{" if i == 0 else b"}" if i == 19 else b" ")
            assert server.count("t") == 5
        for sock in socks:
            assert read_answer(sock).body == b"5"


def test_time_limit_of_a_body(serve):
    server = serve("--no-access-log", "--timeout", 1)
    with server.connect() as sock:
        sock.sendall(b"POST /v1/table/t/count_rows/ HTTP/1.1\r\nhost: x\r\ncontent-length: 2000\r\n\r\n")
        started = time.monotonic()
        with contextlib.suppress(ConnectionError):
            for _ in range(100):
                sock.sendall(b" ")
                time.sleep(0.1)
                if time.monotonic() - started > 10 * SLOW:
                    pytest.fail("a client that sends ten bytes a second is let go on")
        assert time.monotonic() - started < 10 * SLOW


def test_time_limit_of_an_upload(server):
    body = stream_of(numbers(600_000), rows=30_000)
    with server.connect() as sock:
        sock.sendall(f"POST /v1/table/t/create/ HTTP/1.1\r\nhost: x\r\nx-request-timeout-ms: 500\r\ncontent-type: {ARROW['content-type']}\r\n"
                     f"content-length: {len(body)}\r\n\r\n".encode() + body[:8_000_000])
        until(lambda: server.metric("glaive_uploads_running") == 1, seconds=2)
        until(lambda: server.metric("glaive_uploads_running") == 0)
        sock.sendall(body[8_000_000:])
        answer = read_answer(sock)
    assert (answer.status, answer.json()["code"], answer.json()["detail"]) == (503, 17, "GLV_E_TIMEOUT")
    assert server.post("/v1/table/t/count_rows/").status == 404


# ---- answers ----

def query(server, name, **headers):
    return server.post(f"/v1/table/{name}/query/", b'{"k": 10000000, "vector": []}', **headers)


def test_rows_are_streamed(server):
    table = numbers(800_000)
    server.create("t", table)
    answer = query(server, "t")
    assert answer.status == 200
    assert answer.headers.get("transfer-encoding") == "chunked"
    assert pa.ipc.open_file(pa.py_buffer(answer.body)).read_all().select(["id", "text"]).equals(table)


def test_a_client_that_reads_slowly(server):
    server.create("t", numbers(2_000_000))
    before = server.metric("glaive_memory_used_bytes")
    body = b'{"k": 10000000, "vector": []}'
    with contextlib.ExitStack() as stack:
        socks = [stack.enter_context(server.connect()) for _ in range(12)]
        for sock in socks:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            sock.sendall(b"POST /v1/table/t/query/ HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
            assert sock.recv(1000).startswith(b"HTTP/1.1 200")
        assert server.count("t") == 2_000_000  # more readers than threads, and still there is one
        assert server.metric("glaive_memory_used_bytes") - before < 900 << 20
        assert len(read_all_chunked(socks[0])) > 30 << 20
    until(lambda: server.metric("glaive_requests_running") <= 1)  # all others left in the middle
    assert query(server, "t").status == 200


def read_all_chunked(sock):
    sock.settimeout(5 * SLOW)
    data = b""
    while not data.endswith(b"0\r\n\r\n"):
        part = sock.recv(1 << 20)
        assert part
        data += part
    return data


def test_rows_of_an_answer_are_limited(serve):
    server = serve("--no-access-log", "--max-rows", 100)
    server.create("a", numbers(100))
    server.create("b", numbers(101))
    assert query(server, "a").status == 200
    answer = query(server, "b")
    assert (answer.status, answer.json()["detail"]) == (400, "GLV_E_LIMIT")


def test_gzip_only_for_who_asks(serve):
    server = serve("--no-access-log", "--gzip", "always")
    table = numbers(400_000)
    server.create("t", table)
    assert "content-encoding" not in query(server, "t").headers
    assert "content-encoding" not in query(server, "t", accept_encoding="identity").headers
    for path, rows in (("t", 400_000), ("s", 10)):
        if path == "s":
            server.create("s", numbers(10))
        answer = query(server, path, accept_encoding="gzip")
        assert answer.headers["content-encoding"] == "gzip"
        assert pa.ipc.open_file(pa.py_buffer(gzip.decompress(answer.body))).read_all().num_rows == rows
    answer = server.get("/metrics", accept_encoding="gzip, deflate")
    assert answer.headers["content-encoding"] == "gzip"
    assert b"glaive_requests_total" in gzip.decompress(answer.body)
    assert "content-encoding" not in server.get("/health", accept_encoding="gzip").headers  # not worth it


def test_gzip_can_be_switched_off(serve):
    server = serve("--no-access-log", "--gzip", "never")
    server.create("t", numbers(10))
    assert "content-encoding" not in server.get("/metrics", accept_encoding="gzip").headers
    assert "content-encoding" not in query(server, "t", accept_encoding="gzip").headers


# ---- keys ----

def test_without_keys_the_header_is_ignored(server):
    server.create("t", numbers(1))
    assert server.post("/v1/table/t/count_rows/", x_api_key="anything").status == 200


def test_keys_and_scopes(serve, db):
    reader, writer = key(db, "--scope", "read"), key(db, "--scope", "write")
    assert reader["key"] not in (db / ".glaive/keys.json").read_text()
    server = serve("--no-access-log")
    path, body = "/v1/table/t/create/", stream_of(numbers(3))
    assert server.get("/health").status == 200
    for headers in ({}, {"x-api-key": ""}, {"x-api-key": "nobody"}, {"x-api-key": reader["key"][:-1]}, {"authorization": "Bearer x"}):
        answer = server.request("POST", path, body, {**ARROW, **headers})
        assert (answer.status, answer.json()["code"], answer.json()["detail"]) == (401, 16, "GLV_E_UNAUTHENTICATED")
    answer = server.request("POST", path, body, {**ARROW, "x-api-key": reader["key"]})
    assert (answer.status, answer.json()["code"], answer.json()["detail"]) == (403, 15, "GLV_E_PERMISSION_DENIED")
    assert server.request("POST", path, body, {**ARROW, "x-api-key": writer["key"]}).status == 200
    assert server.post("/v1/table/t/count_rows/", x_api_key=reader["key"]).body == b"3"
    assert server.post("/v1/table/t/count_rows/", authorization="Bearer " + writer["key"]).body == b"3"


def test_keys_for_namespaces(serve, db):
    for ns in ("ops", "ops.nyc", "opsx"):
        subprocess.run([PROGRAM, "--db", str(db), "ns", "create", ns], check=True, capture_output=True)
    mine, all_ = key(db, "--scope", "write", "--namespace", "ops"), key(db, "--scope", "admin")
    server = serve("--no-access-log")

    def put(name, k):
        return server.request("POST", f"/v1/table/{name}/create/", stream_of(numbers(3)), {**ARROW, "x-api-key": k["key"]}).status

    assert [put(name, mine) for name in ("ops$t", "ops$nyc$t", "t", "opsx$t", "ops")] == [200, 200, 403, 403, 403]
    assert [put(name, all_) for name in ("t", "opsx$t")] == [200, 200]
    assert [server.get(f"/v1/namespace/{ns}/list", x_api_key=mine["key"]).status for ns in ("ops", "ops$nyc", "opsx")] == [200, 200, 403]


def test_keys_change_while_the_server_runs(serve, db):
    server = serve("--no-access-log")
    server.create("t", numbers(3))
    first = key(db, "--scope", "write")
    until(lambda: server.post("/v1/table/t/count_rows/").status == 401)
    second = key(db, "--scope", "read")
    until(lambda: server.post("/v1/table/t/count_rows/", x_api_key=second["key"]).status == 200)
    revoke(db, first["id"])
    until(lambda: server.post("/v1/table/t/count_rows/", x_api_key=first["key"]).status == 401)
    revoke(db, second["id"])
    until(lambda: server.post("/v1/table/t/count_rows/", x_api_key=second["key"]).status == 401)
    assert server.post("/v1/table/t/count_rows/").status == 401  # the last key went, the door stays shut


def test_the_seventeenth_request(serve, db):
    first, second = key(db), key(db)
    server = serve("--no-access-log")

    def begin(k):
        sock = server.connect()
        sock.sendall(f"POST /v1/table/t/count_rows/ HTTP/1.1\r\nhost: x\r\nx-api-key: {k['key']}\r\ncontent-length: 2\r\n\r\n{{".encode())
        return sock

    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(begin(first)) for _ in range(16)]
        until(lambda: server.post("/v1/table/t/count_rows/", x_api_key=first["key"]).status == 503)
        answer = server.post("/v1/table/t/count_rows/", x_api_key=first["key"])
        assert (answer.status, answer.json()["code"], answer.json()["detail"]) == (503, 21, "GLV_E_THROTTLED")
        assert server.post("/v1/table/t/count_rows/", x_api_key=second["key"]).status == 404
        for sock in held:
            sock.sendall(b"}")
            assert read_answer(sock).status == 404
    until(lambda: server.post("/v1/table/t/count_rows/", x_api_key=first["key"]).status == 404)


# ---- TLS ----

def test_tls(serve, certificate):
    cert, private = certificate
    server = serve("--no-access-log", "--tls-cert", cert, "--tls-key", private)
    assert server.url.startswith("https://")
    context = ssl.create_default_context(cafile=cert)
    body, path = stream_of(numbers(500_000), rows=30_000), "/v1/table/t/create/"
    connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=context, timeout=60)
    with contextlib.closing(connection):
        connection.request("POST", path, body=(body[i:i + 60_000] for i in range(0, len(body), 60_000)), headers=ARROW, encode_chunked=True)
        answer = connection.getresponse()
        assert (answer.status, answer.read() is not None) == (200, True)
        connection.request("POST", "/v1/table/t/query/", body=b'{"k": 10000000, "vector": []}')
        rows = connection.getresponse().read()
        assert pa.ipc.open_file(pa.py_buffer(rows)).read_all().num_rows == 500_000
    with pytest.raises((http.client.HTTPException, OSError)):
        server.get("/health")


# ---- the end, and what is seen of it all ----

def test_the_end_waits_for_running_requests(serve):
    server = serve("--no-access-log")
    body = stream_of(numbers(600_000), rows=30_000)
    idle = server.connect()
    with server.connect() as sock:
        sock.sendall(f"POST /v1/table/t/create/ HTTP/1.1\r\nhost: x\r\ncontent-type: {ARROW['content-type']}\r\ncontent-length: {len(body)}\r\n\r\n".encode())
        sock.sendall(body[:8_000_000])
        until(lambda: server.metric("glaive_uploads_running") == 1)
        server.process.send_signal(signal.SIGTERM)

        def is_closed():
            with contextlib.suppress(OSError):
                server.connect(timeout=1).close()
                return False
            return True

        until(is_closed)
        assert server.process.poll() is None
        sock.sendall(body[8_000_000:])
        answer = read_answer(sock)
        assert answer.status == 200
        assert answer.headers["connection"].lower() == "close"
    assert server.process.wait(20 * SLOW) == 0
    idle.close()
    assert serve("--no-access-log").count("t") == 600_000


def test_the_end_does_not_wait_for_ever(serve):
    server = serve("--no-access-log", "--grace", 1)
    body = stream_of(numbers(600_000), rows=30_000)
    server.create("big", numbers(2_000_000))
    question = b'{"k": 10000000, "vector": []}'
    with server.connect() as stalled, server.connect() as reader, server.connect() as waiting:
        stalled.sendall(f"POST /v1/table/t/create/ HTTP/1.1\r\nhost: x\r\ncontent-type: {ARROW['content-type']}\r\ncontent-length: {len(body)}\r\n\r\n".encode())
        stalled.sendall(body[:8_000_000])
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        reader.sendall(b"POST /v1/table/big/query/ HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(question) + question)
        waiting.sendall(b"POST /v1/table/t/count_rows/ HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{")
        until(lambda: server.metric("glaive_uploads_running") == 1)
        started = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - started < 10 * SLOW
    assert serve("--no-access-log").post("/v1/table/t/count_rows/").status == 404


def test_the_access_log(serve, db, tmp_path):
    k = key(db)
    log = tmp_path / "access.log"
    server = serve("--access-log", log)
    server.get("/health", x_request_id="one")
    server.post("/v1/table/t/count_rows/?x=secret", b"{ }", x_request_id="two", x_api_key=k["key"])
    with server.connect() as sock:
        sock.sendall(b"POST /v1/table/t/count_rows/ HTTP/1.1\r\nhost: x\r\nx-request-id: three\r\nx-api-key: " + k["key"].encode() + b"\r\ncontent-length: 9\r\n\r\n{")
        time.sleep(0.3)
    server.stop()
    lines = {entry["id"]: entry for entry in map(json.loads, log.read_text().splitlines())}
    assert (lines["one"]["method"], lines["one"]["path"], lines["one"]["status"], lines["one"]["key"]) == ("GET", "/health", 200, None)
    assert (lines["two"]["method"], lines["two"]["path"], lines["two"]["status"], lines["two"]["in"]) == ("POST", "/v1/table/t/count_rows/", 404, 3)
    assert lines["two"]["key"] == k["id"] and lines["two"]["out"] > 10 and lines["two"]["ms"] >= 0
    assert lines["three"]["status"] == 0  # left without an answer
    text = log.read_text()
    assert k["key"] not in text and "secret" not in text


def test_changes_of_one_table_take_turns(serve):
    server = serve("--no-access-log", "--threads", 3)
    server.create("t", numbers(0))
    server.create("u", numbers(5))
    statuses = []

    def insert():
        for _ in range(5):
            statuses.append(server.request("POST", "/v1/table/t/insert/", stream_of(numbers(2)), ARROW).status)

    threads = [threading.Thread(target=insert) for _ in range(24)]
    for t in threads:
        t.start()
    while any(t.is_alive() for t in threads):
        assert server.count("u") == 5  # the threads are not all taken by who waits
    assert statuses == [200] * 120
    assert server.count("t") == 240
    for path in ("/v1/table/t/describe/",):
        assert server.post(path).json()["version"] == 121


def test_many_clients_at_once(server):
    server.create("t", numbers(1000))
    errors = []

    def work(i):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60 * SLOW)
        try:
            for n in range(40):
                path, body, headers = (("/v1/table/t/query/", b'{"k": 10000000, "vector": []}', {}), ("/v1/table/t/count_rows/", b"{}", {}),
                                       ("/v1/table/t/describe/", b"", {}), ("/v1/table/t/insert/", stream_of(numbers(1)), ARROW))[(i + n) % 4 if n % 8 == 0 else (i + n) % 3]
                connection.request("POST", path, body=body, headers=headers)
                answer = connection.getresponse()
                answer.read()
                if answer.status != 200:
                    errors.append((path, answer.status))
        except OSError as e:
            errors.append(e)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(32)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert errors == []
    until(lambda: server.metric("glaive_requests_running") <= 1)


@pytest.mark.parametrize("limit", ["1M", "6M", "16M", "40M"])
def test_memory_is_limited(serve, limit):
    server = serve("--no-access-log", "--memory", limit)
    assert server.get("/health").status == 200
    small, large = stream_of(numbers(1000)), stream_of(numbers(600_000), rows=200_000)
    for body in (small, large):
        answer = server.request("POST", "/v1/table/t/create/?mode=overwrite", body, ARROW)
        assert answer.status in (200, 400, 503), answer.body
        if answer.status == 503:
            assert answer.json()["code"] == 17
    for _ in range(3):
        with contextlib.suppress(http.client.IncompleteRead):
            answer = query(server, "t")
            assert answer.status in (200, 404, 503), answer.body
    assert server.post("/v1/table/t/count_rows/").status in (200, 404, 503)
    until(lambda: server.metric("glaive_requests_running") <= 1)
    assert server.get("/health").status == 200
