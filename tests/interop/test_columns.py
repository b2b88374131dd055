"""Columns and metadata changed by Glaive and by pylance on twin tables: the same rows, field ids, files and row versions,
and the other engine goes on working. Checklist items 17, 18, 34 and 38 of the table format."""
import os
import random
import shutil

import pyarrow as pa
import pytest
from conftest import GlaiveError

lance = pytest.importorskip("lance")

LONG = bool(os.environ.get("GLAIVE_LONG"))
VERSIONS = ["2.0", "2.1", "2.2"]


def field_tree(field):
    return (field.name(), field.id(), [field_tree(child) for child in field.children()])


def rows_of(dataset):
    names = dataset.schema.names
    extra = ["_row_created_at_version", "_row_last_updated_at_version"] if dataset.has_stable_row_ids else []
    return dataset.to_table(columns=names + extra, with_row_id=True).to_pylist()


def state(dataset):
    """Everything that must not depend on who made a change."""
    return {
        "version": dataset.version,
        "schema": [(f.name, str(f.type), f.nullable, f.metadata) for f in dataset.schema],
        "ids": [field_tree(f) for f in dataset.lance_schema.fields()],
        "files": [
            (f.fragment_id, [(tuple(d.fields), tuple(d.column_indices)) for d in f.metadata.files], f.metadata.physical_rows)
            for f in dataset.get_fragments()
        ],
        "rows": rows_of(dataset),
    }


class Twins:
    """One table twice: `ours` is changed by Glaive, `theirs` by pylance."""

    def __init__(self, glaive, db):
        self.glaive = glaive
        self.ours = str(db / "ours.lance")
        self.theirs = str(db / "theirs.lance")

    def create(self, data, **options):
        for path in (self.ours, self.theirs):
            shutil.rmtree(path, ignore_errors=True)
            lance.write_dataset(data, path, **options)

    def both(self, change):
        """The same change of pylance to both."""
        for path in (self.ours, self.theirs):
            change(lance.dataset(path))

    def columns(self, *words):
        return self.glaive.json("table", "columns", words[0], "ours", *words[1:])

    def add(self, expressions):
        self.columns("add", *(f"{name}={text}" for name, text in expressions.items()))
        lance.dataset(self.theirs).add_columns(expressions)

    def add_nulls(self, *fields):
        self.columns("add", *(word for f in fields for word in ("--null", f"{f.name}={f.type}")))
        lance.dataset(self.theirs).add_columns(pa.schema(list(fields)))

    def alter(self, *changes):
        words = []
        for change in changes:
            path = change["path"]
            words += ["--rename", f"{path}={change['name']}"] if "name" in change else []
            words += ["--type", f"{path}={change['data_type']}"] if "data_type" in change else []
            words += ["--nullable" if change["nullable"] else "--not-null", path] if "nullable" in change else []
        self.columns("alter", *words)
        lance.dataset(self.theirs).alter_columns(*changes)

    def drop(self, *paths):
        self.columns("drop", *paths)
        lance.dataset(self.theirs).drop_columns(list(paths))

    def check(self):
        ours, theirs = lance.dataset(self.ours), lance.dataset(self.theirs)
        ours.validate()
        is_, should_be = state(ours), state(theirs)
        for key, expected in should_be.items():
            assert is_[key] == expected, key
        assert self.glaive.read("ours").to_pylist() == theirs.to_table().to_pylist()

    def refused(self, code, part, ours, theirs):
        """Both refuse, and neither leaves a version."""
        versions = [lance.dataset(path).version for path in (self.ours, self.theirs)]
        with pytest.raises(GlaiveError) as error:
            ours()
        assert error.value.code == code and part in str(error.value)
        if theirs is not None:
            with pytest.raises(Exception):
                theirs(lance.dataset(self.theirs))
            assert lance.dataset(self.theirs).version == versions[1]
        assert lance.dataset(self.ours).version == versions[0]


@pytest.fixture
def twins(glaive, db):
    db.mkdir()
    return Twins(glaive, db)


def data(nested=True):
    count = 12
    columns = {
        "a": pa.array([None if i % 5 == 0 else i for i in range(count)], pa.int32()),
        "s": pa.array([None if i % 4 == 0 else f"t{i}" for i in range(count)]),
        "f": pa.array([i / 2 for i in range(count)], pa.float64()),
        "l": pa.array([None if i % 6 == 0 else list(range(i % 4)) for i in range(count)], pa.list_(pa.int32())),
    }
    if nested:
        inner = pa.struct([("k", pa.int32()), ("t", pa.string())])
        columns["st"] = pa.array(
            [None if i % 7 == 3 else {"p": i, "q": f"q{i}", "in": None if i % 3 == 0 else {"k": i, "t": str(i)}} for i in range(count)],
            pa.struct([("p", pa.int64()), ("q", pa.string()), ("in", inner)]),
        )
        columns["ls"] = pa.array(
            [None if i % 5 == 1 else [{"x": i, "y": str(k)} for k in range(i % 3)] for i in range(count)],
            pa.list_(pa.struct([("x", pa.int64()), ("y", pa.string())])),
        )
    table = pa.table(columns)
    fields = [pa.field(f.name, f.type, f.name != "f") for f in table.schema]
    return table.cast(pa.schema(fields))


@pytest.fixture(params=[(v, s) for v in VERSIONS for s in (True, False)], ids=lambda p: f"{p[0]}-{'stable' if p[1] else 'plain'}")
def small(request, twins):
    """Three fragments, in one of which rows are deleted: the first, the last, and some between."""
    version, stable = request.param
    twins.create(data(version != "2.0"), data_storage_version=version, enable_stable_row_ids=stable, max_rows_per_file=5)
    twins.both(lambda d: d.delete("f = 2.5 or f = 3.5 or f = 4.5"))
    twins.version = version
    return twins


def test_add(small):
    small.add({"twice": "a * 2", "up": "upper(s)"})
    small.check()
    small.add({"again": "twice + 1"})
    small.add({"one": "1", "word": "'w'", "maybe": "nullif(f, 2)"})
    small.check()
    small.add({"copy": "l", "renamed": "s"})
    small.check()


def test_add_nulls(small):
    small.add_nulls(pa.field("n", pa.int64()), pa.field("t", pa.timestamp("us", "UTC")))
    small.check()
    small.add({"c": "CAST(NULL AS bigint)", "d": "CAST(NULL AS string)"})
    small.check()
    small.add({"m": "CAST(NULL AS bigint)", "one": "1"})
    small.check()
    small.add_nulls(pa.field("nested", pa.struct([("x", pa.int32()), ("y", pa.list_(pa.string()))])))
    small.check()


def test_deleted_rows_do_not_fail(small):
    small.add({"q": "cast(10 as bigint) / cast(f * 2 - 7 as bigint)"})  # f = 3.5 was deleted
    small.check()
    small.refused(
        1,
        "ivide by zero",
        lambda: small.columns("add", "r=cast(10 as bigint) / cast(f * 2 - 6 as bigint)"),
        lambda d: d.add_columns({"r": "cast(10 as bigint) / cast(f * 2 - 6 as bigint)"}),
    )


def test_refused_additions(small):
    def both(code, part, name, expression="1"):
        small.refused(code, part, lambda: small.columns("add", f"{name}={expression}"), lambda d: d.add_columns({name: expression}))

    both(4, "already exists", "a", "a + a")
    both(4, "Type conflicts", "a", "s")
    both(1, "nope", "x", "nope + 1")
    both(1, "", "x", "sum(a)")
    both(1, "", "x", "other + 1")
    small.refused(1, "reserved", lambda: small.columns("add", "_rowid=1"), None)  # pylance writes a table nobody can read
    small.refused(4, "two columns 'x'", lambda: small.columns("add", "x=1", "x=2"), None)
    with pytest.raises(GlaiveError) as error:
        small.columns("add", '"x.y"=1')
    assert error.value.code == 1 and "dot" in str(error.value)
    small.check()


def test_rename_and_nullability(small):
    small.alter({"path": "a", "name": "b"})
    small.alter({"path": "f", "nullable": True}, {"path": "s", "name": "text"})
    small.check()
    small.alter({"path": "f", "nullable": False})
    small.alter({"path": "b", "name": "text"}, {"path": "text", "name": "b"})
    small.check()
    small.alter({"path": "f", "nullable": False})  # it is already
    small.check()
    if small.version != "2.0":
        small.alter({"path": "st.p", "name": "pp"}, {"path": "st.in", "name": "inner"}, {"path": "ls.item.x", "name": "xx"})
        small.check()
        small.alter({"path": "st.q", "name": "q.q"})
        small.check()
        small.alter({"path": "st.`q.q`", "name": "q"})
        small.check()


def test_refused_alterations(small):
    def both(code, part, *changes):
        words = []
        for change in changes:
            path = change["path"]
            words += ["--rename", f"{path}={change['name']}"] if "name" in change else []
            words += ["--type", f"{path}={change['data_type']}"] if "data_type" in change else []
            words += ["--nullable" if change["nullable"] else "--not-null", path] if "nullable" in change else []
        small.refused(code, part, lambda: small.columns("alter", *words), lambda d: d.alter_columns(*changes))

    both(3, "no column 'nope'", {"path": "nope", "name": "x"})
    both(4, "two columns", {"path": "a", "name": "s"})
    both(1, "dot", {"path": "a", "name": "x.y"})
    both(1, "NULL values", {"path": "s", "nullable": False})
    both(1, "apply the cast first", {"path": "s", "nullable": False}, {"path": "a", "data_type": pa.int64()})
    both(1, "Cannot cast", {"path": "a", "data_type": pa.string()})
    both(1, "Cannot cast", {"path": "f", "data_type": pa.int64()})
    both(1, "Cannot cast", {"path": "l", "data_type": pa.list_(pa.float32())})
    both(1, "Cannot cast", {"path": "s", "data_type": pa.binary()})
    if small.version != "2.0":
        both(1, "NULL values", {"path": "st.p", "nullable": False})
        both(3, "no column 'st.x'", {"path": "st.x", "name": "y"})
    # What pylance lets pass leaves a table that it cannot work with any more.
    small.refused(1, "no name", lambda: small.columns("alter", "--rename", "a="), None)
    small.refused(1, "reserved", lambda: small.columns("alter", "--rename", "a=_rowid"), None)
    small.refused(1, "altered twice", lambda: small.columns("alter", "--rename", "a=x", "--rename", "a=y"), None)
    if small.version != "2.0":
        small.refused(4, "two columns 'st.q'", lambda: small.columns("alter", "--rename", "st.p=q"), None)
    small.check()


def test_cast(small):
    small.alter({"path": "a", "data_type": pa.int64()})
    small.check()
    small.alter({"path": "a", "data_type": pa.int16(), "name": "short"}, {"path": "f", "data_type": pa.float32()})
    small.check()
    small.alter({"path": "s", "data_type": pa.large_string()}, {"path": "l", "data_type": pa.large_list(pa.int64())})
    small.check()
    small.alter({"path": "l", "data_type": pa.list_(pa.int32())})
    small.check()
    small.add({"big": "cast(short as bigint) * 1000000"})
    small.refused(
        1, "column 'big'", lambda: small.columns("alter", "--type", "big=int8"), lambda d: d.alter_columns({"path": "big", "data_type": pa.int8()})
    )
    small.check()


def test_cast_parts(small):
    if small.version == "2.0":
        pytest.skip("no structs with nulls")
    small.alter({"path": "st.p", "data_type": pa.int32()})
    small.check()
    small.alter({"path": "st.in.k", "data_type": pa.int64()}, {"path": "ls.item.x", "data_type": pa.int16()})
    small.check()
    small.alter({"path": "st.in.t", "data_type": pa.large_string(), "name": "text"})
    small.check()


def test_every_cast(twins):
    """The pairs of types that are allowed, and their values."""
    small = {"int8": [1, None, -7], "uint8": [1, None, 7], "int32": [1, None, 77], "int64": [5, None, 7], "uint64": [1, None, 2]}
    columns = {name: pa.array(values, getattr(pa, name)()) for name, values in small.items()}
    columns |= {
        "half": pa.array([1.5, None, 2], pa.float16()),
        "float": pa.array([1.5, None, 2], pa.float32()),
        "double": pa.array([0.5, None, 2], pa.float64()),
        "bool": pa.array([True, None, False]),
        "string": pa.array(["a", None, "ä"]),
        "large": pa.array(["a", None, ""], pa.large_string()),
        "binary": pa.array([b"a", None, b""]),
        "date": pa.array([0, None, 19000], pa.date32()),
        "date64": pa.array([0, None, 86400000], pa.date64()),
        "ts": pa.array([0, None, 86400000], pa.timestamp("ms")),
        "tz": pa.array([0, None, 86400000], pa.timestamp("us", "UTC")),
        "time": pa.array([0, None, 5], pa.time32("s")),
        "time64": pa.array([0, None, 5000000000], pa.time64("ns")),
        "dur": pa.array([0, None, 5], pa.duration("s")),
        "dec": pa.array([1, None, 2], pa.decimal128(10, 2)),
        "dec256": pa.array([1, None, 2], pa.decimal256(50, 2)),
        "list": pa.array([[1, 2], None, [3, None]], pa.list_(pa.int32())),
        "vector": pa.array([[1, 2], None, [3, 4]], pa.list_(pa.float32(), 2)),
        "words": pa.array([["a"], None, []], pa.list_(pa.string())),
    }
    targets = [pa.int8(), pa.int32(), pa.int64(), pa.uint16(), pa.uint64(), pa.float32(), pa.float64(), pa.bool_(), pa.string(), pa.large_string()]
    targets += [pa.binary(), pa.large_binary(), pa.date32(), pa.date64(), pa.timestamp("s"), pa.timestamp("us"), pa.timestamp("ns", "UTC")]
    targets += [pa.time32("ms"), pa.time64("us"), pa.duration("ms"), pa.decimal128(12, 3), pa.decimal256(60, 1), pa.list_(pa.int64())]
    targets += [pa.large_list(pa.int8()), pa.list_(pa.float64()), pa.list_(pa.float64(), 2), pa.list_(pa.large_string())]
    pairs = [(name, target) for name in columns for target in targets]
    wrong = []
    for name, target in pairs if LONG else random.Random(5).sample(pairs, 100):
        twins.create(pa.table({"c": columns[name], "k": [1, 2, 3]}))
        done = [True, True]
        for i, change in enumerate((
            lambda: twins.columns("alter", "--type", f"c={target}"),
            lambda: lance.dataset(twins.theirs).alter_columns({"path": "c", "data_type": target}),
        )):
            try:
                change()
            except (GlaiveError, OSError, ValueError):
                done[i] = False
        ours, theirs = state(lance.dataset(twins.ours)), state(lance.dataset(twins.theirs))
        if done[0] != done[1] or ours != theirs:
            wrong.append((name, str(target), done, ours["rows"], theirs["rows"]))
    assert wrong == []


def test_drop(small):
    small.drop("s")
    small.check()
    small.add({"x": "a + 1", "y": "f + 1"})
    small.drop("x")
    small.add({"z": "a + 2"})  # the id that x had is in a file, so z gets another one
    small.check()
    small.drop("z", "y")
    small.add({"z": "a + 2"})  # and here it is free again
    small.check()
    small.refused(3, "no column 'nope'", lambda: small.columns("drop", "a", "nope"), lambda d: d.drop_columns(["a", "nope"]))
    small.refused(3, "no column 'A'", lambda: small.columns("drop", "A"), lambda d: d.drop_columns(["A"]))
    names = lance.dataset(small.theirs).schema.names
    small.refused(1, "Cannot drop all columns", lambda: small.columns("drop", *names), lambda d: d.drop_columns(names))
    small.drop(*names[1:])
    small.check()


def test_drop_parts(small):
    if small.version == "2.0":
        pytest.skip("no structs with nulls")
    small.drop("st.p")
    small.check()
    if small.version == "2.2":
        small.drop("ls.item.y")
        small.check()
    else:  # pylance would drop all of ls
        small.refused(1, "cannot be dropped without column 'ls'", lambda: small.columns("drop", "ls.item.y"), None)
    small.drop("st.in.k", "st.q")
    small.check()
    small.drop("st.in.t", "l.item")
    small.check()
    assert "st" not in lance.dataset(small.ours).schema.names
