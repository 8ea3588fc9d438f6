"""The public test sets by name: which there are for a language, where they lie, and how each is scored."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ctxemb.corpora import CorpusError, data_folder, wikitext
from ctxemb.evaluation import analogies, scws, wic, words, zh_wsd
from ctxemb.evaluation.coarsewsd import HOME as COARSEWSD_HOME
from ctxemb.evaluation.public.context_pairs import score_mcl_wic, score_scws, score_wic
from ctxemb.evaluation.public.language_model import score_wikitext, wikitext_splits
from ctxemb.evaluation.public.score import WHOLE, PublicScore
from ctxemb.evaluation.public.senses import coarsewsd_splits, score_coarsewsd, score_zh_wsd
from ctxemb.evaluation.public.subject import Subject
from ctxemb.evaluation.public.words import score_analogies, score_rated_pairs
from ctxemb.evaluation.sources import has_file
from ctxemb.text import Language

ALL = "all"
SAME_SPLIT = {"valid": "dev", "validation": "dev", "training": "train"}
SIMILAR = "How similar are two words, without a context? Ranks of cosines against people's ratings."
RELATED = "How related are two words, without a context? Ranks of cosines against people's ratings."
ANALOGIES = "a is to b as c is to what? The word nearest to b - a + c has to be the right one."
LANGUAGES: dict[Language, str] = {"en": "English", "zh": "Chinese"}


class PublicTestError(ValueError):
    """A test set that there is none of, or not for this checkpoint; the text says which there are."""


@dataclass(frozen=True)
class PublicTest:
    """A test set.

    Attributes:
        name: what `--test` takes.
        about: what it asks, for people.
        languages: of the checkpoints that it is for.
        folders: names of its folder in the data folder; where several are known, the first is ours.
        home: where a person can get it.
        content: what belongs into its folder.
        splits: (its folder, language) -> the parts that are there, the one scored by default first; none: not here.
        score: scores one of those parts.
    """

    name: str
    about: str
    languages: tuple[Language, ...]
    folders: tuple[str, ...]
    home: str
    content: str
    splits: Callable[[Path, Language], tuple[str, ...]]
    score: Callable[[Subject, Path, str], PublicScore]


def names_for(language: Language) -> list[str]:
    """Names of the test sets of a language."""
    return [name for name, test in PUBLIC_TESTS.items() if language in test.languages]


def choose_tests(names: Sequence[str], language: Language) -> list[PublicTest]:
    """The test sets of these names, each once; `all` means every one of the language.

    Raises:
        PublicTestError: if there is none of that name, or it is one of another language.
    """
    chosen: dict[str, PublicTest] = {}
    spellings = {name.casefold(): name for name in PUBLIC_TESTS}
    for asked in names:
        if asked.casefold() == ALL:
            chosen |= {name: PUBLIC_TESTS[name] for name in names_for(language)}
            continue
        name = spellings.get(asked.casefold())
        if name is None:
            raise PublicTestError(f"there is no test {asked!r}; choose {', '.join([ALL, *PUBLIC_TESTS])}")
        if language not in PUBLIC_TESTS[name].languages:
            raise PublicTestError(
                f"{name} is not for {LANGUAGES[language]}, which this checkpoint reads; choose "
                f"{', '.join([ALL, *names_for(language)])}"
            )
        chosen[name] = PUBLIC_TESTS[name]
    return list(chosen.values())


def run_test(test: PublicTest, subject: Subject, data: Path | None = None, split: str | None = None) -> PublicScore:
    """Score a checkpoint on a test set.

    Args:
        test: from `choose_tests`.
        subject: the checkpoint.
        data: the set's own folder, or the one that holds it; the data folder if None.
        split: a part, for sets that are divided; the test part if it is here, else the development part, if None.

    Raises:
        CorpusError: if the set or the part is not here, or a file is not in the authors' format.
        PerplexityError: if words have to be predicted and the checkpoint predicts none.
    """
    language = subject.encoder.config.text.language
    data = data or data_folder()
    for folder in (*(data / name for name in test.folders), data):
        if splits := test.splits(folder, language):
            return test.score(subject, folder, _choose_split(test, splits, split, folder))
    raise CorpusError(
        f"{test.name} is not in {data}; get it from {test.home} and put {test.content} into {data / test.folders[0]}"
    )


def _choose_split(test: PublicTest, splits: tuple[str, ...], asked: str | None, folder: Path) -> str:
    if asked is None or splits == (WHOLE,):
        return splits[0]
    wanted = _same(asked)
    for split in splits:
        if _same(split) == wanted:
            return split
    raise CorpusError(
        f"{test.name} has no {asked} part in {folder}, only {', '.join(splits)}; get it from {test.home}, "
        "put it there, or choose another split"
    )


def _same(split: str) -> str:
    first = split.casefold().partition(" ")[0]  # "dev (carved from train)" is asked for as dev
    return SAME_SPLIT.get(first, first)


def _whole(*files: str) -> Callable[[Path, Language], tuple[str, ...]]:
    """One part, if one of these files is there."""
    return lambda folder, _: (WHOLE,) if any(has_file(folder, file) for file in files) else ()


def _rated(name: str, key: str, language: Language, about: str) -> PublicTest:
    rated = words.SIMILARITY_SETS[key]
    names = [file.name for file in rated.files]

    def score(subject: Subject, folder: Path, split: str) -> PublicScore:
        return score_rated_pairs(subject, name, key, folder, split)

    return PublicTest(name, about, (language,), (rated.folder,), rated.home, " or ".join(names), _whole(*names), score)


def _analogies(name: str, language: Language, about: str) -> PublicTest:
    folder, file, home = analogies.ANALOGY_SETS[name]

    def score(subject: Subject, folder: Path, split: str) -> PublicScore:
        return score_analogies(subject, name, folder, split)

    return PublicTest(name, about, (language,), (folder,), home, file, _whole(file), score)


def _tests() -> Iterator[PublicTest]:
    yield PublicTest(
        name="wic",
        about="Pairs of sentences with one word: is it used in the same meaning? The cosine of the two "
        "uses has to decide, by a threshold.",
        languages=("en",),
        folders=("wic", "WiC_dataset"),
        home=wic.WIC_HOME,
        content="its folders train, dev and test",
        splits=lambda folder, _: wic.wic_parts(folder),
        score=score_wic,
    )
    yield PublicTest(
        name="mcl-wic",
        about="Like WiC, with longer sentences: is a word used in the same meaning in both?",
        languages=("en", "zh"),
        folders=("mcl-wic", "MCL-WiC"),
        home=wic.MCL_WIC_HOME,
        content="its .data and .gold files",
        splits=wic.mcl_wic_parts,
        score=score_mcl_wic,
    )
    yield PublicTest(
        name="coarsewsd-20",
        about="Twenty English nouns with clearly different senses: does the nearest labelled use, or "
        "the nearest sense's mean, have the right one?",
        languages=("en",),
        folders=("coarsewsd-20", "CoarseWSD-20"),
        home=COARSEWSD_HOME,
        content="its word folders",
        splits=lambda folder, _: coarsewsd_splits(folder),
        score=score_coarsewsd,
    )
    yield PublicTest(
        "scws",
        "How alike are two words, each in a sentence of its own? Ranks of cosines against people's ratings.",
        ("en",),
        ("scws", "SCWS"),
        scws.HOME,
        scws.FILE,
        _whole(scws.FILE),
        score_scws,
    )
    yield PublicTest(
        "zh-wsd",
        "Chinese words with several senses: does the nearest other use have the same one?",
        ("zh",),
        ("zh-wsd",),
        zh_wsd.HOME,
        zh_wsd.FILE,
        _whole(zh_wsd.FILE),
        score_zh_wsd,
    )
    yield _rated("simlex-999", "simlex999", "en", SIMILAR)
    yield _rated("wordsim-353", "wordsim353", "en", RELATED)
    yield _rated("wordsim-240", "wordsim240", "zh", RELATED)
    yield _rated("wordsim-297", "wordsim297", "zh", RELATED)
    yield _rated("COS960", "cos960", "zh", SIMILAR)
    for name in ("google", "bats"):
        yield _analogies(name, "en", ANALOGIES)
    for name in ("ca8-semantic", "ca8-morphological", "ca-translated"):
        yield _analogies(name, "zh", ANALOGIES)
    yield PublicTest(
        name="wikitext-2",
        about="Wikipedia articles: how well are words predicted from those before them and from those "
        "after them? Lower is better.",
        languages=("en",),
        folders=("wikitext-2",),
        home=wikitext.URL,
        content="wiki.valid.tokens and wiki.test.tokens",
        splits=lambda folder, _: wikitext_splits(folder),
        score=score_wikitext,
    )


PUBLIC_TESTS = {test.name: test for test in _tests()}
