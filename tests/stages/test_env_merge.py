"""The `.env` step: consent, placeholders, conflicts, shadows, and a file that is not ours."""

from pathlib import Path

import pytest
from dotenv import dotenv_values

from rocm_wizard.machine.target import Target
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.stage import Answer, CancelToken, Question
from rocm_wizard.qualification.state import RunState
from rocm_wizard.stages.env_merge import OWN_FILE, EnvMergeStage
from tests.stages.bench import Bench, bad

MINE = b"# my keys\r\nOPENAI_API_KEY=sk-canary-123456789\r\nTTS_DEVICE=cpu\r\nASR_LANGUAGE=ja  # home\r\n"


@pytest.fixture
def checkout(bench: Bench, tmp_path: Path) -> Path:
    """A checkout with an `.env` that somebody owns."""
    folder = tmp_path / "Amadeus 检出"
    folder.mkdir()
    (folder / ".env").write_bytes(MINE)
    bench.session.target = Target(bench.session.target.python, folder)
    return folder


def ids(state: RunState) -> list[str]:
    """The stage's finding ids."""
    return [finding.id for finding in state.stage("env_merge").findings]


def test_without_a_checkout_the_settings_go_into_a_file_of_the_run(bench: Bench) -> None:
    state = bench.run(EnvMergeStage)
    assert state.stage("env_merge").outcome is Outcome.PASSED
    values = dotenv_values(bench.folder / OWN_FILE)
    assert values["TTS_DEVICE"] == "cpu"
    assert values["WAKE_PHRASES"] == "克里斯汀娜"
    assert "TTS_GPT_MODEL_PATH" not in values, "a stand-in is not a value"


def test_nobody_to_ask_means_nothing_written(bench: Bench, checkout: Path) -> None:
    state = bench.run(EnvMergeStage)
    assert state.stage("env_merge").outcome is Outcome.COULD_NOT_CHECK
    assert "env.no_consent" in ids(state)
    assert (checkout / ".env").read_bytes() == MINE
    assert state.verdict == 3


def test_yes_writes_keeps_conflicts_and_every_foreign_byte(bench: Bench, checkout: Path) -> None:
    bench.options(yes=True)
    state = bench.run(EnvMergeStage)
    assert state.stage("env_merge").outcome is Outcome.WARNING
    written = (checkout / ".env").read_bytes()
    assert written.startswith(MINE)
    assert written.count(b"\r\n") == written.count(b"\n")
    values = dotenv_values(checkout / ".env")
    assert values["ASR_LANGUAGE"] == "ja", "unattended, the owner's own choice stays"
    assert values["QWEN3_ASR_DEVICE"] == "cpu"
    kept = next(finding for finding in state.stage("env_merge").findings if finding.id == "env.conflict_kept")
    assert kept.facts["keys"] == ["ASR_LANGUAGE"]
    backups = list(checkout.glob(".env.bak-*"))
    assert [backup.read_bytes() for backup in backups] == [MINE]


def test_a_second_run_changes_nothing(bench: Bench, checkout: Path) -> None:
    bench.options(yes=True)
    bench.run(EnvMergeStage)
    once = (checkout / ".env").read_bytes()
    again = Bench(bench.folder / "again")
    again.session.target = bench.session.target
    state = again.run(EnvMergeStage)
    assert "env.unchanged" in ids(state)
    assert (checkout / ".env").read_bytes() == once


def test_a_person_decides_conflict_and_consent(bench: Bench, checkout: Path) -> None:
    asked: list[str] = []

    def person(question: Question, cancel: CancelToken) -> Answer:
        del cancel
        asked.append(question.id)
        return Answer({"env.conflict": "wanted", "env.apply": "apply"}[question.id], "person")

    from rocm_wizard.qualification.pipeline import Pipeline

    pipeline = Pipeline([EnvMergeStage(bench.session)], bench.journal, ask=person)
    pipeline.start("test", {}, {}, "en")
    pipeline.run()
    assert asked == ["env.conflict", "env.apply"]
    assert b"ASR_LANGUAGE=zh  # home\r\n" in (checkout / ".env").read_bytes()


def test_no_leaves_the_file_alone(bench: Bench, checkout: Path) -> None:
    from rocm_wizard.qualification.pipeline import Pipeline

    def refuses(question: Question, cancel: CancelToken) -> Answer:
        del cancel
        return Answer("current" if question.id == "env.conflict" else "decline", "person")

    pipeline = Pipeline([EnvMergeStage(bench.session)], bench.journal, ask=refuses)
    pipeline.start("test", {}, {}, "en")
    state = pipeline.run()
    assert state.stage("env_merge").outcome is Outcome.CANCELLED
    assert (checkout / ".env").read_bytes() == MINE


def test_a_variable_that_beats_the_file_is_named(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTS_DEVICE", "cuda:1")
    found = bad(bench.run(EnvMergeStage), "env_merge")
    assert (found.id, found.facts["keys"]) == ("env.shadowed", ["TTS_DEVICE (process)"])


def test_a_folder_in_the_files_place_fails_and_names_the_file(bench: Bench) -> None:
    (bench.folder / OWN_FILE).mkdir()
    found = bad(bench.run(EnvMergeStage), "env_merge")
    assert (found.id, found.outcome) == ("env.is_directory", Outcome.FAILED)
    assert str(found.facts["file"]).endswith(OWN_FILE)


def test_secrets_reach_neither_journal_nor_preview(bench: Bench, checkout: Path) -> None:
    (checkout / ".env").write_bytes(MINE + b"TTS_MODE=\r\nHF_TOKEN=hf_canarycanary\r\nDB=postgres://u:canary@h/d\r\n")
    bench.options(yes=True)
    bench.run(EnvMergeStage)
    assert "canary" not in bench.journal.path.read_text(encoding="utf-8")
