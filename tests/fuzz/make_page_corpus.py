#!/usr/bin/env python3
"""Write the seeds of the fuzz target page_layout: the pages of small files by pylance, one for each layout, codec and kind of
layer; pages of old writers made by hand; and columns that our own writer stores. See page_type.c and page_file.h for the form.

make_page_corpus.py LANCEFILE (with the Python of .cache/venv): LANCEFILE is the folder of the decoder, shared/tools/lancefile.
"""
import pathlib
import random
import struct
import sys
import tempfile

import pyarrow as pa
from lance.file import LanceFileWriter

sys.path.insert(0, sys.argv[1])
from pbwire import fb, fv  # noqa: E402
from reader import LanceFile  # noqa: E402

here = pathlib.Path(__file__).parent / "corpus" / "page_layout"
r = random.Random(5)
VERSIONS = {"2.2": 0, "2.1": 1, "2.0": 2}
PARTS, VALUES, DAMAGED = 0, 1, 2
LEAVES = [pa.null(), pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(),
          pa.float16(), pa.float32(), pa.float64(), pa.date32(), pa.date64(), pa.utf8(), pa.binary(), pa.large_utf8(),
          pa.time32("ms"), pa.timestamp("us", "UTC"), pa.duration("ns"), pa.decimal128(38, 3), pa.decimal256(70, 3),
          pa.large_binary(), None]
LIST, LARGE_LIST, FIXED, STRUCT, MAP, DICT = range(len(LEAVES), len(LEAVES) + 6)
INDICES = [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()]
ENC = "lance-encoding:"
HINTS = [{}, {"packed": "true"}, {ENC + "structural-encoding": "fullzip"}, {ENC + "structural-encoding": "miniblock"},
         {ENC + "compression": "zstd"}, {ENC + "compression": "lz4"}, {ENC + "compression": "fsst"}, {ENC + "compression": "none"},
         {ENC + "blob": "true"}]
PACKED, ZIP, MINI, ZSTD, LZ4, FSST, PLAIN, BLOB = HINTS[1:]
i32 = pa.int32()


def type_bytes(t):
    if t in LEAVES:
        return bytes([LEAVES.index(t)])
    if pa.types.is_fixed_size_binary(t):
        return bytes([LEAVES.index(None), t.byte_width - 1])
    if pa.types.is_dictionary(t):
        return bytes([DICT, INDICES.index(t.index_type), LEAVES.index(t.value_type)])
    if pa.types.is_struct(t):
        return bytes([STRUCT, len(t)]) + b"".join(field_bytes(f) for f in t)
    if pa.types.is_map(t):
        return bytes([MAP]) + field_bytes(t.key_field) + field_bytes(t.item_field)
    if pa.types.is_fixed_size_list(t):
        return struct.pack("<BH", FIXED, t.list_size - 1) + field_bytes(t.value_field)
    return bytes([LARGE_LIST if pa.types.is_large_list(t) else LIST]) + field_bytes(t.value_field)


def field_bytes(f):
    metadata = {k.decode(): v.decode() for k, v in (f.metadata or {}).items()}
    hint = HINTS.index(metadata) if metadata in HINTS else 0
    return bytes([hint * 2 + f.nullable]) + type_bytes(f.type)


def head(mode, version, rows, field):
    return struct.pack("<BBH", mode, VERSIONS[version], rows) + field_bytes(field)


def page_bytes(rows, message, buffers, version):
    layout = b"" if version == "2.0" else b"\0"
    sizes = b"".join(struct.pack("<H", len(b)) for b in buffers)
    return struct.pack("<H", rows) + layout + struct.pack("<HB", len(message), len(buffers)) + sizes + message + b"".join(buffers)


def save(name, content):
    (here / name).write_bytes(content)


def pages_of(field, column, version):
    """The pages of each column of a file by pylance: rows, message, buffers."""
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/x.lance"
        schema = pa.schema([field])
        with LanceFileWriter(path, schema, version=version) as writer:
            writer.write_batch(pa.record_batch([column], schema=schema))
        file = LanceFile(path)
    return [[(p.rows, p.body, [file.raw(b) for b in p.bufs]) for p in c.pages] for c in file.cols]


def save_parts(name, field, rows, columns, version):
    out = head(PARTS, version, rows, field)
    for pages in columns:
        assert len(pages) <= 3 and all(len(b) < 65536 for p in pages for b in p[2]), name
        out += bytes([len(pages) - 1]) + b"".join(page_bytes(*p, version) for p in pages)
    save(f"{name}_{version.replace('.', '')}", out)


# ---- by pylance ----

def some(make, n=40, nulls=0.2):
    return [None if r.random() < nulls else make() for _ in range(n)]


def pair():
    return {"a": r.choice([None, r.randint(0, 9)]), "b": r.choice([None, "x" * r.randint(0, 3)])}


def words():
    return " ".join(r.choice(["red", "blue", "greenish", "a", "longer"]) for _ in range(r.randint(1, 8)))


def fsl(item, n):
    return pa.list_(item, n)


def zipped(t):
    return pa.field("item", t, metadata=ZIP)


TWO = pa.struct([("a", i32), ("b", pa.utf8())])
FIXED_PAIR = pa.struct([("a", i32), ("b", pa.int64())])
WIDE = pa.struct([("a", pa.utf8()), ("b", pa.large_binary()), ("c", fsl(pa.float32(), 2)), ("d", pa.int16())])
CASES = {
    "flat": (pa.float64(), some(r.random), {}), "bool": (pa.bool_(), some(lambda: r.random() < 0.5, 90), {}),
    "bitpacked": (i32, some(lambda: r.randint(0, 99), 1500), {}), "bitpacked8": (pa.int8(), some(lambda: r.randint(0, 7), 1100, 0), {}),
    "bitpacked16": (pa.uint16(), some(lambda: r.randint(0, 7), 1100), {}), "bitpacked64": (pa.int64(), some(lambda: r.randint(0, 9999), 1100), {}),
    "runs": (i32, [i // 90 for i in range(2000)], {}), "runs64": (pa.int64(), [i // 90 * 2 ** 40 for i in range(900)], {}),
    "runs_null": (i32, [None if i // 90 % 3 == 0 else i // 90 for i in range(2000)], {}),
    "split": (pa.float32(), [i / 10 for i in range(3000)], {ENC + "bss": "on", **ZSTD}),
    "split64": (pa.float64(), [i / 10 for i in range(1200)], {ENC + "bss": "on", **LZ4}),
    "runs8": (pa.uint8(), [i // 90 for i in range(2000)], {}), "zstd": (i32, [r.randint(0, 3) * 10 ** 8 for _ in range(1500)], ZSTD), "lz4": (pa.int64(), [r.randint(0, 3) * 10 ** 15 for _ in range(900)], LZ4),
    "text": (pa.utf8(), some(words, 80), PLAIN), "large_text": (pa.large_utf8(), some(words, 60), {}), "bytes": (pa.binary(), some(lambda: b"ab" * r.randint(0, 9)), {}),
    "text_zstd": (pa.utf8(), some(words, 400), ZSTD), "text_lz4": (pa.utf8(), some(words, 400), LZ4), "codes": (pa.utf8(), some(lambda: words() * 2, 900), FSST),
    "dictionary_page": (pa.utf8(), [r.choice(["alpha", "beta", "gamma" * 9]) for _ in range(400)], {}),
    "dictionary_numbers": (pa.int64(), [r.choice([1, 2 ** 60, -5]) for _ in range(400)], {}),
    "dictionary_wide": (pa.decimal128(38, 3), [r.choice([1, 5]) for _ in range(300)], {}),
    "decimal256": (pa.decimal256(70, 3), some(lambda: r.randint(0, 9)), {}), "fixed_binary": (pa.binary(7), some(lambda: b"abcdefg"), {}),
    "constant": (i32, [7] * 30, {}), "constant_null": (i32, [7, None] * 30, {}), "constant_text": (pa.utf8(), ["long " * 20] * 30, {}),
    "constant_text_null": (pa.utf8(), ["long " * 20, None] * 30, {}), "all_null": (i32, [None] * 30, {}), "null": (pa.null(), [None] * 30, {}),
    "zip_int": (i32, some(lambda: 5), ZIP), "zip_text": (pa.utf8(), some(words), ZIP), "zip_bool": (pa.bool_(), some(lambda: True), ZIP),
    "zip_long": (pa.utf8(), some(lambda: words() * 40, 20), {}), "zip_long_bytes": (pa.large_binary(), some(lambda: b"long" * 100, 20), {}),
    "zip_zstd": (pa.utf8(), some(lambda: words() * 40, 20), ZSTD), "zip_huge": (pa.utf8(), ["huge " * 9000, "x"], {}),
    "zip_vector": (fsl(pa.float32(), 80), some(lambda: [0.5] * 80, 9), {}), "zip_vector_null": (fsl(pa.float32(), 80), some(lambda: [0.5, None] * 40, 9), {}),
    "vector": (fsl(pa.float32(), 4), some(lambda: [0.5] * 4), {}), "vector_null": (fsl(pa.float32(), 4), some(lambda: [0.5, None] * 2), {}),
    "vector_bool": (fsl(pa.bool_(), 5), some(lambda: [True, None] * 2 + [False]), {}), "vector_vector": (fsl(fsl(pa.int16(), 2), 3), some(lambda: [[1, None], None, [2, 3]]), {}),
    "list": (pa.list_(i32), some(lambda: some(lambda: 1, r.randint(0, 4))), {}), "list_long": (pa.list_(i32), [list(range(3000)), [], [1], list(range(2000))], {}),
    "list_text": (pa.large_list(pa.utf8()), some(lambda: some(words, r.randint(0, 4))), {}), "list_list": (pa.list_(pa.list_(i32)), [[[]], None, [], [None, [], [1, None]], [[2], [3, 4]]] * 8, {}),
    "list_struct": (pa.list_(TWO), some(lambda: some(pair, r.randint(0, 3))), {}), "list_zip": (pa.list_(zipped(i32)), some(lambda: some(lambda: 1, r.randint(0, 4))), {}),
    "list_zip_text": (pa.list_(zipped(pa.utf8())), some(lambda: some(words, r.randint(0, 4))), {}), "list_zip_vector": (pa.list_(zipped(fsl(pa.float32(), 2))), some(lambda: some(lambda: [1.0, 2.0], r.randint(0, 4))), {}),
    "list_none": (pa.list_(i32), [[], None] * 20, {}), "list_null": (pa.list_(i32), [[None], [], None, [None, None]] * 9, {}), "list_constant": (pa.list_(i32), [[7, None], [], None, [7]] * 9, {}),
    "list_words": (pa.list_(pa.utf8()), [["one", "two"], ["three"], None, []] * 60, {}), "list_runs": (pa.list_(i32), [[i // 900] * 90 for i in range(60)], {}),
    "list_bool": (pa.list_(pa.bool_()), some(lambda: some(lambda: True, r.randint(0, 4))), {}), "struct": (TWO, some(pair), {}),
    "struct_list": (pa.struct([("a", pa.list_(i32)), ("b", pa.bool_())]), some(lambda: {"a": r.choice([None, [], [1, None]]), "b": True}), {}),
    "map": (pa.map_(pa.utf8(), i32), some(lambda: [("k", 1), ("l", None)]), {}), "fixed_struct": (fsl(TWO, 2), some(lambda: some(pair, 2)), {}),
    "packed": (FIXED_PAIR, some(lambda: {"a": 1, "b": 2}), PACKED), "packed_text": (WIDE, some(lambda: {"a": words(), "b": b"c", "c": [1.0, 2.0], "d": 3}), PACKED),
    "packed_list": (pa.list_(pa.field("item", TWO, metadata=PACKED)), some(lambda: [{"a": 1, "b": "x"}] * r.randint(0, 2)), {}),
    "dict": (pa.dictionary(i32, pa.utf8()), some(lambda: r.choice(["a", "bb"]), 80), {}), "dict_int": (pa.dictionary(pa.int8(), pa.int64()), some(lambda: r.randint(5, 9), 80), {}),
    "dict_list": (pa.list_(pa.dictionary(pa.int16(), pa.utf8())), some(lambda: some(lambda: "ab", r.randint(0, 3))), {}),
    "blob": (pa.large_binary(), [b"abc", None, b"", b"de"] * 4, BLOB), "empty_struct": (pa.struct([]), [{}] * 9, {}), "list_blob": (pa.list_(pa.field("item", pa.large_binary(), metadata=BLOB)), [[b"ab"], None, []], {}),
}
NOT_20 = {"map", "fixed_struct", "packed_text", "packed_list", "dict_list", "vector_null", "vector_bool", "vector_vector", "list_struct"}


def write_pylance():
    for name, (t, values, metadata) in CASES.items():
        field = pa.field("c", t, metadata=metadata)
        for version in VERSIONS if metadata in ({}, PACKED, BLOB) else ["2.2"]:
            try:
                columns = pages_of(field, pa.array(values, t), version)
            except Exception as e:  # the reference tells what it cannot do
                print(name, version, str(e).splitlines()[0][:120])
                continue
            save_parts(name, field, len(values), columns, version)
    for version in VERSIONS:  # pages with dictionaries of their own
        for t, halves in [(pa.dictionary(i32, pa.utf8()), [["a", "bb", None], ["c", "bb"]]), (pa.dictionary(pa.int8(), pa.int64()), [[1, 2], [2, 3, None]]),
                          (pa.dictionary(pa.int8(), pa.int32()), [list(range(100)), list(range(40, 128))]), (pa.dictionary(pa.int8(), pa.utf8()), [[str(i) for i in range(k, k + 100)] for k in [0, 90]]),
                          (pa.dictionary(pa.uint16(), pa.bool_()), [[True], [False, True]])]:
            field = pa.field("c", t)
            try:
                pages = [pages_of(field, pa.array(v * 3, t), version)[0][0] for v in halves]
            except Exception as e:
                print(t, version, str(e).splitlines()[0][:120])
                continue
            save_parts(f"dictionaries_{t.index_type}_{t.value_type}", field, sum(p[0] for p in pages), [pages], version)


# ---- by hand: every codec in every position ----

TABLE = struct.pack("<II", 1 << 24 | 1, 0x46535354) + b"ab\0\0\0\0\0\0\2" + bytes(2295)  # of FSST, with one symbol


def write_codecs():
    flat32 = fb(1, fv(1, 32))
    flat8 = fb(1, fv(1, 8))
    text = fb(2, fb(1, flat32))
    codecs = {"flat": flat32, "variable": text, "constant": fb(3, fb(1, b"\7\0\0\0")), "constant_null": fb(3, b""), "out_of_line": fb(4, fv(1, 32) + fb(3, fb(1, fv(1, 3)))),
              "inline": fb(5, fv(1, 32)), "fsst": fb(6, fb(1, TABLE) + fb(2, text)), "dictionary": fb(7, fb(1, flat32) + fb(2, flat32) + fv(3, 1)), "rle": fb(8, fb(1, flat32) + fb(2, flat8)),
              "split": fb(9, fb(1, flat32)), "general": fb(10, fb(1, fv(1, 1)) + fb(3, flat32)), "general_text": fb(10, fb(1, fv(1, 2)) + fb(3, text)),
              "fixed_list": fb(11, fv(1, 1) + fb(2, flat32)), "fixed_list_null": fb(11, fv(1, 1) + fb(2, fb(3, b""))), "packed": fb(12, fb(1, b"\x20") + fb(2, flat32)),
              "fields": fb(13, fb(1, fb(1, flat32) + fv(2, 32)) + fb(1, fb(1, text) + fv(3, 32))), "none": b""}
    values = struct.pack("<4I", 1, 2, 3, 4)
    chunk = struct.pack("<I", 3 << 4), struct.pack("<HI", 0, 16) + bytes(2) + values + bytes(8)
    number, utf8 = pa.field("c", i32), pa.field("c", pa.utf8())
    for name, codec in codecs.items():
        for field in [number, utf8]:
            kind = "number" if field is number else "text"
            mini = fb(1, fb(3, codec) + fb(6, b"\1") + fv(7, 1) + fv(9, 4) + fv(10, 1))
            save_parts(f"mini_{name}_{kind}", field, 4, [[(4, mini, list(chunk))]], "2.2")
            fixed = fb(3, fv(3, 32) + fv(5, 4) + fv(6, 4) + fb(7, codec) + fb(8, b"\1"))
            save_parts(f"zip_{name}_{kind}", field, 4, [[(4, fixed, [values])]], "2.2")
            variable = fb(3, fv(4, 32) + fv(5, 4) + fv(6, 4) + fb(7, codec) + fb(8, b"\1"))
            save_parts(f"zip_long_{name}_{kind}", field, 4, [[(4, variable, [bytes([2, 0, 0, 0, 255, 97]) * 4, bytes([0, 6, 12, 18, 24])])]], "2.2")
            looked_up = fb(1, fb(3, fb(1, fv(1, 32))) + fb(4, codec) + fv(5, 5) + fb(6, b"\1") + fv(7, 1) + fv(9, 4) + fv(10, 1))
            save_parts(f"looked_up_{name}_{kind}", field, 4, [[(4, looked_up, [*chunk, bytes([32, 0, 0, 0]) + values])]], "2.2")
        levels = fb(2, fb(5, b"\3") + fb(8, codec) + fv(10, 4))
        save_parts(f"levels_{name}", pa.field("c", i32), 4, [[(4, levels, [b"", struct.pack("<4H", 1, 1, 1, 1)])]], "2.2")


# ---- by hand: encodings of old writers ----

def flat(bits, index, compression=b""):
    return fb(1, fv(1, bits) + fb(2, fv(1, index)) + (fb(3, compression) if compression else b""))


def no_null(inner):
    return fb(2, fb(1, fb(1, inner)))


def old(name, field, rows, message, buffers):
    save(f"old_{name}", head(PARTS, "2.0", rows, field) + b"\0" + page_bytes(rows, message, buffers, "2.0"))


def write_old():
    junk = bytes(r.randrange(256) for _ in range(4096))
    number = pa.field("c", i32)
    packed = fv(1, 5) + fv(2, 32) + fb(3, b"")
    old("non_negative", number, 1500, no_null(fb(12, packed)), [junk[:2 * 1024 * 5 // 8]])
    old("stream", number, 100, no_null(fb(10, packed)), [junk[:63]])
    old("stream_signed", number, 100, no_null(fb(10, packed + fv(4, 1))), [junk[:63]])
    text = pa.field("c", pa.utf8())
    old("equal_lengths", text, 20, fb(11, fb(1, flat(8, 0)) + fv(2, 3)), [b"abc" * 20])
    values = struct.pack("<9i", *range(9))
    stored = pa.compress(values, "zstd", asbytes=True)
    old("zstd", number, 9, no_null(flat(32, 0, fb(1, b"zstd"))), [struct.pack("<Q", len(values)) + stored])
    stored = pa.compress(values, "lz4_raw", asbytes=True)
    old("lz4", number, 9, no_null(flat(32, 0, fb(1, b"lz4"))), [struct.pack("<I", len(values)) + stored])
    old("all_null", number, 9, fb(2, fb(3, b"")), [])
    ends = struct.pack("<4Q", 2, 4, 6, 8)
    texts = fb(6, fb(1, no_null(flat(64, 0))) + fb(2, flat(8, 1)) + fv(3, 9))
    lists = fb(4, fb(1, no_null(flat(64, 0))) + fv(2, 9) + fv(3, 8))
    encodings = {"flat": flat(32, 0), "no_null": no_null(flat(32, 0)), "some_null": fb(2, fb(2, fb(1, flat(1, 0)) + fb(2, flat(32, 1)))), "nulls": fb(2, fb(3, b"")),
                 "vector": fb(3, fv(1, 2) + fb(2, no_null(flat(32, 0)))), "list": lists, "struct": fb(5, b""), "text": texts,
                 "dictionary": fb(7, fb(1, flat(8, 2)) + fb(2, texts) + fv(3, 4)), "fsst": fb(8, fb(1, texts) + fb(2, TABLE)), "packed": fb(9, fb(1, no_null(flat(32, 0))) + fb(2, b"")),
                 "stream": no_null(fb(10, packed)), "equal": fb(11, fb(1, flat(8, 1)) + fv(2, 2)), "non_negative": no_null(fb(12, packed)), "later": fb(13, b""), "none": b""}
    types = [i32, pa.utf8(), pa.list_(i32), fsl(i32, 2), pa.struct([("a", i32)]), pa.bool_(), pa.dictionary(pa.int8(), pa.utf8()), pa.binary(2)]
    for name, message in encodings.items():
        for number, t in enumerate(types):
            field = pa.field("c", t, metadata=PACKED if pa.types.is_struct(t) else {})
            old(f"{name}_as_{number}", field, 4, message, [ends, b"ababcdcd" + bytes(8), bytes([1, 2, 4, 0])])


# ---- by our writer ----

def write_own():
    full = b"".join(bytes([r.randrange(64) * 4, r.randrange(256), r.randrange(256)]) for _ in range(30))  # no nulls
    for i, (name, (t, _, metadata)) in enumerate(CASES.items()):
        field = pa.field("c", t, metadata=metadata if metadata in HINTS else {})
        version = list(VERSIONS)[i % 3] if name not in NOT_20 else "2.2"
        for mode, rows in [(VALUES, 1500), (DAMAGED, 300)]:
            choices = bytes(r.randrange(256) for _ in range(60))
            save(f"{'own' if mode == VALUES else 'damaged'}_{name}", head(mode, version, rows, field) + bytes([i % 8]) + choices)
        save(f"own_full_{name}", head(VALUES, "2.2" if name in NOT_20 else "2.0", 700, field) + bytes([4]) + full)
        if metadata == PACKED:
            save(f"own_full_{name}_22", head(VALUES, "2.2", 700, field) + bytes([4]) + full)
            save(f"damaged_full_{name}_22", head(DAMAGED, "2.2", 70, field) + bytes([4]) + full)
    for number, hint in enumerate([{}, FSST, PLAIN, ZSTD]):
        for how in [b"\0\0\0\3\0\0", b"\0\0\0\x3c\1\0", b"\0\0\0\xfc\1\0"]:
            save(f"own_large_text{number}_{how[3]}", head(VALUES, "2.2", 4990, pa.field("c", pa.utf8(), metadata=hint)) + b"\x07" + how)


here.mkdir(parents=True, exist_ok=True)
write_pylance()
write_codecs()
write_old()
write_own()
