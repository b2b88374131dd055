"""Rows leave the library as Arrow C streams: what pyarrow makes of failures inside one (style, items 12 and 14)."""
import lance
import pyarrow as pa
import pytest
from capi import Connection, Failed


@pytest.fixture
def connect(db):
    opened = []

    def call(**options):
        opened.append(Connection(db, **options))
        return opened[-1]

    yield call
    for connection in opened:
        connection.close()


def test_a_corrupt_page(glaive, connect):
    glaive.write("t", pa.table({"id": range(100_000), "text": [f"{i * 7919 % 65521} text" for i in range(100_000)]}))
    (path,) = (glaive.db / "t.lance" / "data").glob("*.lance")
    data = bytearray(path.read_bytes())
    for at in range(64, len(data) // 2, 101):
        data[at] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises((pa.ArrowInvalid, Failed), match=path.name):
        connect().scan(["t"]).read_all()


def test_a_missing_file(glaive, connect):
    glaive.write("t", pa.table({"id": range(100)}))
    (path,) = (glaive.db / "t.lance" / "data").glob("*.lance")
    path.unlink()
    with pytest.raises((OSError, Failed), match=path.name):
        connect().scan(["t"]).read_all()


def test_a_cancelled_stream(glaive, connect):
    """Rows decoded by then still come out; nothing more is read."""
    glaive.write("t", pa.table({"id": range(1_000_000)}))
    connection = connect()
    token, cancel = connection.cancel()
    reader = connection.scan(["t"], cancel=token)
    assert len(reader.read_next_batch()) > 0
    cancel()
    with pytest.raises(OSError, match="cancel"):
        reader.read_all()


def test_a_page_larger_than_the_memory(glaive, connect):
    lance.write_dataset(pa.table({"b": [b"\x01\x02\x03\x04" * (4 << 20)] * 4}), str(glaive.db / "t.lance"))
    glaive.write("small", pa.table({"id": [1, 2]}))
    connection = connect(memory_limit=16 << 20)
    with pytest.raises((pa.ArrowMemoryError, Failed), match="memory") as error:
        connection.scan(["t"]).read_all()
    assert not isinstance(error.value, Failed) or error.value.code == 1
    assert connection.scan(["small"]).read_all()["id"].to_pylist() == [1, 2]
    assert connect().scan(["t"]).read_all().num_rows == 4


def test_rows_of_any_producer(connect, db):
    connection = connect()
    data = pa.table({"id": pa.chunked_array([[1, 2], [], [3]], pa.int64()), "s": pa.chunked_array([["a"], [None, "c"]])})
    connection.create(["t"], data)
    assert connection.scan(["t"]).read_all().to_pydict() == data.to_pydict()
    assert lance.dataset(str(db / "t.lance")).to_table().to_pydict() == data.to_pydict()
