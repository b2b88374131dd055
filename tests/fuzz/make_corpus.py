#!/usr/bin/env python3
"""Write the seeds of the fuzz targets expr_parse, expr_eval, json_value and view_definition from the recorded SQL cases.

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

plain = [c for c in lines("cases.jsonl") if c["mode"] != "group"]
write("expr_eval", [{"project": b"0", "filter": b"1"}[c["mode"]] + c["expr"].encode() for c in plain], 400)

documents = [b'{"a":1,"b":[1,2.5,{"c":"x"}],"d":null,"e":true}', b"[[1],[2,[3]],-300,70000,18446744073709551615]",
             b"{'k':.5,n:[,1,],h:0x1F,\xc3\xa9:\"\\u00e9\\ud83d\\ude00\"}", b'"text"', b"NaN", b"",
             bytes.fromhex("400000021000000110000001500000042000000161624000000000"),
             bytes.fromhex("8000000420000009200000032000000210000001603ff800000000000050012c40ff78"),
             bytes.fromhex("2000000020000012707fffffffffffffffffffffffffffffff02")]
paths = [b"$", b"$.b[*]", b"a.b", b"$.**{1 to last}", b"$[0, last - 1, 1 to 2]", b'$.b[*]?(@.c == "x" || @ > 1)',
         b'($.a == 1) && exists($."d")', b"$.e != null", b'$["a"]', b'$.b[*]?(@.c starts with "x").c']
write("json_value", [bytes([len(p)]) + p + d for p in paths for d in documents])

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
