"""Tags, branches, compaction, cleanup and restore among those of pylance and LanceDB."""
import json

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
