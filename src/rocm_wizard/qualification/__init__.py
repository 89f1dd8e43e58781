"""The headless core: stages, findings, events, the journal and the run state that is computed from it."""
