"""Every type that a Lance column can have, as random pyarrow arrays; used by the matrix test."""

import numpy as np
import pyarrow as pa


def _mask(n, nulls, rng):
    return rng.random(n) < nulls


def _whole(n, bits, signed, rng):
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    kind = np.dtype(f"{'int' if signed else 'uint'}{bits}").type
    values = rng.integers(low, high, n, dtype=kind, endpoint=True)
    small = rng.integers(0, 100, n).astype(kind)
    return np.where(np.arange(n) // 700 % 2 == 0, values, small)  # chunks of both kinds


def _offsets(n, nulls, rng, kind):
    lengths = rng.integers(0, 5, n)
    lengths[rng.random(n) < 0.2] = 0
    mask = _mask(n, nulls, rng)
    lengths[mask] = 0
    offsets = np.zeros(n + 1, kind)
    np.cumsum(lengths, out=offsets[1:])
    return offsets, mask


def _texts(n, rng):
    words = rng.integers(0, 2**40, n)
    return [f"{w:x} äöü" * (1 + int(w) % 3) if w % 11 else "" for w in words]


def random_array(t, n, nulls, rng):
    """n values of type t, each null with probability `nulls`, at every level of nesting."""
    mask = _mask(n, nulls, rng)
    some = pa.array(mask) if nulls else None
    if pa.types.is_null(t):
        return pa.nulls(n)
    if isinstance(t, pa.BaseExtensionType):
        if t.extension_name == "arrow.json":
            return pa.ExtensionArray.from_storage(
                t, pa.array([None if m else f'{{"a": {i}}}' for i, m in enumerate(mask)], t.storage_type)
            )
        return pa.ExtensionArray.from_storage(t, random_array(t.storage_type, n, nulls, rng))
    if pa.types.is_struct(t):
        children = [random_array(f.type, n, nulls if f.nullable else 0, rng) for f in t]
        return pa.StructArray.from_arrays(children, fields=list(t), mask=some)
    if pa.types.is_map(t):
        offsets, mask = _offsets(n, nulls, rng, np.int32)
        keys = pa.array([f"k{i}" for i in range(offsets[-1])], t.key_type)
        items = random_array(t.item_type, offsets[-1], nulls, rng)
        entries = pa.StructArray.from_arrays([keys, items], fields=[t.key_field, t.item_field])
        valid = pa.array(~mask).buffers()[1] if nulls else None
        return pa.Array.from_buffers(t, n, [valid, pa.py_buffer(offsets)], children=[entries])
    if pa.types.is_list(t) or pa.types.is_large_list(t):
        offsets, mask = _offsets(n, nulls, rng, np.int32 if pa.types.is_list(t) else np.int64)
        values = random_array(t.value_type, offsets[-1], nulls if t.value_field.nullable else 0, rng)
        valid = pa.array(~mask).buffers()[1] if nulls else None
        return pa.Array.from_buffers(t, n, [valid, pa.py_buffer(offsets)], children=[values])
    if pa.types.is_fixed_size_list(t):
        values = random_array(t.value_type, n * t.list_size, nulls if t.value_field.nullable else 0, rng)
        valid = pa.array(~mask).buffers()[1] if nulls else None
        return pa.Array.from_buffers(t, n, [valid], children=[values])
    if pa.types.is_dictionary(t):
        values = random_array(t.value_type, 50, 0, rng)
        values = values.unique()
        return pa.DictionaryArray.from_arrays(
            pa.array(rng.integers(0, len(values), n), t.index_type, mask=mask if nulls else None), values
        )
    if pa.types.is_boolean(t):
        return pa.array(rng.random(n) < 0.5, mask=mask if nulls else None)
    if pa.types.is_float16(t):
        return pa.array(rng.standard_normal(n).astype(np.float16), mask=mask if nulls else None)
    if pa.types.is_floating(t):
        values = rng.standard_normal(n)
        values[rng.random(n) < 0.3] = 1.5
        return pa.array(values, t, mask=mask if nulls else None)
    if pa.types.is_decimal(t):
        import decimal

        digits = decimal.Context(prec=80)
        whole = rng.integers(-(10 ** min(t.precision, 18)) + 1, 10 ** min(t.precision, 18), n).tolist()
        if t.precision > 30:
            whole = [w * 10**12 + 7 for w in whole]
        return pa.array([None if m else decimal.Decimal(w).scaleb(-t.scale, digits) for w, m in zip(whole, mask)], t)
    if pa.types.is_string(t) or pa.types.is_large_string(t):
        return pa.array([None if m else s for s, m in zip(_texts(n, rng), mask)], t)
    if pa.types.is_fixed_size_binary(t):
        return pa.array([None if m else rng.bytes(t.byte_width) for m in mask], t)
    if pa.types.is_binary(t) or pa.types.is_large_binary(t):
        return pa.array([None if m else s.encode() + b"\x00\xff" for s, m in zip(_texts(n, rng), mask)], t)
    width = t.bit_width
    signed = not pa.types.is_unsigned_integer(t)
    if pa.types.is_integer(t):
        return pa.array(_whole(n, width, signed, rng), t, mask=mask if nulls else None)
    limit = 86_399 if pa.types.is_time(t) else 40_000 if pa.types.is_date32(t) else 2_000_000_000
    values = rng.integers(0, limit, n)
    if pa.types.is_date64(t):
        values = values % 40_000 * 86_400_000
    storage = pa.array(values.astype(f"int{width}"), mask=mask if nulls else None)
    return storage.view(t)


item = pa.field("item", pa.struct([pa.field("x", pa.int32()), pa.field("y", pa.string())]))

TYPES = {
    "null": pa.null(),
    "bool": pa.bool_(),
    **{
        str(t): t
        for t in [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
    },
    "float16": pa.float16(),
    "float32": pa.float32(),
    "float64": pa.float64(),
    "decimal128": pa.decimal128(10, 2),
    "decimal128wide": pa.decimal128(38, 5),
    "decimal256": pa.decimal256(60, 10),
    "date32": pa.date32(),
    "date64": pa.date64(),
    "time32s": pa.time32("s"),
    "time32ms": pa.time32("ms"),
    "time64us": pa.time64("us"),
    "time64ns": pa.time64("ns"),
    **{f"timestamp_{u}": pa.timestamp(u) for u in ["s", "ms", "us", "ns"]},
    "timestamp_utc": pa.timestamp("us", "UTC"),
    "timestamp_zone": pa.timestamp("ms", "Europe/Paris"),
    "timestamp_offset": pa.timestamp("s", "+08:00"),
    **{f"duration_{u}": pa.duration(u) for u in ["s", "ms", "us", "ns"]},
    "utf8": pa.string(),
    "large_utf8": pa.large_string(),
    "binary": pa.binary(),
    "large_binary": pa.large_binary(),
    "fixed_size_binary": pa.binary(5),
    "dictionary_utf8": pa.dictionary(pa.int32(), pa.string()),
    "dictionary_int8": pa.dictionary(pa.int8(), pa.string()),
    "dictionary_large": pa.dictionary(pa.int64(), pa.large_string()),
    "dictionary_int": pa.dictionary(pa.int16(), pa.int64()),
    "vector": pa.list_(pa.float32(), 4),
    "vector_wide": pa.list_(pa.float32(), 80),
    "vector_half": pa.list_(pa.float16(), 3),
    "vector_bool": pa.list_(pa.bool_(), 9),
    "vector_int8": pa.list_(pa.int8(), 5),
    "matrix": pa.list_(pa.list_(pa.float32(), 3), 2),
    "vector_struct": pa.list_(item, 3),
    "list_int": pa.list_(pa.int32()),
    "list_utf8": pa.list_(pa.string()),
    "large_list": pa.large_list(pa.float64()),
    "list_list": pa.list_(pa.list_(pa.int16())),
    "list_bool": pa.list_(pa.bool_()),
    "list_vector": pa.list_(pa.list_(pa.float32(), 4)),
    "list_struct": pa.list_(item),
    "large_list_struct": pa.large_list(item),
    "list_dictionary": pa.list_(pa.dictionary(pa.int32(), pa.string())),
    "struct": pa.struct(
        [pa.field("a", pa.int32()), pa.field("b", pa.string()), pa.field("c", pa.bool_(), nullable=False)]
    ),
    "struct_struct": pa.struct(
        [
            pa.field("s", pa.struct([pa.field("a", pa.int64()), pa.field("t", pa.timestamp("us"))])),
            pa.field("f", pa.float64()),
        ]
    ),
    "struct_list": pa.struct([pa.field("l", pa.list_(pa.int64())), pa.field("v", pa.list_(pa.float32(), 4))]),
    "list_struct_list": pa.list_(
        pa.field("item", pa.struct([pa.field("l", pa.list_(pa.string())), pa.field("n", pa.int32())]))
    ),
    "map": pa.map_(pa.string(), pa.int32()),
    "list_map": pa.list_(pa.map_(pa.string(), pa.float64())),
    "struct_map": pa.struct([pa.field("m", pa.map_(pa.string(), pa.string()))]),
    "json": pa.json_(pa.string()),
}
