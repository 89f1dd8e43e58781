"""Reference recordings, and the two transformers models, as small random ones saved to disk."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch
from transformers import BertConfig, BertModel, HubertConfig, HubertModel

from rocm_wizard.speech.gpt_sovits.bert import load_bert
from rocm_wizard.speech.gpt_sovits.hubert import load_hubert
from rocm_wizard.speech.gpt_sovits.reference import ReferenceEncoder, read_recording, resampled
from rocm_wizard.speech.gpt_sovits.sovits import SovitsV3
from rocm_wizard.speech.gpt_sovits.text.front_end import FrontEnd
from rocm_wizard.speech.serve import LoadFailure, RequestError
from tests.speech.gpt_sovits.tiny import SOVITS

CPU = torch.device("cpu")
_BERT_WIDTH = 32
_LETTERS = "今天你好吗,.!?"


@pytest.fixture(scope="module")
def hubert_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A HuBERT of the real architecture with two small layers, saved as the public one is: `pytorch_model.bin`."""
    folder = tmp_path_factory.mktemp("hubert 模型")
    torch.manual_seed(2)
    config = HubertConfig(
        hidden_size=SOVITS.semantic,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        conv_dim=(32,) * 7,
        num_conv_pos_embeddings=16,
        num_conv_pos_embedding_groups=4,
    )
    HubertModel(config).save_pretrained(folder, safe_serialization=False)
    return folder


@pytest.fixture(scope="module")
def bert_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bert 模型")
    torch.manual_seed(3)
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *_LETTERS]
    config = BertConfig(
        vocab_size=len(tokens),
        hidden_size=_BERT_WIDTH,
        num_hidden_layers=5,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=40,
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(tokens), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def encoder(hubert_folder: Path) -> ReferenceEncoder:
    torch.manual_seed(4)
    sovits = SovitsV3(SOVITS).eval()
    return ReferenceEncoder(load_hubert(hubert_folder, CPU, torch.float32), sovits, FrontEnd(None, None))


def _recording(path: Path, seconds: float, rate: int = 44_100, channels: int = 1, *, peak: float = 0.4) -> Path:
    times = np.arange(int(seconds * rate)) / rate
    tone = peak * np.sin(2 * np.pi * 220 * times) * (1 + np.sin(2 * np.pi * 3 * times)) / 2
    soundfile.write(path, np.repeat(tone[:, None], channels, axis=1).astype(np.float32), rate, subtype="FLOAT")
    return path


@pytest.mark.parametrize(("rate", "channels"), [(44_100, 2), (16_000, 1), (24_000, 1)])
def test_lengths_that_follow_from_the_recording(
    encoder: ReferenceEncoder, tmp_path: Path, rate: int, channels: int
) -> None:
    found = encoder.features(_recording(tmp_path / "声音 1.wav", 4.0, rate, channels), "これは参照の声です", "all_ja")
    # 4 s and 1,600 zero samples at 16 kHz are 65,600: HuBERT makes 204 frames of them, two to a code.
    assert found.prompt_codes.shape == (1, 102)
    assert found.prompt_codes.dtype == torch.int64
    assert int(found.prompt_codes.min()) >= 0 and int(found.prompt_codes.max()) < SOVITS.codes
    assert found.mel.shape == (1, 100, 4 * 24_000 // 256)
    assert found.ge.shape == (1, SOVITS.style, 1)
    # Two encoder frames to a code, 1.875 mel frames to each.
    assert found.features.shape == (1, SOVITS.features, int(102 * 2 * 1.875))
    assert found.seconds == pytest.approx(4.0)
    assert len(found.phones.ids) > 10


def test_the_same_recording_is_encoded_once_until_the_file_changes(encoder: ReferenceEncoder, tmp_path: Path) -> None:
    path = _recording(tmp_path / "ref.wav", 3.5)
    first = encoder.features(path, "Hello there.", "en")
    assert encoder.features(path, "Hello there.", "en") is first
    assert encoder.features(path, "Hello, you.", "en") is not first
    _recording(path, 4.0)
    assert encoder.features(path, "Hello there.", "en").prompt_codes.shape != first.prompt_codes.shape


@pytest.mark.parametrize(("seconds", "allowed"), [(2.9, False), (3.0, True), (10.0, True), (10.1, False)])
def test_three_to_ten_seconds(tmp_path: Path, seconds: float, allowed: bool) -> None:
    path = _recording(tmp_path / "ref.wav", seconds, 22_050)
    if allowed:
        samples, rate = read_recording(path)
        assert (samples.shape, rate) == ((1, int(seconds * 22_050)), 22_050)
        return
    with pytest.raises(RequestError, match=rf"lasts {seconds:.2f} s.*3 to 10 s"):
        read_recording(path)


def test_an_odd_rate_is_refused_before_gigabytes_are_taken(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"has 44101 Hz, which cannot be resampled"):
        read_recording(_recording(tmp_path / "odd.wav", 4.0, 44_101))


def test_what_is_no_recording_is_refused(encoder: ReferenceEncoder, tmp_path: Path) -> None:
    text = tmp_path / "text.wav"
    text.write_text("version https://git-lfs.github.com/spec/v1\n", encoding="utf-8")
    with pytest.raises(RequestError, match="cannot be read as sound"):
        encoder.features(text, "Hello.", "en")
    with pytest.raises(RequestError, match=r"missing\.wav"):
        encoder.features(tmp_path / "missing.wav", "Hello.", "en")
    broken = tmp_path / "nan.wav"
    samples = np.zeros(16_000 * 4, np.float32)
    samples[100] = np.nan
    soundfile.write(broken, samples, 16_000, subtype="FLOAT")
    with pytest.raises(RequestError, match="no numbers"):
        encoder.features(broken, "Hello.", "en")


def test_resampling_keeps_pitch_and_level() -> None:
    tone = torch.sin(2 * torch.pi * 440 * torch.arange(44_100) / 44_100)[None]
    lower = resampled(tone, 44_100, 16_000)
    spectrum = torch.fft.rfft(lower[0]).abs()
    assert lower.shape == (1, 16_000)
    assert int(spectrum.argmax()) == 440
    assert float(lower[0, 1000:15_000].square().mean().sqrt()) == pytest.approx(0.5**0.5, abs=0.01)


def test_hubert_takes_the_samples_as_they_are(hubert_folder: Path) -> None:
    # The public folder's settings say otherwise, and the public engine ignores them.
    settings = {"do_normalize": True, "sampling_rate": 16_000, "feature_size": 1, "return_attention_mask": False}
    (hubert_folder / "preprocessor_config.json").write_text(json.dumps(settings), encoding="utf-8")
    wav = torch.rand(1, 16_000, generator=torch.Generator().manual_seed(1)) - 0.2
    stored = HubertModel.from_pretrained(hubert_folder).eval()
    with torch.inference_mode():
        expected = stored(wav).last_hidden_state.transpose(1, 2)
    found = load_hubert(hubert_folder, CPU, torch.float32).ssl(wav)
    assert found.shape == (1, SOVITS.semantic, 49)
    assert torch.allclose(found, expected, atol=1e-5)


def test_hubert_in_half_precision(hubert_folder: Path) -> None:
    wav = torch.rand(1, 16_000, generator=torch.Generator().manual_seed(1)) - 0.5
    half = load_hubert(hubert_folder, CPU, torch.float16).ssl(wav)
    whole = load_hubert(hubert_folder, CPU, torch.float32).ssl(wav)
    assert half.dtype == torch.float16
    assert torch.nn.functional.cosine_similarity(half.float(), whole, dim=1).mean() > 0.98


def test_bert_gives_the_third_last_hidden_state_for_each_phoneme(bert_folder: Path) -> None:
    bert = load_bert(bert_folder, CPU, torch.float32)
    assert bert.width == _BERT_WIDTH
    found = bert.features("你好,", [2, 2, 1])
    stored = BertModel.from_pretrained(bert_folder, add_pooling_layer=False).eval()
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *_LETTERS]
    ids = torch.tensor([[2, *(tokens.index(letter) for letter in "你好,"), 3]])
    with torch.inference_mode():
        hidden = stored(ids, output_hidden_states=True).hidden_states[-3][0]
    assert found.shape == (_BERT_WIDTH, 5)
    assert torch.allclose(found.T, hidden[[1, 1, 2, 2, 3]], atol=1e-5)


def test_a_text_longer_than_bert_s_window_is_read_in_pieces(bert_folder: Path) -> None:
    bert = load_bert(bert_folder, CPU, torch.float32)
    text = "你好吗今天" * 10
    found = bert.features(text, [1] * 50)
    assert found.shape == (_BERT_WIDTH, 50)
    assert torch.allclose(found[:, 38:], bert.features(text[38:], [1] * 12), atol=1e-5)


def test_bert_and_front_end_agree_on_the_width(bert_folder: Path) -> None:
    bert = load_bert(bert_folder, CPU, torch.float32)
    phones = FrontEnd(None, bert, bert_width=_BERT_WIDTH).phones("今天你好吗？", "all_zh")
    assert phones.bert.shape == (_BERT_WIDTH, len(phones.ids))
    with pytest.raises(LoadFailure, match="gives 32 features, the GPT checkpoint takes 1024"):
        FrontEnd(None, bert)


class _Hostile:
    def __init__(self, proof: Path) -> None:
        self._proof = proof

    def __reduce__(self) -> tuple[object, ...]:
        return (Path.touch, (self._proof,))


def test_a_hostile_pickle_is_refused_and_not_executed(hubert_folder: Path, tmp_path: Path) -> None:
    folder, proof = tmp_path / "hubert", tmp_path / "executed"
    folder.mkdir()
    (folder / "config.json").write_bytes((hubert_folder / "config.json").read_bytes())
    torch.save({"weights": _Hostile(proof)}, folder / "pytorch_model.bin", pickle_module=pickle)
    with pytest.raises(LoadFailure, match="hubert"):
        load_hubert(folder, CPU, torch.float32)
    assert not proof.exists()


def test_missing_and_foreign_files_are_named(hubert_folder: Path, bert_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(LoadFailure, match=r"config\.json"):
        load_hubert(tmp_path, CPU, torch.float32)
    (tmp_path / "config.json").write_bytes((bert_folder / "config.json").read_bytes())
    (tmp_path / "vocab.txt").write_bytes((bert_folder / "vocab.txt").read_bytes())
    content = (bert_folder / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(content[: len(content) // 2])
    with pytest.raises(LoadFailure, match=tmp_path.name):
        load_bert(tmp_path, CPU, torch.float32)
    with pytest.raises(LoadFailure, match=r"tokenizer\.json or vocab\.txt"):
        load_bert(hubert_folder, CPU, torch.float32)


def test_weights_of_another_network_are_refused(hubert_folder: Path, bert_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes((hubert_folder / "config.json").read_bytes())
    (tmp_path / "model.safetensors").write_bytes((bert_folder / "model.safetensors").read_bytes())
    with pytest.raises(LoadFailure, match="weights are missing or misshapen"):
        load_hubert(tmp_path, CPU, torch.float32)
