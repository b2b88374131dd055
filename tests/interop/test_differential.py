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


# ---- every sequence of three operations ----


ROWS = pa.table({"k": pa.array(range(10), pa.int32()), "x": pa.array(range(36, 46), pa.int32()),
                 "y": pa.array(range(10), pa.int32()), "s": [{"a": i, "b": -i} for i in range(10)],
                 "l": pa.array([[i, 50 + i] for i in range(10)], pa.list_(pa.int32()))})


class Small:
    """A source of ten rows; the part of a history that Followers ask for. `y` may be called `yy`, `x` may be 64 bits wide."""

    def __init__(self, connection, ours, rng, namespace):
        self.random, self.connection, self.ours = rng, connection, ours
        self.where = {"namespace_path": namespace} if namespace else {}
        self.table = MixedTable(connection.open_table("t", **self.where), [*namespace, "t"], ours, rng)
        self.path = self.table.to_lance().uri

    def fresh(self, schema, count):
        """Rows with new keys."""
        first = max(self.table.to_arrow()["k"].to_pylist(), default=0) + 1
        number = pa.array(range(count), pa.int32())
        given = {"k": pa.array(range(first, first + count), pa.int32()), "x": pa.array(range(39, 39 + count), pa.int32()),
                 "s": ROWS["s"].slice(0, count), "l": ROWS["l"].slice(0, count)}
        return pa.table([given.get(f.name, number).cast(f.type) for f in schema], schema=schema)

    def second(self):
        return "y" if "y" in self.table.schema.names else "yy"

    # rows

    def append(self):
        self.table.add(self.fresh(self.table.schema, 3))

    def delete_even(self):
        self.table.delete("k % 2 = 0")

    def update_odd(self):
        self.table.update(where="k % 2 = 1", values_sql={"x": "x + 1"})

    def drop_largest(self):
        rows = self.table.to_arrow().sort_by("k")
        if len(rows) > 1:
            self.table.merge_insert("k").when_not_matched_by_source_delete().execute(rows.slice(0, len(rows) - 1))

    def upsert(self):
        rows = self.table.to_arrow().sort_by("k").slice(0, 2)
        changed = pa.concat_tables([rows, self.fresh(rows.schema, 1)])
        at = changed.schema.get_field_index("x")
        value = pa.array([60 + self.table.version] * len(changed), changed.schema.field(at).type)
        changed = changed.set_column(at, changed.schema.field(at), value)
        self.table.merge_insert("k").when_matched_update_all().when_not_matched_insert_all().execute(changed)

    def update_fresh(self):
        """Rows that no view has seen yet."""
        rows = self.fresh(self.table.schema, 3)
        self.table.add(rows)
        self.table.update(where=f"k >= {rows['k'][1]}", values_sql={"x": "x + 5"})

    # columns

    def add_column(self):
        self.table.add_columns({f"c{self.table.version}": "x + 1"})

    def drop_column(self):
        added = [n for n in self.table.schema.names if n[0] == "c"]
        self.table.drop_columns(added[-1:] or [self.second()])
        if not added:
            self.table.add_columns({"y": "cast(k as int)"})

    def rename_column(self):
        self.table.alter_columns({"path": self.second(), "rename": "yy" if self.second() == "y" else "y"})

    def cast_column(self):
        narrow = self.table.schema.field("x").type == pa.int32()
        self.table.alter_columns({"path": "x", "data_type": pa.int64() if narrow else pa.int32()})

    def swap_names(self):
        other = self.second()
        self.table.alter_columns({"path": "x", "rename": "zz"})
        self.table.alter_columns({"path": other, "rename": "x"}, {"path": "zz", "rename": other})

    def drop_compact_add_nulls(self):
        name, kind = self.second(), self.table.schema.field(self.second()).type
        self.table.drop_columns([name])
        self.table.optimize()
        self.table.add_columns(pa.field(name, kind))

    # the whole table

    def compact(self):
        self.table.optimize()

    def restore(self):
        self.table.restore(max(1, self.table.version - 2))

    def overwrite(self):
        self.table.add(self.fresh(ROWS.schema, 4), mode="overwrite")

    def recreate(self):
        rows = self.fresh(ROWS.schema, 5)
        if self.table.ours_is_next():
            self.ours.drop(self.table.parts)
        else:
            self.connection.drop_table("t", **self.where)
        if self.table.ours_is_next():
            self.ours.create(self.table.parts, rows)
            self.table.theirs = self.connection.open_table("t", **self.where)
        else:
            self.table.theirs = self.connection.create_table("t", rows, storage_options=STABLE, **self.where)
        self.path = self.table.to_lance().uri

    def index(self):
        self.table.create_scalar_index("k", replace=True)

    def config(self):
        if self.table.ours_is_next():
            self.ours.set_metadata(self.table.parts, "config", {"a.b": str(self.table.version)})
        else:
            lance.dataset(self.path).update_config({"a.b": str(self.table.version)})
        self.table.checkout_latest()

    #: the first seven are those of upstream's own differential test
    OPERATIONS = [append, delete_even, update_odd, compact, add_column, drop_largest, upsert, update_fresh, drop_column, rename_column,
                  cast_column, swap_names, drop_compact_add_nulls, restore, overwrite, recreate, index, config]


class Tree:
    """All sequences of three operations that begin with one of them. Each node has a copy of the database of its parent, one
    operation on; the views are refreshed there or not."""

    DEPTH = 3

    def __init__(self, root, operations, shapes, namespace):
        self.root, self.operations, self.shapes, self.namespace = root, operations, shapes, namespace
        self.modes, self.nodes = collections.Counter(), 0

    def connect(self, db):
        """The two engines."""
        peer = lancedb.connect_namespace("dir", {"root": str(db)}) if self.namespace else lancedb.connect(str(db))
        return peer, capi.Connection(db, namespace=bool(self.namespace))

    def plant(self):
        db = self.root / "root"
        peer, ours = self.connect(db)
        ours.close()
        if self.namespace:
            peer.create_namespace(self.namespace)
        where = {"namespace_path": self.namespace} if self.namespace else {}
        peer.create_table("t", ROWS, storage_options=STABLE, **where)
        for shape in self.shapes:
            arguments = SHAPES["filter" if shape == UPPER else shape][0]
            source = [] if "--as" in arguments else ["--source", "all" if shape == UPPER else ".".join([*self.namespace, "t"])]
            Glaive(db).run("view", "create", shape, *source, *arguments)
        return db

    def node(self, db, path, refreshed):
        """Perform the last operation of `path` in `db` and check all views there, which are kept when `refreshed`."""
        peer, ours = self.connect(db)
        history = Small(peer, ours, random.Random(f"{SEED} {path}"), self.namespace)
        self.operations[path[-1]](history)
        note = lambda: ([self.operations[i].__name__ for i in path], refreshed, history.table.writers)  # noqa: E731
        views = Followers(db, ours, history, self.shapes, note)
        for shape in self.shapes if refreshed else []:
            views.refresh(shape)
        views.close()
        ours.close()
        self.nodes += 1
        self.modes += views.modes

    def grow(self, db, path):
        """The node and what is below it, with the views refreshed at each step on the way, or only at its end."""
        child = self.root / str(len(path))
        shutil.copytree(db, child)
        last = len(path) == self.DEPTH
        self.node(child, path, last or sum(path) % 2 == 0)
        for i in range(0 if last else len(self.operations)):
            self.grow(child, [*path, i])
        shutil.rmtree(child)


OPERATIONS = Small.OPERATIONS if LONG else Small.OPERATIONS[:7]
first = pytest.mark.parametrize("first", range(len(OPERATIONS)), ids=lambda i: OPERATIONS[i].__name__)


def check_tree(root, first, shapes, namespace):
    tree = Tree(root, OPERATIONS, shapes, namespace)
    tree.grow(tree.plant(), [first])
    print(tree.nodes, "nodes", dict(tree.modes))
    assert tree.nodes == 1 + len(OPERATIONS) + len(OPERATIONS) ** 2
    assert {mode for mode, _ in tree.modes} >= {"incremental", "rebuild"}


@first
def test_every_sequence_of_three(tmp_path, first):
    """In the long form all operations and shapes."""
    more = [UPPER, "expressions", "unnest", "grouped"] if LONG else []
    check_tree(tmp_path, first, ["all", "filter", "limit", *more], [])


@first
@pytest.mark.skipif(not LONG, reason="the long form only; the random sequences have namespaces too")
def test_every_sequence_of_three_in_a_namespace(tmp_path, first):
    check_tree(tmp_path, first, ["all", "filter", "limit"], ["ns"])
