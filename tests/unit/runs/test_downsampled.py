import numpy as np
import pytest

from ctxemb.runs import Downsampled


def by_bucket(x: np.ndarray, y: np.ndarray, width: float) -> dict[int, list[tuple[float, float]]]:
    """The naive way: the points of each bucket."""
    buckets: dict[int, list[tuple[float, float]]] = {}
    for point in zip(x.tolist(), y.tolist(), strict=True):
        buckets.setdefault(int(point[0] // width), []).append(point)
    return buckets


def test_a_worked_example():
    curve = Downsampled(max_points=8)
    curve.extend(np.arange(8), np.array([5.0, 9, 1, 4, 3, 3, 7, 0]))
    assert curve.y.tolist() == [5, 9, 1, 4, 3, 3, 7, 0]  # as many as there may be: all are there
    curve.extend(np.array([8.0]), np.array([6.0]))
    # buckets of 8: 0..7 keeps its first (5), highest (9 at 1), lowest and last (0 at 7); 8 stands alone
    assert curve.bucket_width == 8
    assert curve.x.tolist() == [0, 1, 7, 8]
    assert curve.y.tolist() == [5, 9, 0, 6]


@pytest.mark.parametrize("seed", range(5))
def test_first_last_lowest_and_highest_of_every_bucket_stay(seed):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=20_000).cumsum()
    y[rng.integers(len(y), size=20)] += 1_000  # spikes
    x = np.cumsum(rng.integers(1, 4, size=len(y))).astype(float)
    curve = Downsampled(max_points=200)
    for part in np.split(np.arange(len(x)), np.sort(rng.integers(len(x), size=300))):
        curve.extend(x[part], y[part])
        assert len(curve) <= 200
    given, kept = by_bucket(x, y, curve.bucket_width), by_bucket(curve.x, curve.y, curve.bucket_width)
    assert given.keys() == kept.keys()
    for bucket, points in given.items():
        assert (kept[bucket][0], kept[bucket][-1]) == (points[0], points[-1])
        for choose in (min, max):
            assert choose(v for _, v in kept[bucket]) == choose(v for _, v in points)
        assert set(kept[bucket]) <= set(points)
    assert len(curve) > 50  # not more was dropped than had to be


def test_a_loss_that_is_not_finite_is_left_out():
    curve = Downsampled()
    curve.extend(np.arange(4), np.array([1, np.nan, np.inf, 2]))
    assert (curve.x.tolist(), curve.y.tolist()) == ([0, 3], [1, 2])
