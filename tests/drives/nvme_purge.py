"""Sanitize and Format NVM of an emulated drive, by the states of the base specification.

A sanitize runs on in the background, outlives a power cut, and ends in success, in success with
forced deallocation, or in a failure that only some commands lead out of.
"""

import struct
from typing import TYPE_CHECKING, Any

from tests.drives.nvme_state import DNR, WHOLE_SUBSYSTEM, PowerCut, Refusal

if TYPE_CHECKING:
    from tests.drives.nvme import NvmeDrive

EXIT_FAILURE, BLOCK, OVERWRITE, CRYPTO = 1, 2, 3, 4
CAPABILITY = {CRYPTO: 0b001, BLOCK: 0b010, OVERWRITE: 0b100}
INHIBITED = 1 << 29
NEVER, DONE, RUNNING, FAILED, FORCED = range(5)
UNRESTRICTED, NO_DEALLOCATE, INVERT = 1 << 3, 1 << 9, 1 << 8
IDLE_PROGRESS = 0xFFFF
STUCK_PROGRESS = 655
SANITIZE_FAILED, SANITIZE_RUNS, FORMAT_RUNS = 0x1C, 0x1D, 0x84
FACTORY = {"serial": "1234", "model": "SM2270", "firmware": "ROM"}
"""What a drive answers that lost its tables in a format (nvme-cli issue 2072)."""
FACTORY_BYTES = 1 << 30


class Purging:
    """The purge commands of one drive; its state is in the drive's state file."""

    def __init__(self, drive: "NvmeDrive") -> None:
        """Go on with what a power cut interrupted."""
        self._drive = drive
        self._since = drive.clock()
        self._format_began: float | None = None
        if drive.state["formatting"]:
            self._wake_in_format()

    # --- sanitize -------------------------------------------------------------------------

    @property
    def status(self) -> int:
        """The state of the most recent sanitize, with what time has done to it."""
        self.advance()
        found = self._drive.state["sanitize"]
        return found["state"] if found else NEVER

    @property
    def media_refusal(self) -> int:
        """The status that every media command gets now, 0 where it is let through.

        While it runs the host may ask again later, so it has no Do Not Retry.
        """
        status = self.status
        if status == RUNNING:
            return SANITIZE_RUNS
        if status == FAILED and not self._drive.state["sanitize"]["left"]:
            return SANITIZE_FAILED | DNR
        return FORMAT_RUNS if self._drive.state["formatting"] else 0

    def advance(self) -> None:
        """Let a running sanitize do what it did since it was last looked at."""
        now = self._drive.clock()
        passed, self._since = now - self._since, now
        found = self._drive.state["sanitize"]
        if not found or found["state"] != RUNNING or self._drive.knobs.mode == "stuck":
            return
        found["done"] += passed
        if found["done"] >= self._drive.knobs.duration:
            self._end(found)
        self._drive.save()

    def _end(self, found: dict[str, Any]) -> None:
        drive = self._drive
        mode, numbers = drive.knobs.mode, drive.allocated
        if mode == "fail" and drive.state["sanitizes_failed"] < drive.knobs.fails:
            drive.state["sanitizes_failed"] += 1
            found["state"] = FAILED
            for number in numbers:  # it came half of the way
                drive.media.zeros(number, share=0.5)
            return
        if mode != "liar":
            for number in numbers:
                self._erase(number, found)
        asked_not_to = found["cdw10"] & NO_DEALLOCATE and drive.knobs.sanicap & INHIBITED
        found["state"] = FORCED if mode == "forced" or asked_not_to else DONE
        drive.state["data_erased"] = True

    def _erase(self, number: int, found: dict[str, Any]) -> None:
        drive, cdw10 = self._drive, found["cdw10"]
        keeps = bool(cdw10 & NO_DEALLOCATE) and not drive.knobs.sanicap & INHIBITED
        keeps = keeps and drive.knobs.mode != "forced"
        action = cdw10 & 7
        if action == CRYPTO and (keeps or not drive.knobs.crypto_deallocates):
            drive.media.garbage(number)
        elif action == OVERWRITE and keeps:
            inverted = cdw10 & INVERT and self._passes(cdw10) % 2 == 0
            drive.media.pattern(number, found["pattern"] ^ (0xFFFFFFFF if inverted else 0))
        else:
            drive.media.zeros(number)

    def sanitize(self, cdw10: int, pattern: int) -> int:
        """Begin a sanitize, or leave the failure of one (command 84h).

        Raises:
            Refusal: the state or the drive does not allow it.
        """
        drive, status = self._drive, self.status
        if not drive.knobs.sanicap & 0b111:
            raise Refusal(0x01 | DNR)
        if status == RUNNING:
            raise Refusal(SANITIZE_RUNS | DNR)
        action, found = cdw10 & 7, drive.state["sanitize"]
        stands = status == FAILED and not found["left"]
        restricted = stands and not found["cdw10"] & UNRESTRICTED
        if action == EXIT_FAILURE:
            if restricted:
                raise Refusal(SANITIZE_FAILED | DNR)
            if stands:
                found["left"] = True
                if drive.knobs.exit_clears_status:
                    drive.state["sanitize"] = None
                drive.save()
            return 0
        if action not in CAPABILITY or not drive.knobs.sanicap & CAPABILITY[action]:
            raise Refusal(0x02 | DNR)
        if restricted and cdw10 & UNRESTRICTED:
            raise Refusal(SANITIZE_FAILED | DNR)
        if drive.knobs.firmware_pending:
            raise Refusal(0x10B | DNR)
        inhibited = cdw10 & NO_DEALLOCATE and drive.knobs.sanicap & INHIBITED
        if inhibited and not drive.features.no_deallocate_warns:
            raise Refusal(0x02 | DNR)
        if drive.state["formatting"]:
            raise Refusal(FORMAT_RUNS | DNR)
        drive.state["sanitize"] = {
            "state": RUNNING, "cdw10": cdw10, "pattern": pattern, "done": 0.0, "left": False,
        }  # fmt: skip
        drive.save()
        return 0

    def log(self) -> bytes:
        """Return the Sanitize Status log page, 512 bytes."""
        status, drive = self.status, self._drive
        found = drive.state["sanitize"] or {"cdw10": 0, "done": 0.0}
        share = min(found["done"] / drive.knobs.duration, 1.0) if drive.knobs.duration else 1.0
        progress = IDLE_PROGRESS
        if status == RUNNING:
            progress = min(int(share * 65536), 0xFFFE)
            progress = STUCK_PROGRESS if drive.knobs.mode == "stuck" else progress
        passes = 0
        if found["cdw10"] & 7 == OVERWRITE:
            passes = int(
                (1.0 if status in (DONE, FORCED) else share) * self._passes(found["cdw10"])
            )
        word = status | (passes & 0x1F) << 3 | bool(drive.state["data_erased"]) << 8
        return struct.pack("<HHI6II", progress, word, found["cdw10"], *self._estimates(), 0).ljust(
            512, b"\0"
        )

    def _estimates(self) -> list[int]:
        """Overwrite, block, crypto; then the three without deallocation."""
        whole = int(-(-self._drive.knobs.duration // 1)) if self._drive.knobs.estimates else None
        told = []
        for action in (OVERWRITE, BLOCK, CRYPTO):
            able = self._drive.knobs.sanicap & CAPABILITY[action]
            told.append(whole if able and whole is not None else 0xFFFFFFFF)
        return told * 2

    @staticmethod
    def _passes(cdw10: int) -> int:
        return cdw10 >> 4 & 0xF or 16

    # --- format ---------------------------------------------------------------------------

    def format_victims(self, number: int, erase: int) -> list[int]:
        """Return which namespaces a format of this one, with this secure erase setting, hits."""
        drive = self._drive
        if drive.knobs.format_reaches_all or drive.knobs.fna & (0b010 if erase else 0b001):
            return drive.allocated
        return drive.attached if number == WHOLE_SUBSYSTEM else [number]

    def format(self, number: int, cdw10: int) -> int:
        """Format (command 80h); it takes its time and then has happened.

        Raises:
            Refusal: the state, the drive or a field does not allow it.
            PowerCut: it was told to lose its power in the middle.
        """
        drive = self._drive
        self._may_format(number, cdw10)
        shape, erase = self._lba_format(cdw10), cdw10 >> 9 & 7
        victims = self.format_victims(number, erase)
        drive.state["formatting"] = {"victims": victims}
        self._format_began = drive.clock()
        drive.save()
        if drive.knobs.cut_in_format:
            drive.wait(drive.knobs.format_seconds / 2)
            raise PowerCut
        drive.wait(drive.knobs.format_seconds)
        for one in victims:
            drive.namespaces[str(one)]["lba_format"] = shape
            if drive.knobs.mode == "liar":
                continue
            if erase == 2 and not drive.knobs.crypto_deallocates:
                drive.media.garbage(one)
            else:
                drive.media.zeros(one)
        self._come_back(victims)
        self._format_began = None
        drive.state["formatting"] = None
        drive.save()
        return 0

    def _may_format(self, number: int, cdw10: int) -> None:
        drive, erase = self._drive, cdw10 >> 9 & 7
        if not drive.knobs.oacs & 0b10:
            raise Refusal(0x01 | DNR)
        if drive.knobs.refuse_format:
            raise Refusal(drive.knobs.refuse_format)
        if drive.state["formatting"]:
            raise Refusal(FORMAT_RUNS | DNR)
        if number == WHOLE_SUBSYSTEM and drive.knobs.fna & 0b1000:
            raise Refusal(0x02 | DNR)
        if number != WHOLE_SUBSYSTEM:
            drive.need_active(number)
        if erase > 2 or (erase == 2 and not drive.knobs.fna & 0b100):
            raise Refusal(0x02 | DNR)
        if erase and drive.knobs.no_secure_erase:
            raise Refusal(0x02 | DNR)
        # Protection and separate metadata: no LBA format of this drive has any.
        if self._lba_format(cdw10) >= len(drive.knobs.lba_formats) or cdw10 >> 5 & 7:
            raise Refusal(0x10A | DNR)

    @staticmethod
    def _lba_format(cdw10: int) -> int:
        return cdw10 & 0xF | (cdw10 >> 12 & 0b11) << 4

    def percent_left(self, number: int) -> int:
        """Return the Format Progress Indicator: supported, and the percent that is left."""
        formatting = self._drive.state["formatting"]
        if not formatting or number not in formatting["victims"] or self._format_began is None:
            return 0x80
        whole = self._drive.knobs.format_seconds
        share = min((self._drive.clock() - self._format_began) / whole, 1.0) if whole else 1.0
        return 0x80 | max(1, 100 - int(100 * share))

    def _wake_in_format(self) -> None:
        """Contents are unknown after a cut: here half is gone and half is as it was."""
        drive = self._drive
        for number in drive.state["formatting"]["victims"]:
            drive.media.zeros(number, share=0.5)
        self._come_back(drive.state["formatting"]["victims"])
        drive.state["formatting"] = None
        drive.save()

    def _come_back(self, victims: list[int]) -> None:
        """Be after a format what the knob says: as before, another drive, or of another shape."""
        drive = self._drive
        made = drive.knobs.format_makes
        if made == "factory":
            self._fall_back()
        for number in victims:
            values = drive.namespaces[str(number)]
            if made == "smaller":
                values["bytes"] //= 2
            elif made == "blocks":
                values["lba_format"] = (values["lba_format"] + 1) % len(drive.knobs.lba_formats)

    def _fall_back(self) -> None:
        drive = self._drive
        drive.state.update(FACTORY)
        for number in drive.allocated:
            values = drive.namespaces[str(number)]
            values["bytes"] = min(values["bytes"] // 2, FACTORY_BYTES)
            drive.media.open(number, values["bytes"])
