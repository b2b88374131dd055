"""Columns whose parts lie in several data files of one fragment: fields of structs that pylance added, or stored anew with another
type, after the table was written. Glaive reads them as pylance does."""
import lance
import pyarrow as pa
import pytest

PAIR = pa.struct([("a", pa.int32()), ("b", pa.utf8())])
ROWS = [{"a": 1, "b": "x"}, None, {"a": None, "b": "y"}, {"a": 3, "b": None}]
WHOLE = [{"a": 1, "b": "x"}, {"a": 2, "b": "z"}, {"a": None, "b": "y"}, {"a": 3, "b": None}]
MORE = pa.struct([("c", pa.int32())])
BOTH = ["2.1", "2.2"]
COLUMNS = {
    "struct": (pa.array(ROWS, PAIR), "x.a"),
    "text": (pa.array(ROWS, PAIR), "x.b"),
    "struct in struct": (pa.array([{"t": ROWS[0], "k": 1}, None, {"t": None, "k": None}, {"t": ROWS[2], "k": 3}],
                                  pa.struct([("t", PAIR), ("k", pa.int64())])), "x.t.a"),
    "list": (pa.array([[ROWS[0]], None, [], ROWS[1:3]], pa.list_(PAIR)), "x.item.a"),
    "list in struct": (pa.array([{"l": ROWS, "k": 1}, None, {"l": None, "k": None}, {"l": [], "k": 3}],
                                pa.struct([("l", pa.list_(PAIR)), ("k", pa.int64())])), "x.l.item.a"),
    "beside a list": (pa.array([{"l": ROWS, "k": 1}, None, {"l": None, "k": None}, {"l": [], "k": 3}],
                               pa.struct([("l", pa.list_(PAIR)), ("k", pa.int64())])), "x.k"),
}


def new_table(db, column, version):
    table = pa.table({"i": [1, 2, 3, 4] * 50, "x": pa.concat_arrays([column] * 50)})
    return lance.write_dataset(table, db / "t.lance", data_storage_version=version, max_rows_per_file=120)


def compare(glaive, db, *texts):
    """The whole table and the texts, as pylance has them; some rows by their numbers."""
    dataset = lance.dataset(db / "t.lance")
    assert all(len(f.metadata.files) > 1 for f in dataset.get_fragments())
    expected = dataset.to_table()
    assert glaive.read("t").to_pylist() == expected.to_pylist()
    for text in texts:
        rows = dataset.to_table(columns={"i": "i", "v": text}).to_pylist()
        assert glaive.query(f"SELECT i, {text} AS v FROM t").to_pylist() == rows, text
    if not pa.types.is_list(expected.schema.field("x").type):  # there the reference looks at one file only
        filtered = dataset.to_table(filter="x IS NULL")
        assert glaive.query("SELECT * FROM t WHERE x IS NULL").to_pylist() == filtered.to_pylist()
    assert glaive.query("SELECT * FROM t WHERE i = 3").to_pylist() == dataset.to_table(filter="i = 3").to_pylist()


@pytest.mark.parametrize("version", BOTH)
@pytest.mark.parametrize("name", COLUMNS)
def test_another_type(glaive, db, name, version):
    column, path = COLUMNS[name]
    dataset = new_table(db, column, version)
    wide = {"x.b": pa.large_utf8(), "x.k": pa.int32()}.get(path, pa.int64())
    dataset.alter_columns({"path": path, "data_type": wide})
    compare(glaive, db, *([path] if "item" not in path else []))


@pytest.mark.parametrize("columns", [["x.a"], ["x.a", "x.b"]], ids=str)
def test_another_type_20(glaive, db, columns):
    dataset = new_table(db, pa.array(WHOLE, PAIR), "2.0")
    expected = dataset.to_table().to_pylist()
    wide = {"x.a": pa.int64(), "x.b": pa.large_utf8()}
    dataset.alter_columns(*[{"path": c, "data_type": wide[c]} for c in columns])
    assert glaive.read("t").to_pylist() == expected
    if len(columns) == 2:
        compare(glaive, db, "x.a")
    else:
        with pytest.raises(pa.ArrowInvalid, match="projection supplied fewer column indices"):  # the reference does not read its own
            lance.dataset(db / "t.lance").to_table()


def test_another_type_20_list(glaive, db):
    """Neither does the reference."""
    dataset = new_table(db, pa.array([[WHOLE[0]], [], None, WHOLE[1:3]], pa.list_(PAIR)), "2.0")
    dataset.alter_columns({"path": "x.item.a", "data_type": pa.int64()})
    with pytest.raises(Exception):
        lance.dataset(db / "t.lance").to_table()
    with pytest.raises(Exception, match="offsets of lists lie in another file"):
        glaive.read("t")


def add(dataset, more):
    """A field of x for all rows, in files of its own."""
    def values(batch):
        assert batch.num_rows % len(more) == 0
        return pa.record_batch([pa.concat_arrays([more] * (batch.num_rows // len(more)))], ["x"])

    dataset.add_columns(lance.batch_udf(output_schema=pa.schema([pa.field("x", more.type)]))(values))


ADDED = {
    "null differs": (pa.array(ROWS, PAIR), pa.array([{"c": 10}, {"c": 20}, None, None], MORE), ["x.c", "x.a", "x IS NULL", "x.c + x.a"]),
    "null in both": (pa.array(ROWS, PAIR), pa.array([{"c": 10}, None, {"c": None}, None], MORE), ["x.c", "x IS NULL"]),
    "struct in struct": (COLUMNS["struct in struct"][0], pa.array([{"t": {"c": 1}}, {"t": None}, None, {"t": {"c": 5}}], pa.struct([("t", MORE)])),
                         ["x.t.c", "x.t", "x.t IS NULL", "x.k"]),
    "list": (COLUMNS["list"][0], pa.array([[{"c": 1}], None, [], [{"c": 2}, None]], pa.list_(MORE)), ["x"]),
    "list, null or empty": (COLUMNS["list"][0], pa.array([[{"c": 1}], [], None, [{"c": 2}, None]], pa.list_(MORE)), ["x"]),
}


@pytest.mark.parametrize("name", ADDED)
def test_added_fields(glaive, db, name):
    column, more, texts = ADDED[name]
    add(new_table(db, column, "2.2"), more)
    compare(glaive, db, *texts)


def test_added_lists_of_other_lengths(glaive, db):
    dataset = new_table(db, COLUMNS["list"][0], "2.2")
    add(dataset, pa.array([[{"c": 1}] * 2, None, [], [{"c": 2}, None]], pa.list_(MORE)))
    with pytest.raises(Exception):  # a panic
        lance.dataset(db / "t.lance").to_table()
    with pytest.raises(Exception, match="the lists of 'x' differ between the files that hold them"):
        glaive.read("t")


def test_added_without_values(glaive, db):
    dataset = new_table(db, pa.array(ROWS, PAIR), "2.2")
    dataset.add_columns(pa.field("x", MORE))
    rows = lance.dataset(db / "t.lance").to_table()
    assert glaive.read("t").to_pylist() == rows.to_pylist()
    assert glaive.query("SELECT x.c AS c FROM t WHERE x IS NULL").to_pylist() == [{"c": None}] * 50


def test_several_times(glaive, db):
    """Deletions, a dropped field, and an append after it."""
    dataset = new_table(db, pa.array(ROWS, PAIR), "2.2")
    add(dataset, pa.array([{"c": 10}, {"c": 20}, None, None], MORE))
    dataset.alter_columns({"path": "x.a", "data_type": pa.int64()})
    dataset.delete("i = 2")
    compare(glaive, db, "x.a", "x.c", "x")
    dataset.drop_columns(["x.b"])
    compare(glaive, db, "x")
    glaive.write("t", lance.dataset(db / "t.lance").to_table(), "--append")
    assert glaive.read("t").to_pylist() == lance.dataset(db / "t.lance").to_table().to_pylist()
