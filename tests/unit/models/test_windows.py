import numpy as np
import pytest

from ctxemb.models.windows import Window, plan_windows


def test_a_sentence_that_fits_is_one_window():
    assert plan_windows([], 5) == []
    assert plan_windows([2, 3], 5) == [Window(0, 2, 0, 2)]


def test_worked_example():
    # 12 words of one piece, 8 at once: each window begins 4 words after the last, and gives its middle
    expected = [Window(0, 8, 0, 6), Window(4, 12, 6, 12)]
    assert plan_windows([1] * 12, 8) == expected
    assert plan_windows([1] * 13, 8) == [expected[0], Window(4, 12, 6, 10), Window(8, 13, 10, 13)]


@pytest.mark.parametrize("seed", range(30))
def test_every_word_is_given_once_by_a_window_that_reads_much_around_it(seed: int):
    rng = np.random.default_rng(seed)
    most = int(rng.integers(1, 30))
    sizes = rng.integers(1, min(most, rng.integers(1, 30)) + 1, size=rng.integers(1, 200)).tolist()
    windows = plan_windows(sizes, most)
    assert [word for window in windows for word in range(window.first, window.last)] == list(range(len(sizes)))
    for window in windows:
        assert window.start <= window.first < window.last <= window.end
        assert sum(sizes[window.start : window.end]) <= most
        # all but a quarter of a window and a word at either side; nothing is missing at the ends of the sentence
        least = most / 4 - 2 * max(sizes)
        assert window.start == 0 or sum(sizes[window.start : window.first]) >= least
        assert window.end == len(sizes) or sum(sizes[window.last : window.end]) >= least


def test_words_as_long_as_a_window_stand_alone():
    assert plan_windows([4, 4, 4], 4) == [Window(i, i + 1, i, i + 1) for i in range(3)]
