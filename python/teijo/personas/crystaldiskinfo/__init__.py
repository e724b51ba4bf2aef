"""CrystalDiskInfo: a drive's bytes in, its own verdict and its own text out.

The door for others: `disk_of` reads a drive, `verdict_of` judges it, `text_of` writes the text.
"""

from teijo.personas.crystaldiskinfo.disk import Disk
from teijo.personas.crystaldiskinfo.reading import disk_of, system_of_host
from teijo.personas.crystaldiskinfo.rule import Verdict, verdict_of
from teijo.personas.crystaldiskinfo.text import text_of

__all__ = ["Disk", "Verdict", "disk_of", "system_of_host", "text_of", "verdict_of"]
