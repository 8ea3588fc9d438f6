"""WikiText-2: perplexity of a language model in two protocols, neither with state carried between sequences.

*A sentence at a time*: lines are cut into sentences. *A line at a time*: a line, which is a paragraph, is one sequence.
In both every sequence also predicts its end, headings are left out, and words outside the checkpoint's own vocabulary
count as one word. Only numbers of one protocol and one vocabulary may be compared.

S sequences.
"""

from pathlib import Path

import numpy as np

from ctxemb.corpora import CorpusError, wikitext
from ctxemb.evaluation.perplexity import language_model, sequence_nats
from ctxemb.evaluation.public.intervals import perplexity_interval
from ctxemb.evaluation.public.score import PublicScore, ScoreRow
from ctxemb.evaluation.public.subject import Subject
from ctxemb.text import UNK, split_sentences

PARTS = ("test", "valid")


def wikitext_splits(folder: Path) -> tuple[str, ...]:
    """The parts that are in a folder, the best first."""
    return tuple(part for part in PARTS if _find(folder, part))


def score_wikitext(subject: Subject, folder: Path, split: str) -> PublicScore:
    """Both protocols, both directions.

    Raises:
        PerplexityError: if the checkpoint is no language model.
        CorpusError: if the file holds no text.
    """
    path, encoder = _find(folder, split), subject.encoder
    assert path, "a split that was found"
    model = language_model(encoder)
    lines = [line for text in wikitext.read(path) if (line := text.strip())]
    sentences = [sentence for line in lines for sentence in split_sentences(line)]
    rows, notes = [], []
    for protocol, texts in (("a sentence at a time", sentences), ("a line at a time", lines)):
        sequences = [ids for ids in encoder.tokenizer.encode_ids(texts) if len(ids)]
        if not sequences:
            raise CorpusError(f"{path} holds no text; fetch it again")
        subject.on_progress(f"wikitext-2: {protocol}")
        nats_2S, num_predictions_S = sequence_nats(model, sequences, encoder.device)
        for direction, nats_S in zip(("forward", "backward"), nats_2S, strict=True):
            rows.append(
                ScoreRow(
                    direction,
                    f"perplexity, {protocol}",
                    float(np.exp(nats_S.sum() / num_predictions_S.sum())),
                    *perplexity_interval(nats_S, num_predictions_S),
                    len(sequences),
                    baselines={"all words alike": float(len(encoder.tokenizer))},
                )
            )
        ids = np.concatenate(sequences)
        notes.append(
            f"{protocol.capitalize()}: {len(sequences):,} sequences of {len(ids):,} words, "
            f"{np.mean(ids == UNK):.1%} of them outside the vocabulary and predicted as one unknown word."
        )
    notes.append("No state is carried from one sequence to the next; headings are left out.")
    return PublicScore("wikitext-2", split, "language model", rows, notes)


def _find(folder: Path, part: str) -> Path | None:
    names = (f"{part}.txt.xz", f"{part}.txt", f"wiki.{part}.tokens")
    return next((path for name in names if (path := folder / name).is_file()), None)
