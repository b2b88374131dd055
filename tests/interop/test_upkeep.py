"""Tags, branches, compaction, cleanup and restore among those of pylance and LanceDB."""
import datetime
import json
import os
import random
import shutil
import subprocess
import sys
import time

import every_type
import lance
import pyarrow as pa
import pytest
from conftest import PROGRAM, GlaiveError

LONG = bool(os.environ.get("GLAIVE_LONG"))


def two_versions(db, name="t", **options):
    path = str(db / f"{name}.lance")
    lance.write_dataset(pa.table({"a": [1, 2, 3]}), path, **options)
    return lance.write_dataset(pa.table({"a": [4]}), path, mode="append")


def test_tags_both_ways(glaive, db):
    dataset = two_versions(db)
    dataset.tags.create("theirs", 1)
    glaive.run("table", "tag", "set", "t", "ours", 1)
    assert glaive.run("table", "count", "t", "--tag", "theirs") == b"3\n"
    assert dataset.tags.list()["ours"] | {"created_at": 0, "updated_at": 0} == {
        "branch": None, "version": 1, "created_at": 0, "updated_at": 0, "metadata": {},
        "manifest_size": dataset.tags.list()["theirs"]["manifest_size"]}
    assert lance.dataset(dataset.uri, version="ours").version == 1
    made = dataset.tags.list()["ours"]["created_at"]
    dataset.tags.update("ours", 2)
    glaive.run("table", "tag", "set", "t", "theirs", 2, "--move")
    assert [tag["version"] for tag in glaive.json("table", "tag", "list", "t")] == [2, 2]
    assert lance.dataset(dataset.uri, version="theirs").version == 2
    glaive.run("table", "tag", "set", "t", "ours", 1, "--move")
    assert dataset.tags.list()["ours"]["created_at"] == made
    with pytest.raises(GlaiveError, match="already has a tag"):
        glaive.run("table", "tag", "set", "t", "ours", 1)
    with pytest.raises(ValueError, match="already exists"):
        dataset.tags.create("ours", 1)
    dataset.tags.delete("ours")
    glaive.run("table", "tag", "drop", "t", "theirs")
    assert glaive.json("table", "tag", "list", "t") == [] and dataset.tags.list() == {}


def test_tag_files_are_equal_byte_for_byte(glaive, db):
    dataset = two_versions(db)
    dataset.tags.create("theirs", 2)
    glaive.run("table", "tag", "set", "t", "ours", 2)
    folder = db / "t.lance" / "_refs" / "tags"
    texts = []
    for name in ("theirs", "ours"):
        text = (folder / f"{name}.json").read_text()
        times = json.loads(text)
        assert times["createdAt"] == times["updatedAt"]
        texts.append(text.replace(times["createdAt"], "T"))
    assert texts[0] == texts[1]


def test_names_that_pylance_refuses(glaive, db):
    dataset = two_versions(db)
    for name in ("", ".a", "a.", "a..b", "a.lock", "a/b", "a b"):
        with pytest.raises(OSError):
            dataset.tags.create(name, 1)
        with pytest.raises(GlaiveError, match="cannot name a tag"):
            glaive.run("table", "tag", "set", "t", name)


@pytest.mark.parametrize("stable", [True, False])
def test_branches_and_clones_are_read(glaive, db, stable):
    dataset = two_versions(db, enable_stable_row_ids=stable)
    dataset.create_branch("feat/x")
    branch = dataset.checkout_version(("feat/x", None))
    lance.write_dataset(pa.table({"a": [9]}), branch, mode="append")
    dataset.checkout_version(("feat/x", None)).delete("a = 1")
    dataset.tags.create("there", ("feat/x", 3))
    assert glaive.run("table", "count", "t") == b"4\n"
    assert glaive.run("table", "export", "t", "-", "--format", "csv", "--branch", "feat/x") == b"a\n2\n3\n4\n9\n"
    assert glaive.run("table", "export", "t", "-", "--format", "csv", "--tag", "there") == b"a\n1\n2\n3\n4\n9\n"
    assert glaive.json("table", "tag", "list", "t")[0]["branch"] == "feat/x"
    dataset.shallow_clone(str(db / "clone.lance"), 2)
    glaive.write("clone", pa.table({"a": [7]}), "--append")
    assert lance.dataset(str(db / "clone.lance")).to_table()["a"].to_pylist() == [1, 2, 3, 4, 7]
    assert glaive.run("table", "count", "t") == b"4\n"


def files_of(path):
    """Everything below a table but hints, and directories that are empty."""
    return {str(p.relative_to(path)) for p in path.rglob("*") if p.is_file() and p.name != "latest_version_hint.json"}


def worn_table(db, name="t", stable=True):
    """Versions of every kind: appends, deletes, updates, an index and its rebuild, a compaction, an overwrite of nothing kept."""
    path = str(db / f"{name}.lance")
    dataset = lance.write_dataset(pa.table({"id": range(100), "x": range(100)}), path, enable_stable_row_ids=stable)
    for i in range(3):
        dataset = lance.write_dataset(pa.table({"id": range(100 + i * 10, 110 + i * 10), "x": range(10)}), path, mode="append")
    dataset.delete("id < 5")
    dataset.create_scalar_index("id", "BTREE")
    dataset.update({"x": "x + 1"}, where="id between 20 and 24")
    dataset.optimize.compact_files()
    dataset.optimize.optimize_indices()
    dataset.delete("id = 50")
    return lance.dataset(path)


def copied(db, name):
    shutil.copytree(db / "t.lance", db / f"{name}.lance")
    return lance.dataset(str(db / f"{name}.lance"))


@pytest.mark.parametrize("stable", [True, False])
@pytest.mark.parametrize("tagged", [(), (3,), (1, 6)])
def test_cleanup_keeps_what_pylance_keeps(glaive, db, stable, tagged):
    dataset = worn_table(db, stable=stable)
    for version in tagged:
        dataset.tags.create(f"v{version}", version)
    rows = dataset.to_table()
    theirs = copied(db, "theirs")
    for folder in ("t", "theirs"):  # no manifest refers to it, and it is young
        (db / f"{folder}.lance" / "data" / "orphan.lance").write_bytes(b"x")
        old = db / f"{folder}.lance" / "data" / "old.lance"
        old.write_bytes(b"xyz")
        os.utime(old, (time.time() - 8 * 86400,) * 2)
    plan = glaive.json("table", "cleanup", "t", "--older-than", "0", "--dry-run")
    before = files_of(db / "t.lance")
    assert before == files_of(db / "theirs.lance")
    stats = theirs.cleanup_old_versions(older_than=datetime.timedelta(0), error_if_tagged_old_versions=False)
    result = glaive.json("table", "cleanup", "t", "--older-than", "0")
    assert files_of(db / "t.lance") == files_of(db / "theirs.lance")
    assert result | {"dry_run": True} == plan
    assert (result["versions"], result["data_files"], result["transaction_files"], result["index_files"], result["deletion_files"]) == (
        stats.old_versions, stats.data_files_removed, stats.transaction_files_removed, stats.index_files_removed,
        stats.deletion_files_removed)
    assert result["bytes"] == stats.bytes_removed
    dataset = lance.dataset(dataset.uri)
    dataset.validate()
    assert dataset.to_table() == rows
    for version in tagged:
        assert lance.dataset(dataset.uri, version=f"v{version}").to_table().num_rows > 0
    assert glaive.json("table", "cleanup", "t", "--older-than", "0")["versions"] == 0


def test_cleanup_of_young_versions_and_tagged_ones(glaive, db):
    dataset = worn_table(db)
    before = files_of(db / "t.lance")
    assert glaive.json("table", "cleanup", "t")["versions"] == 0
    dataset.tags.create("v2", 2)
    with pytest.raises(GlaiveError, match="has the tag 'v2'"):
        glaive.run("table", "cleanup", "t", "--older-than", "0", "--refuse-tagged")
    assert files_of(db / "t.lance") - before == {"_refs/tags/v2.json"}
    glaive.run("table", "cleanup", "t", "--older-than", "0")
    assert [v["version"] for v in dataset.versions()] == [2, dataset.version]


def test_cleanup_by_pylance_leaves_a_table_that_glaive_reads(glaive, db):
    """Checklist 37: gaps in the versions."""
    dataset = two_versions(db)
    dataset.tags.create("first", 2)
    for i in range(3):
        dataset = lance.write_dataset(pa.table({"a": [10 + i]}), dataset.uri, mode="append")
    dataset.cleanup_old_versions(older_than=datetime.timedelta(0), error_if_tagged_old_versions=False)
    assert [v["version"] for v in glaive.json("table", "versions", "t")] == [2, 5]
    assert glaive.run("table", "count", "t", "--tag", "first") == b"4\n"
    assert glaive.run("table", "count", "t") == b"7\n"
    with pytest.raises(GlaiveError, match="no version 3"):
        glaive.run("table", "count", "t", "--version", 3)
    glaive.write("t", pa.table({"a": [99]}), "--append")
    assert lance.dataset(dataset.uri).to_table()["a"].to_pylist()[-1] == 99


@pytest.mark.parametrize("stable", [True, False])
def test_cleanup_keeps_what_branches_need(glaive, db, stable):
    dataset = worn_table(db, stable=stable)
    dataset.checkout_version(5).create_branch("feat/x")
    dataset.checkout_version(2).create_branch("early")
    branch = dataset.checkout_version(("feat/x", None))
    branch.delete("id = 60")
    rows = {name: dataset.checkout_version((name, None)).to_table() for name in ("feat/x", "early")}
    shutil.copytree(dataset.uri, db / "aside")
    glaive.run("table", "cleanup", "t", "--older-than", "0")
    ours = files_of(db / "t.lance")
    for name, expected in rows.items():
        assert lance.dataset(dataset.uri).checkout_version((name, None)).to_table() == expected
        assert glaive.run("table", "count", "t", "--branch", name) == b"%d\n" % expected.num_rows
    shutil.rmtree(dataset.uri)
    shutil.copytree(db / "aside", dataset.uri)  # branches name the table by its absolute path
    lance.dataset(dataset.uri).cleanup_old_versions(older_than=datetime.timedelta(0))
    theirs = files_of(db / "t.lance")
    assert ours >= theirs  # they keep the versions that branches begin at too, but remove their transaction files
    assert all(name.startswith("_transactions/") for name in ours - theirs) and len(ours - theirs) == 2


def test_cleanup_keeps_what_views_need(glaive, lancedb40, db):
    """Checklist 37: the source versions of two views in different namespaces, and a view's own versions since its stamp."""
    glaive.run("ns", "create", "ops")
    glaive.write("t", pa.table({"id": range(10), "x": range(10)}))
    glaive.run("view", "create", "v", "--as", "SELECT id, x FROM t WHERE id > 2")  # of version 1
    glaive.write("t", pa.table({"id": [10], "x": [1]}), "--append")
    glaive.write("t", pa.table({"id": [11], "x": [1]}), "--append")
    glaive.run("view", "create", "ops.w", "--as", "SELECT id FROM t")  # of version 3
    for i in range(4):
        glaive.write("t", pa.table({"id": [20 + i], "x": [1]}), "--append")
    glaive.run("table", "cleanup", "t", "--older-than", "0")
    assert [v["version"] for v in glaive.json("table", "versions", "t")] == [1, 3, 7]
    view = lance.dataset(str(db / "v.lance"))
    stamp = int(view.schema.metadata[b"mv.view_version"])
    view.create_scalar_index("id", "BTREE")
    view.optimize.optimize_indices()
    head = lance.dataset(view.uri).version
    assert head > stamp
    glaive.run("table", "cleanup", "v", "--older-than", "0")
    assert [v["version"] for v in glaive.json("table", "versions", "v")] == list(range(stamp, head + 1))
    for name in ("v", "ops.w"):
        assert glaive.refresh(name)["mode"] == "incremental"
    glaive.run("table", "cleanup", "t", "--older-than", "0")
    assert [v["version"] for v in glaive.json("table", "versions", "t")] == [7]
    assert glaive.run("table", "count", "v") == b"13\n" and glaive.run("table", "count", "ops.w") == b"16\n"


def test_cleanup_is_careful_about_tables_it_cannot_read(glaive, db):
    glaive.write("t", pa.table({"id": range(10)}))
    glaive.write("t", pa.table({"id": range(10)}), "--append")
    glaive.write("other", pa.table({"id": range(10)}))
    (manifest,) = (db / "other.lance" / "_versions").glob("*.manifest")
    manifest.write_bytes(manifest.read_bytes()[:-1])
    with pytest.raises(GlaiveError, match="table 'other' cannot be read, and might be a view"):
        glaive.run("table", "cleanup", "t", "--older-than", "0")
    assert len(glaive.json("table", "versions", "t")) == 2


# ---- compaction ----

IDENTITY = ["_rowid", "_row_created_at_version", "_row_last_updated_at_version"]


def identity(dataset, stable=True):
    columns = list(dataset.schema.names) + (IDENTITY if stable else [])
    return dataset.to_table(columns=columns).sort_by("id")


def fragments(dataset):
    return [(f.fragment_id, f.physical_rows, f.num_deletions) for f in dataset.get_fragments()]


def rough_table(lancedb40, path, stable, engine):
    """Six fragments with deletions in both forms, updates, an index of either engine over some of them."""
    rows = pa.table({"id": pa.array(range(100)), "text": [f"t{i}" for i in range(100)], "x": [i * 0.5 for i in range(100)]})
    dataset = lance.write_dataset(rows.slice(0, 40), path, enable_stable_row_ids=stable)
    for first in (40, 70, 80):
        dataset = lance.write_dataset(rows.slice(first, 30 if first == 40 else 10), path, mode="append")
    dataset.delete("id % 7 = 3")
    dataset.update({"text": "'new'"}, where="id between 10 and 14")
    if engine == "pylance":
        dataset.create_scalar_index("id", "BTREE")
    else:
        lancedb40.open_table("t").create_scalar_index("id", index_type="BTREE")
    dataset = lance.write_dataset(rows.slice(90, 10), path, mode="append")
    dataset.delete("id = 91")
    dataset.delete("id = 41")
    return lance.dataset(path)


@pytest.mark.parametrize("engine", ["pylance", "lancedb"])
@pytest.mark.parametrize("stable", [True, False])
def test_compaction_keeps_rows_ids_versions_and_indexes(glaive, lancedb40, db, stable, engine):
    """Checklist 31 and 32."""
    dataset = rough_table(lancedb40, str(db / "t.lance"), stable, engine)
    before = identity(dataset, stable)
    old = {f[0] for f in fragments(dataset)}
    result = glaive.json("table", "compact", "t")
    dataset = lance.dataset(dataset.uri)
    dataset.validate()
    assert dataset.version == result["version"]
    assert result["fragments_removed"] >= 4 and result["fragments_added"] <= 2
    assert identity(dataset, stable) == before
    assert all(f[2] == 0 for f in fragments(dataset) if f[0] not in old) and len(fragments(dataset)) <= 3
    table = lancedb40.open_table("t")

    def check():
        for i in range(0, 100, 3):
            expected = [r for r in before.to_pylist() if r["id"] == i]
            assert lance.dataset(dataset.uri).to_table(filter=f"id = {i}").num_rows == len(expected)
            assert table.search().where(f"id = {i}").to_arrow().num_rows == len(expected)
        assert lance.dataset(dataset.uri).to_table(filter="id > 50").num_rows == sum(r["id"] > 50 for r in before.to_pylist())

    check()
    new = {f[0] for f in fragments(dataset)} - old
    covered = set().union(*(index.fragment_ids if hasattr(index, "fragment_ids") else index["fragment_ids"]
                            for index in dataset.list_indices()))
    assert new and not covered & new  # rows had been deleted in every group that the index covered
    lance.dataset(dataset.uri).optimize.optimize_indices()
    table = lancedb40.open_table("t")
    check()
    if not stable:  # LanceDB's own compaction makes a BTREE of pylance 14 wrong on tables with stable row ids
        table.optimize()
        check()
    glaive.write("t", before.select(["id", "text", "x"]).slice(0, 1), "--append")
    assert lance.dataset(dataset.uri).count_rows() == before.num_rows + 1


@pytest.mark.parametrize("stable", [True, False])
def test_compaction_with_indexes_of_every_kind(glaive, db, stable):
    rows = 300
    data = pa.table({"id": range(rows), "b": [i % 5 for i in range(rows)], "tags": [[f"g{i % 4}", "all"] for i in range(rows)],
                     "text": [f"word{i % 10} common" for i in range(rows)],
                     "vec": pa.FixedSizeListArray.from_arrays(pa.array([float((i * 7 + k) % 13) for i in range(rows) for k in range(8)],
                                                                       pa.float32()), 8)})
    path = str(db / "t.lance")
    for first in range(0, rows, 100):
        dataset = lance.write_dataset(data.slice(first, 100), path, mode="append" if first else "create", enable_stable_row_ids=stable)
    for column, kind in (("id", "ZONEMAP"), ("b", "BITMAP"), ("tags", "LABEL_LIST"), ("text", "INVERTED")):
        dataset.create_scalar_index(column, kind)
    dataset.create_index("vec", "IVF_FLAT", num_partitions=4)
    dataset.delete("id % 9 = 1")
    queries = ["id = 17", "id > 250", "b = 3", "array_has_any(tags, ['g2'])", "array_has_all(tags, ['g1', 'all'])"]

    def answers():
        d = lance.dataset(path)
        found = {q: sorted(d.to_table(columns=["id"], filter=q)["id"].to_pylist()) for q in queries}
        found["fts"] = sorted(d.to_table(columns=["id"], full_text_query="word3")["id"].to_pylist())
        near = d.to_table(columns=["id"], nearest={"column": "vec", "q": [float(k) for k in range(8)], "k": 20, "nprobes": 4})
        found["near"] = sorted(round(x, 3) for x in near["_distance"].to_pylist())
        return found

    before = answers()
    assert glaive.json("table", "compact", "t")["fragments_added"] == 1
    assert answers() == before
    lance.dataset(path).optimize.optimize_indices()
    assert answers() == before


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
def test_compaction_of_every_type(glaive, db, version):
    """Each type as the reference stores it comes out as it went in, in all data file versions."""
    values = every_type.Values(3)
    types = {name: kind for name, kind in every_type.TYPES.items() if version == "2.2" or name not in every_type.MAPS}
    if version == "2.0":
        types = {name: kind for name, kind in types.items() if name in every_type.PLAIN}
    path = str(db / "t.lance")
    for first in range(3):
        data = {"id": pa.array(range(first * 50, first * 50 + 50))} | {
            name: values.column(kind, 50) for name, kind in types.items()}
        dataset = lance.write_dataset(pa.table(data), path, data_storage_version=version, enable_stable_row_ids=True,
                                      mode="append" if first else "create")
    dataset.delete("id % 8 = 2")
    before = dataset.to_table(with_row_id=True)
    glaive.run("table", "compact", "t")
    after = lance.dataset(path)
    assert len(after.get_fragments()) == 1
    assert after.schema == dataset.schema
    after = after.to_table(with_row_id=True)
    for name in before.column_names:
        assert after[name].equals(before[name]) or after[name].to_pylist() == before[name].to_pylist(), name


def test_compaction_of_tables_it_cannot_rewrite(glaive, db):
    blob = pa.field("blob", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    for i in range(2):
        dataset = lance.write_dataset(pa.table([[i], [b"xyz"]], schema=pa.schema([pa.field("id", pa.int64()), blob])),
                                      str(db / "t.lance"), mode="append" if i else "create", data_storage_version="2.1")
    with pytest.raises(GlaiveError, match="column 'blob' holds blobs"):
        glaive.run("table", "compact", "t")
    struct = pa.struct([blob, ("n", pa.int32())])
    for i in range(2):
        lance.write_dataset(pa.table({"s": pa.array([{"blob": b"x", "n": i}], struct)}), str(db / "n.lance"),
                            mode="append" if i else "create", data_storage_version="2.1")
    with pytest.raises(GlaiveError, match="column 's' holds blobs"):
        glaive.run("table", "compact", "n")
    assert lance.dataset(str(db / "n.lance")).version == 2
    path = str(db / "p.lance")
    for i in range(2):
        dataset = lance.write_dataset(pa.table({"id": [i]}), path, mode="append" if i else "create")
    dataset.create_scalar_index("id", "BTREE")
    dataset.optimize.compact_files(defer_index_remap=True)
    for i in range(2):
        lance.write_dataset(pa.table({"id": [i]}), path, mode="append")
    with pytest.raises(GlaiveError, match="__lance_frag_reuse"):
        glaive.run("table", "compact", "p")
    assert lance.dataset(path).count_rows() == 4


def test_compaction_plans_as_pylance_does(glaive, db):
    """The same fragments are joined; new ones have the same numbers of rows."""
    rng = random.Random(7)
    for trial in range(12):
        path = db / f"a{trial}.lance"
        first = 0
        for i in range(rng.randint(2, 9)):
            rows = rng.choice([1, 5, 20, 60, 100, 130])
            dataset = lance.write_dataset(pa.table({"id": range(first, first + rows)}), str(path), mode="append" if i else "create",
                                          enable_stable_row_ids=bool(trial % 2))
            first += rows
            if i == 2 and trial % 3 == 0:
                dataset.create_scalar_index("id", "BTREE")
            if rng.random() < 0.5:
                dataset.delete(f"id >= {first - rows} and id % {rng.randint(2, 30)} = 0")
        if not lance.dataset(str(path)).get_fragments():
            continue
        shutil.copytree(path, db / f"b{trial}.lance")
        theirs = lance.dataset(str(db / f"b{trial}.lance"))
        theirs.optimize.compact_files(target_rows_per_fragment=100)
        glaive.run("table", "compact", f"a{trial}", "--target-rows", 100)
        assert fragments(lance.dataset(str(path))) == fragments(lance.dataset(theirs.uri)), trial


def test_compacted_views_stay_fresh_for_lancedb(glaive, lancedb40, db):
    glaive.write("src", pa.table({"id": range(50), "x": range(50)}))
    glaive.run("view", "create", "v", "--as", "SELECT id, x FROM src WHERE id >= 5")
    glaive.write("src", pa.table({"id": range(50, 60), "x": range(10)}), "--append")
    assert glaive.refresh("v")["mode"] == "incremental"
    assert glaive.json("table", "compact", "v")["fragments_removed"] == 2
    view = lancedb40.open_materialized_view("v")
    assert view.refresh().mode == "no_op"
    glaive.write("src", pa.table({"id": range(60, 70), "x": range(10)}), "--append")
    assert lancedb40.open_materialized_view("v").refresh().mode == "incremental"
    lancedb40.open_table("src").delete("id = 7")
    assert glaive.refresh("v")["mode"] == "incremental"
    assert sorted(glaive.read("v")["id"].to_pylist()) == [i for i in range(5, 70) if i != 7]


# ---- restore ----

@pytest.mark.parametrize("stable", [True, False])
def test_restore_both_ways(glaive, lancedb40, db, stable):
    """Checklist 20."""
    path = str(db / "t.lance")
    dataset = lance.write_dataset(pa.table({"id": [1, 2, 3]}), path, enable_stable_row_ids=stable)
    dataset.update_config({"k": "v"})
    lance.write_dataset(pa.table({"id": [4]}), path, mode="append")
    dataset = lance.dataset(path)
    dataset.delete("id = 2")
    dataset.add_columns({"y": "id * 2"})
    dataset.delete_config_keys(["k"])
    head = lance.dataset(path).version
    glaive.run("table", "restore", "t", 3)
    dataset = lance.dataset(path)
    dataset.validate()
    assert dataset.version == head + 1 and dataset.to_table()["id"].to_pylist() == [1, 2, 3, 4]
    assert dataset.schema.names == ["id"] and dataset.config() == {"k": "v"}
    lance.write_dataset(pa.table({"id": [5]}), path, mode="append")
    dataset = lance.dataset(path)
    assert [f.fragment_id for f in dataset.get_fragments()] == [0, 1, 2]
    if stable:
        ids = dataset.to_table(with_row_id=True)["_rowid"].to_pylist()
        assert len(set(ids)) == 5
    lancedb40.open_table("t").restore(1)
    assert glaive.run("table", "count", "t") == b"3\n"
    glaive.run("table", "restore", "t", head)
    assert sorted(glaive.read("t")["id"].to_pylist()) == [1, 3, 4] and glaive.read("t").column_names == ["id", "y"]


# ---- stable row ids for tables without ----

def test_migration_to_stable_row_ids(glaive, lancedb40, db):
    path = str(db / "t.lance")
    dataset = lance.write_dataset(pa.table({"id": range(10), "x": range(10)}), path)
    dataset = lance.write_dataset(pa.table({"id": range(10, 20), "x": range(10)}), path, mode="append")
    dataset.delete("id in (3, 15)")
    dataset.update({"x": "100"}, where="id = 4")
    before = lance.dataset(path).to_table()
    with pytest.raises(GlaiveError, match="stable row ids"):
        glaive.run("view", "create", "v", "--as", "SELECT id, x FROM t WHERE x >= 0")
    report = glaive.json("table", "migrate", "t", "--stable-row-ids")
    assert report["migrated"] and report["version"] == 5
    assert not glaive.json("table", "migrate", "t", "--stable-row-ids")["migrated"]
    dataset = lance.dataset(path)
    dataset.validate()
    assert dataset.has_stable_row_ids and dataset.to_table() == before
    ids = dataset.to_table(columns=["id"], with_row_id=True)
    assert sorted(ids["_rowid"].to_pylist()) == [i for i in range(21) if i not in (3, 4, 15)]
    versions = dataset.to_table(columns=["_row_created_at_version", "_row_last_updated_at_version"])
    assert set(versions["_row_created_at_version"].to_pylist()) == {1}
    glaive.run("view", "create", "v", "--as", "SELECT id, x FROM t WHERE x >= 0")
    table = lancedb40.open_table("t")
    table.add(pa.table({"id": [50], "x": [5]}))
    table.update(where="id = 1", values={"x": 77})
    table.delete("id = 2")
    assert glaive.refresh("v")["mode"] == "incremental"
    expected = lance.dataset(path).to_table(columns=["id", "x"]).sort_by("id")
    assert glaive.read("v").select(["id", "x"]).sort_by("id") == expected
    keep = {r["id"]: r["_rowid"] for r in lance.dataset(path).to_table(columns=["id"], with_row_id=True).to_pylist()}
    assert keep[1] == 1 and keep[50] == 21
    lance.dataset(path).optimize.compact_files()
    dataset = lance.dataset(path)
    assert {r["id"]: r["_rowid"] for r in dataset.to_table(columns=["id"], with_row_id=True).to_pylist()} == keep
    dataset.create_scalar_index("id", "BTREE")
    assert dataset.to_table(filter="id = 50").num_rows == 1
    assert glaive.refresh("v")["mode"] in ("no_op", "incremental")
    with pytest.raises(GlaiveError, match="no stable row ids"):
        glaive.run("table", "restore", "t", 1)


def test_migration_of_an_empty_table_and_of_an_indexed_one(glaive, db):
    path = str(db / "t.lance")
    dataset = lance.write_dataset(pa.table({"id": pa.array([], pa.int64())}), path)
    glaive.run("table", "migrate", "t", "--stable-row-ids")
    dataset = lance.write_dataset(pa.table({"id": [1, 2]}), path, mode="append")
    dataset.validate()
    assert dataset.to_table(with_row_id=True)["_rowid"].to_pylist() == [0, 1]
    dataset = two_versions(db, "indexed")
    dataset.create_scalar_index("a", "BTREE", name="by_a")
    with pytest.raises(GlaiveError, match="has indexes, such as 'by_a'"):
        glaive.run("table", "migrate", "indexed", "--stable-row-ids")
    dataset = lance.dataset(dataset.uri)
    dataset.drop_index("by_a")
    glaive.run("table", "migrate", "indexed", "--stable-row-ids")
    dataset = lance.dataset(dataset.uri)
    dataset.create_scalar_index("a", "BTREE")
    assert dataset.to_table(filter="a = 4").num_rows == 1


def test_migration_meets_handles_opened_before(glaive, lancedb40, db):
    """A writer of the old version is told to try again; none slips in without row ids."""
    dataset = two_versions(db)
    table = lancedb40.open_table("t")
    glaive.run("table", "migrate", "t", "--stable-row-ids")
    for write in (lambda: table.delete("a = 1"), lambda: lance.write_dataset(pa.table({"a": [9]}), dataset, mode="append")):
        try:
            write()
        except (OSError, RuntimeError, ValueError):
            pass
        latest = lance.dataset(dataset.uri)
        latest.validate()
        assert latest.has_stable_row_ids
        ids = latest.to_table(with_row_id=True)["_rowid"].to_pylist()
        assert len(set(ids)) == len(ids)


# ---- among other writers ----

def test_everybody_at_once(glaive, db):
    """Appends, deletes and updates by pylance and the program while both compact: no row is lost or doubled, ids stay."""
    rounds = 25 if LONG else 6
    path = str(db / "t.lance")
    lance.write_dataset(pa.table({"id": range(200), "x": [0] * 200}), path, enable_stable_row_ids=True)
    first = {r["id"]: r["_rowid"] for r in lance.dataset(path).to_table(columns=["id"], with_row_id=True).to_pylist()}
    writer = (
        "import lance, pyarrow as pa, sys, time\n"
        "path, base, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])\n"
        "for i in range(rounds):\n"
        "    lance.write_dataset(pa.table({'id': [base + i], 'x': [1]}), path, mode='append')\n"
        "    for what in (lambda d: d.delete(f'id = {base // 1000 * 30 + i}'), lambda d: d.update({'x': 'x + 1'}, where=f'id = {150 + i}')):\n"
        "        for attempt in range(20):\n"
        "            try:\n                what(lance.dataset(path)); break\n"
        "            except (OSError, RuntimeError): time.sleep(0.02)\n"
        "        else: sys.exit('too many conflicts')\n")
    compactor = (
        "import lance, sys\n"
        "for i in range(int(sys.argv[2])):\n"
        "    try: lance.dataset(sys.argv[1]).optimize.compact_files(target_rows_per_fragment=50)\n"
        "    except (OSError, RuntimeError): pass\n")
    ours = (f'for i in $(seq {rounds}); do "{PROGRAM}" --db "{db}" table compact t --target-rows 60 >/dev/null || [ $? = 5 ] || exit 1; '
            f'printf "id,x\\n$((9000 + i)),2\\n" | "{PROGRAM}" --db "{db}" table import t - --append --format csv >/dev/null || exit 1; done')
    processes = [subprocess.Popen([sys.executable, "-c", writer, path, str(base), str(rounds)]) for base in (1000, 2000)]
    processes += [subprocess.Popen([sys.executable, "-c", compactor, path, str(rounds)]), subprocess.Popen(["bash", "-c", ours])]
    assert [p.wait() for p in processes] == [0] * 4
    glaive.run("table", "compact", "t")
    dataset = lance.dataset(path)
    dataset.validate()
    rows = {r["id"]: r for r in dataset.to_table(columns=["id", "x"], with_row_id=True).to_pylist()}
    gone = {base // 1000 * 30 + i for base in (1000, 2000) for i in range(rounds)}
    assert set(rows) == (set(range(200)) - gone) | {base + i for base in (1000, 2000) for i in range(rounds)} | {
        9001 + i for i in range(rounds)}
    assert dataset.count_rows() == len(rows)
    assert all(rows[i]["_rowid"] == first[i] for i in first if i in rows)
    assert all(rows[150 + i]["x"] == 2 for i in range(rounds))
    glaive.run("table", "cleanup", "t", "--older-than", "0")
    assert lance.dataset(path).to_table(columns=["id", "x"]).sort_by("id") == dataset.to_table(columns=["id", "x"]).sort_by("id")


@pytest.mark.parametrize("seed", range(30 if LONG else 6))
def test_random_histories(glaive, lancedb40, db, seed):
    """Upkeep by either side between changes by either side: rows, ids and indexed filters are those of a model."""
    rng = random.Random(seed)
    path = str(db / "t.lance")
    model, next_id = {}, 0
    lance.write_dataset(pa.table({"id": pa.array([], pa.int64()), "x": pa.array([], pa.int64())}), path, enable_stable_row_ids=bool(seed % 3))
    tagged = {}
    for _ in range(14):
        dataset = lance.dataset(path)
        action = rng.choice(["append", "append", "delete", "update", "compact", "compact", "their compact", "index", "cleanup", "their cleanup",
                             "tag", "restore", "optimize"])
        ids = sorted(model)
        if action == "append":
            rows = rng.randint(1, 40)
            data = pa.table({"id": range(next_id, next_id + rows), "x": [rng.randint(0, 9) for _ in range(rows)]})
            glaive.write("t", data, "--append") if rng.random() < 0.5 else lance.write_dataset(data, path, mode="append")
            model |= dict(zip(data["id"].to_pylist(), data["x"].to_pylist()))
            next_id += rows
        elif action == "delete" and ids:
            low = rng.choice(ids)
            dataset.delete(f"id between {low} and {low + 6}")
            model = {i: x for i, x in model.items() if not low <= i <= low + 6}
        elif action == "update" and ids:
            low = rng.choice(ids)
            dataset.update({"x": "x + 10"}, where=f"id between {low} and {low + 3}")
            model = {i: x + 10 if low <= i <= low + 3 else x for i, x in model.items()}
        elif action == "compact":
            glaive.run("table", "compact", "t", "--target-rows", rng.choice([5, 30, 1000]))
        elif action == "their compact":
            dataset.optimize.compact_files(target_rows_per_fragment=rng.choice([5, 30, 1000]))
        elif action == "index" and ids:
            dataset.create_scalar_index(rng.choice(["id", "x"]), rng.choice(["BTREE", "BITMAP", "ZONEMAP"]), replace=True)
        elif action == "optimize":
            dataset.optimize.optimize_indices()
        elif action == "cleanup":
            glaive.run("table", "cleanup", "t", "--older-than", "0")
        elif action == "their cleanup":
            dataset.cleanup_old_versions(older_than=datetime.timedelta(0), error_if_tagged_old_versions=False)
        elif action == "tag":
            name = f"tag{len(tagged)}"
            glaive.run("table", "tag", "set", "t", name) if rng.random() < 0.5 else dataset.tags.create(name, dataset.version)
            tagged[name] = (dataset.version, dict(model))
        elif action == "restore" and tagged:
            version, model = rng.choice(list(tagged.values()))
            model = dict(model)
            glaive.run("table", "restore", "t", version) if rng.random() < 0.5 else dataset.checkout_version(version).restore()
        dataset = lance.dataset(path)
        dataset.validate()
        rows = dataset.to_table(columns=["id", "x"], with_row_id=True)
        assert dict(zip(rows["id"].to_pylist(), rows["x"].to_pylist())) == model and rows.num_rows == len(model), action
        assert len(set(rows["_rowid"].to_pylist())) == len(model), action
        ours = glaive.read("t")
        assert dict(zip(ours["id"].to_pylist(), ours["x"].to_pylist())) == model, action
        for i in rng.sample(range(next_id + 1), min(4, next_id)):
            assert dataset.to_table(filter=f"id = {i}").num_rows == (i in model), action
        x = rng.randint(0, 20)
        assert sorted(dataset.to_table(filter=f"x = {x}")["id"].to_pylist()) == sorted(i for i in model if model[i] == x), action
        for name, (version, then) in tagged.items():
            assert glaive.run("table", "count", "t", "--tag", name) == b"%d\n" % len(then)


def test_killed_upkeep(glaive, db):
    """Compactions and cleanups that are killed at random moments: every version that is listed is whole, and the next run finishes."""
    rng = random.Random(11)
    path = str(db / "t.lance")
    glaive.write("t", pa.table({"id": [0], "x": [0]}))
    glaive.run("view", "create", "v", "--as", "SELECT id, x FROM t")
    count = 1
    for i in range(250 if LONG else 12):
        for _ in range(3):
            lance.write_dataset(pa.table({"id": [count], "x": [i]}), path, mode="append")
            count += 1
        if i % 4 == 3:
            lance.dataset(path).delete(f"id = {rng.randrange(1, count)}")
        rows = lance.dataset(path).to_table(with_row_id=True).sort_by("id")
        glaive.refresh("v")
        for words in (("compact", "t"), ("compact", "v"), ("cleanup", "t", "--older-than", "0"), ("cleanup", "v", "--older-than", "0")):
            process = subprocess.Popen([PROGRAM, "--db", str(db), "table", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(rng.uniform(0, 0.012))
            process.kill()
            process.wait()
        dataset = lance.dataset(path)
        dataset.validate()
        assert dataset.to_table(with_row_id=True).sort_by("id") == rows
        for version in dataset.versions():
            assert dataset.checkout_version(version["version"]).to_table().num_rows > 0
        glaive.refresh("v")  # all rows anew when the commits since its watermark are gone
        assert sorted(glaive.read("v")["id"].to_pylist()) == rows["id"].to_pylist()
    glaive.run("table", "compact", "t")
    assert glaive.refresh("v")["rows_written"] == 0
    glaive.run("table", "cleanup", "t", "--older-than", "0")
    assert lance.dataset(path).to_table(with_row_id=True).sort_by("id") == rows
    assert glaive.refresh("v")["mode"] == "no_op"
