"""What Glaive writes of every type is what pylance and LanceDB read: scans, filters, takes, compaction (file format checklist 23 to 32)."""
import random

import lance
import nested
import numpy as np
import pyarrow as pa
import pytest
from conftest import GlaiveError
from every_type import LISTS, STRUCTS, TYPES, TYPES_21, Values

UNREAD = {  # what the reference itself cannot do, with its error
    "fixed_size_list<struct>": "cannot read columns of differing lengths together",
    "filter over packed struct of vectors or text": "Expected . buffers in array of type",
}


def equal(got, want):
    """Equal names, types and rows."""
    for name in want.schema.names:
        a, b = got[name].combine_chunks(), want[name].combine_chunks()
        assert a.type == b.type, name
        if not a.equals(b):
            x, y = a.to_pylist(), b.to_pylist()
            wrong = [i for i in range(len(y)) if x[i] != y[i]]
            assert len(x) == len(y) and not wrong, (name, wrong[:3], [(x[i], y[i]) for i in wrong[:2]])


def table_of(t, n, seed=1, nulls=0.15, items=(0, 4)):
    return pa.table({"id": pa.array(range(n), pa.int64()), "c": Values(seed, nulls, items).column(t, n)})


def check_read(path, data):
    """Every way in which pylance reads."""
    dataset = lance.dataset(path)
    dataset.validate()
    n = len(data)
    equal(dataset.to_table(), data)
    equal(dataset.to_table(filter=f"id >= {n // 3} AND id < {n // 3 + 50}"), data.slice(n // 3, 50))
    rows = sorted({0, n - 1, n // 2, *(i for i in (511, 512, 1023, 1024, 4095, 4096) if i < n)})
    equal(dataset.take(rows), data.take(rows))
    return dataset


@pytest.mark.parametrize("nulls", [0, 0.15, 1])
@pytest.mark.parametrize("name", TYPES)
def test_types(glaive, db, lancedb40, name, nulls):
    for n in (2, 2500):
        data = table_of(TYPES[name], n, n, nulls)
        glaive.write("t", data, "--overwrite", batch_rows=1000)
        check_read(str(db / "t.lance"), data)
    equal(glaive.read("t"), data)
    table = lancedb40.open_table("t")
    equal(table.search().where("id >= 2400").limit(200).to_arrow().select(["id", "c"]), data.slice(2400))
    glaive.write("t", data, "--append")
    dataset = lance.dataset(str(db / "t.lance"))
    dataset.optimize.compact_files()
    equal(lance.dataset(str(db / "t.lance")).to_table(), pa.concat_tables([data, data]))


@pytest.mark.parametrize("items", [(0, 0), (1, 3)])
@pytest.mark.parametrize("name", [*LISTS, *STRUCTS])
def test_lengths_of_lists(glaive, db, name, items):
    for nulls in (0, 0.5):
        data = table_of(TYPES[name], 600, 3, nulls, items)
        glaive.write("t", data, "--overwrite", batch_rows=250)
        check_read(str(db / "t.lance"), data)


@pytest.mark.parametrize("name", TYPES_21)
def test_version_2_1(glaive, db, name):
    data = table_of(TYPES_21[name], 1500, 5)
    path = str(db / "t.lance")
    lance.write_dataset(data.slice(0, 100), path, data_storage_version="2.1", enable_stable_row_ids=True)
    glaive.write("t", data.slice(100), "--append")
    dataset = check_read(path, data)
    assert {(f.file_major_version, f.file_minor_version) for fragment in dataset.get_fragments() for f in fragment.data_files()} == {(2, 1)}


@pytest.mark.parametrize("name", ["map"])
def test_types_that_2_1_does_not_have(glaive, db, name):
    lance.write_dataset(table_of(pa.int32(), 3), str(db / "t.lance"), data_storage_version="2.1", enable_stable_row_ids=True)
    with pytest.raises(GlaiveError):
        glaive.write("t", table_of(TYPES[name], 3), "--append")


def test_fixed_size_lists_of_structs(glaive, db):
    t = pa.list_(pa.struct([pa.field("a", pa.int32()), pa.field("b", pa.string())]), 3)
    data = table_of(t, 700)
    glaive.write("t", data)
    lance.write_dataset(data, str(db / "theirs.lance"))
    for name in ("t", "theirs"):
        dataset = lance.dataset(str(db / f"{name}.lance"))
        equal(dataset.to_table(columns=["c"]), data.select(["c"]))
        with pytest.raises(Exception, match=UNREAD["fixed_size_list<struct>"]):
            dataset.to_table()


def test_lists_that_are_mostly_empty(glaive, db):
    n = 150_000
    columns = {"id": pa.array(range(n), pa.int64())}
    for every in (400, 20_000, 70_000):
        lists = [[7, None] if i % every == every // 2 else [] if i % 3 else None for i in range(n)]
        columns[f"number {every}"] = pa.array(lists, pa.list_(pa.int32()))
        columns[f"text {every}"] = pa.array([v and [str(x) for x in v] for v in lists], pa.list_(pa.string()))
        columns[f"bool {every}"] = pa.array([v and [True, None] for v in lists], pa.list_(pa.bool_()))
    columns["empty"] = pa.array([[]] * n, pa.list_(pa.int32()))
    columns["null"] = pa.nulls(n, pa.list_(pa.int32()))
    data = pa.table(columns)
    glaive.write("t", data)
    check_read(str(db / "t.lance"), data)


def test_rows_larger_than_pages(glaive, db):
    data = pa.table({"id": pa.array(range(6), pa.int64()), "c": pa.array([list(range(1_500_000)), None, [], list(range(900_000)), [1], [None]], pa.list_(pa.int64()))})
    glaive.write("t", data)
    check_read(str(db / "t.lance"), data)


def test_many_pages(glaive, db):
    n = 100_000
    one = Values(9).column(TYPES["list<struct<list<struct>>>"], 1000)
    words = Values(10).column(TYPES["struct<list>"], 1000)
    data = pa.table({"id": pa.array(range(n), pa.int64()), "c": pa.chunked_array([one] * (n // 1000)), "d": pa.chunked_array([words] * (n // 1000)),
                     "v": pa.FixedSizeListArray.from_arrays(pa.array(np.random.default_rng(1).standard_normal(n * 64, dtype=np.float32)), 64)})
    glaive.write("t", data, batch_rows=20_000)
    check_read(str(db / "t.lance"), data)


@pytest.mark.parametrize("entries", [1, 255, 256, 257, 65_536, 65_537, 100_000, 1_000_000])
def test_sizes_of_dictionaries(glaive, db, entries):
    n = max(2 * entries, 300)
    numbers = np.random.default_rng(entries).permutation(n) % entries
    texts = pa.array([f"name_{i}" for i in range(entries)])
    given = pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int32()), texts)
    data = pa.table({"id": pa.array(range(n), pa.int64()), "text": texts.take(pa.array(numbers)), "dictionary": given})
    glaive.write("t", data, batch_rows=1 << 20)
    check_read(str(db / "t.lance"), data)


def test_dictionaries_that_change(glaive, db):
    def part(texts, n):
        return pa.DictionaryArray.from_arrays(pa.array([i % len(texts) if i % 7 else None for i in range(n)], pa.int8()), pa.array(texts))

    parts = [part(["a", "b"], 100), part(["a", "b"], 50), part(["c", None, "a"], 80), part(["c"], 3)]
    data = pa.table({"id": pa.array(range(233), pa.int64()), "c": pa.chunked_array(parts)})
    glaive.write("t", data, batch_rows=100)
    got = lance.dataset(str(db / "t.lance")).to_table()
    assert got["c"].to_pylist() == data["c"].to_pylist()


HINTS = [{"lance-encoding:structural-encoding": "fullzip"}, {"lance-encoding:structural-encoding": "miniblock"}, {"lance-encoding:compression": "zstd"},
         {"lance-encoding:compression": "lz4"}, {"lance-encoding:compression": "fsst"}, {"lance-encoding:compression": "none"},
         {"lance-encoding:compression": "zstd", "lance-encoding:compression-level": "9"}]


@pytest.mark.parametrize("hint", HINTS, ids=lambda h: "=".join(h.values()))
def test_hints_of_the_metadata(glaive, db, hint):
    n = 3000
    texts = [f"a text that repeats itself {i} " * (1 + i % 20) for i in range(n)]
    columns = {"int": pa.array(range(n)), "float": pa.array([i / 4 for i in range(n)]), "text": pa.array(texts), "binary": pa.array([t.encode() for t in texts]),
               "nulls": pa.array([t if i % 5 else None for i, t in enumerate(texts)]), "vector": Values(1, 0).column(pa.list_(pa.float32(), 80), n),
               "list": Values(1).column(pa.list_(pa.string()), n)}
    schema = pa.schema([pa.field("id", pa.int64()), *(pa.field(name, c.type, metadata=hint) for name, c in columns.items())])
    data = pa.table([pa.array(range(n), pa.int64()), *columns.values()], schema=schema)
    glaive.write("t", data)
    check_read(str(db / "t.lance"), data)


PACKED = {"numbers": [pa.field("a", pa.int32()), pa.field("b", pa.float64()), pa.field("c", pa.uint8())]}
PACKED["vector"] = [*PACKED["numbers"], pa.field("v", pa.list_(pa.float32(), 4))]
PACKED["text"] = [*PACKED["numbers"], pa.field("t", pa.string()), pa.field("z", pa.large_binary())]


@pytest.mark.parametrize("nulls", [0, 0.2, 1])
@pytest.mark.parametrize("name", PACKED)
def test_packed_structs(glaive, db, name, nulls):
    n = 2500
    t = pa.struct(PACKED[name])
    plain = Values(4, 0).column(t, n)
    mask = pa.array(np.random.default_rng(4).random(n) < nulls)
    packed = pa.StructArray.from_arrays([plain.field(i) for i in range(t.num_fields)], fields=list(t), mask=mask)
    schema = pa.schema([pa.field("id", pa.int64()), pa.field("c", t, metadata={"lance-encoding:packed": "true"})])
    data = pa.table([pa.array(range(n), pa.int64()), packed], schema=schema)
    glaive.write("t", data)
    dataset = lance.dataset(str(db / "t.lance"))
    dataset.validate()
    equal(dataset.to_table(), data)
    equal(dataset.take([0, 1023, n - 1]), data.take([0, 1023, n - 1]))
    if name == "numbers" or nulls == 1:
        equal(dataset.to_table(filter="id >= 2000"), data.slice(2000))
    equal(glaive.read("t"), data)
    with pytest.raises(GlaiveError, match="field 'a' of a packed struct has null values"):
        broken = pa.StructArray.from_arrays([pa.nulls(3, pa.int32()), *(plain.field(i).slice(0, 3) for i in range(1, t.num_fields))], fields=list(t))
        glaive.write("t", pa.table([pa.array(range(3), pa.int64()), broken], schema=schema), "--append")


@pytest.mark.parametrize("seed", range(25))
def test_random_types(glaive, db, seed):
    rng = random.Random(seed)
    data = nested.table(rng, "2.2", rng.choice([1, 7, 300, 1100]))
    data = data.add_column(0, "id", pa.array(range(len(data)), pa.int64()))
    glaive.write("t", data, batch_rows=rng.choice([1, 64, 500, 5000]))
    check_read(str(db / "t.lance"), data)
    equal(glaive.read("t"), data)


def test_nulls_in_fields_that_must_not_have_them(glaive, db):
    strict = pa.struct([pa.field("a", pa.int32(), nullable=False)])
    schema = pa.schema([pa.field("s", strict), pa.field("l", pa.list_(pa.field("item", pa.int32(), nullable=False)))])
    glaive.write("t", pa.table([pa.array([{"a": 1}, None], strict), pa.array([[1], None], schema.field("l").type)], schema=schema))
    loose = pa.table({"s": pa.array([{"a": None}, None], pa.struct([pa.field("a", pa.int32())])), "l": pa.array([[1], []], pa.list_(pa.int32()))})
    with pytest.raises(GlaiveError, match="The field `a` contained null values even though the field is marked non-null in the schema"):
        glaive.write("t", loose, "--append")
    fine = loose.slice(1)
    glaive.write("t", fine, "--append")
    assert lance.dataset(str(db / "t.lance")).to_table()["s"].to_pylist() == [{"a": 1}, None, None]
