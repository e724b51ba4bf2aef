"""A report that CrystalDiskInfo itself wrote and its user published: its drives and its lines.

`reports/9.7.2-nvme-nvme-sata.txt` is in github.com/u1f992/blog (articles/019bca2d…/README.md), as
it stands there: it is in Japanese, its line ends are those of the page. The dumps in it are the
bytes that the drives answered.
"""

import re
from pathlib import Path

from teijo.personas.crystaldiskinfo.disk import Disk

REPORT = Path(__file__).parent / "reports" / "9.7.2-nvme-nvme-sata.txt"
RULE = "-" * 76
SIZES = {1: 256_060_514_304, 2: 4_096_805_658_624}
"""What the same page has of the NVMe drives elsewhere (Get-Disk): no dump holds their sizes."""

NVME_NAMES = {
    "クリティカルワーニング": "Critical Warning",
    "温度": "Composite Temperature",
    "予備領域": "Available Spare",
    "予備領域 (しきい値)": "Available Spare Threshold",
    "使用率": "Percentage Used",
    "総読み込み量 (ホスト)": "Data Units Read",
    "総書き込み量 (ホスト)": "Data Units Written",
    "リードコマンド数 (ホスト)": "Host Read Commands",
    "ライトコマンド数 (ホスト)": "Host Write Commands",
    "コントローラービジー時間": "Controller Busy Time",
    "電源投入回数": "Power Cycles",
    "使用時間": "Power On Hours",
    "アンセーフシャットダウン回数": "Unsafe Shutdowns",
    "データエラー回数": "Media and Data Integrity Errors",
    "エラーログエントリー数": "Number of Error Information Log Entries",
    "警告（ワーニング）温度超過時間": "Warning Composite Temperature Time",
    "警告（クリティカル）温度超過時間": "Critical Composite Temperature Time",
    "温度センサー1": "Temperature Sensor 1",
    "温度センサー2": "Temperature Sensor 2",
    "設定温度1超過回数": "Thermal Management Temperature 1 Transition Count",
    "設定温度2超過回数": "Thermal Management Temperature 2 Transition Count",
    "設定温度1超過時間": "Total Time For Thermal Management Temperature 1",
    "設定温度2超過時間": "Total Time For Thermal Management Temperature 2",
}
"""The names of the original's Japanese.lang, and of its English.lang at the same ids."""
SATA_NAMES = {
    "代替処理済のセクタ数": "Reallocated Sector Count",
    "使用時間": "Power-on Hours",
    "電源投入回数": "Power-on Count",
    "ウェアレベリング回数": "Wear Leveling Count",
    "使用済予備ブロック数 (トータル)": "Used Reserved Block Count (Total)",
    "書き込み失敗回数 (トータル)": "Program Fail Count (Total)",
    "消去失敗回数 (トータル)": "Erase Fail Count (Total)",
    "ランタイム不良ブロック (トータル)": "Runtime Bad Block (Total)",
    "訂正不可能エラー数": "Uncorrectable Error Count",
    "エアフロー温度": "Airflow Temperature",
    "ECC エラーレート": "ECC Error Rate",
    "CRC エラー数": "CRC Error Count",
    "POR 回復回数": "POR Recovery Count",
    "総書き込み量": "Total LBAs Written",
}
WORDS = {" 時間": " hours", " 回": " count", "不明": "Unknown", "正常": "Good"}
_FACT = re.compile(r" *[\w# ]+ : ")
_NVME_ROW = re.compile(r"[0-9A-F]{2} [0-9A-F]{12} ")
_SATA_ROW = re.compile(r"[0-9A-F]{2} ([_0-9]{3} ){3}[0-9A-F]{12} ")


def english(line: str) -> str:
    """Return a line as the same program prints it in English."""
    for head, names in ((_NVME_ROW, NVME_NAMES), (_SATA_ROW, SATA_NAMES)):
        found = head.match(line)
        if found:
            return line[: found.end()] + names[line[found.end() :]]
    if _FACT.match(line):
        for japanese, word in WORDS.items():
            line = line.replace(japanese, word)
    return line


def lines() -> list[str]:
    """Return the report's lines in English, without those of the host it was written on."""
    kept = REPORT.read_text(encoding="utf-8").splitlines()
    return without_host([english(line) for line in kept])


def without_host(report: list[str]) -> list[str]:
    """Return a report without what is the host's: system, date, controllers."""
    start = report.index("-- Controller Map ".ljust(76, "-"))
    end = report.index("-- Disk List ".ljust(76, "-"))
    host = ("    OS : ", "  Date : ")
    return [line for line in (*report[: start + 1], *report[end:]) if not line.startswith(host)]


def disks() -> list[Disk]:
    """Return the drives of the report, by its dumps and by what it tells of their places."""
    whole = REPORT.read_text(encoding="utf-8")
    listed = re.findall(r"^ \(\d\d\) (.+) : .+ GB \[(.+), (\w+)\]", whole, re.MULTILINE)
    blocks = re.split(rf"^{RULE}\n \(\d\d\) .+\n{RULE}\n", whole, flags=re.MULTILINE)[1:]
    assert len(listed) == len(blocks) == 3
    return [
        _disk(number, place, block)
        for number, (place, block) in enumerate(zip(listed, blocks, strict=True), start=1)
    ]


def _disk(number: int, place: tuple[str, str, str], block: str) -> Disk:
    dumped = _dumps(block)
    fact = dict(re.findall(r"^ *([\w# ]+) : (.*)$", block, re.MULTILINE))
    identify = b"".join(
        int(word, 16).to_bytes(2, "little") for word in dumped["IDENTIFY_DEVICE"].split()
    )
    is_nvme = "SMART_NVME" in dumped
    if is_nvme:
        # The dump ends at byte 512; what the drive can is told in bytes 520 and 525.
        rest = bytearray(4096 - 512)
        rest[8] = 0x4 * ("TRIM" in fact["Features"])
        rest[13] = 0x1 * ("VolatileWriteCache" in fact["Features"])
        identify += bytes(rest)
    return Disk(
        kind="nvme" if is_nvme else "ata",
        model=place[0],
        size_bytes=SIZES.get(number, 0),
        identify=identify,
        smart=bytes.fromhex(dumped["SMART_NVME" if is_nvme else "SMART_READ_DATA"]),
        thresholds=bytes.fromhex(dumped.get("SMART_READ_THRESHOLD", "")),
        address=place[1],
        command=place[2],
        transfer_mode=fact["Transfer Mode"] if is_nvme else "",
        drive_letter=fact["Drive Letter"],
    )


def _dumps(block: str) -> dict[str, str]:
    """Return the hexadecimal of each dump by its title, without its margins."""
    parts = re.split(r"^-- (\w+) -+\n", block, flags=re.MULTILINE)
    titled = zip(parts[1::2], parts[2::2], strict=True)
    return {
        title: " ".join(re.findall(r"^[0-9A-F]{3}: (.*)$", body, re.MULTILINE))
        for title, body in titled
        if not title.startswith("S.")
    }
