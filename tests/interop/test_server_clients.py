"""LanceDB's own clients on the server beyond what the driver asks: types of columns, how new answers are, two releases at once, lost
connections (rest-protocol 16: 9, 14, 22, 26)."""
import json
import re
import socket
import threading
import time
import urllib.request

import lancedb
import pyarrow as pa
import pytest
from served import Served
from test_server_multipart import ARROW, stream

import every_type

ROWS = pa.table({"id": pa.array(range(3), pa.int64()), "name": ["a", "b", None]})


@pytest.fixture
def served(db):
    server = Served(db)
    yield server
    server.stop()


def connect(served):
    return lancedb.connect("db://dev", api_key="k", host_override=served.url)


def test_9_types_survive_the_official_client(served):
    remote = connect(served)
    for name, kind in sorted(every_type.TYPES_21.items()):
        schema = pa.schema([pa.field("x", kind, metadata={"k": "v"}), pa.field("y", pa.int8(), nullable=False)])
        told = remote.create_table("s" + re.sub(r"\W", "_", name), schema=schema).schema
        assert told.equals(schema, check_metadata=True), (name, told)


def test_22_answers_are_as_new_as_asked(served, db):
    served.ok("/v1/table/t/create", stream(ROWS), headers=ARROW)
    for version in range(2, 6):
        served.ok("/v1/table/t/insert", stream(ROWS), headers=ARROW)
        request = urllib.request.Request(f"{served.url}/v1/table/t/describe", b"{}", {"x-lancedb-min-version": str(version)})
        with urllib.request.urlopen(request) as answer:
            assert json.load(answer)["version"] == version and answer.headers["x-lancedb-version"] == str(version)
    lancedb.connect(str(db)).open_table("t").add(ROWS)  # by another program
    assert served.ok("/v1/table/t/describe", {})["version"] == 6


def test_26_two_releases_at_once(served, lancedb39):
    lancedb39(f"remote = lancedb.connect('db://dev', api_key='k', host_override={served.url!r})")
    ours, wrong = connect(served), []
    old = ("import pyarrow as pa\n"
           "def work(i):\n"
           "    t = remote.create_table(f'old{i}', pa.table({'id': [1, 2]}))\n"
           "    shared = remote.open_table('shared')\n"
           "    for _ in range(5):\n"
           "        t.add(pa.table({'id': [3]})); shared.add(pa.table({'id': [1000 + i]}))\n"
           "    assert t.count_rows() == 7 and len(t.search().limit(100).to_arrow()) == 7\n"
           "    remote.drop_table(f'old{i}')\n")
    shared = ours.create_table("shared", pa.table({"id": [0]}))

    def run_new():
        try:
            for i in range(6):
                t = ours.create_table(f"new{i}", ROWS)
                for _ in range(5):
                    t.add(ROWS)
                    shared.add(pa.table({"id": [i]}))
                assert t.count_rows() == 18 and len(t.search().limit(100).to_arrow()) == 18
                ours.drop_table(f"new{i}")
        except Exception as error:  # told at the end
            wrong.append(error)

    thread = threading.Thread(target=run_new)
    lancedb39.tell("exec(" + repr(old) + ", globals())")
    assert lancedb39.answer() is None
    thread.start()
    for i in range(6):
        lancedb39.tell(f"work({i})")
        lancedb39.answer()
    thread.join()
    assert not wrong, wrong
    assert shared.count_rows() == 61 and list(ours.table_names()) == ["shared"]


def send(served, path, body, kind):
    host, port = served.url.rsplit("/", 1)[1].split(":")
    sock = socket.create_connection((host, int(port)))
    sock.sendall(f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
    return sock


def test_14_connections_lost_after_a_change_was_sent(served):
    """The change is made once, or not at all when the loss was noticed before it was committed."""
    served.ok("/v1/table/t/create", stream(ROWS), headers=ARROW)
    changes = [("insert", stream(ROWS), ARROW["content-type"]), ("update", b'{"updates": [["name", "\'x\'"]], "predicate": "id = 1"}', "application/json"),
               ("delete", b'{"predicate": "id = 0"}', "application/json")]
    made = 0
    for round_ in range(20):
        for route, body, kind in changes:
            before = served.ok("/v1/table/t/describe", {})["version"]
            sock = send(served, f"/v1/table/t/{route}", body, kind)
            time.sleep(0.002 * (round_ % 4))
            sock.close()
            time.sleep(0.05)
            version = served.ok("/v1/table/t/describe", {})["version"]
            assert version - before in (0, 1), (route, round_)
            made += version - before
    assert made >= 10

