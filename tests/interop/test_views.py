"""Views made by one engine and refreshed by the others (materialized-views 2.6 and 13)."""
import json
import pathlib

import lance
import lancedb
import pyarrow as pa
import pytest
from conftest import STABLE, GlaiveError, RemoteError

PEOPLE = pa.table({"name": ["ada", "bob", "grace"], "age": pa.array([36, 12, 85], pa.int32())})
MORE = pa.table({"name": ["alan"], "age": pa.array([41], pa.int32())})


def rows(table, *columns):
    """Rows of an Arrow table, a LanceDB table or a list, sorted, without provenance."""
    if not isinstance(table, pa.Table):
        table = table.to_arrow()
    names = columns or [n for n in table.column_names if n != "__source_row_id"]
    return sorted(zip(*(table[n].to_pylist() for n in names)), key=repr)


def expected(source):
    return sorted(((n.upper(), a + 1) for n, a in rows(source, "name", "age") if a >= 18), key=repr)


SELECT = [("shout", "upper(name)"), ("next", "age + 1")]
ARGUMENTS = ["--select", "shout=upper(name)", "--select", "next=age + 1", "--where", "age >= 18"]


def metadata(directory, key):
    return lance.dataset(str(directory)).schema.metadata.get(key.encode(), b"").decode()


def check_view(glaive, lancedb40, name="v", source="people"):
    """Every engine reads the same rows, and they are those of the definition; provenance ids are unique."""
    want = expected(lancedb40.open_table(source))
    assert rows(glaive.read(name)) == want
    assert rows(lancedb40.open_table(name)) == want
    ids = glaive.read(name)["__source_row_id"].to_pylist()
    assert len(set(ids)) == len(ids)


@pytest.fixture
def people(lancedb40):
    return lancedb40.create_table("people", PEOPLE, storage_options=STABLE)


def test_glaive_makes_lancedb_40_refreshes(glaive, lancedb40, people):
    glaive.run("view", "create", "v", "--source", "people", *ARGUMENTS)
    check_view(glaive, lancedb40)
    view = lancedb40.open_materialized_view("v")
    assert view.refresh().mode == "no_op"
    people.add(MORE)
    result = view.refresh()
    assert (result.mode, result.rows_written) == ("incremental", 1)
    check_view(glaive, lancedb40)
    # LanceDB 0.40 rewrote the stored form; Glaive goes on with it and keeps it.
    stored = metadata(glaive.db / "v.lance", "mv.definition")
    assert json.loads(stored)["kind"] == "query"
    people.add(pa.table({"name": ["eve"], "age": pa.array([50], pa.int32())}))
    assert glaive.refresh("v")["mode"] == "incremental"
    assert metadata(glaive.db / "v.lance", "mv.definition") == stored
    check_view(glaive, lancedb40)
    assert view.refresh().mode == "no_op"


def test_lancedb_40_makes_glaive_refreshes(glaive, lancedb40, people):
    lancedb40.create_materialized_view("v", "people", select=SELECT, where="age >= 18")
    stored = metadata(glaive.db / "v.lance", "mv.definition")
    assert glaive.refresh("v")["mode"] == "no_op"
    people.add(MORE)
    result = glaive.refresh("v")
    assert (result["mode"], result["rows_written"]) == ("incremental", 1)
    assert metadata(glaive.db / "v.lance", "mv.definition") == stored
    check_view(glaive, lancedb40)
    view = lancedb40.open_materialized_view("v")
    assert view.refresh().mode == "no_op"
    people.add(MORE)
    assert view.refresh().mode == "incremental"
    check_view(glaive, lancedb40)
    lance.dataset(str(glaive.db / "v.lance")).validate()


def test_glaive_makes_lancedb_39_refreshes(glaive, lancedb39, lancedb40, people):
    glaive.run("view", "create", "v", "--source", "people", *ARGUMENTS)
    stored = metadata(glaive.db / "v.lance", "mv.definition")
    lancedb39("view = db.open_materialized_view('v')")
    assert lancedb39("view.refresh().mode") == "no_op"
    people.add(MORE)
    assert lancedb39("view.refresh().mode") == "incremental"
    check_view(glaive, lancedb40)
    people.add(MORE)
    assert glaive.refresh("v")["mode"] == "incremental"
    assert lancedb39("view.refresh().mode") == "no_op"
    assert metadata(glaive.db / "v.lance", "mv.definition") == stored
    check_view(glaive, lancedb40)


def test_lancedb_39_makes_glaive_refreshes(glaive, lancedb39, lancedb40, people):
    lancedb39(f"view = db.create_materialized_view('v', 'people', select={SELECT!r}, where='age >= 18')")
    stored = metadata(glaive.db / "v.lance", "mv.definition")
    result = glaive.refresh("v")
    assert (result["mode"], result["reason"], result["rows_written"]) == ("rebuild", "first", 2)
    assert lancedb39("view.refresh().mode") == "no_op"
    people.add(MORE)
    assert glaive.refresh("v")["mode"] == "incremental"
    assert metadata(glaive.db / "v.lance", "mv.definition") == stored
    check_view(glaive, lancedb40)
    assert lancedb40.open_materialized_view("v").refresh().mode == "no_op"
    assert metadata(glaive.db / "v.lance", "mv.definition") == stored


def test_same_bytes_as_lancedb_39(glaive, lancedb39, people):
    lancedb39("db.create_materialized_view('theirs', 'people', select=['name', ('shout', 'upper(name)')], where='age >= 18', limit=10)")
    glaive.run("view", "create", "ours", "--source", "people", "--select", "name", "--select", "shout=upper(name)", "--where",
               "age >= 18", "--limit", "10")
    ours = metadata(glaive.db / "ours.lance", "mv.definition")
    assert ours == metadata(glaive.db / "theirs.lance", "mv.definition")
    assert len(ours) == 199


def test_a_namespaced_source_with_a_decoy(glaive, lancedb39, lancedb40, db):
    """Glaive writes a view at the root over hr.eu.people; everything with 0.39 first, 0.40 last (2.6)."""
    glaive.run("ns", "create", "hr")
    glaive.run("ns", "create", "hr.eu")
    glaive.write("hr.eu.people", PEOPLE)
    glaive.write("people", pa.table({"name": ["mallory"], "age": pa.array([42], pa.int32())}))
    glaive.run("view", "create", "v", "--source", "hr.eu.people", *ARGUMENTS, "--with-no-data")
    stored = metadata(db / "v.lance", "mv.definition")
    assert json.loads(stored)["kind"] == "namespaced_select"
    assert json.loads(stored)["source_namespace"] == ["hr", "eu"]
    namespaced = lancedb.connect_namespace("dir", {"root": str(db)})
    source = namespaced.open_table("people", namespace_path=["hr", "eu"])

    def check():
        want = expected(source)
        assert rows(glaive.read("v")) == want
        assert rows(lancedb40.open_table("v")) == want

    lancedb39("view = db.open_materialized_view('v')")
    assert lancedb39("view.refresh().mode") == "rebuild"
    check()
    source.add(MORE)
    assert lancedb39("view.refresh().mode") == "incremental"
    check()
    assert lancedb40.open_materialized_view("v").refresh().mode == "no_op"
    assert metadata(db / "v.lance", "mv.definition") == stored
    source.add(MORE)
    assert glaive.refresh("v")["mode"] == "incremental"
    assert lancedb39("view.refresh().mode") == "no_op"
    check()
    source.add(MORE)
    assert lancedb40.open_materialized_view("v").refresh().mode == "incremental"
    check()
    assert json.loads(metadata(db / "v.lance", "mv.definition"))["kind"] == "query"
    with pytest.raises(RemoteError, match="is defined by 'query'"):
        lancedb39("db.open_materialized_view('v').refresh()")
    source.add(MORE)
    assert glaive.refresh("v")["mode"] == "incremental"
    check()


def test_one_commit_with_rows_and_stamp(glaive, lancedb40, people):
    """Checklist 9, 31, 32: one version, an Update with the filter, the five keys."""
    glaive.run("view", "create", "v", "--source", "people", *ARGUMENTS)
    people.add(MORE)
    before = lance.dataset(str(glaive.db / "v.lance")).version
    result = glaive.refresh("v")
    assert result["version"] == before + 1
    dataset = lance.dataset(str(glaive.db / "v.lance"))
    assert dataset.version == before + 1
    transaction = dataset.read_transaction(dataset.version)
    assert type(transaction.operation).__name__ == "Update"
    source = lance.dataset(str(glaive.db / "people.lance"))
    stamp = {k.decode(): v.decode() for k, v in dataset.schema.metadata.items() if k.startswith(b"mv.")}
    assert set(stamp) == {"mv.definition", "mv.incarnation", "mv.source_version", "mv.source_version_ts", "mv.view_version",
                          "mv.refreshed_at_ms"}
    assert stamp["mv.source_version"] == str(source.version)
    assert stamp["mv.view_version"] == str(dataset.version)
    manifest_ns = timestamp_ns(glaive.db / "people.lance", source.version)
    assert stamp["mv.source_version_ts"] == str(manifest_ns)
    filter_ = inserted_rows(glaive.db / "v.lance", before)
    provenance = next(f.id() for f in dataset.lance_schema.fields() if f.name() == "__source_row_id")
    assert filter_["field_ids"] == [provenance]
    assert (filter_["num_bits"], filter_["items"], filter_["probability"]) == (262144, 8192, 0.00057)
    assert len(filter_["bitmap"]) == 32768
    token = bytes.fromhex("00000002 00080000 20000000 00000010 10000000 04000000 00001000 00000040".replace(" ", ""))
    assert all(a & b == b for a, b in zip(filter_["bitmap"][17120:17152], token))


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, value) pairs of a protobuf message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = data[at:at + 8], at + 8
        else:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def message(data):
    out = {}
    for number, value in fields(data):
        out.setdefault(number, []).append(value)
    return out


def timestamp_ns(directory, version):
    data = (pathlib.Path(directory) / "_versions" / f"{2**64 - 1 - version:020d}.manifest").read_bytes()
    start = int.from_bytes(data[-16:-8], "little")
    size = int.from_bytes(data[start:start + 4], "little")
    stamp = message(message(data[start + 4:start + 4 + size])[7][0])
    return stamp[1][0] * 10**9 + stamp.get(2, [0])[0]


def inserted_rows(directory, read_version):
    import struct

    (path,) = (pathlib.Path(directory) / "_transactions").glob(f"{read_version}-*.txn")
    update = message(message(path.read_bytes())[108][0])
    filter_ = message(update[8][0])
    bloom = message(filter_[3][0])
    ids = filter_[1][0]
    return {
        "field_ids": [ids] if isinstance(ids, int) else [varint(ids, 0)[0]],
        "bitmap": bloom[1][0],
        "num_bits": bloom[2][0],
        "items": bloom[3][0],
        "probability": struct.unpack("<d", bloom[4][0])[0],
    }


@pytest.mark.parametrize("change", ["update", "delete", "overwrite", "compact", "merge"])
def test_other_changes_of_the_source_are_followed(glaive, lancedb40, people, change):
    glaive.run("view", "create", "v", "--source", "people", *ARGUMENTS)
    people.add(MORE)
    assert glaive.refresh("v")["mode"] == "incremental"
    if change == "update":
        people.update(where="name = 'bob'", values={"age": 99})
    elif change == "delete":
        people.delete("name = 'ada'")
    elif change == "overwrite":
        lancedb40.create_table("people", MORE, mode="overwrite", storage_options=STABLE)
        people = lancedb40.open_table("people")
    elif change == "compact":
        lance.dataset(str(glaive.db / "people.lance")).optimize.compact_files()
    else:
        people.merge_insert("name").when_matched_update_all().when_not_matched_insert_all().execute(
            pa.table({"name": ["ada", "new"], "age": pa.array([20, 30], pa.int32())}))
    result = glaive.refresh("v")
    assert (result["mode"], result["reason"]) == ("incremental", "")
    check_view(glaive, lancedb40)
    assert glaive.refresh("v")["mode"] == "no_op"
    assert lancedb40.open_materialized_view("v").refresh().mode == "no_op"
    lancedb40.open_table("people").add(MORE)
    assert glaive.refresh("v")["mode"] == "incremental"
    check_view(glaive, lancedb40)


@pytest.mark.parametrize("what", ["index", "optimize", "config", "nothing"])
def test_maintenance_of_the_view_by_others_is_no_drift(glaive, lancedb40, people, what):
    people.add(pa.table({"name": [f"n{i}" for i in range(300)], "age": pa.array(range(300), pa.int32())}))
    glaive.run("view", "create", "v", "--source", "people", *ARGUMENTS)
    table = lancedb40.open_table("v")
    if what == "index":
        table.create_scalar_index("next")
    elif what == "optimize":
        people.add(MORE)
        assert glaive.refresh("v")["mode"] == "incremental"
        table.checkout_latest()
        table.optimize()
    elif what == "config":
        lance.dataset(str(glaive.db / "v.lance")).update_config({"k": "v"})
    head = lance.dataset(str(glaive.db / "v.lance")).version
    result = glaive.refresh("v")
    assert result["mode"] == "no_op"
    if what == "nothing":
        assert result["version"] == head
    else:
        assert result["version"] == head + 1  # exactly one stamp-only commit
        assert metadata(glaive.db / "v.lance", "mv.view_version") == str(head + 1)
    assert glaive.refresh("v")["version"] == result["version"]
    assert lancedb40.open_materialized_view("v").refresh().mode == "no_op"
    people.add(MORE)
    assert glaive.refresh("v")["mode"] == "incremental"
    check_view(glaive, lancedb40)


def test_drift(glaive, lancedb40, people):
    glaive.run("view", "create", "v", "--source", "people", *ARGUMENTS)
    lancedb40.open_table("v").delete("shout = 'ADA'")
    result = glaive.refresh("v")
    assert (result["mode"], result["reason"]) == ("rebuild", "drift")
    check_view(glaive, lancedb40)
    assert glaive.refresh("v")["mode"] == "no_op"


def test_gone_versions(glaive, lancedb40, people):
    """Checklist 29: manifests that a cleanup removed."""
    import datetime

    glaive.run("view", "create", "v", "--source", "people", *ARGUMENTS)
    people.add(MORE)
    people.add(MORE)
    lance.dataset(str(glaive.db / "people.lance")).cleanup_old_versions(datetime.timedelta(0))
    result = glaive.refresh("v")
    assert (result["mode"], result["reason"]) == ("rebuild", "watermark_gone")
    check_view(glaive, lancedb40)
    table = lancedb40.open_table("v")
    table.create_scalar_index("next")
    lance.dataset(str(glaive.db / "v.lance")).update_config({"k": "v"})
    lance.dataset(str(glaive.db / "v.lance")).cleanup_old_versions(datetime.timedelta(0))
    result = glaive.refresh("v")
    assert (result["mode"], result["reason"]) == ("rebuild", "stamp_gone")
    check_view(glaive, lancedb40)


@pytest.mark.parametrize("key, value", [("mv.source_version", "many"), ("mv.source_version", ""), ("mv.source_version", "-1"),
                                        ("mv.source_version", "1.0"), ("mv.source_version", "18446744073709551616"),
                                        ("mv.view_version", "x"), ("mv.source_version_ts", "soon")])
def test_damaged_watermark_numbers(glaive, lancedb40, people, key, value):
    """Checklist 30: a stamp that cannot be read is no stamp: all rows are computed anew, once."""
    glaive.run("view", "create", "v", "--source", "people", *ARGUMENTS)
    dataset = lance.dataset(str(glaive.db / "v.lance"))
    dataset.update_schema_metadata({key: value})
    result = glaive.refresh("v")
    assert (result["mode"], result["reason"]) == ("rebuild", "first" if key == "mv.source_version" else "drift")
    check_view(glaive, lancedb40)
    assert glaive.refresh("v")["mode"] == "no_op"
    assert lancedb40.open_materialized_view("v").refresh().mode == "no_op"


def test_swapped_and_readded_columns_rebuild(glaive, lancedb40, db):
    """Upstream defects D1 and D2 for sources that were only appended to otherwise."""
    source = lancedb40.create_table("s", pa.table({"x": [1, 2], "y": [10, 20]}), storage_options=STABLE)
    glaive.run("view", "create", "v", "--source", "s", "--select", "x")
    source.alter_columns({"path": "x", "rename": "tmp"})
    source.alter_columns({"path": "y", "rename": "x"}, )
    source.alter_columns({"path": "tmp", "rename": "y"})
    result = glaive.refresh("v")
    assert (result["mode"], result["reason"]) == ("rebuild", "input_identity")
    assert rows(glaive.read("v")) == [(10,), (20,)]
    source.drop_columns(["x"])
    source.add_columns(pa.field("x", pa.int64()))
    result = glaive.refresh("v")
    assert (result["mode"], result["reason"]) == ("rebuild", "input_identity")
    assert rows(glaive.read("v")) == [(None,), (None,)]


@pytest.mark.parametrize("stored, state, message", [
    ('{"kind":"join","projections":[],"source_table":"people"}', "newer:kind 'join'", "cannot refresh"),
    ('{"format":5,"kind":"query","query":"SELECT name FROM people"}', "newer:5", "cannot refresh"),
    ("not json", "unreadable:", "unreadable materialized view definition"),
    ('{"kind":"select","projections":[],"source_namespace":["ns"],"source_table":"t"}', "unreadable:", "does not match its source namespace"),
    ('{"format":1,"kind":"query","query":"SELECT name FROM people ORDER BY name"}', "unreadable:", "unreadable"),
])
def test_definitions_that_cannot_be_refreshed(glaive, lancedb40, people, stored, state, message):
    glaive.run("view", "create", "v", "--source", "people", *ARGUMENTS)
    glaive.run("view", "create", "fine", "--source", "people")
    lance.dataset(str(glaive.db / "v.lance")).update_schema_metadata({"mv.definition": stored})
    listed = {v["name"]: v["state"] for v in glaive.json("view", "list")}
    assert listed["fine"] == "ok"
    assert listed["v"].startswith(state)
    for command in (["view", "describe", "v"], ["view", "refresh", "v"]):
        with pytest.raises(GlaiveError, match=message.replace("(", ".")):
            glaive.run(*command)
    glaive.run("view", "drop", "v")
    assert [v["name"] for v in glaive.json("view", "list")] == ["fine"]


def test_stored_expressions_fill_alike_everywhere(glaive, lancedb39, lancedb40, people):
    """Checklist 49: text cut out of SQL, wrapped where the others need it."""
    sql = ("SELECT name AS n, age*2  AS twice, CASE WHEN age > 18 THEN 'adult' ELSE 'child' END AS kind, "
           "upper(name /* their name */) AS shout FROM people WHERE \"age\" > 1")
    glaive.run("view", "create", "ours", "--as", sql)
    definition = json.loads(metadata(glaive.db / "ours.lance", "mv.definition"))
    select = [(p["output"], p["expression"]) for p in definition["projections"]]
    assert select[2][1] == "coalesce(CASE WHEN age > 18 THEN 'adult' ELSE 'child' END, NULL)"
    lancedb40.create_materialized_view("made40", "people", select=select, where=definition["filter"])
    lancedb39(f"db.create_materialized_view('made39', 'people', select={select!r}, where={definition['filter']!r}).refresh()")
    want = rows(glaive.read("ours"))
    assert want == rows(lancedb40.open_table("made40")) == rows(lancedb40.open_table("made39"))
    assert len(want) == 3


def test_raw_double_quotes_of_old_releases(glaive, lancedb40, people):
    """Checklist 7: a legacy filter with "x" is stored anew in the same form, with a rebuild."""
    glaive.run("view", "create", "v", "--source", "people", "--select", "name", "--where", "age >= 18")
    path = glaive.db / "v.lance"
    stored = metadata(path, "mv.definition").replace("age >= 18", '\\"age\\" >= 18')
    lance.dataset(str(path)).update_schema_metadata({"mv.definition": stored})
    version = lance.dataset(str(path)).version
    lance.dataset(str(path)).update_schema_metadata({"mv.view_version": str(version + 1)})
    result = glaive.refresh("v")
    assert (result["mode"], result["reason"]) == ("rebuild", "definition")
    definition = json.loads(metadata(path, "mv.definition"))
    assert (definition["kind"], definition["filter"]) == ("select", "`age` >= 18")
    assert glaive.refresh("v")["mode"] == "no_op"


def test_empty_projection_list(glaive, lancedb40, people):
    """Checklist 8: S1 with projections [] is refreshed and kept."""
    glaive.run("view", "create", "v", "--source", "people", "--select", "name", "--with-no-data")
    path = glaive.db / "v.lance"
    dataset = lance.dataset(str(path))
    dataset.drop_columns(["name"])
    stored = '{"inputs":[],"kind":"select","projections":[],"source_table":"people"}'
    lance.dataset(str(path)).update_schema_metadata({"mv.definition": stored})
    assert glaive.refresh("v")["mode"] == "rebuild"
    assert metadata(path, "mv.definition") == stored
    assert glaive.read("v").column_names == ["__source_row_id"]
    assert len(glaive.read("v")) == 3


def test_a_lost_transaction_rebuilds(glaive, people, lancedb40):
    """Checklist 29: a version whose transaction is gone proves nothing about column identity."""
    glaive.run("view", "create", "v", "--source", "people", *ARGUMENTS)
    people.add(MORE)
    directory = glaive.db / "people.lance"
    version = lance.dataset(str(directory)).version
    for path in (directory / "_transactions").glob(f"{version - 1}-*.txn"):
        path.unlink()
    manifest = directory / "_versions" / f"{2**64 - 1 - version:020d}.manifest"
    data = bytearray(manifest.read_bytes())
    start = int.from_bytes(data[-16:-8], "little")
    size = int.from_bytes(data[start:start + 4], "little")
    body = data[start + 4:start + 4 + size]
    # Fields 21, 23 (inline transaction) and 12 (name of the file) leave the manifest.
    kept, at = bytearray(), 0
    while at < len(body):
        begin = at
        key, at = varint(body, at)
        if key & 7 == 2:
            length, at = varint(body, at)
            at += length
        elif key & 7 == 0:
            _, at = varint(body, at)
        else:
            at += 8
        if key >> 3 not in (12, 21, 23):
            kept += body[begin:at]
    manifest.write_bytes(data[:start] + len(kept).to_bytes(4, "little") + kept + data[-16:])
    result = glaive.refresh("v")
    assert (result["mode"], result["reason"]) == ("rebuild", "input_identity")
    check_view(glaive, lancedb40)


def test_racing_refreshers(glaive, lancedb40, people):
    """Checklist 34: Glaive and LanceDB 0.40 refresh one view at once while the source grows."""
    import os
    import subprocess
    import sys

    from conftest import PROGRAM

    rounds = 200 if os.environ.get("GLAIVE_LONG") else 12
    glaive.run("view", "create", "v", "--source", "people", *ARGUMENTS)
    code = ("import lancedb, sys\nv = lancedb.connect(sys.argv[1]).open_materialized_view('v')\nfor line in sys.stdin:\n"
            "    try:\n        v.refresh(); print('ok', flush=True)\n    except Exception as e:\n        print('error', str(e)[:200].replace(chr(10), ' '), flush=True)\n")
    peer = subprocess.Popen([sys.executable, "-c", code, str(glaive.db)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    ours_failed = 0
    for i in range(rounds):
        people.add(pa.table({"name": [f"p{i}"], "age": pa.array([30 + i % 40], pa.int32())}))
        ours = subprocess.Popen([PROGRAM, "--db", str(glaive.db), "view", "refresh", "v"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        peer.stdin.write("go\n")
        peer.stdin.flush()
        answer = peer.stdout.readline()
        _, err = ours.communicate()
        if ours.returncode != 0:
            assert ours.returncode == 5, err
            ours_failed += 1
        assert answer.startswith("ok") or "conflict" in answer.lower() or "raced" in answer or "concurrent" in answer.lower(), answer
        ids = glaive.read("v")["__source_row_id"].to_pylist()
        assert len(set(ids)) == len(ids)
    peer.stdin.close()
    peer.wait()
    glaive.refresh("v")
    check_view(glaive, lancedb40)
    assert ours_failed <= rounds // 2


def test_odd_output_names(glaive, lancedb39, lancedb40, people):
    """Checklist 3: names that JSON must escape, or must not, are the same text for every engine."""
    odd = 'q" b\\ \x01 \x1f \x7f é /'
    glaive.run("view", "create", "v", "--as", 'SELECT age AS "' + odd.replace('"', '""') + '" FROM people')
    stored = metadata(glaive.db / "v.lance", "mv.definition")
    assert '"output":"q\\" b\\\\ \\u0001 \\u001f \x7f é /"' in stored
    assert json.loads(stored)["projections"][0]["output"] == odd
    assert glaive.json("view", "describe", "v")["projections"][0]["output"] == odd
    assert lancedb40.open_table("v").schema.names == [odd, "__source_row_id"]
    lancedb39("view = db.open_materialized_view('v')")
    assert lancedb39("view.definition.projections") == [[odd, "`age`"]]
    assert lancedb39("view.refresh().mode") == "no_op"
    people.add(MORE)
    assert lancedb39("view.refresh().mode") == "incremental"
    people.add(MORE)
    assert lancedb40.open_materialized_view("v").refresh().mode == "incremental"
    people.add(MORE)
    assert glaive.refresh("v")["mode"] == "incremental"
    assert sorted(lancedb40.open_table("v").to_arrow()[odd].to_pylist()) == [12, 36, 41, 41, 41, 85]


def test_pins(glaive, lancedb40, people):
    """Checklist 28: every position of a pinned source version, against rows of that version."""
    people.add(MORE)
    people.add(MORE)
    glaive.run("view", "create", "v", "--source", "people", *ARGUMENTS, "--with-no-data")

    def pinned(version, *options):
        result = glaive.refresh("v", "--source-version", version, *options)
        assert result["source_version"] == version
        at = lance.dataset(str(glaive.db / "people.lance"), version=version).to_table()
        assert rows(lancedb40.open_table("v")) == expected(at)
        return result["mode"]

    assert pinned(2) == "rebuild"  # the first
    assert pinned(3) == "incremental"  # above the watermark
    assert pinned(3) == "no_op"  # equal
    assert pinned(1) == "incremental"  # below
    assert pinned(1, "--full") == "rebuild"
    assert glaive.refresh("v")["mode"] == "incremental"
    assert glaive.refresh("v", "--full")["mode"] == "rebuild"  # up to date, and yet
    for missing, code in ((99, 3), (0, 1)):
        version = lance.dataset(str(glaive.db / "v.lance")).version
        with pytest.raises(GlaiveError) as error:
            glaive.refresh("v", "--source-version", missing)
        assert error.value.code == code and str(missing) in str(error.value)
        assert lance.dataset(str(glaive.db / "v.lance")).version == version
    check_view(glaive, lancedb40)
    assert lancedb40.open_materialized_view("v").refresh().mode == "no_op"


def test_a_source_at_another_location(glaive, lancedb39, lancedb40, db):
    """A source whose directory is not named like it: creation and every refresh read what the recorded name resolves to, and
    neither a table of that name elsewhere nor the directory's own name matters."""
    import lance_namespace

    namespaced = lancedb.connect_namespace("dir", {"root": str(db)})
    namespaced.create_namespace(["ns"])
    lance.write_dataset(PEOPLE, str(db / "custom" / "place"), enable_stable_row_ids=True)
    lance_namespace.connect("dir", {"root": str(db)}).register_table(
        lance_namespace.RegisterTableRequest(id=["ns", "people"], location="custom/place"))
    glaive.write("people", pa.table({"name": ["mallory"], "age": pa.array([42], pa.int32())}))
    glaive.write("place", pa.table({"name": ["trudy"], "age": pa.array([43], pa.int32())}))
    glaive.run("view", "create", "v", "--source", "ns.people", *ARGUMENTS)
    definition = glaive.json("view", "describe", "v")
    assert (definition["source_table"], definition["source_namespace"]) == ("people", ["ns"])
    assert rows(lancedb40.open_table("v")) == expected(PEOPLE)
    lance.write_dataset(MORE, str(db / "custom" / "place"), mode="append")
    assert glaive.refresh("v")["mode"] == "incremental"
    want = expected(pa.concat_tables([PEOPLE, MORE]))
    assert rows(lancedb40.open_table("v")) == want
    assert lancedb39("db.open_materialized_view('v').refresh().mode") == "no_op"
    with pytest.raises(GlaiveError) as error:  # the directory's own name is no coordinate
        glaive.run("view", "create", "w", "--source", "ns.place")
    assert error.value.code == 3


def test_a_source_that_changes_under_its_name(glaive, lancedb40, people):
    """The recorded coordinate decides, not the dataset that was there at creation: a new table of that name is read anew."""
    glaive.run("view", "create", "v", "--source", "people", *ARGUMENTS)
    lancedb40.drop_table("people")
    with pytest.raises(GlaiveError) as error:
        glaive.refresh("v")
    assert error.value.code == 3 and "people" in str(error.value)
    assert rows(glaive.read("v")) == expected(PEOPLE)
    lancedb40.create_table("people", MORE, storage_options=STABLE)
    result = glaive.refresh("v")
    assert (result["mode"], result["reason"]) == ("rebuild", "source_recreated")
    check_view(glaive, lancedb40)


def test_parsers_of_the_other_engines_read_ours(glaive, lancedb39, lancedb40, people, db):
    """The stored kinds: a root source keeps the form without a namespace, a namespaced one moves to the kind of its own."""
    from lancedb.materialized_view import _definition_from_schema

    glaive.run("ns", "create", "ns")
    glaive.write("ns.people", PEOPLE)
    glaive.run("view", "create", "root", "--source", "people", "--select", "name")
    glaive.run("view", "create", "spaced", "--source", "ns.people", "--select", "name")
    root, spaced = (json.loads(metadata(db / f"{n}.lance", "mv.definition")) for n in ("root", "spaced"))
    assert root["kind"] == "select" and "source_namespace" not in root
    assert (spaced["kind"], spaced["source_namespace"]) == ("namespaced_select", ["ns"])
    for name, namespace in (("root", []), ("spaced", ["ns"])):
        lancedb39(f"view = db.open_materialized_view({name!r})")
        assert lancedb39("view.definition.source_table") == "people"
        assert lancedb39("view.definition.source_namespace") == namespace
        assert "people" in str(_definition_from_schema(lancedb40.open_table(name).schema, name))
