"""Programs and LanceDB processes at one table and its view at once, and programs that are killed while they change it.

Every actor has keys of its own, so that what was acknowledged tells the rows whatever the order was. A change is there or it was
refused with the documented error; nothing else happens.
"""
import os
import random
import subprocess
import sys
import time

import lance
import pyarrow as pa
import pytest
from conftest import PROGRAM, PYTHON39, STABLE, RemoteError, Server

LONG = bool(os.environ.get("GLAIVE_LONG"))
ACTORS = 5  # three programs, LanceDB 0.40 and 0.39
FIRST = 60  # rows of each actor at the start
VIEW = "SELECT id, x * 2 AS twice FROM src WHERE id % 3 <> 0"
#: what LanceDB says when it gives up; pylance's words
GIVEN_UP = ("conflict", "preempted", "concurrent", "Retryable", "retries")


def rows(pairs):
    return "id,x\n" + "".join(f"{i},{x}\n" for i, x in pairs)


class Actor:
    """The keys congruent to `number`, and the rows that must be there."""

    def __init__(self, number):
        self.number = number
        self.held = {number + ACTORS * i: 0 for i in range(FIRST)}
        self.next = number + ACTORS * FIRST

    def fresh(self, count):
        keys = [self.next + ACTORS * i for i in range(count)]
        self.next += ACTORS * count
        return keys

    def choose(self, random):
        """(kind, keys, value, the rows if it happens)."""
        kind = random.choice(["append", "delete", "update", "merge"])
        value = random.randrange(1000)
        some = random.sample(sorted(self.held), min(len(self.held), random.randint(1, 5)))
        if kind == "append" or not some:
            keys = self.fresh(random.randint(1, 20))
            return "append", keys, value, self.held | {k: value for k in keys}
        if kind == "delete":
            return kind, some, value, {k: v for k, v in self.held.items() if k not in some}
        if kind == "merge":
            some += self.fresh(2)
        return kind, some, value, self.held | {k: value for k in some}


def condition(keys):
    return f"id IN ({', '.join(map(str, keys))})"


def words(kind, keys, value):
    """Command line and standard input of a change."""
    if kind == "append":
        return ["table", "import", "src", "-", "--append", "--format", "csv"], rows((k, value) for k in keys)
    if kind == "merge":
        return (["table", "merge", "src", "-", "--format", "csv", "--on", "id", "--when-matched-update", "--when-not-matched-insert"],
                rows((k, value) for k in keys))
    if kind == "delete":
        return ["table", "delete", "src", "--where", condition(keys)], ""
    return ["table", "update", "src", "--set", f"x={value}", "--where", condition(keys)], ""


def code(kind, keys, value):
    """The same for LanceDB."""
    data = f"pa.table({{'id': {keys}, 'x': {[value] * len(keys)}}})"
    return {
        "append": f"db.open_table('src').add({data}) and None",
        "delete": f"db.open_table('src').delete({condition(keys)!r}) and None",
        "update": f"db.open_table('src').update(where={condition(keys)!r}, values={{'x': {value}}}) and None",
        "merge": f"db.open_table('src').merge_insert('id').when_matched_update_all().when_not_matched_insert_all().execute({data}) and None",
    }[kind]


def start(glaive, words, stdin=""):
    process = subprocess.Popen([PROGRAM, "--db", str(glaive.db), *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    process.stdin.write(stdin)
    process.stdin.close()
    return process


def finish(process):
    """Whether it did it; the only failure is a conflict."""
    err = process.stderr.read()
    process.wait()
    assert process.returncode in (0, 5), err
    return process.returncode == 0


def answered(server):
    try:
        server.answer()
    except RemoteError as error:
        assert any(text in str(error) for text in GIVEN_UP), error
        return False
    return True


@pytest.fixture
def source(glaive, lancedb40):
    actors = [Actor(i) for i in range(ACTORS)]
    pairs = sorted((k, v) for a in actors for k, v in a.held.items())
    data = pa.table({"id": pa.array([p[0] for p in pairs], pa.int64()), "x": pa.array([p[1] for p in pairs], pa.int64())})
    lancedb40.create_table("src", data, storage_options=STABLE)
    glaive.run("view", "create", "v", "--as", VIEW)
    return actors


def dataset(glaive, name):
    return lance.dataset(str(glaive.db / f"{name}.lance"))


def check_source(glaive, actors):
    opened = dataset(glaive, "src")
    opened.validate()
    table = opened.to_table(with_row_id=True)
    assert dict(zip(table["id"].to_pylist(), table["x"].to_pylist())) == {k: v for a in actors for k, v in a.held.items()}
    assert table.num_rows == sum(len(a.held) for a in actors)
    assert len(set(table["_rowid"].to_pylist())) == table.num_rows


def check_view(glaive, actors):
    """As it stands it is what its definition gives at its watermark; after one refresh it is up to date."""
    assert glaive.json("view", "verify", "v")["equal"]
    glaive.refresh("v")
    table = dataset(glaive, "v").to_table()
    wanted = {k: 2 * v for a in actors for k, v in a.held.items() if k % 3 != 0}
    assert dict(zip(table["id"].to_pylist(), table["twice"].to_pylist())) == wanted
    assert table.num_rows == len(wanted)
    assert len(set(table["__source_row_id"].to_pylist())) == table.num_rows


def test_everybody_changes_and_refreshes_at_once(glaive, source):
    """Three programs and two releases of LanceDB change the source; up to three more refresh the view or compact the source."""
    rng = random.Random(21)
    servers = [Server(sys.executable), Server(PYTHON39)]
    rounds = 1000 if LONG else 12
    done = 0
    for server in servers:
        server(f"db = lancedb.connect({str(glaive.db)!r})")
    for _ in range(rounds):
        plans = [actor.choose(rng) for actor in source]
        others = [start(glaive, ["view", "refresh", "v"]) for _ in range(rng.randint(0, 2))]
        if rng.random() < 0.3:
            others.append(start(glaive, ["table", "compact", "src"]))
        for server, plan in zip(servers, plans[3:]):
            server.tell(code(*plan[:3]))
        programs = [start(glaive, *words(*plan[:3])) for plan in plans[:3]]
        happened = [finish(p) for p in programs] + [answered(s) for s in servers]
        for process in others:
            finish(process)
        if rng.random() < 0.3:
            refresher = rng.choice(servers)
            refresher.tell("db.open_materialized_view('v').refresh() and None")
            other = start(glaive, ["view", "refresh", "v"])
            finish(other)
            try:
                refresher.answer()
            except RemoteError:
                pass  # it lost the race; what it left behind is checked below
        for actor, plan, yes in zip(source, plans, happened):
            if yes:
                actor.held = plan[3]
                done += 1
        check_source(glaive, source)
        if rng.random() < 0.5:
            check_view(glaive, source)
    check_view(glaive, source)
    for server in servers:
        server.close()
    assert done * 2 > rounds * ACTORS


def test_killed_changes(glaive, source):
    """kill -9 while a program deletes, updates, merges, compacts or refreshes: the change is there whole or not at all, and one
    refresh makes the view right."""
    rng = random.Random(22)
    actor = source[0]
    begun = time.monotonic()
    finish(start(glaive, ["table", "update", "src", "--set", "x=0", "--where", "id = 0"]))
    usual = time.monotonic() - begun
    cut = 0
    for _ in range(500 if LONG else 30):
        if rng.random() < 0.3:
            process = start(glaive, rng.choice([["table", "compact", "src"], ["view", "refresh", "v"]]))
            after = actor.held
        else:
            kind, keys, value, after = actor.choose(rng)
            process = start(glaive, *words(kind, keys, value))
        time.sleep(rng.uniform(0, 2 * usual))
        process.kill()
        process.wait()
        table = dataset(glaive, "src").to_table(filter=f"id % {ACTORS} = 0")
        found = dict(zip(table["id"].to_pylist(), table["x"].to_pylist()))
        assert found in (actor.held, after) and table.num_rows == len(found)
        assert process.returncode != 0 or found == after
        cut += process.returncode != 0
        actor.held = found
        check_source(glaive, source)
        check_view(glaive, source)
    assert cut > 0
