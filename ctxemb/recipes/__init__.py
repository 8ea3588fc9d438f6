"""Recipes: named, complete settings, from the corpus to the last optimiser step.

recipe.py    what a recipe says
shipped.py   those that ship
material.py  vocabulary, token ids, initial vectors and lexicon of a recipe
run.py       a recipe and its material become a run
"""

from ctxemb.recipes.material import InitialVectors, Material, initial_vectors, prepare
from ctxemb.recipes.recipe import LexiconChoice, Recipe, with_settings
from ctxemb.recipes.run import run
from ctxemb.recipes.shipped import RECIPES, choose_recipe

__all__ = [
    "RECIPES",
    "InitialVectors",
    "LexiconChoice",
    "Material",
    "Recipe",
    "choose_recipe",
    "initial_vectors",
    "prepare",
    "run",
    "with_settings",
]
