"""Tags, branches, compaction, cleanup and restore among those of pylance and LanceDB."""
import datetime
import json
import os
import shutil
import time

import lance
import pyarrow as pa
import pytest
from conftest import GlaiveError


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
