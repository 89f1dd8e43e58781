"""What the version probe reads of its own process and environment. Standard library only."""
