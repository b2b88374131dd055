"""Every file of the indexes of a LanceDB table is a Lance data file: made into a table of its own, each reads as pylance reads
it (lance-file-format 19)."""
import shutil

import lance
import numpy
import pyarrow as pa
import pytest
from lance.file import LanceFileReader

ROWS = 2000


@pytest.fixture(scope="module")
def index_files(tmp_path_factory):
    """B-tree, bitmap, full text with positions, IVF_PQ."""
    import lancedb
    from lancedb.index import BTree, Bitmap, FTS, IvfPq

    path = tmp_path_factory.mktemp("indexed")
    vectors = pa.array(numpy.random.default_rng(1).random(ROWS * 16, dtype=numpy.float32))
    table = lancedb.connect(path).create_table("t", pa.table({
        "id": pa.array(range(ROWS)),
        "kind": pa.array([f"kind {i % 5}" for i in range(ROWS)]),
        "words": pa.array([f"word{i % 50} other{i % 7}" for i in range(ROWS)]),
        "vector": pa.FixedSizeListArray.from_arrays(vectors, 16)}))
    for column, config in [("id", BTree()), ("kind", Bitmap()), ("words", FTS(with_position=True)),
                           ("vector", IvfPq(num_partitions=4, num_sub_vectors=4))]:
        table.create_index(column, config=config)
    return sorted(f for f in path.glob("t.lance/_indices/*/*") if f.suffix in (".lance", ".idx"))


def leaves(fields, next_id=0):
    """(ids of the leaves in pre-order, the id after the last field)."""
    found = []
    for field in fields:
        own, next_id = next_id, next_id + 1
        children = [] if pa.types.is_fixed_size_list(field.type) else [field.type.field(i) for i in range(field.type.num_fields)]
        below, next_id = leaves(children, next_id)
        found += below or [own]
    return found, next_id


def test_index_files_are_read(glaive, index_files):
    kinds = set()
    for number, source in enumerate(index_files):
        reader = LanceFileReader(str(source))
        meta = reader.metadata()
        if meta.num_rows == 0:
            continue
        home = glaive.db / f"f{number}.lance"
        (home / "data").mkdir(parents=True)
        shutil.copy(source, home / "data" / "file.lance")
        ids, _ = leaves(meta.schema)
        file = lance.fragment.DataFile("file.lance", ids, list(range(len(ids))), meta.major_version, meta.minor_version, source.stat().st_size)
        fragment = lance.FragmentMetadata(id=0, files=[file], physical_rows=meta.num_rows, deletion_file=None, row_id_meta=None)
        schema = meta.schema.remove_metadata()
        lance.LanceDataset.commit(str(home), lance.LanceOperation.Overwrite(schema, [fragment]))
        wanted = reader.read_all().to_table().replace_schema_metadata(None)
        found = glaive.read(f"f{number}").replace_schema_metadata(None)
        assert found.num_rows == meta.num_rows > 0
        for name in wanted.column_names:
            assert found[name].combine_chunks().equals(wanted[name].combine_chunks()), (source.name, name)
        kinds.add(source.name)
    assert {"page_data.lance", "page_lookup.lance", "auxiliary.idx", "metadata.lance"} <= kinds and len(kinds) >= 7, kinds
