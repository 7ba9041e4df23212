"""Drawn devices, N standing for the number: one that is fed in time, and one that its host feeds late."""

from __future__ import annotations

__all__ = ["FED", "LATE"]

FED = """
    process N host N           |L1L2L3L4............
    process N device N stream 0|..K1KKK2KKK3KKK4KKKK
"""
LATE = """
    process N host N           |L1.....L2.....L3....
    process N device N stream 0|..K1.....K2K....K3KK
"""
