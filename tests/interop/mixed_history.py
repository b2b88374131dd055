"""Histories of a source table of which Glaive makes a part and LanceDB and pylance the rest, operation by operation."""
import capi
import pyarrow as pa
from conftest import STABLE
from source_history import History


class Merge:
    """The builder of a merge; execute() runs it on the engine that was chosen."""

    def __init__(self, table, key):
        self.table, self.key, self.flags = table, key, 0

    def when_matched_update_all(self):
        self.flags |= capi.MERGE_UPDATE
        return self

    def when_not_matched_insert_all(self):
        self.flags |= capi.MERGE_INSERT
        return self

    def when_not_matched_by_source_delete(self):
        self.flags |= capi.MERGE_DELETE
        return self

    def execute(self, rows):
        if self.table.ours_is_next():
            self.table.by_us("merge", rows, [self.key], self.flags)
            return
        builder = self.table.theirs.merge_insert(self.key)
        for flag, name in ((capi.MERGE_UPDATE, "when_matched_update_all"), (capi.MERGE_INSERT, "when_not_matched_insert_all"),
                           (capi.MERGE_DELETE, "when_not_matched_by_source_delete")):
            if self.flags & flag:
                builder = getattr(builder, name)()
        builder.execute(rows)


class MixedTable:
    """A table of LanceDB whose changes are made by Glaive or LanceDB at random; what only the peer can do, it does."""

    def __init__(self, theirs, parts, ours, random, part=0.5):
        self.theirs, self.parts, self.ours, self.random, self.part = theirs, parts, ours, random, part
        self.writers = []

    def __getattr__(self, name):
        return getattr(self.theirs, name)

    def ours_is_next(self):
        ours = self.random.random() < self.part
        self.writers.append("g" if ours else "l")
        return ours

    def by_us(self, operation, *arguments):
        try:
            with capi.Table(self.ours, self.parts) as table:
                getattr(table, operation)(*arguments)
        finally:
            self.theirs.checkout_latest()

    def add(self, rows, mode="append"):
        if self.ours_is_next():
            self.by_us(mode, rows)
        else:
            self.theirs.add(rows, mode=mode)

    def delete(self, where):
        if self.ours_is_next():
            self.by_us("delete", where)
        else:
            self.theirs.delete(where)

    def update(self, where, values_sql):
        if self.ours_is_next():
            self.by_us("update", values_sql, where)
        else:
            self.theirs.update(where=where, values_sql=values_sql)

    def merge_insert(self, key):
        return Merge(self, key)

    def add_columns(self, columns):
        if not self.ours_is_next():
            self.theirs.add_columns(columns)
        elif isinstance(columns, dict):
            self.by_us("add_columns", columns)
        else:
            self.by_us("add_null_columns", pa.schema([columns]) if isinstance(columns, pa.Field) else columns)

    def alter_columns(self, *changes):
        if self.ours_is_next():
            self.by_us("alter_columns", [{k: str(v) for k, v in change.items()} for change in changes])
        else:
            self.theirs.alter_columns(*changes)

    def drop_columns(self, names):
        if self.ours_is_next():
            self.by_us("drop_columns", names)
        else:
            self.theirs.drop_columns(names)

    def optimize(self, **options):
        if self.ours_is_next():
            self.by_us("compact")
        else:
            self.theirs.optimize(**options)

    def restore(self, version):
        if self.ours_is_next():
            self.by_us("restore", version)
        else:
            self.theirs.restore(version)


class MixedHistory(History):
    def __init__(self, db, connection, seed, ours, namespace=()):
        super().__init__(db, connection, seed, namespace=namespace)
        self.connection, self.namespace = connection, namespace
        self.table = MixedTable(self.table, [*namespace, "t"], ours, self.random)

    def update_fresh(self):
        """Rows that no view has seen yet are updated, and one of them is deleted."""
        self.append()
        self.append()
        self.table.update(where=f"k > {self.next_key - 4}", values_sql={"x": "x + 50", "y": "y + 1"})
        self.table.delete(f"k = {self.next_key - 1}")

    def recreate(self):
        schema = pa.schema([pa.field(n, t) for n, t in self.columns])
        rows, ours = self.rows(schema, self.new_keys(5)), self.table.ours
        where = {"namespace_path": list(self.namespace)} if self.namespace else {}
        if self.table.ours_is_next():
            ours.drop(self.table.parts)
        else:
            self.connection.drop_table("t", **where)
        if self.table.ours_is_next():
            ours.create(self.table.parts, rows)
            self.table.theirs = self.connection.open_table("t", **where)
        else:
            self.table.theirs = self.connection.create_table("t", rows, storage_options=STABLE, **where)
        self.path = self.table.to_lance().uri
        self.extra = []

    def config(self):
        if self.table.ours_is_next():
            self.table.ours.set_metadata(self.table.parts, "config", {"a.b": str(self.count)})
            self.table.checkout_latest()
        else:
            super().config()

    OPERATIONS = [*(o for o in History.OPERATIONS if o is not History.config), update_fresh, update_fresh, recreate, config]

    def step(self):
        self.table.writers.clear()
        return f"{super().step()}:{''.join(self.table.writers)}"
