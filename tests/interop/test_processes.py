"""Several processes at one view, and processes that are killed (materialized-views 13, items 33 and 36)."""
import os
import random
import signal
import subprocess
import time

import lance
import lancedb
import pyarrow as pa
import pytest
from conftest import PROGRAM, STABLE

LONG = bool(os.environ.get("GLAIVE_LONG"))


def start(glaive, *words):
    return subprocess.Popen([PROGRAM, "--db", str(glaive.db), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def batch(first, count):
    return pa.table({"id": range(first, first + count), "name": [f"name {i}" for i in range(first, first + count)]})


@pytest.fixture
def view(glaive, lancedb40):
    source = lancedb40.create_table("src", batch(0, 2000), storage_options=STABLE)
    glaive.run("view", "create", "v", "--as", "SELECT id, upper(name) AS name FROM src WHERE id % 2 = 0")
    return source


def check(table, source):
    """The view holds what its definition says of the source, each row once."""
    rows = table.to_arrow()
    want = [i for i in source.to_arrow()["id"].to_pylist() if i % 2 == 0]
    assert sorted(rows["id"].to_pylist()) == want
    assert all(n == f"NAME {i}" for n, i in zip(rows["name"].to_pylist(), rows["id"].to_pylist()))
    assert len(set(rows["__source_row_id"].to_pylist())) == len(rows)


def test_refreshing_processes_never_double_rows(glaive, lancedb40, view):
    """Two programs refresh at once until each kind of meeting was seen: every round publishes the new rows exactly once."""
    rounds = 100 if LONG else 15
    written = []
    for i in range(rounds):
        view.add(batch(2000 + 100 * i, 100))
        before = lance.dataset(str(glaive.db / "v.lance")).version
        processes = [start(glaive, "view", "refresh", "v", "--json") for _ in range(2)]
        outputs = [p.communicate() for p in processes]
        for process, (_, err) in zip(processes, outputs):
            assert process.returncode in (0, 5), err  # the loser retries; only a lost retry is a conflict
        assert any(p.returncode == 0 for p in processes)
        assert lance.dataset(str(glaive.db / "v.lance")).version == before + 1
        written.append(sum('"incremental"' in out for out, _ in outputs))
        check(lancedb40.open_table("v"), view)
    assert set(written) == {1}
    assert lancedb40.open_materialized_view("v").refresh().mode == "no_op"


def test_a_polling_reader_sees_old_or_new(glaive, lancedb40, view):
    """While a program refreshes 100 times, a reader of the newest version never meets a count between two of them."""
    rounds = 100 if LONG else 20
    allowed = [1000 + 50 * i for i in range(rounds + 1)]
    seen = set()
    for i in range(rounds):
        view.add(batch(2000 + 100 * i, 100))
        process = start(glaive, "view", "refresh", "v")
        while process.poll() is None:
            seen.add(lance.dataset(str(glaive.db / "v.lance")).count_rows())
        assert process.returncode == 0
        assert seen <= set(allowed[i:i + 2]), (i, seen)
        seen = {allowed[i + 1]} & seen
    assert lancedb40.open_table("v").count_rows() == allowed[-1]


def killed(process, delay):
    """Kill after a while. @return whether it had ended by then."""
    time.sleep(delay)
    ended = process.poll() is not None
    process.send_signal(signal.SIGKILL)
    process.wait()
    return ended


def test_killed_refreshes(glaive, lancedb40, view):
    """kill -9 at any moment: the view stays readable for everybody; one more refresh makes it right, never by a rebuild."""
    rounds = 500 if LONG else 25
    random.seed(7)
    started = time.monotonic()
    assert glaive.refresh("v")["mode"] == "no_op"
    usual = time.monotonic() - started
    interrupted = 0
    for i in range(rounds):
        view.add(batch(2000 + 40 * i, 40))
        before = lance.dataset(str(glaive.db / "v.lance")).version
        ended = killed(start(glaive, "view", "refresh", "v"), random.uniform(0, 2 * usual))
        dataset = lance.dataset(str(glaive.db / "v.lance"))
        assert dataset.version in (before, before + 1)
        opened = lancedb40.open_table("v")
        ids = opened.to_arrow()["__source_row_id"].to_pylist()
        assert len(ids) == len(set(ids)) == dataset.count_rows()
        result = glaive.refresh("v")
        if dataset.version == before:
            interrupted += 1
            assert not ended
            assert (result["mode"], result["rows_written"]) == ("incremental", 20)
        else:
            assert result["mode"] == "no_op"
        check(lancedb40.open_table("v"), view)
        assert glaive.refresh("v")["mode"] == "no_op"
    assert lancedb40.open_materialized_view("v").refresh().mode == "no_op"
    lance.dataset(str(glaive.db / "v.lance")).validate()
    assert interrupted > 0


def test_killed_first_fills(glaive, lancedb40):
    """Killed while it creates and fills: no view, or an empty unfilled one that a refresh fills, or the whole."""
    random.seed(8)
    source = lancedb40.create_table("src", batch(0, 200_000), storage_options=STABLE)
    seen = set()
    for _ in range(60 if LONG else 12):
        killed(start(glaive, "view", "create", "v", "--as", "SELECT id, upper(name) AS name FROM src WHERE id % 2 = 0"),
               random.uniform(0, 0.12))
        states = {v["name"]: v["state"] for v in glaive.json("view", "list")}
        seen.add(states.get("v", "none"))
        if "v" not in states:
            continue
        if states["v"] == "unfilled":
            assert lancedb40.open_table("v").count_rows() == 0
            result = glaive.refresh("v")
            assert (result["mode"], result["reason"]) == ("rebuild", "first")
        check(lancedb40.open_table("v"), source)
        glaive.run("view", "drop", "v")
    assert "unfilled" in seen or "none" in seen


def test_killed_writers(glaive, db):
    """Two programs append while one of them is killed now and then: no acknowledged row is lost, versions have no gaps."""
    random.seed(9)
    glaive.write("t", batch(0, 1))
    rounds = 250 if LONG else 15
    acknowledged, unknown = {0}, set()
    for i in range(rounds):
        numbers = [10 * i + 1, 10 * i + 2]
        processes = []
        for number in numbers:
            process = subprocess.Popen([PROGRAM, "--db", str(db), "table", "import", "t", "-", "--append", "--format", "csv"],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            process.stdin.write(f"id,name\n{number},x\n".encode())
            process.stdin.close()
            processes.append(process)
        killed(processes[0], random.uniform(0, 0.02))
        processes[1].wait()
        assert processes[1].returncode == 0
        acknowledged.add(numbers[1])
        (acknowledged if processes[0].returncode == 0 else unknown).add(numbers[0])
    ids = glaive.read("t")["id"].to_pylist()
    assert len(ids) == len(set(ids))
    assert acknowledged <= set(ids) <= acknowledged | unknown
    dataset = lance.dataset(str(db / "t.lance"))
    dataset.validate()
    assert [v["version"] for v in dataset.versions()] == list(range(1, len(ids) + 1))
    assert lancedb.connect(str(db)).open_table("t").count_rows() == len(ids)
