#!/usr/bin/env python3
"""Plays rocprofv3 of the version in STAND_IN_SDK: takes its options and no others, runs the program, and
writes one small made-up trace in its form. No GPU is involved: the numbers mean nothing.

STAND_IN_FAULT: "nothing" writes no file, "empty" an empty one, "mute" does not know --version, "slow" takes a
second after Ctrl-C.
"""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

VERSION = tuple(int(part) for part in os.environ.get("STAND_IN_SDK", "1.0.0").split("."))
FAULT = os.environ.get("STAND_IN_FAULT", "")
SINCE = {
    "--hip-trace": (0, 4, 0),
    "--hip-runtime-trace": (0, 4, 0),
    "--kernel-trace": (0, 4, 0),
    "--memory-copy-trace": (0, 4, 0),
    "--marker-trace": (0, 4, 0),
    "--scratch-memory-trace": (0, 4, 0),
    "--runtime-trace": (0, 5, 0),
    "--memory-allocation-trace": (0, 6, 0),
    "--group-by-queue": (1, 0, 0),
    "--kfd-trace": (1, 3, 0),
    "--ompt-trace": (1, 3, 5),
}
WITH_VALUE = ("-d", "--output-directory", "-o", "--output-file", "-f", "--output-format")
FORMATS = ("csv", "json", "pftrace", *(("otf2",) if VERSION >= (0, 5, 0) else ()))
FORMATS += ("rocpd",) if VERSION >= (1, 0, 0) else ()
GRID = [f"{what}_{axis}" for what in ("Workgroup_Size", "Grid_Size") for axis in "XYZ"]
API = ["Domain", "Function", "Process_Id", "Thread_Id", "Correlation_Id", "Start_Timestamp", "End_Timestamp"]
T0 = 5_000_000_000


def main(arguments: list[str]) -> int:
    if arguments == ["--version"]:
        if FAULT == "mute":
            print("rocprofv3: error: unrecognized arguments: --version", file=sys.stderr)
            return 2
        print(f"    version: {'.'.join(map(str, VERSION))}\n    git_revision: 0\n    system_name: Linux")
        return 0
    if "--" not in arguments:
        return refuse("the following arguments are required: --")
    at = arguments.index("--")
    options, program = arguments[:at], arguments[at + 1 :]
    values: dict[str, str] = {}
    while options:
        option = options.pop(0)
        if option in WITH_VALUE:
            values[
                {"--output-format": "-f", "--output-directory": "-d", "--output-file": "-o"}.get(
                    option, option
                )
            ] = options.pop(0)
        elif SINCE.get(option, (99,)) > VERSION:
            return refuse(f"unrecognized arguments: {option}")
    output = values.get("-f", "rocpd" if VERSION >= (1, 0, 0) else "csv")
    if output not in FORMATS:
        return refuse(f"argument -f/--output-format: invalid choice: {output!r}")
    return traced(program, Path(values.get("-d", ".")), values.get("-o", "%hostname%/%pid%"), output)


def refuse(why: str) -> int:
    print(f"rocprofv3: error: {why}", file=sys.stderr)
    return 2


def traced(program: list[str], folder: Path, name: str, output: str) -> int:
    process = subprocess.Popen(program)
    try:
        code = process.wait()
    except KeyboardInterrupt:
        code = process.wait()
        time.sleep(1 if FAULT == "slow" else 0)
    keys = {"pid": str(process.pid), "rank": os.environ.get("RANK", ""), "hostname": "stand-in"}
    base = folder / re.sub(r"%(\w+)%", lambda found: keys[found[1]], name)
    base.parent.mkdir(parents=True, exist_ok=True)
    if FAULT == "empty":
        base.with_name(base.name + "_kernel_trace.csv").touch()
    elif FAULT != "nothing":
        {"csv": write_csv, "json": write_json, "rocpd": write_rocpd}[output](base, process.pid)
    if code < 0:
        os.kill(os.getpid(), -code)
    return code


def write_csv(base: Path, process: int) -> None:
    domain = "HIP_RUNTIME_API_EXT" if VERSION >= (1, 0, 0) else "HIP_RUNTIME_API"
    calls = [
        [domain, "hipLaunchKernel", process, process, 1, T0, T0 + 4_000],
        [domain, "hipStreamSynchronize", process, process, 2, T0 + 5_000, T0 + 90_000],
    ]
    rows(base, "hip_api_trace", API, calls)
    sizes = ["Private_Segment_Size", "Group_Segment_Size"]
    kernel = {"Kind": "KERNEL_DISPATCH", "Agent_Id": "Agent 4" if VERSION >= (1, 0, 0) else 4, "Queue_Id": 1}
    if VERSION >= (1, 0, 0):
        kernel["Stream_Id"] = 3
        sizes = ["LDS_Block_Size", "Scratch_Size", "VGPR_Count", "Accum_VGPR_Count", "SGPR_Count"]
    if VERSION >= (0, 5, 0):
        kernel |= {"Thread_Id": process, "Dispatch_Id": 1}
    kernel |= {"Kernel_Id": 9, "Kernel_Name": "void fill<float, 4>(float*)", "Correlation_Id": 1}
    kernel |= {"Start_Timestamp": T0 + 10_000, "End_Timestamp": T0 + 80_000}
    kernel |= dict.fromkeys([*sizes, *GRID], 1)
    rows(base, "kernel_trace", list(kernel), [list(kernel.values())])
    rows(base, "agent_info", ["Node_Id", "Agent_Type", "Name"], [[4, "GPU", "gfx942"]])


def rows(base: Path, name: str, header: list[str], values: list[list[object]]) -> None:
    with base.with_name(f"{base.name}_{name}.csv").open("w", newline="") as file:
        writer = csv.writer(
            file, quoting=csv.QUOTE_STRINGS if hasattr(csv, "QUOTE_STRINGS") else csv.QUOTE_MINIMAL
        )
        writer.writerow(header)
        writer.writerows(values)


def write_json(base: Path, process: int) -> None:
    correlation = {"internal": 1, "external": 0}
    kinds = [{"kind": "HIP_RUNTIME_API", "operations": ["hipLaunchKernel", "hipStreamSynchronize"]}]
    kinds += [{"kind": "KERNEL_DISPATCH", "operations": ["NONE", "ENQUEUE", "COMPLETE"]}]
    place = {"agent_id": {"handle": 4}, "queue_id": {"handle": 1}, "kernel_id": 9, "dispatch_id": 1}
    tool = {
        "metadata": {"pid": process, "command": ["./app"]},
        "agents": [
            {"id": {"handle": 4}, "type": 2, "node_id": 4, "name": "gfx942", "product_name": "stand-in"}
        ],
        "kernel_symbols": [{"kernel_id": 9, "formatted_kernel_name": "void fill<float, 4>(float*)"}],
        "strings": {"buffer_records": kinds},
        "buffer_records": {
            "hip_api": [
                {
                    "size": 1,
                    "kind": 0,
                    "operation": 0,
                    "correlation_id": correlation,
                    "thread_id": process,
                    "start_timestamp": T0,
                    "end_timestamp": T0 + 4_000,
                }
            ],
            "kernel_dispatch": [
                {
                    "size": 1,
                    "kind": 1,
                    "operation": 2,
                    "correlation_id": correlation,
                    "thread_id": process,
                    "start_timestamp": T0 + 10_000,
                    "end_timestamp": T0 + 80_000,
                    "dispatch_info": place,
                }
            ],
            "memory_copy": [],
            "marker_api": [],
        },
    }
    base.with_name(f"{base.name}_results.json").write_text(json.dumps({"rocprofiler-sdk-tool": [tool]}))


def write_rocpd(base: Path, process: int) -> None:
    from overlap_lab.capture import rocpd_writer as rocpd

    rocpd.write_rocpd(
        rocpd.Recording(
            process=process,
            command="./app",
            device="stand-in",
            calls=(
                rocpd.ApiCall("hipLaunchKernel", T0, T0 + 4_000, process, 1),
                rocpd.ApiCall("hipStreamSynchronize", T0 + 5_000, T0 + 90_000, process, 2),
            ),
            ops=(
                rocpd.DeviceOp("void fill<float, 4>(float*)", T0 + 10_000, T0 + 80_000, process, 1, stream=3),
            ),
            ranges=(),
            streams=(rocpd.Stream(3),),
        ),
        base.with_name(f"{base.name}_results.db"),
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
