"""Synonym groups held out from training, so that what is learnt there can be tried on words it never paired.

G groups, M memberships of a word in a group.
"""

from dataclasses import dataclass

import numpy as np

from ctxemb.lexicon.ids import Csr, IdLexicon, components, contains, key_ids, member_pairs, pair_keys
from ctxemb.lexicon.lexicon import LexiconError


@dataclass(frozen=True)
class HeldOut:
    """Two lexicons without a common pair.

    Attributes:
        train: to learn from.
        held_out: to try on; it has the antonym pairs of words that only it knows.
        is_word_disjoint: no word of a held-out group stands in a group or an antonym pair of `train`. False where one
            web of shared words holds most groups together: then only their pairs are apart.
        num_lost_groups: groups in neither part, because they repeat a pair of a held-out group.
    """

    train: IdLexicon
    held_out: IdLexicon
    is_word_disjoint: bool
    num_lost_groups: int


def held_out_groups(lexicon: IdLexicon, share: float, seed: int) -> HeldOut:
    """Hold out about `share` of the groups, whole webs of groups that share words where that is possible.

    Raises:
        LexiconError: the share is not between 0 and 1, or there are fewer than two groups to divide.
    """
    num_groups = len(lexicon.groups)
    if not 0 < share < 1:
        raise LexiconError(f"The share of held-out groups is {share}; it has to lie between 0 and 1.")
    if num_groups < 2:
        raise LexiconError(f"{lexicon.name} has {num_groups} synonym groups; two are needed to hold one out.")
    wanted = min(max(round(share * num_groups), 1), num_groups - 1)
    rng = np.random.default_rng(seed)
    is_held_G = _whole_webs(lexicon.groups, wanted, rng)
    is_word_disjoint = 2 * is_held_G.sum() >= wanted
    is_lost_G = np.zeros(num_groups, dtype=bool)
    if not is_word_disjoint:
        is_held_G[:] = False
        is_held_G[rng.permutation(num_groups)[:wanted]] = True
        is_lost_G = _repeating(lexicon.groups, is_held_G)
    is_train_G = ~is_held_G & ~is_lost_G
    words_of_train = np.unique(lexicon.groups.values[np.repeat(is_train_G, lexicon.groups.sizes)])
    words_of_held = np.unique(lexicon.groups.values[np.repeat(is_held_G, lexicon.groups.sizes)])
    only_held = np.setdiff1d(words_of_held, words_of_train)
    is_held_antonym = np.isin(np.stack(key_ids(lexicon.antonym_keys)), only_held).any(axis=0)
    return HeldOut(
        train=_part(lexicon, is_train_G, lexicon.antonym_keys[~is_held_antonym]),
        held_out=_part(lexicon, is_held_G, lexicon.antonym_keys[is_held_antonym]),
        is_word_disjoint=bool(is_word_disjoint),
        num_lost_groups=int(is_lost_G.sum()),
    )


def _whole_webs(groups: Csr, wanted: int, rng: np.random.Generator) -> np.ndarray:
    """Mark at most `wanted` groups such that no marked one shares a word with another, (G,)."""
    groups_M = np.repeat(np.arange(len(groups)), groups.sizes)
    _, words_M = np.unique(groups.values, return_inverse=True)
    nodes = np.stack([groups_M, len(groups) + words_M], axis=1)
    web_G = components(nodes, len(groups) + int(words_M.max()) + 1)[: len(groups)]
    sizes = np.bincount(web_G)
    is_held = np.zeros(len(sizes), dtype=bool)
    num_left = wanted
    for web in rng.permutation(len(sizes)).tolist():
        if sizes[web] <= num_left:
            is_held[web] = True
            num_left -= int(sizes[web])
            if num_left == 0:
                break
    return is_held[web_G]


def _repeating(groups: Csr, is_held_G: np.ndarray) -> np.ndarray:
    """Mark the groups that are not held out and repeat a pair of one that is, (G,)."""
    first, second = member_pairs(groups.offsets)
    keys = pair_keys(groups.values[first], groups.values[second])
    group_of_pair = np.searchsorted(groups.offsets, first, side="right") - 1
    is_held = is_held_G[group_of_pair]
    repeats = ~is_held & contains(np.unique(keys[is_held]), keys)
    return np.bincount(group_of_pair[repeats], minlength=len(groups)) > 0


def _part(lexicon: IdLexicon, wanted_G: np.ndarray, antonym_keys: np.ndarray) -> IdLexicon:
    sizes = lexicon.groups.sizes[wanted_G]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    groups = Csr(offsets, lexicon.groups.values[np.repeat(wanted_G, lexicon.groups.sizes)])
    first, second = member_pairs(offsets)
    keys = np.unique(pair_keys(groups.values[first], groups.values[second]))
    # Pairs that contradicted an antonym are in the group and not among the keys.
    keys = keys[contains(lexicon.synonym_keys, keys)]
    used_ids = np.unique(np.concatenate([groups.values, *key_ids(antonym_keys)])).tolist()
    words = {word_id: lexicon.words[word_id] for word_id in used_ids}
    return IdLexicon(lexicon.name, groups, lexicon.is_alias_G[wanted_G], keys, antonym_keys, words)
