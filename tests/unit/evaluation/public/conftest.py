"""A static checkpoint whose vectors are written down, so that every score can be worked out by hand."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ctxemb import Encoder
from ctxemb.checkpoint import save_checkpoint
from ctxemb.evaluation.public.subject import Subject
from ctxemb.models.static import Static
from ctxemb.text import NUM_SPECIAL, TextConfig, WordTokenizer

# angles in degrees: the cosine of two words is that of their difference
ANGLES = {"bank": 0, "banks": 10, "plant": 90, "plants": 130, "the": 45, "old": 180, "river": 60}


@pytest.fixture
def angled(tmp_path: Path) -> Callable[..., Subject]:
    """`angled({"bank": 0, "banks": 10})`: a static encoder that knows these words only, at these angles."""

    def build(angles: dict[str, float] = ANGLES, language: str = "en") -> Subject:
        radians = np.radians([0.0] * NUM_SPECIAL + list(angles.values()))
        vectors_VD = np.stack([np.cos(radians), np.sin(radians)], axis=1).astype(np.float32)
        text = TextConfig.model_validate({"language": language, "min_frequency": 1})
        folder = tmp_path / "angled"
        save_checkpoint(folder, Static.from_vectors(vectors_VD), WordTokenizer.from_words(angles, text), text)
        return Subject(Encoder.load(folder, device="cpu"))

    return build


def cos(degrees: float) -> float:
    return float(np.cos(np.radians(degrees)))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing reaches the user's own folders; the text that uses are looked for in is our example sentences."""
    monkeypatch.setenv("CTXEMB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("ctxemb.calibration.SAMPLES", {"en": (), "zh": ()})
