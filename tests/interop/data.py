"""Columns of every type of this release, with and without nulls, in shapes that make writers choose different encodings."""
import datetime

import numpy as np
import pyarrow as pa

UTC = datetime.timezone.utc


def integers(kind, n, shape, rng):
    info = np.iinfo(kind)
    if shape == "sequence":
        return (np.arange(n) % min(int(info.max), 2**62)).astype(kind)
    if shape == "random":
        return rng.integers(info.min, info.max, n, dtype=kind, endpoint=True)
    if shape == "small":
        return rng.integers(max(info.min, -3), 4, n).astype(kind)
    if shape == "runs":
        return np.repeat(rng.integers(max(info.min, -100), 100, n // 50 + 1), 50)[:n].astype(kind)
    return np.full(n, 7, kind)


SHAPES = ["sequence", "random", "small", "runs", "constant"]


def column(name, n, shape, rng):
    """A pyarrow array of type `name`."""
    if name == "bool":
        return pa.array(integers(np.int64, n, shape, rng) % 2 == 0)
    if name.startswith(("int", "uint")):
        return pa.array(integers(np.dtype(name).type, n, shape, rng))
    if name in ("float32", "float64"):
        values = {"random": rng.standard_normal(n), "constant": np.full(n, 1.5)}.get(shape, integers(np.int32, n, shape, rng) / 4)
        values = np.asarray(values, dtype=name)
        if shape == "random" and n > 4:
            values[:4] = [np.nan, -0.0, np.inf, -np.inf]
        return pa.array(values)
    if name in ("utf8", "large_utf8", "binary"):
        numbers = integers(np.int64, n, shape, rng) % 1000 if shape != "random" else rng.integers(0, 2**62, n)
        texts = [f"text {i} äöü " * (1 + i % 3) if i % 11 else "" for i in numbers.tolist()]
        if name == "binary":
            texts = [t.encode() + b"\x00\xff" for t in texts]
        return pa.array(texts, {"utf8": pa.string(), "large_utf8": pa.large_string(), "binary": pa.binary()}[name])
    if name == "long_utf8":
        return pa.array([f"{i:05d}" * 80 for i in (integers(np.int64, n, shape, rng) % 5000).tolist()])
    if name == "date32":
        return pa.array((integers(np.int64, n, shape, rng) % 40000 - 10000).astype(np.int32), pa.int32()).cast(pa.date32())
    if name.startswith("timestamp"):
        _, unit, zone = name.split(":", 2)
        values = integers(np.int64, n, shape, rng) % 4 * 10**9
        return pa.array(values).cast(pa.timestamp(unit, zone or None))
    if name.startswith("vector"):
        kind, size = name.split(":")[1:]
        values = pa.array(rng.standard_normal(n * int(size)).astype(kind))
        return pa.FixedSizeListArray.from_arrays(values, int(size))
    raise ValueError(name)


TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "utf8",
         "large_utf8", "binary", "long_utf8", "date32", "timestamp:s:", "timestamp:ms:", "timestamp:us:", "timestamp:ns:",
         "timestamp:us:UTC", "timestamp:ms:Europe/Paris", "vector:float32:4", "vector:float32:128", "vector:float64:3"]


def with_nulls(array, fraction, rng):
    """The array with that fraction of its values null."""
    if fraction == 0 or len(array) == 0:
        return array
    mask = pa.array(rng.random(len(array)) < fraction)
    if fraction == 1:
        return pa.nulls(len(array), array.type)
    if pa.types.is_fixed_size_list(array.type):
        return pa.FixedSizeListArray.from_arrays(array.flatten(), array.type.list_size, mask=mask)
    import pyarrow.compute as pc

    return pc.if_else(mask, pa.scalar(None, array.type), array)


def table(n, shape="random", nulls=0.1, seed=1, types=TYPES):
    rng = np.random.default_rng(seed)
    return pa.table({t: with_nulls(column(t, n, shape, rng), nulls, rng) for t in types})


def same(a, b):
    """Equal schemas (names, types) and rows; NaN equals NaN, signed zeros differ."""
    assert a.schema.names == b.schema.names
    for name in a.schema.names:
        assert a.schema.field(name).type == b.schema.field(name).type, name
        left, right = a[name].combine_chunks(), b[name].combine_chunks()
        assert len(left) == len(right), name
        if left.equals(right):
            continue
        if pa.types.is_floating(left.type):
            assert left.is_null().equals(right.is_null()), name
            bits = {4: np.uint32, 8: np.uint64}[left.type.bit_width // 8]
            x, y = (v.drop_null().to_numpy(zero_copy_only=False) for v in (left, right))
            nan = np.isnan(x)
            assert (nan == np.isnan(y)).all(), name
            assert (x.view(bits)[~nan] == y.view(bits)[~nan]).all(), name
        else:
            different = [i for i in range(len(left)) if left[i] != right[i]][:3]
            raise AssertionError(f"{name}: rows {different} differ: {[left[i] for i in different]} {[right[i] for i in different]}")
