"""Data -> figures. The only room that knows plotly.

Colours are chosen to be told apart on light and on dark ground; `dark` is asked for only where a scale starts from the
ground.

style.py        what all charts share; itself free of plotly
comparing.py    the Compare page
scores.py       the Scores page
training.py     the Train page
"""
