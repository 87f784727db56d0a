"""The lease on a file, where a process is forked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FORK = """
import os, sys
from pathlib import Path
from toolgen.runtime.stores.lease import Lease

mine = Lease(Path(sys.argv[1]))
assert mine.acquire()
gate, open_gate = os.pipe()
told, tell = os.pipe()
if os.fork() == 0:
    os.write(tell, b"y" if mine.acquire() else b"n")
    os.close(open_gate)
    os.read(gate, 1)
    os._exit(0)
assert os.read(told, 1) == b"n", "the child has the lease too"
assert mine.acquire()
mine.release()
assert Lease(Path(sys.argv[1])).acquire(), "the child keeps the lease of its parent"
os.close(open_gate)
os.wait()
"""


def test_a_forked_process_neither_has_nor_keeps_the_lease_of_its_parent(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", FORK, str(tmp_path / "lock")], check=True)
