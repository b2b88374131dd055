"""glaive table columns: what it takes, what it prints, how it ends."""
import json

import pytest

from test_program import people, run  # noqa: F401


def names(run, table="ops.people"):
    return [(c["name"], c["type"], c["nullable"]) for c in json.loads(run("table", "describe", table, "--json").out)["columns"]]


def test_add_alter_drop(people):
    run = people
    first = names(run)
    done = run("table", "columns", "add", "ops.people", "next=age + 1", '"my col"=upper(name)')
    assert (done.code, done.err, done.out) == (0, "", "added columns to table ops.people, version 2\n")
    done = run("table", "columns", "add", "ops.people", "--null", "a=int8", "--null", "ts=timestamp[us, tz=UTC]", "--json")
    assert json.loads(done.out) == {"table": "ops.people", "version": 3}
    assert names(run)[len(first):] == [
        ("next", "int64", True), ("my col", "string", True), ("a", "int8", True), ("ts", "timestamp[us, tz=UTC]", True)]
    done = run("table", "columns", "alter", "ops.people", "--rename", "a=b", "--type=next=int32", "--rename", "next=after", "--type", "a=int16")
    assert done.out == "altered columns of table ops.people, version 4\n"
    assert names(run)[len(first)] == ("after", "int32", True)
    done = run("table", "columns", "drop", "ops.people", "b", "ts", "after", "my col")
    assert done.out == "dropped columns of table ops.people, version 5\n"
    assert names(run) == first


@pytest.mark.parametrize("words, code, text", [
    (["add", "ops.people", "age=1"], 4, "already exists"),
    (["add", "ops.people", "x=nope"], 1, "nope"),
    (["add", "ops.people", "--null", "x=int7"], 1, "is not a type"),
    (["alter", "ops.people", "--rename", "x=y"], 3, "no column 'x'"),
    (["alter", "ops.people", "--rename", "age=name"], 4, "two columns 'name'"),
    (["alter", "ops.people", "--type", "age=string"], 1, "Cannot cast"),
    (["drop", "ops.people", "x"], 3, "no column 'x'"),
    (["drop", "nobody", "x"], 3, "nobody"),
])
def test_failures(people, words, code, text):
    done = people("table", "columns", *words)
    assert (done.code, done.out) == (code, "")
    assert text in done.err


@pytest.mark.parametrize("words", [
    ["add", "ops.people"], ["add", "ops.people", "age + 1"], ["add", "ops.people", "x=1", "--null", "y=int8"], ["add", "ops.people", "--null", "x"],
    ["add", "ops.people", "x=1", "--rename", "a=b"], ["alter", "ops.people"], ["alter", "ops.people", "--rename", "age"],
    ["alter", "ops.people", "age", "--nullable", "age"], ["alter", "ops.people", "--null", "x=int8"], ["drop", "ops.people"], ["show", "ops.people"],
    ["drop"],
])
def test_wrong_usage(people, words):
    done = people("table", "columns", *words)
    assert (done.code, done.out) == (2, "")
    assert "usage: glaive table columns" in done.err
