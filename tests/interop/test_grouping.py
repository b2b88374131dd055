"""Grouped queries over random tables, against DataFusion: types, nullability and values, group by group.

The reference runs in one partition over the same rows; its groups are put in the order of their first rows, which is ours.
Aggregates whose result depends on the order of rows are not mixed with ordered ones: DataFusion sorts its input for those."""
import datetime
import decimal
import math
import random

import pyarrow as pa
import pytest

datafusion = pytest.importorskip("datafusion")

WORDS = ["", "a", "b", "apple", "Banana", "été", "zz", "a,b"]
FLOATS = [0.0, -0.0, 1.5, 2.25, -3.5]
INTEGERS = ["i8", "i16", "i32", "i64", "u8", "u32", "u64"]
NUMBERS = INTEGERS + ["f16", "f32", "f64", "dec", "d256"]
ANY = NUMBERS + ["s", "bin", "d", "ts", "b", "li", "t32", "du"]
SORTABLE = ["id", "i32", "f64", "s", "d", "i64", "b", "ts"]
KEYS = ["k", "g", "b", "g % 2", "upper(k)", "coalesce(k, 'none')", "f64", "d", "i8 > 0", "length(s)", "date_part('year', ts)",
        "CASE WHEN i16 > 0 THEN 'p' ELSE k END", "u8 % 3", "bin", "-0.0 + f32", "li", "dec > 0", "t32"]
FILTERS = ["", "", "", "", " FILTER (WHERE b)", " FILTER (WHERE i16 > 0)", " FILTER (WHERE s IS NOT NULL)"]
PAIRS = ["covar", "covar_pop", "corr", "regr_slope", "regr_intercept", "regr_r2", "regr_count", "regr_avgx", "regr_sxx", "regr_sxy"]
BY_ORDER = ("nth_value", "first_value", "last_value", "array_agg", "string_agg")


def random_table(r, rows):
    def column(t, make):
        return pa.array([None if r.random() < 0.15 else make() for _ in range(rows)], t)

    def real():
        return r.choice(FLOATS + [r.uniform(-100, 100)] * 2)

    return pa.table({
        "id": pa.array(range(rows), pa.int64()),
        "k": column(pa.string(), lambda: r.choice(WORDS[:4])),
        "g": column(pa.int32(), lambda: r.randrange(4)),
        "b": column(pa.bool_(), lambda: r.random() < 0.5),
        "i8": column(pa.int8(), lambda: r.randrange(-128, 128)),
        "i16": column(pa.int16(), lambda: r.randrange(-3000, 3000)),
        "i32": column(pa.int32(), lambda: r.randrange(-2**31, 2**31)),
        "i64": column(pa.int64(), lambda: r.randrange(-2**63, 2**63) if r.random() < 0.1 else r.randrange(-50, 50)),
        "u8": column(pa.uint8(), lambda: r.randrange(256)),
        "u32": column(pa.uint32(), lambda: r.randrange(2**32)),
        "u64": column(pa.uint64(), lambda: r.randrange(2**64)),
        "f16": column(pa.float16(), lambda: r.choice([0.5, -2.25, 3.0, 100.0, -0.125])),
        "f32": column(pa.float32(), real),
        "f64": column(pa.float64(), real),
        "dec": column(pa.decimal128(10, 2), lambda: decimal.Decimal(r.randrange(-10**9, 10**9)) / 100),
        "d256": column(pa.decimal256(40, 3), lambda: decimal.Decimal(r.randrange(-10**15, 10**15)) / 1000),
        "s": column(pa.string(), lambda: r.choice(WORDS)),
        "bin": column(pa.binary(), lambda: r.choice([b"", b"a", b"\xff", b"bb"])),
        "d": column(pa.date32(), lambda: datetime.date(1970, 1, 1) + datetime.timedelta(days=r.randrange(-1000, 20000))),
        "ts": column(pa.timestamp("us"), lambda: datetime.datetime(2000, 1, 1) + datetime.timedelta(microseconds=r.randrange(10**15))),
        "t32": column(pa.time32("s"), lambda: datetime.time(r.randrange(24), r.randrange(60))),
        "du": column(pa.duration("us"), lambda: r.randrange(-10**9, 10**9)),
        "li": column(pa.list_(pa.int32()), lambda: [r.choice([None, 1, 2, 3]) for _ in range(r.randrange(4))]),
    })


def order(r):
    keys = r.sample(SORTABLE, r.randrange(0, 3))
    if not keys:
        return ""
    keys = [key for key in keys if key != "id"] + ["id"]  # no ties
    return " ORDER BY " + ", ".join(key + r.choice(["", " ASC", " DESC"]) + r.choice(["", " NULLS FIRST", " NULLS LAST"]) for key in keys)


def aggregate(r):
    number, value, choice = r.choice(NUMBERS), r.choice(ANY), r.choice
    return choice([
        lambda: "count(*)" + choice(FILTERS),
        lambda: f"count({value})" + choice(FILTERS),
        lambda: f"count(DISTINCT {value})" + choice(FILTERS),
        lambda: f"sum({number})" + choice(FILTERS),
        lambda: f"sum({number} * 2)" if number != "d256" and number[0] != "u" else "sum(i32 + 1)",
        lambda: f"sum(DISTINCT {choice(INTEGERS)})",
        lambda: f"avg({number})" + choice(FILTERS),
        lambda: f"min({value})" + choice(FILTERS),
        lambda: f"max({value})" + choice(FILTERS),
        lambda: f"{choice(['first_value', 'last_value'])}({value}{order(r)})" + choice(["", " IGNORE NULLS"]),
        lambda: f"nth_value({value}, {choice([1, 2, 3, -1, -2])}{order(r)})",
        lambda: f"array_agg({value}{order(r)})" + choice(FILTERS),
        lambda: f"string_agg({choice(['s', 'k', 'i8'])}, ','{order(r)})",
        lambda: f"{choice(['bool_and', 'bool_or'])}(b)",
        lambda: f"{choice(['bit_and', 'bit_or', 'bit_xor'])}({choice(INTEGERS)})",
        lambda: f"median({number})" + choice(FILTERS),
        lambda: f"percentile_cont({number}, {choice([0.0, 0.1, 0.25, 0.5, 0.9, 1.0])})",
        lambda: f"percentile_cont({choice([0.25, 0.7])}) WITHIN GROUP (ORDER BY {number} {choice(['ASC', 'DESC', ''])})",
        lambda: f"{choice(['stddev', 'stddev_pop', 'var', 'var_pop', 'var_samp'])}({number})",
        lambda: f"{choice(PAIRS)}({choice(NUMBERS)}, {choice(NUMBERS)})",
        lambda: f"coalesce({choice(['sum', 'max', 'count'])}({choice(['i8', 'i32', 'f64'])}), 0) + 1",
        lambda: choice(["1", "'x'", "count(*) > 2", "max(i8) - min(i8)", "sum(i16) / count(*)", "CASE WHEN count(*) > 1 THEN min(s) END"]),
    ])()


def statement(r):
    keys = [r.choice(KEYS) for _ in range(r.choice([0, 1, 1, 1, 2]))]
    items = list(dict.fromkeys(keys)) + [aggregate(r) for _ in range(r.randrange(1, 4))] + ["count(*)"]
    if any("(ORDER BY" not in item and "ORDER BY" in item for item in items):
        items = [item for item in items if "ORDER BY" in item or not item.startswith(BY_ORDER)]
    columns = ", ".join(f"{item} AS c{i}" for i, item in enumerate(items))
    where = r.choice(["", "", " WHERE i16 > 0", " WHERE b"])
    group = " GROUP BY " + ", ".join(keys) if keys else ""
    return f"SELECT {columns} FROM t{where}{group}", f"SELECT {columns}, min(id) AS first FROM t{where}{group} ORDER BY first"


def same(x, y):
    if isinstance(x, list) and isinstance(y, list):
        return len(x) == len(y) and all(map(same, x, y))
    if isinstance(x, float) and isinstance(y, float):
        return math.isnan(x) and math.isnan(y) or math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-6)
    return type(x) is type(y) and x == y


@pytest.mark.parametrize("seed", range(6))
def test_random_queries(glaive, seed):
    r = random.Random(seed)
    table = random_table(r, [0, 1, 5, 30, 200, 3000][seed])
    glaive.write("t", table)
    reference = datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions(1))
    reference.register_record_batches("t", [table.to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]])
    for _ in range(50):
        ours, theirs = statement(r)
        try:
            want = reference.sql(theirs).to_arrow_table().drop_columns(["first"])
        except Exception as e:  # orders of aggregates that conflict are beyond it
            assert "Conflicting ordering requirements" in str(e), (ours, e)
            continue
        got = glaive.query(ours)
        for name in want.column_names:
            field, expected = got.schema.field(name), want.schema.field(name)
            assert (str(field.type), field.nullable) == (str(expected.type).replace("_view", ""), expected.nullable), (name, ours)
            assert same(got.column(name).to_pylist(), want.column(name).to_pylist()), (name, ours)
