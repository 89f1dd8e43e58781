"""What model files are, read from their headers before anything loads them; nothing in them is executed."""
