"""The full-screen wizard: draws the run's state, passes keys on, decides nothing."""
