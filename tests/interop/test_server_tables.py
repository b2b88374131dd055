"""The routes of namespaces, tables and rows by plain HTTP (rest-protocol 6, 7 and 16); the official clients: test_server_views.py."""
import lance
import lancedb
import pyarrow as pa
import pytest
from conftest import STABLE
from served import Served
from test_server_multipart import ARROW, stream

T = "/v1/table/t/"
PEOPLE = pa.table({"id": pa.array(range(5), pa.int64()), "name": [f"n{i}" for i in range(5)]})


@pytest.fixture
def table(lancedb40):
    return lancedb40.create_table("t", PEOPLE, storage_options=STABLE)


@pytest.fixture
def served(db, table):
    server = Served(db)
    yield server
    server.stop()


def rows(answer):
    return pa.ipc.open_file(answer).read_all()


def test_3_spellings_of_the_root(served):
    served.ok("/v1/namespace/ns/create", {"properties": {"a": "b"}})
    answers = [served.ok(f"/v1/namespace/{root}/list{slash}{more}", method="GET") for root in ("$", "%24") for slash in ("", "/")
               for more in ("", "?delimiter=%24")]
    assert all(a == {"namespaces": ["ns"], "page_token": None} for a in answers)
    served.ok("/v1/table/ns.t/create?delimiter=.", stream(PEOPLE), headers=ARROW)
    assert served.ok("/v1/namespace/ns/table/list", method="GET")["tables"] == ["t"]
    assert served.ok("/v1/table/ns%24t/count_rows") == 5


def test_namespaces(served):
    N = "/v1/namespace/"
    served.ok(f"{N}a/create", {"mode": "Create"})
    served.refused(409, 2, f"{N}a/create", {})
    served.ok(f"{N}a/create", {"mode": "exist_ok"})
    served.refused(404, 1, f"{N}b$c/create", {})
    served.refused(400, 13, f"{N}b/create", {"mode": "Perhaps"})
    served.refused(400, 13, f"{N}b/create", {"properties": {"x": 1}})
    served.ok(f"{N}a$b/create", {"properties": {"k": "v"}})
    assert served.ok(f"{N}a$b/describe", {})["properties"] == {"k": "v"}
    served.ok(f"{N}a/exists", {})
    served.refused(404, 1, f"{N}nobody/exists", {})
    assert "not empty" in served.refused(409, 3, f"{N}a/drop", {})
    served.ok(f"{N}a/drop", {"behavior": "Cascade"})
    served.refused(404, 1, f"{N}a/drop", {})
    served.ok(f"{N}a/drop", {"mode": "SKIP"})


def test_6_creation(served, db):
    create = "/v1/table/new/create/"
    assert served.ok(create, stream(PEOPLE), headers=ARROW)["version"] == 1
    assert "already exists" in served.refused(400, 5, create, stream(PEOPLE), headers=ARROW)
    assert served.ok(f"{create}?mode=exist_ok", stream(PEOPLE.slice(0, 1)), headers=ARROW)["version"] == 1
    assert served.ok("/v1/table/new/count_rows") == 5
    assert served.ok(f"{create}?mode=overwrite", stream(PEOPLE.slice(0, 1)), headers=ARROW)["version"] == 2
    served.refused(400, 13, f"{create}?mode=perhaps", stream(PEOPLE), headers=ARROW)
    schema = pa.schema([pa.field("m", pa.int32(), metadata={"k": "v"})], metadata={"meta": "data"})
    served.ok("/v1/table/empty/create", stream(schema.empty_table()), headers=ARROW)
    told = served.ok("/v1/table/empty/describe")["schema"]
    assert told["metadata"] == {"meta": "data"} and told["fields"][0]["metadata"] == {"k": "v"}
    assert lance.dataset(str(db / "new.lance")).has_stable_row_ids
    served.refused(400, 13, "/v1/table/cut/create", stream(PEOPLE)[:-30], headers=ARROW)
    served.refused(404, 4, "/v1/table/cut/describe")


def test_describe(served, table):
    told = served.ok(f"{T}describe/", {"version": None})
    assert (told["table"], told["namespace"], told["version"], told["is_only_declared"]) == ("t", [], 1, False)
    assert told["stats"] == {"num_deleted_rows": 0, "num_fragments": 1} and told["location"].endswith("t.lance")
    table.delete("id = 0")
    assert served.ok(f"{T}describe/")["stats"]["num_deleted_rows"] == 1
    assert served.ok(f"{T}describe/", {"version": 1})["version"] == 1
    served.refused(404, 11, f"{T}describe/", {"version": 99})
    served.refused(400, 13, f"{T}describe/", {"version": "x"})
    served.refused(501, 0, f"{T}describe/", {"branch": "b"})


def test_5_counts(served):
    assert served.call(f"{T}count_rows", {"predicate": "id > 2"}) == (200, 2)
    assert served.call(f"{T}count_rows", method="GET") == (200, 5)
    served.refused(400, 13, f"{T}count_rows", {"predicate": "nope > 2"})
    served.refused(400, 13, f"{T}count_rows", b"not json")
    served.refused(400, 13, f"{T}count_rows", b"[]")


def test_rows(served, db):
    assert served.ok(f"{T}insert/", stream(PEOPLE.slice(0, 2)), headers=ARROW) == {"version": 2, "num_attempts": 1, "num_inserted_rows": 2}
    done = served.ok(f"{T}update/", {"predicate": "id = 1", "updates": [["name", "upper(name)"]]})
    assert (done["rows_updated"], done["updated_rows"], done["version"]) == (2, 2, 3)
    assert served.ok(f"{T}delete/", {"predicate": "id = 0"})["num_deleted_rows"] == 2
    done = served.ok(f"{T}merge_insert/?on=id&when_matched_update_all=true&when_not_matched_insert_all=true", stream(pa.table({
        "id": pa.array([4, 9], pa.int64()), "name": ["four", "nine"]})), headers=ARROW)
    assert (done["num_updated_rows"], done["num_inserted_rows"]) == (1, 1)
    found = rows(served.ok(f"{T}query/", {"k": 2**63 - 1, "vector": [], "prefilter": True, "version": None}))
    assert sorted(zip(*found.to_pydict().values())) == [(1, "N1"), (1, "N1"), (2, "n2"), (3, "n3"), (4, "four"), (9, "nine")]
    served.refused(400, 13, f"{T}delete/", {})
    served.refused(400, 13, f"{T}update/", {"updates": [["name"]]})
    served.refused(400, 12, f"{T}update/", {"updates": [["nope", "1"]]})
    served.refused(400, 13, f"{T}merge_insert/?when_matched_update_all=true", stream(PEOPLE), headers=ARROW)
    served.refused(400, 20, f"{T}insert/", stream(pa.table({"nope": [1]})), headers=ARROW)
    assert lance.dataset(str(db / "t.lance")).version == 5


def test_10_queries(served):
    def ask(**body):
        return rows(served.ok(f"{T}query/", {"vector": []} | body))

    assert ask(columns=["name", "id"], filter="id > 2").to_pydict() == {"name": ["n3", "n4"], "id": [3, 4]}
    assert ask(columns={"twice": "id * 2", "a": "upper(name)"}, k=1).to_pydict() == {"twice": [0], "a": ["N0"]}
    assert ask(columns={"column_names": ["id"]}, offset=3).to_pydict() == {"id": [3, 4]}
    assert ask(columns={"column_aliases": {"x": "id + 1"}}, k=1).to_pydict() == {"x": [1]}
    assert ask(with_row_id=True, k=1).column_names == ["id", "name", "_rowid"]
    empty = ask(filter="id > 99")
    assert empty.num_rows == 0 and empty.column_names == ["id", "name"]
    assert ask(offset=99).num_rows == 0
    assert ask(k=0).num_rows == 0
    assert ask(filter="_rowid IN (3)").to_pydict()["id"] == [3]
    served.refused(400, 13, f"{T}query/", {"filter": "nope = 1"})
    served.refused(400, 13, f"{T}query/", {"vector": [1.0]})
    served.refused(501, 0, f"{T}query/", {"full_text_query": {"query": "a"}})


def test_columns(served, table):
    served.ok(f"{T}add_columns/", {"new_columns": [{"name": "twice", "expression": "id * 2"}]})
    served.ok(f"{T}add_columns/", stream(pa.schema([("empty", pa.int32())]).empty_table()), headers=ARROW)
    served.ok(f"{T}alter_columns/", {"alterations": [{"path": "twice", "rename": "dbl"}, {"path": "empty", "data_type": {"type": "int64"}}]})
    served.ok(f"{T}update_field_metadata/", {"updates": [{"path": "dbl", "metadata": {"unit": "x", "old": "y"}}]})
    served.ok(f"{T}update_field_metadata/", {"updates": [{"path": "dbl", "metadata": {"old": None}}]})
    table.checkout_latest()
    assert table.schema.names == ["id", "name", "dbl", "empty"] and table.schema.field("empty").type == pa.int64()
    assert table.schema.field("dbl").metadata == {b"unit": b"x"}
    served.ok(f"{T}drop_columns/", {"columns": ["dbl", "empty"]})
    table.checkout_latest()
    assert table.schema.names == ["id", "name"]
    served.refused(501, 0, f"{T}add_columns/", {"new_columns": [{"name": "c", "computed": "id"}]})
    for path, key in (("add", "new_columns"), ("alter", "alterations"), ("drop", "columns")):
        assert f"'{key}' is missing" in served.refused(400, 13, f"{T}{path}_columns/", {})


def test_4_tags_in_both_dialects(served, table):
    served.ok(f"{T}tags/create/", {"tag": "v1", "version": 1})
    served.refused(400, 9, f"{T}tags/create/", {"tag": "v1", "version": 1})
    served.refused(404, 11, f"{T}tags/create/", {"tag": "v9", "version": 9})
    bare = served.ok(f"{T}tags/list/")
    assert list(bare) == ["v1"] and bare["v1"]["version"] == 1 and bare["v1"]["manifestSize"] > 0
    assert bare["v1"].keys() == {"branch", "version", "manifestSize", "createdAt", "updatedAt"}
    for method in ("POST", "GET"):
        assert served.ok(f"{T}tags/list", method=method) == {"tags": bare, "page_token": None}
    table.add(PEOPLE)
    served.ok(f"{T}tags/update/", {"tag": "v1", "version": 2})
    assert served.ok(f"{T}tags/version/", {"tag": "v1"})["version"] == 2
    served.refused(404, 8, f"{T}tags/update/", {"tag": "v2", "version": 1})
    served.ok(f"{T}tags/delete/", {"tag": "v1"})
    served.refused(404, 8, f"{T}tags/version/", {"tag": "v1"})
    served.refused(404, 8, f"{T}tags/delete/", {"tag": "v1"})


def test_versions_and_restore(served, table, db):
    table.add(PEOPLE)
    versions = served.ok(f"{T}version/list/")["versions"]
    assert [v["version"] for v in versions] == [1, 2] and [v["metadata"]["total_rows"] for v in versions] == ["5", "10"]
    for v in versions:
        assert (db / "t.lance" / v["manifest_path"]).exists()
    served.ok(f"{T}restore/", {"version": 1})
    assert served.ok(f"{T}count_rows") == 5
    assert served.call(f"{T}describe/")[1]["version"] == 3


def test_indexes_of_others(served, table):
    assert served.ok(f"{T}index/list/", {"version": None}) == {"indexes": []}
    table.create_scalar_index("id")
    table.create_scalar_index("name", index_type="BITMAP")
    table.add(PEOPLE)
    table.delete("id = 4")
    found = {i["index_name"]: i for i in served.ok(f"{T}index/list/")["indexes"]}
    theirs = {i.name: i for i in table.list_indices()}
    assert found.keys() == theirs.keys() == {"id_idx", "name_idx"}
    for name, index in found.items():
        assert (index["index_type"], index["columns"], index["index_uuid"]) == (theirs[name].index_type, theirs[name].columns, theirs[name].index_uuid)
        assert (index["num_indexed_rows"], index["num_unindexed_rows"]) == (4, 4)
    stats = served.ok(f"{T}index/id_idx/stats/")
    assert (stats["num_indexed_rows"], stats["index_type"], stats["num_indices"]) == (4, "BTree", 1)
    served.refused(404, 6, f"{T}index/nobody/stats/")
    assert served.ok(f"{T}stats/")["num_indices"] == 2
    remote = lancedb.connect("db://x", api_key="k", host_override=served.url).open_table("t")
    assert sorted(i.name for i in remote.list_indices()) == ["id_idx", "name_idx"]
    assert remote.index_stats("id_idx").num_indexed_rows == 4 and remote.index_stats("nobody") is None
    served.refused(501, 0, f"{T}create_index/", {"column": "id", "index_type": "BTREE"})


def test_statistics(served, table):
    table.add(PEOPLE)
    stats = served.ok(f"{T}stats/")
    theirs = table.stats()
    assert stats["num_rows"] == 10 and stats["total_bytes"] > 0
    assert stats["fragment_stats"]["num_fragments"] == 2 and stats["fragment_stats"]["num_small_fragments"] == 2
    assert stats["fragment_stats"]["lengths"] == theirs["fragment_stats"]["lengths"]


def test_renames(served):
    served.ok(f"{T}rename/", {"new_table_name": "u"})
    served.refused(404, 4, f"{T}describe/")
    assert served.ok("/v1/table/u/count_rows") == 5
    served.ok("/v1/table/w/create", stream(PEOPLE), headers=ARROW)
    served.refused(409, 5, "/v1/table/u/rename", {"new_table_name": "w"})
    served.refused(404, 4, "/v1/table/nobody/rename", {"new_table_name": "x"})
    served.refused(400, 13, "/v1/table/u/rename", {"new_table_name": "a b"})
    served.refused(400, 13, "/v1/table/$/rename", {"new_table_name": "x"})


def test_32_views_are_written_by_refresh_alone(served):
    served.wait(served.ok("/v1/materialized_view/v/create", {"query": "SELECT id, name FROM t"})["job_id"])
    V = "/v1/table/v/"
    for path, body, more in (("insert/", stream(PEOPLE), ARROW), ("insert/?mode=overwrite", stream(PEOPLE), ARROW),
                             ("update/", {"updates": [["name", "'x'"]]}, {}), ("delete/", {"predicate": "id = 1"}, {}),
                             ("merge_insert/?on=id&when_matched_update_all=true", stream(PEOPLE), ARROW),
                             ("add_columns/", {"new_columns": [{"name": "c", "expression": "id"}]}, {})):
        status, answer = served.call(V + path, body, headers=more)
        assert (status, answer["code"]) == (400, 0) and "materialized view, which only refresh writes" in answer["error"], (path, answer)
    served.ok(f"{V}tags/create/", {"tag": "x", "version": 1})
    assert served.ok(f"{V}describe/")["version"] == 2


def test_dropping_a_view_as_a_table(served, db):
    served.wait(served.ok("/v1/materialized_view/v/create", {"query": "SELECT id FROM t"})["job_id"])
    assert served.ok("/v1/table/v/drop/") == {"id": ["v"]}
    served.refused(404, 4, "/v1/table/v/drop/")
    served.refused(404, 4, "/v1/materialized_view/v/describe")
    assert not (db / "v.lance").exists()


def test_plans_are_of_the_version_in_the_query(served, table):
    table.add(PEOPLE)
    for route, body in (("explain_plan", {"query": {"version": 1}}), ("analyze_plan", {"version": 1})):
        now = served.ok(f"{T}{route}/", {"query": {}} if "query" in body else {})
        assert served.ok(f"{T}{route}/", body) != now
        served.refused(404, 11, f"{T}{route}/", {"query": {"version": 9}} if "query" in body else {"version": 9})


def test_25_what_is_not_there(served):
    for path, body in (("/v1/table/t/branches/list/", {}), ("/v1/table/t/branches/create/", {"name": "b"}),
                       ("/v1/table/t/create_index/", {"column": "id", "index_type": "FTS"})):
        served.refused(501, 0, path, body)


def test_25_what_there_is_nothing_of(served):
    for path, body in (("/v1/namespace/$/secret/list", {"secrets": []}), ("/v1/namespace/$/view/list", {"views": []}),
                       ("/v1/namespace/$/function/list", {"functions": []})):
        assert served.ok(path, method="GET") == body
    for path, body in (("errors", {"records": []}), ("get_lsm_write_spec/", {"lsm_write_spec": None}), ("get_lsm_stats/", {"lsm_stats": None})):
        assert served.ok(f"{T}{path}", {}) == body
    for path in (f"{T}clone", f"{T}backfill_column", f"{T}set_lsm_write_spec/", f"{T}fetch_blobs/", "/v1/view/v/create", "/v1/secret/s/create",
                 "/v1/function/f/describe", f"{T}version/create", "/v1/table/version/batch-create", "/v1/table/batch-commit",
                 f"{T}index/i/prewarm/", f"{T}page_cache/prewarm/"):
        served.refused(501, 0, path, {})
