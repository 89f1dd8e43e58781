"""Playback in a child of its own, WAV files, measurements. Imports numpy, sounddevice and soundfile only."""
