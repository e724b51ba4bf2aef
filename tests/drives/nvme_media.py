"""The namespaces' blocks of an emulated NVMe drive: one image file for each, and their erasure."""

import os
from pathlib import Path

from tests.drives.switched_on import LEFT

PIECE = 1 << 20


class Media:
    """The images by namespace number; erasing a namespace is done here and nowhere else."""

    def __init__(self, images: dict[int, Path]) -> None:
        self.paths = images
        self._files: dict[int, int] = {}
        LEFT.append(self.close)

    def open(self, number: int, size_bytes: int) -> int:
        """Return the descriptor of a namespace's image, made or resized to its size."""
        if number not in self._files:
            self._files[number] = os.open(self.paths[number], os.O_RDWR | os.O_CREAT, 0o600)
        file = self._files[number]
        if os.fstat(file).st_size != size_bytes:
            os.ftruncate(file, size_bytes)
        return file

    def close(self) -> None:
        """Let go of every image."""
        for file in self._files.values():
            os.close(file)
        self._files.clear()

    def zeros(self, number: int, share: float = 1.0) -> None:
        """Deallocate the first part of a namespace: its blocks read as zeros."""
        file, size = self._whole(number)
        if share >= 1.0:
            os.ftruncate(file, 0)
            os.ftruncate(file, size)
            return
        for start in range(0, int(size * share), PIECE):
            os.pwrite(file, bytes(min(PIECE, int(size * share) - start)), start)

    def garbage(self, number: int) -> None:
        """Change the key: every block reads as something else."""
        file, size = self._whole(number)
        for start in range(0, size, PIECE):
            os.pwrite(file, os.urandom(min(PIECE, size - start)), start)

    def pattern(self, number: int, word: int) -> None:
        """Fill with a pattern of 32 bits."""
        file, size = self._whole(number)
        piece = word.to_bytes(4, "little") * (PIECE // 4)
        for start in range(0, size, PIECE):
            os.pwrite(file, piece[: min(PIECE, size - start)], start)

    def allocated_bytes(self, number: int) -> int:
        """Return how much of a namespace has been written since it was erased."""
        return os.fstat(self._whole(number)[0]).st_blocks * 512

    def _whole(self, number: int) -> tuple[int, int]:
        file = self._files[number]
        return file, os.fstat(file).st_size
