"""A refresh follows every change of the source, by whoever made it (materialized-views 7.4, 11, 13 items 17 to 21)."""
import collections
import os

import lance
import lancedb
import pyarrow as pa
import pytest
from conftest import STABLE, GlaiveError
from source_history import History

LONG = bool(os.environ.get("GLAIVE_LONG"))
SEQUENCES = int(os.environ.get("GLAIVE_SEQUENCES", 2000 if LONG else 6))
LENGTH = 12 if LONG else 8
SEED = int(os.environ.get("GLAIVE_SEED", 1))

# name: (arguments of view create, what a view row is computed from, its columns by name, filter, limit)
SHAPES = {
    "all": ([], ["k", "x", "y", "s"], lambda r: (r["k"], repr(r["s"]), r["x"], r["y"]), None, None),
    "filter": (["--select", "k", "--select", "x", "--where", "x > 40"], ["k", "x"], lambda r: (r["k"], r["x"]),
               lambda r: r["x"] is not None and r["x"] > 40, None),
    "expressions": (["--select", "sum=x + y", "--select", "text=concat('k', cast(k as string))"], ["x", "y", "k"],
                    lambda r: (None if r["x"] is None or r["y"] is None else r["x"] + r["y"], f"k{r['k']}"), None, None),
    "limit": (["--select", "k", "--select", "x", "--limit", "9"], ["k", "x"], lambda r: (r["k"], r["x"]), None, 9),
    "struct": (["--select", "s", "--select", "k"], ["s", "k"], lambda r: (r["k"], repr(r["s"])), None, None),
    "child": (["--select", "a=s.a", "--select", "x"], ["s", "x"], lambda r: (r["s"]["a"] if r["s"] else None, r["x"]), None, None),
    "constant": (["--select", "one=1"], [], lambda r: (1,), None, None),
}


def values(table):
    """Rows of an Arrow table without provenance, columns by name; structs as text."""
    names = sorted(n for n in table.column_names if n != "__source_row_id")
    return [tuple(repr(r[n]) if isinstance(r[n], dict) else r[n] for n in names) for r in table.to_pylist()]


def source_rows(path, version, shape):
    """provenance id -> view row, by a direct read of the source."""
    _, columns, row, keep, _ = SHAPES[shape]
    read = lance.dataset(path, version=version).scanner(columns=columns or ["k"], with_row_id=True).to_table().to_pylist()
    return {r["_rowid"]: row(r) for r in read if keep is None or keep(r)}


def check_rows(view, want, shape, note):
    limit = SHAPES[shape][4]
    ids = view["__source_row_id"].to_pylist()
    assert len(set(ids)) == len(ids), note
    held = dict(zip(ids, values(view)))
    if limit is None:
        assert held == want, note
    else:
        assert all(want.get(i) == row for i, row in held.items()), note
        assert len(held) == min(limit, len(want)), note


class Views:
    """One view of each shape over the source of a history, refreshed by the program."""

    def __init__(self, glaive, history, shapes):
        self.glaive, self.history, self.shapes = glaive, history, shapes
        self.log = []
        self.modes = collections.Counter()
        for shape in shapes:
            glaive.run("view", "create", shape, "--source", "t", *SHAPES[shape][0])

    def refresh(self, shape, *options):
        version = int(options[1]) if options else lance.dataset(self.history.path).version
        note = f"seed {self.history.seed}, {shape} at {version}: {self.log}"
        try:
            result = self.glaive.refresh(shape, *options)
        except GlaiveError as error:  # the type of x or the columns differ at that version
            assert "does not produce this view's schema" in str(error) or "dropped or renamed" in str(error), (note, error)
            return None
        assert result["source_version"] == version, note
        self.modes[result["mode"], result.get("reason", "")] += 1
        check_rows(self.glaive.read(shape), source_rows(self.history.path, version, shape), shape, (note, result))
        return result

    def step(self):
        self.log.append(self.history.step())
        shape = self.history.random.choice(self.shapes)
        if self.history.chance(0.3):  # any version, forwards or backwards
            self.refresh(shape, "--source-version", self.history.random.randrange(1, self.history.table.version + 1))
        elif self.history.chance(0.7):
            self.refresh(shape)


def run_sequence(glaive, connection, seed, length):
    history = History(glaive.db, connection, seed)
    history.seed = seed
    shapes = history.random.sample(sorted(SHAPES), 3)
    views = Views(glaive, history, shapes)
    for _ in range(length):
        views.step()
    for shape in shapes:
        views.refresh(shape)
    return views


def test_random_histories(glaive, tmp_path):
    """Rows are those of the query at the watermark after every step; sampled: LanceDB reads the same and says no_op."""
    modes = collections.Counter()
    for i in range(SEQUENCES):
        glaive.db = tmp_path / f"db{i}"
        connection = lancedb.connect(str(glaive.db))
        views = run_sequence(glaive, connection, SEED * 1000003 + i, LENGTH)
        modes += views.modes
        if i % 10 == 0:
            for shape in views.shapes:
                if views.refresh(shape) is not None:
                    assert values(connection.open_table(shape).to_arrow()) == values(glaive.read(shape))
                    assert connection.open_materialized_view(shape).refresh().mode == "no_op"
        import shutil

        shutil.rmtree(glaive.db)
    print(dict(modes))
    assert modes["incremental", ""] > 0
    reasons = {reason for mode, reason in modes if mode == "rebuild"}
    assert reasons <= {"input_identity", "too_many_changes", "limit"}
