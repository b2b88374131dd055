"""Fixtures of the tests against LanceDB and pylance.

`glaive` runs the program; `lancedb40` is the library in this process; `lancedb39` is a long-lived process of the other
environment that evaluates what it is told (`Server`), so that a call costs milliseconds and not an import.
"""
import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("GLAIVE_PROGRAM", ROOT / "build/release/src/cli/glaive"))
PYTHON39 = ROOT / ".cache/venv39/bin/python"
STABLE = {"new_table_enable_stable_row_ids": "true"}


class GlaiveError(Exception):
    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class Glaive:
    """The program on one database."""

    def __init__(self, db):
        self.db = pathlib.Path(db)

    def run(self, *words, stdin=None):
        result = subprocess.run([PROGRAM, "--db", str(self.db), *map(str, words)], input=stdin, capture_output=True)
        if result.returncode != 0:
            raise GlaiveError(result.returncode, result.stderr.decode())
        return result.stdout

    def json(self, *words):
        return json.loads(self.run(*words, "--json"))

    def write(self, name, table, *options, batch_rows=65536):
        """An Arrow table into a Glaive table."""
        import pyarrow as pa

        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=batch_rows)
        return self.run("table", "import", name, "-", "--format", "arrow", *options, stdin=sink.getvalue().to_pybytes())

    def read(self, name):
        import pyarrow as pa

        return pa.ipc.open_file(pa.py_buffer(self.run("table", "export", name, "-", "--format", "arrow"))).read_all()

    def query(self, sql):
        import pyarrow as pa

        return pa.ipc.open_file(pa.py_buffer(self.run("query", sql, "--format", "arrow"))).read_all()

    def refresh(self, name, *options):
        return self.json("view", "refresh", name, *options)


@pytest.fixture
def db(tmp_path):
    return tmp_path / "db"


@pytest.fixture
def glaive(db):
    return Glaive(db)


@pytest.fixture
def lancedb40(db):
    import lancedb

    return lancedb.connect(str(db))


SERVER = r"""
import json, sys, traceback
import lancedb, pyarrow as pa
scope = {"lancedb": lancedb, "pa": pa, "STABLE": {"new_table_enable_stable_row_ids": "true"}}
for line in sys.stdin:
    code = json.loads(line)
    try:
        try:
            value = eval(code, scope)
        except SyntaxError:
            exec(code, scope)
            value = None
        answer = {"value": value}
    except Exception as error:
        answer = {"error": type(error).__name__, "text": str(error)}
    print(json.dumps(answer, default=str), flush=True)
"""


class RemoteError(Exception):
    pass


class Server:
    """A process with LanceDB that evaluates what it is told, in turn; `tell` returns at once, `answer` waits."""

    def __init__(self, python):
        self.process = subprocess.Popen([python, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def tell(self, code):
        self.process.stdin.write(json.dumps(code) + "\n")
        self.process.stdin.flush()

    def answer(self):
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise RemoteError(f"{answer['error']}: {answer['text']}")
        return answer["value"]

    def __call__(self, code):
        self.tell(code)
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


@pytest.fixture(scope="session")
def server39():
    server = Server(PYTHON39)
    yield server
    server.close()


@pytest.fixture
def lancedb39(server39, db):
    """A function that runs Python in LanceDB 0.39, with `db` connected to the database."""
    server39(f"db = lancedb.connect({str(db)!r})")
    return server39
