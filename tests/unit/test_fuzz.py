"""A slice of `python -m benchmarks.fuzz`, without its limits of time and memory."""

import zipfile
from pathlib import Path

import pytest

from benchmarks import fuzz
from benchmarks.fuzz import FAULTS, Outcome, run_case
from benchmarks.fuzz_cases import ROUTES, Case, Sound, make_case, make_sound

CASES = range(60)


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Sound:
    return make_sound(tmp_path_factory.mktemp("sound"))


def test_sixty_cases_end_as_they_should(sound, tmp_path):
    outcomes = {}
    for number in CASES:
        case = make_case(sound, 0, number)
        outcomes[number] = run_case(case, tmp_path)
        assert outcomes[number].kind not in FAULTS, f"case {number} ({case.description}): {outcomes[number]}"
    # the slice says something: some are refused, some can be used
    assert {outcome.kind for outcome in outcomes.values()} == {"refused", "usable"}
    assert list(tmp_path.iterdir()) == []


def test_what_is_sound_can_be_used_by_every_route(sound, tmp_path):
    archive = tmp_path / "sound.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for name, content in sound.checkpoints[1].items():
            file.writestr(name, content)
    state = {"state.pt": sound.state, "words.txt": sound.words}
    for route, files in zip(
        ROUTES, (sound.checkpoints[0], sound.checkpoints[1], {"a.zip": archive.read_bytes()}, state), strict=True
    ):
        assert run_case(Case(route, "sound", files), tmp_path) == Outcome("usable")


def test_a_case_follows_from_its_number(sound):
    for number in range(len(ROUTES)):
        assert make_case(sound, 3, number) == make_case(sound, 3, number)
        assert make_case(sound, 3, number) != make_case(sound, 4, number)


# the fuzz can fail


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (lambda private: (private.parent / "x").touch(), "files"),
        (lambda private: Path("x").touch(), "files"),
        (lambda private: (private / "x").mkdir(), "files"),
        (lambda private: {}["x"], "traceback"),
        (lambda private: bytearray(1 << 60), "memory"),
    ],
)
def test_faults_are_seen(tmp_path, monkeypatch, fault, kind):
    def receive(files: dict[str, Path], into: Path) -> Path:
        fault(into)
        raise ValueError("no")

    monkeypatch.setattr(fuzz, "receive_checkpoint", receive)
    assert run_case(Case("state_dict", "", {"a": b""}), tmp_path).kind == kind


def test_a_message_that_is_no_sentence_is_seen(tmp_path, monkeypatch):
    def receive(files: dict[str, Path], into: Path) -> Path:
        raise ValueError("one\ntwo")

    monkeypatch.setattr(fuzz, "receive_checkpoint", receive)
    assert run_case(Case("state_dict", "", {"a": b""}), tmp_path).kind == "message"
