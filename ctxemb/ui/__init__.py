"""What pages share. The only room that imports streamlit.

loading.py      checkpoints and comparisons, cached for all sessions
controls.py     widgets that say what is compared and how it is read
sentences.py    the table of sentences, and its state
results.py      numbers, baselines and sentences on the page
messages.py     errors and problems in a sentence each
"""

from ctxemb.ui.controls import choose_checkpoint, choose_example, choose_reading, type_own_sentence, type_word
from ctxemb.ui.loading import run_comparison
from ctxemb.ui.messages import plain, show_problems, user_errors
from ctxemb.ui.results import (
    CHART_CONFIG,
    is_dark,
    layer_lines,
    show_baselines,
    show_headline,
    show_influence,
    show_uses,
)
from ctxemb.ui.sentences import edit_sentences, paste_sentences, upload_sentences

__all__ = [
    "CHART_CONFIG",
    "choose_checkpoint",
    "choose_example",
    "choose_reading",
    "edit_sentences",
    "is_dark",
    "layer_lines",
    "paste_sentences",
    "plain",
    "run_comparison",
    "show_baselines",
    "show_headline",
    "show_influence",
    "show_problems",
    "show_uses",
    "type_own_sentence",
    "type_word",
    "upload_sentences",
    "user_errors",
]
