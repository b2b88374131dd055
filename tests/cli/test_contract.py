"""Names, one JSON document, and where the database is: the rules that scripts rely on."""
import json
import os

import pytest

from test_program import people, run  # noqa: F401


@pytest.fixture
def odd(run, tmp_path):
    (tmp_path / "odd.csv").write_text('my col,age,a-b,"q""q"\nx,1,2,3\ny,2,3,4\n')
    assert run("ns", "create", '"n.1"').code == 0
    assert run("table", "import", '"n.1"."t.2"', "odd.csv").code == 0
    return run


@pytest.mark.parametrize("text, name, values", [
    ('"my col"', "my col", ["x", "y"]),
    ("my col", "my col", ["x", "y"]),
    ('"my col"=upper("my col")', "my col", ["X", "Y"]),
    ('"q""q"', 'q"q', [3, 4]),
    ('"a=b"=age', "a=b", [1, 2]),
    ("a-b", "a-b", [2, 3]),
    ("a-b=age", "a-b", [1, 2]),
    ("2x=age + 1", "2x", [2, 3]),
    ("yes=age == 1", "yes", [True, False]),
])
def test_select(odd, text, name, values):
    done = odd("view", "create", "v", "--source", '"n.1"."t.2"', "--select", text)
    assert (done.code, done.err) == (0, "")
    rows = json.loads(odd("query", "SELECT * FROM v ORDER BY __source_row_id", "--json").out)
    assert [list(r)[0] for r in rows] == [name] * 2
    assert [list(r.values())[0] for r in rows] == values


@pytest.mark.parametrize("text, message", [
    ("age==1", "unknown column 'age==1'"),
    ("age = 1", "unknown column 'age = 1'"),
    ('"my col', "is not a name"),
    ('"my col".x', "is not one column"),
    ('""=age', "has an empty name"),
])
def test_select_refused(odd, text, message):
    done = odd("view", "create", "v", "--source", '"n.1"."t.2"', "--select", text)
    assert done.code == 1
    assert message in done.err
    assert odd("view", "list", "--json").out == "[]\n"


def test_names_are_shown_in_one_form(odd):
    assert odd("view", "create", '"n.1"."v.1"', "--source", '"n.1"."t.2"').code == 0
    assert json.loads(odd("view", "list", "--recursive", "--json").out) == [
        {"name": '"v.1"', "namespace": '"n.1"', "form": "namespaced_select", "state": "ok"}]
    assert json.loads(odd("table", "list", '"n.1"', "--json").out) == ['"n.1"."t.2"', '"n.1"."v.1"']
    assert odd("view", "drop", '"n.1"."v.1"').out == 'dropped view "n.1"."v.1"\n'


def test_one_json_document(people, tmp_path):
    run = people
    for words in (["query", "SELECT name FROM ops.people", "--format", "csv"],
                  ["query", "SELECT name FROM ops.people", "--format", "jsonl", "-o", "-"],
                  ["table", "export", "ops.people", "-", "--format", "csv"]):
        refused = run(*words, "--json")
        assert (refused.code, refused.out) == (2, "")
        assert "--json prints one JSON document" in refused.err
    for words in (["query", "SELECT name FROM ops.people", "-o", "out.csv"], ["table", "export", "ops.people", "out.csv"]):
        assert json.loads(run(*words, "--json").out) == {"written": "out.csv"}
        assert len((tmp_path / "out.csv").read_text().splitlines()) == 4
        (tmp_path / "out.csv").unlink()


def test_where_the_database_is(run, tmp_path):
    db = str(tmp_path / "db")
    assert run("table", "list", env={"GLAIVE_DB": db}, db=False).code == 0
    assert run("table", "list", env={"GLAIVE_DB": db, "GLAIVE_URL": ""}, db=False).code == 0
    none = run("table", "list", env={"GLAIVE_DB": "", "GLAIVE_URL": ""}, db=False)
    assert none.code == 2 and "no database" in none.err
    assert run("table", "list", "--db", db, env={"GLAIVE_URL": "http://localhost:1"}, db=False).code == 0
    path = run("table", "list", "--url", str(tmp_path / "other"), db=False)
    assert path.code == 2 and "a server is http://" in path.err
    assert not (tmp_path / "other").exists()
    assert run("table", "list", "--url", "http://localhost:1").code == 1  # the flag beats GLAIVE_DB


def test_queries_with_one_name_twice(people):
    twice = people("query", "SELECT name, upper(name) AS name FROM ops.people")
    assert twice.code == 1 and "two columns the name 'name'" in twice.err
    order = people("query", "SELECT count(*) FROM ops.people ORDER BY age")
    assert order.code == 1 and "ORDER BY 'age' has no meaning" in order.err
    name = "n" * 300
    assert json.loads(people("query", f"SELECT count(*) AS {name} FROM ops.people ORDER BY {name}", "--json").out) == [{name: 3}]


GROUPED = [
    ("SELECT k, count(*) AS n, sum(x) AS s FROM t GROUP BY k", [{"k": "a", "n": 2, "s": 4}, {"k": "b", "n": 2, "s": 2}, {"k": None, "n": 1, "s": 9}]),
    ("SELECT count(*), max(x) AS m FROM t", [{"count(*)": 5, "m": 9}]),
    ("SELECT count(*) AS n FROM t WHERE x > 100", [{"n": 0}]),
    ("SELECT sum(x) AS s FROM t WHERE x > 100", [{"s": None}]),
    ("SELECT k FROM t WHERE x > 100 GROUP BY k", []),
    ("SELECT k, avg(x) AS a FROM t GROUP BY 1 ORDER BY a DESC LIMIT 1 OFFSET 1", [{"k": "a", "a": 2.0}] ),
    ("SELECT upper(k) AS u, array_agg(x ORDER BY x DESC) AS xs FROM t WHERE k IS NOT NULL GROUP BY u", [{"u": "A", "xs": [3, 1]}, {"u": "B", "xs": [None, 2]}]),
    ("SELECT count(DISTINCT k) + 1 AS n, string_agg(k, '-') AS all FROM t", [{"n": 3, "all": "a-b-a-b"}]),
    ("SELECT count(*) FILTER (WHERE x > 1) AS n FROM t", [{"n": 3}]),
    ("SELECT 'x' AS c, count(*) AS n FROM t GROUP BY c", [{"c": "x", "n": 5}]),
    ('SELECT "k" FROM t GROUP BY "k" ORDER BY k NULLS FIRST LIMIT 1', [{"k": None}]),
]


def test_grouped_queries(run):
    run("table", "import", "t", "-", "--format", "csv", stdin="k,x\na,1\nb,2\na,3\nb,NA\nNA,9\n")
    for sql, rows in GROUPED:
        got = run("query", sql, "--json")
        assert got.code == 0, (sql, got.err)
        assert json.loads(got.out) == rows, sql


@pytest.mark.parametrize("sql, phrase", [
    ("SELECT k, x FROM t GROUP BY k", 'column "x" is neither'),
    ("SELECT * FROM t GROUP BY k", "selects its keys and aggregates"),
    ("SELECT k FROM t GROUP BY ROLLUP (k)", "GROUP BY takes a plain list"),
    ("SELECT k FROM t GROUP BY k HAVING count(*) > 1", "is not part of it"),
    ("SELECT k FROM t GROUP BY k ORDER BY x", "select it, too"),
    ("SELECT count(*) FROM t GROUP BY 1", "not allowed in GROUP BY"),
    ("SELECT rank() OVER () AS r, count(*) FROM t", "Window functions"),
    ("SELECT sum(k) FROM t", "sum"),
    ("SELECT sum(max(x)) FROM t", "argument of another"),
])
def test_grouped_queries_that_are_refused(run, sql, phrase):
    run("table", "import", "t", "-", "--format", "csv", stdin="k,x\na,1\n")
    got = run("query", sql)
    assert got.code == 1 and phrase in got.err, got.err


EXPANDED = [
    ("SELECT id, e FROM t, UNNEST(xs) AS e", [{"id": 1, "e": 5}, {"id": 1, "e": 6}, {"id": 4, "e": None}, {"id": 4, "e": 7}]),
    ("SELECT id FROM t CROSS JOIN UNNEST(xs) e WHERE e > 5", [{"id": 1}, {"id": 4}]),
    ("SELECT * FROM t, UNNEST(xs) AS e WHERE id = 4 ORDER BY e", [{"id": 4, "e": 7, "ps": None}, {"id": 4, "e": None, "ps": None}]),
    ("SELECT id, p.x, p.y AS z FROM t, UNNEST(ps) AS p", [{"id": 1, "x": 1, "z": "a"}, {"id": 2, "x": 2, "z": "b"}, {"id": 2, "x": 3, "z": None}]),
    ("SELECT count(*) FROM t, UNNEST(xs) AS e", [{"count(*)": 4}]),
    ("SELECT e % 2 AS odd, count(*) AS n FROM t, UNNEST(xs) AS e WHERE e > 0 GROUP BY odd ORDER BY odd",
     [{"odd": 0, "n": 1}, {"odd": 1, "n": 2}]),
    ("SELECT e FROM t, UNNEST(xs) AS e ORDER BY id DESC, e LIMIT 2 OFFSET 1", [{"e": None}, {"e": 5}]),
    ("SELECT e FROM t, UNNEST(xs) AS e WHERE 1 / (id - 2) IS NOT NULL AND 1 / (id - 3) IS NOT NULL LIMIT 1", [{"e": 5}]),
]
LISTS = """{"id":1,"xs":[5,6],"ps":[{"x":1,"y":"a"}]}
{"id":2,"xs":[],"ps":[{"x":2,"y":"b"},{"x":3}]}
{"id":3,"xs":null,"ps":[]}
{"id":4,"xs":[null,7],"ps":null}
"""


def test_expanded_queries(run):
    run("table", "import", "t", "-", "--format", "jsonl", stdin=LISTS)
    for sql, rows in EXPANDED:
        got = run("query", sql, "--json")
        assert got.code == 0, (sql, got.err)
        assert json.loads(got.out) == rows, sql


@pytest.mark.parametrize("sql, phrase", [
    ("SELECT id FROM t, UNNEST(id) AS e", "UNNEST column 'id' is Int64, not a list"),
    ("SELECT id FROM t, UNNEST(nope) AS e", "UNNEST column 'nope' is not a column of the source"),
    ("SELECT id FROM t, UNNEST(xs) AS id", "UNNEST alias 'id' collides with a source column"),
    ("SELECT xs FROM t, UNNEST(xs) AS e", "xs"),
    ("SELECT id FROM t, UNNEST(xs)", "UNNEST needs an alias"),
    ("SELECT id FROM t, UNNEST(a.b) AS c", "UNNEST takes one top-level list column"),
    ("SELECT id FROM t, other", "expected UNNEST(column) AS alias"),
    ("SELECT id FROM t, UNNEST(xs) AS e, UNNEST(ps) AS p", "expected the end of the query, found ,"),
])
def test_expanded_queries_that_are_refused(run, sql, phrase):
    run("table", "import", "t", "-", "--format", "jsonl", stdin=LISTS)
    got = run("query", sql)
    assert got.code == 1 and phrase in got.err, got.err


def test_views_over_elements_and_groups(run):
    run("table", "import", "t", "-", "--format", "jsonl", stdin=LISTS)
    assert run("view", "create", "elements", "--as", "SELECT id, e FROM t, UNNEST(xs) AS e").code == 0
    assert run("view", "create", "groups", "--as", "SELECT id, count(*) AS n FROM elements GROUP BY id").code == 0
    query = json.loads(run("view", "describe", "groups", "--json").out)
    assert query["form"] == "query" and query["query"] == "SELECT id, count(*) AS n FROM elements GROUP BY id"
    assert json.loads(run("query", "SELECT * FROM groups ORDER BY id", "--json").out) == [
        {"id": 1, "n": 2, "__source_row_id": 0}, {"id": 4, "n": 2, "__source_row_id": 2}]
    run("table", "import", "t", "-", "--format", "jsonl", "--append", stdin='{"id":4,"xs":[8,9,10]}\n')
    done = json.loads(run("view", "refresh", "elements", "--json").out)
    assert (done["mode"], done["rows_written"]) == ("incremental", 3)
    refused = run("view", "refresh", "groups", "--require", "incremental")
    assert refused.code == 1 and "(grouped)" in refused.err
    done = json.loads(run("view", "refresh", "groups", "--json").out)
    assert (done["mode"], done["reason"], done["rows_written"]) == ("rebuild", "grouped", 2)
    assert json.loads(run("view", "refresh", "groups", "--json").out)["mode"] == "no_op"
    assert json.loads(run("query", "SELECT id, n FROM groups ORDER BY id", "--json").out) == [{"id": 1, "n": 2}, {"id": 4, "n": 5}]
    for view in ("elements", "groups"):
        assert "equal to its definition" in run("view", "verify", view).out


def test_output_into_what_is_no_file(run, tmp_path):
    """A device or pipe is written into, not replaced: not even by one who may."""
    run("table", "import", "t", "-", "--format", "csv", stdin="k\n1\n")
    (tmp_path / "null").symlink_to("/dev/null")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for path in (tmp_path / "null", pipe):
        assert run("query", "SELECT k FROM t", "--format", "csv", "-o", path).code == 0
    assert os.read(reader, 100) == b"k\n1\n"
    os.close(reader)
    assert (tmp_path / "null").is_symlink() and pipe.is_fifo()


def test_null_order_is_that_of_datafusion(run):
    run("table", "import", "t", "-", "--format", "csv", stdin="id,x\n1,b\n2,NA\n3,a\n")
    for order, ids in (("x", [3, 1, 2]), ("x DESC", [2, 1, 3]), ("x NULLS FIRST", [2, 3, 1]), ("x DESC NULLS LAST", [1, 3, 2]), ("x, x DESC", [3, 1, 2])):
        rows = json.loads(run("query", f"SELECT id FROM t ORDER BY {order}", "--json").out)
        assert [r["id"] for r in rows] == ids, order


def test_search(run, tmp_path):
    import lance
    import pyarrow as pa

    vectors = {"v": [[0, 0], [3, 4], [1, 1]], "w": [[9, 9], [0, 0], [1, 0]]}
    lance.write_dataset(pa.table({"id": [1, 2, 3], **{name: pa.array(rows, pa.list_(pa.float32(), 2)) for name, rows in vectors.items()}}),
                        str(tmp_path / "db/t.lance"))
    found = json.loads(run("search", "t", "-v", "[0, 0]", "--in", "v", "-c", "id", "--json").out)
    assert found == [{"id": 1, "_distance": 0}, {"id": 3, "_distance": 2}, {"id": 2, "_distance": 25}]
    got = run("search", "t", "-v", "0,0", "-v", "1 1", "--in", "w", "-n", "1", "-w", "id <> 2", "-c", "twice=id * 2", "--format", "csv")
    assert got.out == "query_index,twice,_distance\n0,6,1.0\n1,6,1.0\n"
    assert run("search", "t", "-v", "[0, 0]", "--in", "v", "--from", "1", "--below", "25", "-c", "id", "--format", "csv").out == "id,_distance\n3,2.0\n"
    for words, code, text in ((["-v", "[a]"], 1, "no vector"), ([], 2, "no --vector"), (["-v", "[1, 2]"], 1, "more than one vector column"),
                              (["-v", "[1]", "-v", "[1, 2]"], 1, "dimensions"), (["-v", "[1, 2]", "-m", "near"], 2, "--metric"),
                              (["-v", "[1, 2]", "--from", "x"], 2, "--from"), (["-v", "[1, 2]", "--in", "v", "-n", "0"], 1, "Limit is required")):
        wrong = run("search", "t", *words)
        assert wrong.code == code and text in wrong.err, (words, wrong)
