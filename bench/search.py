#!/usr/bin/env python3
"""Exact search by vector next to LanceDB, both in this process, over the same table without an index, in turns.

    bench/search.py [--rows N] [--dimension N] [--rounds N] [--markdown]

Milliseconds of one search, medians; the ratio is Glaive's time over the peer's. The rows found are compared before.
"""
import argparse
import pathlib
import statistics
import sys
import tempfile
import time

import lancedb
import numpy as np
import pyarrow as pa
from common import ROOT, results_head

sys.path.insert(0, str(ROOT / "tests/interop"))
import capi  # noqa: E402

AIM = 1.0  # no slower than the peer


def make_table(directory, rows, dimension):
    rng = np.random.default_rng(3)
    floats = pa.FixedSizeListArray.from_arrays(pa.array(rng.random(rows * dimension, dtype=np.float32)), dimension)
    halves = pa.FixedSizeListArray.from_arrays(pa.array(rng.random(rows * dimension, dtype=np.float32).astype(np.float16)), dimension)
    bits = pa.FixedSizeListArray.from_arrays(pa.array(rng.integers(0, 256, rows * dimension // 8, dtype=np.uint8)), dimension // 8)
    table = pa.table({"id": pa.array(range(rows), pa.int64()), "vec": floats, "half": halves, "bits": bits})
    return lancedb.connect(str(directory)).create_table("t", table)


def works(dimension):
    query = [0.5] * dimension
    yield "l2, 10 nearest", "vec", "l2", query, {}
    yield "cosine, 10 nearest", "vec", "cosine", query, {}
    yield "dot, 100 nearest", "vec", "dot", query, {"limit": 100}
    yield "l2, filter on a tenth of the rows", "vec", "l2", query, {"where": "id % 10 = 0"}
    yield "l2, float16", "half", "l2", query, {}
    yield "hamming", "bits", "hamming", [85] * (dimension // 8), {}


def theirs(table, column, metric, query, more):
    vector = np.array(query, np.uint8 if metric == "hamming" else np.float16 if column == "half" else np.float32)
    search = table.search(vector, vector_column_name=column).distance_type(metric).limit(more.get("limit", 10)).select(["id"])
    if "where" in more:
        search = search.where(more["where"], prefilter=True)
    return search.to_arrow()["id"].to_pylist()


def ours(connection, column, metric, query, more):
    return connection.search(["t"], [query], column=column, metric=metric, columns={"id": None}, **more)["id"].to_pylist()


def milliseconds(call):
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--dimension", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        table = make_table(pathlib.Path(name), options.rows, options.dimension)
        connection = capi.Connection(name)
        if options.markdown:
            results_head(options, "lancedb 0.40.0", "bench/search.py")
            print("| search | LanceDB | Glaive | ratio | aim |\n| --- | --- | --- | --- | --- |")
        for title, *work in works(options.dimension):
            found, expected = set(ours(connection, *work)), set(theirs(table, *work))
            if len(found & expected) < 0.9 * len(expected):  # of equally near rows either may be among them
                sys.exit(f"{title}: different rows")
            times = [(milliseconds(lambda: theirs(table, *work)), milliseconds(lambda: ours(connection, *work))) for _ in range(options.rounds)]
            peer, glaive = (statistics.median(column) for column in zip(*times))
            row = title, f"{peer:.1f} ms", f"{glaive:.1f} ms", f"{glaive / peer:.2f}", f"{AIM:g}"
            print("| " + " | ".join(row) + " |" if options.markdown else "{:36} {:>10} {:>10} {:>6} (aim {})".format(*row), flush=True)
        connection.close()


if __name__ == "__main__":
    main()
