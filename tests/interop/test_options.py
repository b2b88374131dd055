"""Every documented option of pylance that changes what is stored: metadata of fields, environment of the writer, arguments of
write_dataset; over flat and nested types, in each version of the format. Glaive reads all of it as pylance does, whole, filtered
and by row, appends to it, and pylance reads what was appended, with the metadata kept. What pylance itself refuses is listed."""
import contextlib
import decimal
import json
import os
import random
import subprocess
import sys

import lance
import pyarrow as pa
import pytest
from lance.lance import DatasetBasePath

N = 1100
VERSIONS = ["2.0", "2.1", "2.2"]
ENC = "lance-encoding:"
R = random.Random(11)


def some(make, n=N, nulls=0.1):
    return [None if R.random() < nulls else make() for _ in range(n)]


def words():
    return " ".join(R.choice(["red", "blue", "greenish", "a", "longer"]) for _ in range(R.randint(0, 9)))


def runs():
    return [i // 90 % 7 for i in range(N)]


LEAVES = {
    "int": (pa.int32(), lambda: R.randint(0, 99)),
    "long": (pa.int64(), lambda: R.choice([1, 2, 2**50])),
    "byte": (pa.uint8(), lambda: R.randint(0, 3)),
    "float": (pa.float32(), lambda: R.randint(0, 99) / 10),
    "double": (pa.float64(), R.random),
    "bool": (pa.bool_(), lambda: R.random() < 0.5),
    "text": (pa.utf8(), words),
    "colour": (pa.large_utf8(), lambda: R.choice(["alpha", "beta", "gamma" * 9])),
    "long text": (pa.utf8(), lambda: words() * R.choice([1, 1, 1, 30])),
    "bytes": (pa.binary(), lambda: words().encode()),
    "date": (pa.date32(), lambda: R.randint(0, 20_000)),
    "time": (pa.timestamp("us", "UTC"), lambda: R.randint(0, 2**40)),
    "decimal": (pa.decimal128(20, 3), lambda: decimal.Decimal(R.randint(0, 10**6)) / 1000),
    "fixed": (pa.binary(5), lambda: bytes(R.choices(b"ab", k=5))),
    "vector": (pa.list_(pa.float32(), 4), lambda: [R.randint(0, 9) / 4] * 4),
}


def columns(metadata, version):
    """A column for each leaf type, and nested ones whose leaves have the metadata, too; fields in the second place."""
    def leaf(name, kind, nullable=True):
        return pa.field(name, kind, nullable, metadata)

    text, number = leaf("t", pa.utf8()), leaf("n", pa.int64())
    pair = pa.struct([number, text])
    item = pa.field("item", pa.utf8(), metadata=metadata)
    struct_nulls = 0 if version == "2.0" else 0.1

    def a_pair():
        return {"n": R.choice([None, 1, 2, 3]), "t": words()}

    made = {name: (kind, some(make)) for name, (kind, make) in LEAVES.items()}
    packed = {**metadata, "packed": "true"}
    made |= {
        "runs": (pa.int32(), runs()), "runs with nulls": (pa.int64(), [None if i // 50 % 3 == 0 else i // 50 for i in range(N)]),
        "constant": (pa.int32(), [7] * N), "no text": (pa.utf8(), [None] * N), "one text": (pa.utf8(), ["all the same"] * N),
        "list": (pa.list_(item), some(lambda: some(words, R.randint(0, 4)))),
        "struct": (pair, some(a_pair, nulls=struct_nulls)),
        "list of struct": (pa.list_(pa.field("item", pair)), some(lambda: some(a_pair, R.randint(0, 3), struct_nulls))),
        "struct of list": (pa.struct([pa.field("l", pa.list_(item)), number]), some(lambda: {"l": R.choice([None, [], ["a", None]]), "n": 5}, nulls=struct_nulls)),
        "dictionary": (pa.dictionary(pa.int16(), pa.utf8()), some(lambda: R.choice(["a", "bb", "ccc"]))),
    }
    for name, kinds in {"packed": [pa.int32(), pa.float64()], **({"packed text": [pa.utf8(), pa.int64()]} if version == "2.2" else {})}.items():
        kind = pa.struct([pa.field("a", kinds[0], False), pa.field("b", kinds[1], False)])
        made[name] = (kind, [{"a": words() if name == "packed text" else 1, "b": i} for i in range(N)])
    if version == "2.2":
        made["map"] = (pa.map_(leaf("key", pa.utf8(), False), leaf("value", pa.int64())), some(lambda: [(words(), R.choice([None, 1]))] * R.randint(0, 2)))
        made["fixed list of struct"] = (pa.list_(pa.field("item", pair), 2), some(lambda: some(a_pair, 2)))  # see alone()
    return {name: (pa.field(name, kind, metadata=packed if name.startswith("packed") else metadata), pa.array(values, kind))
            for name, (kind, values) in made.items()}


def table_of(made):
    fields = [pa.field("id", pa.int64())] + [f for f, _ in made.values()]
    return pa.table([pa.array(range(N)), *(v for _, v in made.values())], schema=pa.schema(fields))


FIELDS = {
    "zstd": {"compression": "zstd"}, "zstd 19": {"compression": "zstd", "compression-level": "19"}, "lz4": {"compression": "lz4"},
    "none": {"compression": "none"}, "fsst": {"compression": "fsst"},
    "never runs": {"rle-threshold": "0.0"}, "always runs": {"rle-threshold": "1.0"},
    "split": {"bss": "on", "compression": "zstd"}, "split auto": {"bss": "auto", "compression": "lz4"}, "not split": {"bss": "off", "compression": "zstd"},
    "few distinct": {"dict-divisor": "1000"}, "many distinct": {"dict-divisor": "1"}, "small dictionaries": {"dict-size-ratio": "0.01"},
    "large dictionaries": {"dict-size-ratio": "1.0", "dict-divisor": "1"}, "dictionary zstd": {"dict-values-compression": "zstd", "dict-values-compression-level": "5"},
    "dictionary lz4": {"dict-values-compression": "lz4"}, "dictionary none": {"dict-values-compression": "none"},
    "zipped": {"structural-encoding": "fullzip"}, "in blocks": {"structural-encoding": "miniblock"},
    "zipped zstd": {"structural-encoding": "fullzip", "compression": "zstd"}, "zipped lz4": {"structural-encoding": "fullzip", "compression": "lz4"},
    "zipped none": {"structural-encoding": "fullzip", "compression": "none"}, "blocks zstd": {"structural-encoding": "miniblock", "compression": "zstd"},
    "small chunks": {"minichunk-size": "128"}, "large chunks": {"minichunk-size": "32768"},
}
# option, version -> column that pylance refuses with it: a part of its message
FIXED = "Packed struct per-value compression should not be used for fixed-width-only structs"
REFUSED = {("fsst", "2.0"): {"colour": "Encoding task failed"},
           **{(o, v): {"packed": FIXED} for o in ["zipped", "zipped zstd", "zipped lz4", "zipped none"] for v in ["2.1", "2.2"]}}


def plain(column):
    whole = column.combine_chunks()
    return whole.dictionary_decode() if pa.types.is_dictionary(whole.type) else whole


def same(got, want):
    assert got.schema.names == want.schema.names
    for name in want.schema.names:
        assert got.schema.field(name).type == want.schema.field(name).type, name
        assert plain(got[name]).equals(plain(want[name])), name


def check(glaive, path):
    """Glaive reads the table at path as pylance does; so does pylance after Glaive appended its rows to it."""
    dataset = lance.dataset(path)
    want = dataset.to_table()
    same(glaive.read("t"), want)
    rows = [0, 5, 511, 512, 1023, 1024, len(want) - 1]
    same(glaive.query(f"SELECT * FROM t WHERE id IN ({', '.join(map(str, rows))})"), want.take(rows))
    same(glaive.query("SELECT * FROM t LIMIT 100 OFFSET 1000"), want.slice(1000, 100))
    glaive.write("t", want, "--append")
    after = lance.dataset(path)
    after.validate()
    assert after.schema.equals(dataset.schema, check_metadata=True)
    both = pa.concat_tables([want, want])
    same(after.to_table(), both)
    same(after.take([len(want) + r for r in rows]), want.take(rows))
    same(glaive.read("t"), both)


def alone(glaive, db, made):
    """Pylance does not read fixed-size lists of structs together with other columns: "columns of differing lengths"."""
    if made is not None:
        field, values = made
        want = pa.table([values], schema=pa.schema([field]))
        dataset = lance.write_dataset(want, db / "alone.lance", data_storage_version="2.2")
        same(dataset.to_table(), want)
        same(glaive.read("alone"), want)
        glaive.write("alone", want, "--append")
        same(lance.dataset(db / "alone.lance").to_table(), pa.concat_tables([want, want]))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("option", FIELDS)
def test_fields(glaive, db, option, version):
    made = columns({ENC + k: v for k, v in FIELDS[option].items()}, version)
    for name, text in REFUSED.get((option, version), {}).items():
        field, values = made.pop(name)
        with pytest.raises(OSError, match=text):
            lance.write_dataset(pa.table([values], schema=pa.schema([field])), db / "no.lance", data_storage_version=version)
    alone(glaive, db, made.pop("fixed list of struct", None))
    path = db / "t.lance"
    lance.write_dataset(table_of(made), path, data_storage_version=version)
    check(glaive, path)


# The environment of the writer is read once, so each entry is written by a process of its own.
ENVIRONMENTS = {
    "small": {"LANCE_BINARY_MINIBLOCK_CHUNK_SIZE": "256", "LANCE_MINIBLOCK_MAX_VALUES": "64", "LANCE_FILE_WRITER_MAX_PAGE_BYTES": "4096",
              "LANCE_ENCODING_DICT_TOO_SMALL": "2", "LANCE_ENCODING_DICT_DIVISOR": "1", "LANCE_ENCODING_DICT_SIZE_RATIO": "1.0",
              "LANCE_ENCODING_DICT_VALUES_COMPRESSION": "zstd", "LANCE_ENCODING_DICT_VALUES_COMPRESSION_LEVEL": "9",
              "LANCE_DICT_ENCODING_THRESHOLD": "2000"},
    "large": {"LANCE_BINARY_MINIBLOCK_CHUNK_SIZE": "16384", "LANCE_MINIBLOCK_MAX_VALUES": "32768", "LANCE_ENCODING_DICT_MAX_CARDINALITY": "2",
              "LANCE_ENCODING_DICT_VALUES_COMPRESSION": "none", "LANCE_DICT_ENCODING_THRESHOLD": "1"},
    "no dictionaries": {"LANCE_ENCODING_DICT_TOO_SMALL": "100000", "LANCE_ENCODING_DICT_SIZE_RATIO": "0.0001", "LANCE_ENCODING_DICT_VALUES_COMPRESSION": "lz4"},
}
WRITER = """
import json, sys
import lance, pyarrow as pa
for version, path in json.loads(sys.argv[2]).items():
    with pa.OSFile(f"{sys.argv[1]}.{version}") as source:
        table = pa.ipc.open_stream(source).read_all()
        lance.write_dataset(table.take(pa.array(range(len(table)))), path, data_storage_version=version)  # of aligned memory
"""


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_environment(glaive, db, name):
    paths = {}
    for version in VERSIONS:
        made = columns({}, version)
        made.pop("fixed list of struct", None)
        table = table_of(made)
        paths[version] = str(db / version / "t.lance")
        with pa.OSFile(f"{db}.{version}", "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
    result = subprocess.run([sys.executable, "-c", WRITER, str(db), json.dumps(paths)], env={**os.environ, **ENVIRONMENTS[name]}, capture_output=True)
    assert result.returncode == 0, result.stderr.decode()[-2000:]
    for version, path in paths.items():
        check(type(glaive)(db / version), path)


def bases(db):
    for name in ["one", "two"]:
        (db.parent / name).mkdir(parents=True, exist_ok=True)
    return [DatasetBasePath(str(db.parent / "one"), "one"), DatasetBasePath(str(db.parent / "two"), "two", True)]


ARGUMENTS = {
    "rows of a file": lambda db: {"max_rows_per_file": 400}, "rows of a group": lambda db: {"max_rows_per_group": 100},
    "bytes of a file": lambda db: {"max_bytes_per_file": 20_000, "max_rows_per_group": 200},
    "bytes of a page": lambda db: {"max_page_bytes": 2048}, "cache": lambda db: {"data_cache_bytes": 4096},
    "stable row ids": lambda db: {"enable_stable_row_ids": True}, "stable row ids, files": lambda db: {"enable_stable_row_ids": True, "max_rows_per_file": 400},
    "first naming of manifests": lambda db: {"enable_v2_manifest_paths": False}, "second naming of manifests": lambda db: {"enable_v2_manifest_paths": True},
    "cleanup": lambda db: {"auto_cleanup_options": {"interval": 1, "older_than_seconds": 0}},
    "message": lambda db: {"commit_message": "first", "transaction_properties": {"who": "me"}},
    "lock": lambda db: {"commit_lock": lock}, "storage options": lambda db: {"storage_options": {"allow_http": "true"}},
    "bases": lambda db: {"initial_bases": bases(db), "target_bases": ["one"]},
    "base that is a table": lambda db: {"initial_bases": bases(db), "target_bases": ["two"]},
    "all bases": lambda db: {"initial_bases": bases(db), "target_all_bases": True, "max_rows_per_file": 300},
}


@contextlib.contextmanager
def lock(version):
    yield


PAGES = {"rows of a group", "bytes of a file", "bytes of a page", "cache", "all bases"}  # these tell on the files themselves


@pytest.mark.parametrize("name, version", [(n, v) for n in ARGUMENTS for v in (VERSIONS if n in PAGES else ["2.2"])])
def test_arguments(glaive, db, name, version):
    made = columns({}, version)
    made.pop("fixed list of struct", None)
    path = db / "t.lance"
    arguments = ARGUMENTS[name](db)
    lance.write_dataset(table_of(made), path, data_storage_version=version, **arguments)
    check(glaive, path)
    kept = lance.dataset(path).config()
    assert ("lance.auto_cleanup.interval" in kept) == (name == "cleanup")


@pytest.mark.parametrize("version, text", [("legacy", "0.2"), ("2.3", "2.3"), ("next", "2.3")])
def test_versions_that_are_not_read(glaive, db, version, text):
    lance.write_dataset(pa.table({"id": range(3)}), db / "t.lance", data_storage_version=version)
    with pytest.raises(Exception, match=f"has format version {text}, which this release does not read; rewrite the table with pylance"):
        glaive.read("t")


def test_stable_is_22(glaive, db):
    lance.write_dataset(pa.table({"id": range(2000)}), db / "t.lance", data_storage_version="stable")
    check(glaive, db / "t.lance")
    assert lance.dataset(db / "t.lance").data_storage_version == "2.2"


BLOBS = {"inline": {"inline_size_threshold": 10**6}, "packed": {"inline_size_threshold": 0}, "dedicated": {"dedicated_size_threshold": 1000},
         "many packs": {"inline_size_threshold": 0, "pack_file_size_threshold": 5000}}


@pytest.mark.parametrize("name", BLOBS)
def test_blobs(glaive, db, name):
    values = [None if i % 7 == 0 else bytes([i % 250]) * (i * 37) for i in range(200)]
    table = pa.table([pa.array(range(200)), lance.blob_array(values)], schema=pa.schema([pa.field("id", pa.int64()), lance.blob_field("b", **BLOBS[name])]))
    dataset = lance.write_dataset(table, db / "t.lance", data_storage_version="2.2", blob_pack_file_size_threshold=20_000)
    want = dataset.to_table()
    assert glaive.read("t").to_pylist() == want.to_pylist()
    out = glaive.run("table", "export", "t", "-", "--format", "arrow", "--blobs")
    assert pa.ipc.open_file(pa.py_buffer(out)).read_all()["b"].to_pylist() == values
    with pytest.raises(Exception, match="blob column, which this release does not write; append with pylance"):
        glaive.write("t", want, "--append")


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
def test_compression_is_kept(glaive, db, codec):
    """What Glaive appends is compressed where the metadata of the table asks for it."""
    text = pa.array([f"{i} " + "the same words again " * 9 for i in range(2000)])
    sizes = []
    for name, how in [("plain", "none"), ("asked", codec)]:
        table = pa.table([text], schema=pa.schema([pa.field("s", pa.utf8(), metadata={ENC + "compression": how})]))
        lance.write_dataset(table.slice(0, 1), db / f"{name}.lance", data_storage_version="2.2")
        glaive.write(name, table, "--append")
        dataset = lance.dataset(db / f"{name}.lance")
        assert dataset.to_table()["s"].to_pylist() == text.to_pylist()[:1] + text.to_pylist()
        sizes.append(dataset.get_fragments()[1].metadata.files[0].file_size_bytes)
    assert sizes[1] < sizes[0] / 5


BLOB = {ENC + "blob": "true"}
ITEM = pa.field("item", pa.large_binary(), metadata=BLOB)
STRUCT = pa.struct([pa.field("b", pa.large_binary(), metadata=BLOB), ("n", pa.int32())])
NESTED_BLOBS = {  # type, values, versions that the reference reads or writes; the others fail there with these words
    "list": (pa.list_(ITEM), [[b"ab", None], None, [], [b"x" * 5000]], {"2.1": "terminated before end of stream"}),
    "struct": (STRUCT, [{"b": b"ab", "n": 1}, None, {"b": None, "n": 2}, {"b": b"", "n": None}], {"2.0": "does not encode struct validity"}),
    "fixed list": (pa.list_(ITEM, 2), [[b"a", b"b"], None], dict.fromkeys(VERSIONS, "compute_stat should only be called once")),
    "map": (pa.map_(pa.utf8(), pa.field("value", pa.large_binary(), metadata=BLOB)), [[("a", b"x")], None, []],
            {"2.0": "no field encoding", "2.1": "not enabled by the selected file format"}),
}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", NESTED_BLOBS)
def test_nested_blobs(glaive, db, name, version):
    kind, values, refused = NESTED_BLOBS[name]
    table = pa.table({"b": pa.array(values, kind)})
    if version in refused:
        with pytest.raises(BaseException, match=refused[version]):
            lance.write_dataset(table, db / "t.lance", data_storage_version=version).to_table()
    else:
        want = lance.write_dataset(table, db / "t.lance", data_storage_version=version).to_table()
        assert glaive.read("t").to_pylist() == want.to_pylist()
