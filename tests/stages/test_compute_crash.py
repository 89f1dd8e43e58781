"""What the last words of a dead child say."""

from hypothesis import given
from hypothesis import strategies as st

from rocm_wizard.stages.probe_crash import LastWords, last_words

WINDOWS = r"""
[W1202 10:00:00.000000000 HIPAllocatorConfig.h:29] Warning: something
Windows fatal exception: access violation

Thread 0x00003a14 (most recent call first):
  File "C:\Python312\Lib\threading.py", line 359 in wait

Current thread 0x00002b58 (most recent call first):
  File "D:\语音\amadeus\.venv\Lib\site-packages\torch\nn\functional.py", line 5529 in scaled_dot_product_attention
  File "D:\语音\amadeus\probe.py", line 12 in <module>
Faulting module name: amdhip64_7.dll, version: 7.2.0.0
"""


def test_windows_access_violation() -> None:
    found = last_words(WINDOWS.splitlines())
    frame = "functional.py:5529 in scaled_dot_product_attention"
    assert found == LastWords("access violation", frame, "amdhip64_7.dll"), "the waiting thread is not the culprit"


def test_a_hang_names_the_line_that_waits() -> None:
    text = 'Timeout (0:00:48)!\nThread 0x1 (most recent call first):\n  File "/x/device.py", line 68 in synchronise\n'
    assert last_words(text.splitlines()) == LastWords("hang", "device.py:68 in synchronise", None)


def test_only_the_last_headline_counts() -> None:
    text = (
        'Timeout (0:00:48)!\nThread 0x1 (most recent call first):\n  File "/x/a.py", line 1 in a\n'
        "Fatal Python error: Aborted\n\n"
        'Current thread 0x1 (most recent call first):\n  File "/x/b.py", line 2 in b\n'
    )
    assert last_words(text.splitlines()) == LastWords("Aborted", "b.py:2 in b", None)


def test_a_crash_outside_python_has_no_line() -> None:
    lines = [
        "Fatal Python error: Segmentation fault",
        "",
        "Thread 0x1 (most recent call first):",
        "  <no Python frame>",
    ]
    assert last_words(lines) == LastWords("Segmentation fault", None, None)


def test_the_c_library_is_never_the_culprit() -> None:
    lines = [
        "Fatal Python error: Aborted",
        '  Binary file "/lib/x86_64-linux-gnu/libc.so.6", at raise+0x1',
        '  Binary file "/opt/rocm/lib/libamdhip64.so.7", at +0x2ab8ba',
    ]
    assert last_words(lines).module == "libamdhip64.so.7"


@given(st.lists(st.text(max_size=80), max_size=20))
def test_any_text_is_read_without_an_error(lines: list[str]) -> None:
    last_words(lines)
