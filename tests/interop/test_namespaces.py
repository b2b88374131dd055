"""Namespaces and their tables made by one engine and seen by the others (namespaces.md 13)."""
import re

import lance
import lancedb
import pyarrow as pa
import pytest
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
