#!/usr/bin/env python3
"""The same change under tables of two sizes: the cost of a refresh must follow the change, not the table.

    bench/growth.py [--rows N] [--rounds N] [--markdown]

Three kinds of views over N and N / 10 rows: numbers and text; with a vector of 64 floats (N / 5 and N / 50 rows); with an index
that LanceDB built on the view. LanceDB changes the source, Glaive refreshes. Both sizes are there from the start and take turns, so
that whatever else the machine and its file system do falls on both alike.
"""
import argparse
import pathlib
import statistics
import tempfile

import lancedb
import numpy as np
import pyarrow as pa
from common import Driver, make_rows, results_head, write_ipc

PLAIN = "SELECT id, upper(name) AS up, score*2+age AS x FROM src WHERE age >= 50"
VECTORS = "SELECT id, vec, score*2+age AS x FROM src"
CHANGES = {
    "appending 100 rows": lambda case, i: case.source.add(case.make(100, case.rows + 100 * i)),
    "deleting 50 rows": lambda case, i: case.source.delete(case.some(i, 50)),
    "updating 100 rows": lambda case, i: case.source.update(where=case.some(1000 + i, 100), values_sql={"score": "score + 1"}),
}


class Case:
    """A view over so many rows, brought up to date after each change."""

    def __init__(self, kind, rows, work):
        self.kind, self.rows = kind, rows
        work.mkdir()
        self.driver = Driver(work / "db")
        write_ipc(self.make(rows, 0), work / "src.arrow")
        self.driver("load", str(work / "src.arrow"))
        self.driver("create", "src")
        (work / "src.arrow").unlink()
        self.driver("view", "v", VECTORS if kind == "vectors" else PLAIN)
        self.driver("open", "v")
        database = lancedb.connect(str(work / "db"))
        self.source = database.open_table("src")
        if kind == "indexed":
            database.open_table("v").create_scalar_index("id")
            assert self.driver("refresh", "v")[2] == 3

    def make(self, count, first):
        table = make_rows(count, first)
        if self.kind == "vectors":
            values = np.random.default_rng(first).random(count * 64, dtype=np.float32)
            table = table.append_column("vec", pa.FixedSizeListArray.from_arrays(pa.array(values), 64))
        return table

    def some(self, seed, count):
        ids = np.random.default_rng(seed).choice(self.rows, count, replace=False).tolist()
        return f"id IN ({', '.join(map(str, ids))})"

    def refresh_after(self, change, i):
        """Seconds."""
        CHANGES[change](self, i)
        took, _, mode = self.driver("refresh", "v")
        assert mode == 2, (change, mode)
        return took


def measure(kind, sizes, rounds):
    """For each change the median seconds at each size."""
    with tempfile.TemporaryDirectory() as work:
        cases = [Case(kind, rows, pathlib.Path(work) / str(rows)) for rows in sizes]
        result = {}
        for change in CHANGES:
            seconds = [[case.refresh_after(change, i) for case in cases] for i in range(rounds)]
            result[change] = [statistics.median(column) for column in zip(*seconds)]
        for case in cases:
            case.driver.close()
        return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    lines = []
    for kind in ("plain", "vectors", "indexed"):
        large = options.rows // 5 if kind == "vectors" else options.rows
        for change, (few, many) in measure(kind, (large // 10, large), options.rounds).items():
            ratio = many / few
            verdict = "meets must" if ratio <= 1.3 else "MISSES must"
            lines.append(f"| {kind}, {change} | {large // 10:,}: {few * 1000:.1f} ms | {large:,}: {many * 1000:.1f} ms | {ratio:.2f} |")
            print(f"{kind:8s} {change:20s} {few * 1000:8.1f} ms  {many * 1000:8.1f} ms  x {ratio:.2f} (must 1.3) {verdict}", flush=True)
    if options.markdown:
        results_head(options, f"source changed by lancedb {lancedb.__version__}", "bench/growth.py")
        print("| refresh after | fewer rows | ten times as many | growth |\n| --- | --- | --- | --- |\n" + "\n".join(lines))


if __name__ == "__main__":
    main()
