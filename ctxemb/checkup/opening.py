"""Checks of the files: whether the checkpoint can be opened at all.

A `CheckpointError` is what the check has found; the battery takes it as such.
"""

import json

from ctxemb.calibration import STATISTICS, load_statistics
from ctxemb.checkpoint import CONFIG, METRICS, TOKENIZER, CheckpointError, checkpoint_files, read_config, read_tokenizer
from ctxemb.checkup.result import Finding, not_applicable
from ctxemb.checkup.subject import Subject
from ctxemb.text import NUM_SPECIAL, SPECIAL_TOKENS, UNK

MAX_METRICS_BYTES = 64 * 2**20  # what `load_checkpoint` reads
NUM_WORDS_LOOKED_UP = 2_000


def check_files(subject: Subject) -> Finding:
    """Whether config, tokenizer and weights are there, and config and metrics can be read."""
    folder = subject.folder
    if not folder.is_dir():
        raise CheckpointError(f"there is no checkpoint folder {folder}; give the folder that holds {CONFIG}")
    needed = checkpoint_files(folder)
    missing = [name for name in needed if not (folder / name).is_file()]
    if missing:
        raise CheckpointError(f"there is no {' and no '.join(missing)}; copy the whole folder again")
    config = read_config(folder)
    metrics = folder / METRICS
    if metrics.exists():
        if metrics.stat().st_size > MAX_METRICS_BYTES:
            raise CheckpointError(f"{METRICS} has {metrics.stat().st_size:,} bytes; delete it or copy it again")
        try:
            json.loads(metrics.read_bytes())
        except (ValueError, RecursionError) as error:
            raise CheckpointError(f"{METRICS} is not JSON ({error}); delete it or copy it again") from error
    num_bytes = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    unrecorded = "" if metrics.exists() else f" There is no {METRICS}, so nothing is recorded of its training."
    return Finding(
        "pass",
        f"{', '.join(needed[:-1])} and {needed[-1]} are there, and the config describes a {config.family} encoder."
        + unrecorded,
        number=num_bytes / 1e6,
        shown=f"{num_bytes / 1e6:,.1f} MB",
    )


def check_tokenizer(subject: Subject) -> Finding:
    """Whether the tokenizer file fits the config, its special ids stand first, and every word finds its own id."""
    config = read_config(subject.folder)
    tokenizer = read_tokenizer(subject.folder, config)
    num_words, declared = len(tokenizer), config.model.vocabulary_size
    limit = f"{declared:,}, as the config says"
    if num_words != declared:
        return Finding(
            "fail",
            f"{TOKENIZER} has {num_words:,} words, and {CONFIG} says {declared:,}.",
            num_words,
            f"{num_words:,} words",
            limit,
            "Put the tokenizer beside these weights that they were trained with.",
        )
    step = max(1, num_words // NUM_WORDS_LOOKED_UP)
    lost = []
    for word_id in range(NUM_SPECIAL, num_words, step):
        try:
            word = tokenizer.word(word_id)
        except KeyError as error:
            raise CheckpointError(f"{TOKENIZER} has no word {word_id:,}, though it has {num_words:,}") from error
        if tokenizer.word_id(word) != word_id:
            lost.append(word)
    if lost:
        return Finding(
            "warn",
            f"Of {len(range(NUM_SPECIAL, num_words, step)):,} words looked up, {len(lost):,} do not lead back to their "
            f"own id and can never be read: {', '.join(map(repr, lost[:5]))}.",
            num_words,
            f"{num_words:,} words",
            limit,
            "A vocabulary that is read in lower case should hold lower-case words only: make it with the same setting.",
        )
    return Finding(
        "pass",
        f"Ids 0 to {UNK} are {', '.join(SPECIAL_TOKENS)}, and every word that was looked up has its own id.",
        num_words,
        f"{num_words:,} words",
        limit,
    )


def check_weights(subject: Subject) -> Finding:
    """Whether the weights are those that the config declares."""
    num_parameters = sum(p.numel() for p in subject.encoder.model.parameters())
    return Finding(
        "pass",
        "Every weight has the name and the shape that the config asks for.",
        num_parameters,
        f"{num_parameters:,} parameters",
    )


def check_statistics(subject: Subject) -> Finding:
    """Whether word counts and means, if they are kept, belong to these weights."""
    statistics = load_statistics(subject.encoder)
    if statistics is None and subject.encoder.is_read_only:
        return not_applicable(
            "Nothing was measured of it on this machine; `python -m ctxemb evaluate` does so once, for centring and "
            "the bag of context."
        )
    if statistics is None:
        return not_applicable(
            f"There is no {STATISTICS}: centring and the bag of context are not to be had. Trainings and imports with "
            "a text make it."
        )
    num_words = len(statistics.word_ids_W)
    return Finding(
        "pass",
        f"Word counts and the mean of all words fit the weights, and {num_words:,} words have a mean of their own.",
        num_words,
        f"{num_words:,} means",
    )
