"""Hold uses of a word against each other."""

from typing import Annotated, Any

import typer
from rich.table import Table

from ctxemb.cli.terminal import (
    AsJson,
    CheckpointPath,
    LayerName,
    ReadoutName,
    console,
    load_encoder,
    print_json,
    screen,
)


def compare(
    checkpoint: CheckpointPath,
    sentences: Annotated[list[str], typer.Argument(help="Sentences that hold the word", metavar="SENTENCE...")],
    word: Annotated[str, typer.Option(help="Target word")],
    sense: Annotated[list[str] | None, typer.Option(help="Sense of each sentence, in order; repeat")] = None,
    readout: ReadoutName = None,
    layer: LayerName = None,
    centring: Annotated[str, typer.Option(help="off, 'all words' or 'per word'")] = "off",
    as_json: AsJson = False,
) -> None:
    """Cosines between the uses of a word in several sentences, with the baselines beside them."""
    from ctxemb import comparison
    from ctxemb.calibration import load_statistics

    if centring not in comparison.CENTRINGS:
        raise typer.BadParameter(f"{centring!r} is none of {', '.join(comparison.CENTRINGS)}", param_hint="--centring")
    if sense and len(sense) != len(sentences):
        raise typer.BadParameter(f"{len(sense)} senses for {len(sentences)} sentences", param_hint="--sense")
    encoder = load_encoder(checkpoint, "cpu", readout, layer)
    statistics = load_statistics(encoder)
    given = [
        comparison.Sentence(text, label)
        for text, label in zip(sentences, sense or [None] * len(sentences), strict=True)
    ]
    uses, problems = comparison.find_uses(encoder, given, word)
    for problem in problems:
        console.print(f"left out: {problem}", style="yellow")
    if len(uses) < 2:
        raise comparison.TargetError(f"{len(uses)} of {len(given)} sentences can be compared; at least 2 are needed")
    mean_LD = comparison.centring_mean(centring, encoder, statistics, word)
    result = comparison.compare(encoder, uses, word, mean_LD, comparison.context_bag(encoder, statistics))
    random = comparison.random_baseline(encoder, centring, statistics)
    summary: dict[str, Any] = {
        "word": word,
        "checkpoint": str(checkpoint),
        "reading": {"readout": encoder.reading.readout, "layer": encoder.reading.layer, "centring": centring},
        "sentences": [
            {"text": use.sentence.text, "sense": use.sentence.sense, "position": use.position} for use in uses
        ],
        "cosines": result.cosines_NN.round(4).tolist(),
        "mean_cosine": round(result.mean_cosine, 4),
        "same_sense_mean": result.pairs.same_mean,
        "cross_sense_mean": result.pairs.cross_mean,
        "gap": result.pairs.gap,
        "auc": result.pairs.auc,
        "mean_cosine_by_layer": [round(mean, 4) for mean in result.layer_means],
        "random_words_mean": round(random.mean, 4),
        "static_control_mean": round(comparison.compare(encoder, uses, word, None, None).layer_means[0], 4),
        "bag_of_context_cosines": None if result.bag_cosines_NN is None else result.bag_cosines_NN.round(4).tolist(),
        "problems": [str(problem) for problem in problems],
    }
    if as_json:
        print_json(summary)
        return
    table = Table("", *(str(i + 1) for i in range(len(uses))), title=f"cosine between the uses of “{word}”")
    for i, use in enumerate(uses):
        table.add_row(f"{i + 1}. {use.sentence.text}", *(f"{cosine:.2f}" for cosine in result.cosines_NN[i]))
    screen.print(table)
    lines = [
        f"mean {result.mean_cosine:.2f}",
        f"random words {random.mean:.2f}",
        f"static control (layer 0) {summary['static_control_mean']:.2f}",
    ]
    if sense:
        lines.append(f"same sense {result.pairs.same_mean:.2f}, cross sense {result.pairs.cross_mean:.2f}")
    screen.print("; ".join(lines), soft_wrap=True)
