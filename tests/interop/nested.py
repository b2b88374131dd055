"""Nested columns of any shape, made from a seed: types, nulls, empty lists and lengths are random."""
import decimal
import string

import pyarrow as pa


class Maker:
    """Random types and values. `depth` bounds nesting; `version` leaves out what that format cannot store."""

    def __init__(self, rng, version, nulls=0.15):
        self.rng = rng
        self.version = version
        self.nulls = nulls

    def leaf(self):
        kinds = [pa.int32(), pa.int64(), pa.uint8(), pa.bool_(), pa.float64(), pa.string(), pa.large_binary(), pa.date32(),
                 pa.timestamp("us", "UTC"), pa.decimal128(20, 3), pa.binary(5), pa.list_(pa.float32(), 4), pa.list_(pa.bool_(), 3)]
        return self.rng.choice(kinds)

    def type(self, depth):
        pick = self.rng.random()
        if depth == 0 or pick < 0.2:
            return self.leaf()
        if pick < 0.5:
            return self.rng.choice([pa.list_, pa.large_list])(self.field("item", depth - 1))
        if pick < 0.9 or self.version != "2.2":
            names = self.rng.sample(string.ascii_lowercase, self.rng.randint(1, 4))
            return pa.struct([self.field(name, depth - 1) for name in names])
        return pa.map_(pa.string(), self.type(depth - 1))

    def field(self, name, depth):
        return pa.field(name, self.type(depth), nullable=self.rng.random() < 0.8)

    def text(self):
        if self.rng.random() < 0.02:
            return self.rng.choice("äb") * self.rng.randint(250, 700)
        return "".join(self.rng.choices("abcdefgh é", k=self.rng.randint(0, 12)))

    def value(self, t, nullable=True):
        r = self.rng
        has_nulls = self.version != "2.0" or not pa.types.is_struct(t)
        if nullable and has_nulls and r.random() < self.nulls:
            return None
        if pa.types.is_struct(t):
            return {f.name: self.value(f.type, f.nullable) for f in t}
        if pa.types.is_map(t):
            return [(self.text(), self.value(t.item_type, t.item_field.nullable)) for _ in range(self.length())]
        if pa.types.is_fixed_size_list(t):
            items = t.value_field.nullable and pa.types.is_struct(t.value_type) or r.random() < 0.3
            return [self.value(t.value_type, items) for _ in range(t.list_size)]
        if pa.types.is_list(t) or pa.types.is_large_list(t):
            return [self.value(t.value_type, t.value_field.nullable) for _ in range(self.length())]
        return self.scalar(t)

    def length(self):
        return self.rng.choice([0, 0, 1, 1, 2, 3, 7]) if self.rng.random() < 0.99 else self.rng.randint(8, 60)

    def scalar(self, t):
        r = self.rng
        if pa.types.is_boolean(t):
            return r.random() < 0.5
        if pa.types.is_string(t):
            return self.text()
        if pa.types.is_large_binary(t):
            return self.text().encode()
        if pa.types.is_fixed_size_binary(t) and not pa.types.is_decimal(t):
            return r.randbytes(t.byte_width)
        if pa.types.is_floating(t):
            return float(r.randint(-50, 50)) / 4
        if pa.types.is_decimal(t):
            return decimal.Decimal(r.randint(-10**9, 10**9)).scaleb(-3)
        if pa.types.is_timestamp(t) or pa.types.is_date(t):
            return r.randint(0, 20_000)
        return r.randint(0, 200)

    def column(self, t, rows, nullable=True):
        return pa.array([self.value(t, nullable) for _ in range(rows)], t)


def table(rng, version, rows, columns=4, depth=4):
    """A table of random nested columns. Small pools of values make long columns cheap."""
    maker = Maker(rng, version)
    names = [f"c{i}" for i in range(columns)]
    fields = [pa.field(name, maker.type(depth)) for name in names]
    arrays = []
    for f in fields:
        pool = maker.column(f.type, min(rows, 500))
        picks = pa.array([rng.randrange(len(pool)) for _ in range(rows)], pa.int32()) if rows > len(pool) else None
        arrays.append(pool if picks is None else pool.take(picks))
    return pa.table(arrays, schema=pa.schema(fields))
