"""Upkeep of tables on the command line: tags, older versions."""
import json

import pytest

from test_program import people, run  # noqa: F401


@pytest.fixture
def grown(people, tmp_path):  # noqa: F811
    """ops.people with a second version of four rows."""
    (tmp_path / "more.csv").write_text("name,age,joined\neve,7,2025-01-01\n")
    assert people("table", "import", "ops.people", "more.csv", "--append").code == 0
    return people


def test_tags(grown):
    assert grown("table", "tag", "set", "ops.people", "v1", "1").out == "set tag v1 of table ops.people\n"
    assert grown("table", "tag", "set", "ops.people", "last", "--json").out.split() == ['{', '"table":', '"ops.people",', '"set":', '"last"', '}']
    result = grown("table", "tag", "set", "ops.people", "v1")
    assert (result.code, result.err) == (4, "glaive: table 'ops.people' already has a tag 'v1'\n")
    assert grown("table", "count", "ops.people", "--tag", "v1").out == "3\n"
    assert grown("table", "tag", "set", "ops.people", "v1", "2", "--move").code == 0
    assert grown("table", "count", "ops.people", "--tag", "v1").out == "4\n"
    lines = grown("table", "tag", "list", "ops.people").out.splitlines()
    assert [line.split("|")[:2] for line in lines[2:]] == [[" last ", "       2 "], [" v1   ", "       2 "]]
    assert grown("table", "tag", "drop", "ops.people", "v1").out == "dropped tag v1 of table ops.people\n"
    result = grown("table", "tag", "drop", "ops.people", "v1")
    assert (result.code, result.err) == (3, "glaive: table 'ops.people' has no tag 'v1'\n")


@pytest.mark.parametrize("words", [("list",), ("list", "ops.people", "x"), ("set", "ops.people"), ("drop", "ops.people", "x", "1"),
                                   ("frob", "ops.people"), ("set", "ops.people", "x", "0"), ("drop", "ops.people", "x", "--move")])
def test_wrong_usage_of_tag(grown, words):
    result = grown("table", "tag", *words)
    assert result.code == 2 and "usage: glaive table tag" in result.err


def test_reading_an_older_version(grown):
    assert grown("table", "count", "ops.people", "--version", "1").out == "3\n"
    assert "eve" not in grown("table", "head", "ops.people", "--version", "1").out
    assert "eve" not in grown("table", "export", "ops.people", "-", "--format", "csv", "--version", "1").out
    lines = grown("table", "describe", "ops.people", "--version", "1").out.splitlines()
    assert ["version", "1"] in [line.split() for line in lines]
    assert grown("table", "count", "ops.people", "--version", "9").code == 3
    assert grown("table", "count", "ops.people", "--version", "x").code == 2
    assert grown("table", "count", "ops.people", "--branch", "b").code == 3


def test_cleanup(grown):
    assert grown("table", "cleanup", "ops.people").out.startswith("removed 0 versions and 0 files of ops.people, 0 bytes")
    plan = grown("table", "cleanup", "ops.people", "--older-than", "0", "--dry-run")
    assert plan.out.startswith("would remove 1 versions and 1 files of ops.people, ")
    report = json.loads(grown("table", "cleanup", "ops.people", "--older-than", "0", "--json").out)
    assert (report["table"], report["versions"], report["transaction_files"], report["dry_run"]) == ("ops.people", 1, 1, False)
    assert grown("table", "count", "ops.people").out == "4\n"
    assert grown("table", "count", "ops.people", "--version", "1").code == 3


def test_cleanup_refuses(grown):
    for age in ("7", "d", "-1d", "1w", "", "99999999999999999999d"):
        result = grown("table", "cleanup", "ops.people", "--older-than", age)
        assert result.code == 2 and "takes a time such as 7d" in result.err
    assert grown("table", "tag", "set", "ops.people", "v1", "1").code == 0
    result = grown("table", "cleanup", "ops.people", "--older-than", "0", "--refuse-tagged")
    assert result.code == 1 and "which has the tag 'v1'" in result.err
    assert grown("table", "cleanup", "ops.people", "--older-than", "0").out.startswith("removed 0 versions")


def test_compact_and_restore(grown):
    assert grown("table", "compact", "ops.people").out == "compacted 2 fragments of ops.people into 1, 4 rows, version 4\n"
    assert grown("table", "compact", "ops.people").out == "ops.people: nothing to compact\n"
    report = json.loads(grown("table", "compact", "ops.people", "--json").out)
    assert (report["version"], report["fragments_removed"], report["attempts"]) == (4, 0, 0)
    assert grown("table", "compact", "ops.people", "--target-rows", "x").code == 2
    assert grown("table", "restore", "ops.people", "1").out == "restored version 1 of ops.people as version 5\n"
    assert grown("table", "count", "ops.people").out == "3\n"
    assert json.loads(grown("table", "restore", "ops.people", "4", "--json").out) == {
        "table": "ops.people", "restored": 4, "version": 6}
    assert grown("table", "count", "ops.people").out == "4\n"
    assert grown("table", "restore", "ops.people", "99").code == 3
    assert grown("table", "restore", "ops.people", "first").code == 2


def test_migrate(grown, tmp_path):
    assert grown("table", "migrate", "ops.people", "--stable-row-ids").out == "ops.people has stable row ids already\n"
    assert grown("table", "import", "plain", str(tmp_path / "people.csv"), "--no-stable-row-ids").code == 0
    assert grown("table", "migrate", "plain").code == 2
    assert grown("table", "migrate", "plain", "--stable-row-ids").out == "plain has stable row ids, version 2\n"
    assert json.loads(grown("table", "migrate", "plain", "--stable-row-ids", "--json").out) == {
        "table": "plain", "migrated": False, "version": 2}
