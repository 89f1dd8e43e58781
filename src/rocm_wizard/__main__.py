"""`python -m rocm_wizard` and the `rocm-wizard` command."""

import sys


def main() -> int:
    """The program's entry."""
    from rocm_wizard.cli import main as run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
