#!/usr/bin/env python3
"""Write the IPC files beside this script: the same 5 + 3 rows as stream and file, plain and compressed. Needs pyarrow."""
import datetime as dt
import decimal
import pathlib

import pyarrow as pa

here = pathlib.Path(__file__).parent
D = decimal.Decimal


def column(values, t):
    return pa.array(values, t)


def columns(first):
    """Rows 0-4 or 5-7; every column has a null."""
    pick = lambda values: values[:5] if first else values[5:]
    text = ["", "naïve", None, "日本語", "a longer text, past twelve bytes", "x", None, "the last of all the texts"]
    when = [dt.datetime(1969, 12, 31, 23, 59, 59, 999999), None] + [dt.datetime(2026, 11, d, 1, 2, 3, d) for d in range(1, 7)]
    out = {
        "nothing": column(pick([None] * 8), pa.null()),
        "flag": column(pick([True, None, False, True, True, False, None, True]), pa.bool_()),
        "i8": column(pick([-128, 127, None, 0, 1, 2, 3, None]), pa.int8()),
        "u64": column(pick([2**64 - 1, 0, None, 1, 2, 3, None, 5]), pa.uint64()),
        "f16": pa.array(pick([1.5, None, -2.0, 0.0, 1.0, 4.0, None, 2.0]), pa.float16()),
        "f64": column(pick([0.1, None, -1e300, 0.0, 5.5, 6.25, float("inf"), 8.0]), pa.float64()),
        "dec": column(pick([D("1.50"), None, D("-99999999999999999999.99"), D(0), D(1), D(2), D(3), None]), pa.decimal128(38, 2)),
        "dec256": column(pick([D("1.5"), None, D("-7.5"), D(0), D(1), D(2), D(3), None]), pa.decimal256(50, 1)),
        "day": column(pick([dt.date(1969, 1, 1), None] + [dt.date(2026, 1, d) for d in range(1, 7)]), pa.date32()),
        "at": column(pick(when), pa.timestamp("us")),
        "at_zone": column(pick(when), pa.timestamp("us", "UTC")),
        "took": column(pick([1, None, 3, 4, 5, 6, 7, 8]), pa.duration("ms")),
        "text": column(pick(text), pa.string()),
        "large_text": column(pick(text), pa.large_string()),
        "view": column(pick(text), pa.string_view()),
        "bytes": column(pick([b"", b"\x00\xff", None, b"abc", b"d", b"e", None, b"f"]), pa.binary()),
        "fixed": column(pick([b"abc", None, b"\x00\x01\x02", b"def", b"ghi", b"jkl", None, b"mno"]), pa.binary(3)),
        "list": column(pick([[1, None], None, [], [3], [4, 5, 6], [7], None, [8]]), pa.list_(pa.int32())),
        "vector": column(pick([[1, 2], None, [3, 4], [5, 6], [7, None], [9, 10], None, [11, 12]]), pa.list_(pa.float32(), 2)),
        "struct": column(pick([{"a": 1, "b": "x"}, None, {"a": None, "b": "y"}, {"a": 4, "b": None}] + [{"a": i, "b": "z"} for i in range(4)]),
                         pa.struct([("a", pa.int64()), ("b", pa.string())])),
        "map": column(pick([[("k", 1)], None, [], [("a", None), ("b", 2)], [], [("c", 3)], None, []]), pa.map_(pa.string(), pa.int32())),
    }
    words = ["red", None, "green", "blue", "red", "green", None, "black"]
    out["dict"] = pa.array(pick(words), pa.string()).dictionary_encode()
    if not first:  # another dictionary than in the first batch
        out["dict"] = pa.DictionaryArray.from_arrays(pa.array([1, None, 3], pa.int32()), pa.array(["red", "green", "blue", "black"]))
    return out


batches = [pa.RecordBatch.from_pydict(columns(first)) for first in (True, False)]
schema = batches[0].schema.with_metadata({"made by": "make.py"})
batches = [b.replace_schema_metadata(schema.metadata) for b in batches]
for name, compression in (("plain", None), ("lz4", "lz4"), ("zstd", "zstd")):
    options = pa.ipc.IpcWriteOptions(compression=compression, emit_dictionary_deltas=True, unify_dictionaries=False)
    with pa.ipc.new_stream(str(here / f"{name}.arrows"), schema, options=options) as w:
        for b in batches:
            w.write_batch(b)
    with pa.ipc.new_file(str(here / f"{name}.arrow"), schema, options=options) as w:
        for b in batches:
            w.write_batch(b)
with pa.ipc.new_stream(str(here / "replaced.arrows"), schema) as w:  # dictionaries are replaced, not extended
    for b in reversed(batches):
        w.write_batch(b)
