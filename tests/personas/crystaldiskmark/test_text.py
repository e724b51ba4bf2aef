"""CrystalDiskMark's text, byte for byte, and read by the patterns that its users read it with."""

import re
from dataclasses import replace
from datetime import datetime

import pytest

from teijo.methods.classic.crystaldiskmark.rows import places_of, rows_of
from teijo.personas.crystaldiskmark.text import Drive, Sheet, Shown, file_name, text_of
from teijo.units import GIB, MIB, NS_PER_S

DATE = datetime(2016, 4, 23, 12, 34, 56)
DRIVE = Drive(name="S", used_bytes=int(0.1 * GIB), total_bytes=int(186.3 * GIB))


def numbers(like, profile="default", *, mix=False, queues=32, threads=1):
    """Return different numbers everywhere: 1111.111 in the first place, 1112.112 in the next …"""
    places = places_of("8", rows_of(like, profile, queues=queues, threads=threads), mixes=mix)
    return {
        place: Shown(mb_s=(1_111_111 + 1_001 * number) / 1000, latency_us=12.3456 * (number + 1))
        for number, place in enumerate(places)
    }


SHEET_3 = Sheet(
    like="3",
    numbers=numbers("3"),
    size_bytes=1000 * MIB,
    drive=DRIVE,
    date=datetime(2013, 4, 13, 9, 2, 3),
    system="Windows 8  [6.2 Build 9200] (x64)",
)
SHEET_5 = Sheet(
    like="5",
    numbers=numbers("5"),
    size_bytes=GIB,
    interval_ns=5 * NS_PER_S,
    zeros=True,
    drive=DRIVE,
    date=DATE,
    system="Windows 7 Professional SP1 [6.1 Build 7601] (x64)",
)
SHEET_8 = Sheet(
    like="8",
    mix=70,
    numbers=numbers("8", mix=True),
    size_bytes=GIB,
    interval_ns=5 * NS_PER_S,
    measure_ns=5 * NS_PER_S,
    zeros=True,
    admin=True,
    drive=Drive(name="C", used_bytes=210 * GIB, total_bytes=465 * GIB),
    date=datetime(2021, 12, 8, 1, 23, 45),
    system="Windows 10 Pro [10.0 Build 19044] (x64)",
    comment="as it came",
)


TEXT_3 = """\
-----------------------------------------------------------------------
CrystalDiskMark 3.0.2 x64 (C) 2007-2013 hiyohiyo
                           Crystal Dew World : http://crystalmark.info/
-----------------------------------------------------------------------
* MB/s = 1,000,000 byte/s [SATA/300 = 300,000,000 byte/s]

           Sequential Read :  1111.111 MB/s
          Sequential Write :  1115.115 MB/s
         Random Read 512KB :  1112.112 MB/s
        Random Write 512KB :  1116.116 MB/s
    Random Read 4KB (QD=1) :  1113.113 MB/s [271756.1 IOPS]
   Random Write 4KB (QD=1) :  1117.117 MB/s [272733.6 IOPS]
   Random Read 4KB (QD=32) :  1114.114 MB/s [272000.5 IOPS]
  Random Write 4KB (QD=32) :  1118.118 MB/s [272978.0 IOPS]

  Test : 1000 MB [S: 0.1% (0.1/186.3 GB)] (x5)
  Date : 2013/04/13 9:02:03
    OS : Windows 8  [6.2 Build 9200] (x64)
  """

TEXT_5 = """\
-----------------------------------------------------------------------
CrystalDiskMark 5.1.2 x64 (C) 2007-2016 hiyohiyo
                           Crystal Dew World : http://crystalmark.info/
-----------------------------------------------------------------------
* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]
* KB = 1000 bytes, KiB = 1024 bytes

   Sequential Read (Q= 32,T= 1) :  1111.111 MB/s
  Sequential Write (Q= 32,T= 1) :  1115.115 MB/s
  Random Read 4KiB (Q= 32,T= 1) :  1112.112 MB/s [271511.7 IOPS]
 Random Write 4KiB (Q= 32,T= 1) :  1116.116 MB/s [272489.3 IOPS]
         Sequential Read (T= 1) :  1113.113 MB/s
        Sequential Write (T= 1) :  1117.117 MB/s
   Random Read 4KiB (Q= 1,T= 1) :  1114.114 MB/s [272000.5 IOPS]
  Random Write 4KiB (Q= 1,T= 1) :  1118.118 MB/s [272978.0 IOPS]

  Test : 1024 MiB [S: 0.1% (0.1/186.3 GiB)] (x5) <0Fill> [Interval=5 sec]
  Date : 2016/04/23 12:34:56
    OS : Windows 7 Professional SP1 [6.1 Build 7601] (x64)
  """

TEXT_8 = """\
------------------------------------------------------------------------------
CrystalDiskMark 8.0.4 x64 (C) 2007-2021 hiyohiyo
                                  Crystal Dew World: https://crystalmark.info/
------------------------------------------------------------------------------
* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]
* KB = 1000 bytes, KiB = 1024 bytes

[Read]
  SEQ    1MiB (Q=  8, T= 1):  1111.111 MB/s [   1059.6 IOPS] <    12.35 us>
  SEQ    1MiB (Q=  1, T= 1):  1112.112 MB/s [   1060.6 IOPS] <    24.69 us>
  RND    4KiB (Q= 32, T= 1):  1113.113 MB/s [ 271756.1 IOPS] <    37.04 us>
  RND    4KiB (Q=  1, T= 1):  1114.114 MB/s [ 272000.5 IOPS] <    49.38 us>

[Write]
  SEQ    1MiB (Q=  8, T= 1):  1115.115 MB/s [   1063.5 IOPS] <    61.73 us>
  SEQ    1MiB (Q=  1, T= 1):  1116.116 MB/s [   1064.4 IOPS] <    74.07 us>
  RND    4KiB (Q= 32, T= 1):  1117.117 MB/s [ 272733.6 IOPS] <    86.42 us>
  RND    4KiB (Q=  1, T= 1):  1118.118 MB/s [ 272978.0 IOPS] <    98.76 us>

[Mix] Read 70%/Write 30%
  SEQ    1MiB (Q=  8, T= 1):  1119.119 MB/s [   1067.3 IOPS] <   111.11 us>
  SEQ    1MiB (Q=  1, T= 1):  1120.120 MB/s [   1068.2 IOPS] <   123.46 us>
  RND    4KiB (Q= 32, T= 1):  1121.121 MB/s [ 273711.2 IOPS] <   135.80 us>
  RND    4KiB (Q=  1, T= 1):  1122.122 MB/s [ 273955.6 IOPS] <   148.15 us>

Profile: Default
   Test: 1 GiB (x5) [C: 45% (210/465GiB)]
   Mode: [Admin] <0Fill>
   Time: Measure 5 sec / Interval 5 sec \n\
   Date: 2021/12/08 1:23:45
     OS: Windows 10 Pro [10.0 Build 19044] (x64)
Comment: as it came
"""


@pytest.mark.parametrize(
    ("sheet", "text"), [(SHEET_3, TEXT_3), (SHEET_5, TEXT_5), (SHEET_8, TEXT_8)], ids="358"
)
def test_the_text_of_a_version_is_the_original_s_byte_for_byte(sheet, text):
    assert text_of(sheet).encode() == text.replace("\n", "\r\n").encode()


def test_random_data_leaves_the_gap_that_the_original_leaves():
    plain = text_of(replace(SHEET_5, zeros=False))
    assert "(x5)  [Interval=5 sec]\r\n" in plain
    assert "] (x5) <All 0x00, 0Fill>\r\n" in text_of(replace(SHEET_3, zeros=True))
    modest = text_of(replace(SHEET_8, zeros=False, admin=False, mix=None, comment=""))
    assert "   Mode:\r\n" in modest
    assert "[Mix]" not in modest
    assert modest.endswith("(x64)\r\n")


@pytest.mark.parametrize(
    ("profile", "rows", "word"),
    [
        ("nvme", ["SEQ    1MiB (Q=  8, T= 1)", "SEQ  128KiB (Q= 32, T= 1)"], "Default"),
        ("peak", ["SEQ    1MiB (Q=  8, T= 1)", "RND    4KiB (Q= 32, T= 1)"], "Peak"),
        ("real-world", ["SEQ    1MiB (Q=  1, T= 1)", "RND    4KiB (Q=  1, T= 1)"], "Real"),
        ("demo", ["SEQ    1MiB (Q=  8, T= 1)"], "Demo"),
    ],
)
def test_a_profile_has_its_rows_and_its_word(profile, rows, word):
    text = text_of(replace(SHEET_8, profile=profile, mix=None, numbers=numbers("8", profile)))
    for row in rows:
        assert text.count(f"  {row}: ") == 2
    assert f"\r\nProfile: {word}\r\n" in text
    if profile == "nvme":
        assert "  RND    4KiB (Q= 32, T=16): " in text


def test_a_small_drive_has_its_sizes_in_mebibytes():
    small = Drive(name="E", used_bytes=100 * MIB, total_bytes=4000 * MIB)
    assert "[E: 2.5% (100.0/4000.0 MB)]" in text_of(replace(SHEET_3, drive=small))
    assert "[E: 2.5% (100.0/4000.0 MiB)]" in text_of(replace(SHEET_5, drive=small))
    assert "[E: 2% (100/4000MiB)]" in text_of(replace(SHEET_8, drive=small))
    assert "64 MiB (x5)" in text_of(replace(SHEET_8, size_bytes=64 * MIB))


def test_a_row_that_was_not_measured_shows_zeros():
    text = text_of(replace(SHEET_8, numbers={}, mix=None))
    assert text.count("    0.000 MB/s [      0.0 IOPS] <     0.00 us>") == 8


def test_a_comment_is_where_each_version_has_it():
    assert text_of(replace(SHEET_3, comment="mine")).endswith("(x64)\r\n    mine\r\n")
    assert text_of(replace(SHEET_5, comment="mine")).endswith("(x64)\r\n    mine\r\n")


def test_the_file_has_the_name_that_the_original_offers():
    assert file_name(DATE) == "CrystalDiskMark_20160423123456.txt"


# Patterns as people write them to collect such texts; none of them was written for Teijo.
USERS_3 = (
    r"Sequential Read : (.*) MB/s",
    r"Random Write 512KB : (.*) MB/s",
    r"Random Read 4KB \(QD=1\) : (.*) MB/s.*\[(.*)IOPS\]",
    r"Random Write 4KB \(QD=32\) : (.*) MB/s.*\[(.*)IOPS\]",
)
USERS_5 = (
    r"Sequential Read \(Q= 32,T= [0-9]*\) : (.*) MB/s",
    r"Random Write 4KiB \(Q= 32,T= [0-9]*\) : (.*) MB/s.*\[(.*)IOPS\]",
    r"Sequential Write \(T= [0-9]*\) : (.*) MB/s",
    r"Random Read 4KiB \(Q= 1,T= [0-9]*\) : (.*) MB/s.*\[(.*)IOPS\]",
)
USERS_8 = re.compile(
    r"^\s*(SEQ|RND)\s+(\d+)(KiB|MiB)\s+\(Q=\s*(\d+),\s*T=\s*(\d+)\):\s+([\d.]+)\s+MB/s\s+"
    r"\[\s*([\d.]+)\s+IOPS\]\s+<\s*([\d.]+)\s+us>",
    re.MULTILINE,
)


def test_the_patterns_of_users_find_the_numbers_of_versions_3_and_5():
    found = [re.search(each, text_of(SHEET_3)).groups() for each in USERS_3]
    assert [tuple(map(float, each)) for each in found] == [
        (1111.111,),
        (1116.116,),
        (1113.113, 271756.1),
        (1118.118, 272978.0),
    ]
    found = [re.search(each, text_of(SHEET_5)).groups() for each in USERS_5]
    assert [tuple(map(float, each)) for each in found] == [
        (1111.111,),
        (1116.116, 272489.3),
        (1117.117,),
        (1114.114, 272000.5),
    ]
    assert re.search("CrystalDiskMark ([35])", text_of(SHEET_5)).group(1) == "5"


def test_the_patterns_of_users_find_every_number_of_version_8_by_section():
    text = text_of(SHEET_8).replace("\r\n", "\n")
    sections = re.split(r"^\[(Read|Write|Mix)\].*$", text, flags=re.MULTILINE)
    found = {
        name: USERS_8.findall(body)
        for name, body in zip(sections[1::2], sections[2::2], strict=True)
    }
    assert {name: len(rows) for name, rows in found.items()} == {"Read": 4, "Write": 4, "Mix": 4}
    assert found["Write"][2] == ("RND", "4", "KiB", "32", "1", "1117.117", "272733.6", "86.42")
    assert re.search(r"^Profile: (.+)$", text, re.MULTILINE).group(1) == "Default"
    assert re.search(r"^   Test: (\d+) (GiB|MiB) \(x(\d)\)", text, re.MULTILINE).groups() == (
        "1",
        "GiB",
        "5",
    )
