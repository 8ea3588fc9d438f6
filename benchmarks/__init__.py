"""Timed comparisons against the plain published code; `python -m benchmarks` runs them, no test does.

sizes.py        how big: the full run and a quick one that only shows that everything works
text.py         the text that both sides read
checkpoint.py   the checkpoint that is timed
plain.py        the plain loop, as it is usually taught
plain_contrastive.py    the same for the contrastive family
timing.py       ours and plain in turns, the best of several rounds
training.py     tokens a second, and the perplexity that the same configuration reaches
contrastive.py  anchors a second of the contrastive family, and the memory of its negatives
encoding.py     sentences a second
memory.py       peak memory of encoding a large file
tokenizing.py   words a second from text to ids
app.py          seconds to the first picture, and to the next one
living_together.py      the same beside a training, and what the training loses by it
store.py        words a second into a vector store, and looking things up in it
projection.py   seconds to a map
report.py       rows and the table

Not timed, and run by themselves, as `python -m benchmarks.soak`:

soak.py         trainings killed again and again
fuzz.py         checkpoints with something wrong in them: fuzz_cases.py, mutations.py, hostile_archives.py
polling.py      memory of the Train page in a long class
"""
