"""What pages share. The only room that imports streamlit.

loading.py      checkpoints and comparisons, cached for all sessions
controls.py     widgets that say what is compared and how it is read; help.py, what they explain
sentences.py    the table of sentences, and its state
results.py      numbers, baselines and sentences on the page
why.py          what moves a vector
lexicon.py      the source of a lexicon, and what is left of it
pairs.py        pairs of words: ticks, contexts, candidates, a file
contexts.py     where the contexts of a map come from, and their vectors
mapping.py      the map and what is selected in it; map_controls.py, how it is drawn; map_numbers.py, what stands
                behind it
side_by_side.py two linked maps
jobs.py         work in the background, shared by all sessions
geometry.py     the shape of a space, and corrections of it; spaces.py, measured once for all sessions
store.py        which store is looked into; neighbours.py, what a use is closest to there
scores.py       recorded numbers
checkup.py      whether a checkpoint is sound; uploads.py, files of one visitor
settings.py     controls made from a settings model
recipe_settings.py    what a run is asked for, and what that will cost
run_store.py        the runs of this machine, and their checkpoints
runs.py         the list of runs, and what can be done with one
training.py     one run while it goes on
compared_runs.py    several runs
messages.py     errors and problems in a sentence each
"""

from ctxemb.ui.checkup import (
    choose_checked,
    load_checkup,
    load_reference,
    offer_reports,
    show_results,
    show_summary,
    show_table,
)
from ctxemb.ui.compared_runs import compare_runs
from ctxemb.ui.contexts import choose_contexts, load_contexts, show_sources
from ctxemb.ui.controls import choose_checkpoint, choose_example, choose_reading, type_own_sentence, type_word
from ctxemb.ui.geometry import (
    choose_beside,
    choose_top,
    show_corrections,
    show_norms,
    show_self_similarity,
    show_shape,
    show_spaces,
)
from ctxemb.ui.lexicon import choose_lexicon, load_review, show_counts, show_report
from ctxemb.ui.loading import run_comparison
from ctxemb.ui.map_controls import choose_map
from ctxemb.ui.map_numbers import load_separation, show_separation, show_stability
from ctxemb.ui.mapping import (
    describe_drawing,
    draw_map,
    key_of,
    load_clusters,
    show_map,
    show_selected,
    type_own,
    warm_up,
)
from ctxemb.ui.messages import plain, show_problems, user_errors
from ctxemb.ui.neighbours import (
    choose_asked,
    choose_example_word,
    choose_search,
    describe_store,
    find_both,
    follow_language,
    show_analogy,
    show_lists,
    show_pair,
    show_similar_words,
    type_sentences,
)
from ctxemb.ui.pairs import edit_candidates, edit_pairs, look_at_pair, offer_kept
from ctxemb.ui.recipe_settings import start_run
from ctxemb.ui.results import CHART_CONFIG, is_dark, show_baselines, show_headline, show_layers, show_uses
from ctxemb.ui.runs import choose_run
from ctxemb.ui.scores import load_scores, show_article_tables, show_checkpoint_scores, show_public_tests, show_published
from ctxemb.ui.sentences import edit_sentences, paste_sentences, upload_sentences
from ctxemb.ui.settings import choose_settings
from ctxemb.ui.side_by_side import View, choose_second, show_side_by_side
from ctxemb.ui.spaces import load_space
from ctxemb.ui.store import choose_store, open_store
from ctxemb.ui.training import show_run
from ctxemb.ui.why import show_why

__all__ = [
    "CHART_CONFIG",
    "View",
    "choose_asked",
    "choose_beside",
    "choose_checked",
    "choose_checkpoint",
    "choose_contexts",
    "choose_example",
    "choose_example_word",
    "choose_lexicon",
    "choose_map",
    "choose_reading",
    "choose_run",
    "choose_search",
    "choose_second",
    "choose_settings",
    "choose_store",
    "choose_top",
    "compare_runs",
    "describe_drawing",
    "describe_store",
    "draw_map",
    "edit_candidates",
    "edit_pairs",
    "edit_sentences",
    "find_both",
    "follow_language",
    "is_dark",
    "key_of",
    "load_checkup",
    "load_clusters",
    "load_contexts",
    "load_reference",
    "load_review",
    "load_scores",
    "load_separation",
    "load_space",
    "look_at_pair",
    "offer_kept",
    "offer_reports",
    "open_store",
    "paste_sentences",
    "plain",
    "run_comparison",
    "show_analogy",
    "show_article_tables",
    "show_baselines",
    "show_checkpoint_scores",
    "show_corrections",
    "show_counts",
    "show_headline",
    "show_layers",
    "show_lists",
    "show_map",
    "show_norms",
    "show_pair",
    "show_problems",
    "show_public_tests",
    "show_published",
    "show_report",
    "show_results",
    "show_run",
    "show_selected",
    "show_self_similarity",
    "show_separation",
    "show_shape",
    "show_side_by_side",
    "show_similar_words",
    "show_sources",
    "show_spaces",
    "show_stability",
    "show_summary",
    "show_table",
    "show_uses",
    "show_why",
    "start_run",
    "type_own",
    "type_own_sentence",
    "type_sentences",
    "type_word",
    "upload_sentences",
    "user_errors",
    "warm_up",
]
