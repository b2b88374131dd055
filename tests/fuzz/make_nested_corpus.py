#!/usr/bin/env python3
"""Write the seeds of the fuzz target file_reader that hold nested columns, packed structs, dictionaries and blobs: small files
by pylance, one for each page layout and kind of layer. make_nested_corpus.py (with the Python of .cache/venv)."""
import pathlib
import random

import pyarrow as pa
from lance.file import LanceFileWriter

here = pathlib.Path(__file__).parent / "corpus" / "file_reader"
r = random.Random(3)
i32 = pa.int32()
ZIP = {"lance-encoding:structural-encoding": "fullzip"}
PACKED = {"packed": "true"}


def struct(**fields):
    return pa.struct(list(fields.items()))


def some(make, n=40, nulls=0.2):
    return [None if r.random() < nulls else make() for _ in range(n)]


def pair():
    return {"a": r.choice([None, r.randint(0, 9)]), "b": r.choice([None, "x" * r.randint(0, 3)])}


PAIR = struct(a=i32, b=pa.utf8())
WIDE = struct(s=pa.utf8(), b=pa.binary(), v=pa.list_(pa.float32(), 2))
item = pa.field("item", i32, metadata=ZIP)
text = pa.field("item", pa.utf8(), metadata=ZIP)
vector = pa.field("item", pa.list_(pa.float32(), 2), metadata=ZIP)
CASES = {
    "list": (pa.array(some(lambda: some(lambda: 1, r.randint(0, 4))), pa.list_(i32)), {}),
    "list_long": (pa.array([list(range(3000)), [], [1], list(range(2000))], pa.list_(i32)), {}),
    "list_large_text": (pa.array(some(lambda: some(lambda: "ab", r.randint(0, 4))), pa.large_list(pa.utf8())), {}),
    "list_list": (pa.array([[[]], None, [], [None, [], [1, None]], [[2], [3, 4]]] * 8, pa.list_(pa.list_(i32))), {}),
    "list_struct": (pa.array(some(lambda: some(pair, r.randint(0, 3))), pa.list_(PAIR)), {}),
    "list_zip": (pa.array(some(lambda: some(lambda: 1, r.randint(0, 4))), pa.list_(item)), {}),
    "list_zip_text": (pa.array(some(lambda: some(lambda: "ab", r.randint(0, 4))), pa.list_(text)), {}),
    "list_zip_vector": (pa.array(some(lambda: some(lambda: [1.0, 2.0], r.randint(0, 4))), pa.list_(vector)), {}),
    "list_no_items": (pa.array([[], None] * 20, pa.list_(i32)), {}),
    "list_null_items": (pa.array([[None], [], None, [None, None]] * 9, pa.list_(i32)), {}),
    "list_constant": (pa.array([[7, None], [], None, [7]] * 9, pa.list_(i32)), {}),
    "list_words": (pa.array([["one", "two"], ["three"], None, []] * 60, pa.list_(pa.utf8())), {}),
    "struct": (pa.array(some(pair), PAIR), {}),
    "struct_list": (pa.array(some(lambda: {"l": r.choice([None, [], [1, None]]), "x": True}), struct(l=pa.list_(i32), x=pa.bool_())), {}),
    "map": (pa.array(some(lambda: [("k", 1), ("l", None)]), pa.map_(pa.utf8(), i32)), {}),
    "fixed_list_struct": (pa.array(some(lambda: some(pair, 2)), pa.list_(PAIR, 2)), {}),
    "packed": (pa.array(some(lambda: {"a": 1, "b": 2}), struct(a=i32, b=pa.int64())), PACKED),
    "packed_text": (pa.array(some(lambda: {"s": "ab" * r.randint(0, 3), "b": b"c", "v": [1.0, 2.0]}), WIDE), PACKED),
    "packed_list": (pa.array(some(lambda: [{"a": 1, "b": "x"}] * r.randint(0, 2)), pa.list_(pa.field("item", PAIR, metadata=PACKED))), {}),
    "dictionary": (pa.array(["a", "b", None, "b"] * 20).dictionary_encode(), {}),
    "dictionary_bool": (pa.DictionaryArray.from_arrays(pa.array([0, 1, None] * 9, pa.int8()), pa.array([True, False])), {}),
    "dictionary_list": (pa.ListArray.from_arrays(pa.array([0, 2, 2, 5], i32), pa.array(["a", "b", None, "b", "a"]).dictionary_encode()), {}),
    "blob": (pa.array([b"abc", None, b"", b"de"] * 4, pa.large_binary()), {"lance-encoding:blob": "true"}),
    "empty_struct": (pa.array([{}] * 9, pa.struct([])), {}),
}
for name, (column, metadata) in CASES.items():
    for version in ["2.1", "2.2"]:
        if version == "2.1" and (name.startswith(("map", "fixed_list", "packed_"))):
            continue
        schema = pa.schema([pa.field("c", column.type, metadata=metadata)])
        path = here / f"nested_{name}_{version.replace('.', '')}.lance"
        with LanceFileWriter(str(path), schema, version=version) as writer:
            writer.write_batch(pa.record_batch([column], schema=schema))
