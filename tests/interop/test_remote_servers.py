"""The client against `glaive serve`, and against a server of another kind: the recording server over LanceDB, in the
tools beside the recorded cases."""
import ctypes
import os
import pathlib
import re
import subprocess
import sys
import threading

import pyarrow as pa
import pytest

import capi
import every_type
from conftest import PROGRAM

TOOLS = pathlib.Path(os.environ.get("GLAIVE_CASES", pathlib.Path(__file__).resolve().parents[3] / "shared/cases")).parent / "tools/rest"
NO_TOOLS = pytest.mark.skipif(not TOOLS.exists(), reason="no recording_server.py beside the recorded cases")
ROWS = pa.table({"id": pa.array(range(6), pa.int64()), "name": [f"n{i}" for i in range(6)]})


@pytest.fixture(scope="module", params=["glaive", pytest.param("foreign", marks=NO_TOOLS)])
def server(request, tmp_path_factory):
    root = str(tmp_path_factory.mktemp("served"))
    ours = [PROGRAM, "--db", root, "serve", "--no-access-log"]
    foreign = [sys.executable, "-u", str(TOOLS / "recording_server.py"), "--port", "0", "--root", root, "--log",
               os.devnull]
    process = subprocess.Popen(ours if request.param == "glaive" else foreign, stdout=subprocess.PIPE, text=True)
    yield re.search(r"http://\S+", process.stdout.readline())[0]
    process.terminate()
    process.wait()


@pytest.fixture
def connection(server):
    opened = capi.Connection(server)
    yield opened
    opened.close()


@pytest.fixture
def table(connection, request):
    name = "t_" + re.sub(r"\W", "_", request.node.name)
    connection.create([name], ROWS)
    with capi.Table(connection, [name]) as opened:
        opened.name = name
        yield opened


def scan(connection, name):
    return connection.scan([name]).read_all()


def test_rows_go_and_come(connection, table):
    assert scan(connection, table.name).equals(ROWS)
    table.append(ROWS)
    table.update({"name": "upper(name)"}, "id < 2")
    table.delete("id = 5")
    assert scan(connection, table.name).num_rows == 10
    merged = pa.table({"id": pa.array([4, 9], pa.int64()), "name": ["four", "nine"]})
    table.delete("id = 4")
    table.merge(merged, ["id"], capi.MERGE_UPDATE | capi.MERGE_INSERT)
    assert sorted(set(scan(connection, table.name)["id"].to_pylist())) == [0, 1, 2, 3, 4, 9]
    table.overwrite(merged)
    assert scan(connection, table.name).equals(merged)


def test_one_handle_in_many_threads(connection, table):
    wrong = []

    def work():
        for _ in range(20):
            count = ctypes.c_uint64()
            table.call("count", None, None, ctypes.byref(count))
            if count.value != ROWS.num_rows or scan(connection, table.name).num_rows != ROWS.num_rows:
                wrong.append(count.value)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_rows_by_number(connection, table):
    assert connection.take([table.name], [3, 0, 3])["id"].to_pylist() == [3, 0, 3]
    assert connection.take([table.name], [])["id"].to_pylist() == []
    with pytest.raises(capi.Failed) as caught:
        connection.take([table.name], [99])
    assert caught.value.code == 113


def test_columns(connection, table):
    table.add_columns({"twice": "id * 2"})
    table.add_null_columns(pa.schema([("empty", pa.int32())]))
    table.alter_columns([{"path": "twice", "rename": "dbl"}, {"path": "name", "nullable": True}])
    assert scan(connection, table.name)["dbl"].to_pylist() == [0, 2, 4, 6, 8, 10]
    table.drop_columns(["dbl", "empty"])
    assert scan(connection, table.name).column_names == ["id", "name"]
    connection.set_metadata([table.name], "field", {"unit": "years"}, column="id")
    table.restore(1)
    assert scan(connection, table.name).equals(ROWS)


@pytest.mark.parametrize("name", sorted(every_type.TYPES_21))
def test_schemas(connection, name):
    """What the server tells of a column is what was sent."""
    kind, table = every_type.TYPES_21[name], "s" + re.sub(r"\W", "_", name)
    schema = pa.schema([pa.field("x", kind, metadata={"k": "v"}), pa.field("y", pa.int8(), nullable=False)])
    connection.create([table], schema.empty_table())
    exported = (ctypes.c_uint64 * 9)()
    with capi.Table(connection, [table]) as opened:
        opened.call("schema", exported)
    told = pa.Schema._import_from_c(ctypes.addressof(exported))
    assert told.equals(schema, check_metadata=True)


def test_views(server, connection, table):
    def run(*words):
        return subprocess.run([PROGRAM, "--url", server, *words], capture_output=True, text=True)

    made = run("view", "create", "v", "--as", f"SELECT id, upper(name) AS n FROM {table.name} WHERE id > 2")
    assert made.returncode == 0, made.stderr
    assert "v" in run("view", "list").stdout.split()
    with capi.View(connection, ["v"]) as view:
        assert view.refresh()[0] == "no_op"
        table.append(ROWS)
        assert view.refresh()[:3] == ("incremental", "", 3)
        try:
            assert view.report("status")["versions_behind"] == 0
        except capi.Failed as failed:
            assert failed.code == 100 and "does not offer" in str(failed)
    assert sorted(scan(connection, "v")["n"].to_pylist()) == ["N3", "N3", "N4", "N4", "N5", "N5"]
    assert run("view", "drop", "v").returncode == 0 and run("view", "drop", "v").returncode == 3


# ---- keys and certificates


def serve(db, *words):
    process = subprocess.Popen([PROGRAM, "--db", db, "serve", "--no-access-log", *words], stdout=subprocess.PIPE, text=True)
    return process, re.search(r"https?://\S+", process.stdout.readline())[0]


def test_keys(tmp_path):
    def run(*words, key=None):
        return subprocess.run([PROGRAM, *words, *(["--api-key", key] if key else [])], capture_output=True, text=True)

    db = str(tmp_path / "db")
    assert run("--db", db, "ns", "create", "ns").returncode == 0
    key = run("--db", db, "key", "create", "--scope", "read").stdout.split()[-1]
    process, url = serve(db)
    try:
        assert run("--url", url, "ns", "list", key=key).stdout == "ns\n"
        for wrong in (None, "x" * len(key)):
            refused = run("--url", url, "ns", "list", key=wrong)
            assert refused.returncode == 1 and "key" in refused.stderr and (wrong or "none") not in refused.stderr
        assert run("--url", url, "ns", "create", "more", key=key).returncode == 1
        connection = capi.Connection(url, api_key=key.encode())
        with pytest.raises(capi.Failed) as caught:
            connection.call("glv_namespace_create", connection.conn, capi.id_of(["more"]), capi.pairs_of({}), None)
        assert (caught.value.code, caught.value.http_status) == (115, 403)
        connection.close()
    finally:
        process.terminate()
        process.wait()


def test_certificates(tmp_path):
    key, certificate, db = tmp_path / "key.pem", tmp_path / "cert.pem", str(tmp_path / "db")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate], check=True, capture_output=True)
    process, url = serve(db, "--tls-cert", str(certificate), "--tls-key", str(key))

    def run(**environment):
        return subprocess.run([PROGRAM, "--url", url, "ns", "create", "a"], env={**os.environ, **environment}, capture_output=True, text=True)

    try:
        assert url.startswith("https://")
        refused = run()
        assert refused.returncode == 1 and "certificate" in refused.stderr
        assert run(GLAIVE_CA_FILE=str(certificate)).returncode == 0
    finally:
        process.terminate()
        process.wait()
