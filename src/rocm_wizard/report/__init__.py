"""What a run is told as: sentences from the catalogue, report files, masking."""
