"""What pages share. The only room that imports streamlit.

loading.py      checkpoints and comparisons, cached for all sessions
controls.py     widgets that say what is compared and how it is read; help.py, what they explain
sentences.py    the table of sentences, and its state
results.py      numbers, baselines and sentences on the page
why.py          what moves a vector
lexicon.py      the source of a lexicon, and what is left of it
pairs.py        pairs of words: ticks, contexts, candidates, a file
scores.py       recorded numbers
settings.py     controls made from a settings model
recipe_settings.py    what a run is asked for, and what that will cost
run_store.py        the runs of this machine, and their checkpoints
runs.py         the list of runs, and what can be done with one
training.py     one run while it goes on
compared_runs.py    several runs
messages.py     errors and problems in a sentence each
"""

from ctxemb.ui.compared_runs import compare_runs
from ctxemb.ui.controls import choose_checkpoint, choose_example, choose_reading, type_own_sentence, type_word
from ctxemb.ui.lexicon import choose_lexicon, load_review, show_counts, show_report
from ctxemb.ui.loading import run_comparison
from ctxemb.ui.messages import plain, show_problems, user_errors
from ctxemb.ui.pairs import edit_candidates, edit_pairs, look_at_pair, offer_kept
from ctxemb.ui.recipe_settings import start_run
from ctxemb.ui.results import CHART_CONFIG, is_dark, show_baselines, show_headline, show_layers, show_uses
from ctxemb.ui.runs import choose_run
from ctxemb.ui.scores import show_article_tables, show_checkpoint_scores, show_published
from ctxemb.ui.sentences import edit_sentences, paste_sentences, upload_sentences
from ctxemb.ui.settings import choose_settings
from ctxemb.ui.training import show_run
from ctxemb.ui.why import show_why

__all__ = [
    "CHART_CONFIG",
    "choose_checkpoint",
    "choose_example",
    "choose_lexicon",
    "choose_reading",
    "choose_run",
    "choose_settings",
    "compare_runs",
    "edit_candidates",
    "edit_pairs",
    "edit_sentences",
    "is_dark",
    "load_review",
    "look_at_pair",
    "offer_kept",
    "paste_sentences",
    "plain",
    "run_comparison",
    "show_article_tables",
    "show_baselines",
    "show_checkpoint_scores",
    "show_counts",
    "show_headline",
    "show_layers",
    "show_problems",
    "show_published",
    "show_report",
    "show_run",
    "show_uses",
    "show_why",
    "start_run",
    "type_own_sentence",
    "type_word",
    "upload_sentences",
    "user_errors",
]
