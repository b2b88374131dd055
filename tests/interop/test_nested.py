"""Nested columns and the other types that one column or page does not tell of alone: what pylance writes in 2.1 and 2.2, Glaive
reads equal, whole, in ranges and row by row (file format checklist 6, 10 to 17)."""
import random

import lance
import nested
import pyarrow as pa
import pytest

R = random.Random(7)
N = 4000
I32 = pa.int32()
PACKED = {"packed": "true"}
BLOB = {"lance-encoding:blob": "true"}


def struct(**fields):
    return pa.struct(list(fields.items()))


def some(make, nulls=0.1, n=N):
    return [None if R.random() < nulls else make() for _ in range(n)]


def text(most=12):
    return "".join(R.choices("abcdefg é", k=R.randint(0, most)))


def dictionary(keys, values, nulls=0.1):
    return pa.DictionaryArray.from_arrays(pa.array(some(lambda: R.randrange(len(values)), nulls), keys), values)


def pair():
    return {"a": R.choice([None, R.randint(0, 9)]), "b": R.choice([None, text()])}


PAIR = struct(a=I32, b=pa.utf8())
WIDE = struct(s=pa.utf8(), b=pa.large_binary(), v=pa.list_(pa.float32(), 2))
FLAT = struct(a=I32, b=pa.int64())
ONLY22 = ("2.2",)
BOTH = ("2.1", "2.2")

# name -> column, metadata of its field, versions
CASES = {
    "list": (pa.array(some(lambda: some(lambda: R.randint(0, 9), 0.2, R.randint(0, 5))), pa.list_(I32)), None, BOTH),
    "large list of text": (pa.array(some(lambda: some(text, 0.2, R.randint(0, 5))), pa.large_list(pa.utf8())), None, BOTH),
    "lists of lists": (pa.array([[[]], None, [], [None, [], [1, None]], [[2], [3, 4]]] * 900, pa.list_(pa.list_(I32))), None, BOTH),
    "all lists null": (pa.array([None] * N, pa.list_(I32)), None, BOTH),
    "all lists empty": (pa.array([[]] * N, pa.list_(I32)), None, BOTH),
    "no items": (pa.array([[], None] * N, pa.list_(pa.utf8())), None, BOTH),
    "null items": (pa.array([[None], [None, None], []] * N, pa.list_(I32)), None, BOTH),
    "equal items": (pa.array([[7] * R.randint(0, 3) for _ in range(N)], pa.list_(I32)), None, BOTH),
    "sparse": (pa.array([[1, 2] if i % 1000 == 0 else R.choice([None, []]) for i in range(200_000)], pa.list_(I32)), None, BOTH),
    "few distinct items": (pa.array(some(lambda: [f"word {R.randrange(20)}" for _ in range(R.randint(0, 5))]), pa.list_(pa.utf8())), None, BOTH),
    "long lists": (pa.array([list(range(R.randint(0, 20_000))) for _ in range(20)], pa.list_(pa.int64())), None, BOTH),
    "long texts": (pa.array(some(lambda: some(lambda: text(600), 0.1, R.randint(0, 3)), n=500), pa.list_(pa.utf8())), None, BOTH),
    "very long texts": (pa.array([["z" * 40_000] * R.randint(0, 3) for _ in range(40)], pa.list_(pa.utf8())), None, BOTH),
    "vectors": (pa.array(some(lambda: [[1.0, R.random()] * 128 for _ in range(R.randint(0, 3))], n=200), pa.list_(pa.list_(pa.float32(), 256))), None, BOTH),
    "small vectors": (pa.array(some(lambda: [[1.0, None, R.random()] for _ in range(R.randint(0, 3))]), pa.list_(pa.list_(pa.float32(), 3))), None, BOTH),
    "lists of nothing": (pa.array([[None], None, []] * 90, pa.list_(pa.null())), None, BOTH),
    "struct": (pa.array(some(pair), PAIR), None, BOTH),
    "struct of list": (pa.array(some(lambda: {"l": R.choice([None, [], [pair()], [None, pair()]]), "x": R.random() < 0.5}), struct(l=pa.list_(PAIR), x=pa.bool_())), None, BOTH),
    "null structs": (pa.array([None] * N, struct(a=I32, b=pa.list_(I32))), None, BOTH),
    "null child": (pa.array(some(lambda: {"a": None, "b": 1}), struct(a=I32, b=I32)), None, BOTH),
    "empty struct": (pa.array([{}] * 50, pa.struct([])), None, BOTH),
    "map": (pa.array(some(lambda: [(text(), R.choice([None, 1, 2])) for _ in range(R.randint(0, 4))]), pa.map_(pa.utf8(), I32)), None, ONLY22),
    "map of lists": (pa.array(some(lambda: [(text(), R.choice([None, [], [None, pair()]])) for _ in range(R.randint(0, 3))]), pa.map_(pa.utf8(), pa.list_(PAIR))), None, ONLY22),
    "fixed lists of structs": (pa.array(some(lambda: some(pair, 0.1, 3)), pa.list_(PAIR, 3)), None, ONLY22),
    "fixed lists of fixed lists": (pa.array(some(lambda: [{"x": R.choice([None, [pair(), None, pair()]])}] * 2), pa.list_(struct(x=pa.list_(PAIR, 3)), 2)), None, ONLY22),
    "long texts in fixed lists": (pa.array([[{"a": 1, "b": "y" * R.randint(200, 400)}, None] for _ in range(300)], pa.list_(PAIR, 2)), None, ONLY22),
    "packed": (pa.array(some(lambda: {"a": R.randint(0, 99), "b": R.randint(0, 9)}), FLAT), PACKED, BOTH),
    "packed nulls": (pa.array([None] * 99, FLAT), PACKED, BOTH),
    "packed vector": (pa.array([{"a": 1, "v": [R.random()] * 120} for _ in range(500)], struct(a=I32, v=pa.list_(pa.float32(), 120))), PACKED, ONLY22),
    "packed texts": (pa.array(some(lambda: {"s": text(90), "b": b"q" * R.randint(0, 3), "v": [1.0, 2.0]}), WIDE), PACKED, ONLY22),
    "packed in lists": (pa.array(some(lambda: [{"a": 1, "b": 2}] * R.randint(0, 3)), pa.list_(pa.field("item", FLAT, metadata=PACKED))), None, BOTH),
    "packed texts in lists": (pa.array(some(lambda: [{"a": 1, "b": text(5)}] * R.randint(0, 3)), pa.list_(pa.field("item", PAIR, metadata=PACKED))), None, ONLY22),
    "packed in struct": (pa.array(some(lambda: {"p": {"a": 1, "b": 2}}), pa.struct([pa.field("p", FLAT, metadata=PACKED)])), None, BOTH),
    "dictionary of text": (dictionary(pa.int8(), pa.array([f"word {i}" for i in range(50)])), None, BOTH),
    "dictionary without nulls": (dictionary(pa.uint32(), pa.array([f"word {i}" for i in range(500)]), 0), None, BOTH),
    "dictionary of numbers": (dictionary(pa.int64(), pa.array(range(100), pa.int64())), None, BOTH),
    "dictionary of booleans": (dictionary(I32, pa.array([True, False])), None, BOTH),
    "dictionary of doubles": (dictionary(pa.uint8(), pa.array([0.5, 1.5, -0.0])), None, BOTH),
    "dictionary of nothing": (dictionary(I32, pa.array(["a"]), 1), None, BOTH),
    "dictionary in struct": (pa.StructArray.from_arrays([dictionary(I32, pa.array(["x", "y"]))], ["d"]), None, BOTH),
    "dictionary in list": (pa.ListArray.from_arrays(pa.array(range(0, N + 1, 4), I32), dictionary(I32, pa.array(["x", "y"]))), None, BOTH),
    "blob": (pa.array(some(lambda: b"abc" * R.randint(0, 5)), pa.large_binary()), BLOB, BOTH),
    "large blob": (pa.array([b"x" * 100_000, None, b"", b"y" * 5_000_000], pa.large_binary()), BLOB, BOTH),
    "time": (pa.array(range(N), pa.int64()).cast(pa.time64("us")), None, BOTH),
    "duration": (pa.array(range(N), pa.int64()).cast(pa.duration("ns")), None, BOTH),
    "halffloat": (pa.array([float(i % 97) for i in range(N)], pa.float32()).cast(pa.float16()), None, BOTH),
    "decimal256": (pa.array(range(N), pa.int64()).cast(pa.decimal256(50, 3)), None, BOTH),
}


def plain(column):
    """Dictionaries as their values: equal columns may be numbered in different ways."""
    whole = column.combine_chunks()
    if pa.types.is_dictionary(whole.type):
        return whole.dictionary_decode()
    return pa.array(whole.to_pylist()) if "dictionary" in str(whole.type) else whole


def equal(got, want):
    assert got.schema.names == want.schema.names
    for name in want.schema.names:
        assert got.schema.field(name).type == want.schema.field(name).type, name
        left, right = plain(got[name]), plain(want[name])
        assert left.equals(right), (name, [i for i, (x, y) in enumerate(zip(left.to_pylist(), right.to_pylist())) if x != y][:5])


def check(glaive, want, rng):
    """Table t of glaive has the rows `want`, with a column `id` of row numbers."""
    n = len(want)
    equal(glaive.read("t"), want)
    first = rng.randrange(n)
    count = rng.randint(1, n - first)
    equal(glaive.query(f"SELECT * FROM t LIMIT {count} OFFSET {first}"), want.slice(first, count))
    rows = sorted(rng.sample(range(n), min(n, rng.choice([1, 3, 40]))))
    equal(glaive.query(f"SELECT * FROM t WHERE id IN ({', '.join(map(str, rows))})"), want.take(rows))


def write(path, columns, fields, version):
    count = len(columns[0])
    table = pa.table([pa.array(range(count), pa.int64()), *columns], schema=pa.schema([pa.field("id", pa.int64()), *fields]))
    dataset = lance.write_dataset(table, path, data_storage_version=version)
    try:
        return dataset.to_table()
    except pa.ArrowInvalid as error:  # it reads fixed lists of structs only when nothing else is read with them
        assert "cannot read columns of differing lengths together" in str(error)
        return table


@pytest.mark.parametrize("version", ["2.1", "2.2"])
@pytest.mark.parametrize("name", CASES)
def test_types(glaive, db, name, version):
    column, metadata, versions = CASES[name]
    if version not in versions:
        return  # the reference does not store it
    want = write(str(glaive.db / "t.lance"), [column], [pa.field("c", column.type, metadata=metadata)], version)
    check(glaive, want, random.Random(name))


@pytest.mark.parametrize("seed", range(30))
def test_random_columns(glaive, db, seed):
    rng = random.Random(seed)
    version = ["2.1", "2.2"][seed % 2]
    table = nested.table(rng, version, [1, 2, 60, 1500, 6000, 20_000][seed % 6], depth=rng.randint(1, 5))
    check(glaive, write(str(glaive.db / "t.lance"), table.columns, list(table.schema), version), rng)


def test_several_fragments_with_deletions(glaive, db):
    rng = random.Random(1)
    table = nested.table(rng, "2.2", 5000, columns=6)
    path = str(glaive.db / "t.lance")
    schema = pa.schema([pa.field("id", pa.int64()), *table.schema])
    whole = pa.table([pa.array(range(5000), pa.int64()), *table.columns], schema=schema)
    for first in range(0, 5000, 900):  # pylance fails on slices of structs with nulls: each piece is built anew
        part = pa.Table.from_pylist(whole.slice(first, 900).to_pylist(maps_as_pydicts=None), schema)
        dataset = lance.write_dataset(part, path, mode="append" if first else "create", data_storage_version="2.2")
    dataset.delete("id % 7 = 3 OR id BETWEEN 1000 AND 1900")
    want = dataset.to_table()
    equal(glaive.read("t"), want)
    equal(glaive.query("SELECT * FROM t WHERE id % 11 = 0"), dataset.to_table(filter="id % 11 = 0"))


def test_columns_added_later(glaive, db):
    path = str(glaive.db / "t.lance")
    rows = [{"a": i, "b": None if i % 3 else "x"} for i in range(100)]
    dataset = lance.write_dataset(pa.table({"id": range(100), "s": pa.array(rows, PAIR)}), path, data_storage_version="2.2")
    dataset.add_columns(pa.schema([pa.field("l", pa.list_(PAIR)), pa.field("t", PAIR)]))
    equal(glaive.read("t"), dataset.to_table())
    dataset.drop_columns(["s"])
    equal(glaive.read("t"), dataset.to_table())


def test_parts_of_columns(glaive, db):
    """Fields of structs: only their leaves are read, and only their values count."""
    rng = random.Random(3)
    deep = struct(x=pa.int32(), y=struct(z=pa.utf8(), l=pa.list_(PAIR)), w=pa.int64())
    maker = nested.Maker(rng, "2.2")
    column = maker.column(deep, 3000)
    dataset = lance.write_dataset(pa.table({"id": range(3000), "c": column}), str(glaive.db / "t.lance"), data_storage_version="2.2")
    dataset.add_columns(pa.schema([pa.field("c", struct(added=pa.int32()))]))
    for text in ["c.x", "c.y.z", "c.y.l", "c.y", "c.w + c.x", "c.added", "c"]:
        want = dataset.to_table(columns={"r": text})
        assert glaive.query(f"SELECT {text} AS r FROM t")["r"].to_pylist() == want["r"].to_pylist(), text
    for where in ["c.x > 100", "c.y.z IS NULL AND c.w > 50", "c IS NULL", "c.y IS NULL", "c.added IS NULL", "c.y.l IS NULL OR c.x = 3"]:
        want = dataset.to_table(filter=where)
        equal(glaive.query(f"SELECT * FROM t WHERE {where}"), want)
        assert glaive.json("table", "count", "t", "--where", where)["count"] == len(want), where
