"""Run files of these tests lie in memory."""

from tests.runfile.memory import tmp_path as tmp_path
