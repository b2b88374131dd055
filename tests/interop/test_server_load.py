"""The short form of bench/load.py: no request of many clients fails."""
import shutil
import subprocess
import sys

import pytest
from conftest import PROGRAM, ROOT


@pytest.mark.skipif(shutil.which("wrk") is None, reason="wrk is not there")
def test_many_clients():
    run = subprocess.run([sys.executable, ROOT / "bench/load.py", "--connections", "32", "--seconds", "4", "--warm-up", "4", "--rows", "5000",
                          "--growth", "0.5"], env={"GLAIVE_PROGRAM": str(PROGRAM), "PATH": "/usr/bin:/bin"}, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "requests/s" in run.stdout
