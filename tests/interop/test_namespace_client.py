"""The generated client of the Lance namespace specification against `glaive serve`: every call of it passes or gets a 501."""
import base64
import io
import json
import pathlib
import re

import lance
import lance_namespace_urllib3_client as client
import pyarrow as pa
import pytest
from conftest import STABLE
from http_server import Server, numbers, stream_of
from lance_namespace_urllib3_client import models
from lance_namespace_urllib3_client.api.branch_api import BranchApi
from lance_namespace_urllib3_client.api.data_api import DataApi
from lance_namespace_urllib3_client.api.index_api import IndexApi
from lance_namespace_urllib3_client.api.materialized_view_api import MaterializedViewApi
from lance_namespace_urllib3_client.api.namespace_api import NamespaceApi
from lance_namespace_urllib3_client.api.table_api import TableApi
from lance_namespace_urllib3_client.api.tag_api import TagApi
from lance_namespace_urllib3_client.api.transaction_api import TransactionApi

APIS = (BranchApi, DataApi, IndexApi, MaterializedViewApi, NamespaceApi, TableApi, TagApi, TransactionApi)


class Client:
    """Calls of all parts of the client under one roof; keeps which were made."""

    def __init__(self, url):
        api = client.ApiClient(client.Configuration(host=url))
        self.parts, self.called = [part(api) for part in APIS], set()

    def __getattr__(self, name):
        found = next(getattr(part, name) for part in self.parts if hasattr(part, name))
        self.called.add(name)
        return found

    def refused(self, status, code, name, *arguments, **more):
        with pytest.raises(client.ApiException) as caught:
            getattr(self, name)(*arguments, **more)
        assert caught.value.status == status, caught.value
        error = models.ErrorResponse.from_json(caught.value.body)
        assert error.code == code and error.instance, caught.value.body
        return error.error


def calls():
    """All calls that the client has."""
    plain = re.compile(r"(?!.*(_with_http_info|_without_preload_content)$)[a-z]\w*$")
    return {name for api in APIS for name in vars(api) if plain.match(name)}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("namespace") / "db", "--no-access-log")
    yield server
    assert server.stop() == 0, server.log.read_text()


@pytest.fixture(scope="module")
def api(served):
    return Client(served.url)


@pytest.fixture
def table(api, served, request):
    """A namespace of the test, and a table of ten rows in it."""
    ns = request.node.name
    api.create_namespace(ns, models.CreateNamespaceRequest())
    api.create_table(f"{ns}$t", stream_of(numbers(10)))
    return f"{ns}$t"


def rows(body):
    return pa.ipc.open_file(io.BytesIO(body)).read_all()


def test_namespaces(api):
    made = api.create_namespace("a", models.CreateNamespaceRequest(mode="Create", properties={"k": "v"}))
    assert made.properties == {"k": "v"} and api.describe_namespace("a", models.DescribeNamespaceRequest()).properties == {"k": "v"}
    api.refused(409, 2, "create_namespace", "a", models.CreateNamespaceRequest())
    api.create_namespace("a", models.CreateNamespaceRequest(mode="ExistOk"))
    api.create_namespace("a$b", models.CreateNamespaceRequest())
    api.create_namespace("a.c", models.CreateNamespaceRequest(), delimiter=".")
    api.namespace_exists("a$c", models.NamespaceExistsRequest())
    api.refused(404, 1, "namespace_exists", "nobody", models.NamespaceExistsRequest())
    assert "a" in api.list_namespaces("$").namespaces and api.list_namespaces("a").namespaces == ["b", "c"]
    page = api.list_namespaces("a", limit=1)
    assert page.namespaces == ["b"] and api.list_namespaces("a", page_token=page.page_token).namespaces == ["c"]
    api.refused(409, 3, "drop_namespace", "a", models.DropNamespaceRequest())
    api.drop_namespace("a$b", models.DropNamespaceRequest(mode="Fail", behavior="Restrict"))
    api.drop_namespace("a", models.DropNamespaceRequest(behavior="Cascade"))
    api.refused(404, 1, "describe_namespace", "a$c", models.DescribeNamespaceRequest())
    api.drop_namespace("a", models.DropNamespaceRequest(mode="Skip"))


def test_life_of_tables(api, table, served):
    ns = table.split("$")[0]
    assert "already exists" in api.refused(400, 5, "create_table", table, stream_of(numbers(1)))
    assert api.create_table(table, stream_of(numbers(1)), mode="exist_ok").version == 1
    assert api.create_table(f"{ns}$u", stream_of(numbers(2)), properties='{"owner": "me"}', storage_options=json.dumps(STABLE)).location
    assert api.list_tables(ns).tables == ["t", "u"] and api.list_tables(ns, limit=1).tables == ["t"]
    told = api.describe_table(table, models.DescribeTableRequest())
    assert (told.table, told.namespace, told.version) == ("t", [ns], 1) and told.location.endswith(f"{ns}$t")
    assert [f.name for f in told.var_schema.fields] == ["id", "text"]
    assert api.describe_table(table, models.DescribeTableRequest(version=1), with_table_uri=True).table_uri
    api.refused(404, 11, "describe_table", table, models.DescribeTableRequest(version=9))
    api.table_exists(table, models.TableExistsRequest())
    api.refused(404, 4, "table_exists", f"{ns}$nobody", models.TableExistsRequest())
    api.rename_table(f"{ns}$u", models.RenameTableRequest(new_table_name="w"))
    api.create_namespace(f"{ns}$deep", models.CreateNamespaceRequest())
    api.rename_table(f"{ns}$w", models.RenameTableRequest(new_table_name="moved", new_namespace_id=[ns, "deep"]))
    assert api.list_tables(f"{ns}$deep").tables == ["moved"]
    api.refused(409, 5, "rename_table", f"{ns}$deep$moved", models.RenameTableRequest(new_table_name="t", new_namespace_id=[ns]))
    api.refused(501, 0, "rename_table", f"{ns}$deep$moved", models.RenameTableRequest(new_table_name="t", new_namespace_id=[]))
    assert api.drop_table(f"{ns}$deep$moved").id == [ns, "deep", "moved"]
    api.refused(404, 4, "drop_table", f"{ns}$deep$moved")
    api.create_table("root", stream_of(numbers(1)))
    assert "root" in api.list_all_tables().tables and "root" in api.list_tables("$").tables


def test_places(api, table):
    ns = table.split("$")[0]
    declared = api.declare_table(f"{ns}$later", models.DeclareTableRequest())
    assert declared.location.endswith(f"{ns}$later")
    api.refused(409, 5, "declare_table", f"{ns}$later", models.DeclareTableRequest())
    told = api.describe_table(f"{ns}$later", models.DescribeTableRequest())
    assert told.is_only_declared and told.version is None and told.location == declared.location
    assert api.create_table(f"{ns}$later", stream_of(numbers(2))).location == declared.location
    place = api.deregister_table(f"{ns}$later", models.DeregisterTableRequest()).location
    api.refused(404, 4, "table_exists", f"{ns}$later", models.TableExistsRequest())
    assert api.register_table(f"{ns}$again", models.RegisterTableRequest(location=pathlib.Path(place).name)).location == place
    assert api.count_table_rows(f"{ns}$again", models.CountTableRowsRequest()) == 2


def test_rows(api, table):
    assert api.insert_into_table(table, stream_of(numbers(5, 10)), mode="append").version == 2
    assert api.count_table_rows(table, models.CountTableRowsRequest()) == 15
    assert api.count_table_rows(table, models.CountTableRowsRequest(predicate="id > 12")) == 2
    assert api.count_table_rows(table, models.CountTableRowsRequest(version=1)) == 10
    done = api.update_table(table, models.UpdateTableRequest(predicate="id = 1", updates=[["text", "upper(text)"]]))
    assert (done.updated_rows, done.version) == (1, 3)
    assert api.delete_from_table(table, models.DeleteFromTableRequest(predicate="id < 1")).version == 4
    done = api.merge_insert_into_table(table, ["id"], stream_of(numbers(4, 13)), when_matched_update_all=True, when_not_matched_insert_all=True)
    assert (done.num_updated_rows, done.num_inserted_rows, done.num_deleted_rows) == (2, 2, 0)
    api.refused(400, 13, "delete_from_table", table, models.DeleteFromTableRequest(predicate="nope = 1"))
    api.refused(404, 4, "insert_into_table", "nobody", stream_of(numbers(1)))
    api.insert_into_table(table, stream_of(numbers(2)), mode="overwrite")
    assert api.count_table_rows(table, models.CountTableRowsRequest()) == 2


def test_queries(api, table):
    plain = models.QueryTableRequestVector()

    def ask(**more):
        return rows(api.query_table(table, models.QueryTableRequest(**{"k": 100, "vector": plain} | more)))

    assert ask().num_rows == 10 and ask(k=3).num_rows == 3 and ask(filter="id > 7").column("id").to_pylist() == [8, 9]
    assert ask(columns=models.QueryTableRequestColumns(column_names=["id"]), offset=8).to_pydict() == {"id": [8, 9]}
    assert ask(columns=models.QueryTableRequestColumns(column_aliases={"x": "id * 2"}), k=2).to_pydict() == {"x": [0, 2]}
    assert ask(with_row_id=True, k=1).column_names == ["id", "text", "_rowid"]
    text = models.QueryTableRequestFullTextQuery(string_query=models.StringFtsQuery(query="number"))
    api.refused(501, 0, "query_table", table, models.QueryTableRequest(k=1, vector=plain, full_text_query=text))
    assert isinstance(api.explain_table_query_plan(table, models.ExplainTableQueryPlanRequest(
        query=models.QueryTableRequest(k=1, vector=plain, filter="id > 1"), verbose=True)), str)
    assert isinstance(api.analyze_table_query_plan(table, models.AnalyzeTableQueryPlanRequest(k=1, vector=plain)), str)


def test_vectors(api, table):
    ns = table.split("$")[0]
    vectors = pa.table({"id": [0, 1, 2], "v": pa.array([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]], pa.list_(pa.float32(), 2))})
    api.create_table(f"{ns}$v", stream_of(vectors))
    one = models.QueryTableRequestVector(single_vector=[1.0, 1.0])
    found = rows(api.query_table(f"{ns}$v", models.QueryTableRequest(k=2, vector=one, vector_column="v", distance_type="l2")))
    assert found.column("id").to_pylist() == [1, 0] and found.column("_distance").to_pylist() == [0, 2]
    several = models.QueryTableRequestVector(multi_vector=[[0.0, 0.0], [5.0, 5.0]])
    found = rows(api.query_table(f"{ns}$v", models.QueryTableRequest(k=1, vector=several)))
    assert found.column("query_index").to_pylist() == [0, 1] and found.column("id").to_pylist() == [0, 2]


def test_columns(api, table):
    add = models.AlterTableAddColumnsRequest(new_columns=[models.AddColumnsEntry(name="twice", expression="id * 2")])
    assert api.alter_table_add_columns(table, add).version == 2
    alter = models.AlterTableAlterColumnsRequest(alterations=[models.AlterColumnsEntry(path="twice", rename="double")])
    assert api.alter_table_alter_columns(table, alter).version == 3
    change = models.UpdateFieldMetadataRequest(updates=[models.UpdateFieldMetadataEntry(path="double", metadata={"unit": "m"})])
    assert api.update_field_metadata(table, change).version == 4
    fields = api.describe_table(table, models.DescribeTableRequest()).var_schema.fields
    assert fields[-1].name == "double" and fields[-1].metadata == {"unit": "m"}
    assert api.alter_table_drop_columns(table, models.AlterTableDropColumnsRequest(columns=["double"])).version == 5
    computed = models.AlterTableAddColumnsRequest(new_columns=[models.AddColumnsEntry(name="x", computed="id")])
    api.refused(501, 0, "alter_table_add_columns", table, computed)


def test_versions_and_tags(api, table, served):
    api.insert_into_table(table, stream_of(numbers(1)))
    versions = api.list_table_versions(table).versions
    assert [v.version for v in versions] == [1, 2] and all(v.manifest_path and v.timestamp_millis for v in versions)
    assert [v.version for v in api.list_table_versions(table, descending=True).versions] == [2, 1]
    page = api.list_table_versions(table, limit=1)
    assert [v.version for v in page.versions] == [1]
    page = api.list_table_versions(table, limit=1, page_token=page.page_token)
    assert [v.version for v in page.versions] == [2] and page.page_token is None
    assert [v.version for v in api.list_table_versions(table, page_token="2", descending=True).versions] == [1]
    api.refused(400, 13, "list_table_versions", table, page_token="x")
    api.create_table_tag(table, models.CreateTableTagRequest(tag="first", version=1))
    api.refused(400, 9, "create_table_tag", table, models.CreateTableTagRequest(tag="first", version=1))
    assert api.get_table_tag_version(table, models.GetTableTagVersionRequest(tag="first")).version == 1
    assert api.list_table_tags(table).tags["first"].version == 1
    api.update_table_tag(table, models.UpdateTableTagRequest(tag="first", version=2))
    api.delete_table_tag(table, models.DeleteTableTagRequest(tag="first"))
    api.refused(404, 8, "delete_table_tag", table, models.DeleteTableTagRequest(tag="first"))
    api.restore_table(table, models.RestoreTableRequest(version=1))
    stats = api.get_table_stats(table, models.GetTableStatsRequest())
    assert (stats.num_rows, stats.num_indices, stats.fragment_stats.num_fragments) == (10, 0, 1)


def test_indexes(api, table, served):
    path = api.describe_table(table, models.DescribeTableRequest()).location
    lance.dataset(path).create_scalar_index("id", "BTREE")
    [index] = api.list_table_indices(table, models.ListTableIndicesRequest()).indexes
    assert (index.index_name, index.columns, index.status) == ("id_idx", ["id"], "done") and index.index_uuid
    assert api.describe_table_index_stats(table, "id_idx", models.DescribeTableIndexStatsRequest()).num_indexed_rows == 10
    api.refused(404, 6, "describe_table_index_stats", table, "nobody", models.DescribeTableIndexStatsRequest())
    api.refused(501, 0, "drop_table_index", table, "id_idx")
    api.refused(501, 0, "create_table_index", table, models.CreateTableIndexRequest(column="text", index_type="FTS"))
    api.refused(501, 0, "create_table_scalar_index", table, models.CreateTableIndexRequest(column="id", index_type="BTREE"))


def test_views(api, served):
    api.create_table("source", stream_of(numbers(10)), storage_options=json.dumps(STABLE))
    def definition(schema):
        return models.CreateMaterializedViewRequest(kind="query", source_query="SELECT id FROM source WHERE id > 3", with_no_data=False,
                                                    output_schema=base64.b64encode(schema.serialize().to_pybytes()).decode())

    api.refused(400, 13, "create_materialized_view", "view", definition(pa.schema([("id", pa.string())])))
    made = api.create_materialized_view("view", definition(pa.schema([("id", pa.int64())])))
    assert made.version == 1 and made.job_id
    begun = api.refresh_materialized_view("view", refresh_materialized_view_request=models.RefreshMaterializedViewRequest())
    while served.post("/v1/jobs/describe", b'{"job_id": "%s"}' % begun.job_id.encode()).json()["job_state"] not in ("DONE", "FAILED"):
        pass
    assert api.count_table_rows("view", models.CountTableRowsRequest()) == 6
    api.refused(400, 0, "insert_into_table", "view", stream_of(numbers(1)))


def test_what_is_not_there(api, table):
    """With test_every_call_was_made: what is offered later has to leave this list."""
    api.refused(501, 0, "create_table_branch", table, models.CreateTableBranchRequest(name="b"))
    api.refused(501, 0, "delete_table_branch", table, models.DeleteTableBranchRequest(name="b"))
    api.refused(501, 0, "list_table_branches", table)
    api.refused(501, 0, "alter_table_backfill_columns", table, models.AlterTableBackfillColumnsRequest(column="id"))
    api.refused(501, 0, "create_table_version", table, models.CreateTableVersionRequest(version=2, manifest_path="x"))
    api.refused(501, 0, "describe_table_version", table, models.DescribeTableVersionRequest())
    api.refused(501, 0, "batch_create_table_versions", models.BatchCreateTableVersionsRequest(entries=[]))
    api.refused(501, 0, "batch_delete_table_versions", table, models.BatchDeleteTableVersionsRequest(ranges=[]))
    api.refused(501, 0, "batch_commit_tables", models.BatchCommitTablesRequest(operations=[]))
    api.refused(501, 0, "describe_transaction", table, models.DescribeTransactionRequest())
    api.refused(501, 0, "alter_transaction", table, models.AlterTransactionRequest(actions=[models.AlterTransactionAction()]))
    api.refused(501, 0, "update_table_schema_metadata", table, {"k": "v"})


def test_every_call_was_made(api):
    assert calls() == api.called
