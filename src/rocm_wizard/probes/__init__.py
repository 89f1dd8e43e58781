"""Stand-alone scripts that the target interpreter runs by path; nothing of ours is imported in them."""
