"""What a sidecar prints of the secrets that it knows is nowhere in a run's folder."""

import sys
from pathlib import Path

import pytest

from rocm_wizard.machine.target import Target
from rocm_wizard.qualification.stage import StageContext
from rocm_wizard.report.catalogue import Catalogue
from rocm_wizard.report.redact import Mask
from rocm_wizard.report.writer import write_reports
from rocm_wizard.sidecar.launch import CHECKOUT_SCRIPTS
from rocm_wizard.stages.session import Session
from rocm_wizard.stages.smoke import SmokeFailed, sidecar
from rocm_wizard.stages.speech_children import asr_spec, tts_spec
from tests.children.telltale import MARK
from tests.stages.bench import CHILDREN, Bench
from tests.stages.test_host_pass import HostStage

ENV_FILE = f"""\
OPENAI_API_KEY=sk-{MARK * 20}-1
DB=postgres://me:{MARK * 4}-2@host/x
MY_NOTE='{MARK * 3} "quoted\\{MARK}" 秘密 {MARK * 3}'
SERVICE_PASSWORD={MARK * 5}-beaten
TTS_DEVICE=cpu
"""


@pytest.fixture
def checkout(tmp_path: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout outside of the run's folder, whose sidecars tell."""
    monkeypatch.setenv("SERVICE_PASSWORD", MARK * 5 + "-inherited")
    monkeypatch.setenv("HF_TOKEN", "hf_" + MARK * 7)
    monkeypatch.setenv("TTS_REF_AUDIO_JA", "reference.wav")
    folder = tmp_path / "our 检出"
    for script in CHECKOUT_SCRIPTS.values():
        path = folder / script
        path.parent.mkdir(parents=True)
        path.write_text((CHILDREN / "telltale.py").read_text(encoding="utf-8"), encoding="utf-8")
    (folder / ".env").write_text(ENV_FILE, encoding="utf-8")
    bench.session.target = Target(Path(sys.executable), folder)
    return folder


class FirstPass:
    """The clean pass: `ready`, one request, the end."""

    def __init__(self, session: Session, kind: str) -> None:
        self.id = f"{kind}_smoke"
        self._session, self._kind = session, kind

    def run(self, context: StageContext) -> None:
        spec = asr_spec(self._session) if self._kind == "asr" else tts_spec(self._session)
        try:
            with sidecar(context, self._session, spec) as client:
                client.infer({"text": "hello"})
        except SmokeFailed:
            pass


@pytest.mark.usefixtures("checkout")
@pytest.mark.parametrize(
    ("kind", "mode", "as_host", "told"),
    [
        ("asr", "load", True, "sidecar.host_load_failed"),
        ("tts", "load", False, "sidecar.load_failed"),
        ("asr", "banner", True, "sidecar.host_text_before_ready"),
        ("tts", "banner", True, "sidecar.host_garbage"),
        ("tts", "print", True, "sidecar.host_garbage"),
        ("asr", "print", True, "sidecar.host_garbage"),
        ("asr", "die", True, "sidecar.host_died"),
        ("tts", "refuse", False, "sidecar.refused"),
        ("tts", "id", True, "sidecar.host_broken"),
        ("asr", "fields", True, "sidecar.host_words"),
        ("tts", "fields", False, "wire.unknown_types"),
    ],
)
def test_no_secret_that_a_sidecar_prints_is_below_the_run_folder(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, kind: str, mode: str, as_host: bool, told: str
) -> None:
    monkeypatch.setenv("TELLTALE", mode)
    bench.options(limits={"ready": 20.0, "message": 20.0, "host_ready": 20.0, "host_answer": 20.0})
    state = bench.run(lambda session: HostStage(session, kind) if as_host else FirstPass(session, kind))
    assert told in {finding.id for finding in state.stage(f"{kind}_smoke").findings}
    write_reports(state, Catalogue(), bench.folder, mask=Mask(()))
    files = {path.name: path.read_bytes() for path in bench.folder.rglob("*") if path.is_file()}
    logs = [name for name in files if name.endswith(".log")]
    assert {"journal.jsonl", "report.html", "report.md", "report.json"} < set(files) and len(logs) == 1
    assert [name for name, data in files.items() if MARK.encode() in data] == []
    said = files[logs[0]].decode("utf-8")
    assert "key: *** refused" in said and '{"key": "***"}' in said and b"***" in files["journal.jsonl"]
