"""Where the tests find files of the project."""

from pathlib import Path

SUPPORT = Path(__file__).parent
ROOT = SUPPORT.parent.parent
TROUBLE = SUPPORT / "trouble.py"
