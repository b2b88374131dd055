"""Tables of every type written by one engine and read, changed and appended to by the others."""
import os

import lance
import lancedb
import numpy as np
import pyarrow as pa
import pytest
from capi import Connection, Failed
from conftest import STABLE, GlaiveError
from data import SHAPES, TYPES, same, table

SIZES = [1, 2, 1000, 100_000]
NULLS = [0, 0.1, 1]


@pytest.mark.parametrize("nulls", NULLS)
@pytest.mark.parametrize("n", SIZES)
def test_theirs_in_glaive(glaive, lancedb40, n, nulls):
    for shape in SHAPES if n <= 1000 else ["random", "runs"]:
        data = table(n, shape, nulls, seed=n)
        lance.write_dataset(data, str(glaive.db / "t.lance"), mode="overwrite", enable_stable_row_ids=True)
        same(glaive.read("t"), data)


@pytest.mark.parametrize("nulls", NULLS)
@pytest.mark.parametrize("n", SIZES)
def test_ours_in_theirs(glaive, lancedb40, lancedb39, n, nulls):
    for shape in SHAPES if n <= 1000 else ["random", "runs"]:
        data = table(n, shape, nulls, seed=n + 1)
        glaive.write("t", data, "--overwrite")
        dataset = lance.dataset(str(glaive.db / "t.lance"))
        dataset.validate()
        same(dataset.to_table(), data)
        same(lancedb40.open_table("t").to_arrow(), data)
        rows = sorted({0, n - 1, n // 2, min(511, n - 1), min(512, n - 1), min(1023, n - 1), min(1024, n - 1)})
        same(dataset.take(rows), data.take(rows))
        same(glaive.read("t"), data)
        assert lancedb39("len(db.open_table('t').to_arrow())") == n


WIDE = ["vector:float32:128", "long_utf8"]  # half a gigabyte a million rows


@pytest.mark.parametrize("types", [TYPES[i:i + 4] for i in range(0, len(TYPES), 4)], ids=lambda types: types[0])
def test_a_million_rows(glaive, types):
    """Every type, several pages and chunks; what takes half a gigabyte has a million rows in the long form only."""
    for n, some in [(1_000_000, [t for t in types if t not in WIDE]),
                    (1_000_000 if os.environ.get("GLAIVE_LONG") else 60_000, [t for t in types if t in WIDE])]:
        if not some:
            continue
        data = table(n, "random", 0.05, types=some)
        lance.write_dataset(data, str(glaive.db / "theirs.lance"), mode="overwrite", enable_stable_row_ids=True)
        same(glaive.read("theirs"), data)
        glaive.write("ours", data, "--overwrite")
        dataset = lance.dataset(str(glaive.db / "ours.lance"))
        dataset.validate()
        same(dataset.to_table(), data)


@pytest.mark.parametrize("metadata", [{"lance-encoding:compression": "zstd"}, {"lance-encoding:compression": "lz4"},
                                      {"lance-encoding:compression": "none"}, {"lance-encoding:compression": "fsst"},
                                      {"lance-encoding:structural-encoding": "fullzip"},
                                      {"lance-encoding:structural-encoding": "miniblock"},
                                      {"lance-encoding:bss": "on", "lance-encoding:compression": "lz4"}])
def test_encodings_asked_for_by_field_metadata(glaive, tmp_path, metadata):
    for shape in ["random", "runs", "small"]:
        data = table(5000, shape, 0.1, types=["int32", "int64", "float32", "float64", "utf8", "binary", "long_utf8", "vector:float32:4"])
        schema = pa.schema([f.with_metadata(metadata) for f in data.schema])
        data = data.cast(schema)
        path = str(glaive.db / "t.lance")
        try:
            lance.write_dataset(data, path, mode="overwrite", enable_stable_row_ids=True)
        except Exception as error:  # some encodings do not exist for some types
            pytest.skip(str(error))
        same(glaive.read("t"), data)


def test_several_fragments_and_deletions(glaive, lancedb40):
    data = table(3000, "random", 0.1)
    path = str(glaive.db / "t.lance")
    lance.write_dataset(data, path, max_rows_per_file=700, enable_stable_row_ids=True)
    same(glaive.read("t"), data)
    t = lancedb40.open_table("t")
    t.delete("int32 % 3 = 0")
    left = t.to_arrow()
    assert 0 < len(left) < len(data)
    same(glaive.read("t"), left)
    assert glaive.json("table", "count", "t")["count"] == len(left)
    assert glaive.json("table", "describe", "t")["deleted_rows"] == len(data) - len(left)
    t.delete("int64 > 0 OR int64 IS NULL")  # more than 5,000 deletions per fragment become bitmaps
    same(glaive.read("t"), t.to_arrow())
    big = pa.table({"id": range(20000)})
    lancedb40.create_table("big", big, storage_options=STABLE).delete("id % 2 = 0")
    assert glaive.read("big")["id"].to_pylist() == list(range(1, 20000, 2))
    assert glaive.json("table", "count", "big", "--where", "id > 10000")["count"] == 5000


def test_ours_survive_their_changes(glaive, lancedb40):
    data = table(2000, "random", 0.1, types=["int64", "utf8", "float64", "vector:float32:4", "date32"])
    data = data.append_column("key", pa.array(range(2000)))
    glaive.write("t", data)
    path = str(glaive.db / "t.lance")
    t = lancedb40.open_table("t")
    t.update(where="key < 10", values={"utf8": "changed"})
    t.delete("key >= 1990")
    t.add(data.slice(0, 50).drop(["key"]).append_column("key", pa.array(range(3000, 3050))))
    t.merge_insert("key").when_matched_update_all().when_not_matched_insert_all().execute(
        data.slice(0, 5).drop(["key"]).append_column("key", pa.array([3000, 3001, 4000, 4001, 4002])))
    lance.dataset(path).validate()
    want = t.to_arrow().sort_by("key")
    same(glaive.read("t").sort_by("key"), want)
    lance.dataset(path).optimize.compact_files()
    lance.dataset(path).validate()
    same(glaive.read("t").sort_by("key"), want)
    lance.dataset(path).create_scalar_index("key", "BTREE")
    t.checkout_latest()
    assert t.count_rows("key = 3000") == 1
    extra = want.slice(0, 3).set_column(want.schema.get_field_index("key"), "key", pa.array([5000, 5001, 5002]))
    glaive.write("t", extra, "--append")
    t.checkout_latest()
    assert t.count_rows("key >= 5000") == 3
    assert t.count_rows("key = 5001") == 1
    lance.dataset(path).validate()
    lance.dataset(path).optimize.optimize_indices()
    assert lance.dataset(path).count_rows("key = 5001") == 1


def test_appending_to_each_other(glaive, lancedb40, lancedb39):
    data = table(500, "random", 0.1)
    glaive.write("t", data)
    lancedb40.open_table("t").add(data)
    lancedb39("db.open_table('t').add(db.open_table('t').to_arrow().slice(0, 500))")
    glaive.write("t", data, "--append")
    want = pa.concat_tables([data] * 4)
    same(glaive.read("t"), want)
    same(lancedb40.open_table("t").to_arrow(), want)
    ids = lance.dataset(str(glaive.db / "t.lance")).to_table(columns=["bool"], with_row_id=True)["_rowid"].to_pylist()
    assert ids == list(range(2000))
    created = lance.dataset(str(glaive.db / "t.lance")).to_table(columns=["_row_created_at_version", "_row_last_updated_at_version"])
    assert created["_row_created_at_version"].to_pylist() == [v for v in (1, 2, 3, 4) for _ in range(500)]


def test_handles_opened_before_our_commit_rebase(glaive, lancedb40, lancedb39):
    data = pa.table({"id": range(100), "x": range(100)})
    glaive.write("t", data)
    mine = lancedb40.open_table("t")
    lancedb39("old = db.open_table('t')")
    glaive.write("t", data, "--append")
    mine.delete("id = 1")
    lancedb39("old.delete('id = 2')")
    assert glaive.json("table", "count", "t")["count"] == 198  # both handles saw the first hundred rows only
    lance.dataset(str(glaive.db / "t.lance")).validate()


def test_overwrite_by_each_other(glaive, lancedb40):
    glaive.write("t", pa.table({"a": [1, 2]}))
    lancedb40.create_table("t", pa.table({"b": ["x"]}), mode="overwrite")
    same(glaive.read("t"), pa.table({"b": ["x"]}))
    glaive.write("t", pa.table({"c": [1.5]}), "--overwrite")
    same(lancedb40.open_table("t").to_arrow(), pa.table({"c": [1.5]}))
    assert glaive.json("table", "describe", "t")["version"] == 3


def test_tables_without_stable_row_ids(glaive, lancedb40):
    data = table(100, "random", 0.1, types=[t for t in TYPES if not t.startswith("vector")])
    lancedb40.create_table("theirs", data)
    same(glaive.read("theirs"), data)
    glaive.write("theirs", data, "--append")
    same(lancedb40.open_table("theirs").to_arrow(), pa.concat_tables([data, data]))
    glaive.write("ours", data, "--no-stable-row-ids")
    assert not lance.dataset(str(glaive.db / "ours.lance")).has_stable_row_ids
    lancedb40.open_table("ours").add(data)
    same(glaive.read("ours"), pa.concat_tables([data, data]))


def test_filters_and_expressions_agree(glaive, lancedb40):
    data = table(5000, "small", 0.1, seed=3, types=[t for t in TYPES if not t.startswith("vector")])
    lancedb40.create_table("t", data, storage_options=STABLE)
    dataset = lance.dataset(str(glaive.db / "t.lance"))
    for text in ["int32 > 0", "int8 = 1 AND uint16 <> 2", "utf8 LIKE 'text 1%'", "float64 > 0.3 OR bool", "NOT bool",
                 "int64 IN (1, 2, NULL)", "date32 IS NULL", "int16 BETWEEN -1 AND 1", "length(utf8) > 12", "float32 IS NOT NULL"]:
        want = dataset.to_table(columns=["int64", "utf8"], filter=text)
        same(glaive.query(f"SELECT int64, utf8 FROM t WHERE {text}"), want)
        assert glaive.json("table", "count", "t", "--where", text)["count"] == dataset.count_rows(text)
    for text in ["int32 + 1", "upper(utf8)", "float64 * 2 + int32", "int8 / 2", "CAST(int64 AS STRING)", "coalesce(utf8, 'none')"]:
        same(glaive.query(f"SELECT {text} AS x FROM t"), dataset.to_table(columns={"x": text}))


def test_older_versions(glaive, lancedb40):
    for version in ["2.0", "2.1"]:
        path = str(glaive.db / f"v{version[-1]}.lance")
        lance.write_dataset(pa.table({"id": range(10)}), path, data_storage_version=version)
        assert glaive.read(f"v{version[-1]}")["id"].to_pylist() == list(range(10))


def test_damaged_files_are_refused(glaive, lancedb40):
    import pathlib

    glaive.write("t", table(1000, "random", 0.1))
    (path,) = (glaive.db / "t.lance" / "data").glob("*.lance")
    good = path.read_bytes()
    for damage in [good[:-1], good[:len(good) // 2], b"", good[:-4] + b"ECNA", good + b"x"]:
        path.write_bytes(damage)
        with pytest.raises(GlaiveError, match=path.name):
            glaive.read("t")
    path.unlink()
    with pytest.raises(GlaiveError, match=path.name):
        glaive.read("t")
    path.write_bytes(good)
    glaive.read("t")
    newest = max((glaive.db / "t.lance" / "_versions").glob("*.manifest"))
    manifest = pathlib.Path(newest).read_bytes()
    newest.write_bytes(manifest[:-1])
    with pytest.raises(GlaiveError):
        glaive.read("t")


@pytest.mark.parametrize("stable", [True, False], ids=["stable", "addresses"])
def test_take(glaive, stable):
    """Rows by place and by row id, from several fragments with deleted and updated rows."""
    path = str(glaive.db / "t.lance")
    data = table(30_000, "random", 0.1, seed=5)
    for i in range(3):
        dataset = lance.write_dataset(data.slice(i * 10_000, 10_000), path, mode="append" if i else "create",
                                      enable_stable_row_ids=stable)
    dataset = lance.dataset(path)
    key = data.column_names[data.schema.types.index(pa.int64())]
    dataset.update({key: "7"}, where=f"{key} % 5 = 1")
    dataset.delete(f"{key} % 3 = 0")
    dataset = lance.dataset(path)
    n = dataset.count_rows()
    ours = Connection(glaive.db)
    for count in [1, 10, 1000, 5000]:
        rows = np.random.default_rng(count).integers(0, n, count).tolist()
        same(ours.take(["t"], rows), dataset.take(rows))
        ids = dataset.to_table(columns=[], with_row_id=True)["_rowid"].take(rows).to_pylist()
        same(ours.take(["t"], ids, by_row_id=True), dataset._take_rows(ids))
    with pytest.raises(Failed):
        ours.take(["t"], [n])
    assert ours.take(["t"], [2**60, 2**33 - 1], by_row_id=True).num_rows == 0
    ours.close()
