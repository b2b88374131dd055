"""Shapes of values that make writers choose each encoding, both ways (file format checklist 5 to 10 and 23 to 25)."""
import random
import uuid

import lance
import numpy as np
import pyarrow as pa
import pytest
from data import same, with_nulls

RNG = np.random.default_rng(5)
N = 20_000


def texts(shape):
    r = random.Random(shape)
    return {
        "short": lambda: [r.choice("abcdefgh") * r.randint(0, 6) for _ in range(N)],
        "empty": lambda: [""] * N,
        "repetitive": lambda: [r.choice(["red", "green", "a longer colour name that repeats"]) for _ in range(N)],
        "500 distinct": lambda: [f"value number {r.randrange(500)}" for _ in range(N)],
        "uuid": lambda: [str(uuid.UUID(int=r.getrandbits(128))) for _ in range(N)],
        "256 bytes": lambda: ["".join(r.choice("the quick brown fox ") for _ in range(r.randint(256, 400))) for _ in range(2000)],
        "32 KiB": lambda: [r.choice(["lorem ipsum ", "dolor "]) * r.randint(6000, 8000) for _ in range(20)],
        "mixed": lambda: ["x" * r.choice([0, 1, 300, 40_000]) for _ in range(300)],
        "unicode": lambda: [r.choice(["äöü", "日本語", "🙂🙃", "\u0000", "é\x7f"]) * r.randint(0, 9) for _ in range(N)],
    }[shape]()


def both_ways(glaive, data):
    path = str(glaive.db / "theirs.lance")
    lance.write_dataset(data, path, mode="overwrite", enable_stable_row_ids=True)
    same(glaive.read("theirs"), data)
    glaive.write("ours", data, "--overwrite")
    dataset = lance.dataset(str(glaive.db / "ours.lance"))
    dataset.validate()
    same(dataset.to_table(), data)
    some = sorted({0, len(data) - 1, *(i for i in (511, 512, 1023, 1024, 4095, 4096, 8192) if i < len(data))})
    same(dataset.take(some), data.take(some))
    same(glaive.read("ours"), data)


@pytest.mark.parametrize("nulls", [0, 0.1])
@pytest.mark.parametrize("shape", ["short", "empty", "repetitive", "500 distinct", "uuid", "256 bytes", "32 KiB", "mixed", "unicode"])
def test_texts(glaive, db, shape, nulls):
    values = pa.array(texts(shape), pa.string())
    columns = {"utf8": values, "large": values.cast(pa.large_string()), "binary": values.cast(pa.binary())}
    both_ways(glaive, pa.table({k: with_nulls(v, nulls, RNG) for k, v in columns.items()}))


def vectors(kind, size, nulls, item_nulls, n=3000):
    values = with_nulls(pa.array(RNG.standard_normal(n * size).astype(kind)), item_nulls, RNG)
    mask = pa.array(RNG.random(n) < nulls) if nulls else None
    return pa.FixedSizeListArray.from_arrays(values, size, mask=mask)


@pytest.mark.parametrize("nulls, item_nulls", [(0, 0), (0.1, 0), (0, 0.1), (0.1, 0.1)])
@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("size", [1, 4, 5, 13, 64, 128, 256])
def test_vectors(glaive, db, size, kind, nulls, item_nulls):
    both_ways(glaive, pa.table({"v": vectors(kind, size, nulls, item_nulls)}))


@pytest.mark.parametrize("zone", [None, "UTC", "+08:00", "Europe/Paris"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_timestamps(glaive, db, unit, zone):
    values = pa.array(RNG.integers(-2**40, 2**40, N)).cast(pa.timestamp(unit, zone))
    both_ways(glaive, pa.table({"t": with_nulls(values, 0.1, RNG), "same": pa.array([7] * N).cast(pa.timestamp(unit, zone)),
                                "none": pa.nulls(N, pa.timestamp(unit, zone))}))


@pytest.mark.parametrize("distinct", [1, 2, 255, 256, 257, 65_536, 65_537, 100_000])
def test_dictionary_widths(glaive, db, distinct):
    values = [f"entry {i % distinct:06d}" for i in range(200_000)]
    random.Random(distinct).shuffle(values)
    both_ways(glaive, pa.table({"s": values}))


def test_columns_that_must_not_be_null(glaive, db):
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("s", pa.string(), nullable=False),
                        pa.field("v", pa.list_(pa.float32(), 4), nullable=False)])
    data = pa.table([pa.array(range(N)), pa.array(texts("short")), pa.array(np.zeros((N, 4), np.float32).tolist(), schema.field("v").type)],
                    schema=schema)
    both_ways(glaive, data)
    assert [f.nullable for f in lance.dataset(str(db / "ours.lance")).schema] == [False] * 3
    assert [f.nullable for f in glaive.read("theirs").schema] == [False] * 3


def test_indexes_and_search_on_ours(glaive, lancedb40):
    """Vector, scalar and text indexes that LanceDB builds over files of ours; searches find the exact row."""
    n = 3000
    vector = vectors("float32", 16, 0, 0, n)
    data = pa.table({"id": range(n), "kind": [f"k{i % 7}" for i in range(n)], "text": [f"word{i} common" for i in range(n)], "vector": vector})
    glaive.write("t", data)
    table = lancedb40.open_table("t")

    def find(row):
        return table.search(vector[row].as_py()).limit(1).to_list()[0]["id"]

    assert [find(i) for i in (0, 1023, 1024, n - 1)] == [0, 1023, 1024, n - 1]
    table.create_index(metric="l2", num_partitions=4, num_sub_vectors=4, vector_column_name="vector")
    table.create_scalar_index("id", index_type="BTREE")
    table.create_scalar_index("kind", index_type="BITMAP")
    table.create_fts_index("text")
    hit = table.search(vector[77].as_py()).nprobes(4).refine_factor(50).limit(1).to_list()[0]
    assert hit["id"] == 77
    assert [r["id"] for r in table.search("word1234", query_type="fts").limit(3).to_list()] == [1234]
    assert table.count_rows("kind = 'k3'") == len(range(3, n, 7))
    extra = pa.table({"id": [n], "kind": ["k3"], "text": ["word9999 common"], "vector": vectors("float32", 16, 0, 0, 1)})
    glaive.write("t", extra, "--append")
    table.checkout_latest()
    assert table.count_rows("kind = 'k3'") == len(range(3, n, 7)) + 1
    assert [r["id"] for r in table.search("word9999", query_type="fts").limit(3).to_list()] == [n]
    table.optimize()
    assert table.count_rows(f"id = {n}") == 1
    lance.dataset(str(glaive.db / "t.lance")).validate()
    same(glaive.read("t"), lance.dataset(str(glaive.db / "t.lance")).to_table())
