"""Every type x nulls x format version x shape, both ways: what pylance writes Glaive reads, what Glaive writes pylance and
LanceDB read; by scan, filter, rows picked at random, and after deletions.

A table of a cell group holds one column per type, so that a group is written once; each type is a test of its own.
"""

import functools

import lance
import lancedb
import numpy as np
import pyarrow as pa
import pytest
from conftest import Glaive, GlaiveError
from matrix_data import TYPES, random_array

VERSIONS = ["2.0", "2.1", "2.2"]
NULLS = [0, 0.2]
SHAPES = {
    "one_row": 1,
    "one_page": 700,
    "many_pages": 20_000,
    "rows_100k": 100_000,
    "fragments": 2_500,
    "deletions": 2_500,
}
PAGE_BYTES = 8192  # many_pages


def refused(version, nulls, name):
    """What the reference itself cannot store: a part of its message, else None."""
    t = TYPES[name]
    text = str(t)
    if version in ("2.0", "2.1") and "map<" in text:
        return "Map data type is not enabled" if version == "2.1" else "no field encoding"
    if name == "vector_struct" and version == "2.1":
        return "FixedSizeList<Struct> is not enabled"
    if name == "vector_struct" and version == "2.0" and not nulls:
        return "Packed struct encoder currently only implemented for fixed-width"
    if "struct<" in text and version == "2.0" and nulls:
        return "does not encode struct validity"
    return None


def stored_types(version, nulls):
    return [name for name in TYPES if refused(version, nulls, name) is None]


@functools.lru_cache(maxsize=None)
def few_of(name, n, nulls):
    return random_array(TYPES[name], n, nulls, np.random.default_rng(list(TYPES).index(name)))


@functools.lru_cache(maxsize=4)
def rows_of(version, nulls, shape):
    """`id`, then a column for each type that the reference can store in this version."""
    n = SHAPES[shape]
    columns = {"id": pa.array(np.arange(n))}
    for name in stored_types(version, nulls):
        few = few_of(name, min(n, 5_000), nulls)
        columns[name] = few if n <= 5_000 else few.take(pa.array(np.arange(n) * 7 % 5_000))
    return pa.table(columns)


def decoded(a):
    """Dictionaries decoded, for equal values may stand in different ones; JSON as compact text."""
    t = a.type
    if isinstance(t, pa.BaseExtensionType):
        return (
            pa.array([None if v is None else v.replace(" ", "") for v in a.storage.to_pylist()], pa.string())
            if "json" in str(t)
            else a
        )
    if pa.types.is_dictionary(t):
        return a.cast(t.value_type)
    if pa.types.is_list(t) and pa.types.is_dictionary(t.value_type):
        values = a.values.cast(t.value_type.value_type)
        return pa.Array.from_buffers(pa.list_(values.type), len(a), a.buffers()[:2], offset=a.offset, children=[values])
    return a


def plain(column):
    return (
        pa.concat_arrays([decoded(chunk) for chunk in column.chunks]) if column.num_chunks else column.combine_chunks()
    )


def same(got, want, name):
    assert got.schema.field(name).type == want.schema.field(name).type
    a, b = plain(got[name]), plain(want[name])
    assert len(a) == len(b)
    if not a.equals(b):
        i = next(i for i in range(len(a)) if a[i] != b[i])
        raise AssertionError(f"{name}: row {i} of {len(a)}: {a[i]} instead of {b[i]}")


def picks(n):
    rng = np.random.default_rng(n)
    return sorted(set(rng.integers(0, n, 40).tolist()) | {0, n - 1, n // 2})


class Group:
    """One table, written once, and what each engine reads of it."""

    def __init__(self, folder, version, nulls, shape, direction):
        self.glaive, self.version, self.shape = Glaive(folder), version, shape
        self.path = str(folder / "t.lance")
        self.data = rows_of(version, nulls, shape)
        write = self.write_theirs if direction == "theirs" else self.write_ours
        write(version)
        if shape == "deletions":
            lance.dataset(self.path).delete("id % 3 = 0 OR (id > 900 AND id < 1400)")
            ids = self.data["id"].to_numpy()
            self.data = self.data.filter(pa.array(~((ids % 3 == 0) | ((ids > 900) & (ids < 1400)))))
        self.rows = picks(len(self.data))
        self.read = self.read_with_glaive() if direction == "theirs" else self.read_with_theirs()

    def write_theirs(self, version):
        data = self.data
        if self.shape == "many_pages":
            self.write_small_pages(version)
        else:
            lance.write_dataset(
                data,
                self.path,
                data_storage_version=version,
                enable_stable_row_ids=True,
                max_rows_per_file=800 if self.shape in ("fragments", "deletions") else 1_000_000,
            )

    def write_small_pages(self, version):
        """A file whose pages were cut early, committed as a fragment."""
        empty = lance.write_dataset(self.data.slice(0, 0), self.path, data_storage_version=version)
        from lance.file import LanceFileWriter

        name = "small.lance"
        with LanceFileWriter(
            f"{self.path}/data/{name}", self.data.schema, data_cache_bytes=PAGE_BYTES, version=version
        ) as writer:
            for first in range(0, len(self.data), 1000):
                writer.write_batch(
                    self.data.take(pa.array(range(first, first + 1000)))
                )  # slices of nested columns make it panic
        model = lance.write_dataset(
            self.data.slice(0, 1), self.path + ".model", data_storage_version=version
        ).get_fragments()[0]
        file = model.metadata.files[0]
        file = lance.fragment.DataFile(
            name, file.fields, file.column_indices, file.file_major_version, file.file_minor_version
        )
        fragment = lance.FragmentMetadata(id=0, files=[file], physical_rows=len(self.data))
        lance.LanceDataset.commit(empty.uri, lance.LanceOperation.Append([fragment]), read_version=empty.version)

    def write_ours(self, version):
        options = ["--storage-version", version]
        if self.shape == "many_pages":
            options += ["--page-bytes", PAGE_BYTES]
        if self.shape not in ("fragments", "deletions"):
            self.glaive.write("t", self.data, *options)
            return
        self.glaive.write("t", self.data.slice(0, 800), *options)
        for first in range(800, len(self.data), 800):
            self.glaive.write("t", self.data.slice(first, 800), "--append")

    def read_with_glaive(self):
        ids = self.data["id"]
        wanted = ", ".join(str(ids[i].as_py()) for i in self.rows)
        return {
            "scan": (self.glaive.read("t"), self.data),
            "filter": (self.glaive.query("SELECT * FROM t WHERE id % 7 = 3"), self.some()),
            "pick": (self.glaive.query(f"SELECT * FROM t WHERE id IN ({wanted})"), self.data.take(self.rows)),
            "slice": (
                self.glaive.query(f"SELECT * FROM t LIMIT 50 OFFSET {len(self.data) // 2}"),
                self.data.slice(len(self.data) // 2, 50),
            ),
        }

    def read_with_theirs(self):
        dataset = lance.dataset(self.path)
        dataset.validate()
        table = lancedb.connect(str(self.glaive.db)).open_table("t")

        def apart(read):
            """pylance cannot read a fixed_size_list of structs together with other columns."""
            alone = [name for name in self.data.schema.names if name == "vector_struct" and self.version == "2.2"]
            parts = [read([name for name in self.data.schema.names if name not in alone])] + [
                read([name]) for name in alone
            ]
            return pa.table(
                {name: part[name] for part in parts for name in part.schema.names if name in self.data.schema.names}
            )

        return {
            "scan": (apart(lambda names: dataset.to_table(columns=names)), self.data),
            "filter": (apart(lambda names: dataset.to_table(columns=names, filter="id % 7 = 3")), self.some()),
            "pick": (apart(lambda names: dataset.take(self.rows, columns=names)), self.data.take(self.rows)),
            "lancedb": (apart(lambda names: table.search().select(names).limit(1_000_000).to_arrow()), self.data),
            "ours": (self.glaive.read("t"), self.data),
        }

    def some(self):
        return self.data.filter(pa.array(self.data["id"].to_numpy() % 7 == 3))


GROUPS = [(d, v, n, s) for d in ("theirs", "ours") for v in VERSIONS for n in NULLS for s in SHAPES]


@functools.lru_cache(maxsize=1)
def group(folder, direction, version, nulls, shape):
    """The group, or why it could not be made: that is tried once."""
    try:
        return Group(folder, version, nulls, shape, direction)
    except Exception as error:
        return error


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {g: tmp_path_factory.mktemp("-".join(map(str, g))) for g in GROUPS}


@pytest.mark.parametrize(
    "direction,version,nulls,shape,name", [(*g, name) for g in GROUPS for name in stored_types(g[1], g[2])]
)
def test_cell(folders, direction, version, nulls, shape, name):
    cell = group(folders[direction, version, nulls, shape], direction, version, nulls, shape)
    if isinstance(cell, Exception):
        raise cell
    for got, want in cell.read.values():
        same(got, want, name)


@pytest.mark.parametrize(
    "version,nulls,name", [(v, n, name) for v in VERSIONS for n in NULLS for name in TYPES if refused(v, n, name)]
)
def test_what_nobody_stores(glaive, version, nulls, name):
    """The reference refuses these; Glaive does too, and names the column."""
    data = pa.table({"c": random_array(TYPES[name], 100, nulls, np.random.default_rng(1))})
    with pytest.raises(Exception, match=refused(version, nulls, name)):
        lance.write_dataset(data, str(glaive.db / "t.lance"), data_storage_version=version)
    with pytest.raises(GlaiveError, match="'c'|does not encode struct validity"):
        glaive.write("u", data, "--storage-version", version)
    assert not (glaive.db / "u.lance").exists()
