"""Writes in several parts (rest-protocol 7.5 and 16 item 15)."""
import threading

import lance
import lancedb
import pyarrow as pa
import pytest
from conftest import STABLE
from served import Served

ARROW = {"content-type": "application/vnd.apache.arrow.stream"}
T = "/v1/table/t/"


def stream(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def rows(*ids):
    return pa.table({"id": pa.array(ids, pa.int64())})


@pytest.fixture
def served(db, lancedb40):
    lancedb40.create_table("t", rows(0), storage_options=STABLE)
    server = Served(db)
    yield server
    server.stop()


def begin(served):
    return served.ok(T + "multipart_write/create")["upload_id"]


def part(served, upload, name, table, more=""):
    return served.call(f"{T}insert/?upload_id={upload}&upload_part_id={name}{more}", stream(table), headers=ARROW)


def complete(served, upload):
    return served.ok(f"{T}multipart_write/complete?upload_id={upload}")


def ids(db):
    return lance.dataset(str(db / "t.lance")).to_table()["id"].to_pylist()


def test_one_commit(served, db):
    upload = begin(served)
    assert part(served, upload, "a", rows(1, 2))[0] == 200
    assert part(served, upload, "b", rows(3))[0] == 200
    assert part(served, upload, "b", rows(4))[0] == 200  # sent again: replaced
    assert ids(db) == [0]
    done = complete(served, upload)
    assert (done["version"], done["num_inserted_rows"]) == (2, 3)
    assert ids(db) == [0, 1, 2, 4]
    assert complete(served, upload)["version"] == 2  # repeated
    assert lance.dataset(str(db / "t.lance")).version == 2
    assert part(served, upload, "c", rows(5))[0] == 404


def test_overwrite_and_abort(served, db):
    upload = begin(served)
    part(served, upload, "a", rows(7))
    part(served, upload, "b", rows(8), "&mode=overwrite")
    assert complete(served, upload)["version"] == 2
    assert ids(db) == [7, 8]
    upload = begin(served)
    part(served, upload, "a", rows(9))
    served.ok(f"{T}multipart_write/abort?upload_id={upload}")
    served.refused(404, 10, f"{T}multipart_write/complete?upload_id={upload}")
    assert ids(db) == [7, 8] and lance.dataset(str(db / "t.lance")).version == 2


def test_what_is_refused(served, db, lancedb40):
    lancedb40.create_table("u", rows(0))
    upload = begin(served)
    served.refused(404, 10, f"{T}multipart_write/complete?upload_id=nobody")
    served.refused(404, 10, f"/v1/table/u/multipart_write/complete?upload_id={upload}")
    served.refused(404, 4, "/v1/table/nobody/multipart_write/create")
    served.refused(400, 13, f"{T}multipart_write/complete")
    served.refused(400, 13, f"{T}multipart_write/complete?upload_id={upload}")  # no parts
    served.refused(400, 13, f"{T}insert/?upload_id={upload}", stream(rows(1)), headers=ARROW)
    served.refused(400, 13, f"{T}insert/?upload_id={upload}&upload_part_id=a", stream(rows(1))[:-20], headers=ARROW)
    part(served, upload, "a", rows(1))
    part(served, upload, "b", pa.table({"other": [1]}))
    served.refused(400, 13, f"{T}multipart_write/complete?upload_id={upload}")
    assert ids(db) == [0]


def test_parts_at_once(served, db):
    upload = begin(served)
    threads = [threading.Thread(target=part, args=(served, upload, f"p{i}", rows(*range(10 * i + 1, 10 * i + 11)))) for i in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert complete(served, upload)["num_inserted_rows"] == 120
    assert sorted(ids(db)) == list(range(121))


def test_lancedb_writes_in_parts(served, db):
    import asyncio

    async def go():
        remote = await lancedb.connect_async("db://x", api_key="k", host_override=served.url)
        table = await remote.open_table("t")
        await table.add(pa.table({"id": pa.array(range(1, 5001), pa.int64())}), write_parallelism=3)
        return await table.count_rows()

    assert asyncio.run(go()) == 5001


def test_parts_do_not_outlive_the_server(db, lancedb40):
    lancedb40.create_table("t", rows(0), storage_options=STABLE)
    served = Served(db)
    upload = begin(served)
    part(served, upload, "a", rows(1))
    served.kill()
    served.start()
    served.refused(404, 10, f"{T}multipart_write/complete?upload_id={upload}")
    assert [p.name for p in (db / ".glaive").iterdir() if p.name.startswith("part")] == []
    served.stop()


def test_completion_as_a_job(served, db):
    def run(upload):
        return served.wait(served.ok(f"{T}multipart_write/complete?upload_id={upload}&background=true")["job_id"])

    upload = begin(served)
    part(served, upload, "a", rows(1, 2))
    part(served, upload, "b", rows(3))
    job = run(upload)
    assert (job["job_type"], job["job_state"], job["spec"], job["table"]) == ("import", "DONE", {"upload_id": upload}, "t"), job
    assert job["result"] == {"version": 2, "num_inserted_rows": 3} and ids(db) == [0, 1, 2, 3]
    assert complete(served, upload)["version"] == 2 and run(upload)["result"]["version"] == 2  # repeated, in either way
    upload = begin(served)
    part(served, upload, "a", pa.table({"other": [1]}))
    job = run(upload)
    assert job["job_state"] == "FAILED" and "other" in job["failure"]["message"], job
    served.refused(404, 10, f"{T}multipart_write/complete?upload_id=nobody&background=true")
    assert ids(db) == [0, 1, 2, 3]
