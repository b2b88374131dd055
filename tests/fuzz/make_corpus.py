#!/usr/bin/env python3
"""Write the seeds of the fuzz targets expr_parse and view_definition from the recorded SQL cases.

make_corpus.py CASES: CASES is the folder that holds sql/cases.jsonl and sql/canon_cases.jsonl.
"""
import json
import pathlib
import sys

here = pathlib.Path(__file__).parent
cases = pathlib.Path(sys.argv[1]) / "sql"


def lines(name):
    return [json.loads(line) for line in (cases / name).read_text().splitlines()]


def write(target, seeds, most=190):
    """At most `most` files, spread over all seeds."""
    folder = here / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    unique = list(dict.fromkeys(seeds))
    step = max(1, -(-len(unique) // most))
    for i, seed in enumerate(unique[::step]):
        (folder / f"{i:03}").write_bytes(seed)


def definition(**fields):
    return json.dumps(fields, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode()


modes = {"group": b"2"}
expressions = [modes.get(c["mode"], b"0") + c["expr"].encode() for c in lines("cases.jsonl")]
canon = lines("canon_cases.jsonl")
texts = [c.get("query") or c["sql"] for c in canon]
views = [b"4" + t.encode() for t in texts] + [b"1" + c["sql"].encode() for c in canon if c["kind"] != "query"]
queries = [b"3SELECT a, \"b\"*2, c AS d FROM n.t WHERE x > 1 ORDER BY a DESC NULLS LAST, b LIMIT 5 OFFSET 2",
           b"3SELECT count(*) AS n FROM t"]
write("expr_parse", queries + views[::4] + expressions)

stored = [definition(format=2 if " GROUP BY " in t else 1, kind="query", query=t) for t in texts]
selects = [definition(kind="select", source_table="t", inputs=["x"], filter="x > 1", limit=i,
                      projections=[{"output": "out", "expression": c["sql"]}])
           for i, c in enumerate(canon) if c["kind"] == "select_expr"]
others = [definition(kind="namespaced_select", source_table="people", source_namespace=["a", "b"], projections=[]),
          definition(kind="namespaced_select", source_table="people", source_namespace=["ns"]),
          definition(kind="select", source_table="t", source_namespace=["ns"], projections=[]),
          definition(kind="join"), definition(format=5), definition(format="one"), b"[1]", b"not json",
          b'{"kind":"select","source_table":"t","projections":[{"output":"a\\u001f\\"","expression":"`a`"}]}']
write("view_definition", others + stored[::2] + selects[::2])
