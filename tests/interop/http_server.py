"""`glaive serve` as a process of a test, and short forms of requests to it."""
import contextlib
import http.client
import io
import json
import os
import pathlib
import signal
import socket
import subprocess
import time

import pyarrow as pa
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("GLAIVE_PROGRAM", ROOT / "build/release/src/cli/glaive"))
ARROW = {"content-type": "application/vnd.apache.arrow.stream"}
SLOW = 5 if os.environ.get("GLAIVE_SLOW") else 1


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, {k.lower(): v for k, v in headers}, body

    def json(self):
        return json.loads(self.body)


class Server:
    """A server on a directory, and short forms of requests to it."""

    def __init__(self, db, *options):
        self.db, self.log = db, pathlib.Path(str(db) + ".log")
        with self.log.open("ab") as err:
            self.process = subprocess.Popen([PROGRAM, "--db", str(db), "--json", "serve", *map(str, options)],
                                            stdout=subprocess.PIPE, stderr=err)
        line = self.process.stdout.readline().decode()
        assert line, f"the server did not start: {self.log.read_text()}"
        self.url = json.loads(line)["url"]
        self.port = int(self.url.rsplit(":", 1)[1])

    def connect(self, timeout=60):
        return socket.create_connection(("127.0.0.1", self.port), timeout=timeout)

    def request(self, method, path, body=None, headers=None, chunks=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        with contextlib.closing(connection):
            connection.request(method, path, body=chunks if chunks is not None else body, headers=headers or {},
                               encode_chunked=chunks is not None)
            answer = connection.getresponse()
            return Answer(answer.status, answer.getheaders(), answer.read())

    def get(self, path, **headers):
        return self.request("GET", path, headers={k.replace("_", "-"): v for k, v in headers.items()})

    def post(self, path, body=b"{}", **headers):
        return self.request("POST", path, body, {k.replace("_", "-"): v for k, v in headers.items()})

    def create(self, name, table):
        answer = self.request("POST", f"/v1/table/{name}/create/", stream_of(table), ARROW)
        assert answer.status == 200, answer.body

    def count(self, name):
        answer = self.post(f"/v1/table/{name}/count_rows/")
        assert answer.status == 200, answer.body
        return answer.json()

    def metric(self, name):
        for line in self.get("/metrics").body.decode().splitlines():
            if line.startswith(name + " "):
                return float(line.split()[-1])
        raise KeyError(name)

    def stop(self, sig=signal.SIGTERM, timeout=60):
        if self.process.poll() is None:
            self.process.send_signal(sig)
        return self.process.wait(timeout)


@pytest.fixture
def serve(tmp_path):
    running = []

    def start(*options, db="db"):
        server = Server(tmp_path / db, *options)
        running.append(server)
        return server

    yield start
    for server in running:
        code = server.stop()
        assert code == 0, server.log.read_text()
        assert "Sanitizer" not in server.log.read_text()


@pytest.fixture
def server(serve):
    return serve("--no-access-log")


@pytest.fixture(scope="session")
def table_routes(tmp_path_factory):
    """Skips where the routes of tables are not there."""
    server = Server(tmp_path_factory.mktemp("routes") / "db")
    answer = server.request("POST", "/v1/table/t/create/", b"", ARROW)
    server.stop()
    if answer.status == 404:
        pytest.skip("the routes of tables are not there")


@pytest.fixture
def certificate(tmp_path):
    cert, private = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-keyout", private, "-out", cert], check=True, capture_output=True)
    return cert, private


def stream_of(table, rows=65536):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows)
    return sink.getvalue()


def numbers(count, start=0):
    return pa.table({"id": pa.array(range(start, start + count), pa.int64()),
                     "text": pa.array([f"text number {i}" for i in range(start, start + count)], pa.string())})


def read_answer(sock):
    answer = http.client.HTTPResponse(sock)
    answer.begin()
    return Answer(answer.status, answer.getheaders(), answer.read())


def read_all(sock):
    data = b""
    with contextlib.suppress(ConnectionError, TimeoutError):
        while part := sock.recv(65536):
            data += part
    return data


def key(db, *options):
    out = subprocess.run([PROGRAM, "--db", str(db), "--json", "key", "create", *options], capture_output=True, check=True)
    return json.loads(out.stdout)


def revoke(db, key_id):
    subprocess.run([PROGRAM, "--db", str(db), "key", "revoke", key_id], capture_output=True, check=True)


def until(condition, seconds=10):
    end = time.monotonic() + seconds * SLOW
    while not condition():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.05)
