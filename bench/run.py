#!/usr/bin/env python3
"""Glaive and LanceDB on the same data, in turn, in one run; prints ratios.

    bench/run.py [--rows N] [--rounds N] [--markdown]

Both engines run in-process with open handles: LanceDB in this process, Glaive in build/release/bench/glaive_bench, which
takes the time itself. Per row: peer first, then Glaive, `rounds` times; the medians and their ratio are printed.
"""
import argparse
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import lancedb
import numpy as np
from common import ROOT, Driver, make_rows, results_head, timed, write_ipc

STABLE = {"new_table_enable_stable_row_ids": "true"}
SELECT = [("id", "id"), ("up", "upper(name)"), ("x", "score*2+age")]
SQL = "SELECT id, upper(name) AS up, score*2+age AS x FROM src WHERE age >= 50"


def size_of(directory):
    return sum(f.stat().st_size for f in pathlib.Path(directory).rglob("*") if f.is_file())


class Bench:
    def __init__(self, rows, rounds, work):
        self.rows, self.rounds, self.work = rows, rounds, work
        self.results = []
        self.table = make_rows(rows)
        write_ipc(self.table, work / "src.arrow")
        self.peer_dir, self.our_dir = work / "peer", work / "ours"
        self.peer = lancedb.connect(str(self.peer_dir))
        self.ours = Driver(self.our_dir)
        self.next_id = rows

    def row(self, name, peer, ours, must, aim, before=None, rounds=None):
        """peer() and ours() each return seconds."""
        a, b = [], []
        for i in range(rounds or self.rounds):
            if before:
                before(i)
            a.append(peer(i))
            b.append(ours(i))
        peer_s, our_s = statistics.median(a), statistics.median(b)
        self.add(name, f"{peer_s * 1000:.1f} ms", f"{our_s * 1000:.1f} ms", our_s / peer_s, must, aim)

    def add(self, name, peer, ours, ratio, must, aim):
        self.results.append((name, peer, ours, ratio, must, aim))
        verdict = "meets aim" if ratio <= aim else "meets must" if ratio <= must else "MISSES must"
        print(f"{name:34s} peer {peer:>12s}  glaive {ours:>12s}  ratio {ratio:7.3f}  (must {must}, aim {aim}) {verdict}", flush=True)

    def append_both(self, n):
        extra = make_rows(n, self.next_id)
        self.next_id += n
        write_ipc(extra, self.work / "extra.arrow")
        self.peer.open_table("src").add(extra)
        self.ours("load", str(self.work / "extra.arrow"))
        self.ours("append", "src")

    def change_both(self, seed, count, change):
        """LanceDB changes both sources at the same random rows."""
        ids = np.random.default_rng(1000 + seed).integers(0, self.rows, count).tolist()
        where = f"id IN ({', '.join(map(str, ids))})"
        for directory in (self.peer_dir, self.our_dir):
            change(lancedb.connect(str(directory)).open_table("src"), where)

    def delete_both(self, i):
        self.change_both(i, 50, lambda table, where: table.delete(where))

    def update_both(self, i):
        self.change_both(100 + i, 100, lambda table, where: table.update(where=where, values_sql={"score": "score + 1"}))

    def run(self):
        self.create_table()
        self.scans()
        self.views()
        self.refreshes()
        self.memory()
        self.program()
        self.ours.close()

    def create_table(self):
        self.ours("load", str(self.work / "src.arrow"))

        def peer(i):
            return timed(lambda: self.peer.create_table(f"t{i}", self.table, storage_options=STABLE))[0]

        def ours(i):
            return self.ours("create", f"t{i}")[0]

        self.row("append the rows (create table)", peer, ours, 1.0, 0.5, rounds=3)
        for i in range(3):
            if i:
                shutil.rmtree(self.peer_dir / f"t{i}.lance")
                shutil.rmtree(self.our_dir / f"t{i}.lance")
        (self.peer_dir / "t0.lance").rename(self.peer_dir / "src.lance")
        (self.our_dir / "t0.lance").rename(self.our_dir / "src.lance")
        peer_bytes, our_bytes = size_of(self.peer_dir / "src.lance"), size_of(self.our_dir / "src.lance")
        self.add("bytes on disk of that table", f"{peer_bytes / 1e6:.1f} MB", f"{our_bytes / 1e6:.1f} MB", our_bytes / peer_bytes, 1.05, 0.9)

    def scans(self):
        table = self.peer.open_table("src")
        assert table.count_rows("age >= 50") == self.ours("count", "src", "age >= 50")[1]

        def peer_filtered(_):
            return timed(lambda: table.search().where("age >= 50").select(["id", "name"]).limit(self.rows).to_arrow())[0]

        def peer_take(i):
            rows = self.random_rows(i)
            return timed(lambda: table.take_offsets(rows).to_arrow())[0]

        self.row("scan all columns to Arrow", lambda _: timed(table.to_arrow)[0], lambda _: self.ours("scan", "src")[0], 0.2, 0.05)
        self.row("filtered, projected scan", peer_filtered, lambda _: self.ours("project", "src", "id,name", "age >= 50")[0], 0.2, 0.05)
        self.row("take 1,000 random rows", peer_take,
                 lambda i: self.ours("take", "src", ",".join(map(str, self.random_rows(i))))[0], 0.3, 0.1)
        self.row("count_rows with filter", lambda _: timed(lambda: table.count_rows("age >= 50"))[0],
                 lambda _: self.ours("count", "src", "age >= 50")[0], 1.0, 0.3)

    def random_rows(self, i):
        return np.random.default_rng(i).integers(0, self.rows, 1000).tolist()

    def views(self):
        def peer(i):
            return timed(lambda: self.peer.create_materialized_view(f"v{i}", "src", select=SELECT, where="age >= 50"))[0]

        def ours(i):
            return self.ours("view", f"v{i}", SQL)[0]

        self.row("create view + first refresh", peer, ours, 0.5, 0.2)
        assert self.peer.open_table("v0").count_rows() == self.ours("scan", "v0")[1]
        for i in range(1, self.rounds):
            shutil.rmtree(self.peer_dir / f"v{i}.lance")
            shutil.rmtree(self.our_dir / f"v{i}.lance")

    def refreshes(self):
        view = self.peer.open_materialized_view("v0")
        self.ours("open", "v0")

        def peer(_, full=False, mode="incremental"):
            seconds, result = timed(lambda: view.refresh(full=full))
            assert result.mode == mode, result
            return seconds

        def ours(_, command="refresh", mode=2):
            seconds, _, got = self.ours(command, "v0")
            assert got == mode, got
            return seconds

        self.row("full refresh (rebuild)", lambda i: peer(i, True, "rebuild"), lambda i: ours(i, "rebuild", 1), 0.5, 0.2)
        self.row("refresh, nothing to do", lambda i: peer(i, mode="no_op"), lambda i: ours(i, mode=3), 0.25, 0.05)
        self.row("refresh after appending 100 rows", peer, ours, 0.5, 0.2, before=lambda i: self.append_both(100))
        self.row("refresh after deleting 50 rows", peer, ours, 0.4, 0.1, before=self.delete_both)
        self.row("refresh after updating 100 rows", peer, ours, 0.1, 0.03, before=self.update_both)
        assert self.peer.open_table("v0").count_rows() == self.ours("scan", "v0")[1]

    def memory(self):
        """Peak memory of a fresh process that creates the view."""
        fresh = Driver(self.our_dir)
        fresh("view", "memory", SQL)
        ours = fresh("memory")[1] / 1024
        fresh.close()
        code = (f"import lancedb\ndb = lancedb.connect({str(self.peer_dir)!r})\n"
                f"db.create_materialized_view('memory', 'src', select={SELECT!r}, where='age >= 50')\n"
                "print(next(int(l.split()[1]) for l in open('/proc/self/status') if l.startswith('VmHWM')) / 1024)")
        peer = float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        self.add("peak memory of creating the view", f"{peer:.0f} MB", f"{ours:.0f} MB", ours / peer, 200 / peer, 64 / peer)

    def program(self):
        library = ROOT / "build/release/src/libglaive.so.0.1.0"
        stripped = self.work / "stripped.so"
        subprocess.run(["strip", "-o", stripped, library], check=True)
        ours = stripped.stat().st_size / 1e6
        native = next(pathlib.Path(lancedb.__file__).parent.glob("_lancedb*.so"))
        peer = native.stat().st_size / 1e6
        self.add("size of the library", f"{peer:.0f} MB", f"{ours:.1f} MB", ours / peer, 8 / peer, 4 / peer)
        glaive = ROOT / "build/release/src/cli/glaive"
        times = [timed(lambda: subprocess.run([glaive, "--version"], capture_output=True, check=True))[0] for _ in range(21)]
        baseline = [timed(lambda: subprocess.run(["/bin/true"], capture_output=True, check=True))[0] for _ in range(21)]
        ours_ms = (statistics.median(times) - statistics.median(baseline)) * 1000
        self.add("glaive --version", "-", f"{ours_ms:.1f} ms", ours_ms, 10, 3)


def markdown(bench, options):
    results_head(options, f"lancedb {lancedb.__version__}", "bench/run.py")
    print("| work | LanceDB | Glaive | ratio | must | aim |\n| --- | --- | --- | --- | --- | --- |")
    for name, peer, ours, ratio, must, aim in bench.results:
        print(f"| {name} | {peer} | {ours} | {ratio:.3f} | {must:.3g} | {aim:.3g} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(options.rows, options.rounds, pathlib.Path(work))
        bench.run()
        if options.markdown:
            markdown(bench, options)


if __name__ == "__main__":
    main()
