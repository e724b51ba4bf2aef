"""fio as a second, independent engine behind the same door, for cross-checks."""

from teijo.engine.fio.session import FioSession

__all__ = ["FioSession"]
