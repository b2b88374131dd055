"""glaive view refresh --all and --explain, status, verify."""
import json

import pytest

from test_program import run  # noqa: F401


@pytest.fixture
def views(run):  # noqa: F811
    """v reads src, and a (whose name comes first) reads v; both are behind by one append."""
    run("table", "import", "src", "-", "--format", "csv", stdin="id,score\n1,10\n2,20\n")
    assert run("view", "create", "v", "--as", "SELECT id, score + 1 AS more FROM src WHERE score > 5").code == 0
    assert run("ns", "create", "ns").code == 0
    assert run("view", "create", "ns.a", "--source", "v", "--select", "id").code == 0
    assert run("table", "import", "src", "-", "--format", "csv", "--append", stdin="id,score\n3,30\n4,1\n").code == 0
    return run


def test_all_in_the_order_of_their_sources(views):
    done = json.loads(views("view", "refresh", "--all", "--json").out)
    assert [(r["name"], r["mode"], r["rows_written"]) for r in done] == [("v", "incremental", 1), ("ns.a", "incremental", 1)]
    again = json.loads(views("view", "refresh", "--all", "--json").out)
    assert [r["mode"] for r in again] == ["no_op", "no_op"]


def test_all_goes_on_after_a_failure(views):
    views("table", "drop", "src")
    got = views("view", "refresh", "--all", "--json")
    assert got.code == 3 and "src" in got.err
    failed, done = json.loads(got.out)
    assert failed["name"] == "v" and "src" in failed["error"]
    assert (done["name"], done["mode"]) == ("ns.a", "no_op")


def test_explain_changes_nothing(views):
    got = json.loads(views("view", "refresh", "v", "--explain", "--json").out)
    assert (got["mode"], got["rows_to_compute"], got["ids_to_remove"]) == ("incremental", 2, 0)
    assert got["rows"] == {"fresh": 2, "touched": 0, "revived": 0, "removed": 0}
    text = views("view", "refresh", "v", "--explain").out
    assert text.startswith("v: incremental, 2 rows to compute, 0 ids to remove") and "1 same" in text
    assert json.loads(views("table", "describe", "v", "--json").out)["version"] == 2
    full = json.loads(views("view", "refresh", "--explain", "--full", "v", "--json").out)
    assert (full["mode"], full["reason"], full["rows"]) == ("rebuild", "full", None)


def test_status(views):
    all_of_them = json.loads(views("view", "status", "--json").out)
    assert [(s["name"], s["rows_behind"], s["versions_behind"]) for s in all_of_them] == [("v", 2, 1), ("ns.a", 0, 0)]
    one = json.loads(views("view", "status", "v", "--json").out)
    assert (one["state"], one["source"], one["source_version"], one["source_head"], one["intact"]) == ("ok", "src", 1, 2, True)
    assert views("view", "status", "v").out == (
        "v: ok, 2 rows, version 2, source src at version 1 of 2, at most 2 source rows behind\n")
    assert views("view", "status", "src").code == 1


def test_verify(views):
    assert views("view", "verify", "v").out == "v: equal to its definition, 2 rows at source version 1\n"
    got = views("view", "verify", "--all", "--json")
    assert got.code == 0 and [v["equal"] for v in json.loads(got.out)] == [True, True]


@pytest.mark.parametrize("words, phrase", [
    (["view", "refresh"], "give the names of views, or --all"),
    (["view", "refresh", "v", "--all"], "give the names of views, or --all"),
    (["view", "refresh", "--all", "--source-version", "1"], "--source-version is for one view"),
    (["view", "verify"], "give the names of views, or --all"),
])
def test_wrong_usage(run, words, phrase):  # noqa: F811
    got = run(*words)
    assert got.code == 2 and phrase in got.err
