"""Devices of Kineto files into which several ranks were merged."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np

from overlap_lab.loaders.alike import alike
from overlap_lab.loaders.building import Columns, Findings
from overlap_lab.schema import ABSENT_DEVICE, DEVICE_KINDS, Kind
from overlap_lab.trace import Column

__all__ = ["ON_DEVICE", "fill_devices", "part_merged_devices"]

ON_DEVICE: Final = (*DEVICE_KINDS, Kind.DEVICE_RANGE, Kind.SYNC)


def part_merged_devices(rows: Columns, label: Column, findings: Findings) -> None:
    """Give devices of several hosts that share a number numbers of their own, in place.

    Writers that merge ranks rename the label of each rank's device and leave its number as it was.
    """
    ops = np.isin(rows["kind"], DEVICE_KINDS) & (rows["device"] != ABSENT_DEVICE)
    devices, labels = rows["device"][ops], label[ops]
    first, _ = alike(devices, labels)
    pairs = sorted(zip(devices[first].tolist(), labels[first].tolist(), strict=True))
    free = max((device for device, _ in pairs), default=-1) + 1
    for (before, _), (device, other) in pairwise(pairs):
        if device == before:
            here = (label == other) & (rows["device"] == device) & np.isin(rows["kind"], ON_DEVICE)
            rows["device"][here] = free
            findings.note(
                f"Device {device} of {other} is shown as device {free}: ranks of several hosts share it."
            )
            free += 1


def fill_devices(rows: Columns, label: Column) -> None:
    """Give device annotations the device of ops with the same label, in place.

    They name only the label, and writers that merge ranks rename it.
    """
    ops = np.isin(rows["kind"], DEVICE_KINDS) & (rows["device"] != ABSENT_DEVICE)
    for value in np.unique(label[rows["kind"] == Kind.DEVICE_RANGE]).tolist():
        devices = np.unique(rows["device"][ops & (label == value)])
        here = (rows["kind"] == Kind.DEVICE_RANGE) & (label == value)
        if devices.size == 1:
            rows["device"][here] = devices[0]
