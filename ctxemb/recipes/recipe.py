"""What a recipe says: everything that decides a run, besides the machine."""

import json
from collections.abc import Sequence
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from ctxemb.lexicon import LexiconConfig
from ctxemb.models.families import CONFIGS, Family, ModelConfig
from ctxemb.models.reading import Reading
from ctxemb.text import TextConfig
from ctxemb.training import ContrastiveTrainingConfig, TrainingConfig
from ctxemb.word2vec import Word2VecConfig

AnyTraining = TrainingConfig | ContrastiveTrainingConfig | Word2VecConfig
TRAININGS: dict[str, type[AnyTraining]] = {
    "bilm": TrainingConfig,
    "contrastive": ContrastiveTrainingConfig,
    "static": Word2VecConfig,
}
PARTS = ("text", "model", "training", "initial", "lexicon")


class LexiconChoice(LexiconConfig):
    """Which lexicon the synonyms and antonyms come from, and how it is cleaned."""

    source: str = Field(description="wordnet, cilin, or a file of pairs, groups or a graph")
    held_out_share: float = Field(
        default=0.2, gt=0, lt=1, description="Share of synonym groups kept from training, to be tried on"
    )
    seed: int = Field(default=0, ge=0, description="Decides which groups are held out")

    @property
    def cleaning(self) -> LexiconConfig:
        """The part that `ctxemb.lexicon.clean` takes."""
        return LexiconConfig.model_validate({name: getattr(self, name) for name in LexiconConfig.model_fields})


class Recipe(BaseModel):
    """A named, complete setting, from the corpus to the last optimiser step."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    description: str
    corpora: tuple[str, ...] = Field(description="Names of corpora, or paths of the user's own files")
    family: Family = Field(default="bilm", description="Kind of encoder")
    text: TextConfig
    model: ModelConfig = Field(description="Sizes; the vocabulary size follows from the corpus")
    training: AnyTraining
    initial: Word2VecConfig | None = Field(
        default=None, description="contrastive: embeddings start from Word2Vec of the same text; random if empty"
    )
    lexicon: LexiconChoice | None = Field(default=None, description="contrastive: where synonyms come from")
    reading: Reading = Field(default=Reading(), description="The checkpoint's default vector of a word")

    @field_validator("family")
    @classmethod
    def _can_be_trained(cls, family: Family) -> Family:
        if family not in TRAININGS:
            raise ValueError(f"{family} encoders are imported, not trained; choose {', '.join(TRAININGS)}")
        return family

    @field_validator("model", "training", mode="before")
    @classmethod
    def _of_family(cls, value: Any, info: ValidationInfo) -> Any:
        """The family says which settings these are."""
        kind = (CONFIGS if info.field_name == "model" else TRAININGS).get(info.data.get("family", ""))
        return kind.model_validate(value) if kind else value

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.family != "contrastive" and (self.initial or self.lexicon):
            raise ValueError(f"{self.family} takes no initial vectors and no lexicon; contrastive does")
        if self.reading.readout not in self.model.readouts:
            raise ValueError(f"{self.family} has no read-out {self.reading.readout}; it has {self.model.readouts}")
        return self


def with_settings(recipe: Recipe, settings: Sequence[str]) -> Recipe:
    """Change single settings, written as `training.learning_rate=0.002`.

    Raises:
        ValueError: if a setting does not exist or its value is out of range.
    """
    values = recipe.model_dump()
    for setting in settings:
        path, equals, text = setting.partition("=")
        part, _, key = path.partition(".")
        if not equals or part not in PARTS or key not in (values[part] or {}):
            parts = ", ".join(part for part in PARTS if values[part])
            raise ValueError(f"{setting!r} is no setting; write part.name=value with a part out of {parts}")
        try:
            values[part][key] = json.loads(text)
        except ValueError:
            values[part][key] = text  # a word, such as a schedule's name
    return Recipe.model_validate(values)
