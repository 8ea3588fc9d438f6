"""Sentences that are too long for a model of limited length, cut into windows that overlap."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Window:
    """A stretch of a sentence that is read at once.

    Attributes:
        start, end: the words that are read.
        first, last: the words among them whose vectors are taken, `last` exclusive.
    """

    start: int
    end: int
    first: int
    last: int


def plan_windows(sizes: Sequence[int], most: int) -> list[Window]:
    """Windows that give every word once, from where about as much is read before it as after it.

    A sentence that fits is one window. Otherwise half of a window is read again by the next one, and a word that both
    read is given by the one that reads more around it: a quarter of a window on each side, or up to the sentence's end.

    Args:
        sizes: pieces of each word, 1 to `most`.
        most: pieces that a window can hold.

    >>> plan_windows([1] * 6, 4)
    [Window(start=0, end=4, first=0, last=3), Window(start=2, end=6, first=3, last=6)]
    """
    assert all(1 <= size <= most for size in sizes)
    edges = np.concatenate([[0], np.cumsum(sizes)])  # pieces before each word
    windows, start, first = [], 0, 0
    while first < len(sizes):
        end = int(np.searchsorted(edges, edges[start] + most, side="right")) - 1
        following = max(int(np.searchsorted(edges, edges[end] - most // 2)), start + 1)
        middle = int(np.searchsorted(edges, (edges[following] + edges[end]) / 2))
        last = len(sizes) if end == len(sizes) else middle
        if first < last:
            windows.append(Window(start, end, first, last))
        start, first = following, last
    return windows
