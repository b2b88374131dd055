"""The official Node client, 0.39, against the server."""
import os
import pathlib
import shutil
import subprocess

import pytest
from conftest import ROOT
from served import Served

PACKAGE = ROOT / ".cache/node39/node_modules/@lancedb/lancedb/dist/index.js"
DRIVER = pathlib.Path(os.environ.get("GLAIVE_CASES", ROOT.parent / "shared/cases")).parent / "tools/rest/driver_node.mjs"
LATER = {"query": "the building of indexes", "versions": "branch"}  # what these stop at


@pytest.mark.skipif(shutil.which("node") is None or not PACKAGE.exists() or not DRIVER.exists(), reason="no Node client, or no driver")
def test_the_driver_of_the_node_client(db):
    served = Served(db)
    run = subprocess.run(["node", DRIVER, served.url], env={**os.environ, "LANCEDB_JS": str(PACKAGE)}, capture_output=True, text=True, timeout=120)
    served.stop()
    lines = [line for line in run.stdout.splitlines() if line.startswith(("PASS", "FAIL"))]
    for line in lines:
        name = line.split()[1]
        assert line.startswith("PASS") or ("501" in line and LATER[name] in line), line
    assert {line.split()[1] for line in lines if line.startswith("PASS")} >= {"tables", "namespaces", "jobs"}, run.stdout + run.stderr
