#!/usr/bin/env python3
"""Many clients of one server at once: describes, queries, counts, inserts and refreshes mixed, by wrk.

    bench/load.py [--connections N] [--seconds S] [--warm-up S] [--rows N] [--markdown]

Meanwhile the table that grows is compacted and cleaned up now and then, as an operator would have it done. Exits with 1 when a request
failed, or when the server's memory grew by more than a tenth between the end of the warm-up and the end.
"""
import argparse
import contextlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

import pyarrow as pa
from common import ROOT, make_rows, results_head

PROGRAM = pathlib.Path(os.environ.get("GLAIVE_PROGRAM", ROOT / "build/release/src/cli/glaive"))
ARROW = "application/vnd.apache.arrow.stream"
COMPACT_EVERY_S = 3
# kind, share in percent, path, body; the first character of a kind names it in the script
MIX = [
    ("describe", 40, "/v1/table/big/describe", "{}"),
    ("count", 20, "/v1/table/big/count_rows", '{"predicate": "age > 50"}'),
    ("query", 35, "/v1/table/big/query", '{"vector": [], "k": 100, "filter": "age > 50", "columns": ["id", "name"]}'),
    ("insert", 4, "/v1/table/grows/insert", None),
    ("refresh", 1, "/v1/materialized_view/adults/refresh", "{}"),
]
SCRIPT = """
local mix = { %s }
local total = 0
for _, one in ipairs(mix) do total = total + one.share end
math.randomseed(7)
request = function()
  local n = math.random() * total
  for _, one in ipairs(mix) do
    n = n - one.share
    if n < 0 then return one.request end
  end
  return mix[1].request
end
init = function(args)
  for _, one in ipairs(mix) do
    local body = one.body
    if one.file then local f = io.open(one.file, "rb"); body = f:read("*a"); f:close() end
    one.request = wrk.format("POST", one.path, { ["content-type"] = one.kind, ["host"] = "load" }, body)
  end
end
response = function(status, headers, body)
  if status >= 300 and shown == nil then shown = true; print("FAILED: " .. status .. " " .. body) end
end
"""


def post(url, path, body=b"{}", kind="application/json"):
    request = urllib.request.Request(url + path, data=body, headers={"content-type": kind})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.loads(answer.read() or b"null")


def stream_of(table):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def resident_kib(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s*(\d+)", text).group(1))


@contextlib.contextmanager
def server(directory):
    child = subprocess.Popen([PROGRAM, "--db", directory, "serve", "--no-access-log"], stdout=subprocess.PIPE, text=True)
    try:
        yield re.search(r"http://\S+", child.stdout.readline()).group(), child.pid
    finally:
        child.terminate()
        if child.wait(60) != 0:
            sys.exit(f"the server ended with {child.returncode}")


def prepare(url, rows):
    table = make_rows(rows)
    post(url, "/v1/table/big/create", stream_of(table), ARROW)
    post(url, "/v1/table/grows/create", stream_of(table.slice(0, 100)), ARROW)
    job = post(url, "/v1/materialized_view/adults/create", json.dumps({"query": "SELECT id, name FROM grows WHERE age > 50"}).encode())
    while post(url, "/v1/jobs/describe", json.dumps({"job_id": job["job_id"]}).encode())["job_state"] not in ("DONE", "FAILED"):
        time.sleep(0.05)
    return stream_of(table.slice(0, 10))


def write_script(path, insert):
    data = path.with_suffix(".arrow")
    data.write_bytes(insert)
    parts = [f'{{share = {share}, path = {json.dumps(target)}, kind = {json.dumps(ARROW if body is None else "application/json")}, '
             + (f'file = {json.dumps(str(data))}' if body is None else f'body = {json.dumps(body)}') + "}" for _, share, target, body in MIX]
    path.write_text(SCRIPT % ", ".join(parts))


def upkeep(url, stop, failures):
    while not stop.wait(COMPACT_EVERY_S):
        try:
            post(url, "/v1/table/grows/compact")
            post(url, "/v1/table/grows/cleanup", b'{"older_than_ms": 0}')
        except urllib.error.HTTPError as error:
            if error.code != 409:  # writers were first: there is a next time
                failures.append(f"upkeep: {error} {error.read()!r}")
        except OSError as error:
            failures.append(f"upkeep: {error}")


def run_wrk(url, script, connections, seconds):
    command = ["wrk", "-t2", f"-c{connections}", f"-d{seconds}s", "--latency", "--timeout", "60s", "-s", str(script), url]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def failures_of(text):
    return [line.strip() for line in text.splitlines() if "Non-2xx" in line or "Socket errors" in line or line.startswith("FAILED")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--warm-up", type=int, default=15)
    parser.add_argument("--rows", type=int, default=100_000, help="of the table that is read")
    parser.add_argument("--growth", type=float, default=0.1, help="of the memory that is allowed")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, server(pathlib.Path(name) / "db") as (url, pid):
        script, stop, failures = pathlib.Path(name) / "mix.lua", threading.Event(), []
        write_script(script, prepare(url, options.rows))
        keeper = threading.Thread(target=upkeep, args=(url, stop, failures))
        keeper.start()
        failures += failures_of(run_wrk(url, script, options.connections, options.warm_up))
        before = resident_kib(pid)
        text = run_wrk(url, script, options.connections, options.seconds)
        after = resident_kib(pid)
        failures += failures_of(text)
        stop.set()
        keeper.join()
    rate = float(re.search(r"Requests/sec:\s*([\d.]+)", text).group(1))
    p50, p99 = (re.search(rf"^\s+{p}%\s+(\S+)", text, re.M).group(1) for p in (50, 99))
    if options.markdown:
        results_head(options, "no peer", "bench/load.py")
        print("| connections | seconds | requests | p50 | p99 | memory after warm-up | at the end |\n| --- | --- | --- | --- | --- | --- | --- |")
        print(f"| {options.connections} | {options.seconds} | {rate:,.0f}/s | {p50} | {p99} | {before / 1024:.0f} MiB | {after / 1024:.0f} MiB |")
    else:
        print(f"{rate:,.0f} requests/s, p50 {p50}, p99 {p99}, memory {before / 1024:.0f} MiB after the warm-up, {after / 1024:.0f} MiB at the end")
    if after > before * (1 + options.growth) + 4096:
        failures.append("the memory grew")
    for failure in failures:
        print(failure, file=sys.stderr)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
