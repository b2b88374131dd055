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
