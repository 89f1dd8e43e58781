"""The steps of the qualification, one file each."""
