"""A curve that grows for hours in bounded memory: per bucket its first, last, lowest and highest point stay."""

import numpy as np

MAX_POINTS = 2_000


class Downsampled:
    """Points of one measure over steps, never more than so many.

    Points lie in buckets of equal width in x. When they become too many, buckets are made twice as wide, and of each
    only its first, last, lowest and highest point are kept: those are also the first, last, lowest and highest of
    all points that ever fell into it. So spikes stay, whatever the length of the run.
    """

    def __init__(self, max_points: int = MAX_POINTS) -> None:
        assert max_points >= 8, "two buckets of four points"
        self.max_points = max_points
        self.bucket_width = 1.0
        self._x = self._y = np.empty(0)

    def __len__(self) -> int:
        return len(self._x)

    @property
    def x(self) -> np.ndarray:
        """(N,) float64, ascending."""
        return self._x

    @property
    def y(self) -> np.ndarray:
        """(N,) float64."""
        return self._y

    def extend(self, x_N: np.ndarray, y_N: np.ndarray) -> None:
        """Append points, of an x that is not below those before; points that are not finite are left out."""
        is_finite = np.isfinite(x_N) & np.isfinite(y_N)
        self._x = np.concatenate([self._x, x_N[is_finite]])
        self._y = np.concatenate([self._y, y_N[is_finite]])
        if len(self) > self.max_points:
            self._reduce()
            # down to half, so that the next reduction is as many points away: the cost of a point is constant
            while len(self) > self.max_points // 2:
                self.bucket_width *= 2
                self._reduce()

    def _reduce(self) -> None:
        bucket_N = np.floor(self._x / self.bucket_width)
        starts_K = np.flatnonzero(np.diff(bucket_N, prepend=bucket_N[0] - 1))
        ends_K = np.append(starts_K[1:], len(bucket_N))
        # by bucket, then by height: the first and the last of each bucket are its lowest and its highest
        by_height_N = np.lexsort((self._y, bucket_N))
        kept = np.unique(np.concatenate([starts_K, ends_K - 1, by_height_N[starts_K], by_height_N[ends_K - 1]]))
        self._x, self._y = self._x[kept], self._y[kept]
