"""Columns of numbers of which few are distinct."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlap_lab.native import coded_numbers, take
from overlap_lab.trace import Column

__all__ = ["CodedNumbers", "gathered"]


@dataclass(frozen=True, slots=True)
class CodedNumbers:
    """A column of numbers of which few are distinct: each row's place among `values`."""

    codes: Column
    values: Column

    @classmethod
    def of(cls, column: Column) -> CodedNumbers:
        """The column of these numbers."""
        return cls(*coded_numbers(column))

    def each(self, values: Column) -> Column:
        """Per row what `values` has in the place of its number."""
        return gathered(values, self.codes)

    def column(self) -> Column:
        """The numbers themselves."""
        return self.each(self.values)

    def mapped(self, values: Column) -> CodedNumbers:
        """What `values` has in the place of each row's number, without writing it down per row."""
        return CodedNumbers(self.codes, values)

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, here: Column) -> CodedNumbers:
        """The same numbers for some rows."""
        return CodedNumbers(self.codes[here], self.values)


def gathered(values: Column, codes: Column) -> Column:
    """The value of each code."""
    if codes.dtype != np.int32 or not codes.flags.c_contiguous:
        return np.asarray(values[codes])
    return take(np.ascontiguousarray(values), codes.view(np.uint32))
