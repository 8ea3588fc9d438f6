"""A domain's knowledge graph: names of one entity are positives, entities without a relation are negatives.

A CSV or TSV with a header: `entity,alias`, or `entity,relation,entity`, where a relation such as `alias` gives names.
All names that a chain of aliases connects are one entity, however long the chain and whether or not it closes.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ctxemb.corpora.tables import csv_rows
from ctxemb.lexicon.ids import Csr, components
from ctxemb.lexicon.lexicon import Entry, LexiconError
from ctxemb.lexicon.tables import column_names, text_encoding

ALIAS_RELATIONS = ("alias", "same as", "sameas", "also known as", "别名", "又称", "简称")
MAX_ROWS = 5_000_000


@dataclass(frozen=True)
class KnowledgeGraph:
    """Entities, their names, and which of them are related.

    Attributes:
        name: the file's name.
        names: for each entity its names, the first one mentioned in the file first.
        related: entity -> entities with a relation to it, in either direction.
        entity_of: name -> entity.
    """

    name: str
    names: tuple[tuple[str, ...], ...]
    related: Csr = field(repr=False)
    entity_of: Mapping[str, int] = field(repr=False)

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Entry]:
        """The names of each entity that has several, for `clean`."""
        return (Entry("alias", names) for names in self.names if len(names) > 1)

    def unrelated(self, entity: str, count: int, seed: int) -> list[str]:
        """Draw other entities at random that no relation connects with this one; each by its first name.

        Fewer than `count` if there are not so many.

        Raises:
            LexiconError: the graph does not know the entity, or it is related to all others.
        """
        number = self.entity_of.get(entity)
        if number is None:
            raise LexiconError(f"{self.name} has no entity {entity!r}; use a name that stands in the graph.")
        excluded = np.unique(np.append(self.related[number], number))
        num_left = len(self) - len(excluded)
        if num_left == 0:
            raise LexiconError(f"{self.name}: every entity is related to {entity!r}; it has no negatives.")
        rng = np.random.default_rng(seed)
        drawn = rng.choice(num_left, min(count, num_left), replace=False)
        # The i-th entity that is not excluded, without listing them all.
        drawn += np.searchsorted(excluded - np.arange(len(excluded)), drawn, side="right")
        return [self.names[i][0] for i in drawn]


def read_graph(
    path: Path,
    *,
    encoding: str | None = None,
    alias_relations: Collection[str] = ALIAS_RELATIONS,
    max_rows: int = MAX_ROWS,
) -> KnowledgeGraph:
    """Read a graph; its names stay in memory, at some 200 bytes each.

    Args:
        path: of the table.
        encoding: None for UTF-8.
        alias_relations: relations, in lower case, whose two ends are names of one entity.
        max_rows: refuse a longer table.

    Raises:
        LexiconError: other columns, an incomplete row, no row, or too many; the message names the line.
        CorpusError: the file cannot be read.
    """
    rows = csv_rows(path, text_encoding(path, encoding))
    columns = column_names(next(rows)[1])
    if not is_graph(columns):
        raise LexiconError(
            f"{path} has the columns {', '.join(map(repr, columns))}; a graph has entity,alias or "
            "entity,relation,entity."
        )
    numbers: dict[str, int] = {}
    aliases: list[tuple[int, int]] = []
    relations: list[tuple[int, int]] = []
    for count, (line, row) in enumerate(rows, start=1):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if count > max_rows:
            raise LexiconError(f"{path}, line {line}: more than {max_rows:,} rows; raise max_rows or give a part.")
        if len(cells) != len(columns) or not all(cells):
            raise LexiconError(f"{path}, line {line}: {row} is no row of {','.join(columns)}; mend or remove it.")
        pair = (numbers.setdefault(cells[0], len(numbers)), numbers.setdefault(cells[-1], len(numbers)))
        is_alias = len(cells) == 2 or cells[1].lower() in alias_relations
        (aliases if is_alias else relations).append(pair)
    if not numbers:
        raise LexiconError(f"{path} has no rows; write one {' and '.join(columns)} a line.")
    return _graph(path.name, numbers, np.array(aliases).reshape(-1, 2), np.array(relations).reshape(-1, 2))


def is_graph(columns: list[str]) -> bool:
    """Tell whether these are the columns of a graph."""
    return columns == ["entity", "alias"] or (columns[:2] == ["entity", "relation"] and len(columns) == 3)


def _graph(name: str, numbers: dict[str, int], aliases_A2: np.ndarray, relations_R2: np.ndarray) -> KnowledgeGraph:
    entity_N = components(aliases_A2.astype(np.int64), len(numbers))
    names: list[list[str]] = [[] for _ in range(int(entity_N.max()) + 1)]
    entity_of = dict(zip(numbers, entity_N.tolist(), strict=True))
    for word, entity in entity_of.items():
        names[entity].append(word)
    ends_R2 = entity_N[relations_R2.astype(np.int64)]
    ends_R2 = ends_R2[ends_R2[:, 0] != ends_R2[:, 1]]
    both_ways = np.unique(np.concatenate([ends_R2, ends_R2[:, ::-1]]), axis=0)
    related = Csr.of(both_ways[:, 0], both_ways[:, 1], len(names))
    return KnowledgeGraph(name, tuple(map(tuple, names)), related, entity_of)
