"""What the version probe reads of libraries and search paths."""

import os
import struct
from pathlib import Path

import pytest
import setuptools
from hypothesis import given
from hypothesis import strategies as st

from rocm_wizard.probes.version_facts.libraries import imported_libraries, missing_libraries
from rocm_wizard.probes.version_facts.paths import holders, outside, running_pth

LAUNCHER = Path(setuptools.__file__).parent / "cli-64.exe"


def pe_file(*names: str) -> bytes:
    """The smallest 64-bit PE file that imports these libraries: one section at address 0x1000, 0x200 into the file."""
    table = b"".join(struct.pack("<12xI4x", 0) for _ in range(len(names) + 1))
    texts = b""
    rows = b""
    for name in names:
        rows += struct.pack("<12xI4x", 0x1000 + len(table) + len(texts))
        texts += name.encode() + b"\0"
    section = rows + struct.pack("<20x") + texts
    optional = struct.pack("<H", 0x20B) + bytes(110) + struct.pack("<IIII", 0, 0, 0x1000, len(table)) + bytes(112)
    coff = b"PE\0\0" + struct.pack("<HH12xHH", 0x8664, 1, len(optional), 0)
    header = struct.pack("<8sIIII16x", b".idata", len(section), 0x1000, len(section), 0x200)
    start = b"MZ" + bytes(0x3A) + struct.pack("<I", 0x40)
    return (start + coff + optional + header).ljust(0x200, b"\0") + section


def test_a_real_windows_program() -> None:
    names = imported_libraries(LAUNCHER.read_bytes())
    assert "kernel32.dll" in names and "vcruntime140.dll" in names


def test_a_made_file() -> None:
    assert imported_libraries(pe_file("KERNEL32.dll", "libomp140.x86_64.dll")) == [
        "kernel32.dll",
        "libomp140.x86_64.dll",
    ]
    assert imported_libraries(pe_file()) == []


@pytest.mark.parametrize("name", ["cli-32.exe", "__init__.py"])
def test_what_is_no_64_bit_program(name: str) -> None:
    with pytest.raises(ValueError, match=r"64-bit|cut"):
        imported_libraries((LAUNCHER.parent / name).read_bytes())


@given(st.integers(0, 0x400), st.integers(0, 255), st.integers(0, 0x400))
def test_a_damaged_file_is_refused_or_read_but_never_breaks(cut: int, value: int, place: int) -> None:
    data = bytearray(pe_file("a.dll", "b.dll"))
    if place < len(data):
        data[place] = value
    try:
        imported_libraries(bytes(data[: len(data) - cut]))
    except ValueError:
        pass


def test_the_missing_library_is_named_with_the_one_that_needs_it(tmp_path: Path) -> None:
    lib, system = tmp_path / "torch 库" / "lib", tmp_path / "System32"
    lib.mkdir(parents=True)
    system.mkdir()
    (system / "KERNEL32.DLL").touch()
    (lib / "c10.dll").write_bytes(pe_file("kernel32.dll", "api-ms-win-crt-runtime-l1-1-0.dll"))
    (lib / "shm.dll").write_bytes(pe_file("c10.dll", "libomp140.x86_64.dll"))
    (lib / "broken.dll").write_bytes(b"MZ")
    missing = missing_libraries(lib.glob("*.dll"), [lib, system, tmp_path / "not there"])
    assert missing == ["libomp140.x86_64.dll (needed by shm.dll)"]


def test_what_lies_outside_an_environment(tmp_path: Path) -> None:
    home, library, other = tmp_path / ".venv", tmp_path / "python3.12", tmp_path / ".venv2"
    entries = [str(home / "lib"), str(library), str(other), ""]
    assert outside(entries, str(home), {os.path.normcase(str(library))}) == [str(other)]


def test_a_copy_of_a_package_is_found_where_it_lies(tmp_path: Path) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").touch()
    (tmp_path / "numpy").mkdir()
    assert holders([str(tmp_path)], ["torch", "numpy"]) == [f"{tmp_path}: torch"], "a folder alone is no package"


def test_path_files_that_run_code(tmp_path: Path) -> None:
    (tmp_path / "a.pth").write_text("C:/checkout/src\n", encoding="utf-8")
    (tmp_path / "b.pth").write_text("# note\nimport os; os.environ\n", encoding="utf-8")
    (tmp_path / "c.pth").write_bytes(b"\xff\xfeimportant\n")
    assert running_pth([str(tmp_path), str(tmp_path / "none")]) == ["b.pth"]
