"""Child side of the speech checks: programs that the target interpreter runs, and their engines.

Nothing here is imported by the wizard's own process; torch lives below this package only.
"""
