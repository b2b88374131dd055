"""Columns and metadata changed by Glaive and by pylance on twin tables: the same rows, field ids, files and row versions,
and the other engine goes on working. Checklist items 17, 18, 34 and 38 of the table format."""
import os
import random
import shutil
import threading

import pyarrow as pa
import pytest
from capi import Connection
from conftest import GlaiveError

lance = pytest.importorskip("lance")
lancedb_index = pytest.importorskip("lancedb.index")

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


@pytest.mark.parametrize("stable", [True, False])
def test_parts_in_2_0(twins, stable):
    struct = pa.struct([("p", pa.int64()), ("q", pa.string())])
    rows = pa.array([{"p": i, "q": f"q{i}"} for i in range(9)], struct)
    twins.create(
        pa.table({"k": range(9), "st": rows}), data_storage_version="2.0", enable_stable_row_ids=stable, max_rows_per_file=4
    )
    twins.both(lambda d: d.delete("k in (0, 5)"))
    # pylance casts, and cannot read the table any more
    twins.refused(1, "nobody reads a struct of version 2.0", lambda: twins.columns("alter", "--type", "st.p=int32"), None)
    twins.alter({"path": "st.p", "name": "pp"})
    twins.check()
    twins.drop("st.pp")
    twins.check()
    twins.alter({"path": "k", "data_type": pa.int32()})
    twins.check()


@pytest.mark.parametrize("stable", [True, False])
def test_add_parts(twins, stable):
    """A struct for the name of a struct: version 2.2 adds its fields, the others refuse."""
    for version in ("2.1", "2.2"):
        twins.create(data(), data_storage_version=version, enable_stable_row_ids=stable, max_rows_per_file=5)
        twins.both(lambda d: d.delete("f = 2.5 or f = 4.5"))
        if version == "2.1":
            twins.refused(
                1, "add sub column", lambda: twins.columns("add", "st=named_struct('r', a)"), lambda d: d.add_columns({"st": "named_struct('r', a)"})
            )
            continue
        twins.add({"st": "named_struct('r', a)"})
        twins.check()
        twins.add({"st": "named_struct('in', named_struct('new', f), 'u', s)", "top": "a + 1"})
        twins.check()
        twins.add_nulls(pa.field("st", pa.struct([("z", pa.int32())])), pa.field("ls", pa.list_(pa.struct([("z", pa.string())]))))
        twins.check()
        twins.refused(
            4, "already exists", lambda: twins.columns("add", "st=named_struct('q', s)"), lambda d: d.add_columns({"st": "named_struct('q', s)"})
        )
        twins.drop("st.r", "st.in.new")
        twins.check()


def test_indexes(twins):
    twins.create(pa.table({"a": range(100), "b": range(100), "c": range(100)}), max_rows_per_file=40, enable_stable_row_ids=True)
    for name in ("a", "b"):
        twins.both(lambda d: d.create_scalar_index(name, "BTREE"))
    twins.refused(
        1, "index 'a_idx'", lambda: twins.columns("alter", "--type", "a=int32"), lambda d: d.alter_columns({"path": "a", "data_type": pa.int32()})
    )
    twins.add({"d": "a + b"})
    twins.alter({"path": "a", "name": "renamed"})
    twins.check()
    for path in (twins.ours, twins.theirs):
        assert [(i["name"], i["fields"]) for i in lance.dataset(path).list_indices()] == [("a_idx", ["renamed"]), ("b_idx", ["b"])]
    twins.drop("b")
    twins.check()
    for path in (twins.ours, twins.theirs):
        dataset = lance.dataset(path)
        assert [i["name"] for i in dataset.list_indices()] == ["a_idx"]
        assert dataset.to_table(filter="renamed = 77").num_rows == 1


@pytest.mark.parametrize("stable", [True, False])
@pytest.mark.parametrize("version", VERSIONS)
def test_the_other_engine_goes_on(twins, version, stable):
    """Append, update, delete, index, compact and columns by pylance after each change of ours."""
    twins.create(data(version != "2.0"), data_storage_version=version, enable_stable_row_ids=stable, max_rows_per_file=5)

    def go_on():
        def change(dataset):
            more = dataset.to_table(limit=3)
            dataset.insert(more)
            dataset.update({"f": "f + 100"}, where="f < 2")
            dataset.delete("f = 103.5")
            dataset.optimize.compact_files()
            dataset.create_scalar_index("f", "BTREE", replace=True)
            dataset.add_columns({"tmp": "f + 1"})
            dataset.drop_columns(["tmp"])
            assert dataset.to_table(filter="f = 100.5").num_rows == dataset.count_rows("f = 100.5") > 0

        twins.both(change)
        twins.check()

    twins.add({"x": "a + 1", "y": "upper(s)"})
    go_on()
    twins.alter({"path": "x", "data_type": pa.int64()}, {"path": "s", "name": "text"})
    go_on()
    twins.drop("l", "y")
    twins.add_nulls(pa.field("l", pa.int8()))
    go_on()
    if version != "2.0":
        twins.alter({"path": "st.p", "data_type": pa.int16()})
        twins.drop("st.in.t")
        go_on()


class Machine:
    """A random sequence of changes, each made by Glaive to one twin and by pylance to the other, or by pylance to both."""

    TYPES = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string(), pa.large_string()]

    def __init__(self, twins, seed):
        self.twins = twins
        self.random = random.Random(seed)
        self.counter = 0
        version = self.random.choice(VERSIONS)
        self.parts = version != "2.0"
        twins.create(
            data(self.parts),
            data_storage_version=version,
            enable_stable_row_ids=self.random.random() < 0.6,
            max_rows_per_file=self.random.choice([3, 5, 20]),
        )

    def fields(self):
        return list(lance.dataset(self.twins.theirs).schema)

    def paths(self):
        found = []

        def walk(prefix, fields):
            for f in fields:
                found.append(prefix + f.name)
                if pa.types.is_struct(f.type):
                    walk(prefix + f.name + ".", [f.type.field(i) for i in range(f.type.num_fields)])

        walk("", self.fields())
        return found

    def name(self):
        self.counter += 1
        return f"n{self.counter}"

    def number(self):
        """A column to compute with, or none."""
        fields = [f.name for f in self.fields() if pa.types.is_integer(f.type) or pa.types.is_floating(f.type)]
        return self.random.choice(fields) if fields else None

    def add(self):
        column = self.number()
        choices = ["1", "'word'", "CAST(NULL AS bigint)", self.random.choice([f.name for f in self.fields()])]
        choices += [f"{column} + 1", f"nullif({column}, 3)", f"{column} IS NULL"] if column else []
        self.twins.add({self.name(): self.random.choice(choices) for _ in range(self.random.randint(1, 2))})

    def add_nulls(self):
        self.twins.add_nulls(pa.field(self.name(), self.random.choice(self.TYPES + [pa.list_(pa.int32()), pa.struct([("u", pa.int8())])])))

    def rename(self):
        self.twins.alter({"path": self.random.choice(self.paths()), "name": self.name()})

    def swap(self):
        names = [f.name for f in self.fields()]
        if len(names) > 1:
            a, b = self.random.sample(names, 2)
            self.twins.alter({"path": a, "name": b}, {"path": b, "name": a})

    def nullable(self):
        self.twins.alter({"path": self.random.choice(self.paths()), "nullable": True})

    def either(self, ours, theirs):
        """A change that may be refused, by both then."""
        done = []
        for change in (ours, lambda: theirs(lance.dataset(self.twins.theirs))):
            try:
                change()
                done.append(True)
            except (GlaiveError, OSError, ValueError) as error:
                done.append(str(error))
        assert (done[0] is True) == (done[1] is True), done

    def cast(self):
        path, target = self.random.choice(self.paths() if self.parts else [f.name for f in self.fields()]), self.random.choice(self.TYPES)
        change = {"path": path, "data_type": target}
        self.either(lambda: self.twins.columns("alter", "--type", f"{path}={target}"), lambda d: d.alter_columns(change))

    def not_null(self):
        path = self.random.choice(self.paths())
        self.either(lambda: self.twins.columns("alter", "--not-null", path), lambda d: d.alter_columns({"path": path, "nullable": False}))

    def drop(self):
        path = self.random.choice(self.paths())
        self.either(lambda: self.twins.columns("drop", path), lambda d: d.drop_columns([path]))

    def rows(self):
        column = self.number()
        action = self.random.choice(["insert", "delete", "update", "compact"])

        def change(dataset):
            if action == "insert":
                dataset.insert(dataset.to_table(limit=2))
            elif action == "delete" and column and dataset.count_rows() > 4:
                dataset.delete(f"{column} = {dataset.to_table(columns=[column], limit=1)[column][0].as_py() or 0}")
            elif action == "update" and column:
                dataset.update({column: f"{column}"}, where=f"{column} > 2")
            elif action == "compact":
                dataset.optimize.compact_files()

        self.twins.both(change)

    def step(self):
        actions = [self.add, self.add_nulls, self.rename, self.swap, self.nullable, self.not_null, self.cast, self.cast, self.drop, self.rows]
        action = self.random.choice(actions + [self.rows])
        action()
        return action.__name__


@pytest.mark.parametrize("seed", range(200 if LONG else 12))
def test_random_sequences(twins, seed):
    machine = Machine(twins, seed)
    done = []
    for _ in range(8):
        try:
            done.append(machine.step())
            twins.check()
        except Exception as error:
            raise AssertionError(f"seed {seed} after {done}") from error


def maps(path):
    dataset = lance.dataset(path)
    fields = {f.name(): f.metadata() if callable(getattr(f, "metadata", None)) else None for f in dataset.lance_schema.fields()}
    return dataset.version, dataset.config(), dataset.metadata, dataset.schema.metadata, [f.metadata for f in dataset.schema], fields


def test_metadata(twins, db):
    table = pa.table({"a": range(5), "b": range(5)}).cast(pa.schema([pa.field("a", pa.int64(), False), pa.field("b", pa.int64())]))
    twins.create(table.replace_schema_metadata({"first": "1"}))
    connection = Connection(db)
    theirs = {
        "config": lambda d, changes, replace: d.update_config(changes, replace=replace),
        "table": lambda d, changes, replace: d.update_metadata(changes, replace=replace),
        "schema": lambda d, changes, replace: d.update_schema_metadata(changes, replace=replace),
        "field": lambda d, changes, replace: d.update_field_metadata({"b": changes}, replace=replace),
    }
    try:
        for target, update in theirs.items():
            for changes, replace in [({"x": "1", "y": "2"}, False), ({"x": None, "z": "3"}, False), ({"w": "4"}, True), ({"w": None}, False)]:
                connection.set_metadata(["ours"], target, changes, "b" if target == "field" else None, replace)
                update(lance.dataset(twins.theirs), changes, replace)
                assert maps(twins.ours) == maps(twins.theirs), (target, changes)
        key = {"lance-schema:unenforced-primary-key": "true"}
        connection.set_metadata(["ours"], "field", key, "a")
        lance.dataset(twins.theirs).update_field_metadata({"a": key})
        twins.check()
        for path in (twins.ours, twins.theirs):  # pylance sees a key, and so keeps it from changing
            with pytest.raises(Exception, match="cannot be changed once set"):
                lance.dataset(path).update_field_metadata({"a": key})
    finally:
        connection.close()


def test_metadata_of_both_at_once(twins, db):
    twins.create(pa.table({"a": range(5)}))
    connection = Connection(db)
    handle = lance.dataset(twins.ours)
    connection.set_metadata(["ours"], "config", {"ours": "1"})
    handle.update_config({"theirs": "2"})
    assert lance.dataset(twins.ours).config() == {"ours": "1", "theirs": "2"}
    handle = lance.dataset(twins.ours)
    connection.set_metadata(["ours"], "config", {"ours": "2"})
    with pytest.raises(Exception, match="incompatible"):
        handle.update_config({"ours": "3"})
    connection.close()


@pytest.mark.parametrize("version", VERSIONS)
def test_many_rows(twins, version):
    """Fragments of many windows, with long runs of deleted rows at either end and holes between."""
    count = 300_000
    words = pa.array([None if i % 11 == 0 else f"word {i % 1000}" for i in range(count)])
    twins.create(
        pa.table({"k": range(count), "s": words}), data_storage_version=version, enable_stable_row_ids=True, max_rows_per_file=120_000
    )
    gone = "k < 70000 or (k > 110000 and k < 130000) or k % 7 = 3 or k > 280000 or (k > 200000 and k < 200000 + 30000)"
    twins.both(lambda d: d.delete(gone))
    twins.add({"twice": "k * 2", "up": "upper(s)", "q": "cast(1000000 as bigint) / cast(k - 69999 as bigint)"})
    twins.alter({"path": "k", "data_type": pa.int32()}, {"path": "s", "data_type": pa.large_string()})
    ours, theirs = lance.dataset(twins.ours), lance.dataset(twins.theirs)
    columns = theirs.schema.names + ["_row_created_at_version", "_row_last_updated_at_version"]
    assert ours.to_table(columns=columns, with_row_id=True) == theirs.to_table(columns=columns, with_row_id=True)
    for fragment in ours.get_fragments():
        assert all(f.file_size_bytes for f in fragment.metadata.files)
    ours.validate()


def test_lancedb_goes_on(glaive, lancedb40):
    """LanceDB 0.40 after each of our changes, on a handle that it opened before the first one."""
    table = lancedb40.create_table("t", data(), storage_options={"new_table_enable_stable_row_ids": "true"})
    table.create_index("f", config=lancedb_index.BTree())

    def rows():
        table.checkout_latest()
        return table.to_arrow().to_pylist()

    glaive.run("table", "columns", "add", "t", "x=a + 1", "y=upper(s)")
    assert [r["y"] for r in rows()] == [s.upper() if s else None for s in data()["s"].to_pylist()]
    table.add(data().slice(0, 2))
    glaive.run("table", "columns", "alter", "t", "--type", "x=int64", "--rename", "s=text", "--type", "st.p=int32")
    table.checkout_latest()  # an update of LanceDB that is computed again keeps the types it began with
    table.update(where="f = 1.5", values={"x": 7})
    assert [r["x"] for r in rows() if r["f"] == 1.5] == [7]
    glaive.run("table", "columns", "drop", "t", "y", "st.q")
    table.checkout_latest()
    table.add_columns({"z": "x + 1"})
    table.optimize()
    assert all(r["z"] == r["x"] + 1 for r in rows() if r["x"] is not None)
    assert table.schema.names == ["a", "text", "f", "l", "st", "ls", "x", "z"]
    assert glaive.read("t").to_pylist() == rows()
    glaive.run("table", "columns", "drop", "t", "f")
    table.checkout_latest()
    assert table.list_indices() == [] or all("f" not in i.columns for i in table.list_indices())


def test_racing(glaive, db):
    """Pylance appends while Glaive adds, casts and drops columns: no row is lost, and no value of another row appears."""
    db.mkdir()
    path = str(db / "t.lance")
    lance.write_dataset(pa.table({"a": pa.array(range(100), pa.int64())}), path, enable_stable_row_ids=True)
    failures = []

    def append():
        try:
            for i in range(15):
                lance.dataset(path).insert(pa.table({"a": pa.array(range(1000 + 10 * i, 1010 + 10 * i), pa.int64())}))
        except Exception as error:  # shown below
            failures.append(error)

    thread = threading.Thread(target=append)
    thread.start()
    for i in range(5):
        glaive.run("table", "columns", "add", "t", f"x{i}=a + {i}")
        glaive.run("table", "columns", "alter", "t", "--rename", f"x{i}=y{i}")
    glaive.run("table", "columns", "drop", "t", "y0", "y1")
    thread.join()
    assert failures == []
    dataset = lance.dataset(path)
    dataset.validate()
    rows = dataset.to_table().to_pylist()
    assert sorted(r["a"] for r in rows) == sorted([*range(100), *range(1000, 1150)])
    assert all(r[f"y{i}"] in (None, r["a"] + i) for r in rows for i in range(2, 5))
    assert all(r[f"y{i}"] is not None for r in rows if r["a"] < 100 for i in range(2, 5))
    assert glaive.read("t").to_pylist() == rows
