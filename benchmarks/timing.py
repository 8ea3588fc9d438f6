"""Ours and plain in turns: what slows the machine down meanwhile slows both."""

import gc
import time
from collections.abc import Callable, Iterator, Mapping


def best_rates(contenders: Mapping[str, Callable[[], int]], num_rounds: int) -> dict[str, float]:
    """Run every contender once a round, one after the other.

    Args:
        contenders: name -> a piece of work; it returns how much it did (tokens, sentences).
        num_rounds: how many times each of them runs.

    Returns:
        name -> the highest rate of its rounds, in units of work a second.
    """
    best = dict.fromkeys(contenders, 0.0)
    for _ in range(num_rounds):
        for name, work in contenders.items():
            gc.collect()
            started = time.perf_counter()
            amount = work()
            best[name] = max(best[name], amount / (time.perf_counter() - started))
    return best


def slices(steps: Iterator[int], amount: int) -> Callable[[], int]:
    """Work that ends at the next multiple of an amount, at every call; `steps` says how much each step did."""
    num_done, num_slices = 0, 0

    def one_slice() -> int:
        nonlocal num_done, num_slices
        num_slices += 1
        before = num_done
        while num_done < num_slices * amount:
            num_done += next(steps)
        return num_done - before

    return one_slice
