"""Namespaces and their tables made by one engine and seen by the others (namespaces.md 13)."""
import json
import os
import re

import lance
import lance_namespace
import lancedb
import pyarrow as pa
import pytest
from capi import Connection, Failed
from conftest import STABLE, GlaiveError

ROWS = pa.table({"id": [1, 2, 3]})


@pytest.fixture
def directory(db):
    return lancedb.connect_namespace("dir", {"root": str(db)})


def names(listing):
    return sorted(listing.tables if hasattr(listing, "tables") else listing.namespaces if hasattr(listing, "namespaces") else listing)


def test_root_tables_need_no_catalog(glaive, lancedb40, db):
    glaive.write("t", ROWS)
    assert names(lancedb40.list_tables()) == ["t"]
    lancedb40.create_table("plain", ROWS)
    assert glaive.json("table", "list") == ["plain", "t"]
    assert not (db / "__manifest").exists()


def test_namespaces_of_ours(glaive, directory, db):
    glaive.run("ns", "create", "ns", "--property", "k=v")
    glaive.run("ns", "create", "ns.sub")
    assert names(directory.list_namespaces()) == ["ns"]
    assert names(directory.list_namespaces(namespace_path=["ns"])) == ["sub"]
    assert directory.describe_namespace(["ns"]).properties == {"k": "v"}
    rows = lance.dataset(str(db / "__manifest")).to_table().to_pylist()
    assert {"object_id": "ns", "object_type": "namespace", "location": None, "metadata": '{"k":"v"}', "base_objects": None} in rows
    schema = lance.dataset(str(db / "__manifest")).schema
    assert [f.nullable for f in schema] == [False, False, True, True, True]
    assert schema.field("object_id").metadata == {b"lance-schema:unenforced-primary-key:position": b"0"}
    glaive.run("ns", "drop", "ns.sub")
    assert names(directory.list_namespaces(namespace_path=["ns"])) == []


def test_tables_of_theirs(glaive, directory, server39, db):
    directory.create_namespace(["p"])
    directory.create_table("c", ROWS, namespace_path=["p"])
    assert glaive.json("ns", "list") == ["p"]
    assert glaive.json("table", "list", "p") == ["p.c"]
    assert glaive.read("p.c")["id"].to_pylist() == [1, 2, 3]
    server39(f"d = lancedb.connect_namespace('dir', {{'root': {str(db)!r}}})")
    server39("d.create_namespace(['q'])")
    server39("d.create_table('c', pa.table({'id': [7]}), namespace_path=['q'])")
    assert glaive.read("q.c")["id"].to_pylist() == [7]
    glaive.run("table", "drop", "p.c")
    with pytest.raises(Exception, match="not found"):
        directory.open_table("c", namespace_path=["p"])
    directory.drop_table("c", namespace_path=["q"])
    with pytest.raises(GlaiveError) as error:
        glaive.read("q.c")
    assert error.value.code == 3


def test_tables_of_ours(glaive, directory, server39, db):
    glaive.run("ns", "create", "ns")
    glaive.write("ns.g", ROWS)
    (place,) = [p.name for p in db.iterdir() if p.name.endswith("_ns$g")]
    assert re.fullmatch(r"[0-9a-f]{8}_ns\$g", place)
    assert (db / place / ".lance-reserved").exists()
    assert directory.open_table("g", namespace_path=["ns"]).count_rows() == 3
    server39(f"d = lancedb.connect_namespace('dir', {{'root': {str(db)!r}}})")
    assert server39("d.open_table('g', namespace_path=['ns']).count_rows()") == 3
    directory.create_table("g", pa.table({"id": range(5)}), namespace_path=["ns"], mode="overwrite")
    assert [p.name for p in db.iterdir() if p.name.endswith("_ns$g")] == [place]
    assert glaive.json("table", "count", "ns.g")["count"] == 5
    glaive.write("ns.g", pa.table({"id": [9]}), "--overwrite")
    assert directory.open_table("g", namespace_path=["ns"]).count_rows() == 1
    with pytest.raises(GlaiveError, match="1"):
        glaive.run("ns", "drop", "ns")
    glaive.run("table", "drop", "ns.g")
    assert not (db / place).exists()
    glaive.run("ns", "drop", "ns")
    assert names(directory.list_namespaces()) == []


def test_views_in_namespaces_are_tables_to_them(glaive, directory, db):
    glaive.run("ns", "create", "ns")
    glaive.write("ns.src", ROWS)
    glaive.write("src", pa.table({"id": [42]}))
    glaive.run("view", "create", "ns.v", "--as", "SELECT id FROM ns.src WHERE id > 1")
    assert names(directory.list_tables(namespace_path=["ns"])) == ["src", "v"]
    assert sorted(directory.open_table("v", namespace_path=["ns"]).to_arrow()["id"].to_pylist()) == [2, 3]


def test_orphans_are_served(glaive, directory):
    directory.create_table("t", ROWS, namespace_path=["nope"])
    assert glaive.json("table", "list", "nope") == ["nope.t"]
    assert glaive.json("table", "count", "nope.t")["count"] == 3
    with pytest.raises(GlaiveError) as error:
        glaive.write("nope2.t", ROWS)
    assert error.value.code == 3
    glaive.run("table", "drop", "nope.t")
    assert glaive.json("table", "list", "nope") == []


def test_many_processes_and_one_name(glaive, directory, db):
    """Checklist 20 in short: creators of both kinds at once; every distinct name exists, one creator wins the common one."""
    import subprocess
    import sys

    from conftest import PROGRAM

    code = ("import lancedb, sys\nd = lancedb.connect_namespace('dir', {'root': sys.argv[1]})\nwins = 0\n"
            "for n in sys.argv[2:]:\n    try:\n        d.create_namespace([n]); wins += n == 'common'\n    except Exception:\n        pass\nprint(wins)")
    processes = []
    for i in range(2):
        own = [f"p{i}x{j}" for j in range(4)]
        processes.append(subprocess.Popen([sys.executable, "-c", code, str(db), *own[:2], "common", *own[2:]], stdout=subprocess.PIPE, text=True))
        shell = " ; ".join(f"{PROGRAM} --db {db} ns create {n} >/dev/null 2>&1 && [ {n} = common ] && echo won"
                           for n in [f"g{i}x0", f"g{i}x1", "common", f"g{i}x2", f"g{i}x3"])
        processes.append(subprocess.Popen(["bash", "-c", shell], stdout=subprocess.PIPE, text=True))
    outputs = [p.communicate()[0] for p in processes]
    assert sum(o.count("1") + o.count("won") for o in outputs) == 1
    want = {"common"} | {f"{k}{i}x{j}" for k in "pg" for i in range(2) for j in range(4)}
    assert set(glaive.json("ns", "list")) == want
    assert set(names(directory.list_namespaces())) == want


# Numbers in the names below are those of the checklist.


@pytest.fixture
def ours(db):
    """Connections of both kinds, through the exported functions."""
    opened = []

    def connect(namespace=False):
        opened.append(Connection(db, namespace))
        return opened[-1]

    yield connect
    for connection in opened:
        connection.close()


def catalog_rows(db):
    return {r["object_id"]: r for r in lance.dataset(str(db / "__manifest")).to_table().to_pylist()}


def add_rows(db, *rows):
    """Plain append by pylance; a row is (id, type, location, metadata)."""
    path = str(db / "__manifest")
    columns = list(zip(*rows))
    schema = lance.dataset(path).schema
    arrays = [pa.array(columns[i], pa.string()) for i in range(4)] + [pa.nulls(len(rows), schema.field("base_objects").type)]
    lance.write_dataset(pa.table(arrays, schema=schema), path, mode="append")


def all_pages(get, limit):
    found, token = [], None
    while True:
        names_, token = get(limit, token)
        assert len(names_) <= limit
        found += names_
        if not token:
            return found


def test_9_and_10_pages(glaive, lancedb40, ours):
    for i, name in enumerate(["b", "C", "a", "A", "d"]):
        if i % 2:
            glaive.write(name, ROWS)
        else:
            lancedb40.create_table(name, ROWS)
    order = ["A", "C", "a", "b", "d"]
    connection = ours()
    assert glaive.json("table", "list") == order
    assert list(lancedb40.list_tables().tables) == order

    def theirs(limit, token):
        page = lancedb40.list_tables(limit=limit, page_token=token)
        return list(page.tables), page.page_token

    for limit in (1, 2, 3, 5):
        assert all_pages(lambda n, t: connection.page("table", (), n, t), limit) == order
        assert all_pages(theirs, limit) == order
    _, token = theirs(2, None)
    assert token == "C.lance/"
    assert connection.page("table", (), 2, token) == (["a", "b"], "b")
    assert theirs(2, "C.lance/")[0] == ["a", "b"]
    assert connection.page("table", (), 0) == ([], None)
    assert connection.page("table", (), 2, "zz") == ([], None)
    assert lancedb40.list_tables(limit=0).tables == []
    assert connection.page("namespace", (), 0) == ([], None)


def test_11_names(glaive, lancedb40):
    glaive.run("ns", "create", "ns")
    for name in ["", "a$b", "a b", "..", ".", "é", "a/b", "%2e%2e"]:
        quoted = '"' + name + '"'
        for words in (["ns", "create", quoted], ["ns", "create", f"ns.{quoted}"]):
            with pytest.raises(GlaiveError) as error:
                glaive.run(*words)
            assert error.value.code == 1, str(error.value)
        for place in (quoted, f"ns.{quoted}"):
            with pytest.raises(GlaiveError) as error:
                glaive.write(place, ROWS)
            assert error.value.code == 1, str(error.value)
    assert glaive.json("table", "list") == [] and glaive.json("ns", "list") == ["ns"]
    glaive.write('"a.b-c_D"', ROWS)
    assert lancedb40.open_table("a.b-c_D").count_rows() == 3


def test_13_and_14_rows_appended_and_deleted_by_pylance(glaive, directory, db):
    glaive.run("ns", "create", "ns")
    add_rows(db, ("n2", "namespace", None, None))
    assert glaive.json("ns", "list") == ["n2", "ns"]
    glaive.run("ns", "create", "n3")
    assert set(catalog_rows(db)) == {"ns", "n2", "n3"}
    assert len(lance.dataset(str(db / "__manifest")).get_fragments()) == 1
    assert names(directory.list_namespaces()) == ["n2", "n3", "ns"]
    lance.dataset(str(db / "__manifest")).delete("object_id = 'n2'")
    assert glaive.json("ns", "list") == ["n3", "ns"]
    glaive.run("ns", "create", "n4")
    assert set(catalog_rows(db)) == {"ns", "n3", "n4"}
    lance.dataset(str(db / "__manifest")).validate()


def test_15_duplicate_rows(glaive, directory, db):
    glaive.run("ns", "create", "ns")
    add_rows(db, ("ns", "namespace", None, None))
    assert glaive.json("ns", "list") == ["ns"]
    assert list(directory.list_namespaces().namespaces) == ["ns", "ns"]
    with pytest.raises(GlaiveError, match="duplicate object_id 'ns'"):
        glaive.run("ns", "create", "n2")


def test_16_rows_of_unknown_types_are_kept(glaive, db):
    glaive.run("ns", "create", "ns")
    add_rows(db, ("ns$v", "view", "some/where", "not json"))
    kept = catalog_rows(db)["ns$v"]
    assert glaive.json("ns", "list") == ["ns"] and glaive.json("table", "list", "ns") == []
    glaive.run("ns", "create", "n2")
    assert catalog_rows(db)["ns$v"] == kept


def test_17_feature_flags(glaive, lancedb40, db):
    key = "lance.namespace.manifest.{}_feature_flags"
    glaive.run("ns", "create", "ns")
    glaive.write("ns.c", ROWS)
    glaive.write("t", ROWS)
    catalog = lance.dataset(str(db / "__manifest"))
    catalog.update_metadata({key.format("writer"): "1"})
    files = set((db / "__manifest" / "data").iterdir())
    assert glaive.json("ns", "list") == ["ns"] and glaive.json("table", "count", "ns.c")["count"] == 3
    for words in (["ns", "create", "n2"], ["table", "drop", "ns.c"], ["ns", "drop", "ns", "--cascade"]):
        with pytest.raises(GlaiveError, match="please upgrade"):
            glaive.run(*words)
    with pytest.raises(GlaiveError, match="please upgrade"):
        glaive.write("ns.d", ROWS)
    assert set((db / "__manifest" / "data").iterdir()) == files
    assert glaive.json("table", "count", "ns.c")["count"] == 3
    catalog.update_metadata({key.format("reader"): "1"})
    for words in (["ns", "list"], ["table", "count", "ns.c"], ["table", "count", "t"], ["table", "list"]):
        with pytest.raises(GlaiveError, match="please upgrade") as error:
            glaive.run(*words)
        assert error.value.code == 1
    with pytest.raises(Exception, match="upgrade"):
        lancedb.connect(str(db)).list_tables()
    catalog.update_metadata({key.format("reader"): "0", key.format("writer"): "0", "mine": "kept"})
    glaive.run("ns", "create", "n2")
    assert lance.dataset(str(db / "__manifest")).metadata["mine"] == "kept"  # a rewrite keeps what it does not know


def rewrite_catalog(db, schema=None, version="2.2"):
    """The catalog written anew by pylance, with another schema or storage version."""
    path = str(db / "__manifest")
    data = lance.dataset(path).to_table()
    lance.write_dataset(data.cast(schema or data.schema), path + ".new", data_storage_version=version)
    os.rename(path, path + ".old")
    os.rename(path + ".new", path)


@pytest.mark.parametrize("version", ["2.0", "2.1"])
def test_18_catalogs_of_older_storage_versions(glaive, db, version):
    """They are read, and written in their own version."""
    glaive.run("ns", "create", "old")
    rewrite_catalog(db, version=version)
    assert glaive.json("ns", "list") == ["old"]
    glaive.run("ns", "create", "n2")
    assert sorted(glaive.json("ns", "list")) == ["n2", "old"]
    files = [file for fragment in lance.dataset(str(db / "__manifest")).get_fragments() for file in fragment.data_files()]
    assert {f"{file.file_major_version}.{file.file_minor_version}" for file in files} == {version}
    reference = lancedb.connect_namespace("dir", {"root": str(db)})
    assert sorted(reference.list_namespaces().namespaces) == ["n2", "old"]


def test_19_catalogs_without_primary_key_metadata(glaive, directory, db):
    directory.create_namespace(["p"])
    path = str(db / "__manifest")
    schema = lance.dataset(path).schema
    rewrite_catalog(db, schema.set(0, schema.field(0).remove_metadata()))
    assert not lance.dataset(path).schema.field("object_id").metadata
    assert glaive.json("ns", "list") == ["p"]
    glaive.run("ns", "create", "g")
    assert lance.dataset(path).schema.field("object_id").metadata == {b"lance-schema:unenforced-primary-key:position": b"0"}
    version = lance.dataset(path).version
    lancedb.connect_namespace("dir", {"root": str(db)}).create_namespace(["q"])
    assert lance.dataset(path).version == version + 1  # no extra commit of the metadata
    assert glaive.json("ns", "list") == ["g", "p", "q"]


def test_22_stale_root_rows(glaive, directory, lancedb40, db):
    directory.create_table("t", ROWS)
    lancedb40.drop_table("t")
    assert "t" in catalog_rows(db) and not (db / "t.lance").exists()
    glaive.write("t", pa.table({"id": [7]}))
    assert directory.open_table("t").to_arrow()["id"].to_pylist() == [7]
    glaive.run("table", "drop", "t")
    assert "t" not in catalog_rows(db) and not (db / "t.lance").exists()
    directory.create_table("t", ROWS)  # the reference fails here when it dropped the table itself
    assert glaive.json("table", "count", "t")["count"] == 3


def test_23_adopted_tables(glaive, directory, db):
    glaive.write("t", ROWS)
    with pytest.raises(Exception, match="exists"):
        directory.create_table("t", ROWS)
    assert "t" in catalog_rows(db)
    glaive.run("table", "drop", "t")
    assert "t" not in catalog_rows(db) and not (db / "t.lance").exists()


def test_24_declared_tables(glaive, directory, db):
    directory.create_namespace(["ns"])
    lance_namespace.connect("dir", {"root": str(db)}).declare_table(lance_namespace.DeclareTableRequest(id=["ns", "d"]))
    place = catalog_rows(db)["ns$d"]["location"]
    assert glaive.json("table", "list", "ns") == ["ns.d"]
    with pytest.raises(GlaiveError) as error:
        glaive.read("ns.d")
    assert error.value.code == 3
    glaive.write("ns.d", ROWS)
    assert catalog_rows(db)["ns$d"]["location"] == place
    assert directory.open_table("d", namespace_path=["ns"]).count_rows() == 3


def test_25_registered_locations(glaive, directory, db):
    """Tables somewhere else inside the root, as register makes them: Glaive opens what the row says."""
    directory.create_namespace(["ns"])
    lance.write_dataset(ROWS, str(db / "sub" / "ext.lance"))
    lance_namespace.connect("dir", {"root": str(db)}).register_table(
        lance_namespace.RegisterTableRequest(id=["ns", "ext"], location="sub/ext.lance"))
    assert glaive.json("table", "list", "ns") == ["ns.ext"]
    assert glaive.read("ns.ext")["id"].to_pylist() == [1, 2, 3]


def test_28_locations_outside_of_the_root(glaive, db, tmp_path):
    glaive.run("ns", "create", "ns")
    lance.write_dataset(ROWS, str(tmp_path / "x"))
    before = sorted(p for p in (tmp_path / "x").rglob("*"))
    add_rows(db, ("ns$a", "table", str(tmp_path / "x"), None), ("ns$b", "table", "../x", None))
    for name in ("ns.a", "ns.b"):
        with pytest.raises(GlaiveError):
            glaive.read(name)
        with pytest.raises(GlaiveError):
            glaive.write(name, ROWS, "--append")
        glaive.run("table", "drop", name)
    assert sorted(p for p in (tmp_path / "x").rglob("*")) == before
    assert lance.dataset(str(tmp_path / "x")).count_rows() == 3
    assert set(catalog_rows(db)) == {"ns"}


def test_29_deregistered_tables(glaive, lancedb40, ours, db):
    glaive.write("t", ROWS)
    glaive.write("u", ROWS)
    (db / "t.lance" / ".lance-deregistered").write_bytes(b"reserved")
    assert names(lancedb40.list_tables()) == ["t", "u"]
    plain = lance_namespace.connect("dir", {"root": str(db), "manifest_enabled": "false"})
    assert list(plain.list_tables(lance_namespace.ListTablesRequest(id=[])).tables) == ["u"]
    assert ours().page("table")[0] == ["t", "u"]
    assert ours(True).page("table")[0] == ["u"]
    assert "deregistered" in glaive.run("table", "list").decode()


def test_30_views_in_a_namespace(glaive, directory, server39, db):
    glaive.run("ns", "create", "ns")
    glaive.write("ns.src", ROWS)
    glaive.write("src", pa.table({"id": [42]}))
    glaive.run("view", "create", "ns.v", "--as", "SELECT id FROM ns.src WHERE id > 1")
    directory.open_table("src", namespace_path=["ns"]).add(pa.table({"id": [9]}))
    assert glaive.refresh("ns.v")["mode"] == "incremental"
    server39(f"d = lancedb.connect_namespace('dir', {{'root': {str(db)!r}}})")
    assert server39("sorted(d.open_table('v', namespace_path=['ns']).to_arrow()['id'].to_pylist())") == [2, 3, 9]
    assert sorted(directory.open_table("v", namespace_path=["ns"]).to_arrow()["id"].to_pylist()) == [2, 3, 9]
    assert server39("sorted(getattr(d.list_tables(namespace_path=['ns']), 'tables', None) or d.list_tables(namespace_path=['ns']))") == ["src", "v"]
    assert catalog_rows(db)["ns$v"]["base_objects"] is None


def test_31_root_tables_of_a_namespace_connection(ours, directory, lancedb40, db):
    connection = ours(True)
    connection.create(["r"], ROWS)
    assert (db / "r.lance" / ".lance-reserved").exists()
    row = {"object_id": "r", "object_type": "table", "location": "r.lance", "metadata": None, "base_objects": None}
    assert catalog_rows(db)["r"] == row
    assert names(directory.list_tables()) == ["r"] == names(lancedb40.list_tables())
    assert directory.open_table("r").count_rows() == 3 == lancedb40.open_table("r").count_rows()
    version = lance.dataset(str(db / "__manifest")).version
    before = sorted(db.rglob("*"))
    with pytest.raises(Failed) as error:
        connection.create(["r"], ROWS)
    assert error.value.code == 105
    assert sorted(db.rglob("*")) == before and lance.dataset(str(db / "__manifest")).version == version
    directory.create_namespace(["taken"])
    with pytest.raises(Failed) as error:
        connection.create(["taken"], ROWS)
    assert error.value.code == 102
    assert not (db / "taken.lance").exists()
    directory.drop_table("r")
    assert connection.page("table")[0] == []


def test_32_tables_without_a_row(ours, directory, lancedb40, db):
    lancedb40.create_table("p", ROWS)
    assert names(directory.list_tables()) == ["p"]
    with pytest.raises(Exception, match="not found"):
        directory.drop_table("p")
    connection = ours(True)
    assert connection.page("table")[0] == ["p"]
    assert connection.count(["p"]) == 3
    connection.drop(["p"])
    assert not (db / "p.lance").exists()
    assert names(lancedb40.list_tables()) == []


def test_33_dropped_through_the_other_kind(ours, db):
    directory, namespace = ours(), ours(True)
    directory.create(["q"], ROWS)
    namespace.drop(["q"])
    assert not (db / "q.lance").exists()
    namespace.create(["q"], ROWS)
    assert "q" in catalog_rows(db)
    directory.drop(["q"])
    assert not (db / "q.lance").exists() and "q" not in catalog_rows(db)


def test_34_many_tables_in_one_page(glaive, ours, db):
    glaive.run("ns", "create", "ns")
    add_rows(db, *[(f"ns$t{i:04d}", "table", f"{i:08x}_ns$t{i:04d}", json.dumps({"n": str(i)})) for i in range(3000)])
    assert ours().page("table", ["ns"]) == ([f"t{i:04d}" for i in range(3000)], None)
