"""JSON columns: text of the extension type arrow.json outside, Lance's binary documents inside, by every engine alike."""
import lance
import pyarrow as pa
import pytest
from conftest import GlaiveError

DOCUMENTS = ['{"a": 1, "b": [1.5, null, "x"]}', None, "[]", '"q"', '{"nested": {"deep": [true, {"é": "\\u00e9"}]}}', "-7", "12345678901234567890"]
STORED = ['{"a":1,"b":[1.5,null,"x"]}', None, "[]", '"q"', '{"nested":{"deep":[true,{"é":"é"}]}}', "-7", "12345678901234567890"]


def documents(kind=pa.string()):
    return pa.ExtensionArray.from_storage(pa.json_(kind), pa.array(DOCUMENTS, kind))


def rows():
    inner = pa.StructArray.from_arrays([documents(), pa.array(range(7))], ["doc", "n"])
    lists = pa.ListArray.from_arrays(pa.array([0, 2, 2, 3, 4, 5, 6, 7], pa.int32()), documents())
    return pa.table({"id": range(7), "j": documents(), "large": documents(pa.large_string()), "s": inner, "l": lists})


def texts(table):
    struct = [v.as_py()["doc"] for v in table["s"].combine_chunks()]
    return table["j"].to_pylist(), table["large"].to_pylist(), struct, [d for row in table["l"].to_pylist() for d in row]


def test_both_ways(glaive, lancedb40):
    lance.write_dataset(rows(), str(glaive.db / "theirs.lance"), enable_stable_row_ids=True)
    glaive.write("ours", rows())
    want = lance.dataset(str(glaive.db / "theirs.lance")).to_table()
    for got in (glaive.read("theirs"), glaive.read("ours"), lance.dataset(str(glaive.db / "ours.lance")).to_table(),
                lancedb40.open_table("ours").to_arrow()):
        assert got.schema == want.schema
        assert texts(got) == texts(want) == (STORED, STORED, STORED, STORED)
    glaive.write("theirs", rows(), "--append")
    assert lance.dataset(str(glaive.db / "theirs.lance")).to_table()["j"].to_pylist() == STORED * 2


def test_documents_are_queried_and_kept_by_views(glaive, lancedb40):
    glaive.write("t", rows())
    got = glaive.query("SELECT j, json_get_int(j, 'a') AS a FROM t WHERE json_exists(j, '$.b')")
    assert got.to_pylist() == [{"j": STORED[0], "a": 1}]
    glaive.run("view", "create", "v", "--as", "SELECT id, j FROM t WHERE id < 3")
    assert glaive.read("v")["j"].to_pylist() == STORED[:3]
    assert lancedb40.open_table("v").to_arrow()["j"].to_pylist() == STORED[:3]


@pytest.mark.parametrize("text", ['{"a":', "[1,]x", '{"a" 1}', "nope"])
def test_text_that_is_no_json(glaive, text):
    data = pa.table({"doc": pa.ExtensionArray.from_storage(pa.json_(pa.string()), pa.array(["{}", text]))})
    with pytest.raises(GlaiveError, match="column 'doc'"):
        glaive.write("t", data)
    with pytest.raises(Exception):
        lance.write_dataset(data, str(glaive.db / "u.lance"))
    assert not (glaive.db / "t.lance").exists()
