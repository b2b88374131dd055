"""The HTTP side of `glaive serve`: what a client may do to a connection, how the server begins and ends, keys, and what is
seen of it all. What needs tables is in test_server_bodies.py."""
import contextlib
import http.client
import os
import random
import signal
import socket
import subprocess
import time

import pytest
from http_server import PROGRAM, SLOW, Server, certificate, key, read_all, read_answer, serve, server  # noqa: F401


def test_every_answer_says_who_it_is(server):
    answer = server.get("/health", x_request_id="my-id")
    assert (answer.status, answer.json()) == (200, {"status": "ok"})
    assert answer.headers["phalanx-version"] in ("0.3.0", "0.4.0")
    assert answer.headers["x-request-id"] == "my-id"
    assert answer.headers["content-type"] == "application/json"
    for bad in ("", "a b", "x" * 200, "é"):
        named = server.request("GET", "/health", headers={"x-request-id": bad.encode("utf-8")}).headers["x-request-id"]
        assert len(named) == 36
    assert server.get("/ready").status == 200


@pytest.mark.parametrize("path", ["/v1", "/v1/table/t/no_such_thing", "/health/x", "/HEALTH", "/%68ealth", "//health", "/health//"])
def test_unknown_routes(server, path):
    answer = server.get(path, x_request_id="r1")
    assert answer.status == 404
    body = answer.json()
    assert (body["code"], body["detail"], body["instance"]) == (0, "GLV_E_UNSUPPORTED", "r1")
    assert path in body["error"]


def test_traversal_finds_nothing(server, tmp_path):
    (tmp_path / "secret").write_text("secret")
    for path in ("/../secret", "/v1/../../secret", "/..%2fsecret", "/v1/table/..%2f..%2fsecret/describe", "/%2e%2e/secret"):
        answer = server.get(path)
        assert answer.status in (400, 404, 405)
        assert b"secret\n" not in answer.body.replace(b"secret'", b"")


def test_connections_are_kept(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    ports = set()
    for i in range(50):
        connection.request("GET", "/health" if i % 3 else "/nothing")
        answer = connection.getresponse()
        answer.read()
        ports.add(connection.sock.getsockname()[1])
    assert len(ports) == 1


@pytest.mark.parametrize("bytes_", [b"nonsense\r\n\r\n", b"GET\r\n\r\n", b"GET /health\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
                                    b"GET /health HTTP/1.1\r\n\r\n", b"GET /health HTTP/9.9\r\nhost: x\r\n\r\n", b"GET /hea\x00lth HTTP/1.1\r\nhost: x\r\n\r\n",
                                    b"POST /health HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n", b"POST /health HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999999999999\r\n\r\n",
                                    b"POST /health HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", b"GET /health HTTP/1.1\r\nhost x\r\n\r\n",
                                    b"GET /health HTTP/1.1\r\nhost: x\r\n bad: y\r\n\r\n", b"\r\n" * 1000])
def test_what_is_no_request(server, bytes_):
    with server.connect(timeout=2) as sock:
        sock.sendall(bytes_)
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_WR)
        answer = read_all(sock)
    assert answer == b"" or answer.startswith(b"HTTP/1."), answer
    assert server.get("/health").status == 200


@pytest.mark.parametrize("size, expected", [(40_000, 200), (66_000, 431), (300_000, None)])
def test_long_heads(server, size, expected):
    with server.connect() as sock:
        with contextlib.suppress(ConnectionError):
            sock.sendall(b"GET /health HTTP/1.1\r\nhost: x\r\nlong: " + b"x" * size + b"\r\n\r\n")
        if expected is not None:
            assert read_answer(sock).status == expected
        else:
            answer = read_all(sock)
            assert answer == b"" or answer.startswith(b"HTTP/1.1 4"), answer[:100]
    with server.connect() as sock:
        with contextlib.suppress(ConnectionError):
            sock.sendall(b"GET /" + b"x" * size + b" HTTP/1.1\r\nhost: x\r\n\r\n")
        answer = read_all(sock) if expected is None else read_answer(sock).status
        assert answer == b"" or answer in (404, 414, 431) or answer.startswith(b"HTTP/1.1 4")
    assert server.get("/health").status == 200


def test_other_machines_need_keys(db):
    refused = subprocess.run([PROGRAM, "--db", str(db), "serve", "--host", "0.0.0.0"], capture_output=True, text=True)
    assert refused.returncode == 1
    assert "glaive key create" in refused.stderr
    server = Server(db, "--host", "0.0.0.0", "--allow-anonymous")
    assert server.get("/health").status == 200
    assert server.stop() == 0
    key(db)
    server = Server(db, "--host", "0.0.0.0")
    assert server.get("/v1/namespace/$/list").status == 401
    assert server.stop() == 0


def test_key_commands(db):
    made = key(db, "--scope", "admin", "--namespace", "ops.nyc")
    assert len(made["key"]) == 68 and made["scope"] == "admin" and made["namespaces"] == ["ops.nyc"]
    out = subprocess.run([PROGRAM, "--db", str(db), "key", "list"], capture_output=True, text=True)
    assert made["id"] in out.stdout and made["key"] not in out.stdout
    for words in (["create", "--scope", "root"], ["create", "--namespace", "a..b"], ["revoke", "nobody"]):
        assert subprocess.run([PROGRAM, "--db", str(db), "key", *words], capture_output=True).returncode == 1
    text = subprocess.run([PROGRAM, "--db", str(db), "key", "create"], capture_output=True, text=True)
    assert len(text.stdout.strip()) == 68
    assert os.stat(db / ".glaive/keys.json").st_mode & 0o777 == 0o600


def test_tls_files_are_checked(db, certificate, tmp_path):
    cert, private = certificate
    (tmp_path / "text").write_text("no certificate")
    for words, code in ((["--tls-cert", cert], 2), (["--tls-cert", cert, "--tls-key", tmp_path / "text"], 1), (["--tls-cert", "/nothing", "--tls-key", private], 1)):
        assert subprocess.run([PROGRAM, "--db", str(db), "serve", *words], capture_output=True).returncode == code


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT])
def test_an_idle_server_ends_at_once(serve, sig):
    server = serve()
    assert server.get("/health").status == 200
    started = time.monotonic()
    assert server.stop(sig) == 0
    assert time.monotonic() - started < 5 * SLOW


def test_metrics(server):
    for _ in range(3):
        server.get("/health")
    server.get("/nothing")
    text = server.get("/metrics").body.decode()
    assert 'glaive_requests_total{route="/health",method="GET",status="200"} 3' in text
    assert 'glaive_requests_total{route="none",method="",status="404"} 1' in text
    assert 'glaive_request_seconds_count{route="/health",method="GET"} 3' in text
    for line in text.splitlines():
        assert line.startswith("#") or len(line.rsplit(" ", 1)) == 2


PIECES = [b"GET ", b"POST ", b"HEAD ", b"/health", b"/v1/table/t/create/", b"/v1/namespace/$/list", b"?delimiter=%24", b"%", b"%00", b"..", b"$", b" HTTP/1.1",
          b" HTTP/1.0", b"\r\n", b"\n", b"\r\n\r\n", b"host: x", b"content-length: 5", b"content-length: 0", b"transfer-encoding: chunked", b"5\r\nhello\r\n",
          b"0\r\n\r\n", b"expect: 100-continue", b"connection: close", b"connection: keep-alive", b"accept-encoding: gzip", b"x-api-key: k",
          b"content-type: application/vnd.apache.arrow.stream", b"\xff\xff\xff\xff\x00\x00\x00\x00", b"{}", b":", b";", b"\x00", b"\xc3\xa9", b"x" * 3000]


def random_request(choose):
    """A request of some form, then damaged; or pieces in a row."""
    if choose.random() < 0.3:
        return b"".join(choose.choices(PIECES, k=choose.randint(1, 30)))
    path = choose.choice([b"/health", b"/metrics", b"/v1/table/t/create/", b"/v1/table/t/count_rows", b"/v1/namespace/$/list?limit=1", b"/nothing"])
    body = choose.choice([b"", b"{}", b"[1]", b"\xff\xff\xff\xff\x00\x00\x00\x00", b"x" * 500])
    data = bytearray(choose.choice([b"GET ", b"POST "]) + path + b" HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n" % len(body) +
                     choose.choice([b"", b"content-type: application/vnd.apache.arrow.stream\r\n", b"x-request-timeout-ms: 1\r\n"]) + b"\r\n" + body)
    for _ in range(choose.randint(0, 4)):
        at = choose.randrange(len(data))
        change = choose.random()
        if change < 0.4:
            data[at] = choose.randrange(256)
        elif change < 0.7:
            del data[at:at + choose.randint(1, 20)]
        else:
            data[at:at] = choose.choice(PIECES)
        if not data:
            break
    return bytes(data)


def test_random_requests(server):
    seed = int(os.environ.get("GLAIVE_SEED", "1"))
    for i in range(4000 if os.environ.get("GLAIVE_LONG") else 150):
        choose = random.Random(seed * 1_000_003 + i)
        data = random_request(choose)
        with server.connect(timeout=10 * SLOW) as sock, contextlib.suppress(ConnectionError):
            sock.sendall(data)
            if choose.random() < 0.7:
                sock.shutdown(socket.SHUT_WR)
                answer = read_all(sock)
                assert answer == b"" or answer.startswith(b"HTTP/1."), (seed, i, data, answer[:100])
                assert b"GLV_E_INTERNAL" not in answer, (seed, i, data, answer)
    assert server.get("/health").status == 200
