import sys; sys.path.insert(0,'tests/unit')
from test_comparison import *
def test_x(encoder):
    torch.manual_seed(0)
    untrained = dataclasses.replace(encoder.checkpoint, model=BiLM(encoder.config.model).eval())
    for r in READOUTS:
        R=Reading(readout=r)
        print(r, compared(Encoder(untrained, R, encoder.device)).pairs, compared(encoder.with_reading(R)).pairs)
