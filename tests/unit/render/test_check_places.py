"""Where a check leads a person: the user's own frames, however deep the libraries are that they call."""

from __future__ import annotations

import json
from pathlib import Path

from overlap_lab.compare.budget import parse_allowance, parse_rule
from overlap_lab.compare.checked import Check, Checked, Culprit, Outcome, Passed
from overlap_lab.render.check_junit import check_to_junit
from overlap_lab.render.check_markdown import check_to_markdown
from overlap_lab.render.check_sarif import check_to_sarif
from overlap_lab.render.check_words import allowed_words, check_text, culprit_words

INNER = tuple(f"/venv/lib/python3.12/site-packages/torch/a.py({line}): f" for line in range(9))
OUTER = ("/venv/lib/python3.12/site-packages/_pytest/python.py(194): g",) * 3


def culprit(*stack: str) -> Culprit:
    return Culprit("hipMemcpy", "sync_copy", 1, 1_000, 0, 0, 0, None, None, None, stack)


def broken(*stack: str) -> Check:
    rule = parse_rule("drain/count = 0")
    return Check({}, (Checked(rule, Outcome.VIOLATED, 1, 1, culprits=(culprit(*stack),)),))


def place(*stack: str, folder: Path) -> dict[str, object]:
    [result] = json.loads(check_to_sarif(broken(*stack), version="1", folder=folder))["runs"][0]["results"]
    found = result["locations"][0]["physicalLocation"]
    return {"uri": found["artifactLocation"]["uri"], "line": found["region"]["startLine"]}


def test_own_frames_are_shown_however_deep_they_lie() -> None:
    words = list(culprit_words(culprit(*OUTER, "/runs/fmha.py(11): step", *INNER)))[1:]
    assert words == [
        *(f"  at {frame}" for frame in reversed(INNER[3:])),
        "  ... 3 frames left out",
        "  at /runs/fmha.py(11): step",
        "  ... 3 frames left out",
    ]


def test_a_short_stack_is_shown_whole() -> None:
    words = list(culprit_words(culprit("/runs/train.py(1): main", *INNER[:5])))[1:]
    assert words == [*(f"  at {frame}" for frame in reversed(INNER[:5])), "  at /runs/train.py(1): main"]


def test_without_a_stack_there_are_no_frames() -> None:
    assert len(list(culprit_words(culprit()))) == 1


def test_a_recursion_does_not_fill_the_page() -> None:
    words = list(culprit_words(culprit(*("/runs/fmha.py(11): step",) * 500)))[1:]
    assert words[-1] == "  ... 480 frames left out"
    assert len(words) == 21


def test_every_text_shows_the_own_frame() -> None:
    check = broken(*OUTER, "/runs/fmha.py(11): step", *INNER)
    for text in (
        check_text(check),
        check_to_junit(check),
        check_to_markdown(check),
        check_to_sarif(check, version="1"),
    ):
        assert "fmha.py(11): step" in text.replace("\\", "")


def test_sarif_leads_to_the_innermost_own_file_in_the_folder(tmp_path: Path) -> None:
    mine, package = tmp_path / "src" / "my step.py", tmp_path / "venv/lib/python3.12/site-packages/x/y.py"
    stack = (f"{mine}(11): step", "/elsewhere/tool.py(3): run", f"{package}(4): f", *INNER)
    assert place(*stack, folder=tmp_path) == {"uri": "src/my%20step.py", "line": 11}


def test_sarif_takes_a_shortened_path_for_a_file_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "train.py").touch()
    stack = ("train.py(88): step", "transformers/trainer.py(7): train", *INNER)
    assert place(*stack, folder=tmp_path) == {"uri": "train.py", "line": 88}


def test_sarif_without_a_file_in_the_folder_leads_to_the_innermost_own_one(tmp_path: Path) -> None:
    stack = ("/runs/train.py(88): step", *INNER)
    assert place(*stack, folder=tmp_path) == {"uri": "file:///runs/train.py", "line": 88}
    assert place("src/train.py(88): step", folder=tmp_path) == {"uri": "src/train.py", "line": 88}


def test_an_allowance_without_a_wait_may_have_taken_a_call_that_came_late() -> None:
    allowed = Passed(parse_allowance("hipStreamSynchronize", "once a day"), 0, 0, 2)
    assert list(allowed_words(Check({}, (), (allowed,)))) == [
        "hipStreamSynchronize: once a day: 0 waits, 0 ns; 2 late synchronizes"
    ]
