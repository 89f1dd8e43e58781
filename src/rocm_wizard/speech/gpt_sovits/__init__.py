"""GPT-SoVITS v3 in PyTorch only: networks, text front ends, streaming."""
