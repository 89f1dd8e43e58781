"""What this computer is, and the data about what it could be."""
