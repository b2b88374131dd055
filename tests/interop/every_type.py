"""Types of every kind and random values of them, with nulls and empty lists at every level."""
import decimal
import random

import pyarrow as pa

STRUCT = pa.struct([pa.field("a", pa.int32()), pa.field("b", pa.string())])
STRICT = pa.struct([pa.field("a", pa.int32(), nullable=False), pa.field("b", pa.float64())])

PLAIN = {
    "null": pa.null(), "bool": pa.bool_(), "int8": pa.int8(), "uint64": pa.uint64(), "float16": pa.float16(), "float64": pa.float64(),
    "decimal128": pa.decimal128(20, 2), "decimal256": pa.decimal256(50, 3), "date32": pa.date32(), "date64": pa.date64(),
    "time32": pa.time32("ms"), "time64": pa.time64("ns"), "timestamp": pa.timestamp("us", "UTC"), "duration": pa.duration("ms"),
    "utf8": pa.string(), "large_utf8": pa.large_string(), "binary": pa.binary(), "large_binary": pa.large_binary(),
    "fixed_size_binary": pa.binary(7), "dictionary": pa.dictionary(pa.int16(), pa.string()),
    "vector": pa.list_(pa.float32(), 4), "wide vector": pa.list_(pa.float32(), 80), "matrix": pa.list_(pa.list_(pa.float32(), 3), 2),
    "bits": pa.list_(pa.bool_(), 5),
}
LISTS = {
    "list<int>": pa.list_(pa.int64()), "large_list": pa.large_list(pa.int16()), "list<bool>": pa.list_(pa.bool_()),
    "list<text>": pa.list_(pa.string()), "list<list>": pa.list_(pa.list_(pa.int32())), "list<vector>": pa.list_(pa.list_(pa.float32(), 4)),
    "list<wide vector>": pa.list_(pa.list_(pa.float32(), 80)), "list<struct>": pa.list_(STRUCT), "list<null>": pa.list_(pa.null()),
    "list<dictionary>": pa.list_(pa.dictionary(pa.int8(), pa.string())), "list<list<list>>": pa.list_(pa.list_(pa.list_(pa.int8()))),
    "list<decimal>": pa.list_(pa.decimal128(20, 2)),
}
STRUCTS = {
    "struct": STRUCT, "struct<struct>": pa.struct([pa.field("s", STRUCT), pa.field("x", pa.bool_())]),
    "struct<list>": pa.struct([pa.field("l", pa.list_(pa.int32())), pa.field("x", pa.string())]),
    "struct<not null>": STRICT, "list<struct<list<struct>>>": pa.list_(pa.struct([pa.field("l", pa.list_(STRUCT)), pa.field("n", pa.null())])),
    "struct<vector>": pa.struct([pa.field("v", pa.list_(pa.float32(), 4)), pa.field("w", pa.list_(pa.float32(), 80))]),
    "struct<dictionary>": pa.struct([pa.field("d", pa.dictionary(pa.int8(), pa.string()))]),
}
MAPS = {  # 2.2 alone
    "map": pa.map_(pa.string(), pa.int32()), "map<list>": pa.map_(pa.int32(), pa.list_(pa.string())), "list<map>": pa.list_(pa.map_(pa.string(), pa.float64())),
    "struct<map>": pa.struct([pa.field("m", pa.map_(pa.string(), STRUCT))]),
}
TYPES_21 = {**PLAIN, **LISTS, **STRUCTS}
TYPES = {**TYPES_21, **MAPS}


class Values:
    """Random values. nulls: chance of a null; items: fewest and most of a list."""

    def __init__(self, seed, nulls=0.15, items=(0, 4)):
        self.rng, self.nulls, self.items = random.Random(seed), nulls, items

    def value(self, t, nullable=True):
        if pa.types.is_null(t) or (nullable and self.rng.random() < self.nulls):
            return None
        if pa.types.is_dictionary(t):
            return f"entry {self.rng.randrange(40)}"
        if pa.types.is_map(t):
            return [(f"k{i}" if pa.types.is_string(t.key_type) else i, self.value(t.item_type)) for i in range(self.rng.randint(*self.items))]
        if pa.types.is_list(t) or pa.types.is_large_list(t):
            return [self.value(t.value_type) for _ in range(self.rng.randint(*self.items))]
        if pa.types.is_fixed_size_list(t):
            return [self.value(t.value_type) for _ in range(t.list_size)]
        if pa.types.is_struct(t):
            return {f.name: self.value(f.type, f.nullable) for f in t}
        return self.scalar(t)

    def scalar(self, t):
        r = self.rng
        number = r.randint(0, 100)
        if pa.types.is_string(t) or pa.types.is_large_string(t):
            return r.choice(["", "some words ", "é" * number]) + str(r.randint(0, 10 ** r.randint(1, 9)))
        if pa.types.is_fixed_size_binary(t):
            return r.randbytes(t.byte_width)
        if pa.types.is_binary(t) or pa.types.is_large_binary(t):
            return r.randbytes(r.randint(0, 20))
        if pa.types.is_boolean(t):
            return r.random() < 0.5
        if pa.types.is_floating(t):
            return number / 8
        if pa.types.is_decimal(t):
            return decimal.Decimal(r.randint(-10**9, 10**9)).scaleb(-t.scale)
        if pa.types.is_date64(t):
            return number * 86_400_000
        return number

    def column(self, t, n):
        values = [self.value(t) for _ in range(n)]
        if pa.types.is_dictionary(t):
            return pa.array(values, t.value_type).dictionary_encode().cast(t)
        # One more value that is not null: without any, pyarrow makes valid indices into empty dictionaries below null structs.
        return pa.array([*values, Values(0, 0, (1, 1)).value(t)], t).slice(0, n)
