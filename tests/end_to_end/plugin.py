"""How a pytest run of its own loads the plugin: by itself where the package is installed, else by name."""

from __future__ import annotations

from importlib.metadata import entry_points

__all__ = ["PLUGIN"]

_IS_INSTALLED = any(point.value == "overlap_lab.pytest_plugin" for point in entry_points(group="pytest11"))
PLUGIN = () if _IS_INSTALLED else ("-p", "overlap_lab.pytest_plugin")
