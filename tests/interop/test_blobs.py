"""Blob columns of every version: descriptors by default, as pylance gives them, and their bytes on request."""
import capi
import lance
import pyarrow as pa
import pytest

LARGE = [b"abc", None, b"", b"x" * 100_000, b"y" * 3_000_000, b"last"]


def write(path, version):
    field = pa.field("b", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    data = pa.table({"id": range(6), "b": pa.array(LARGE, pa.large_binary())}, schema=pa.schema([pa.field("id", pa.int64()), field]))
    return lance.write_dataset(data, path, data_storage_version=version, enable_stable_row_ids=True, max_rows_per_file=4)


def read(glaive, *options):
    out = glaive.run("table", "export", "t", "-", "--format", "arrow", *options)
    return pa.ipc.open_file(pa.py_buffer(out)).read_all()


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
def test_bytes(glaive, version):
    dataset = write(str(glaive.db / "t.lance"), version)
    got = read(glaive, "--blobs")
    assert got.schema.field("b").type == pa.large_binary()
    assert got["b"].to_pylist() == LARGE
    want = dataset.to_table()["b"].to_pylist()
    descriptors = read(glaive)["b"].to_pylist()
    if version == "2.0":  # pylance shows the stored descriptor of a null
        want = [None if d == {"position": 1, "size": 0} else d for d in want]
        descriptors = [None if d == {"position": 1, "size": 0} else d for d in descriptors]
    assert descriptors == want
    assert glaive.query("SELECT id FROM t WHERE b.size > 3").to_pylist() == [{"id": 3}, {"id": 4}, {"id": 5}]
    dataset.delete("id = 3")
    assert read(glaive, "--blobs")["b"].to_pylist() == LARGE[:3] + LARGE[4:]


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
def test_a_few(glaive, version):
    write(str(glaive.db / "t.lance"), version)
    connection = capi.Connection(glaive.db)
    rows = connection.take(["t"], [4, 0, 4, 1], flags=capi.SCAN_BLOBS)
    connection.close()
    assert rows["b"].to_pylist() == [LARGE[4], LARGE[0], LARGE[4], None]


def test_side_files(glaive):
    """Version 2.2 keeps large blobs in files of their own, middling ones together in one."""
    blob_array = pytest.importorskip("lance").blob_array
    data = pa.table({"id": range(40), "b": blob_array([bytes([i]) * (i * 20_000) if i % 7 else None for i in range(39)] + [b"z" * 5_000_000])})
    dataset = lance.write_dataset(data, str(glaive.db / "t.lance"), data_storage_version="2.2", enable_stable_row_ids=True)
    kinds = {d["kind"] for d in dataset.to_table()["b"].to_pylist() if d is not None}
    assert {1, 2} <= kinds
    want = [bytes([i]) * (i * 20_000) if i % 7 else None for i in range(39)] + [b"z" * 5_000_000]
    assert read(glaive, "--blobs")["b"].to_pylist() == want
    assert read(glaive)["b"].to_pylist() == dataset.to_table()["b"].to_pylist()
