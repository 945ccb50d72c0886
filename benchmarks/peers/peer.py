"""A job of a peer, in a process of the environment in which the peers are installed."""

import os
import subprocess
import tempfile
from pathlib import Path


def seconds(python: Path, job: str, *sizes: int, absent: tuple[str, ...] = ()) -> float:
    """The number that a job prints last, which is seconds of processor time.

    Args:
        python: Of the peers' environment.
        job: File beside this one.
        sizes: Its arguments.
        absent: Modules that the peer imports, but does not use in this job; they are left empty.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name in absent:
            (Path(folder) / f"{name}.py").write_text("")
        told = subprocess.run(
            [str(python), str(Path(__file__).with_name(job)), *map(str, sizes)],
            check=True,
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONPATH": folder, "OMP_NUM_THREADS": "1"},
        ).stdout
    return float(told.split()[-1])
