#!/usr/bin/env python3
"""Expressions: Glaive and DataFusion on the same batches in memory, in turn, in one run; prints ratios.

    bench/expressions.py [--rows N] [--rounds N] [--markdown] [--only TEXT]

Runs in an environment with the Python package datafusion (scripts/bootstrap --tests makes .cache/venvdf). Each engine
plans the expression, evaluates it over all batches, and drops the results, in one thread: DataFusion with one partition,
as a projection that is streamed; Glaive in the thread of build/release/bench/glaive_bench that reads the command.
"""
import argparse
import pathlib
import statistics
import tempfile

import datafusion
import numpy as np
import pyarrow as pa
from common import Driver, make_rows, results_head, timed, write_ipc

BATCH_ROWS = 8192  # what DataFusion uses unless told otherwise
MUST, AIM = 0.5, 0.25
EXPRESSIONS = [
    ("arithmetic", "score * 2 + age"),
    ("arithmetic", "id * 3 - age"),
    ("arithmetic", "id % 7"),
    ("arithmetic", "score / (age + 1)"),
    ("comparison", "age >= 50"),
    ("comparison", "score < 0.25"),
    ("comparison", "name = 'name_500'"),
    ("comparison", "age BETWEEN 20 AND 30 AND score > 0.5"),
    ("LIKE", "name LIKE 'name_12%'"),
    ("LIKE", "name LIKE '%99%'"),
    ("LIKE", "name LIKE '%_1%7'"),
    ("upper", "upper(name)"),
    ("CAST", "CAST(age AS double)"),
    ("CAST", "CAST(score * 1000 AS bigint)"),
    ("CAST", "CAST(id AS varchar)"),
    ("CAST", "CAST(substr(name, 6) AS int)"),
    ("date_trunc", "date_trunc('hour', at)"),
    ("date_trunc", "date_trunc('month', at)"),
    ("regexp", "regexp_like(name, '9[0-9]+7$')"),
    ("regexp", "regexp_replace(name, '[0-9]+', 'x')"),
]


def make_input(n):
    rows = make_rows(n)
    seconds = np.random.default_rng(7).integers(1_500_000_000, 1_800_000_000, n)
    return rows.append_column("at", pa.array(seconds * 1_000_000 + 123_456, pa.timestamp("us")))


class Peer:
    def __init__(self, table):
        config = datafusion.SessionConfig().with_target_partitions(1).with_batch_size(BATCH_ROWS)
        self.context = datafusion.SessionContext(config)
        self.context.register_record_batches("t", [table.to_batches(BATCH_ROWS)])

    def __call__(self, expression):
        for _ in self.context.sql(f"SELECT {expression} AS x FROM t").execute_stream():
            pass


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as work:
        table = make_input(options.rows)
        path = pathlib.Path(work) / "rows.arrow"
        write_ipc(table, path, BATCH_ROWS)
        peer, ours = Peer(table), Driver(work)
        ours("load", str(path))
        for kind, expression in EXPRESSIONS:
            if options.only not in f"{kind} {expression}":
                continue
            a, b = [], []
            for _ in range(options.rounds):
                a.append(timed(lambda: peer(expression))[0])
                seconds, rows, _ = ours("evaluate", expression)
                assert rows == options.rows
                b.append(seconds)
            peer_s, our_s = statistics.median(a), statistics.median(b)
            results.append((kind, expression, peer_s * 1000, our_s * 1000, our_s / peer_s))
            verdict = "meets aim" if our_s / peer_s <= AIM else "meets must" if our_s / peer_s <= MUST else "MISSES must"
            print("{:10s} {:40s} peer {:8.1f} ms  glaive {:8.1f} ms  ratio {:.3f}  ".format(*results[-1]) + verdict, flush=True)
        ours.close()
    if options.markdown:
        results_head(options, f"datafusion {datafusion.__version__}, one thread each", "bench/expressions.py")
        print("| kind | expression | DataFusion | Glaive | ratio | must | aim |\n| --- | --- | --- | --- | --- | --- | --- |")
        for kind, expression, peer_ms, our_ms, ratio in results:
            print(f"| {kind} | `{expression}` | {peer_ms:.1f} ms | {our_ms:.1f} ms | {ratio:.3f} | {MUST} | {AIM} |")


if __name__ == "__main__":
    main()
