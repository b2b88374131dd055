#!/usr/bin/env python3
"""Glaive's server next to pylance's RestAdapter, over the same directory, asked the same by wrk, in turns.

    bench/server.py [--rows N] [--rounds N] [--seconds S] [--connections N] [--markdown]

Requests per second, medians of the rounds; the ratio is Glaive's rate over the peer's. Both servers and the clients share the
processors. What both answer is compared before anything is measured.
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

import lancedb
import numpy as np
import pyarrow as pa
from common import ROOT, make_rows, results_head

PROGRAM = pathlib.Path(os.environ.get("GLAIVE_PROGRAM", ROOT / "build/release/src/cli/glaive"))
DIMENSION = 32
PEER = """
import sys
import lance.namespace
adapter = lance.namespace.RestAdapter("dir", {"root": sys.argv[1]}, port=0)
adapter.start()
print(f"http://127.0.0.1:{adapter.port}", flush=True)
sys.stdin.read()
"""
ASKED = [0.5] * DIMENSION
EMPTY = {"single_vector": []}


class Work:
    """One kind of request. must, aim: rates that are wanted, as multiples of the peer's."""

    def __init__(self, name, path, body, must, aim, same=None):
        self.name, self.path, self.body, self.must, self.aim = name, path, body, must, aim
        self.same = same or (lambda answer: answer)


def rows_of(answer):
    return pa.ipc.open_file(pa.py_buffer(answer)).read_all()


def ids_of(answer):
    return sorted(rows_of(answer)["id"].to_pylist())


def count_of(answer):
    return rows_of(answer).num_rows


def columns_of(answer):
    return sorted(rows_of(answer).column_names)


QUERY = "/v1/table/src/query"
WORKS = [
    Work("describe", "/v1/table/src/describe", {}, 1.5, 3, lambda answer: json.loads(answer)["location"]),
    Work("describe, with the schema and all else", "/v1/table/src/describe", {"load_detailed_metadata": True}, 1.5, 3,
         lambda answer: json.loads(answer)["version"]),
    Work("list of tables", "/v1/namespace/%24/table/list", None, 1.5, 3, lambda answer: json.loads(answer)["tables"]),
    Work("count_rows", "/v1/table/src/count_rows", {}, 3, 10, json.loads),
    Work("count_rows, `age > 50`", "/v1/table/src/count_rows", {"predicate": "age > 50"}, 3, 10, json.loads),
    Work("query, k = 10", QUERY, {"vector": EMPTY, "k": 10}, 3, 10, columns_of),
    Work("query, k = 1,000, two columns", QUERY, {"vector": EMPTY, "k": 1000, "columns": {"column_names": ["id", "name"]}}, 3, 10, count_of),
    Work("query, `age = 7`, k = 1,000", QUERY, {"vector": EMPTY, "k": 1000, "filter": "age = 7", "columns": {"column_names": ["id", "score"]}},
         3, 10, count_of),
    Work("query, 10 nearest", QUERY, {"vector": {"single_vector": ASKED}, "vector_column": "vec", "k": 10, "columns": {"column_names": ["id"]}},
         3, 10, ids_of),
]


def make_database(directory, rows):
    database = lancedb.connect(str(directory))
    vectors = pa.array(np.random.default_rng(1).random(rows * DIMENSION, dtype=np.float32))
    table = make_rows(rows).append_column("vec", pa.FixedSizeListArray.from_arrays(vectors, DIMENSION))
    database.create_table("src", table)
    for i in range(9):
        database.create_table(f"small_{i}", table.slice(0, 10))


@contextlib.contextmanager
def process(command):
    """A server that prints its address and ends with its standard input, or when it is told to."""
    child = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                             env={**os.environ, "LANCE_LOG": "error"})
    try:
        line = child.stdout.readline()
        url = re.search(r"http://[\w.:]+", line)
        if not url:
            sys.exit(f"{command[0]} gave no address: {line!r}")
        yield url.group()
    finally:
        child.terminate()
        child.stdin.close()
        child.wait()


def ask(url, work):
    body = None if work.body is None else json.dumps(work.body).encode()
    request = urllib.request.Request(url + work.path, data=body, headers={"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read()


def compare(glaive, peer, work):
    ours, theirs = work.same(ask(glaive, work)), work.same(ask(peer, work))
    if ours != theirs:
        sys.exit(f"{work.name}: Glaive answers {ours!r}, the peer {theirs!r}")


def measure(url, work, options, script):
    """Requests per second."""
    if work.body is not None:
        script.write_text(f'wrk.method = "POST"\nwrk.body = {json.dumps(json.dumps(work.body))}\n'
                          'wrk.headers["content-type"] = "application/json"\n')
    else:
        script.write_text("")
    command = ["wrk", "-t1", f"-c{options.connections}", f"-d{options.seconds}s", "--timeout", "30s", "-s", str(script), url + work.path]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in text or "Socket errors" in text:
        sys.exit(f"{work.name}: {text}")
    return float(re.search(r"Requests/sec:\s*([\d.]+)", text).group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=3, help="of each measurement")
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--only", default="", help="regular expression over the names of the works")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    works = [work for work in WORKS if re.search(options.only, work.name)]
    with tempfile.TemporaryDirectory() as name:
        script, directory = pathlib.Path(name) / "ask.lua", pathlib.Path(name) / "db"
        make_database(directory, options.rows)
        with process([sys.executable, "-c", PEER, directory]) as peer, \
                process([PROGRAM, "--db", directory, "serve", "--no-access-log"]) as glaive:
            if options.markdown:
                results_head(options, "pylance 14.0.2", "bench/server.py")
                print("| request | RestAdapter | Glaive | ratio | must | aim |\n| --- | --- | --- | --- | --- | --- |")
            for work in works:
                compare(glaive, peer, work)
                rates = {peer: [], glaive: []}
                for _ in range(options.rounds):
                    for url in rates:
                        rates[url].append(measure(url, work, options, script))
                        time.sleep(0.2)
                theirs, ours = (statistics.median(rates[url]) for url in (peer, glaive))
                row = (work.name, f"{theirs:,.0f}/s", f"{ours:,.0f}/s", f"{ours / theirs:.1f}", f"{work.must:g}", f"{work.aim:g}")
                print("| " + " | ".join(row) + " |" if options.markdown else "{:40} {:>12} {:>12} {:>6} (must {}, aim {})".format(*row), flush=True)


if __name__ == "__main__":
    main()
