"""The schema of views, metadata included, as LanceDB writes it for the same definition."""
import json

import lance
import pyarrow as pa
import pytest

EMBEDDINGS = [{"name": "f", "model": {"z": 1, "a": [True, {"y": 2, "b": None}]}, "source_column": "txt", "vector_column": "vec"},
              {"name": "g", "sourceColumn": "x", "dest_column": "vec"}, {"name": "h", "source_column": "nope", "vector_column": "vec"}]
VECTOR = {"kind": {"Embedding": {"source_column": "txt", "dest_column": "vec", "embedding_name": "f"}}}


def source(db, columns):
    """A table whose metadata describes the column vec as made from txt."""
    definitions = [VECTOR if c == "vec" else {"kind": "Physical"} for c in columns]
    fields = {"meta": pa.field("meta", pa.struct([("q", pa.int64())])),
              "id": pa.field("id", pa.int64(), nullable=False, metadata={"a": "b", "lance-schema:x": "y"}),
              "Name": pa.field("Name", pa.string(), metadata={"unit": "m"}), "x": pa.field("x", pa.int32()),
              "weird col": pa.field("weird col", pa.string()), "vec": pa.field("vec", pa.list_(pa.float32(), 2)),
              "txt": pa.field("txt", pa.string())}
    values = {"meta": [{"q": 1}, None, {"q": 3}], "id": [1, 2, 3], "Name": ["a", None, "c"], "x": [1, 2, None],
              "weird col": ["p", "q", "r"], "vec": [[1, 2], [3, 4], None], "txt": ["u", "v", "w"]}
    schema = pa.schema([fields[c] for c in columns], metadata={
        "embedding_functions": json.dumps(EMBEDDINGS), "lancedb::column_definitions": json.dumps(definitions), "other": "thing"})
    lance.write_dataset(pa.table({c: values[c] for c in columns}, schema=schema), str(db / "src.lance"), enable_stable_row_ids=True)


def described(table):
    own = (b"mv.incarnation", b"mv.refreshed_at_ms", b"mv.view_version")
    schema = table.schema
    return ({k: v for k, v in schema.metadata.items() if k not in own},
            [(f.name, f.type, f.nullable, f.metadata) for f in schema])


ALL = ["id", "Name", "x", "weird col", "vec", "txt"]
DEFINITIONS = [
    (ALL, [("id", "id"), ("n2", "Name"), ("up", "upper(`Name`)"), ("v1", "vec"), ("v2", "vec"), ("t1", "txt"), ("t2", "txt")], None, None),
    (["meta", *ALL], [("vec", "vec"), ("x", "x"), ("txt", "txt")], None, None),
    (ALL, [("vec", "vec"), ("id", "id + 1")], None, None),
    (ALL, [("y", "x*2+1"), ("w", "`weird col`")], "x>=1 and Name like 'a%'", 5),
    (ALL, [("a", "CAST(x as bigint)"), ("l", "1"), ("st", "'q'"), ("bo", "true")], '"Name" IS NOT NULL', None),
    (ALL, None, "x in (1,2) or not (x between 3 and 4)", 0),
    (ALL, None, None, None),
]


@pytest.mark.parametrize("columns, select, where, limit", DEFINITIONS)
def test_same_schema(db, glaive, lancedb40, columns, select, where, limit):
    source(db, columns)
    lancedb40.create_materialized_view("theirs", "src", select=dict(select) if select else None, where=where, limit=limit)
    words = [f"--select={name}={text}" for name, text in select or []]
    words += ["--where", where] if where is not None else []
    words += ["--limit", limit] if limit is not None else []
    glaive.run("view", "create", "ours", "--source", "src", "--stored-form", "query", *words)
    theirs, ours = lancedb40.open_table("theirs"), lancedb40.open_table("ours")
    assert described(ours) == described(theirs)
    assert ours.to_arrow().sort_by("__source_row_id").to_pydict() == theirs.to_arrow().sort_by("__source_row_id").to_pydict()


def test_struct_columns_beside_the_view(db, glaive):
    """A source with a struct column: views over its other columns, over its fields and over itself."""
    source(db, ["meta", *ALL])
    glaive.run("view", "create", "v", "--as", "SELECT id, Name FROM src WHERE x > 0")
    dataset = lance.dataset(str(db / "src.lance"))
    dataset.delete("id = 2")
    done = glaive.refresh("v")
    assert (done["mode"], done["rows_written"], done["rows_removed"]) == ("incremental", 0, 1)
    for sql, text in (("SELECT upper(metal) AS u FROM src", "unknown column 'metal'"), ("SELECT meta(id) AS u FROM src", "meta"),
                      ("SELECT 'meta' || nope AS u FROM src", "unknown column 'nope'")):
        with pytest.raises(Exception) as refused:
            glaive.run("view", "create", "w", "--as", sql)
        assert text in str(refused.value)
    want = dataset.to_table(columns=["id", "meta"])
    assert glaive.query("SELECT id, meta FROM src").to_pydict() == want.to_pydict()
    glaive.run("view", "create", "whole", "--as", "SELECT id, meta FROM src")
    assert lance.dataset(str(db / "whole.lance")).to_table(columns=["id", "meta"]).to_pydict() == want.to_pydict()
    assert glaive.query("SELECT meta.q AS q FROM src").to_pydict() == {"q": [m and m["q"] for m in want["meta"].to_pylist()]}
    assert glaive.json("table", "count", "src", "--where", "meta IS NULL")["count"] == want["meta"].null_count


#: what belongs to the declaration of a source's column, and what a view keeps
MARKED = {"lance-schema:x": "y", "computed_column": "true", "computed_column.kind": "sql", "unit": "m"}


def nested_source(db):
    """Columns whose fields carry metadata at every depth."""
    def leaf(name, kind=pa.int64(), nullable=True):
        return pa.field(name, kind, nullable, MARKED)

    inner = pa.struct([leaf("a"), leaf("b", pa.list_(leaf("item", pa.struct([leaf("c")]))))])
    schema = pa.schema([
        leaf("id"), leaf("s", pa.struct([leaf("q"), leaf("in", inner)])), leaf("l", pa.list_(leaf("item", inner))),
        leaf("ll", pa.large_list(leaf("item"))), leaf("fixed", pa.list_(leaf("item"), 2)),
        leaf("m", pa.map_(leaf("key", pa.string(), False), leaf("value", pa.struct([leaf("v")]))))])
    value = {"a": 1, "b": [{"c": 2}]}
    rows = [{"id": i, "s": {"q": i, "in": value}, "l": [value, None], "ll": [i], "fixed": [i, i], "m": [("k", {"v": i})]} for i in range(3)]
    lance.write_dataset(pa.Table.from_pylist(rows, schema=schema), str(db / "src.lance"), enable_stable_row_ids=True,
                        data_storage_version="2.2")


def all_fields(field):
    """The field and what is below it: path, type, nullability, metadata."""
    below = [field.type.field(i) for i in range(field.type.num_fields)]
    return [(field.name, str(field.type), field.nullable, field.metadata), *(f for b in below for f in all_fields(b))]


@pytest.mark.parametrize("select", [None, {"id": "id", "s": "s"}, {"q": "s.q", "inner": "s['in']"},
                                    {"l": "l", "m": "m", "f": "fixed", "ll": "ll"}, {"made": "id + 1", "id": "id"}])
def test_metadata_below_structs_lists_and_maps(db, glaive, lancedb40, select):
    """A view keeps the metadata of the fields that it projects, without what declares the source's columns, at every depth."""
    nested_source(db)
    lancedb40.create_materialized_view("theirs", "src", select=select, with_no_data=True)  # it cannot fill such a view itself
    words = [f"--select={name}={text}" for name, text in (select or {}).items()]
    glaive.run("view", "create", "ours", "--source", "src", "--stored-form", "query", *words)
    glaive.refresh("theirs")
    ours, theirs = (lance.dataset(str(db / f"{name}.lance")) for name in ("ours", "theirs"))
    assert [all_fields(f) for f in ours.schema] == [all_fields(f) for f in theirs.schema]
    assert not any(key in (metadata or {}) for f in ours.schema for *_, metadata in all_fields(f)
                   for key in (b"lance-schema:x", b"computed_column", b"computed_column.kind"))
    assert select and "made" in select or any((metadata or {}).get(b"unit") for f in ours.schema for *_, metadata in all_fields(f))
    assert ours.to_table().sort_by("__source_row_id").to_pylist() == theirs.to_table().sort_by("__source_row_id").to_pylist()


def test_metadata_of_a_longer_path(db, glaive):
    """LanceDB loses it from the second step on; a path is a path."""
    nested_source(db)
    glaive.run("view", "create", "v", "--as", "SELECT s['in']['b'] AS deep, s.`in`.a AS a FROM src")
    schema = lance.dataset(str(db / "v.lance")).schema
    assert [schema.field(name).metadata for name in ("deep", "a")] == [{b"unit": b"m"}] * 2
