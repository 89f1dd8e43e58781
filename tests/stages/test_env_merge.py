"""The `.env` step: consent, placeholders, conflicts, shadows, and a file that is not ours."""

from pathlib import Path

import numpy as np
import pytest
from dotenv import dotenv_values

from rocm_wizard.audio.wav import write_wav
from rocm_wizard.envfile import newest_receipt, undo_write
from rocm_wizard.machine.target import Target
from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.qualification.pipeline import Pipeline
from rocm_wizard.qualification.stage import Answer, CancelToken, Question
from rocm_wizard.qualification.state import RunState
from rocm_wizard.report.catalogue import Catalogue
from rocm_wizard.stages.env_merge import OWN_FILE, EnvMergeStage, receipts_folder
from tests.stages.bench import Bench, bad

MINE = b"# my keys\r\nOPENAI_API_KEY=sk-canary-123456789\r\nTTS_DEVICE=cpu\r\nASR_LANGUAGE=ja  # home\r\n"


@pytest.fixture(autouse=True)
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Receipts go into a folder of the test."""
    monkeypatch.setenv("ROCM_WIZARD_HOME", str(tmp_path / "state"))


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
        if question.id == "env.model_file":
            return Answer("leave_out", "person")
        asked.append(question.id)
        return Answer({"env.conflict": "wanted", "env.apply": "apply"}[question.id], "person")

    pipeline = Pipeline([EnvMergeStage(bench.session)], bench.journal, ask=person)
    pipeline.start("test", {}, {}, "en")
    pipeline.run()
    assert asked == ["env.conflict", "env.apply"]
    assert b"ASR_LANGUAGE=zh  # home\r\n" in (checkout / ".env").read_bytes()


def test_no_leaves_the_file_alone(bench: Bench, checkout: Path) -> None:
    def refuses(question: Question, cancel: CancelToken) -> Answer:
        del cancel
        answers = {"env.conflict": "current", "env.model_file": "leave_out"}
        return Answer(answers.get(question.id, "decline"), "person")

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


def findings(state: RunState, id: str) -> list[Finding]:
    """The stage's findings of one id."""
    return [finding for finding in state.stage("env_merge").findings if finding.id == id]


def answered(bench: Bench, **answers: str) -> tuple[RunState, list[Question]]:
    """Runs the stage with a person who answers each question (its id's last word) and takes the default elsewhere."""
    asked: list[Question] = []

    def person(question: Question, cancel: CancelToken) -> Answer:
        del cancel
        asked.append(question)
        key = str(question.facts.get("key", ""))
        fallback = answers.get(question.id.partition(".")[2], question.default)
        return Answer(answers.get(key, fallback) if question.id != "env.apply" else "apply", "person")

    pipeline = Pipeline([EnvMergeStage(bench.session)], bench.journal, ask=person)
    pipeline.start("test", {}, {}, "en")
    return pipeline.run(), asked


@pytest.fixture
def models(checkout: Path) -> Path:
    """Two good GPT weights and some that are not, one SoVITS weight, one recording of 4 s with its sentence."""
    gpt = checkout / "assets/models/gpt-sovits/weights/gpt/v3"
    sovits = checkout / "assets/models/gpt-sovits/weights/sovits/v3"
    reference = checkout / "assets/audio/reference"
    for folder in (gpt, sovits, reference):
        folder.mkdir(parents=True)
    for name in ("b 声.ckpt", "a.ckpt"):
        (gpt / name).write_bytes(b"weights")
    (gpt / "empty.ckpt").write_bytes(b"")
    (gpt / "pointer.ckpt").write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    (gpt / "notes.txt").write_bytes(b"x")
    (sovits / "s.pth").write_bytes(b"weights")
    for name, seconds in (("short", 2), ("amy", 4)):
        write_wav(reference / f"{name}.wav", np.zeros(8000 * seconds, np.float32), 8000)
    (reference / "amy.txt").write_text("こんにちは、世界。\n", encoding="utf-8")
    return checkout


def test_model_files_are_offered_checked_and_merged(bench: Bench, models: Path) -> None:
    weights = "assets/models/gpt-sovits/weights"
    state, asked = answered(
        bench,
        TTS_GPT_MODEL_PATH=f"{weights}/gpt/v3/b 声.ckpt",
        TTS_SOVITS_MODEL_PATH=f"{weights}/sovits/v3/s.pth",
        TTS_REF_AUDIO_JA="assets/audio/reference/amy.wav",
        reference_text="use",
    )
    offered = [question.options for question in asked if question.id == "env.model_file"]
    assert offered == [
        (f"{weights}/gpt/v3/a.ckpt", f"{weights}/gpt/v3/b 声.ckpt", "leave_out"),
        (f"{weights}/sovits/v3/s.pth", "leave_out"),
        ("assets/audio/reference/amy.wav", "leave_out"),
    ]
    values = dotenv_values(models / ".env")
    assert values["TTS_GPT_MODEL_PATH"] == f"{weights}/gpt/v3/b 声.ckpt"
    assert (models / str(values["TTS_SOVITS_MODEL_PATH"])).is_file()
    assert values["TTS_REF_TEXT_JA"] == "こんにちは、世界。"
    names = [id for id in ids(state) if id.startswith("env.path_") and id != "env.path_missing"]
    unfit = {id: findings(state, id)[0].facts["path"] for id in names}
    assert {id: str(path).rpartition("/")[2] for id, path in unfit.items()} == {
        "env.path_empty": "empty.ckpt",
        "env.path_lfs_pointer": "pointer.ckpt",
        "env.path_too_short": "short.wav",
    }
    assert findings(state, "env.placeholders_left_out") == []


def test_a_typed_path_is_checked_and_counted_from_the_checkout(bench: Bench, models: Path, tmp_path: Path) -> None:
    outside = tmp_path / "elsewhere 别处"
    outside.mkdir()
    (outside / "mine.ckpt").write_bytes(b"weights")
    (outside / "hollow.ckpt").write_bytes(b"")
    inside = models / "assets/models/gpt-sovits/weights/sovits/v3/s.pth"
    replies = {
        "TTS_GPT_MODEL_PATH": [str(outside / "hollow.ckpt"), "nowhere.ckpt", str(outside / "mine.ckpt")],
        "TTS_SOVITS_MODEL_PATH": [f'"{inside}"'],
        "TTS_REF_AUDIO_JA": ["assets/audio/reference/amy.wav"],
        None: ["x" * 301, "これは試験です。"],
    }

    def person(question: Question, cancel: CancelToken) -> Answer:
        del cancel
        if question.id in ("env.apply", "env.conflict"):
            return Answer({"env.apply": "apply", "env.conflict": "current"}[question.id], "person")
        return Answer(replies[question.facts.get("key")].pop(0), "person")

    pipeline = Pipeline([EnvMergeStage(bench.session)], bench.journal, ask=person)
    pipeline.start("test", {}, {}, "en")
    state = pipeline.run()
    values = dotenv_values(models / ".env")
    assert values["TTS_GPT_MODEL_PATH"] == (outside / "mine.ckpt").as_posix()
    assert values["TTS_SOVITS_MODEL_PATH"] == "assets/models/gpt-sovits/weights/sovits/v3/s.pth"
    assert values["TTS_REF_TEXT_JA"] == "これは試験です。"
    found = ids(state)
    assert "env.path_missing" in found and "env.path_empty" in found and "env.sentence_unfit" in found


def test_unattended_no_file_is_guessed(bench: Bench, models: Path) -> None:
    bench.options(yes=True)
    state = bench.run(EnvMergeStage)
    (left_out,) = findings(state, "env.placeholders_left_out")
    assert len(left_out.facts["keys"]) == 4  # type: ignore[arg-type]
    assert "TTS_GPT_MODEL_PATH" not in dotenv_values(models / ".env")


def test_a_chosen_voice_is_not_overridden_by_a_built_in_profile(bench: Bench, models: Path) -> None:
    (models / ".env").write_bytes(b"TTS_VOICE_PROFILE=kurisu_v3\n")
    file = "assets/models/gpt-sovits/weights/gpt/v3/a.ckpt"
    state, asked = answered(bench, TTS_GPT_MODEL_PATH=file, TTS_VOICE_PROFILE="wanted")
    assert [question.facts["key"] for question in asked if question.id == "env.conflict"] == ["TTS_VOICE_PROFILE"]
    assert dotenv_values(models / ".env")["TTS_VOICE_PROFILE"] == "custom"
    assert findings(state, "env.rule_voice_profile_overrides") == []


def test_a_built_in_voice_profile_is_told(bench: Bench, checkout: Path) -> None:
    (checkout / ".env").write_bytes(b"TTS_VOICE_PROFILE=kurisu_v3\n")
    bench.options(yes=True)
    (found,) = findings(bench.run(EnvMergeStage), "env.rule_voice_profile_overrides")
    assert (found.outcome, found.facts["line"], found.facts["value"]) == (Outcome.WARNING, 1, "kurisu_v3")


def test_files_that_the_owner_named_are_not_missed(bench: Bench, checkout: Path) -> None:
    lines = [
        "TTS_GPT_MODEL_PATH=my.ckpt", "TTS_SOVITS_MODEL_PATH=my.pth", "TTS_REF_AUDIO_JA=my.wav", "TTS_REF_TEXT_JA=はい",
    ]  # fmt: skip
    (checkout / ".env").write_text("\n".join(lines) + "\n", encoding="utf-8")
    bench.options(yes=True)
    state = bench.run(EnvMergeStage)
    assert findings(state, "env.placeholders_left_out") == []
    assert (checkout / ".env").read_text(encoding="utf-8").startswith("\n".join(lines))
    missing = {str(found.facts["key"]) for found in findings(state, "env.path_missing")}
    assert missing >= {"TTS_GPT_MODEL_PATH", "TTS_REF_AUDIO_JA"}
    assert state.stage("env_merge").outcome is Outcome.WARNING, "the speech steps prove the files"


def test_what_still_holds_the_checkouts_default_was_nobodys_decision(bench: Bench, checkout: Path) -> None:
    (checkout / ".env.example").write_text("ASR_LANGUAGE=ja\nTTS_DEVICES=x\n", encoding="utf-8")
    (checkout / ".env").write_bytes(MINE + b"TTS_DEVICES=x\r\n")
    bench.options(yes=True)
    state = bench.run(EnvMergeStage)
    assert b"ASR_LANGUAGE=zh  # home\r\n" in (checkout / ".env").read_bytes()
    assert findings(state, "env.near_miss") == []


def test_where_a_value_comes_from_when_not_from_the_file(
    bench: Bench, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TTS_MODE", "sidecar")
    monkeypatch.setenv("EXP_TTS_MAX_CONCURRENCY", "2")
    bench.options(yes=True)
    state = bench.run(EnvMergeStage)
    (layers,) = findings(state, "env.layers")
    rows = set(layers.facts["rows"])  # type: ignore[arg-type]
    assert {"TTS_MODE: process", "EXP_TTS_MAX_CONCURRENCY: process", "TTS_GPT_MODEL_PATH: none"} <= rows
    assert findings(state, "env.shadowed") == [], "the same value outside does no harm"


def test_a_reader_that_is_switched_off_is_told(bench: Bench, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_DOTENV_DISABLED", "1")
    bench.options(yes=True)
    state = bench.run(EnvMergeStage)
    assert [found.outcome for found in findings(state, "env.dotenv_disabled")] == [Outcome.WARNING]


@pytest.mark.parametrize("line", [b"QWEN3_ASR_DEVICE=cuda:1\n", b"EXP_TTS_MAX_CONCURRENCY=two\n", b"A=caf\xe9\n"])
def test_what_stops_the_host_fails_the_step(bench: Bench, checkout: Path, line: bytes) -> None:
    (checkout / ".env").write_bytes(line)
    bench.options(yes=True)
    assert bench.run(EnvMergeStage).stage("env_merge").outcome is Outcome.FAILED


@pytest.mark.parametrize(("ignore", "told"), [("*.pyc\n", 1), (".env.bak-*\n", 0)])
def test_a_backup_that_git_would_take_up_is_told(bench: Bench, checkout: Path, ignore: str, told: int) -> None:
    (checkout / ".git").mkdir()
    (checkout / ".gitignore").write_text(ignore, encoding="utf-8")
    bench.options(yes=True)
    assert len(findings(bench.run(EnvMergeStage), "env.backups_not_ignored")) == told


def test_the_steps_write_can_be_undone_from_its_receipt(bench: Bench, checkout: Path) -> None:
    bench.options(yes=True)
    bench.run(EnvMergeStage)
    receipt = newest_receipt(receipts_folder(), checkout / ".env")
    assert receipt is not None
    undo_write(receipt)
    assert (checkout / ".env").read_bytes() == MINE


def test_keys_that_change_along_are_named(bench: Bench, checkout: Path) -> None:
    (checkout / ".env").write_bytes(b"TTS_MODE=\nMINE=${TTS_MODE}/x\n")
    bench.options(yes=True)
    (found,) = findings(bench.run(EnvMergeStage), "env.dependents")
    assert found.facts["keys"] == ["MINE (with TTS_MODE)"]


def test_every_sentence_of_the_step_is_complete(bench: Bench, models: Path) -> None:
    state, _ = answered(bench)
    catalogue = Catalogue("en")
    for finding in state.stage("env_merge").findings:
        text = catalogue.sentence(finding)
        assert "?" not in text and not text.startswith("env."), finding
