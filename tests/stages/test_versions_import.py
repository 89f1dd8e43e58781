"""Why torch could not be loaded: Windows' numbers and the loaders' words, told apart."""

import pytest

from rocm_wizard.qualification.finding import Finding
from rocm_wizard.qualification.outcome import Outcome
from rocm_wizard.report.catalogue import Catalogue
from rocm_wizard.stages.versions import VersionsStage
from rocm_wizard.stages.versions_import import import_failure
from tests.stages.bench import Bench, bad
from tests.stages.test_compute import assert_readable
from tests.stages.test_versions import INTERPRETER, ROCM, answering

SHM = r'Error loading "C:\a\.venv\Lib\site-packages\torch\lib\shm.dll" or one of its dependencies.'


@pytest.mark.parametrize(
    ("error", "message", "ending", "library"),
    [
        ("OSError", f"[WinError 126] The specified module could not be found. {SHM}", "dll_missing", "shm.dll"),
        ("OSError", f"[WinError 126] 找不到指定的模块。 {SHM}", "dll_missing", "shm.dll"),
        ("OSError", f"[WinError 127] 找不到指定的程序。 {SHM}", "dll_function_missing", "shm.dll"),
        ("OSError", f"[WinError 193] %1 is not a valid Win32 application. {SHM}", "dll_not_valid", "shm.dll"),
        ("OSError", f"[WinError 1114] A DLL initialization routine failed. {SHM}", "dll_init_failed", "shm.dll"),
        ("OSError", f"[WinError 1455] 页面文件太小，无法完成操作。 {SHM}", "page_file", "shm.dll"),
        (
            "OSError",
            f"[WinError 4551] An Application Control policy has blocked this file. {SHM}",
            "dll_blocked",
            "shm.dll",
        ),
        ("OSError", f"[WinError 5] Access is denied. {SHM}", "dll_denied", "shm.dll"),
        ("OSError", f"[WinError 206] The filename or extension is too long. {SHM}", "dll_path_too_long", "shm.dll"),
        ("OSError", f"[WinError 9999] Something else. {SHM}", "import_failed", "shm.dll"),
        ("ImportError", "DLL load failed while importing _C: 找不到指定的模块。", "dll_missing", "_C"),
        ("ImportError", "DLL load failed while importing _C: 找不到指定的程序。", "dll_function_missing", "_C"),
        (
            "ImportError",
            "DLL load failed while importing _C: A dynamic link library (DLL) initialization routine failed.",
            "dll_init_failed",
            "_C",
        ),
        (
            "ImportError",
            "libamdhip64.so.7: cannot open shared object file: No such file or directory",
            "dll_missing",
            "libamdhip64.so.7",
        ),
        ("ImportError", "/x/libc10.so: undefined symbol: _ZN3c10", "dll_function_missing", "libc10.so"),
        ("ImportError", "/x/libtorch.so: file too short", "dll_not_valid", "libtorch.so"),
        ("ModuleNotFoundError", "No module named 'torch'", "import_failed", None),
    ],
)
def test_the_kinds_are_told_apart(error: str, message: str, ending: str, library: str | None) -> None:
    found, facts = import_failure({"error": error, "message": message})
    assert (found, facts["library"]) == (ending, library)
    assert facts["detail"] == f"{error}: {message}"


def test_the_number_of_the_exception_counts_more_than_its_text() -> None:
    assert import_failure({"error": "OSError", "message": "nicht gefunden", "winerror": 126})[0] == "dll_missing"


def failure(bench: Bench, message: dict[str, object]) -> Finding:
    """The finding of a ROCm environment whose torch does not load."""
    bench.session.profile = bench.session.book.get("local-rocm")
    packages: dict[str, object] = {"type": "packages", "versions": ROCM}
    failed = message | {"type": "import_error"}
    answering(bench, INTERPRETER, packages, failed)
    state = bench.run(VersionsStage)
    assert_readable(state, "versions")
    return bad(state, "versions")


def test_the_library_that_is_missing_is_named_with_the_cure(bench: Bench) -> None:
    message: dict[str, object] = {
        "error": "OSError",
        "message": f"[WinError 126] 找不到指定的模块。 {SHM}",
        "winerror": 126,
    }
    found = failure(bench, message | {"missing": ["libomp140.x86_64.dll (needed by shm.dll)"]})
    assert (found.id, found.outcome) == ("versions.dll_missing", Outcome.FAILED)
    sentence, hint = Catalogue("en").sentence(found), Catalogue("en").hint(found)
    assert "libomp140.x86_64.dll (needed by shm.dll)" in sentence
    assert hint is not None and "Visual C++" in hint


def test_smart_app_control_has_its_own_hint(bench: Bench) -> None:
    found = failure(bench, {"error": "OSError", "message": f"[WinError 4551] ... {SHM}", "winerror": 4551})
    hint = Catalogue("en").hint(found)
    assert found.id == "versions.dll_blocked" and hint is not None and "Smart App Control" in hint
