"""Views of every shape after every change by every writer (materialized-views 7.4, 13 items 17 to 26 and 51).

Glaive runs in this process. After each step a refresh does what its explanation said, the rows are those of the query over the
source at the watermark, and the library's own verification agrees; sampled: LanceDB reads the same rows and says no_op."""
import collections
import os
import random
import shutil

import capi
import lance
import lancedb
import pyarrow as pa
import pytest
from conftest import STABLE, Glaive
from mixed_history import MixedHistory, MixedTable
from test_changes import SHAPES, check_rows, source_rows, values

LONG = bool(os.environ.get("GLAIVE_LONG"))
SEED = int(os.environ.get("GLAIVE_SEED", 1))
SEQUENCES = int(os.environ.get("GLAIVE_SEEDS", 2000 if LONG else 24))
LENGTH = 12
PLAIN = ["all", "filter", "expressions", "limit"]
SCHEMA_CHANGED = ("does not produce this view's schema", "dropped or renamed")
UPPER = "upper"  # the view over the view "all"; what it holds of it is what "filter" holds of the source


class Followers:
    """Views of some shapes over one source, and what is true after each of their refreshes."""

    def __init__(self, db, ours, history, shapes, note):
        self.db, self.ours, self.history, self.shapes, self.note = db, ours, history, shapes, note
        self.modes, self.bounds = collections.Counter(), 0
        self.kept = {}

    def create(self):
        glaive, of = Glaive(self.db), ".".join(self.history.table.parts)
        for shape in self.shapes:
            base, source = ("filter", "all") if shape == UPPER else (shape, of)
            arguments = SHAPES[base][0]
            glaive.run("view", "create", shape, *([] if "--as" in arguments else ["--source", source]), *arguments)

    def path(self, shape):
        return str(self.db / f"{shape}.lance")

    def source_of(self, shape):
        return (self.path("all"), "filter") if shape == UPPER else (self.history.path, shape)

    def view(self, shape):
        """A handle, often one of an earlier refresh."""
        if shape in self.kept and self.history.random.random() < 0.4:
            self.kept.pop(shape).close()
        if shape not in self.kept:
            self.kept[shape] = capi.View(self.ours, [shape])
        return self.kept[shape]

    def close(self):
        for view in self.kept.values():
            view.close()
        self.kept = {}

    def refresh(self, shape, version=None):
        """@return the mode, or None when the columns of the source do not fit the view any more."""
        note, view = (*self.note(), shape, version), self.view(shape)
        options = capi.to_version(version) if version else None
        path, rows_of = self.source_of(shape)
        head = version or lance.dataset(path).version
        try:
            bound = view.report("status")["rows_behind"]
            plan = view.report("explain", options)
        except capi.Failed as error:
            assert any(text in str(error) for text in SCHEMA_CHANGED), (note, error)
            with pytest.raises(capi.Failed) as refused:
                view.refresh(options)
            assert refused.value.code == error.code, note
            return None
        mode, reason, written, reflected = view.refresh(options)
        assert (plan["mode"], plan["reason"], plan["source_version"]) == (mode, reason, reflected), note
        assert reflected == head, note
        if mode == "incremental" and shape in PLAIN and version is None and bound is not None:
            assert bound >= written, (note, bound, written)
            self.bounds += 1
        check_rows(lance.dataset(self.path(shape)).to_table(), source_rows(path, head, rows_of), rows_of, (note, mode, reason))
        assert view.report("verify")["equal"], note
        assert view.report("explain", options)["mode"] == "no_op", note
        self.modes[mode, reason] += 1
        return mode

    def lancedb_agrees(self, connection, shape):
        if self.refresh(shape) is not None:
            ours = values(lance.dataset(self.path(shape)).to_table())
            assert values(connection.open_table(shape).to_arrow()) == ours, self.note()
            assert connection.open_materialized_view(shape).refresh().mode == "no_op", self.note()


def shapes_of(rng, namespaced):
    """Three shapes; the view over the view comes after the one that it reads."""
    names = sorted(n for n in SHAPES if not (namespaced and "--as" in SHAPES[n][0]))
    chosen = rng.sample(names, 3)
    if rng.random() < 0.4:
        chosen = ["all", UPPER, *(n for n in chosen if n != "all")]
    return chosen


def run_sequence(db, seed):
    rng = random.Random(seed)
    namespaced = rng.random() < 0.2
    ours = capi.Connection(db, namespace=namespaced)
    if namespaced:
        peer = lancedb.connect_namespace("dir", {"root": str(db)})
        peer.create_namespace(["ns"])
    else:
        peer = lancedb.connect(str(db))
    history = MixedHistory(db, peer, seed, ours, ["ns"] if namespaced else [])
    log = []
    views = Followers(db, ours, history, shapes_of(rng, namespaced), lambda: (f"GLAIVE_SEED: sequence {seed}", log))
    views.create()
    for _ in range(LENGTH):
        log.append(history.step())
        for shape in views.shapes:
            if shape != UPPER and rng.random() < 0.15:  # any version, forwards or backwards
                views.refresh(shape, rng.randrange(1, history.table.version + 1))
            elif rng.random() < 0.6:
                views.refresh(shape)
    for shape in views.shapes:
        views.refresh(shape)
        if not namespaced and seed % 5 == 0:
            views.lancedb_agrees(peer, shape)
    views.close()
    ours.close()
    return views


def test_random_sequences(tmp_path):
    modes, bounds = collections.Counter(), 0
    for i in range(SEQUENCES):
        views = run_sequence(tmp_path / "db", SEED * 1000003 + i)
        modes += views.modes
        bounds += views.bounds
        shutil.rmtree(tmp_path / "db")
    print(SEQUENCES, "sequences", bounds, "bounds", dict(modes))
    assert modes["incremental", ""] > 0 and bounds > 0
    reasons = {reason for mode, reason in modes if mode == "rebuild"}
    assert reasons <= {"input_identity", "too_many_changes", "limit", "grouped", "watermark_gone", "source_recreated"}, reasons


# ---- every sequence of three of the operations that upstream's own differential test has ----


ROWS = pa.table({"k": pa.array(range(10), pa.int32()), "x": pa.array(range(36, 46), pa.int32()),
                 "y": pa.array(range(10), pa.int32()), "s": [{"a": i, "b": -i} for i in range(10)],
                 "l": pa.array([[i, 50 + i] for i in range(10)], pa.list_(pa.int32()))})


class Small:
    """A source of ten rows; the part of a history that Followers ask for."""

    def __init__(self, connection, ours, rng):
        self.random, self.connection, self.ours = rng, connection, ours
        self.table = MixedTable(connection.open_table("t"), ["t"], ours, rng)
        self.path = self.table.uri

    def append(self):
        first = self.table.to_arrow()["k"].to_pylist()
        rows = ROWS.slice(0, 3).set_column(0, "k", pa.array(range(max(first, default=0) + 1, max(first, default=0) + 4), pa.int32()))
        for name in self.table.schema.names[len(rows.column_names):]:
            rows = rows.append_column(name, pa.array([7] * 3, self.table.schema.field(name).type))
        self.table.add(rows)

    def delete_even(self):
        self.table.delete("k % 2 = 0")

    def update_odd(self):
        self.table.update(where="k % 2 = 1", values_sql={"x": "x + 1"})

    def compact(self):
        self.table.optimize()

    def add_column(self):
        self.table.add_columns({f"c{len(self.table.schema)}": "x + 1"})

    def drop_largest(self):
        rows = self.table.to_arrow().sort_by("k")
        if len(rows) > 1:
            self.table.merge_insert("k").when_not_matched_by_source_delete().execute(rows.slice(0, len(rows) - 1))

    def upsert(self):
        rows = self.table.to_arrow().sort_by("k").slice(0, 2)
        changed = pa.concat_tables([rows, rows.slice(0, 1).set_column(0, "k", pa.array([100 + self.table.version], pa.int32()))])
        changed = changed.set_column(1, "x", pa.array([60 + self.table.version] * len(changed), pa.int32()))
        self.table.merge_insert("k").when_matched_update_all().when_not_matched_insert_all().execute(changed)

    OPERATIONS = [append, delete_even, update_odd, compact, add_column, drop_largest, upsert]


class Tree:
    """All sequences up to a depth. Each node has a copy of the database of its parent, one operation on, refreshed or not."""

    SHAPES = ["all", "filter", "limit"]

    def __init__(self, root):
        self.root, self.modes, self.nodes = root, collections.Counter(), 0

    def plant(self):
        db = self.root / "0"
        lancedb.connect(str(db)).create_table("t", ROWS, storage_options=STABLE)
        for shape in self.SHAPES:
            Glaive(db).run("view", "create", shape, "--source", "t", *SHAPES[shape][0])
        return db

    def node(self, db, path, refreshed):
        """Perform the last operation of `path` in `db` and check all views there, which are kept when `refreshed`."""
        ours = capi.Connection(db)
        rng = random.Random(SEED * 7907 + self.nodes)
        history = Small(lancedb.connect(str(db)), ours, rng)
        Small.OPERATIONS[path[-1]](history)
        note = lambda: ([Small.OPERATIONS[i].__name__ for i in path], refreshed, history.table.writers)  # noqa: E731
        views = Followers(db, ours, history, self.SHAPES, note)
        for shape in self.SHAPES if refreshed else []:
            views.refresh(shape)
        views.close()
        ours.close()
        self.nodes += 1
        self.modes += views.modes

    def grow(self, db, path, depth):
        """Below a node: the views refreshed at each step on the way, or only at its end."""
        for i in range(len(Small.OPERATIONS)):
            last = len(path) + 1 == depth
            child = self.root / "-".join(map(str, [len(path), i]))
            shutil.copytree(db, child)
            self.node(child, [*path, i], last or (sum(path) + i) % 2 == 0)
            if not last:
                self.grow(child, [*path, i], depth)
            shutil.rmtree(child)


def test_every_sequence_of_three(tmp_path):
    tree = Tree(tmp_path)
    tree.grow(tree.plant(), [], 3)
    print(tree.nodes, "nodes", dict(tree.modes))
    assert tree.nodes == 7 + 49 + 343
    assert {mode for mode, _ in tree.modes} >= {"incremental", "rebuild"}
