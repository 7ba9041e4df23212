from __future__ import annotations

import pytest

from overlap_lab.metrics.python_frames import frame_in


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("train.py(88): step", ("train.py", 88, "step")),
        ("/runs (copy)/train.py(88): <lambda>", ("/runs (copy)/train.py", 88, "<lambda>")),
        ("bin/train(7): main", ("bin/train", 7, "main")),
        ("runs/train.py(88)", ("runs/train.py", 88, "")),
    ],
)
def test_a_frame_leads_to_file_line_and_function(name: str, place: tuple[str, int, str]) -> None:
    frame = frame_in(name)
    assert frame is not None
    assert (frame.file, frame.line, frame.function) == place


@pytest.mark.parametrize(
    "name",
    [
        "<built-in method item of Tensor object at 0x7f00>",
        "<frozen runpy>(88): _run_code",
        "<string>(1): <module>",
        "nn.Module: Linear_0",
        "train.py(x): step",
        "",
    ],
)
def test_what_leads_to_no_file_is_no_place(name: str) -> None:
    assert frame_in(name) is None


@pytest.mark.parametrize(
    ("file", "own"),
    [
        ("train.py", True),
        ("/home/me/pytorch/train.py", True),
        ("C:\\runs\\train.py", True),
        ("torch/_tensor.py", False),
        ("/venv/lib/python3.12/site-packages/torch/_tensor.py", False),
        ("/usr/lib/python3/dist-packages/numpy/core.py", False),
        ("/usr/lib/python3.11/contextlib.py", False),
        ("C:\\venv\\Lib\\site-packages\\torch\\_tensor.py", False),
        ("/usr/lib64/python3.12/threading.py", False),
        ("/src/repo/hip_ext/_host_streams.py", False),
        ("hip_ext/_library.py", False),
        ("/src/hip_ext/tests/problems.py", True),
        ("/src/overlap_lab/docs/examples/test_backward_overlap.py", True),
        ("/src/overlap_lab/pytest_plugin/fixture.py", False),
        ("overlap_lab/capture/run_python.py", False),
        ("_pytest/python.py", False),
        ("pluggy/_callers.py", False),
        ("/venv/bin/pytest", False),
        ("/home/me/bin/train", True),
        ("threading.py", False),
    ],
)
def test_whose_file_it_is_shows_in_its_path(file: str, own: bool) -> None:
    frame = frame_in(f"{file}(1): f")
    assert frame is not None
    assert frame.is_own is own


def test_a_file_name_has_no_folders() -> None:
    for file in ("train.py", "runs/train.py", "C:\\runs\\train.py"):
        frame = frame_in(f"{file}(88): step")
        assert frame is not None
        assert frame.file_name == "train.py"
