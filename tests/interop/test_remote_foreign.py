"""The client against a server of another kind: the REST server of the tools that GLAIVE_REST_TOOLS names, over LanceDB."""
import ctypes as c
import os
import pathlib
import re
import subprocess
import sys

import pyarrow as pa
import pytest

import capi
from every_type import every_type_table

TOOLS = os.environ.get("GLAIVE_REST_TOOLS")
pytestmark = pytest.mark.skipif(TOOLS is None, reason="GLAIVE_REST_TOOLS names no directory with recording_server.py")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    root = tmp_path_factory.mktemp("foreign")
    program = [sys.executable, str(pathlib.Path(TOOLS) / "recording_server.py"), "--port", "0", "--root", str(root), "--log",
               str(root / "log")]
    process = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
    yield re.search(r"http://\S+", process.stdout.readline())[0]
    process.terminate()
    process.wait()


@pytest.fixture
def connection(server):
    opened = capi.Connection(server)
    yield opened
    opened.close()


def scan(connection, name):
    return connection.scan([name]).read_all()
