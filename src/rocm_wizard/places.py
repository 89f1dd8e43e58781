"""Where this program keeps what outlives a run."""

import os
from pathlib import Path


def state_folder() -> Path:
    """`ROCM_WIZARD_HOME`, else the platform's folder for program state."""
    if home := os.environ.get("ROCM_WIZARD_HOME"):
        return Path(home)
    from platformdirs import user_state_path

    return user_state_path("rocm-wizard", appauthor=False)
