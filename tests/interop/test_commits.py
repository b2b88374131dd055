"""Commits among those of others: races, handles opened earlier, restored and rebuilt schemas; random histories."""
import os
import random
import subprocess
import sys

import lance
import pyarrow as pa
import pytest
from conftest import PROGRAM, STABLE, GlaiveError
from data import same

LONG = bool(os.environ.get("GLAIVE_LONG"))


def ids(dataset):
    return dataset.to_table(columns=[], with_row_id=True)["_rowid"].to_pylist()


def test_four_appending_processes(glaive, lancedb40, db):
    """Two programs and two pylance processes, 25 appends each."""
    glaive.write("t", pa.table({"id": [0]}))
    code = ("import lance, pyarrow as pa, sys\n"
            "for i in range(25):\n    lance.write_dataset(pa.table({'id': [int(sys.argv[2]) + i]}), sys.argv[1], mode='append')\n")
    shell = ('for i in $(seq 0 24); do printf "id\\n$(($1 + i))\\n" | '
             f'"{PROGRAM}" --db "{db}" table import t - --append --format csv >/dev/null || exit 1; done')
    processes = [subprocess.Popen([sys.executable, "-c", code, str(db / "t.lance"), str(1000 * k)]) for k in (1, 2)]
    processes += [subprocess.Popen(["bash", "-c", shell, "sh", str(1000 * k)]) for k in (3, 4)]
    assert [p.wait() for p in processes] == [0] * 4
    dataset = lance.dataset(str(db / "t.lance"))
    dataset.validate()
    assert dataset.version == 101
    assert sorted(dataset.to_table()["id"].to_pylist()) == [0] + [1000 * k + i for k in (1, 2, 3, 4) for i in range(25)]
    assert sorted(ids(dataset)) == list(range(101))
    assert len({f.fragment_id for f in dataset.get_fragments()}) == 101
    assert all(p.suffix == ".manifest" or p.name == "latest_version_hint.json" for p in (db / "t.lance" / "_versions").iterdir())


def test_the_transaction_file_is_there_for_old_handles(glaive, lancedb40, db):
    """Why every commit writes one: a handle of LanceDB opened earlier rebases with it, and fails without."""
    data = pa.table({"id": range(10)})
    glaive.write("t", data)
    handle = lancedb40.open_table("t")
    glaive.write("t", data, "--append")
    handle.delete("id = 1")
    assert lancedb40.open_table("t").count_rows() == 19
    handle = lancedb40.open_table("t")
    version = lance.dataset(str(db / "t.lance")).version
    glaive.write("t", data, "--append")
    (path,) = (db / "t.lance" / "_transactions").glob(f"{version}-*.txn")
    path.unlink()
    with pytest.raises(Exception, match="transaction|not found|Not found"):
        handle.delete("id = 2")


def test_restored_tables(glaive, lancedb40, db):
    glaive.write("t", pa.table({"id": [1, 2]}))
    glaive.write("t", pa.table({"id": [3]}), "--append")
    lancedb40.open_table("t").restore(1)
    assert glaive.read("t")["id"].to_pylist() == [1, 2]
    glaive.write("t", pa.table({"id": [4]}), "--append")
    dataset = lance.dataset(str(db / "t.lance"))
    dataset.validate()
    assert ids(dataset) == [0, 1, 3]  # the id of the row that was taken back is not used again
    assert [f.fragment_id for f in dataset.get_fragments()] == [0, 2]


def test_columns_that_come_and_go(glaive, lancedb40, db):
    """Dropped, added and cast columns: files with dead and later columns, field ids used again."""
    table = lancedb40.create_table("t", pa.table({"id": [1, 2], "x": [10, 20]}), storage_options=STABLE)
    table.drop_columns(["x"])
    same(glaive.read("t"), pa.table({"id": [1, 2]}))
    table.add_columns({"x": "id * 100"})
    same(glaive.read("t"), table.to_arrow())
    table.alter_columns({"path": "x", "data_type": pa.int32()})
    same(glaive.read("t"), table.to_arrow())
    glaive.write("t", pa.table({"id": [3], "x": pa.array([7], pa.int32())}), "--append")
    table.checkout_latest()
    assert table.to_arrow().to_pydict() == {"id": [1, 2, 3], "x": [100, 200, 7]}
    same(glaive.read("t"), table.to_arrow())
    lance.dataset(str(db / "t.lance")).validate()


def test_overwrite_keeps_what_belongs_to_the_table(glaive, lancedb40, db):
    glaive.write("t", pa.table({"id": range(300)}))
    dataset = lance.dataset(str(db / "t.lance"))
    dataset.update_config({"mine": "kept"})
    dataset.update_metadata({"about": "kept"})
    dataset.create_scalar_index("id", "BTREE")
    glaive.write("t", pa.table({"id": range(3)}), "--overwrite")
    dataset = lance.dataset(str(db / "t.lance"))
    dataset.validate()
    assert dataset.config()["mine"] == "kept" and dataset.metadata["about"] == "kept"
    assert dataset.describe_indices() == []
    assert ids(dataset) == [300, 301, 302]
    assert [f.fragment_id for f in dataset.get_fragments()] == [1]


class History:
    """A table and a view over it under random changes by Glaive and by LanceDB, beside a list of what must be in it."""

    def __init__(self, glaive, lancedb40, seed):
        self.glaive, self.peer, self.rng = glaive, lancedb40, random.Random(seed)
        self.next, self.rows, self.next_row_id, self.version = 0, {}, 0, 0
        self.write(self.fresh(), None)
        glaive.run("view", "create", "v", "--as", "SELECT id, x * 2 AS y FROM t WHERE x > 3")

    def fresh(self):
        count = self.rng.choice([1, 2, 5, 40, 1500])
        first, self.next = self.next, self.next + count
        return pa.table({"id": pa.array(range(first, first + count), pa.int64()),
                         "x": pa.array([self.rng.choice([None, *range(10)]) for _ in range(count)], pa.int64())})

    def write(self, table, mode):
        by_glaive = self.rng.random() < 0.5
        if mode == "append":
            self.glaive.write("t", table, "--append") if by_glaive else self.peer.open_table("t").add(table)
        elif mode == "overwrite":
            self.rows = {}
            self.glaive.write("t", table, "--overwrite") if by_glaive else self.peer.create_table("t", table, mode="overwrite", storage_options=STABLE)
        else:
            self.glaive.write("t", table) if by_glaive else self.peer.create_table("t", table, storage_options=STABLE)
        for i, x in zip(table["id"].to_pylist(), table["x"].to_pylist()):
            self.rows[self.next_row_id] = (i, x)
            self.next_row_id += 1
        self.version += 1

    def step(self):
        what = self.rng.choices(["append", "overwrite", "delete", "compact", "refresh"], [5, 1, 4, 1, 4])[0]
        if what in ("append", "overwrite"):
            self.write(self.fresh(), what)
        elif what == "delete" and self.rows:
            k, r = self.rng.randint(2, 7), self.rng.randint(0, 1)
            gone = [row for row, (i, _) in self.rows.items() if i % k == r]
            if gone:
                self.peer.open_table("t").delete(f"id % {k} = {r}")
                for row in gone:
                    del self.rows[row]
                self.version += 1
        elif what == "compact":
            lance.dataset(str(self.glaive.db / "t.lance")).optimize.compact_files()
            self.version = lance.dataset(str(self.glaive.db / "t.lance")).version
        elif what == "refresh":
            self.refresh()
        self.check()

    def check(self):
        table = self.glaive.query("SELECT id, x FROM t")
        assert sorted(zip(table["id"].to_pylist(), table["x"].to_pylist())) == sorted(self.rows.values())
        dataset = lance.dataset(str(self.glaive.db / "t.lance"))
        assert dataset.version == self.version
        found = dataset.to_table(with_row_id=True)
        assert dict(zip(found["_rowid"].to_pylist(), zip(found["id"].to_pylist(), found["x"].to_pylist()))) == self.rows
        assert self.glaive.json("table", "count", "t", "--where", "x > 3")["count"] == len(self.expected())

    def expected(self):
        return {row: (i, x * 2) for row, (i, x) in self.rows.items() if x is not None and x > 3}

    def refresh(self):
        if self.rng.random() < 0.7:
            assert self.glaive.refresh("v")["source_version"] == self.version
        else:
            self.peer.open_materialized_view("v").refresh()
        view = self.glaive.read("v")
        found = zip(view["__source_row_id"].to_pylist(), zip(view["id"].to_pylist(), view["y"].to_pylist()))
        assert dict(found) == self.expected() and len(view) == len(self.expected())


# sorted() above compares pairs; ids are unique, so that the None of a second member is never compared.
@pytest.mark.parametrize("seed", range(400 if LONG else 30))
def test_random_histories(glaive, lancedb40, seed):
    history = History(glaive, lancedb40, seed)
    for _ in range(12):
        history.step()
    history.refresh()
    lance.dataset(str(glaive.db / "t.lance")).validate()
    lance.dataset(str(glaive.db / "v.lance")).validate()


@pytest.mark.parametrize("rename_works", [True, False])
def test_file_systems_without_hard_links(glaive, db, tmp_path, monkeypatch, rename_works):
    """link() fails as on such file systems: renameat2 publishes; where that is missing too, writing is refused."""
    glaive.write("t", pa.table({"id": [1]}))
    fail = "int {}({}) {{ errno = {}; return -1; }}\n"
    source = "#include <errno.h>\n" + fail.format("linkat", "int a, const char *b, int c, const char *d, int e", "EPERM")
    source += fail.format("link", "const char *a, const char *b", "EPERM")
    if not rename_works:
        source += fail.format("renameat2", "int a, const char *b, int c, const char *d, unsigned e", "EINVAL")
    (tmp_path / "nolink.c").write_text(source)
    subprocess.run(["cc", "-w", "-shared", "-fPIC", "-o", tmp_path / "nolink.so", tmp_path / "nolink.c"], check=True)
    monkeypatch.setenv("LD_PRELOAD", str(tmp_path / "nolink.so"))
    if rename_works:
        glaive.write("t", pa.table({"id": [2]}), "--append")
        glaive.write("u", pa.table({"id": [3]}))
    else:
        with pytest.raises(GlaiveError, match="t"):
            glaive.write("t", pa.table({"id": [2]}), "--append")
    monkeypatch.delenv("LD_PRELOAD")
    dataset = lance.dataset(str(db / "t.lance"))
    dataset.validate()
    assert dataset.to_table()["id"].to_pylist() == ([1, 2] if rename_works else [1])
    versions = {p.name for p in (db / "t.lance" / "_versions").iterdir()} - {"latest_version_hint.json"}
    assert len(versions) == dataset.version
    glaive.write("t", pa.table({"id": [4]}), "--append")
