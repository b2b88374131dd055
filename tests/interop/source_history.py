"""Random histories of a source table: the 27 kinds of operation of materialized-views 7.4, made by LanceDB 0.40 and pylance
(mixed_history.py: and by Glaive).

A History is deterministic in its seed. step() performs one operation at random and returns its name; operations that the
engines refuse in the present state are skipped.
"""
import datetime
import random
import re

import capi
import lance
import lance.file
import pyarrow as pa
from conftest import STABLE

INT = pa.int32()
STRUCT = pa.struct([("a", INT), ("b", INT)])
#: the only thing that Glaive may refuse in a history: a column that is not there, after a restore or half a swap
ABSENT = re.compile(r"no (?:column|field named) '?(\w+)", re.IGNORECASE)
COLUMNS = [("k", INT), ("x", INT), ("y", INT), ("s", STRUCT), ("l", pa.list_(INT))]


class History:
    def __init__(self, db, connection, seed, namespace=()):
        self.seed = seed
        self.random = random.Random(seed)
        self.columns = COLUMNS[:]
        self.random.shuffle(self.columns)
        self.next_key = 100
        self.extra = []
        self.count = 0
        fields = pa.schema([pa.field(n, t) for n, t in self.columns])
        where = {"namespace_path": list(namespace)} if namespace else {}
        self.table = connection.create_table("t", self.rows(fields, list(range(12))), storage_options=STABLE, **where)
        self.path = self.table.to_lance().uri if namespace else str(db / "t.lance")
        if self.random.random() < 0.4:  # x in a data file of its own
            self.table.drop_columns(["x"])
            self.table.add_columns({"x": "cast(k * 3 as int)"})

    def value(self, kind):
        if pa.types.is_struct(kind):
            return {f.name: self.random.randrange(100) for f in kind}
        if pa.types.is_list(kind):
            return None if self.chance(0.2) else [self.random.randrange(100) for _ in range(self.random.randrange(4))]
        return self.random.randrange(100)

    def rows(self, schema, keys):
        columns = [pa.array(keys if f.name == "k" else [self.value(f.type) for _ in keys], f.type) for f in schema]
        return pa.table(columns, schema=schema)

    def keys(self, count):
        return [r["k"] for r in self.table.to_arrow().to_pylist()][:count]

    def new_keys(self, count):
        self.next_key += count
        return list(range(self.next_key - count, self.next_key))

    def names(self):
        return [f.name for f in self.table.schema]

    def chance(self, part):
        return self.random.random() < part

    # ---- rows ----

    def append(self):
        self.table.add(self.rows(self.table.schema, self.new_keys(self.random.randrange(1, 5))))

    def update(self):
        where = f"k % {self.random.choice([2, 3, 5])} = 0"
        self.table.update(where=where, values_sql={"x": "x + 1"})

    def delete(self):
        self.table.delete(f"k % 7 = {self.random.randrange(7)}")

    def upsert(self):
        rows = self.rows(self.table.schema, self.keys(2) + self.new_keys(1))
        self.table.merge_insert("k").when_matched_update_all().when_not_matched_insert_all().execute(rows)

    def delete_by_source(self):
        rows = self.table.to_arrow()
        rows = rows.slice(0, len(rows) - 1)
        if len(rows) > 1:
            self.table.merge_insert("k").when_not_matched_by_source_delete().execute(rows)

    def partial(self, column):
        keys = self.keys(3)
        values = pa.array([self.random.randrange(500, 900) for _ in keys], self.table.schema.field(column).type)
        self.table.merge_insert("k").when_matched_update_all().execute(pa.table({"k": pa.array(keys, INT), column: values}))

    def partial_read(self):
        self.partial("x")

    def partial_unread(self):
        self.partial("y")

    # ---- columns in place ----

    def update_in_place(self):
        """pylance's update_columns with and without the offsets of the rows."""
        dataset = lance.dataset(self.path)
        part = self.random.choice(dataset.get_fragments())
        keys = [r["k"] for r in part.scanner(columns=["k"]).to_table().to_pylist()][:3]
        values = pa.array([self.random.randrange(500, 900) for _ in keys], self.table.schema.field("x").type)
        data = pa.table({"k": pa.array(keys, INT), "x": values})
        if self.chance(0.5):
            changed, fields = part.update_columns(data, left_on="k", right_on="k")
            operation = lance.LanceOperation.Update(updated_fragments=[changed], fields_modified=fields)
        else:
            changed, fields, offsets = part.update_columns(data, left_on="k", right_on="k", with_offsets=True)
            operation = lance.LanceOperation.Update(updated_fragments=[changed], fields_modified=fields,
                                                    update_mode="rewrite_columns",
                                                    updated_fragment_offsets={part.fragment_id: offsets})
        lance.LanceDataset.commit(self.path, operation, read_version=dataset.version)
        self.table.checkout_latest()

    def update_in_place_then_compact(self):
        self.update_in_place()
        self.table.delete("k % 5 = 1")
        self.compact()

    def update_in_place_then_null(self):
        self.update_in_place()
        self.readd(["x"], 0.3)

    def replace_file(self):
        if "x" not in self.names():
            return
        dataset = lance.dataset(self.path)
        part = self.random.choice(dataset.get_fragments())
        field = dataset.lance_schema.field("x").id()
        old = next((f for f in part.metadata.files if field in f.fields), None)
        if old is None or len([f for f in old.fields if f >= 0]) != 1:
            return
        rows = part.metadata.physical_rows
        values = pa.table({"x": pa.array([self.random.randrange(500, 900) for _ in range(rows)], self.table.schema.field("x").type)})
        name = f"replaced{self.count}.lance"
        with lance.file.LanceFileWriter(f"{self.path}/data/{name}", values.schema) as writer:
            writer.write_batch(values)
        new = lance.fragment.DataFile(name, [field], [0], old.file_major_version, old.file_minor_version)
        group = lance.LanceOperation.DataReplacementGroup(part.fragment_id, new)
        lance.LanceDataset.commit(self.path, lance.LanceOperation.DataReplacement([group]), read_version=dataset.version)
        self.table.checkout_latest()

    # ---- schema ----

    def add_by_expression(self):
        name = f"e{self.count}"
        self.table.add_columns({name: "x + 1"})
        self.extra.append(name)

    def add_null(self):
        name = f"n{self.count}"
        self.add_null_column(name)
        self.extra.append(name)

    def add_null_column(self, name):
        self.table.add_columns(pa.field(name, INT))

    def cast(self, name, kind):
        self.table.alter_columns({"path": name, "data_type": kind})

    def drop(self):
        if self.extra:
            self.table.drop_columns([self.extra.pop()])

    def readd(self, names, compact):
        self.table.drop_columns(names)
        if self.chance(compact):
            self.compact()
        for name in names:
            if name in ("x", "y"):
                self.add_null_column(name)

    def readd_null(self):
        self.readd(["x"], 0.8)

    def readd_two_null(self):
        names = ["x", "y"] if self.chance(0.6) else ["y", "x"]
        extra, self.extra = self.extra, []
        self.readd(names + extra, 0.8)

    def readd_by_expression(self):
        self.table.drop_columns(["x"])
        if self.chance(0.7):
            self.compact()
        self.table.add_columns({"x": "cast(k * 2 as int)"})

    def partial_then_null(self):
        self.partial_read()
        self.readd(["x"], 0.4)

    def cast_unread(self):
        if self.extra:
            self.cast(self.extra[-1], pa.int64())

    def cast_read(self):
        self.cast("x", pa.int64())
        if self.chance(0.5):
            self.compact()
        if self.chance(0.9):
            self.cast("x", INT)

    def swap(self):
        self.table.alter_columns({"path": "x", "rename": "zz"})
        if self.chance(0.3):
            self.compact()
        self.table.alter_columns({"path": "y", "rename": "x"}, {"path": "zz", "rename": "y"})

    def swap_children(self):
        for old, new in (("s.a", "zz"), ("s.b", "a"), ("s.zz", "b")):
            self.table.alter_columns({"path": old, "rename": new})

    # ---- the whole table ----

    def compact(self):
        if self.chance(0.5):
            self.table.optimize(cleanup_older_than=datetime.timedelta(days=30))
        else:
            lance.dataset(self.path).optimize.compact_files()
            self.table.checkout_latest()

    def restore(self):
        self.table.restore(self.random.randrange(1, self.table.version + 1))
        self.extra = [n for n in self.names() if n not in dict(COLUMNS)]

    def overwrite(self):
        schema = self.table.schema if self.chance(0.6) else pa.schema([pa.field(n, t) for n, t in self.columns])
        self.table.add(self.rows(schema, self.new_keys(2)), mode="overwrite")
        self.extra = [n for n in self.names() if n not in dict(COLUMNS)]

    def index(self):
        self.table.create_scalar_index("k", replace=True)

    def config(self):
        lance.dataset(self.path).update_config({"a.b": str(self.count)})
        self.table.checkout_latest()

    OPERATIONS = [append, append, update, update, delete, upsert, delete_by_source, partial_read, partial_unread, update_in_place,
                  update_in_place, update_in_place_then_compact, update_in_place_then_null, replace_file, add_by_expression,
                  add_null, drop, readd_null, readd_two_null, readd_by_expression, partial_then_null, cast_unread, cast_read,
                  swap, swap_children, compact, compact, restore, overwrite, index, config]

    def step(self):
        self.count += 1
        operation = self.random.choice(self.OPERATIONS)
        try:
            operation(self)
        except Exception as error:  # refused by the engine in this state
            if isinstance(error, (AssertionError, AttributeError, TypeError, NameError)):
                raise
            self.table.checkout_latest()
            if isinstance(error, capi.Failed):
                column = ABSENT.search(str(error))
                assert column and column[1] not in self.names(), (operation.__name__, error)
            self.repair()
            return f"({operation.__name__}: {str(error)[:60]})"
        return operation.__name__

    def repair(self):
        """The columns that the views read are there again."""
        self.table.checkout_latest()
        if "zz" in self.names():
            self.table.drop_columns(["zz"])
        for name in ("x", "y"):
            if name not in self.names():
                self.table.add_columns(pa.field(name, INT))
        fields = [f.name for f in self.table.schema.field("s").type]
        if "zz" in fields:
            self.table.alter_columns({"path": "s.zz", "rename": "a" if "a" not in fields else "b"})
