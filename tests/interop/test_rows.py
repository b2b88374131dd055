"""Deletes, updates and merges: the same by Glaive and by the reference on twin tables; handles of both on one table."""
import json
import os
import random
import shutil
import subprocess
import sys

import lance
import pyarrow as pa
import pytest
from conftest import PROGRAM, STABLE, Glaive, GlaiveError
from data import same
from every_type import TYPES, TYPES_21, Values

LONG = bool(os.environ.get("GLAIVE_LONG"))
VERSIONS = ["2.0", "2.1", "2.2"]
SYSTEM = ["_rowid", "_row_created_at_version", "_row_last_updated_at_version"]


def rows_of(n, first=0, seed=0):
    rng = random.Random(seed)
    return pa.table({"id": pa.array(range(first, first + n), pa.int64()),
                     "x": pa.array([rng.choice([None, *range(10)]) for _ in range(n)], pa.int32()),
                     "s": pa.array([rng.choice([None, "", "a", "bb", "c" * 40]) for _ in range(n)], pa.string()),
                     "l": pa.array([[i, None] if i % 3 else None for i in range(n)], pa.list_(pa.int32()))})


def state(path, stable, order=True):
    """The rows with their identity, in order or by id."""
    dataset = lance.dataset(str(path))
    dataset.validate()
    names = [f.name for f in dataset.schema]
    system = SYSTEM if stable else ["_rowid"] if order else []  # without stable ids they tell where rows stand
    rows = dataset.to_table(columns=names + system).to_pylist()
    assert dataset.count_rows() == len(rows)
    return rows if order else sorted(rows, key=lambda r: (r["id"] is None, r["id"] or 0, str(r)))


class Twins:
    """One table twice: `ours` is changed by Glaive, `theirs` by pylance."""

    def __init__(self, root, data, stable=True, version="2.2", fragment_rows=100):
        root.mkdir(exist_ok=True)
        self.stable, self.ours, self.theirs = stable, root / "t.lance", root / "theirs.lance"
        lance.write_dataset(data, str(self.theirs), enable_stable_row_ids=stable, data_storage_version=version, max_rows_per_file=fragment_rows)
        shutil.copytree(self.theirs, self.ours)
        self.glaive = Glaive(root)

    def peer(self):
        return lance.dataset(str(self.theirs))

    def delete(self, where):
        done = self.glaive.json("table", "delete", "t", "--where", where)
        assert done["rows_deleted"] == self.peer().delete(where)["num_deleted_rows"]

    def update(self, values, where=None):
        words = [w for column, value in values.items() for w in ("--set", f"{column}={value}")]
        done = self.glaive.json("table", "update", "t", *words, *(["--where", where] if where else []))
        assert done["rows_updated"] == self.peer().update(values, where)["num_rows_updated"]

    def merge(self, source, on, update=None, insert=False, delete=None):
        """update, delete: True or a condition."""
        done = merge(self.glaive, source, on, update, insert, delete)
        stats = peer_merge(self.peer(), source, on, update, insert, delete)
        assert (done["rows_inserted"], done["rows_updated"], done["rows_deleted"]) == (
            stats["num_inserted_rows"], stats["num_updated_rows"], stats["num_deleted_rows"])

    def check(self, order=True):
        assert state(self.ours, self.stable, order) == state(self.theirs, self.stable, order)
        assert lance.dataset(str(self.ours)).version == self.peer().version


def merge(glaive, source, on, update=None, insert=False, delete=None, name="t"):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, source.schema) as writer:
        writer.write_table(source, max_chunksize=37)
    words = [w for column in on for w in ("--on", column)]
    words += [f"--when-matched-update={update}" if isinstance(update, str) else "--when-matched-update"] if update else []
    words += ["--when-not-matched-insert"] if insert else []
    words += [f"--when-not-matched-by-source-delete={delete}" if isinstance(delete, str)
              else "--when-not-matched-by-source-delete"] if delete else []
    return json.loads(glaive.run("table", "merge", name, "-", "--format", "arrow", *words, "--json",
                                               stdin=sink.getvalue().to_pybytes()))


def peer_merge(dataset, source, on, update=None, insert=False, delete=None):
    builder = dataset.merge_insert(on)
    if update:
        builder = builder.when_matched_update_all(update if isinstance(update, str) else None)
    if insert:
        builder = builder.when_not_matched_insert_all()
    if delete:
        builder = builder.when_not_matched_by_source_delete(delete if isinstance(delete, str) else None)
    return builder.execute(source)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("stable", [True, False])
def test_deletes_and_updates(tmp_path, stable, version):
    twins = Twins(tmp_path, rows_of(350), stable, version)
    twins.delete("id % 7 = 3")
    twins.check()
    twins.delete("id >= 100 and id < 200")  # a whole fragment, of which some rows went before
    twins.check()
    twins.update({"x": "x + 1"}, "id % 5 = 0")
    twins.check()
    twins.update({"s": "concat(s, '!')", "x": "id"}, "x > 4")
    twins.check()
    twins.update({"l": "[1, 2]", "s": "NULL"}, "id < 3 or id > 340")
    twins.check()
    twins.update({"x": "7.9"})
    twins.check()
    twins.delete("x = 7")
    assert state(twins.ours, stable) == [] == state(twins.theirs, stable)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("stable", [True, False])
def test_merges(tmp_path, stable, version):
    twins = Twins(tmp_path, rows_of(250), stable, version)
    source = rows_of(60, 220, 7)
    twins.merge(source, ["id"], update=True, insert=True)
    twins.check(order=False)
    twins.merge(rows_of(100, 250, 8), ["id"], insert=True)
    twins.check(order=False)
    twins.merge(rows_of(200, 150, 9), ["id"], update="source.x > target.x or target.s is null")
    twins.check(order=False)
    twins.merge(rows_of(300, 60, 10), ["id"], update=True, delete=True)
    twins.check(order=False)
    twins.merge(rows_of(1, 100, 11), ["id"], delete="x > 5")
    twins.check(order=False)
    twins.merge(rows_of(50, 190, 12).select(["x", "id"]), ["id"], update=True, insert=True)  # other columns stay, or are null
    twins.check(order=False)
    twins.merge(rows_of(40, 200, 13), ["id", "s"], update=True, insert=True, delete="id < 100")
    twins.check(order=False)


def test_assignments_see_the_row_as_it_was(tmp_path):
    """The reference computes them one after the other, in an order of its own."""
    glaive = Glaive(tmp_path)
    glaive.write("t", pa.table({"a": [1], "b": [2]}))
    glaive.run("table", "update", "t", "--set", "a=b", "--set", "b=a")
    assert glaive.read("t").to_pylist() == [{"a": 2, "b": 1}]


def test_updated_rows_stand_in_the_order_of_the_table_and_inserted_ones_behind(tmp_path):
    glaive = Glaive(tmp_path)
    glaive.write("t", rows_of(10))
    merge(glaive, pa.table({"id": pa.array([30, 7, 20, 2], pa.int64()), "x": pa.array([1, 2, 3, 4], pa.int32())}), ["id"], update=True, insert=True)
    found = state(tmp_path / "t.lance", True)
    assert [r["id"] for r in found] == [0, 1, 3, 4, 5, 6, 8, 9, 2, 7, 30, 20]
    assert [r["_rowid"] for r in found][-4:] == [2, 7, 10, 11]
    assert [r["_row_created_at_version"] for r in found][-4:] == [1, 1, 2, 2]
    assert [r["_row_last_updated_at_version"] for r in found][-4:] == [2] * 4


def test_nulls_and_repeated_keys(tmp_path):
    """A null key matches nothing; one source row updates several target rows; two source rows may not update one."""
    data = pa.table({"id": pa.array([1, 1, 2, None, None, 4], pa.int64()), "x": pa.array(range(6), pa.int32())})
    twins = Twins(tmp_path, data)
    twins.merge(pa.table({"id": pa.array([1, None, 9, 9], pa.int64()), "x": pa.array([10, 11, 12, 13], pa.int32())}), ["id"], update=True, insert=True)
    twins.check(order=False)
    double = pa.table({"id": pa.array([2, 2], pa.int64()), "x": pa.array([20, 30], pa.int32())})
    for condition in (True, "source.x > target.x"):
        with pytest.raises(GlaiveError, match=r"multiple source rows match the same target row on \(id = 2\)"):
            merge(twins.glaive, double, ["id"], update=condition)
        with pytest.raises(OSError, match=r"multiple source rows match the same target row on \(id = 2\)"):
            peer_merge(twins.peer(), double, ["id"], update=condition)
    twins.merge(double, ["id"], update="source.x = 30")
    twins.check(order=False)
    twins.merge(double, ["id"], insert=True)  # nothing to insert: the reference commits, Glaive does not
    assert state(twins.ours, True, order=False) == state(twins.theirs, True, order=False)
    twins.merge(double, ["id"], delete=True)
    assert [r["x"] for r in state(twins.ours, True)] == [30]


KEYS = {"utf8": ["a", "b", None, "", "c"], "float64": [0.5, float("nan"), None, -0.0, 0.0], "bool": [True, False, None, None, None],
        "date32": [1, 2, None, 3, 4], "binary": [b"", b"x", None, b"yy", b"z"], "decimal128(9, 2)": [1, 2, None, 3, 4],
        "large_utf8": ["a", "b", None, "", "c"], "uint8": [1, 2, None, 3, 255]}


@pytest.mark.parametrize("kind", KEYS)
def test_keys_of_many_types(tmp_path, kind):
    t = pa.decimal128(9, 2) if kind.startswith("decimal") else getattr(pa, {"utf8": "string", "large_utf8": "large_string", "bool": "bool_"}.get(kind, kind))()
    table = pa.table({"k": pa.array(KEYS[kind], pa.int32() if kind == "date32" else t).cast(t), "v": pa.array(range(5), pa.int32())})
    twins = Twins(tmp_path, table)
    twins.merge(table.set_column(1, "v", pa.array(range(100, 105), pa.int32())).slice(0, 4), ["k"], update=True, insert=True, delete=True)
    key = lambda r: (str(r["k"]), r["v"])
    ours, theirs = (sorted(state_any(p), key=key) for p in (twins.ours, twins.theirs))
    assert str(ours) == str(theirs)


def state_any(path):
    return lance.dataset(str(path)).to_table(columns=["k", "v", "_rowid"]).to_pylist()


class Sequence(Twins):
    """Random changes of twins."""

    def __init__(self, root, seed, stable, version):
        self.rng = random.Random(seed)
        super().__init__(root, rows_of(self.rng.randint(1, 300), 0, seed), stable, version, self.rng.choice([20, 100, 1000]))

    def where(self):
        r = self.rng
        low = r.randrange(300)
        return r.choice([f"id % {r.randint(2, 9)} = {r.randint(0, 2)}", f"id >= {low} and id < {low + r.randint(1, 120)}", "x > 4",
                         "s is null", "s = 'a' or x < 2", "x between 3 and 6 and s is not null"])

    def source(self):
        r = self.rng
        ids = r.sample(range(400), r.randint(1, 150))
        table = rows_of(len(ids), 0, r.random()).set_column(0, "id", pa.array(ids, pa.int64()))
        return table.select(r.choice([["id", "x", "s", "l"], ["id", "x", "s", "l"], ["l", "id"], ["x", "s", "id"]]))

    def step(self):
        r, kind = self.rng, self.rng.choice(["delete", "update", "update", "merge", "merge"])
        where = self.where()
        if kind != "merge" and self.peer().count_rows(where) == 0:
            return  # the reference commits all the same, and the versions would differ
        if kind == "delete":
            self.delete(where)
        elif kind == "update":
            self.update(r.choice([{"x": "x + 1"}, {"s": "'new'"}, {"x": "id % 7", "s": "cast(id as string)"}, {"l": "NULL"}]), where)
        else:
            source = self.source()
            update = r.choice([True, True, None, "target.x > 3"] + (["source.x >= target.x"] if "x" in source.schema.names else []))
            insert, delete = r.random() < 0.7, r.choice([None, None, None, "x > 6", "id % 3 = 1"])
            found = set(self.peer().to_table(["id"])["id"].to_pylist())
            if not (update is True and found & set(source["id"].to_pylist())) and not (insert and set(source["id"].to_pylist()) - found):
                return
            self.merge(source, ["id"], update, insert, delete)
        self.check(order=False)


@pytest.mark.parametrize("seed", range(60 if LONG else 8))
def test_random_sequences(tmp_path, seed):
    twins = Sequence(tmp_path, seed, stable=seed % 4 != 3, version=VERSIONS[seed % 3])
    for _ in range(12):
        twins.step()


@pytest.mark.parametrize("version", VERSIONS)
def test_rows_of_every_type_survive(tmp_path, version):
    types = {"2.0": {k: t for k, t in TYPES_21.items() if "null" not in k and "float16" not in k}, "2.1": TYPES_21, "2.2": TYPES}[version]
    values = Values(5)
    data = pa.table({"id": pa.array(range(300), pa.int64()), **{k: values.column(t, 300) for k, t in types.items()}})
    kept, refused = {"id": data["id"]}, []
    for k in types:  # what the reference itself writes in that version
        try:
            lance.write_dataset(data.select([k]), str(tmp_path / "probe.lance"), mode="overwrite", data_storage_version=version)
            lance.dataset(str(tmp_path / "probe.lance")).to_table()
            kept[k] = data[k]
        except BaseException:  # a panic is no Exception
            refused.append(k)
    data = pa.table(kept)
    glaive = Glaive(tmp_path)
    try:
        glaive.write("t", data, "--storage-version", version)
    except GlaiveError as error:
        pytest.skip(str(error))
    before = glaive.read("t")
    glaive.run("table", "update", "t", "--set", "id=id + 1000", "--where", "id % 3 = 1")
    merge(glaive, pa.table({"id": pa.array([3, 1004], pa.int64())}), ["id"], update=True)
    moved = [i for i in range(300) if i % 3 == 1]
    order = [i for i in range(300) if i % 3 != 1 and i != 3] + [i for i in moved if i != 4] + [3, 4]
    expected = before.take(pa.array(order)).drop_columns(["id"])
    found = glaive.read("t").drop_columns(["id"])
    for name in expected.schema.names:
        if "dictionary" in name:  # which may be others, with the same values
            assert found[name].type == expected[name].type and found[name].to_pylist() == expected[name].to_pylist(), name
        else:
            same(found.select([name]), expected.select([name]))
    dataset = lance.dataset(str(tmp_path / "t.lance"))
    dataset.validate()
    assert dataset.to_table(columns=["_rowid"])["_rowid"].to_pylist() == order


def test_json_columns(tmp_path):
    glaive = Glaive(tmp_path)
    t = pa.json_(pa.utf8())
    glaive.write("t", pa.table({"id": pa.array([1, 2, 3], pa.int64()), "j": pa.ExtensionArray.from_storage(t, pa.array(['{"a":1}', "[2]", None]))}))
    glaive.run("table", "update", "t", "--set", "id=id * 10", "--where", "id = 1")
    glaive.run("table", "update", "t", "--set", """j='{"b": [true]}'""", "--where", "id = 2")
    dataset = lance.dataset(str(tmp_path / "t.lance"))
    assert dict(zip(dataset.to_table()["id"].to_pylist(), dataset.to_table()["j"].to_pylist())) == {3: None, 10: '{"a":1}', 2: '{"b":[true]}'}
    with pytest.raises(GlaiveError, match="column 'j'"):
        glaive.run("table", "update", "t", "--set", "j='{'")
    merge(glaive, pa.table({"id": pa.array([3, 4], pa.int64()), "j": pa.ExtensionArray.from_storage(t, pa.array(["1", "2"]))}), ["id"], update=True, insert=True)
    assert sorted(zip(dataset.checkout_version(4).to_table()["id"].to_pylist(), dataset.checkout_version(4).to_table()["j"].to_pylist())) == [
        (2, '{"b":[true]}'), (3, "1"), (4, "2"), (10, '{"a":1}')]


@pytest.mark.parametrize("version", VERSIONS)
def test_blob_columns(tmp_path, version):
    """Their rows can be deleted, but not written anew."""
    schema = pa.schema([pa.field("id", pa.int64()), pa.field("b", pa.large_binary(), metadata={"lance-encoding:blob": "true"})])
    path, glaive = str(tmp_path / "t.lance"), Glaive(tmp_path)
    lance.write_dataset(pa.table([range(5), [b"x" * i for i in range(5)]], schema=schema), path, data_storage_version=version)
    glaive.run("table", "delete", "t", "--where", "id = 1")
    merge(glaive, pa.table({"id": pa.array([0, 3, 4], pa.int64())}), ["id"], delete=True)
    for value in ("id=9", "b=NULL"):
        with pytest.raises(GlaiveError, match="column 'b' is a blob column"):
            glaive.run("table", "update", "t", "--set", value)
    dataset = lance.dataset(path)
    dataset.validate()
    assert dataset.version == 3 and dataset.to_table(["id"])["id"].to_pylist() == [0, 3, 4]
    assert len(list((tmp_path / "t.lance" / "data").iterdir())) == 1


REFUSED = [
    (["update", "t", "--set", "nope=1"], 3, "no column 'nope'"),
    (["update", "t", "--set", "x=1", "--set", "x=2"], 1, "set twice"),
    (["update", "t", "--set", "x=nope + 1"], 1, "nope"),
    (["update", "t", "--set", "x=300000000000"], 1, "300000000000"),
    (["update", "t", "--set", "x=s"], 1, "'a'"),
    (["update", "t", "--set", '"st.a"=1'], 1, "field of a column"),
    (["update", "t", "--set", "id=NULL"], 1, "`id` contained null values"),
    (["update", "t"], 2, "--set"),
    (["update", "t", "--set", "x"], 2, "COLUMN=EXPRESSION"),
    (["delete", "t"], 2, "--where"),
    (["delete", "t", "--where", "nope = 1"], 1, "nope"),
    (["delete", "t", "--where", ""], 1, "empty predicate"),
    (["delete", "gone", "--where", "true"], 3, "gone"),
    (["merge", "t", "-", "--format", "arrow"], 2, "--on"),
    (["merge", "t", "-", "--format", "arrow", "--on", "id"], 2, "--when-matched-update"),
]


@pytest.mark.parametrize("words,code,text", REFUSED)
def test_refusals(tmp_path, words, code, text):
    glaive = Glaive(tmp_path)
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), ("x", pa.int32()), ("s", pa.string()), ("st", pa.struct([("a", pa.int32())]))])
    glaive.write("t", pa.table([[1, 2], [1, 2], ["a", "b"], [{"a": 1}, None]], schema=schema))
    with pytest.raises(GlaiveError) as error:
        glaive.run("table", *words)
    assert error.value.code == code and text in str(error.value)
    assert lance.dataset(str(tmp_path / "t.lance")).version == 1


def test_merges_that_are_refused(tmp_path):
    glaive = Glaive(tmp_path)
    schema = pa.schema([pa.field("id", pa.int64()), pa.field("x", pa.int32(), nullable=False)])
    glaive.write("t", pa.table([[1, 2], [1, 2]], schema=schema))
    for source, on, words, text in [
        (pa.table({"id": pa.array([3], pa.int32())}), ["id"], {"update": True}, "has type int64, the data has int32"),
        (pa.table({"id": pa.array([3], pa.int64()), "y": [1]}), ["id"], {"update": True}, "no column 'y'"),
        (pa.table({"id": pa.array([3], pa.int64())}), ["nope"], {"update": True}, "'nope' does not exist"),
        (pa.table({"x": pa.array([3], pa.int32())}), ["id"], {"update": True}, "no key column 'id'"),
        (pa.table({"id": pa.array([3], pa.int64())}), ["id"], {"insert": True}, "column 'x' is missing"),
        (pa.table({"id": pa.array([1], pa.int64())}), ["id"], {"update": "x > 1"}, "x"),
        (pa.table({"id": pa.array([1], pa.int64())}), ["id"], {"update": "source.x > 1"}, "x"),
        (pa.table({"id": pa.array([1], pa.int64()), "x": pa.array([None], pa.int32())}), ["id"], {"update": True}, "`x` contained null values"),
        (pa.table({"id": pa.array([1], pa.int64())}), ["id"], {"delete": "nope"}, "nope"),
    ]:
        with pytest.raises(GlaiveError, match=text):
            merge(glaive, source, on, **words)
    assert lance.dataset(str(tmp_path / "t.lance")).version == 1
    merge(glaive, pa.table({"id": pa.array([1], pa.int64())}), ["ID"], update=True)  # names of keys in any case, as the reference
    assert lance.dataset(str(tmp_path / "t.lance")).to_table().to_pylist() == [{"id": 2, "x": 2}, {"id": 1, "x": 1}]


def test_views_are_refused(glaive):
    glaive.write("t", rows_of(5))
    glaive.run("view", "create", "v", "--as", "SELECT id, x FROM t")
    for words, text in [(["delete", "v", "--where", "true"], "cannot delete from 'v': it is a materialized view, which only refresh writes"),
                        (["update", "v", "--set", "x=1"], "cannot update 'v': it is a materialized view, which only refresh writes")]:
        with pytest.raises(GlaiveError, match=text):
            glaive.run("table", *words)
    with pytest.raises(GlaiveError, match="cannot merge insert into 'v'"):
        merge(glaive, rows_of(1).select(["id", "x"]), ["id"], update=True, name="v")


def test_merge_from_csv(glaive, tmp_path):
    """Types are those of the table; columns that the file lacks stay."""
    glaive.write("t", rows_of(3).drop_columns(["l"]))
    (tmp_path / "m.csv").write_text("x,id\n50,1\nNA,9\n")
    assert glaive.run("table", "merge", "t", tmp_path / "m.csv", "--on", "id", "--when-matched-update",
                      "--when-not-matched-insert") == b"inserted 1, updated 1, deleted 0 rows in t, version 2\n"
    before = {r["id"]: r for r in rows_of(3).drop_columns(["l"]).to_pylist()}
    assert glaive.read("t").to_pylist() == [before[0], before[2], {**before[1], "x": 50}, {"id": 9, "x": None, "s": None}]
    (tmp_path / "m.csv").write_text("y,id\n50,1\n")
    with pytest.raises(GlaiveError, match="'y'"):
        glaive.run("table", "merge", "t", tmp_path / "m.csv", "--on", "id", "--when-matched-update")


# ---- among others ----


@pytest.mark.parametrize("stable", [True, False])
def test_handles_that_were_opened_before(tmp_path, stable):
    """Their deletes and updates rebase over ours: other rows are joined, the same rows computed again."""
    glaive = Glaive(tmp_path)
    glaive.write("t", rows_of(100), *([] if stable else ["--no-stable-row-ids"]))
    path = str(tmp_path / "t.lance")
    first, second, third = (lance.dataset(path) for _ in range(3))
    glaive.run("table", "delete", "t", "--where", "id < 10")
    first.delete("id between 5 and 19")  # some of the same rows
    second.delete("id between 90 and 94")  # others of the same fragment
    glaive.run("table", "update", "t", "--set", "x=77", "--where", "id between 30 and 39")
    third.update({"s": "'third'"}, "id between 35 and 44")
    glaive.run("table", "delete", "t", "--where", "id between 40 and 42 or id = 99")
    found = {r["id"]: r for r in lance.dataset(path).to_table(columns=["id", "x", "s", "_rowid"]).to_pylist()}
    lance.dataset(path).validate()
    assert set(found) == set(range(20, 99)) - {40, 41, 42, *range(90, 95)}
    assert all(found[i]["x"] == 77 for i in range(30, 40)) and all(found[i]["s"] == "third" for i in [*range(35, 40), 43, 44])
    if stable:
        assert all(r["_rowid"] == i for i, r in found.items())


def run_both(path, db, first, second):
    """Two programs at once, each a list of arguments."""
    processes = [subprocess.Popen(words) for words in (first, second)]
    assert [p.wait() for p in processes] == [0, 0]


@pytest.mark.parametrize("stable", [True, False])
def test_changing_processes(tmp_path, stable):
    """Glaive and pylance delete, update and merge at once, on rows of their own and on shared ones."""
    glaive = Glaive(tmp_path)
    glaive.write("t", pa.table({"id": range(400), "a": [0] * 400, "b": [0] * 400}), *([] if stable else ["--no-stable-row-ids"]))
    path, rounds = str(tmp_path / "t.lance"), 20 if LONG else 6
    theirs = ("import lance, sys\nfor i in range(int(sys.argv[2])):\n    d = lance.dataset(sys.argv[1])\n"
              "    d.update({'b': 'b + 1'}, 'id % 2 = 0')\n    d.delete(f'id = {300 + 2 * i}')\n")
    ours = ('for i in $(seq 0 $(($1 - 1))); do "$0" --db "$2" table update t --set "a=a + 1" --where "id % 3 = 0" >/dev/null && '
            '"$0" --db "$2" table delete t --where "id = $((301 + 2 * i))" >/dev/null || exit 1; done')
    processes = [subprocess.Popen([sys.executable, "-c", theirs, path, str(rounds)]),
                 subprocess.Popen(["bash", "-c", ours, PROGRAM, str(rounds), str(tmp_path)])]
    assert [p.wait() for p in processes] == [0, 0]
    dataset = lance.dataset(path)
    dataset.validate()
    rows = dataset.to_table(columns=["id", "a", "b", "_rowid"]).to_pylist()
    gone = {300 + i for i in range(2 * rounds)}
    assert {r["id"] for r in rows} == set(range(400)) - gone and len(rows) == 400 - len(gone)
    for r in rows:
        assert (r["a"], r["b"]) == (rounds * (r["id"] % 3 == 0), rounds * (r["id"] % 2 == 0)), r
        assert not stable or r["_rowid"] == r["id"]


def test_indexes_stay_right(tmp_path):
    """A BTREE index answers as before, and no part of it that is not affected changes."""
    path, glaive = str(tmp_path / "t.lance"), Glaive(tmp_path)
    for stable in (True, False):
        dataset = lance.write_dataset(rows_of(600), path, mode="overwrite", enable_stable_row_ids=stable, max_rows_per_file=200)
        dataset.create_scalar_index("id", "BTREE")
        dataset.create_scalar_index("x", "BTREE")
        glaive.run("table", "delete", "t", "--where", "id % 10 = 0")
        glaive.run("table", "update", "t", "--set", "x=x + 100", "--where", "id % 4 = 1")
        glaive.run("table", "update", "t", "--set", "id=id + 10000", "--where", "id between 50 and 260")
        merge(glaive, rows_of(30, 590, 3), ["id"], update=True, insert=True)
        glaive.run("table", "delete", "t", "--where", "id between 200 and 399")  # a whole fragment
        dataset = lance.dataset(path)
        dataset.validate()
        assert {i.name for i in dataset.describe_indices()} == {"id_idx", "x_idx"}
        every = dataset.to_table(columns=["id", "x"]).to_pylist()
        for where, test in [("id = 7", lambda r: r["id"] == 7), ("id between 580 and 10100", lambda r: 580 <= r["id"] <= 10100),
                            ("x >= 100", lambda r: r["x"] is not None and r["x"] >= 100), ("x = 3", lambda r: r["x"] == 3),
                            ("id in (51, 10051, 200)", lambda r: r["id"] in (51, 10051, 200))]:
            for index in (True, False):
                found = dataset.scanner(columns=["id", "x"], filter=where, use_scalar_index=index).to_table().to_pylist()
                assert sorted(found, key=str) == sorted(filter(test, every), key=str), where
        dataset.optimize.optimize_indices()
        assert lance.dataset(path).count_rows("x >= 100") == sum(r["x"] is not None and r["x"] >= 100 for r in every)
        shutil.rmtree(path)


def fields(message):
    """(number, value) of a protobuf message; sub-messages as bytes."""
    at, found = 0, []

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(message):
        key = varint()
        if key & 7 == 0:
            found.append((key >> 3, varint()))
        else:
            size = {1: 8, 5: 4}.get(key & 7) or varint()
            found.append((key >> 3, message[at:at + size]))
            at += size
    return found


def update_of(path, version):
    """The Update message that made a version."""
    (file,) = (path / "_transactions").glob(f"{version - 1}-*.txn")
    return dict(fields(file.read_bytes()))[108]


PRIMARY = {b"lance-schema:unenforced-primary-key": b"true"}


@pytest.mark.parametrize("keys", [["k64"], ["s", "k32"], ["u"], ["bin"]])
def test_the_filter_of_inserted_keys(tmp_path, keys):
    """Merges by primary key record the keys they insert, byte for byte as the reference does; other merges do not."""
    columns = {"k64": pa.int64(), "k32": pa.int32(), "u": pa.uint64(), "s": pa.string(), "bin": pa.binary()}
    schema = pa.schema([pa.field(n, t, nullable=n not in keys, metadata=PRIMARY if n in keys else None) for n, t in columns.items()])
    schema = pa.schema([schema.field(n) for n in [*keys, *(c for c in columns if c not in keys)]])

    def data(*numbers):
        values = {"k64": list(numbers), "k32": [-n for n in numbers], "u": [2**64 - n for n in numbers], "s": [f"z{n}" for n in numbers],
                  "bin": [bytes([n]) for n in numbers]}
        return pa.table([pa.array(values[n], columns[n]) for n in schema.names], schema=schema)

    twins = Twins(tmp_path, data(1, 2, 3))
    twins.merge(data(3, 7, 9), keys, update=True, insert=True)
    twins.merge(data(1), keys, update=True)
    for version in (2, 3):
        ours, theirs = (dict(fields(dict(fields(update_of(p, version)))[8])) for p in (twins.ours, twins.theirs))
        assert ours == theirs
        assert len(dict(fields(ours[3]))[1]) == 32768
    twins.merge(data(1, 20), ["k32"] if keys != ["s", "k32"] else ["k64"], update=True, insert=True)
    assert all(8 not in dict(fields(update_of(p, 4))) for p in (twins.ours, twins.theirs))


def test_same_keys_inserted_at_once(tmp_path):
    """Two merges by primary key: the one that comes second finds the keys of the first, and updates."""
    glaive = Glaive(tmp_path)
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False, metadata=PRIMARY), ("by", pa.string())])
    glaive.write("t", pa.table([[0], ["nobody"]], schema=schema))
    source = lambda by: pa.table([[1, 2, 3], [by] * 3], schema=schema)
    early = lance.dataset(str(tmp_path / "t.lance"))
    merge(glaive, source("glaive"), ["id"], update=True, insert=True)
    assert peer_merge(early, source("lance"), ["id"], update=True, insert=True)["num_updated_rows"] == 3
    assert lance.dataset(str(tmp_path / "t.lance")).to_table().to_pylist() == [{"id": 0, "by": "nobody"}] + [{"id": i, "by": "lance"} for i in (1, 2, 3)]


@pytest.mark.parametrize("peer", ["lancedb40", "lancedb39"])
def test_lancedb_goes_on(request, glaive, db, peer):
    """Tables of LanceDB, changed by Glaive, changed again and refreshed into a view by LanceDB."""
    if peer == "lancedb40":
        lancedb40 = request.getfixturevalue("lancedb40")
        table = lancedb40.create_table("t", rows_of(50), storage_options=STABLE)
        glaive.run("table", "update", "t", "--set", "x=5", "--where", "id < 10")
        table.delete("id = 3")
        glaive.run("table", "delete", "t", "--where", "id = 4")
        table.checkout_latest()
        assert table.count_rows("x = 5 and id < 10") == 8
        table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(rows_of(5, 48, 2))
    else:
        lancedb39 = request.getfixturevalue("lancedb39")
        glaive.write("t", rows_of(50))
        lancedb39("t = db.open_table('t')")
        glaive.run("table", "update", "t", "--set", "x=5", "--where", "id < 10")
        lancedb39("t.delete('id = 3')")
        glaive.run("table", "delete", "t", "--where", "id = 4")
        lancedb39("t.checkout_latest()")
        assert lancedb39("t.count_rows('x = 5 and id < 10')") == 8
        lancedb39("t.update(where='id = 49', values={'x': 1})")
    dataset = lance.dataset(str(db / "t.lance"))
    dataset.validate()
    rows = dataset.to_table(columns=["id", "_rowid"]).to_pylist()
    assert all(r["id"] == r["_rowid"] for r in rows if r["id"] < 50) and {3, 4}.isdisjoint(r["id"] for r in rows)
