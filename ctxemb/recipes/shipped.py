"""The recipes that ship: named, complete settings."""

from ctxemb.models.bilm import BiLMConfig
from ctxemb.models.contrastive import ContrastiveConfig
from ctxemb.models.reading import Reading
from ctxemb.models.static import StaticConfig
from ctxemb.recipes.recipe import LexiconChoice, Recipe
from ctxemb.text import TextConfig
from ctxemb.training import ContrastiveTrainingConfig, TrainingConfig
from ctxemb.word2vec import Word2VecConfig

EN_CORPORA = ("enwiki", "wordnet-examples")
EN_TEXT = TextConfig(max_vocabulary=25_000)
ZH_CORPORA = ("zhwiki", "people-daily-1998", "tatoeba-zh")
ZH_TEXT = TextConfig(language="zh", min_frequency=11, max_vocabulary=64_000)

# of both shipped contrastive encoders
CONTRASTIVE = ContrastiveTrainingConfig(
    num_epochs=100,
    max_steps=800,
    warmup_steps=100,
    embedding_rate=0.5,
    word_weight=1.0,
    uniformity_weight=0.3,
    num_negatives=128,
    clip_norm=1.0,
    validate_every=200,
    max_validation_tokens=300_000,
    save_every=200,
)

RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            name="en-bilm",
            description="The shipped English BiLM: Wikipedia and WordNet's examples, hours on two cores",
            corpora=EN_CORPORA,
            text=EN_TEXT,
            # less than one pass over the text: no sentence is seen twice, so dropout would only slow it down
            model=BiLMConfig(
                embedding_size=160, hidden_size=320, num_layers=2, dropout=0, cutoffs=(1_000, 4_000, 12_000)
            ),
            training=TrainingConfig(
                max_tokens=30_000_000,
                batch_tokens=2_000,
                learning_rate=2e-3,
                warmup_steps=500,
                validate_every=1_000,
                max_validation_tokens=60_000,
                save_every=500,
            ),
            reading=Reading(readout="sentence", layer="last"),
        ),
        Recipe(
            name="en-contrastive",
            description="The shipped English contrastive encoder: Wikipedia and WordNet, minutes on two cores",
            family="contrastive",
            corpora=EN_CORPORA,
            text=EN_TEXT,
            model=ContrastiveConfig(embedding_size=200, hidden_size=80, dropout=0.2),
            training=CONTRASTIVE,
            initial=Word2VecConfig(vector_size=200, num_epochs=3, sample=1e-4),
            lexicon=LexiconChoice(source="wordnet", max_senses=20, max_sense_number=1),
            reading=Reading(readout="context", layer="last"),
        ),
        Recipe(
            name="zh-contrastive",
            description="The shipped Chinese contrastive encoder: Wikipedia, news and everyday sentences, ten minutes",
            family="contrastive",
            corpora=ZH_CORPORA,
            text=ZH_TEXT,
            model=ContrastiveConfig(embedding_size=96, hidden_size=48, dropout=0.2),
            training=CONTRASTIVE.model_copy(update={"min_word_count": 30}),
            initial=Word2VecConfig(vector_size=96, num_epochs=4, sample=1e-4),
            lexicon=LexiconChoice(source="cilin"),
            reading=Reading(readout="context", layer="last"),
        ),
        Recipe(
            name="en-static",
            description="The English control: skip-gram Word2Vec, 100 numbers, window 5, 5 negatives, the same text",
            family="static",
            corpora=EN_CORPORA,
            text=EN_TEXT,
            model=StaticConfig(vector_size=100),
            training=Word2VecConfig(vector_size=100),
        ),
        Recipe(
            name="zh-static",
            description="The Chinese control: skip-gram Word2Vec, 100 numbers, window 5, 5 negatives, the same text",
            family="static",
            corpora=ZH_CORPORA,
            text=ZH_TEXT,
            model=StaticConfig(vector_size=100),
            training=Word2VecConfig(vector_size=100),
        ),
        Recipe(
            name="contrastive-published",
            description="The settings of the article: synonyms against 8 random words, batches of 64, 8 epochs, AdamW",
            family="contrastive",
            corpora=EN_CORPORA,
            text=EN_TEXT,
            model=ContrastiveConfig(embedding_size=160, hidden_size=80, attention_heads=0, dropout=0.1),
            training=ContrastiveTrainingConfig(
                num_epochs=8,
                words_per_batch=32,
                passages_per_word=2,
                temperature=0.07,
                teacher_share=0,
                passage_weight=0,
                cloze_weight=0,
                sentence_weight=0,
                word_weight=1,
                num_negatives=8,
                optimizer="adamw",
                learning_rate=2e-4,
                weight_decay=0.01,
                embedding_rate=1,
                clip_norm=1.0,
                max_validation_tokens=300_000,
            ),
            lexicon=LexiconChoice(source="wordnet", max_senses=20, max_sense_number=1),
            reading=Reading(readout="here", layer="last"),
        ),
        Recipe(
            name="quick-contrastive",
            description="A minute on two cores, on the Wikipedia sample that is installed with gensim",
            family="contrastive",
            corpora=("wiki-sample",),
            text=TextConfig(max_vocabulary=8_000),
            model=ContrastiveConfig(embedding_size=64, hidden_size=32, dropout=0.2),
            training=ContrastiveTrainingConfig(
                num_epochs=100,
                max_steps=200,
                words_per_batch=16,
                passages_per_word=6,
                min_word_count=12,
                warmup_steps=20,
                embedding_rate=0.3,
                clip_norm=1.0,
                validate_every=50,
                save_every=100,
                validation_share=0.05,
            ),
            initial=Word2VecConfig(vector_size=64, num_epochs=10),
            reading=Reading(readout="context", layer="last"),
        ),
        Recipe(
            name="lab-quick",
            description="Under a minute on two cores, on synthetic text: a BiLM",
            corpora=("lab",),
            text=TextConfig(max_vocabulary=8_000),
            model=BiLMConfig(embedding_size=64, hidden_size=128, num_layers=1, dropout=0),
            # small batches at a high rate: only after some 500 steps does a topic outlast the words that name it
            training=TrainingConfig(
                num_epochs=10,
                max_steps=3_000,
                batch_tokens=300,
                learning_rate=0.02,
                warmup_steps=50,
                clip_norm=1.0,
                validate_every=150,
                max_validation_tokens=5_000,
                save_every=150,
            ),
            reading=Reading(readout="sentence", layer="last"),
        ),
        Recipe(
            name="lab-contrast",
            description="Under a minute on two cores, on synthetic text: a contrastive encoder, from random vectors",
            family="contrastive",
            corpora=("lab",),
            text=TextConfig(max_vocabulary=8_000),
            model=ContrastiveConfig(embedding_size=48, hidden_size=32, dropout=0.1),
            # these counts and shares are met by the ambiguous words and few others; a context that attracts its own
            # word would pull both of its senses together, so cloze_weight is 0
            training=ContrastiveTrainingConfig(
                num_epochs=100,
                max_steps=900,
                words_per_batch=12,
                passages_per_word=6,
                min_word_count=1_000,
                max_word_share=0.006,
                cloze_weight=0,
                learning_rate=6e-3,
                warmup_steps=30,
                embedding_rate=1.0,
                clip_norm=1.0,
                validate_every=30,  # the gap opens within the first hundred steps
                save_every=60,
                validation_share=0.05,
            ),
            reading=Reading(readout="context", layer="last"),
        ),
        Recipe(
            name="cpu-small",
            description="One layer of 128 units: WikiText-2 in about twenty minutes on two cores",
            corpora=("wikitext-2",),
            text=TextConfig(max_vocabulary=20_000),
            model=BiLMConfig(embedding_size=128, hidden_size=128, num_layers=1, dropout=0.2),
            training=TrainingConfig(num_epochs=6, batch_tokens=1_000, validate_every=500),
        ),
        Recipe(
            name="gpu-base",
            description="Two layers of 256 units, batches of about 32 sentences: for a GPU",
            corpora=("enwiki",),
            text=TextConfig(max_vocabulary=50_000),
            model=BiLMConfig(embedding_size=256, hidden_size=256, num_layers=2, cutoffs=(2_000, 10_000)),
            training=TrainingConfig(num_epochs=5, batch_tokens=800, warmup_steps=1_000, validate_every=5_000),
        ),
        Recipe(
            name="quick",
            description="A minute on two cores, on the Wikipedia sample that is installed with gensim",
            corpora=("wiki-sample",),
            text=TextConfig(max_vocabulary=8_000),
            model=BiLMConfig(embedding_size=64, hidden_size=128, num_layers=1, dropout=0.1, cutoffs=(1_000,)),
            training=TrainingConfig(
                num_epochs=2,
                batch_tokens=1_000,
                learning_rate=3e-3,
                warmup_steps=50,
                validate_every=100,
                save_every=100,
            ),
        ),
    )
}


def choose_recipe(name: str) -> Recipe:
    """A recipe by name.

    Raises:
        ValueError: if there is none of that name; the text lists those there are.
    """
    if name not in RECIPES:
        known = "; ".join(f"{recipe.name}: {recipe.description}" for recipe in RECIPES.values())
        raise ValueError(f"there is no recipe {name!r}; there are: {known}")
    return RECIPES[name]
