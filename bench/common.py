"""What the benchmarks share: the Glaive process, the rows, how results are headed."""
import datetime
import pathlib
import platform
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa

ROOT = pathlib.Path(__file__).resolve().parent.parent
DRIVER = ROOT / "build/release/bench/glaive_bench"


class Driver:
    """The Glaive process."""

    def __init__(self, directory):
        self.process = subprocess.Popen([DRIVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self("connect", str(directory))

    def __call__(self, *words):
        self.process.stdin.write("\t".join(words) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split(maxsplit=1)
        if not answer or answer[0] != "ok":
            sys.exit(f"glaive_bench: {words}: {answer}")
        seconds, number, mode = answer[1].split()
        return float(seconds), int(number), int(mode)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def timed(call):
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def make_rows(n, first=0, seed=42):
    rng = np.random.default_rng(seed + first)
    names = pa.array([f"name_{i}" for i in range(100_000)])
    return pa.table({
        "id": pa.array(np.arange(first, first + n, dtype=np.int64)),
        "age": pa.array(rng.integers(0, 100, n, dtype=np.int32)),
        "score": pa.array(rng.random(n)),
        "name": names.take(pa.array(rng.integers(0, 100_000, n))),
    })


def write_ipc(table, path, batch_rows=65536):
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=batch_rows)


def results_head(options, peer, command):
    words = " ".join(f"--{name} {getattr(options, name)}" for name in ("rows", "rounds", "connections", "seconds") if hasattr(options, name))
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
    print(f"\n## {datetime.date.today()}, {options.rows:,} rows\n")
    print(f"{cpu}, 2 processors used, Linux {platform.release().split('-')[0]}, {peer}. "
          f"Command: `make bench` (`{command} {words}`).\n")
