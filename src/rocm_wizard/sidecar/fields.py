"""The names that the wire's messages may carry, so that a new one is noticed and counted."""

from collections.abc import Mapping

# fmt: off
KNOWN_FIELDS: Mapping[str, frozenset[str]] = {
    "ready": frozenset(("type", "device", "torch", "hip", "cuda_available", "attn_impl", "flash_attn", "warmup_ms",
        "load_ms", "semantic_backend", "semantic", "engine", "model", "voice", "sample_rate", "dtype",
        "device_note", "weights_sha256", "bucket_mels", "sync_timing", "graphs", "graphs_note",
        "front_end_note")),
    "result": frozenset(("type", "text", "request_id", "language", "audio_seconds", "inference_ms", "gate_ms",
        "encode_ms", "decode_ms", "tokens", "speech_ratio", "device_memory_bytes")),
    "chunk": frozenset(("type", "request_id", "sample_rate", "audio_b64", "text", "timing")),
    "done": frozenset(("type", "request_id", "engine", "voice", "device", "device_note", "sample_rate", "chunks",
        "audio_seconds", "synthesis_ms", "first_audio_ms", "g2p_ms", "reference_ms", "t2s_ms", "t2s_tokens",
        "t2s_attempts", "encoder_ms", "cfm_ms", "bigvgan_ms", "network_ms", "render_ms", "device_memory_bytes")),
    "error": frozenset(("type", "request_id", "msg", "device", "torch", "hip", "cuda_available")),
}
# fmt: on
"""The fields of each message: the host project's, and those that our own sidecars add (`docs/wire.md`)."""
