"""A server that is killed under load: nothing that it acknowledged is lost, no job stays running, and it is there again at once.

The long form (GLAIVE_LONG=1) has 100 rounds."""
import contextlib
import http.client
import json
import os
import random
import signal
import threading
import time

from http_server import ARROW, Server, numbers, stream_of

ROUNDS = 100 if os.environ.get("GLAIVE_LONG") else 4
WRITERS = 6
RESTART_S = 5  # generous: other programs may be using the machine; the aim is told below
VIEWS = ("evens", "odds")


class Load:
    """Threads that write until the server is gone; what was acknowledged."""

    def __init__(self, server, first):
        self.server, self.next, self.lock = server, first, threading.Lock()
        self.acknowledged, self.deleted, self.sent_deletes, self.jobs, self.wrong = set(), set(), set(), set(), []
        self.threads = [threading.Thread(target=self.run, args=(i,)) for i in range(WRITERS)]

    def post(self, connection, path, body, headers=None):
        connection.request("POST", path, body=body, headers=headers or {})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status >= 500:
            self.wrong.append((path, answer.status, text))
        return answer.status, json.loads(text) if text else None

    def step(self, connection, rng):
        kind = rng.random()
        with self.lock:
            number = self.next
            self.next += 1
        if kind < 0.6:
            status, _ = self.post(connection, "/v1/table/t/insert", stream_of(numbers(1, number)), ARROW)
            if status == 200:
                self.acknowledged.add(number)
        elif kind < 0.7 and self.acknowledged:
            with self.lock:
                victim = rng.choice(sorted(self.acknowledged - self.sent_deletes) or [0])
                self.sent_deletes.add(victim)
            status, _ = self.post(connection, "/v1/table/t/delete", json.dumps({"predicate": f"id = {victim}"}))
            if status == 200:
                self.deleted.add(victim)
        else:
            status, body = self.post(connection, f"/v1/materialized_view/{rng.choice(VIEWS)}/refresh", "{}")
            if status == 202:
                self.jobs.add(body["job_id"])

    def run(self, seed):
        rng, connection = random.Random(seed), http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        with contextlib.suppress(OSError, http.client.HTTPException):
            while True:
                self.step(connection, rng)
        connection.close()


def jobs_of(server):
    states, token = {}, None
    while True:
        page = server.post("/v1/jobs/list", json.dumps({"page_token": token}).encode()).json()
        states |= {job["job_id"]: job["state"] for job in page["jobs"]}
        token = page["page_token"]
        if not token:
            return states


def ids_in(server, table):
    import pyarrow as pa

    answer = server.post(f"/v1/table/{table}/query", json.dumps({"vector": [], "k": 10**9, "columns": ["id"]}).encode())
    assert answer.status == 200, answer.body
    return pa.ipc.open_file(answer.body).read_all()["id"].to_pylist()


def prepare(server):
    server.create("t", numbers(5))
    for view, rest in zip(VIEWS, (0, 1)):
        answer = server.post(f"/v1/materialized_view/{view}/create", json.dumps({"query": f"SELECT id, upper(text) AS up FROM t WHERE id % 2 = {rest}"}).encode())
        assert answer.status == 202, answer.body
    while "IN_PROGRESS" in jobs_of(server).values() or "QUEUED" in jobs_of(server).values():
        time.sleep(0.02)


def check_views(server, ids):
    for view, rest in zip(VIEWS, (0, 1)):
        job = server.post(f"/v1/materialized_view/{view}/refresh", b"{}").json()["job_id"]
        while (told := server.post("/v1/jobs/describe", json.dumps({"job_id": job}).encode()).json())["job_state"] in ("QUEUED", "IN_PROGRESS"):
            time.sleep(0.01)
        assert told["job_state"] == "DONE", told
        assert sorted(ids_in(server, view)) == sorted(i for i in ids if i % 2 == rest)


def test_nothing_acknowledged_is_lost(tmp_path):
    rng, db, slowest, interrupted = random.Random(5), tmp_path / "db", 0, 0
    server = Server(db, "--no-access-log")
    prepare(server)
    kept, gone, first = set(range(5)), set(), 1000
    for number in range(ROUNDS):
        load = Load(server, first)
        for thread in load.threads:
            thread.start()
        time.sleep(rng.uniform(0.05, 0.6))
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
        for thread in load.threads:
            thread.join()
        assert not load.wrong, load.wrong
        start = time.monotonic()
        server = Server(db, "--no-access-log")
        assert server.get("/health").status == 200
        slowest = max(slowest, time.monotonic() - start)
        states = jobs_of(server)
        assert not set(states.values()) & {"QUEUED", "IN_PROGRESS"}, states
        assert load.jobs <= states.keys()
        for job, state in states.items():
            if state == "FAILED":
                told = server.post("/v1/jobs/describe", json.dumps({"job_id": job}).encode()).json()
                assert told["failure"]["phase"] == "restart" and told["failure"]["retryable"], told
                interrupted += 1
        ids = ids_in(server, "t")
        assert len(ids) == len(set(ids)), f"round {number}: a row is there twice"
        there = set(ids)
        kept, gone = kept | load.acknowledged, gone | load.deleted
        assert not gone & there, f"round {number}: rows that were deleted are back"
        maybe_gone = load.sent_deletes - load.deleted
        assert kept - gone - maybe_gone <= there, f"round {number}: acknowledged rows are lost"
        assert there <= kept | set(range(first, load.next)), f"round {number}: rows that nobody wrote"
        kept, gone, first = there, set(), load.next
        if number % 5 == 0 or number == ROUNDS - 1:
            check_views(server, ids)
    assert server.stop() == 0
    print(f"{ROUNDS} rounds, {len(kept)} rows, {interrupted} interrupted jobs seen, slowest restart {slowest * 1000:.0f} ms")
    assert slowest < RESTART_S
