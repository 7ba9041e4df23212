"""Thresholds of the wait rules, in one place so that reports can print them."""

from __future__ import annotations

__all__ = [
    "FLOOR_NS",
    "LAUNCH_CAP_FLOORS",
    "LAUNCH_CAP_NS",
    "LONGEST_FLOOR_NS",
    "NEARNESS_NS",
    "RECORD_FLOORS",
    "SAMPLES_FOR_OWN_FLOOR",
    "SLACK_NS",
]

FLOOR_NS = 20_000
"""A may-wait call must last longer than this before it is asked what it waited for."""
LONGEST_FLOOR_NS = 100_000
SAMPLES_FOR_OWN_FLOOR = 1_000
"""A name with so many calls while nothing was outstanding has a floor of its own: their 99th percentile."""
NEARNESS_NS = 20_000
"""What a may-wait call waited for ended at most this long before its return."""
SLACK_NS = 10_000
"""Host and device clocks differ: an end so shortly after a return counts as ended at the return."""
RECORD_FLOORS = 5
"""An event record or stream-wait-event that waited for an op lasted over so many floors."""
LAUNCH_CAP_NS = 100_000
LAUNCH_CAP_FLOORS = 10
"""Launch time of a gap ends after the larger of LAUNCH_CAP_NS and so many launch floors."""
