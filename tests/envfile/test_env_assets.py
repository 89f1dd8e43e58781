"""The two templates that ship: the right keys, the right values, mergeable without loss."""

from rocm_wizard.assets import asset
from rocm_wizard.envfile import find_notices, make_plan, read_values, render
from rocm_wizard.envfile.document import Document
from rocm_wizard.envfile.notices import NoticeCode
from tests.envfile.env_support import dotenv_read, parse

# The template of the ROCm profile as the application's fork ships it (`tools/rocm_sidecar/voice-rocm.env.example`).
ROCM = {
    "ASR_BACKEND": "qwen3_asr",
    "ASR_LANGUAGE": "zh",
    "QWEN3_ASR_MODE": "sidecar",
    "QWEN3_ASR_MODEL_PATH": "assets/models/asr/qwen3-asr-0.6b",
    "QWEN3_ASR_DEVICE": "cuda",
    "QWEN3_ASR_REQUIRE_CUDA": "true",
    "QWEN3_ASR_WARMUP": "1",
    "TTS_BACKEND": "gpt_sovits",
    "TTS_MODE": "sidecar",
    "TTS_DEVICE": "cuda:0",
    "TTS_REQUIRE_CUDA": "1",
    "TTS_GPT_MODEL_PATH": "assets/models/gpt-sovits/weights/gpt/v3/YOUR_GPT.ckpt",
    "TTS_SOVITS_MODEL_PATH": "assets/models/gpt-sovits/weights/sovits/v3/YOUR_SOVITS.pth",
    "TTS_OUTPUT_LANGUAGE": "日文",
    "TTS_REF_AUDIO_JA": "assets/audio/reference/YOUR_REFERENCE.wav",
    "TTS_REF_TEXT_JA": "ここに参照音声と一致する文章を入力してください。",
    "NLTK_DATA": "./assets/nltk_data",
    "ENABLE_CUDA_GRAPH": "0",
    "ENABLE_CUDA_GRAPH_PRECAPTURE": "0",
    "TTS_T2S_FLASH_ATTN": "0",
    "BIGVGAN_USE_CUDA_KERNEL": "0",
    "TTS_BIGVGAN_STREAM_BUCKET_MELS": "80",
    "TTS_STARTUP_INFERENCE_WARMUP": "0",
    "WAKE_ENABLED": "false",
    "WAKE_ASR_BACKEND": "qwen3_asr",
    "WAKE_PHRASES": "克里斯汀娜",
}
STAND_INS = {"TTS_GPT_MODEL_PATH", "TTS_SOVITS_MODEL_PATH", "TTS_REF_AUDIO_JA", "TTS_REF_TEXT_JA"}


def test_the_rocm_template_has_the_26_keys_and_values() -> None:
    data = asset("voice-rocm.env").read_bytes()
    assert len(ROCM) == 26
    assert dotenv_read(data) == ROCM == read_values(parse(data))
    assert b"\r" not in data


def test_the_cpu_template_asks_for_no_gpu() -> None:
    values = dotenv_read(asset("voice-cpu.env").read_bytes())
    assert set(ROCM) - set(values) == {"TTS_BIGVGAN_STREAM_BUCKET_MELS"}  # read on HIP only
    different = {key: value for key, value in values.items() if value != ROCM[key]}
    assert different == {
        "QWEN3_ASR_DEVICE": "cpu",
        "QWEN3_ASR_REQUIRE_CUDA": "false",
        "QWEN3_ASR_WARMUP": "0",
        "TTS_DEVICE": "cpu",
        "TTS_REQUIRE_CUDA": "0",
    }


def test_merging_the_template_leaves_the_four_stand_ins_out() -> None:
    data = asset("voice-rocm.env").read_bytes()
    wanted = {key: value for key, value in read_values(parse(data)).items() if value is not None}
    plan = make_plan(Document.missing(), wanted)
    assert set(plan.placeholders) == STAND_INS
    after = dotenv_read(render(Document.missing(), plan))
    assert after == {key: value for key, value in ROCM.items() if key not in STAND_INS}
    assert all(not action.disagree for action in plan.actions)


def test_the_template_s_only_traps_are_its_stand_ins() -> None:
    found = find_notices(parse(asset("voice-rocm.env").read_bytes()))
    assert {notice.code for notice in found} == {NoticeCode.PLACEHOLDER}
    assert {notice.key for notice in found} == STAND_INS
