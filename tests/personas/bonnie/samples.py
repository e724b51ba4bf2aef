"""Outputs of the originals, and timings that lead to them: numbers turned back into times."""

from dataclasses import dataclass

from teijo.methods.classic.bonnie.settings import FILE_PHASES, IO_PHASES, PHASES
from teijo.personas.bonnie.output import Asked, Timing, Timings

TOO_SHORT = "+++++"


def timings_of(asked: Asked, told: str) -> Timings:
    """Return timings whose rates, shares and latencies are those told, one word each.

    `told` has "rate:percent:latency" for each test in order, "-" for one that was not done.
    """
    amounts = _amounts(asked)
    found = {}
    for name, word in zip(PHASES, told.split(), strict=True):
        if word == "-":
            continue
        rate, percent, latency = word.split(":")
        if rate == TOO_SHORT:
            elapsed_ns = 499_999_999
        else:
            # In the middle of what is printed so, whether that is cut or rounded.
            digit = 0.02 if "." in rate else 0.3
            elapsed_ns = round(amounts[name] / (float(rate) + digit) * 1e9)
        cpu_ns = 0 if rate == TOO_SHORT else int((int(percent) + 0.5) * elapsed_ns / 100)
        found[name] = Timing(elapsed_ns=elapsed_ns, cpu_ns=cpu_ns, longest_ns=_ns(latency))
    return found


def _amounts(asked: Asked) -> dict[str, int]:
    char = asked.size_mib if asked.version == "1.03" else asked.per_char_mib
    whole = asked.size_mib * 1024
    io = dict(
        zip(IO_PHASES, (char * 1024, whole, whole, char * 1024, whole, asked.seeks), strict=True)
    )
    return io | dict.fromkeys(FILE_PHASES, asked.files * 1024)


def _ns(latency: str) -> int:
    for unit, ns in (("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)):
        if latency.endswith(unit):
            return int(latency.removesuffix(unit)) * ns + ns // 4
    return 0


@dataclass(frozen=True, kw_only=True)
class Sample:
    """What an original printed of one command."""

    asked: Asked
    told: str
    text: str
    csv: str

    @property
    def timings(self) -> Timings:
        """Times that lead to it."""
        return timings_of(self.asked, self.told)


_NONE = "- - - - - -"

NEW = Sample(
    asked=Asked(
        version="2.00", name="seedtest", seed="1795284916", size_mib=64, per_char_mib=3,
        files=1, largest=100, smallest=10, directories=2,
    ),
    told="3056:99:3839us +++++:0:219us +++++:0:35us 4372:97:2634us +++++:0:18us +++++:0:12052us "
    "1114:1:72us +++++:0:143us +++++:0:11150us +++++:0:4037us +++++:0:18us +++++:0:5113us",
    text="""\
Version 2.00a       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
seedtest        64M 3056k  99 +++++ +++ +++++ +++ 4372k  97 +++++ +++ +++++ +++
Latency              3839us     219us      35us    2634us      18us   12052us
Version 2.00a       ------Sequential Create------ --------Random Create--------
seedtest            -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
files:max:min        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
         1:100:10/2  1024   1 +++++ +++ +++++ +++ +++++ +++ +++++ +++ +++++ +++
Latency                72us     143us   11150us    4037us      18us    5113us
""",
    csv="1.98,2.00a,seedtest,1,1795284916,64M,,8192,5,3056,99,+++++,+++,+++++,+++,4372,"
    "97,+++++,+++,"
    "+++++,+++,1,100,10,,2,1114,1,+++++,+++,+++++,+++,+++++,+++,+++++,+++,+++++,+++,3839us,219us,"
    "35us,2634us,18us,12052us,72us,143us,11150us,4037us,18us,5113us\n",
)  # fmt: skip

NEW_LONG_NAME = Sample(
    asked=Asked(
        version="2.00", name="averyveryverylongmachinename_x", seed="1795400051", size_mib=8,
        per_char_mib=0, chunk_bytes=65536, seeks=4096, seekers=16,
    ),
    told="- 13439:0:46us 13442:0:97us - 13546:0:66us 5374:312:5146us " + _NONE,
    text="""\
Version 2.00a       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
ave 8M:64k::4096:16           13.1m   0 13.1m   0           13.2m   0  5374 312
Latency                          46us      97us                66us    5146us

""",
    csv="1.98,2.00a,averyveryverylongmachinename_x,1,1795400051,8M,,4096,16,,,13439,0,13442,0,,,"
    "13546,0,5374,312,,,,,,,,,,,,,,,,,,,46us,97us,,66us,5146us,,,,,,\n",
)  # fmt: skip

NEW_LINKS = Sample(
    asked=Asked(
        version="2.00", name="box", seed="5", size_mib=64, per_char_mib=0, concurrency=3, files=1,
        largest=-2,
    ),
    told="- 90138:6:4663us 70361:7:20503us - 90363:3:5245us 7884:195:5202us 995:6:10864us "
    "+++++:0:3605us 1271:2:10848us 948:10:12009us +++++:0:11656us 1013:7:14212us",
    text="""\
Version 2.00a       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
box          64M::3           88.0m   6 68.7m   7           88.2m   3  7884 195
Latency                        4663us   20503us              5245us    5202us
Version 2.00a       ------Sequential Create------ --------Random Create--------
box                 -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
files:max            /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
          1:symlink  1024   6 +++++ +++  1024   2  1024  10 +++++ +++  1024   7
Latency             10864us    3605us   10848us   12009us   11656us   14212us
""",
    csv="1.98,2.00a,box,3,5,64M,,8192,5,,,90138,6,70361,7,,,90363,3,7884,195,1,symlink,,,,995,6,"
    "+++++,+++,1271,2,948,10,+++++,+++,1013,7,,4663us,20503us,,5245us,5202us,10864us,3605us,"
    "10848us,12009us,11656us,14212us\n",
)  # fmt: skip

NEW_FILES_ALONE = Sample(
    asked=Asked(
        version="2.00", name="box", seed="7", size_mib=0, per_char_mib=0, files=1, largest=2000,
        smallest=100, directories=3,
    ),
    told=_NONE + " 1176:9:5316us +++++:0:12494us 1244:2:4081us 1214:13:519us +++++:0:168us "
    "1175:2:3664us",
    text="""\
Version 2.00a       ------Sequential Create------ --------Random Create--------
box                 -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
files:max:min        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
       1:2000:100/3  1024   9 +++++ +++  1024   2  1024  13 +++++ +++  1024   2
Latency              5316us   12494us    4081us     519us     168us    3664us
""",
    csv="1.98,2.00a,box,1,7,,,,,,,,,,,,,,,,,1,2000,100,,3,1176,9,+++++,+++,1244,2,1214,"
    "13,+++++,+++,"
    "1175,2,,,,,,,5316us,12494us,4081us,519us,168us,3664us\n",
)  # fmt: skip

NEW_FAST = Sample(
    asked=Asked(version="2.00", name="box", seed="7", size_mib=4096, per_char_mib=0),
    told="- 419508:99:9859us 3902418:99:2947us - 6568809:98:3125us +++++:0:15269us " + _NONE,
    text="""\
Version 2.00a       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
box              4G            410m  99  3.7g  99            6.3g  98 +++++ +++
Latency                        9859us    2947us              3125us   15269us

""",
    csv="1.98,2.00a,box,1,7,4G,,8192,5,,,419508,99,3902418,99,,,6568809,98,+++++,+++,,,,,,,,,,,,,,,"
    ",,,,9859us,2947us,,3125us,15269us,,,,,,\n",
)

NEW_SLOW = Sample(
    asked=Asked(
        version="2.00", name="box", seed="7", size_mib=256, per_char_mib=0, seeks=1000, seekers=7
    ),
    told="- 981:0:14046ms 1318:0:291ms - 1819:0:492s 19.7:0:12076ms " + _NONE,
    text="""\
Version 2.00a       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
box     256M:::1000            981k   0 1318k   0           1819k   0  19.7   0
Latency                       14046ms     291ms                492s   12076ms

""",
    csv="1.98,2.00a,box,1,7,256M,,1000,7,,,981,0,1318,0,,,1819,0,19.7,0,,,,,,,,,,,,,,,,,,,14046ms,"
    "291ms,,492s,12076ms,,,,,,\n",
)

OLDER = Sample(
    asked=Asked(
        version="1.97", name="seedtest", seed="1795397986", size_mib=8, per_char_mib=3,
        chunk_bytes=65536, files=1, largest=100, smallest=10, directories=2,
    ),
    told="3932:99:17504us +++++:0:155us +++++:0:87us 5687:99:12379us +++++:0:49us +++++:0:8066us "
    "+++++:0:84us +++++:0:47us +++++:0:271us +++++:0:89us +++++:0:22us +++++:0:241us",
    text="""\
Version  1.97       ------Sequential Output------ --Sequential Input- --Random-
Concurrency   1     -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine   Size:chnk K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
seedtest     8M:64k  3932  99 +++++ +++ +++++ +++  5687  99 +++++ +++ +++++ +++
Latency             17504us     155us      87us   12379us      49us    8066us
Version  1.97       ------Sequential Create------ --------Random Create--------
seedtest            -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
files:max:min        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
         1:100:10/2 +++++ +++ +++++ +++ +++++ +++ +++++ +++ +++++ +++ +++++ +++
Latency                84us      47us     271us      89us      22us     241us
""",
    csv="1.97,1.97,seedtest,1,1795397986,8M,64k,3932,99,+++++,+++,+++++,+++,5687,99,+++++,+++,"
    "+++++,+++,1,100,10,,2,+++++,+++,+++++,+++,+++++,+++,+++++,+++,+++++,+++,+++++,+++,17504us,"
    "155us,87us,12379us,49us,8066us,84us,47us,271us,89us,22us,241us\n",
)  # fmt: skip

OLDER_LONG_NAME = Sample(
    asked=Asked(
        version="1.97", name="averyveryverylongmachinename_x", seed="5", size_mib=64,
        per_char_mib=0, concurrency=2, files=1,
    ),
    told="- +++++:0:98us 101934:7:7us - +++++:0:5us 15958:9:15788us +++++:0:4111us +++++:0:73us "
    "850:3:171us +++++:0:833us +++++:0:4us +++++:0:496us",
    text="""\
Version  1.97       ------Sequential Output------ --Sequential Input- --Random-
Concurrency   2     -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
averyveryverylo 64M           +++++ +++ 101934   7           +++++ +++ 15958   9
Latency                          98us       7us                 5us   15788us
Version  1.97       ------Sequential Create------ --------Random Create--------
averyveryverylongma -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
              files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
                  1 +++++ +++ +++++ +++   850   3 +++++ +++ +++++ +++ +++++ +++
Latency              4111us      73us     171us     833us       4us     496us
""",
    csv="1.97,1.97,averyveryverylongmachinename_x,2,5,64M,,,,+++++,+++,101934,7,,,+++++,"
    "+++,15958,9,"
    "1,,,,,+++++,+++,+++++,+++,850,3,+++++,+++,+++++,+++,+++++,+++,,98us,7us,,5us,15788us,4111us,"
    "73us,171us,833us,4us,496us\n",
)  # fmt: skip

OLD = Sample(
    asked=Asked(
        version="1.03", name="seedtest", seed="", size_mib=8, per_char_mib=8, chunk_bytes=65536,
        seekers=3, files=1, largest=4096, smallest=512, directories=4,
    ),
    told="1214:99: 12345:6: +++++:0: 5793:99: +++++:0: 445.8:2: 516:3: +++++:0: +++++:0: +++++:0: "
    "+++++:0: 1633:4:",
    text="""\
Version 1.03e       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine   Size:chnk K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
seedtest     8M:64k  1214  99 12345   6 +++++ +++  5793  99 +++++ +++ 445.8   2
                    ------Sequential Create------ --------Random Create--------
                    -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
files:max:min        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
       1:4096:512/4   516   3 +++++ +++ +++++ +++ +++++ +++ +++++ +++  1633   4
""",
    csv="seedtest,8M:64k,1214,99,12345,6,+++++,+++,5793,99,+++++,+++,445.8,2,1:4096:512/4,516,3,"
    "+++++,+++,+++++,+++,+++++,+++,+++++,+++,1633,4\n",
)  # fmt: skip

OLD_FILES_ALONE = Sample(
    asked=Asked(
        version="1.03", name="averyveryverylongmachinename_x", seed="", size_mib=0, per_char_mib=0,
        files=1, largest=-1,
    ),
    told=_NONE + " +++++:0: +++++:0: +++++:0: +++++:0: +++++:0: +++++:0:",
    text="""\
Version 1.03e       ------Sequential Create------ --------Random Create--------
averyveryverylongma -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
files:max            /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
             1:link +++++ +++ +++++ +++ +++++ +++ +++++ +++ +++++ +++ +++++ +++
""",
    csv="averyveryverylongmachinename_x,,,,,,,,,,,,,,1:link,+++++,+++,+++++,+++,+++++,+++,+++++,"
    "+++,+++++,+++,+++++,+++\n",
)  # fmt: skip

OLD_IO_ALONE = Sample(
    asked=Asked(
        version="1.03", name="averyveryverylongmachinename_x", seed="", size_mib=8, per_char_mib=0
    ),
    told="- +++++:0: +++++:0: - +++++:0: +++++:0: " + _NONE,
    text="""\
Version 1.03e       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
averyveryverylon 8M           +++++ +++ +++++ +++           +++++ +++ +++++ +++
""",
    csv="averyveryverylongmachinename_x,8M,,,+++++,+++,+++++,+++,,,+++++,+++,+++++,+++,,,,,,,,,,,,,"
    "\n",
)

SAMPLES = {
    "2.00a": NEW,
    "2.00a, a long name, a chunk and seekers": NEW_LONG_NAME,
    "2.00a, links": NEW_LINKS,
    "2.00a, files alone": NEW_FILES_ALONE,
    "2.00a, fast": NEW_FAST,
    "2.00a, slow": NEW_SLOW,
    "1.97": OLDER,
    "1.97, a long name": OLDER_LONG_NAME,
    "1.03e": OLD,
    "1.03e, files alone": OLD_FILES_ALONE,
    "1.03e, no files": OLD_IO_ALONE,
}
