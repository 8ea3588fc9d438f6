"""What ships is sound; each fault is named by the check that is there for it, and by no other."""

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from ctxemb import Encoder
from ctxemb.checkup import CHECKS, Finding, check_folder, examine, run_checkup, summary
from ctxemb.checkup.battery import Check
from ctxemb.checkup.subject import Subject
from tests.unit.checkup.conftest import NAMES, SHIPPED, change_json, change_weights, forget_training

TABLE = "embedding.weight"


@pytest.mark.parametrize("name", NAMES)
def test_what_ships_is_sound_without_a_warning(name: str) -> None:
    checkup = check_folder(SHIPPED / name)
    assert {result.name: result.finding.found for result in checkup.results if result.verdict in ("fail", "warn")} == {}
    assert checkup.verdict == "sound"
    assert [result.name for result in checkup.results] == [check.name for check in CHECKS]
    assert f"{checkup.language}-{checkup.family}" == name == checkup.name
    left = {result.name for result in checkup.of("not applicable")}
    expected = {"bilm": set(), "contrastive": {"perplexity"}}
    assert left == expected.get(str(checkup.family), {"no leak", "trained", "perplexity", "senses"})
    assert all(result.finding.found for result in checkup.results)
    assert summary(checkup).startswith("Sound: ")


# faults, each in a copy of a shipped checkpoint


def nan_weight(folder: Path) -> None:
    change_weights(folder, lambda tensors: tensors["norm.weight"][7:9].fill_(float("nan")))


def infinite_weight(folder: Path) -> None:
    change_weights(folder, lambda tensors: tensors["project_states.weight"][0, 0:1].fill_(float("inf")))


def zeroed_embedding(folder: Path) -> None:
    change_weights(folder, lambda tensors: tensors[TABLE].zero_())


def zeroed_lstm(folder: Path) -> None:
    change_weights(folder, lambda tensors: tensors["forward_lstms.0.weight_hh_l0"].zero_())


def duplicated_rows(folder: Path) -> None:
    change_weights(folder, lambda tensors: tensors[TABLE][20_000:21_000].copy_(tensors[TABLE][22_000:23_000]))


def constant_rows(folder: Path) -> None:
    change_weights(folder, lambda tensors: tensors[TABLE][24_000:24_500].fill_(0.25))


def collapsed(folder: Path) -> None:
    """What the layer norm lets through of a context is next to nothing, beside a large shift."""

    def change(tensors: dict[str, torch.Tensor]) -> None:
        tensors["norm.weight"].mul_(0.01)
        tensors["norm.bias"].fill_(1.0)

    change_weights(folder, change)


def tokenizer_of_another(folder: Path) -> None:
    (folder / "tokenizer.json").write_bytes((SHIPPED / "zh-static" / "tokenizer.json").read_bytes())


def fewer_words(folder: Path) -> None:
    def change(tokenizer: dict) -> None:
        vocabulary = tokenizer["model"]["vocab"]
        tokenizer["model"]["vocab"] = {word: i for word, i in vocabulary.items() if i < 20_000}

    change_json(folder / "tokenizer.json", change)


def words_in_other_rows(folder: Path) -> None:
    """A tokenizer of the same size that belongs to other weights: nothing about its file is wrong."""

    def change(tokenizer: dict) -> None:
        words = [word for word, i in tokenizer["model"]["vocab"].items() if i >= 4]
        ids = list(range(4, len(words) + 4))
        random.Random(0).shuffle(ids)
        tokenizer["model"]["vocab"] |= dict(zip(words, ids, strict=True))

    change_json(folder / "tokenizer.json", change)


def special_ids_moved(folder: Path) -> None:
    def change(tokenizer: dict) -> None:
        moved = {"<unk>": 0, "<pad>": 1, "<bos>": 2, "<eos>": 3}
        tokenizer["model"]["vocab"] |= moved
        for token in tokenizer["added_tokens"]:
            token["id"] = moved[token["content"]]
        tokenizer["added_tokens"].sort(key=lambda token: token["id"])

    change_json(folder / "tokenizer.json", change)


def truncated(folder: Path) -> None:
    content = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(content[: len(content) // 2])


def other_sizes(folder: Path) -> None:
    change_json(folder / "config.json", lambda config: config["model"].update(hidden_size=96))


def no_config(folder: Path) -> None:
    (folder / "config.json").unlink()


def unknown_setting(folder: Path) -> None:
    change_json(folder / "config.json", lambda config: config["model"].update(colour="red"))


def broken_metrics(folder: Path) -> None:
    (folder / "metrics.json").write_text("[" * 100_000)


def statistics_of_another(folder: Path) -> None:
    (folder / "statistics.safetensors").write_bytes((SHIPPED / "en-bilm" / "statistics.safetensors").read_bytes())


def perplexity_recorded_wrongly(folder: Path) -> None:
    record = {"perplexity_forward": 50.0, "perplexity_backward": 50.0}
    change_json(folder / "metrics.json", lambda metrics: metrics.update(evaluation={"examples": record}))


FAULTS: list[tuple[Callable[[Path], None], str, str, str]] = [
    (nan_weight, "en-contrastive", "values", r"2 numbers are NaN or infinite, in norm\.weight\."),
    (infinite_weight, "en-contrastive", "values", r"1 number is NaN or infinite, in project_states\.weight\."),
    (zeroed_embedding, "en-contrastive", "values", r"embedding\.weight is zero throughout"),
    (zeroed_embedding, "en-static", "values", r"embedding\.weight is zero throughout"),
    (zeroed_lstm, "en-contrastive", "values", r"forward_lstms\.0\.weight_hh_l0 is zero throughout"),
    (duplicated_rows, "en-contrastive", "rows", "2,000 words share their row with another"),
    (constant_rows, "en-contrastive", "rows", "500 words have a row of one repeated number"),
    (forget_training, "en-contrastive", "trained", "no better than untrained"),
    (forget_training, "en-bilm", "trained", r"no better than a guess over all 25,000 words \(10\.13\)"),
    (words_in_other_rows, "en-contrastive", "trained", "no better than untrained"),
    (collapsed, "en-contrastive", "collapse", "all vectors are nearly the same"),
    (tokenizer_of_another, "en-static", "tokenizer", "takes ready words, so it is not one for language 'en'"),
    (fewer_words, "en-static", "tokenizer", r"tokenizer\.json has 20,000 words, and config\.json says 25,000\."),
    (special_ids_moved, "en-static", "tokenizer", "^Ids 0-3 of this tokenizer are"),
    (truncated, "en-static", "weights", r"^model\.safetensors cannot be read .* cut short: copy it again\.$"),
    (other_sizes, "en-contrastive", "weights", r"but config\.json asks for \(384, 200\)"),
    (no_config, "en-static", "files", r"^There is no config\.json; copy the whole folder again\.$"),
    (unknown_setting, "en-static", "files", r"model\.colour: Extra inputs are not permitted"),
    (broken_metrics, "en-static", "files", r"metrics\.json is not JSON"),
    (statistics_of_another, "en-contrastive", "statistics", "does not fit this checkpoint"),
    (perplexity_recorded_wrongly, "en-bilm", "perplexity", "On all 506 sentences of examples the perplexity is"),
]


@pytest.mark.parametrize(
    ("spoil", "name", "check", "found"), FAULTS, ids=[f"{fault[0].__name__}-{fault[1]}" for fault in FAULTS]
)
def test_a_fault_is_named_by_its_check_and_by_no_other(spoil, name, check, found, copy) -> None:
    folder = copy(name)
    spoil(folder)
    checkup = check_folder(folder)
    said = {result.name: result.finding.found for result in checkup.results if result.verdict in ("fail", "warn")}
    assert said.keys() == {check}
    assert re.search(found, said[check]), said[check]
    assert str(folder) not in said[check]
    is_file = checkup.result(check).group == "files"
    assert checkup.verdict == ("unreadable" if is_file else "unsound")
    assert summary(checkup).startswith("Unreadable: " if is_file else f"Unsound: 1 check failed ({check})")
    assert all(f"“{check}” failed" in result.finding.found for result in checkup.of("not run"))


def test_what_a_failed_check_takes_the_ground_from_is_not_run(copy) -> None:
    folder = copy("en-static")
    zeroed_embedding(folder)
    verdicts = {result.name: result.verdict for result in run_checkup(folder)}
    assert [name for name, verdict in verdicts.items() if verdict == "pass"] == [
        "files",
        "tokenizer",
        "weights",
        "statistics",
    ]
    assert [name for name, verdict in verdicts.items() if verdict == "not run"] == [check.name for check in CHECKS[5:]]


def test_a_check_that_breaks_says_which_it_is_and_the_others_go_on(
    untrained: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(subject: Subject) -> Finding:
        return Finding("pass", f"{1 // 0}")

    checks = tuple(
        Check(check.name, check.question, check.group, break_down if check.name == "rows" else check.run, check.needs)
        for check in CHECKS[:8]
    )
    monkeypatch.setattr("ctxemb.checkup.battery.CHECKS", checks)
    results = {result.name: result for result in examine(Subject(untrained.checkpoint.path))}
    assert results["rows"].verdict == "fail"
    assert results["rows"].finding.found.startswith("The check “rows” broke on this checkpoint: ZeroDivisionError: ")
    assert {result.verdict for name, result in results.items() if name not in ("rows", "statistics")} == {"pass"}


def test_what_cannot_be_printed_is_not(untrained: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    def ring(subject: Subject) -> Finding:
        return Finding("warn", "a\x1b[31m bell\x07 " + 2_000 * "x")

    first = CHECKS[0]
    monkeypatch.setattr("ctxemb.checkup.battery.CHECKS", (Check(first.name, first.question, first.group, ring),))
    (result,) = examine(Subject(untrained.checkpoint.path))
    assert result.finding.found.isprintable()
    assert len(result.finding.found) < 700


def test_progress_names_the_questions_in_order(untrained: Encoder) -> None:
    said: list[tuple[float, str]] = []
    check_folder(untrained.checkpoint.path, on_progress=lambda done, question: said.append((done, question)))
    assert [done for done, _ in said] == sorted(done for done, _ in said)
    assert said[0] == (0.0, CHECKS[0].question)
    assert said[-1][0] == 1.0
    assert {question for _, question in said} == {check.question for check in CHECKS}
