"""Tables whose data files are of version 2.0, both ways (file format checklist 5 to 7, 10 to 16, 18, 26, 30 to 32)."""
import decimal
import random
import struct

import lance
import nested
import numpy as np
import pyarrow as pa
import pytest
from conftest import GlaiveError
from data import SHAPES, TYPES, column, same, table, with_nulls

ROWS = 20_000


def rng():
    return np.random.default_rng(20)


def write_theirs(glaive, name, data, **options):
    return lance.write_dataset(data, str(glaive.db / f"{name}.lance"), data_storage_version="2.0", enable_stable_row_ids=True, **options)


def write_ours(glaive, name, data, *options, **more):
    glaive.write(name, data, "--storage-version", "2.0", *options, **more)
    return lance.dataset(str(glaive.db / f"{name}.lance"))


def check_files(dataset, columns=None):
    """Every file is of version 2.0 and names every field, nested ones included."""
    for fragment in dataset.get_fragments():
        for file in fragment.data_files():
            assert (file.file_major_version, file.file_minor_version) == (2, 0)
            assert columns is None or (list(file.fields), list(file.column_indices)) == (list(range(columns)),) * 2


def both_ways(glaive, data, batch_rows=65536):
    write_theirs(glaive, "theirs", data)
    same(glaive.read("theirs"), data)
    ours = write_ours(glaive, "ours", data, batch_rows=batch_rows)
    check_files(ours)
    ours.validate()
    same(ours.to_table(), data)
    some = sorted({0, len(data) - 1, *(i for i in (1, 511, 512, 4095, 8191, 8192) if i < len(data))})
    same(ours.take(some), data.take(some))
    same(glaive.read("ours"), data)


@pytest.mark.parametrize("nulls", [0, 0.1, 1])
@pytest.mark.parametrize("shape", SHAPES)
def test_flat_types(glaive, db, shape, nulls):
    both_ways(glaive, table(ROWS, shape, nulls), batch_rows=3000)


@pytest.mark.parametrize("rows", [1, 2, 7, 8, 9, 1024, 100_000])
def test_numbers_of_rows(glaive, db, rows):
    types = ["bool", "int64", "utf8", "binary", "vector:float32:8"]
    both_ways(glaive, pa.table({t: with_nulls(column(t, rows, "random", rng()), 0.3, rng()) for t in types}))


def other_types():
    n = 5000
    numbers = np.arange(n)
    return {
        "float16": pa.array((numbers % 100).astype(np.float16)),
        "decimal128": pa.array([decimal.Decimal(i).scaleb(-2) for i in range(n)], pa.decimal128(20, 2)),
        "decimal256": pa.array([decimal.Decimal(i).scaleb(-3) for i in range(n)], pa.decimal256(50, 3)),
        "date64": pa.array(numbers * 86_400_000, pa.date64()),
        "time32": pa.array((numbers % 86_400).astype(np.int32), pa.time32("s")),
        "time64": pa.array(numbers * 1000, pa.time64("ns")),
        "duration": pa.array(numbers, pa.duration("us")),
        "fixed binary": pa.array([b"%08d" % i for i in range(n)], pa.binary(8)),
        "large_binary": pa.array([b"x" * (i % 40) for i in range(n)], pa.large_binary()),
        "null": pa.nulls(n),
        "vector of bool": pa.FixedSizeListArray.from_arrays(pa.array(rng().random(3 * n) < 0.5), 3),
        "vector of vectors": pa.FixedSizeListArray.from_arrays(pa.FixedSizeListArray.from_arrays(pa.array(np.arange(6.0 * n)), 3), 2),
        "dictionary": pa.array([f"name {i % 50}" for i in range(n)]).dictionary_encode(),
        "dictionary of numbers": pa.array(numbers % 9).dictionary_encode(),
    }


@pytest.mark.parametrize("nulls", [0, 0.1])
@pytest.mark.parametrize("name", other_types())
def test_other_types(glaive, db, name, nulls):
    values = other_types()[name]
    if nulls and pa.types.is_dictionary(values.type):
        mask = rng().random(len(values)) < nulls
        values = pa.DictionaryArray.from_arrays(pa.array(values.indices.to_numpy(), values.indices.type, mask=mask), values.dictionary)
    elif nulls and not pa.types.is_null(values.type):
        values = with_nulls(values, nulls, rng())
    data = pa.table({"id": range(len(values)), "c": values})
    if not pa.types.is_dictionary(values.type):
        both_ways(glaive, data)
        return
    write_theirs(glaive, "theirs", data)  # pages have dictionaries of their own, so only the values can be compared
    assert glaive.read("theirs")["c"].to_pylist() == values.to_pylist()
    ours = write_ours(glaive, "ours", data)
    assert ours.to_table()["c"].to_pylist() == values.to_pylist()
    assert glaive.read("ours")["c"].to_pylist() == values.to_pylist()


@pytest.mark.parametrize("size", [1, 3, 8, 256])
def test_vectors_with_null_items(glaive, db, size):
    n = 2000
    items = with_nulls(pa.array(rng().standard_normal(n * size).astype(np.float32)), 0.1, rng())
    both_ways(glaive, pa.table({"v": pa.FixedSizeListArray.from_arrays(items, size, mask=pa.array(rng().random(n) < 0.2))}))


@pytest.mark.parametrize("scheme", ["zstd", "lz4", "fsst", "none"])
def test_compressed_by_others(glaive, db, scheme):
    texts = [f"some text that repeats {i % 700} and {i}" for i in range(ROWS)]
    metadata = {"lance-encoding:compression": scheme}
    schema = pa.schema([pa.field("s", pa.string(), metadata=metadata), pa.field("i", pa.int64(), metadata=metadata)])
    data = pa.table({"s": [None if i % 13 == 0 else t for i, t in enumerate(texts)], "i": range(ROWS)}, schema=schema)
    dataset = write_theirs(glaive, "t", data)
    same(glaive.read("t"), data)
    same(glaive.query("SELECT s FROM t WHERE i % 977 = 3"), dataset.to_table(columns=["s"], filter="i % 977 = 3"))


def test_packed_structs_and_blobs(glaive, db):
    n = 5000
    fields = [pa.array(np.arange(n)), pa.array(np.arange(n, dtype=np.int16)),
              pa.FixedSizeListArray.from_arrays(pa.array(np.arange(3.0 * n)), 3)]
    packed = pa.StructArray.from_arrays(fields, ["a", "b", "v"])
    schema = pa.schema([pa.field("p", packed.type, metadata={"packed": "true"})])
    both_ways(glaive, pa.table([packed], schema=schema))
    blobs = pa.array([None if i % 5 == 0 else b"" if i % 7 == 0 else b"%d" % i for i in range(n)], pa.large_binary())
    schema = pa.schema([pa.field("id", pa.int64()), pa.field("b", blobs.type, metadata={"lance-encoding:blob": "true"})])
    dataset = write_theirs(glaive, "blobs", pa.table([range(n), blobs], schema=schema))
    same(glaive.read("blobs"), dataset.to_table())


@pytest.mark.parametrize("seed", range(12))
def test_nested(glaive, db, seed):
    data = nested.table(random.Random(seed), "2.0", 3000 if seed % 2 else 300)
    both_ways(glaive, data, batch_rows=[65536, 700, 64][seed % 3])


def test_many_pages_of_lists(glaive, db):
    """Items have pages of their own; rows far apart need few of them."""
    n = 200_000
    lengths = rng().integers(0, 9, n)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    items = pa.StructArray.from_arrays([pa.array(rng().integers(0, 10**9, offsets[-1])), pa.array(rng().random(offsets[-1]))], ["i", "f"])
    lists = pa.ListArray.from_arrays(pa.array(offsets), items, mask=pa.array(rng().random(n) < 0.1))
    data = pa.table({"id": range(n), "l": lists})
    for name, dataset in [("theirs", write_theirs(glaive, "theirs", data)), ("ours", write_ours(glaive, "ours", data, batch_rows=5000))]:
        rows = [0, 1, 77_777, 77_779, n - 1]
        assert dataset.take(rows, columns=["l"])["l"].to_pylist() == lists.take(pa.array(rows)).to_pylist()
        got = glaive.query(f"SELECT id, l FROM {name} WHERE id % 1777 = 5")
        assert got["l"].to_pylist() == lists.take(pa.array(got["id"].to_pylist())).to_pylist()
        got = glaive.query(f"SELECT l FROM {name} LIMIT 300 OFFSET 123456")
        assert got["l"].to_pylist() == lists.slice(123_456, 300).to_pylist()


def test_filters_and_deletions(glaive, lancedb40):
    data = table(ROWS, "small", 0.1)
    data = data.append_column("id", pa.array(range(ROWS)))
    dataset = write_theirs(glaive, "t", data, max_rows_per_file=7000)
    lancedb40.open_table("t").delete("id % 3 = 1")
    dataset = lance.dataset(dataset.uri)
    same(glaive.read("t"), dataset.to_table())
    for text in ["int32 > 0", "utf8 LIKE 'text 1%'", "id IN (0, 2, 6999, 7001, 19998)", "float64 IS NULL"]:
        same(glaive.query(f"SELECT id, utf8, float32 FROM t WHERE {text}"), dataset.to_table(columns=["id", "utf8", "float32"], filter=text))


def test_appended_by_both(glaive, lancedb40):
    """The version stays; compaction by the reference keeps all rows."""
    data = nested.table(random.Random(3), "2.0", 500)
    count = len(write_ours(glaive, "t", data).lance_schema.fields())
    glaive.write("t", data, "--append")
    lancedb40.open_table("t").add(data)
    dataset = lance.dataset(str(glaive.db / "t.lance"))
    check_files(dataset)
    assert len(dataset.get_fragments()) == 3 and count >= data.num_columns
    expected = pa.concat_tables([data] * 3)
    same(glaive.read("t"), expected)
    same(dataset.to_table(), expected)
    dataset.optimize.compact_files(target_rows_per_fragment=10_000)
    dataset = lance.dataset(dataset.uri)
    assert len(dataset.get_fragments()) == 1
    same(glaive.read("t"), expected)


def test_fields_of_data_files(glaive, db):
    data = pa.table({"id": [1], "l": [[1]], "s": [{"a": 1, "b": ["x"]}]})
    check_files(write_ours(glaive, "t", data), 7)
    glaive.write("t", data, "--append")
    check_files(lance.dataset(str(glaive.db / "t.lance")), 7)


def test_what_cannot_be_stored(glaive, db):
    rows = [{"a": 1}, None, {"a": 2}]
    with pytest.raises(GlaiveError, match="The struct field `s` contains 1 null value.*does not encode struct validity; use file version 2.1 or later"):
        write_ours(glaive, "t", pa.table({"s": rows}))
    with pytest.raises(GlaiveError, match="The struct field `item` contains 1 null"):
        write_ours(glaive, "t", pa.table({"l": [rows]}))
    with pytest.raises(GlaiveError, match="Map data type is not enabled by the selected file format"):
        write_ours(glaive, "t", pa.table({"m": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64()))}))
    schema = pa.schema([pa.field("l", pa.list_(pa.field("item", pa.int64(), nullable=False)))])
    bad = pa.ListArray.from_arrays(pa.array([0, 2], pa.int32()), pa.array([1, None]), type=schema.field("l").type)
    with pytest.raises(GlaiveError, match="The field `item` contained null values even though"):
        write_ours(glaive, "t", pa.table([bad], schema=schema))


# ---- encodings that only old writers produced; a message is { number: value }, in the order of its fields ----


def varint(n):
    n &= 2**64 - 1
    return bytes([n & 127 | 128]) + varint(n >> 7) if n > 127 else bytes([n])


def message(fields):
    out = b""
    for number, value in fields.items():
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            value = message(value) if isinstance(value, dict) else value
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


def direct(url, value):
    return {2: {1: message({1: url.encode(), 2: value})}}


def one_page_file(path, kind, encoding, buffers, rows):
    """A file of version 2.0 with one column."""
    out, places = bytearray(), []
    for b in buffers:
        places.append((len(out), len(b)))
        out += b + b"H" * (-len(b) % 64)
    page = {1: b"".join(varint(p) for p, _ in places), 2: b"".join(varint(s) for _, s in places), 3: rows,
            4: direct("/lance.encodings.ArrayEncoding", message(encoding))}
    metadata = message({1: direct("/lance.encodings.ColumnEncoding", b"\x0a\x00"), 2: page})
    descriptor = message({1: {1: {2: b"c", 4: -1, 5: kind.encode(), 6: 1}}, 2: rows})
    start, column_start = len(out), len(out) + len(descriptor)
    table_start = column_start + len(metadata)
    out += descriptor + metadata + struct.pack("<QQQQ", column_start, len(metadata), start, len(descriptor))
    out += struct.pack("<QQQIIHH4s", column_start, table_start, table_start + 16, 1, 1, 0, 3, b"LANC")
    path.write_bytes(out)
    return len(out)


def bit_stream(values, width):
    bits = ((np.asarray(values).astype(np.int64)[:, None] >> np.arange(width)) & 1).astype(np.uint8)
    return np.packbits(bits.reshape(-1), bitorder="little").tobytes()


def old_encodings():
    n = 3000
    buffer = {1: 0}
    no_nulls = lambda values: {2: {1: {1: values}}}
    flat = lambda bits, number: {1: {1: bits, 2: {1: number}}}
    ends = np.cumsum([len("text %d" % i) for i in range(n)])
    text = "".join("text %d" % i for i in range(n)).encode()
    compress = lambda data: struct.pack("<Q", len(data)) + pa.compress(data, codec="zstd", asbytes=True)
    small = np.arange(n) % 100
    return {
        "signed bit stream": ("int32", no_nulls({10: {1: 7, 2: 32, 3: buffer, 4: 1}}), [bit_stream(small - 50, 7)], pa.array(small - 50, pa.int32())),
        "unsigned bit stream": ("int64", no_nulls({10: {1: 7, 2: 64, 3: buffer}}), [bit_stream(small, 7)], pa.array(small)),
        "wide bit stream": ("uint64", no_nulls({10: {1: 61, 2: 64, 3: buffer}}), [bit_stream(np.arange(n) * 2**48, 61)], pa.array(np.arange(n) * 2**48, pa.uint64())),
        "strings of one length": ("string", {11: {1: flat(8, 0), 2: 6}}, [b"".join(b"k%05d" % i for i in range(n))], pa.array(["k%05d" % i for i in range(n)])),
        "compressed numbers": ("int64", no_nulls({1: {1: 64, 2: buffer, 3: {1: b"zstd"}}}), [compress(np.arange(n).tobytes())], pa.array(range(n))),
        "compressed text": ("string", {6: {1: no_nulls(flat(64, 0)), 2: {1: {1: 8, 2: {1: 1}, 3: {1: b"zstd"}}}, 3: int(ends[-1]) + 1}},
                            [ends.astype(np.uint64).tobytes(), compress(text)], pa.array(["text %d" % i for i in range(n)])),
        "numbers of strings": ("string", {7: {1: no_nulls(flat(8, 0)), 2: {6: {1: no_nulls(flat(64, 1)), 2: flat(8, 2), 3: 7}}, 3: 3}},
                               [(np.arange(n) % 4).astype(np.uint8).tobytes(), np.array([1, 3, 6], np.uint64).tobytes(), b"abbccc"],
                               pa.array([[None, "a", "bb", "ccc"][i % 4] for i in range(n)])),
    }


@pytest.mark.parametrize("name", old_encodings())
def test_encodings_of_old_writers(glaive, db, name):
    kind, encoding, buffers, expected = old_encodings()[name]
    path = db / "t.lance"
    (path / "data").mkdir(parents=True)
    size = one_page_file(path / "data" / "old.lance", kind, encoding, buffers, len(expected))
    schema = pa.schema([pa.field("c", expected.type)])
    file = lance.fragment.DataFile("old.lance", [0], [0], 2, 0, size)
    fragment = lance.FragmentMetadata(id=0, files=[file], physical_rows=len(expected), deletion_file=None, row_id_meta=None)
    dataset = lance.LanceDataset.commit(str(path), lance.LanceOperation.Overwrite(schema, [fragment]))
    data = pa.table([expected], schema=schema)
    same(dataset.to_table(), data)
    same(glaive.read("t"), data)
    same(glaive.query("SELECT c FROM t LIMIT 700 OFFSET 1500"), data.slice(1500, 700))
    some = data["c"][len(data) - 2].as_py()
    word = f"'{some}'" if isinstance(some, str) else some
    same(glaive.query(f"SELECT c FROM t WHERE c = {word}"), dataset.to_table(filter=f"c = {word}"))
