"""What somebody wants trained: the arguments of `train`, and a name. Checked before a process is started."""

from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator

from ctxemb.corpora import named_corpora, open_corpus
from ctxemb.runs.errors import RunError, describe_error

MAX_NAME_CHARACTERS = 80


class RunRequest(BaseModel):
    """A training run, as asked for."""

    # fields of a later version are no reason not to show its runs
    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str = Field(description="Shown in lists; may be changed later")
    recipe: str = Field(description="Name of a recipe")
    corpora: tuple[str, ...] = Field(default=(), description="Named corpora or files; the recipe's own if empty")
    settings: tuple[str, ...] = Field(default=(), description="Changed settings, as training.learning_rate=0.002")
    max_tokens: int | None = Field(default=None, ge=1, description="Read at most this many words of each corpus")
    text_column: str | None = Field(default=None, description="Text column of csv, tsv, jsonl or parquet")
    device: str = Field(default="auto", description="auto, cpu, cuda, cuda:1 ...")
    probe: str | None = Field(default=None, description="Words (a,b) whose labelled sentences are read as it learns")
    threads: int | None = Field(default=None, ge=1, description="CPU threads; as many as there are cores if empty")

    @field_validator("name")
    @classmethod
    def _readable(cls, name: str) -> str:
        name = " ".join(name.split())
        if not 0 < len(name) <= MAX_NAME_CHARACTERS or not name.isprintable():
            raise ValueError(f"a run's name has 1 to {MAX_NAME_CHARACTERS} characters on one line")
        return name

    def checked(self) -> Self:
        """The same request with a recipe and settings that exist, and corpora that can be opened, as full paths.

        Raises:
            RunError: naming what is not there or cannot be used.
        """
        from ctxemb.recipes import choose_recipe, with_settings  # brings torch

        try:
            with_settings(choose_recipe(self.recipe), self.settings)
            corpora = [self._open(name) for name in self.corpora]
        except (ValueError, OSError) as error:
            raise RunError(describe_error(error)) from error
        return self.model_copy(update={"corpora": tuple(corpora)})

    def _open(self, name: str) -> str:
        """The corpus's name, or the full path of its file, after a look at its first passage."""
        if name in {corpus.name for corpus in named_corpora()}:
            if self.text_column is not None:
                raise RunError(f"{name} is a named corpus and has no text column; leave the column out")
            return name  # fetched by the run, if it is not here
        corpus = open_corpus(name, text_column=self.text_column, max_tokens=self.max_tokens)
        next(corpus.passages())
        return str(Path(name).absolute())

    def describe_corpora(self) -> list[dict[str, Any]]:
        """What will be read: name, origin, and size in bytes of a file or about so many words of a named corpus."""
        from ctxemb.recipes import choose_recipe

        named = {corpus.name: corpus for corpus in named_corpora()}
        return [
            {
                "name": name,
                "description": named[name].description,
                "licence": named[name].licence,
                "size": named[name].size,
            }
            if name in named
            else {"name": Path(name).name, "file": name, "bytes": Path(name).stat().st_size}
            for name in self.corpora or choose_recipe(self.recipe).corpora
        ]

    def arguments(self, out: Path, threads: int) -> list[str]:
        """What follows `python -m ctxemb` on the command line."""
        options = {"--max-tokens": self.max_tokens, "--text-column": self.text_column, "--probe": self.probe}
        return [
            *("train", self.recipe, f"--out={out}"),
            *(f"--corpus={name}" for name in self.corpora),
            *(f"--set={setting}" for setting in self.settings),
            *(f"{option}={value}" for option, value in options.items() if value is not None),
            *(f"--device={self.device}", f"--threads={threads}"),
        ]
