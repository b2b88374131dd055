"""Counterparts of the tests that LanceDB has of its materialized views, under their names (materialized-views 12). What other files
of this suite show at more depth is not here; docs/upstream-tests.md says where it is."""
import json

import capi
import lance
import pyarrow as pa
import pytest
from conftest import STABLE, GlaiveError

PEOPLE = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "name": ["ada", "bob", "cyd"], "age": pa.array([10, 20, 30], pa.int32())})


@pytest.fixture
def people(lancedb40):
    return lancedb40.create_table("people", PEOPLE, storage_options=STABLE)


class Views:
    """What the tests do to views."""

    def __init__(self, glaive):
        self.glaive = glaive

    def create(self, *words, name="v", source="people", data=True):
        self.glaive.run("view", "create", name, "--source", source, *words, *([] if data else ["--with-no-data"]))

    def refused(self, *texts, words, name="v", code=None):
        """Creating it is refused, and nothing is left."""
        with pytest.raises(GlaiveError) as error:
            self.create(*words, name=name)
        assert all(text in str(error.value) for text in texts), error.value
        assert code is None or error.value.code == code
        assert name not in self.glaive.json("table", "list")

    def described(self, name="v"):
        return self.glaive.json("view", "describe", name)

    def refresh(self, *options, name="v"):
        result = self.glaive.refresh(name, *options)
        return result["mode"], result["rows_written"]

    def rows(self, *columns, name="v"):
        rows = self.glaive.read(name).select(columns)
        return sorted(zip(*rows.to_pydict().values())) if len(rows) else []

    def dataset(self, name="v"):
        return lance.dataset(str(self.glaive.db / f"{name}.lance"))


@pytest.fixture
def views(glaive, people):
    return Views(glaive)


def person(i, name, age=50):
    return pa.table({"id": pa.array([i], pa.int64()), "name": [name], "age": pa.array([age], pa.int32())})


# ---- creation ----


def test_create_records_the_definition(views, lancedb40):
    views.create("--select", "id", "--select", "up=upper(name)", "--where", "age >= 20", "--limit", "5")
    told = views.described()
    assert told["source_table"] == "people" and told["limit"] == 5 and told["filter"] == "age >= 20"
    assert [(p["output"], p["expression"]) for p in told["projections"]] == [("id", "`id`"), ("up", "upper(name)")]
    assert told["inputs"] == ["age", "id", "name"]
    theirs = lancedb40.open_materialized_view("v").definition
    assert told["query"] == "SELECT id, upper(name) AS up FROM people WHERE age >= 20 LIMIT 5"
    assert theirs.query.replace("`", "") == told["query"]  # it quotes the names of a stored `select`


def test_view_schema_is_derived_from_the_query(views):
    views.create("--select", "up=upper(name)", "--select", "next=age + 1")
    schema = views.dataset().schema
    assert [(f.name, f.type) for f in schema] == [("up", pa.string()), ("next", pa.int32()), ("__source_row_id", pa.uint64())]
    assert views.dataset().count_rows() == 3


def test_with_no_data_skips_initial_refresh(views):
    views.create(data=False)
    assert views.dataset().count_rows() == 0
    assert views.refresh() == ("rebuild", 3)


def test_default_projection_captures_the_source_schema(views):
    views.create()
    assert views.dataset().schema.names == ["id", "name", "age", "__source_row_id"]
    assert views.described()["inputs"] == ["age", "id", "name"]


def test_unknown_column_fails_at_create_time(views):
    views.refused("bad", "missing", words=["--select", "bad=upper(missing)"])


def test_unknown_filter_column_fails_at_create_time(views):
    views.refused("missing", "filter", words=["--select", "id", "--where", "missing > 1"])


def test_duplicate_output_is_rejected(views):
    views.refused("id", words=["--select", "id", "--select", "id=age"], code=4)


@pytest.mark.parametrize("name", ["__source_row_id", "__input_x"])
def test_reserved_output_name_is_rejected(views, name):
    views.refused("reserved", name, words=["--select", f"{name}=id"])


def test_missing_source_fails(views):
    with pytest.raises(GlaiveError) as error:
        views.create(source="nobody")
    assert error.value.code == 3 and "nobody" in str(error.value)


def test_source_without_stable_row_ids_is_refused(views, lancedb40):
    lancedb40.create_table("plain", PEOPLE)
    with pytest.raises(GlaiveError, match="stable row ids"):
        views.create(source="plain")
    assert views.glaive.json("view", "list") == []


def test_name_collision_fails(views, lancedb40):
    lancedb40.create_table("taken", PEOPLE)
    with pytest.raises(GlaiveError) as error:
        views.create(name="taken")
    assert error.value.code == 4 and "taken" in str(error.value)


def test_a_plain_table_is_not_a_view(views):
    for words in (["describe"], ["refresh"], ["drop"], ["status"]):
        with pytest.raises(GlaiveError, match="not a materialized view"):
            views.glaive.run("view", *words, "people")
    assert views.rows("id", name="people") == [(1,), (2,), (3,)]


def test_unrecognized_kind_is_refused_by_name_and_stays_in_the_listing(views, lancedb40):
    views.create(name="joined")
    views.create(name="fine")
    views.dataset("joined").update_schema_metadata({"mv.definition": json.dumps({"kind": "join"})})
    with pytest.raises(GlaiveError, match="join"):
        views.glaive.refresh("joined")
    assert [v["name"] for v in views.glaive.json("view", "list")] == ["fine", "joined"]
    assert "people" not in [v["name"] for v in views.glaive.json("view", "list")]


def test_view_is_stable_despite_connection_override(views, db):
    import lancedb

    unstable = lancedb.connect(str(db), storage_options={"new_table_enable_stable_row_ids": "false"})
    views.create()
    assert views.dataset().has_stable_row_ids and unstable.open_table("v").count_rows() == 3
    views.create(name="above", source="v")
    assert views.rows("id", name="above") == [(1,), (2,), (3,)]


def test_non_boolean_filter_is_rejected(views):
    views.refused("boolean", words=["--where", "age + 1"])


def test_struct_columns_can_be_declared(views, lancedb40):
    rows = [{"id": i, "metadata": {"age": i * 10, "tag": "x"}} for i in (1, 2, 3)]
    lancedb40.create_table("nested", pa.Table.from_pylist(rows), storage_options=STABLE)
    views.create("--select", "id", "--select", "age=metadata.age", "--where", "metadata.age > 10", source="nested")
    assert views.rows("id", "age") == [(2, 20), (3, 30)]
    assert views.described()["inputs"] == ["id", "metadata.age"]


@pytest.mark.parametrize("text", ["random()", "now()", "version()", "arrow_typeof(id)", "arrow_metadata(id, 'k')"])
def test_volatile_and_unstable_expressions_are_rejected(views, text):
    views.refused(words=["--select", f"x={text}"])


@pytest.mark.parametrize("text", ["random() < 0.5", "now() > to_timestamp('2020-01-01')"])
def test_volatile_filters_are_rejected(views, text):
    views.refused(words=["--where", text])


def test_identity_projection_keeps_field_metadata(views, glaive):
    """Blob columns: test_blobs.py."""
    schema = pa.schema([pa.field("id", pa.int64()), pa.field("data", pa.int32(), metadata={"unit": "m"})])
    lance.write_dataset(pa.table({"id": [1], "data": pa.array([2], pa.int32())}, schema=schema), str(glaive.db / "src.lance"),
                        enable_stable_row_ids=True)
    views.create(source="src")
    views.create("--select", "renamed=data", "--select", "made=data + 1", source="src", name="w")
    assert views.dataset().schema.field("data").metadata == {b"unit": b"m"}
    assert views.dataset("w").schema.field("renamed").metadata == {b"unit": b"m"}
    assert not views.dataset("w").schema.field("made").metadata


def test_view_over_a_computed_column(views, people):
    declared = {"computed_column": "true", "computed_column.kind": "sql", "computed_column.expression": "age + 1",
                "computed_column.inputs": '["age"]'}
    views.dataset("people").add_columns(pa.field("next", pa.int32(), metadata=declared | {"unit": "y"}))
    views.create("--select", "next", "--select", "alias=next")
    for name in ("next", "alias"):
        assert views.dataset().schema.field(name).metadata == {b"unit": b"y"}


def test_limit_above_i64_max_is_refused_at_creation(views):
    views.refused("9223372036854775807", words=["--limit", str(2**63)])
    views.create("--limit", str(2**63 - 1))
    assert views.described()["limit"] == 2**63 - 1


def test_drop_is_drop_table(views):
    views.create()
    views.glaive.run("table", "drop", "v")
    assert views.glaive.json("view", "list") == []


def test_drop_materialized_view_rejects_plain_tables(views):
    views.create()
    with pytest.raises(GlaiveError, match="not a materialized view"):
        views.glaive.run("view", "drop", "people")
    views.glaive.run("view", "drop", "v")
    assert views.glaive.json("table", "list") == ["people"]


# ---- refresh ----


def test_first_refresh_materializes_the_view(views):
    views.create("--select", "id", data=False)
    assert views.refresh() == ("rebuild", 3)
    assert views.refresh() == ("no_op", 0)


def test_filter_selects_the_source_rows(views):
    views.create("--select", "id", "--where", "age > 15")
    assert views.rows("id") == [(2,), (3,)]


def test_append_refreshes_incrementally(views, people):
    views.create("--select", "id")
    people.add(person(4, "dan"))
    assert views.refresh() == ("incremental", 1)


def test_incremental_applies_the_filter(views, people):
    views.create("--select", "id", "--where", "age > 15")
    people.add(pa.concat_tables([person(4, "dan", 5), person(5, "eve", 25)]))
    assert views.refresh() == ("incremental", 1)


def test_incremental_with_nothing_matching_advances_the_watermark(views, people):
    views.create("--select", "id", "--where", "age > 100")
    people.add(person(4, "dan"))
    assert views.refresh() == ("incremental", 0)
    assert views.refresh() == ("no_op", 0)


def test_update_replaces_the_rows_it_changed(views, people):
    views.create("--select", "id", "--select", "name")
    people.update(where="id = 2", values={"name": "BOB"})
    assert views.refresh() == ("incremental", 1)
    assert views.rows("id", "name") == [(1, "ada"), (2, "BOB"), (3, "cyd")]


def test_delete_evicts_the_view_rows_it_removed(views, people):
    views.create("--select", "id")
    people.delete("id = 1")
    assert views.refresh() == ("incremental", 0)
    people.delete("id = 2")
    people.add(person(4, "dan"))
    assert views.refresh() == ("incremental", 1)
    assert views.rows("id") == [(3,), (4,)]


def test_merge_insert_by_source_delete_evicts_the_view_rows(views, people):
    views.create("--select", "id")
    people.merge_insert("id").when_not_matched_by_source_delete().execute(PEOPLE.slice(0, 1))
    assert views.refresh()[0] == "incremental"
    assert views.rows("id") == [(1,)]


def test_merge_into_an_empty_source_is_materialized(views, lancedb40):
    empty = lancedb40.create_table("empty", schema=PEOPLE.schema, storage_options=STABLE)
    views.create("--select", "id", source="empty")
    empty.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(PEOPLE)
    assert views.refresh()[0] in ("incremental", "rebuild")
    assert views.rows("id") == [(1,), (2,), (3,)]
    assert views.refresh() == ("no_op", 0)


def test_zero_limit_holds_no_rows(views, people):
    views.create("--limit", "0")
    people.add(person(4, "dan"))
    assert views.refresh()[0] != "no_op"
    assert views.refresh() == ("no_op", 0) and views.dataset().count_rows() == 0


def test_update_touching_a_new_fragment_keeps_its_untouched_rows(views, people):
    views.create("--select", "id", "--select", "name")
    people.add(pa.concat_tables([person(4, "dan"), person(5, "eve")]))
    people.update(where="id = 5", values={"name": "EVE"})
    assert views.refresh()[0] == "incremental"
    assert views.rows("id", "name") == [(1, "ada"), (2, "bob"), (3, "cyd"), (4, "dan"), (5, "EVE")]


def test_compaction_alone_refreshes_incrementally(views, people):
    people.add(person(4, "dan"))
    views.create("--select", "id")
    people.optimize()
    assert views.refresh() == ("incremental", 0)
    assert views.refresh() == ("no_op", 0)


def test_append_after_compaction_stays_incremental(views, people):
    people.add(person(4, "dan"))
    views.create("--select", "id")
    people.optimize()
    people.add(person(5, "eve"))
    assert views.refresh() == ("incremental", 1)


def test_append_folded_into_compaction(views, people):
    """LanceDB rebuilds; the row ids tell enough."""
    people.add(person(4, "dan"))
    views.create("--select", "id")
    people.add(person(5, "eve"))
    people.optimize()
    assert views.refresh() == ("incremental", 1)
    assert views.rows("id") == [(1,), (2,), (3,), (4,), (5,)]


def test_refresh_refuses_a_recreated_source_without_stable_row_ids(views, lancedb40):
    views.create("--select", "id")
    lancedb40.drop_table("people")
    lancedb40.create_table("people", PEOPLE)
    with pytest.raises(GlaiveError, match="stable row ids"):
        views.refresh()


def test_unrelated_column_change_does_not_rebuild(views, people):
    views.create("--select", "id")
    people.add_columns(pa.field("extra", pa.int32()))
    assert views.refresh() == ("incremental", 0)


def test_full_forces_a_rebuild(views):
    views.create("--select", "id")
    assert views.refresh("--full") == ("rebuild", 3)


def test_limit_caps_the_view(views, people):
    views.create("--select", "id", "--limit", "4")
    people.add(pa.concat_tables([person(4, "dan"), person(5, "eve")]))
    assert views.refresh()[1] == 1 and views.dataset().count_rows() == 4
    people.add(person(6, "fay"))
    assert views.refresh()[1] == 0 and views.dataset().count_rows() == 4


def test_limited_view_rebuilds_rather_than_reconcile(views, people):
    views.create("--select", "id", "--select", "name", "--limit", "2")
    people.update(where="id <= 2", values={"name": "new"})
    assert views.refresh()[0] == "rebuild"
    assert set(views.rows("id", "name")) <= {(1, "new"), (2, "new"), (3, "cyd")} and views.dataset().count_rows() == 2


def test_rebuild_retains_indexes(views, people, lancedb40):
    views.create("--select", "id", "--select", "name")
    view = lancedb40.open_table("v")
    view.create_scalar_index("id")
    people.add(person(4, "dan"))
    assert views.refresh("--full") == ("rebuild", 4)
    view.checkout_latest()
    assert [i.name for i in view.list_indices()] == ["id_idx"]
    assert view.search().where("id = 4").to_list()[0]["name"] == "dan"


def test_rebuild_of_an_empty_result_is_an_empty_view(views):
    views.create("--where", "age > 100", data=False)
    assert views.refresh() == ("rebuild", 0)
    assert views.refresh() == ("no_op", 0)


def test_source_row_ids_are_recorded(views, people):
    views.create("--select", "name")
    assert sorted(views.glaive.read("v")["__source_row_id"].to_pylist()) == people.search().with_row_id(True).to_arrow()["_rowid"].to_pylist()


def test_dropping_a_source_input_fails_the_refresh(views, people):
    views.create("--select", "id", "--select", "age")
    people.drop_columns(["age"])
    with pytest.raises(GlaiveError, match="dropped or renamed") as error:
        views.refresh()
    assert "age" in str(error.value)


def test_pinned_refresh_and_catch_up(views, people):
    views.create("--select", "id", data=False)
    first = people.version
    people.add(person(4, "dan"))
    assert views.refresh("--source-version", first) == ("rebuild", 3)
    assert views.refresh() == ("incremental", 1)


def test_a_view_can_source_another_view(views, people):
    views.create()
    views.create(source="v", name="above")
    assert views.dataset("above").schema.names == ["id", "name", "age", "__source_row_id"]
    people.add(person(4, "dan"))
    assert views.refresh() == ("incremental", 1)
    assert views.refresh(name="above") == ("incremental", 1)


def test_direct_view_mutation_forces_a_rebuild(views, lancedb40):
    views.create("--select", "id")
    lancedb40.open_table("v").delete("id = 1")
    assert views.refresh() == ("rebuild", 3)
    assert views.refresh() == ("no_op", 0)


def test_source_recreation_forces_a_rebuild(views, lancedb40):
    views.create("--select", "name")
    version = lancedb40.open_table("people").version
    lancedb40.drop_table("people")
    again = lancedb40.create_table("people", person(9, "zoe"), storage_options=STABLE)
    while again.version < version:
        again.update(where="id = 9", values={"age": again.version})
    assert again.version == version and views.refresh() == ("rebuild", 1)
    assert views.rows("name") == [("zoe",)]


def test_a_view_whose_metadata_was_replaced_starts_a_new_incarnation(views):
    views.create("--select", "id")
    old = views.dataset().schema.metadata
    view = views.dataset()
    definition = old[b"mv.definition"].decode()
    view.replace_schema_metadata({"mv.definition": definition})
    assert b"mv.incarnation" not in views.dataset().schema.metadata
    assert views.refresh() == ("rebuild", 3)
    new = views.dataset().schema.metadata.get(b"mv.incarnation")
    assert new and new != old[b"mv.incarnation"]


def test_a_second_handle_does_not_double_append(views, people, db):
    views.create("--select", "id")
    first, second = (capi.Connection(db) for _ in range(2))
    handles = [capi.View(c, ["v"]) for c in (first, second)]
    people.add(person(4, "dan"))
    assert [h.refresh()[0] for h in handles] == ["incremental", "no_op"]
    assert views.rows("id") == [(1,), (2,), (3,), (4,)]
    for handle, connection in zip(handles, (first, second)):
        handle.close()
        connection.close()


def test_refresh_uses_the_latest_persisted_definition(views, db):
    views.create("--select", "id", "--where", "age > 15")
    connection = capi.Connection(db)
    view = capi.View(connection, ["v"])
    text = views.dataset().schema.metadata[b"mv.definition"].decode()
    views.dataset().update_schema_metadata({"mv.definition": text.replace("age > 15", "age > 25")})
    view.refresh()
    assert views.rows("id") == [(3,)]
    view.close()
    connection.close()


def test_definition_view_schema_mismatch_is_refused(views):
    views.create("--select", "id", "--select", "name")
    text = views.dataset().schema.metadata[b"mv.definition"].decode()
    definition = json.loads(text)
    definition["projections"] = definition["projections"][:1]
    views.dataset().update_schema_metadata({"mv.definition": json.dumps(definition)})
    with pytest.raises(GlaiveError, match="does not produce"):
        views.refresh()


def test_output_names_needing_quotes(views, people):
    views.glaive.run("view", "create", "v", "--as", 'SELECT age * 2 AS "double value" FROM people')
    people.add(person(4, "dan", 7))
    assert views.refresh() == ("incremental", 1)
    assert views.rows("double value") == [(14,), (20,), (40,), (60,)]


def test_a_legacy_storage_source_is_reconciled(views, glaive):
    """Files of version 0.1, which only LanceDB reads: refused by name."""
    lance.write_dataset(PEOPLE, str(glaive.db / "old.lance"), data_storage_version="legacy", enable_stable_row_ids=True)
    with pytest.raises(GlaiveError) as error:
        views.create(source="old")
    assert "table 'old'" in str(error.value) and "which this release does not read" in str(error.value)


def test_bare_select_names_are_quoted(views, lancedb40):
    rows = pa.table({"order item": [1, 2], "select": ["a", "b"], "CamelCase": [3, 4]})
    lancedb40.create_table("odd", rows, storage_options=STABLE)
    views.create("--select", "order item", "--select", "select", "--select", "CamelCase", source="odd")
    assert views.rows("order item", "select", "CamelCase") == [(1, "a", 3), (2, "b", 4)]


def test_namespace_connection_materialized_views(db, glaive):
    import lancedb

    peer = lancedb.connect_namespace("dir", {"root": str(db)})
    peer.create_namespace(["ns"])
    source = peer.create_table("people", PEOPLE, namespace_path=["ns"], storage_options=STABLE)
    glaive.run("view", "create", "ns.v", "--source", "ns.people", "--select", "id")
    source.add(person(4, "dan"))
    assert glaive.refresh("ns.v")["mode"] == "incremental"
    assert sorted(peer.open_table("v", namespace_path=["ns"]).to_arrow()["id"].to_pylist()) == [1, 2, 3, 4]
    assert [v["name"] for v in glaive.json("view", "list", "ns")] == ["v"]
