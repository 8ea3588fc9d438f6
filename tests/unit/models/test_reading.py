import numpy as np
import pytest
from pydantic import ValidationError

from ctxemb.models.reading import Reading

LAYERS = np.array([[[1.0, 2.0]], [[3.0, 4.0]], [[8.0, 0.0]]], np.float32)  # 3 layers, 1 word, 2 numbers


@pytest.mark.parametrize(
    ("reading", "vector"),
    [
        (Reading(layer=0), [1, 2]),
        (Reading(layer=1), [3, 4]),
        (Reading(layer="last"), [8, 0]),
        (Reading(layer="mean"), [4, 2]),
        (Reading(layer="weighted", layer_weights=(0.5, 0.25, 0.25)), [3.25, 2]),
    ],
)
def test_combine(reading, vector):
    combined = reading.combine(LAYERS)
    np.testing.assert_array_equal(combined, [vector])
    assert combined.dtype == np.float32


@pytest.mark.parametrize("layer", [0, "last", "mean"])
def test_a_sentence_without_words_has_no_vectors(layer):
    assert Reading(layer=layer).combine(np.zeros((3, 0, 2), np.float32)).shape == (0, 2)


@pytest.mark.parametrize("layer", [3, -1])
def test_a_layer_that_is_not_there_is_refused(layer):
    with pytest.raises(ValueError, match=f"there is no layer {layer}; this encoder has layers 0 to 2"):
        Reading(layer=layer).combine(LAYERS)


def test_weights_for_another_number_of_layers_are_refused():
    with pytest.raises(ValueError, match="2 layer weights do not fit 3 layers"):
        Reading(layer="weighted", layer_weights=(0.5, 0.5)).combine(LAYERS)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"layer": "weighted"}, "needs layer_weights"),
        ({"layer_weights": (0.5, 0.6)}, "sum to 1.100, not to 1"),
        ({"layer_weights": (float("nan"), 1.0)}, "sum to nan, not to 1"),
        ({"layer": "first"}, "layer"),
        ({"readout": "middle"}, "readout"),
    ],
)
def test_inconsistent_readings_are_refused(settings, message):
    with pytest.raises(ValidationError, match=message):
        Reading(**settings)
