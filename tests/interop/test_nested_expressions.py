"""Random expressions over lists, structs and maps, against pylance: the program reads the dataset that pylance wrote.

Left out is where the reference itself goes wrong (array_any_value of an empty list, array_max and array_min of lists of lists,
a search for structs in lists) or where its result shows what lies behind null rows (slices inside of other functions)."""
import math
import random

import lance
import pyarrow as pa
import pytest
from conftest import GlaiveError

WORDS = ["", "a", "b", "x", "é", "foo"]
STRUCT = pa.struct([("x", pa.int32()), ("y", pa.string()), ("z", pa.struct([("w", pa.float64())]))])
COLUMNS = {"int": ["li", "lj", "ll[1]", "[1, 2, NULL]", "range(3)"], "str": ["ls", "['a', 'x']"],
           "real": ["lf", "v", "[0.5, 1.5, 2.5]"], "list": ["ll", "[[1], [2, 3]]"]}
ITEMS = {"int": ["i", "0", "1", "-2", "NULL", "st.x"], "str": ["s", "'a'", "''", "NULL", "st.y"], "real": ["f", "1.5", "0.0", "i", "NULL"],
         "list": ["li", "[1]", "NULL"]}
COMPARISONS = ["=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"]


def random_table(r, rows):
    def column(t, make):
        return pa.array([None if r.random() < 0.15 else make() for _ in range(rows)], t)

    def items(make, most=4):
        return lambda: [None if r.random() < 0.15 else make() for _ in range(r.randint(0, most))]

    def real():
        return r.choice([0.0, -0.0, 1.5, -2.25, math.nan, math.inf, r.uniform(-9, 9)])

    def small():
        return r.randint(-3, 5)

    return pa.table({
        "id": pa.array(range(rows), pa.int64()),
        "i": column(pa.int32(), small), "f": column(pa.float64(), real), "s": column(pa.string(), lambda: r.choice(WORDS)),
        "b": column(pa.bool_(), lambda: r.random() < 0.5),
        "li": column(pa.list_(pa.int32()), items(small)), "lj": column(pa.large_list(pa.int64()), items(small)),
        "ls": column(pa.list_(pa.string()), items(lambda: r.choice(WORDS))), "lf": column(pa.list_(pa.float64()), items(real)),
        "ll": column(pa.list_(pa.list_(pa.int32())), items(items(small, 3), 3)),
        "v": column(pa.list_(pa.float32(), 3), lambda: [r.choice([0.0, 1.0, 2.5]) for _ in range(3)]),
        "st": column(STRUCT, lambda: {"x": small(), "y": r.choice(WORDS), "z": {"w": real()}}),
        "m": column(pa.map_(pa.string(), pa.int32()), lambda: [(k, small()) for k in r.sample(WORDS[1:], r.randint(0, 3))]),
    })


class Maker:
    """Expressions of a kind: the items of lists are `int`, `str`, `real` or `list` (of int)."""

    def __init__(self, r):
        self.r = r

    def item(self, kind, depth):
        if depth == 0 or self.r.random() < 0.5:
            return self.r.choice(ITEMS[kind])
        inner = self.list(kind, depth - 1)
        choices = [f"{inner}[{self.r.choice(['1', '-1', '2', '0', 'i'])}]"]
        if kind != "list":
            choices += [f"array_max({inner})", f"array_min({inner})"]
        return self.r.choice(choices)

    def list(self, kind, depth):
        r = self.r
        if depth == 0 or r.random() < 0.3:
            return r.choice(COLUMNS[kind])
        x, y = self.list(kind, depth - 1), self.list(kind, depth - 1)
        a, b = self.item(kind, depth - 1), self.item(kind, depth - 1)
        order = r.choice(["", ", 'DESC'", ", 'ASC', 'NULLS LAST'", ", 'desc', 'nulls first'"])
        return r.choice([
            f"make_array({a}, {b})", f"array_append({x}, {a})", f"array_prepend({a}, {x})", f"array_concat({x}, {y})",
            f"array_sort({x}{order})", f"array_reverse({x})", f"array_distinct({x})", f"array_union({x}, {y})",
            f"array_intersect({x}, {y})", f"array_except({x}, {y})", f"array_remove_all({x}, {a})", f"array_remove_n({x}, {a}, 2)",
            f"array_replace_all({x}, {a}, {b})", f"array_repeat({a}, {r.choice([0, 1, 3])})", f"array_resize({x}, {r.choice([0, 2, 5])}, {a})",
            f"array_pop_front({x})", f"array_compact({x})", f"coalesce({x}, {y})", f"greatest({x}, {y})", f"least({x}, {y})",
            f"nullif({x}, {y})", f"coalesce(CASE WHEN b THEN {x} ELSE {y} END, NULL)"])

    def struct(self):
        return self.r.choice(["st", "named_struct('x', i, 'y', s, 'z', st['z'])", "coalesce(st, NULL)"])

    def top(self):
        r, kind, depth = self.r, self.r.choice(list(COLUMNS)), self.r.choice([1, 1, 2])
        x, y, a = self.list(kind, depth), self.list(kind, depth), self.item(kind, depth)
        column = r.choice(COLUMNS[kind][:2])
        return r.choice([
            x, x, x, a, f"coalesce({x}[{r.randint(-3, 3)}:{r.randint(-3, 3)}], NULL)", f"coalesce({x} {r.choice(COMPARISONS)} {y}, NULL)",
            f"coalesce({self.struct()} {r.choice(COMPARISONS)} {self.struct()}, NULL)", f"coalesce({x} IN ({y}, {x}), NULL)",
            f"{column} = {column}", f"array_has({x}, {a})", f"array_has_all({x}, {column})", f"array_has_any({x}, {column})",
            f"array_position({x}, {a})", f"array_length({x})", f"cardinality({x})", f"array_to_string({x}, '-', 'n')",
            f"CAST({x} AS STRING)", f"arrow_cast({x}, 'LargeList(Utf8)')" if kind != "list" else x, f"flatten({x})",
            "st.z.w + 1", "st['y']", "m['a']", "map_keys(m)", "map_values(m)", "map_extract(m, s)", "cardinality(m)",
            f"cosine_distance(v, {self.list('real', 1)})", f"array_normalize({self.list('real', 1)})", f"string_to_array(s, {r.choice(ITEMS['str'])})"])


def differing(got, want):
    """The rows that differ, for the message."""
    return [(i, x, y) for i, (x, y) in enumerate(zip(got.to_pylist(), want.to_pylist())) if not same(x, y)][:5]


def same(x, y):
    if isinstance(x, list) and isinstance(y, list):
        return len(x) == len(y) and all(map(same, x, y))
    if isinstance(x, dict) and isinstance(y, dict):
        return x.keys() == y.keys() and all(same(x[k], y[k]) for k in x)
    if isinstance(x, float) and isinstance(y, float):
        return math.isnan(x) and math.isnan(y) or math.isclose(x, y, rel_tol=1e-12)
    return type(x) is type(y) and x == y


def expected(dataset, expressions):
    """The columns that the reference computes, by expression, and those that it refuses."""
    columns, refused = {}, []
    for e in expressions:
        try:
            columns[e] = dataset.to_table(columns={"out": e})["out"]
        except (ValueError, OSError, RuntimeError) as error:
            literal = e.removeprefix("CAST(").startswith("[")  # accepted outside of calls, too
            if not literal and not any(text in str(error) for text in ("Scans must request", "non-nullable", "terminated", "No field named m")):
                refused.append(e)
    return columns, refused


@pytest.mark.parametrize("seed", range(4))
def test_random_expressions(glaive, seed):
    r = random.Random(seed)
    table = random_table(r, [7, 40, 300, 5000][seed])
    dataset = lance.write_dataset(table, str(glaive.db / "t.lance"), data_storage_version="2.2")
    maker = Maker(r)
    columns, refused = expected(dataset, list(dict.fromkeys(maker.top() for _ in range(150))))
    names = list(columns)
    for first in range(0, len(names), 25):
        part = names[first:first + 25]
        got = glaive.query("SELECT " + ", ".join(f"{e} AS c{k}" for k, e in enumerate(part)) + " FROM t")
        for k, e in enumerate(part):
            want = columns[e]
            assert str(got.schema.field(f"c{k}").type) == str(want.type).replace("_view", ""), e
            assert differing(got[f"c{k}"], want) == [], e
    for e in refused:
        with pytest.raises(GlaiveError):
            glaive.query(f"SELECT {e} AS c FROM t")
            pytest.fail(e)
