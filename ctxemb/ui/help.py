"""What is said about a checkpoint and the ways of reading it; each family is another."""

from ctxemb.checkpoint import CheckpointConfig
from ctxemb.models.families import Family
from ctxemb.models.reading import Readout
from ctxemb.text import Language

LANGUAGE_NAMES: dict[Language, str] = {"en": "English", "zh": "Chinese"}
READOUT_HELP: dict[Family, dict[Readout, str]] = {
    "bilm": {
        "here": "the states that have just read the word, as in the ELMo article. They mostly say *which word* it is.",
        "context": "the forward state before the word and the backward state after it, which have not seen the word.",
        "sentence": "the state at the word and the mean state at the other words, added.",
    },
    "contrastive": {
        "context": "what stands around the word, which itself is not seen: the LSTMs' states before it and after it, "
        "and the other words by attention.",
        "here": "the same, and the word's own embedding is added; at the LSTM layer, the states that have read it.",
    },
    "elmo": {
        "here": "the states that have just read the word, as in the ELMo article. They mostly say *which word* it is.",
        "context": "the forward state before the word and the backward state after it, which have not seen the word.",
    },
    "static": {},
    "transformer": {},
}
LAYER_HELP: dict[Family, str] = {
    "bilm": "Layer 0 is the embedding: one vector a word, whatever the sentence. Higher layers have read the context.\n"
    "*mean* averages all layers; *weighted* is ELMo's sum, with weights learnt without sense labels.",
    "contrastive": "Layer 0 is the embedding: one vector a word, whatever the sentence. The LSTMs have read the "
    "context; the projection joins them with the attention, and is what training shaped.\n"
    "*mean* averages all layers; *weighted* is a sum with weights learnt without sense labels.",
    "elmo": "Layer 0 is read off the word's characters alone: one vector a word, whatever the sentence. Higher layers "
    "have read the context.\n*mean* averages all layers; *weighted* is ELMo's sum, with weights learnt without sense "
    "labels.",
    "static": "",
    "transformer": "Layer 0 is the mean embedding of the word's pieces: one vector a word, whatever the sentence. "
    "Higher layers have read the context.\n*mean* averages all layers.",
}
CENTRING_HELP = """Subtract what vectors have in common before measuring angles.
- **all words**: the mean of running text.
- **per word**: the mean of this word's own uses; what remains is what changes with the context."""
STATIC_CENTRING_HELP = "Subtract the mean of running text from every vector before measuring angles."


def readout_help(config: CheckpointConfig) -> str:
    """The read-outs that a family has."""
    lines = [f"- **{readout}**: {READOUT_HELP[config.family][readout]}" for readout in config.model.readouts]
    return "\n".join(["Which states are the vector.", *lines])


def describe(config: CheckpointConfig) -> str:
    """What a checkpoint is, in a sentence or two."""
    model, language = config.model, LANGUAGE_NAMES[config.text.language]
    words = "words of any spelling" if model.reads_spelling else f"{model.vocabulary_size:,} words"
    size = f"{language}, {words}, {model.width} numbers a vector"
    if config.family == "static":
        return (
            f"A static table of word vectors: {size}. Every use of a word has the same vector, whatever its sentence."
        )
    names = {"bilm": "A BiLM", "contrastive": "A contrastive encoder", "elmo": "A published ELMo"}
    name = names.get(config.family, "A Hugging Face encoder, read only")
    return f"{name}: {size}, {model.num_layers} layers."
