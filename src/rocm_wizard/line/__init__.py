"""Line mode and JSON mode: the same journal, told as plain text or as events."""
