"""Exact search by vector, embedded and through a server, against LanceDB: random tables, queries, filters and ranges."""
import math
import os
import random
import struct

import lance
import lancedb
import numpy as np
import pyarrow as pa
import pytest
from http_server import Server

import capi

ROUNDS = 400 if os.environ.get("GLAIVE_LONG") else 40
KINDS = {"f16": pa.float16(), "f32": pa.float32(), "f64": pa.float64(), "u8": pa.uint8()}


@pytest.fixture(params=["embedded", "served"])
def connect(request, tmp_path):
    """A function: a Glaive connection to the directory of LanceDB."""
    opened = []

    def start(directory):
        if request.param == "served":
            server = Server(directory, "--no-access-log")
            opened.append(server.stop)
            connection = capi.Connection(server.url)
        else:
            connection = capi.Connection(str(directory))
        opened.append(connection.close)
        return connection

    yield start
    for close in reversed(opened):
        close()


def make_vectors(rng, kind, dimension, count):
    def element():
        if kind == "u8":
            return rng.randrange(256)
        if rng.random() < 0.01:
            return rng.choice([math.nan, math.inf, -math.inf])
        return rng.randint(-3, 3)

    rows = [None if rng.random() < 0.1 else [np.float16(element()) if kind == "f16" else element() for _ in range(dimension)]
            for _ in range(count)]
    return pa.array(rows, pa.list_(KINDS[kind], dimension))


def make_table(rng, db, directory, name, kind, dimension):
    def rows(count, first):
        return pa.table({"id": pa.array(range(first, first + count), pa.int64()), "vec": make_vectors(rng, kind, dimension, count),
                         "word": pa.array([rng.choice(["a", "b", None]) for _ in range(count)], pa.string())})

    path = f"{directory}/{name}.lance"
    lance.write_dataset(rows(rng.randint(1, 200), 0), path, enable_stable_row_ids=rng.random() < 0.5)
    for start in range(rng.randint(0, 2)):
        lance.write_dataset(rows(rng.randint(1, 100), 1000 * (start + 1)), path, mode="append")
    table = db.open_table(name)
    if rng.random() < 0.6:
        table.delete(f"id % 5 = {rng.randrange(5)}")
    if rng.random() < 0.4:
        table.update(where="id % 7 = 1", values={"word": "c"})
    return table


def make_query(rng, kind, dimension):
    query = {"vectors": [[rng.randrange(256) if kind == "u8" else rng.randint(-3, 3) for _ in range(dimension)]
                         for _ in range(rng.choice([1, 1, 2, 3]))],
             "metric": "hamming" if kind == "u8" else rng.choice(["l2", "cosine", "dot", None]),
             "limit": rng.choice([1, 3, 10, 1000]), "offset": rng.choice([0, 0, 0, 2, 50])}
    if query["metric"] == "cosine":  # cut where no two rows that are nearly equally far may be told apart
        query |= {"limit": 1000, "offset": 0}
    if rng.random() < 0.5:
        query |= {"where": rng.choice(["id % 3 = 0", "word = 'a'", "word IS NULL AND id < 100", "id < 0"]), "prefilter": rng.random() < 0.5}
    if rng.random() < 0.3:
        query["lower"] = rng.choice([-3.5, 0.26, 2])
    if rng.random() < 0.3:
        query["upper"] = rng.choice([-0.5, 0.51, 5, 30])
    if rng.random() < 0.5:
        query["row_id"] = True
    if rng.random() < 0.5:
        query["columns"] = rng.choice([{"id": None}, {"word": None, "id": None}, {"twice": "id * 2", "id": "id"}])
    return query


def peer_answer(table, q, kind):
    vectors = q["vectors"] if len(q["vectors"]) > 1 else q["vectors"][0]
    search = table.search(np.array(vectors, np.uint8) if kind == "u8" else [[float(x) for x in v] for v in vectors]
                          if len(q["vectors"]) > 1 else [float(x) for x in vectors], vector_column_name="vec")
    search = search.limit(q["limit"]).offset(q["offset"])
    if q["metric"]:
        search = search.distance_type(q["metric"])
    if "where" in q:
        search = search.where(q["where"], prefilter=q["prefilter"])
    if "lower" in q or "upper" in q:
        search = search.distance_range(q.get("lower"), q.get("upper"))
    if q.get("row_id"):
        search = search.with_row_id(True)
    if "columns" in q:
        search = search.select({k: v or k for k, v in q["columns"].items()} if any(q["columns"].values()) else list(q["columns"]))
    return search.to_arrow()


def plain(table, loose=False):
    """Rows for comparing. LanceDB answers several queries in any order. Loose: without distances, and by id."""
    rows = [{k: (repr(v) if isinstance(v, list) else v) for k, v in row.items()} for row in table.to_pylist()]
    rows.sort(key=lambda r: (r.get("query_index", 0), r.get("id", r.get("twice", 0)) if loose else 0))
    return rows


def same(ours, theirs, loose):
    """Loose: distances may differ by rounding, and then the order of rows that are nearly equally far."""
    ours, theirs = plain(ours, loose), plain(theirs, loose)
    if not loose:
        return ours == theirs
    return len(ours) == len(theirs) and all(
        math.isclose(a.pop("_distance"), b.pop("_distance"), rel_tol=1e-5, abs_tol=1e-6) and a == b for a, b in zip(ours, theirs))


def is_ascending(table):
    numbers = [(row.get("query_index", 0), row["_distance"]) for row in table.to_pylist()]
    return numbers == sorted(numbers)


def test_random_searches(connect, tmp_path):
    rng = random.Random(int(os.environ.get("GLAIVE_SEED", 11)))
    db = lancedb.connect(str(tmp_path / "db"))
    ours, found = connect(tmp_path / "db"), 0
    for number in range(ROUNDS):
        kind, dimension = rng.choice(list(KINDS)), rng.choice([1, 2, 3, 8, 16, 17, 33])
        name = f"t{number}"
        table = make_table(rng, db, tmp_path / "db", name, kind, dimension)
        for _ in range(6):
            q = make_query(rng, kind, dimension)
            theirs = peer_answer(table, q, kind)
            answer = ours.search([name], column="vec", **q)
            assert same(answer, theirs, q["metric"] == "cosine") and is_ascending(answer), (number, q)
            assert answer.schema.names == theirs.schema.names, q
            assert answer.schema.field("_distance").type == pa.float32()
            found += answer.num_rows
    assert found > 10 * ROUNDS


def test_rows_of_several_vectors(connect, tmp_path):
    rng = random.Random(5)
    db = lancedb.connect(str(tmp_path / "db"))
    ours = connect(tmp_path / "db")
    for number, dimension in enumerate((2, 5, 20)):
        rows = [None if rng.random() < 0.1 else [[rng.randint(-3, 3) for _ in range(dimension)] for _ in range(rng.randint(0, 4))]
                for _ in range(150)]
        table = db.create_table(f"m{number}", pa.table({"id": range(150), "vec": pa.array(rows, pa.list_(pa.list_(pa.float32(), dimension)))}))
        for count in (1, 2, 3):
            q = {"vectors": [[rng.randint(-3, 3) for _ in range(dimension)] for _ in range(count)], "metric": "l2", "limit": 200, "offset": 0}
            assert plain(ours.search([f"m{number}"], **q)) == plain(peer_answer(table, q, "f32"))


def test_names_and_expressions(connect, tmp_path):
    db = lancedb.connect(str(tmp_path / "db"))
    vec = pa.array([[1, 2], [3, 4], [5, 6]], pa.list_(pa.float32(), 2))
    other = pa.array([[5, 6], [3, 4], [1, 2]], pa.list_(pa.float32(), 2))
    db.create_table("t", pa.table({"id": [1, 2, 3], "vec": vec, "inner": pa.StructArray.from_arrays([other], ["odd name"]),
                                   "three": pa.array([[1, 2, 3]] * 3, pa.list_(pa.float32(), 3)), "text": ["x", "y", "z"]}))
    ours = connect(tmp_path / "db")

    def ids(**options):
        return ours.search(["t"], [[1, 2]], **options)["id"].to_pylist()

    assert ids() == [1, 2, 3] and ids(column="inner.odd name") == [3, 2, 1]
    assert ids(where="_distance < 9", prefilter=False) == [1, 2]
    assert ids(order=[("text", 1)]) == [3, 2, 1]
    rows = ours.search(["t"], [[1, 2]], columns={"half": "_distance / 2", "up": "upper(text)", "_distance": None, "_rowid": None})
    assert rows.to_pylist() == [{"half": d / 2, "up": t, "_distance": d, "_rowid": i} for i, (d, t) in enumerate([(0, "X"), (8, "Y"), (32, "Z")])]
    rows = ours.search(["t"], [[1, 2], [5, 6]], columns={"id": None}, limit=2, offset=1, where="id <> 2", prefilter=False)
    assert rows.to_pydict() == {"query_index": [0, 1], "id": [3, 1], "_distance": [32, 32]}
    for options, code, word in (
            ({"column": "nobody"}, 112, "nobody"), ({"column": "inner.x"}, 112, "inner.x"), ({"column": "text"}, 113, "does not hold vectors"),
            ({"column": "three"}, 113, "dimensions"), ({"metric": "hamming"}, 113, "hamming"), ({"limit": 0}, 113, "Limit is required"),
            ({"where": "nobody = 1"}, None, "nobody"), ({"columns": {"x": "nobody"}}, None, "nobody"), ({"columns": {"nobody": None}}, None, "nobody"),
            ({"order": [("nobody", 0)]}, None, "nobody")):
        with pytest.raises(capi.Failed) as failed:
            ours.search(["t"], [[1, 2]], **options)
        assert word in str(failed.value), options
        assert code is None or failed.value.code == code, (options, failed.value.code)
    with pytest.raises(capi.Failed, match="no vector column"):
        ours.search(["t"], [[1, 2, 3, 4]])


def test_bfloat16_and_int8(tmp_path):
    item = pa.field("item", pa.binary(2), metadata={"ARROW:extension:name": "lance.bfloat16", "ARROW:extension:metadata": ""})
    values = pa.array([struct.pack("<f", x)[2:] for x in (0.0, 1.0, 2.0, -4.0, 0.5, 8.0)], pa.binary(2))
    bf = pa.FixedSizeListArray.from_arrays(values, type=pa.list_(item, 2))
    data = pa.table({"id": [0, 1, 2], "bf": bf, "i8": pa.array([[0, 1], [2, -4], [-128, 127]], pa.list_(pa.int8(), 2))})
    lance.write_dataset(data, str(tmp_path / "t.lance"))
    ours = capi.Connection(str(tmp_path))
    assert ours.search(["t"], [[0, 1]], column="bf", columns={"id": None}).to_pydict() == {"id": [0, 1, 2], "_distance": [0, 29, 49.25]}
    assert ours.search(["t"], [[2, -4]], column="i8", metric="dot", columns={"id": None}).to_pydict() == {
        "id": [1, 0, 2], "_distance": [-19, 5, 1 + 256 + 508]}
    ours.close()
