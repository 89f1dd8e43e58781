"""What the package may load, and its Windows half elsewhere."""

import subprocess
import sys

from rocm_wizard.envfile import user_environment

SCRIPT = """
import sys
import rocm_wizard
before = set(sys.modules)
import rocm_wizard.envfile
for name in set(sys.modules) - before:
    root = name.partition(".")[0]
    if root not in sys.stdlib_module_names and not name.startswith("rocm_wizard.envfile"):
        print(name)
"""


def test_only_the_standard_library_is_loaded() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, encoding="utf-8", check=True)
    assert done.stdout == ""


def test_the_user_s_variables() -> None:
    found = user_environment()
    if sys.platform == "win32":
        assert {name.upper() for name in found} & {"TEMP", "TMP", "PATH"}
    else:
        assert found == {}
