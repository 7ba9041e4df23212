"""Ctrl-C at any moment: the command ends before its work is done, says one word, leaves no half of a file.

How soon it ends is a matter of the machine: scripts/measure_interrupts.py says it of a quiet one (200 ms).
"""

from __future__ import annotations

import gzip
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.end_to_end.small_trace import write_small_trace

ROWS = 160_000
HANGS_S = 120
"""A guard against an endless wait only: no machine is so busy."""
ATTEMPTS = 8
EARLIER = 0.6
"""A command that was over before its interrupt runs again and is interrupted earlier, at last near 0."""
SCRIPT = """
import sys
from overlap_lab.cli import main
print("ready", flush=True)
sys.exit(main())
"""
CALL = (
    '{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":7,"ts":{0},"dur":5,'
    '"args":{{"correlation":{0}}}}},'
    '{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{0},"dur":3,'
    '"args":{{"correlation":{0},"device":0,"stream":7}}}}'
)


EARLY = """
import os, sys
class Import:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            os.kill(os.getpid(), 2)
sys.meta_path.insert(0, Import())
from overlap_lab.__main__ import main
sys.exit(main())
"""
"""An interrupt while a module is imported."""
LAST = """
import os, signal, sys
from overlap_lab.__main__ import main
ignore = signal.signal
def interrupted_first(number, handler):
    if handler is signal.SIG_IGN and signal.getsignal(number) is not handler:
        signal.signal = ignore
        os.kill(os.getpid(), number)
    return ignore(number, handler)
signal.signal = interrupted_first
sys.exit(main())
"""
"""An interrupt when all is written, a step before interrupts are ignored."""


def kineto(folder: Path) -> Path:
    path = folder / "a.json"
    events = ",".join(CALL.format(10 * n) for n in range(1, ROWS // 2))
    path.write_text(f'{{"schemaVersion":1,"traceEvents":[{events}]}}')
    return path


def packed(folder: Path) -> Path:
    path = folder / "a.json.gz"
    path.write_bytes(gzip.compress(kineto(folder).read_bytes(), 1))
    return path


def csv(folder: Path) -> Path:
    path = folder / "7_hip_api_trace.csv"
    rows = "".join(f"HIP,hipLaunchKernel,7,8,{n},{1_000 * n},{1_000 * n + 500}\n" for n in range(1, ROWS))
    header = "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp\n"
    path.write_text(header + rows)
    return path


def sdk_json(folder: Path) -> Path:
    path = folder / "7_results.json"
    record = (
        '{{"size":72,"kind":11,"operation":0,"thread_id":8,"correlation_id":{{"internal":{0},"external":0}},'
        '"start_timestamp":{0}000,"end_timestamp":{0}500,"dispatch_info":{{"agent_id":{{"handle":1}},'
        '"queue_id":{{"handle":1}},"kernel_id":1}}}}'
    )
    records = ",".join(record.format(n) for n in range(1, ROWS // 2))
    path.write_text(
        '{"rocprofiler-sdk-tool":[{"metadata":{"pid":7},"agents":[],"strings":{},"kernel_symbols":[],'
        f'"buffer_records":{{"kernel_dispatch":[{records}]}}}}]}}'
    )
    return path


def nsys(folder: Path) -> Path:
    path = folder / "a.sqlite"
    numbers = f"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {ROWS // 2})"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
        database.execute("INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'k')")
        database.execute(
            f"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME AS {numbers} SELECT n * 1000 AS start, n * 1000 + 500 "
            "AS end, 0 AS eventClass, 281474976710663 AS globalTid, n AS correlationId, 1 AS nameId, "
            "0 AS returnValue FROM c"
        )
        database.execute(
            f"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL AS {numbers} SELECT n * 1000 + 600 AS start, "
            "n * 1000 + 900 AS end, 0 AS deviceId, 1 AS contextId, 7 AS streamId, n AS correlationId, "
            "281474976710656 AS globalPid, 2 AS demangledName, 2 AS shortName FROM c"
        )
    database.close()
    return path


def long_header(folder: Path) -> Path:
    """Events within another list of the header, which is checked in one call."""
    path = kineto(folder)
    text = path.read_text()
    events = text[text.index("[") : -1]
    path.write_text(f'{{"deviceProperties":[{events}],"traceEvents":{events}}}')
    return path


def rocpd(folder: Path) -> Path:
    from tests.unit.loaders.rocpd_file import GUID, one_process, write_tables

    path = folder / "a.db"
    write_tables(path, GUID, one_process())
    suffix = GUID.replace("-", "_")
    with sqlite3.connect(path) as database:
        for _ in range(17):  # doubled each time
            database.execute(f"INSERT INTO rocpd_region_{suffix} SELECT * FROM rocpd_region_{suffix}")
    database.close()
    return path


def saved(folder: Path) -> Path:
    pytest.importorskip("pyarrow")
    from overlap_lab.loaders import load

    return load(csv(folder)).save(folder / "a.arrow")


WRITERS: tuple[Callable[[Path], Path], ...] = (kineto, long_header, packed, csv, sdk_json, nsys, rocpd, saved)


@pytest.fixture(scope="module", params=WRITERS, ids=lambda writer: writer.__name__)
def trace(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = request.param(tmp_path_factory.mktemp("large"))
    return path


@pytest.mark.parametrize(
    "module", ["signal", "overlap_lab.cli", "argparse", "numpy", "overlap_lab.cli.analyze"]
)
def test_an_interrupt_of_the_start_is_one_word_too(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", EARLY, module, "analyze"],
        capture_output=True,
        text=True,
        timeout=HANGS_S,
        check=False,
    )
    assert (done.returncode, done.stderr, done.stdout) == (130, "overlap-lab: interrupted\n", "")


LATE = """
import os, sys
late = sys.argv.pop(1)
class Import:
    def find_spec(self, name, path=None, target=None):
        if name == late:
            sys.meta_path.remove(self)
            INTERRUPT
sys.meta_path.insert(0, Import())
from overlap_lab.cli import main
sys.exit(main())
"""
INTO_A_CLASS = """class Value:
                def __set_name__(self, owner, name):
                    os.kill(os.getpid(), 2)
            class Owner:
                value = Value()"""
INTO_AN_IMPORT_ERROR = """try:
                os.kill(os.getpid(), 2)
            except BaseException:
                pass
            raise ImportError(name)"""


@pytest.mark.parametrize("interrupt", [INTO_A_CLASS, INTO_AN_IMPORT_ERROR], ids=["class", "import"])
def test_an_interrupt_that_became_another_exception_is_one_word_too(interrupt: str, tmp_path: Path) -> None:
    """As it does in what a verb imports for itself: RuntimeError while a class is made, for one."""
    trace = write_small_trace(tmp_path / "trace.json")
    script = LATE.replace("INTERRUPT", interrupt)
    done = subprocess.run(
        [sys.executable, "-c", script, "overlap_lab.render.costs", "analyze", str(trace)],
        capture_output=True,
        text=True,
        timeout=HANGS_S,
        check=False,
    )
    assert (done.returncode, done.stderr, done.stdout) == (130, "overlap-lab: interrupted\n", "")


@pytest.fixture(scope="module")
def whole_s(trace: Path, tmp_path_factory: pytest.TempPathFactory) -> float:
    """How long the command takes on this machine, from the moment on that it can be interrupted."""
    with analyzing(trace, tmp_path_factory.mktemp("whole")) as process:
        begun = time.perf_counter()
        process.communicate(timeout=HANGS_S)
    assert process.returncode == 0
    return time.perf_counter() - begun


@contextmanager
def analyzing(trace: Path, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """The command, from the moment on that it can be interrupted."""
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, "analyze", str(trace), "--json", "report.json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process


@pytest.mark.parametrize("share", [0.1, 0.4, 0.7])
def test_an_interrupt_ends_the_command_with_one_word(
    trace: Path, whole_s: float, share: float, tmp_path: Path
) -> None:
    for attempt in range(ATTEMPTS):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        with analyzing(trace, folder) as process:
            time.sleep(share * whole_s * EARLIER**attempt)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=HANGS_S)
        if process.returncode != 0 and not out:  # nothing is printed before all work is done
            break
        assert {path.name for path in folder.iterdir()} <= {"report.json"}
    assert (process.returncode, err, out) == (130, "overlap-lab: interrupted\n", "")
    assert list(folder.iterdir()) == []


def test_an_interrupt_after_the_end_changes_no_exit_code(tmp_path: Path) -> None:
    trace = write_small_trace(tmp_path / "trace.json")
    script = (
        "import atexit, os, signal, sys\n"
        "from overlap_lab.__main__ import main\n"
        "atexit.register(os.kill, os.getpid(), signal.SIGINT)\n"
        "sys.exit(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "analyze", str(trace)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_an_interrupt_when_all_is_written_changes_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LAST, "explain", "refill"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "refill" in done.stdout
