"""How big the benchmarks are."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """Amounts of work; the sizes of the models are the same for both sides."""

    vocabulary: int = 20_000
    embedding: int = 128
    hidden: int = 256
    num_layers: int = 2
    num_rounds: int = 5  # of which the best counts
    corpus_words: int = 600_000
    training_tokens: int = 150_000  # the plain loop takes four minutes for them
    validation_tokens: int = 20_000
    num_encoded: int = 1_000  # sentences a round
    num_compared: int = 300  # sentences whose vectors are held against each other
    num_streamed: int = 100_000  # sentences in the file whose encoding has its memory measured
    num_starts: int = 3
    num_redraws: int = 9
    living_seconds: float = 40.0  # with and without a visitor
    num_anchors: int = 3_000  # of contrastive training, a round
    num_indexed_words: int = 1_000_000
    num_searched: int = 100_000  # vectors
    mapped_points: tuple[int, ...] = (200, 2_000, 5_000, 10_000)
    contrastive_settings: tuple[str, ...] = ()  # changes to the recipe that is timed


FULL = Sizes()
QUICK = Sizes(
    vocabulary=2_000,
    embedding=16,
    hidden=32,
    num_rounds=2,
    corpus_words=30_000,
    training_tokens=20_000,
    validation_tokens=2_000,
    num_encoded=100,
    num_compared=20,
    num_streamed=500,
    num_starts=1,
    num_redraws=3,
    living_seconds=4.0,
    num_anchors=100,
    num_indexed_words=20_000,
    num_searched=2_000,
    mapped_points=(50,),
    contrastive_settings=(
        "model.embedding_size=16",
        "model.hidden_size=8",
        "training.words_per_batch=4",
        "training.passages_per_word=2",
        "training.min_word_count=2",
        "training.max_word_share=1",
    ),
)
