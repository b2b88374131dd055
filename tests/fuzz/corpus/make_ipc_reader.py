#!/usr/bin/env python3
"""Write the seeds of the fuzz target ipc_reader: one small stream or file for each type. Needs pyarrow."""
import pathlib

import pyarrow as pa

out = pathlib.Path(__file__).parent / "ipc_reader"
columns = {
    "null": pa.nulls(3),
    "bool": pa.array([True, None, False]),
    "int32": pa.array([1, None, -3], pa.int32()),
    "uint64": pa.array([1, None, 2**64 - 1], pa.uint64()),
    "double": pa.array([1.5, None, -0.0]),
    "half": pa.array([1.5, None, 2.0], pa.float16()),
    "decimal": pa.array([None, 5, 7], pa.decimal128(20, 2)),
    "decimal256": pa.array([None, 5, 7], pa.decimal256(50, 2)),
    "date": pa.array([0, None, 5], pa.date32()),
    "time": pa.array([0, None, 5], pa.time64("us")),
    "timestamp": pa.array([0, None, 5], pa.timestamp("us", "UTC")),
    "duration": pa.array([0, None, 5], pa.duration("ms")),
    "interval": pa.array([(1, 2, 3), None, (4, 5, 6)], pa.month_day_nano_interval()),
    "string": pa.array(["a", None, "long enough for more than inline"]),
    "large_string": pa.array(["a", None, "b"], pa.large_string()),
    "view": pa.array(["a", None, "long enough for more than inline"], pa.string_view()),
    "binary": pa.array([b"", None, b"\xff"]),
    "fixed_binary": pa.array([b"ab", None, b"cd"], pa.binary(2)),
    "list": pa.array([[1], None, []], pa.list_(pa.int8())),
    "fixed_list": pa.array([[1, 2], None, [3, None]], pa.list_(pa.float32(), 2)),
    "struct": pa.array([{"a": 1}, None, {"a": None}]),
    "map": pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int8())),
    "dictionary": pa.array(["x", None, "x"]).dictionary_encode(),
}
for i, (name, values) in enumerate(columns.items()):
    batch = pa.record_batch([values], names=["c"])
    options = pa.ipc.IpcWriteOptions(compression=(None, "lz4", "zstd")[i % 3])
    writer = pa.ipc.new_file if i % 2 else pa.ipc.new_stream
    with writer(str(out / name), batch.schema, options=options) as w:
        w.write_batch(batch)
        w.write_batch(batch.slice(1))
