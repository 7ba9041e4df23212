"""What a module offers is what its `__all__` says: nothing missing, nothing private, nothing twice."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

import pytest

import overlap_lab

NEEDS_MORE = ("overlap_lab.native", "overlap_lab.__main__")


def modules() -> list[str]:
    found = pkgutil.walk_packages(overlap_lab.__path__, "overlap_lab.")
    return ["overlap_lab", *(module.name for module in found if not module.name.startswith(NEEDS_MORE))]


def module_of(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("overlap_lab"):
            raise
        pytest.skip(f"{name} needs {error.name}")


@pytest.mark.parametrize("name", modules())
def test_a_module_says_what_it_offers(name: str) -> None:
    module = module_of(name)
    made_here = [word for word, value in vars(module).items() if getattr(value, "__module__", "") == name]
    offered = getattr(module, "__all__", None)
    assert offered is not None or not made_here, f"no __all__, though it makes {made_here}"
    assert len(set(offered or ())) == len(offered or ())
    assert not [word for word in offered or () if word.startswith("_") and not word.endswith("__")]


@pytest.mark.parametrize("name", modules())
def test_every_offered_name_is_there(name: str) -> None:
    module = module_of(name)
    assert [word for word in getattr(module, "__all__", ()) if not hasattr(module, word)] == []


@pytest.mark.parametrize("name", modules())
def test_a_module_has_a_docstring(name: str) -> None:
    assert (module_of(name).__doc__ or "").strip()


def test_the_package_offers_the_words_of_a_user() -> None:
    assert {"Report", "Source", "Trace", "analyze", "compare", "load"} <= set(overlap_lab.__all__)
