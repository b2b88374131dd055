"""Tables that LanceDB turned into LSM trees: their rows in un-compacted tiers are not in any version, so that no view can follow
them (materialized-views 3.6, 13 item 14; 12.1 lsm_state_disqualifies_source_and_view)."""
import lancedb
import pyarrow as pa
import pytest
from conftest import STABLE, GlaiveError

REFUSED = "has an LSM write spec or retained un-compacted rows"


@pytest.fixture
def source(lancedb40):
    key = pa.field("id", pa.int64(), nullable=False, metadata={"lance-schema:unenforced-primary-key": "true"})
    schema = pa.schema([key, pa.field("x", pa.int64())])
    return lancedb40.create_table("src", pa.table({"id": [1, 2], "x": [1, 2]}, schema=schema), storage_options=STABLE)


def rows(ids, x):
    return pa.table({"id": pa.array(ids, pa.int64()), "x": pa.array([x] * len(ids), pa.int64())})


def upsert(table, data):
    table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(data)


def refused(glaive, *words):
    with pytest.raises(GlaiveError) as error:
        glaive.run(*words)
    assert REFUSED in str(error.value)
    return str(error.value)


def test_a_source_with_a_write_spec(glaive, source):
    source.set_lsm_write_spec(lancedb.LsmWriteSpec.unsharded())
    assert "source table 'src'" in refused(glaive, "view", "create", "v", "--source", "src")
    assert glaive.json("view", "list") == []
    source.unset_lsm_write_spec()
    glaive.run("view", "create", "v", "--source", "src")
    assert glaive.json("table", "count", "v")["count"] == 2


def test_a_spec_that_comes_later(glaive, source):
    glaive.run("view", "create", "v", "--source", "src")
    source.add(rows([3], 3))
    source.set_lsm_write_spec(lancedb.LsmWriteSpec.unsharded())
    for words in (["refresh", "v"], ["refresh", "v", "--full"], ["refresh", "v", "--explain"]):
        assert "source table 'src'" in refused(glaive, "view", *words)
    assert glaive.json("table", "count", "v")["count"] == 2
    source.unset_lsm_write_spec()
    assert glaive.refresh("v")["mode"] == "incremental"
    assert glaive.json("table", "count", "v")["count"] == 3


def test_rows_that_stay_behind(glaive, source, db):
    """Written through the tree and never compacted: LanceDB itself does not see them in the table."""
    source.set_lsm_write_spec(lancedb.LsmWriteSpec.unsharded())
    upsert(source, rows([2, 3], 9))
    source.unset_lsm_write_spec()
    assert source.count_rows() == 2 and any((db / "src.lance/_mem_wal").iterdir())
    assert "source table 'src'" in refused(glaive, "view", "create", "v", "--source", "src")


def test_a_spec_on_the_view(glaive, source, lancedb40, db):
    """LanceDB refuses to install one; a directory that is there all the same is noticed."""
    glaive.run("view", "create", "v", "--source", "src")
    with pytest.raises(Exception, match="LSM write spec"):
        lancedb40.open_table("v").set_lsm_write_spec(lancedb.LsmWriteSpec.unsharded())
    (db / "v.lance/_mem_wal/aa48498d-ac91-59e2-8452-69f46010ace2").mkdir(parents=True)
    source.add(rows([3], 3))
    assert "materialized view 'v'" in refused(glaive, "view", "refresh", "v")


def test_changes_beside_the_tree(glaive, source):
    """Versions of the table can be made beside the tree, as by LanceDB's own delete; LanceDB goes on writing through it."""
    source.set_lsm_write_spec(lancedb.LsmWriteSpec.unsharded())
    glaive.run("table", "delete", "src", "--where", "id = 1")
    glaive.run("table", "update", "src", "--set", "x=x + 1", "--where", "id = 2")
    source.checkout_latest()
    assert source.to_arrow().to_pylist() == [{"id": 2, "x": 3}]
    assert source.get_lsm_write_spec() is not None
    upsert(source, rows([5], 5))
    with pytest.raises(GlaiveError) as error:
        glaive.run("table", "columns", "alter", "src", "--type", "x=int32")
    assert "rows in a write-ahead log" in str(error.value)
