"""What is asked for: a recipe, a text, every setting as a control; and what that will cost, before it starts."""

import json
from collections.abc import Sequence
from typing import Any

import streamlit as st
from pydantic import BaseModel

from ctxemb.corpora import named_corpora
from ctxemb.corpora.lab import SENSES
from ctxemb.examples import example_words
from ctxemb.plan import Plan, keep_upload, make_plan
from ctxemb.recipes import RECIPES, Recipe, with_settings
from ctxemb.runs import Run, RunError, RunRequest, describe_error
from ctxemb.runs.process import num_cores
from ctxemb.runs.request import MAX_NAME_CHARACTERS
from ctxemb.ui.help import LANGUAGE_NAMES
from ctxemb.ui.messages import plain, show_error
from ctxemb.ui.results import format_seconds, show_metrics
from ctxemb.ui.run_store import open_store
from ctxemb.ui.runs import open_view
from ctxemb.ui.settings import choose_values

FIRST_RECIPE = "lab-contrast"
MAX_UPLOAD_MEGABYTES = 20
TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
PARTS = {"text": "Text", "model": "Model", "training": "Training", "initial": "Word2Vec", "lexicon": "Lexicon"}
BASIC = {
    "bilm": {
        "text": ("max_vocabulary",),
        "model": ("embedding_size", "hidden_size", "num_layers"),
        "training": ("max_steps", "batch_tokens", "learning_rate", "validate_every"),
    },
    "contrastive": {
        "text": ("max_vocabulary",),
        "model": ("embedding_size", "hidden_size"),
        "training": ("max_steps", "words_per_batch", "passages_per_word", "learning_rate", "validate_every"),
    },
    "static": {"text": ("max_vocabulary",), "training": ("vector_size", "window", "num_epochs")},
}
# what follows from something else
DERIVED = {"model": ("vocabulary_size", "vector_size"), "initial": ("vector_size",)}
UPLOAD_HELP = "Plain text, one passage a line, perhaps packed (.gz, .xz, .zst); or a table with a column of text"
PLAN_CAPTION = (
    "An estimate: sizes from the beginning of the text, time from a few steps on one core, as busy as it is now. "
    "More cores make it shorter; a text that was read before is not read again."
)


def start_run() -> None:
    """Everything that a run needs to be asked for, and the button."""
    recipe, corpora, text_column = _choose_recipe_and_text()
    settings = _choose_settings(recipe)
    options = _choose_options(recipe, corpora)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input(
            "Name", recipe.name, max_chars=MAX_NAME_CHARACTERS, key=f"name of {recipe.name}", width=320
        )
        is_wanted = st.button("Start", type="primary", icon=":material/play_arrow:")
    try:
        request = RunRequest(
            name=name, recipe=recipe.name, corpora=corpora, settings=settings, text_column=text_column, **options
        )
        plan = _load_plan(request.model_copy(update={"name": "-"}).model_dump_json(), request)
    except (ValueError, OSError) as error:
        show_error(describe_error(error))
        return
    _show_plan(plan)
    if is_wanted:
        _start(request)


@st.cache_resource(max_entries=32, show_spinner="Estimating: reading a sample of the text, trying a few steps …")
def _load_plan(key: str, _request: RunRequest) -> Plan:
    return make_plan(_request)


def _start(request: RunRequest) -> None:
    try:
        run: Run = open_store().start(request)
    except (RunError, OSError) as error:
        show_error(describe_error(error))
        return
    open_view(run.id)
    st.rerun()


def _choose_recipe_and_text() -> tuple[Recipe, tuple[str, ...], str | None]:
    here = {corpus.name: corpus for corpus in named_corpora() if corpus.found}
    left, right = st.columns(2, gap="large")
    with left:
        names = sorted(RECIPES, key=lambda name: name != FIRST_RECIPE)
        name = st.selectbox("Recipe", names, key="recipe", persist_state="session")
        recipe = RECIPES[name]
        st.caption(f"{plain(recipe.description)}. {LANGUAGE_NAMES[recipe.text.language]}, {recipe.family}.")
    with right:
        default = [corpus for corpus in recipe.corpora if corpus in here]
        chosen = st.multiselect(
            "Text",
            list(here),
            default,
            key=f"text of {name}",
            format_func=lambda name: f"{name} ({here[name].size.partition(' (')[0]})",
            help="Several texts are mixed",
            placeholder="Choose, or upload below",
        )
        for missing in [corpus for corpus in recipe.corpora if corpus not in here]:
            st.caption(f"{plain(missing)} is not on this machine: `python -m ctxemb data get {missing}` brings it.")
        files, text_column = _upload()
    return recipe, (*chosen, *files), text_column


def _upload() -> tuple[list[str], str | None]:
    with st.popover("A text of yours", icon=":material/upload_file:"):
        uploaded = st.file_uploader(
            "Mixed with the texts above, or alone",
            accept_multiple_files=True,
            max_upload_size=MAX_UPLOAD_MEGABYTES,
            key="own text",
            help=UPLOAD_HELP,
        )
        column = None
        if any(file.name.lower().endswith(TABLES) for file in uploaded):
            column = st.text_input("Column with the text", placeholder="found by itself", key="text column") or None
    kept = []
    for file in uploaded:
        try:
            kept.append(str(keep_upload(open_store().root, file.name, file.getvalue(), column)))
        except (ValueError, OSError) as error:
            show_error(describe_error(error))
    return kept, column


def _choose_settings(recipe: Recipe) -> tuple[str, ...]:
    """The settings that differ from the recipe's, as `train --set` takes them."""
    given = recipe.model_dump()
    parts: dict[str, BaseModel] = {
        part: value for part in PARTS if isinstance(value := getattr(recipe, part), BaseModel)
    }
    basic = BASIC[recipe.family]
    chosen: dict[str, dict[str, Any]] = {part: {} for part in parts}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for part, names in basic.items():
            chosen[part] |= choose_values(type(parts[part]), names, given[part], f"{recipe.name}.{part}")
    rest = {
        part: [name for name in type(config).model_fields if name not in (*basic.get(part, ()), *DERIVED.get(part, ()))]
        for part, config in parts.items()
    }
    rest = {part: names for part, names in rest.items() if names}
    with st.expander("All settings", icon=":material/tune:"):
        for part, tab in zip(rest, st.tabs([PARTS[part] for part in rest]), strict=True):
            with tab, st.container(horizontal=True, vertical_alignment="bottom"):
                chosen[part] |= choose_values(type(parts[part]), rest[part], given[part], f"{recipe.name}.{part}")
    if "initial" in chosen:
        chosen["initial"]["vector_size"] = chosen["model"]["embedding_size"]
    changed = _changed(given, chosen)
    try:
        with_settings(recipe, changed)
    except ValueError as error:
        show_error(describe_error(error))
        st.stop()
    return changed


def _changed(given: dict[str, Any], chosen: dict[str, dict[str, Any]]) -> tuple[str, ...]:
    return tuple(
        f"{part}.{name}={json.dumps(value)}"
        for part, values in chosen.items()
        for name, value in values.items()
        if value != (list(given[part][name]) if isinstance(given[part][name], tuple) else given[part][name])
    )


def _choose_options(recipe: Recipe, corpora: Sequence[str]) -> dict[str, Any]:
    """How it is run; nothing of it changes what is learnt, but the amount of text."""
    known = list(dict.fromkeys(sense.word for sense in SENSES)) if "lab" in corpora else None
    with st.expander("Machine, amount of text, probe", icon=":material/memory:"), st.container(horizontal=True):
        max_tokens = st.number_input(
            "Words of each text",
            min_value=1,
            value=None,
            step=100_000,
            placeholder="all",
            key=f"words of {recipe.name}",
            help="Read at most this many words of each text",
            width=170,
        )
        threads = st.number_input("Threads", 1, num_cores(), num_cores(), key="threads", width=120)
        probe = None
        if recipe.family != "static":
            words = st.multiselect(
                "Probed words",
                known or example_words(recipe.text.language),
                key=f"probe of {recipe.name}",
                placeholder="the first dozen that it knows",
                help="Their labelled sentences are read at each validation, to see whether senses come apart",
                width=420,
            )
            probe = ",".join(words) or None
    return {"max_tokens": max_tokens, "threads": threads, "probe": probe}


def _show_plan(plan: Plan) -> None:
    about = "" if plan.is_whole else "about "
    steps = f"{plan.num_steps:,} steps" if plan.num_steps else "passes of Word2Vec"
    show_metrics(
        {
            "Text": (f"{_short(plan.num_words)} words", f"{about}{plan.num_words:,}"),
            "Vocabulary": (f"{plan.vocabulary_size:,}", "Entries, special ones included"),
            "Parameters": (_short(plan.num_parameters), f"{plan.num_parameters:,} weights; {steps}"),
            "Time": (f"~ {format_seconds(plan.seconds)}" if plan.seconds else "–", "From start to end, on one core"),
            "Memory": (f"~ {plan.memory_bytes / 1e9:.1f} GB", "Of the training process"),
        }
    )
    st.caption(PLAN_CAPTION)


def _short(number: float) -> str:
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= limit:
            return f"{number / limit:.3g} {unit}"
    return f"{number:.0f}"
