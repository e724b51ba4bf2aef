"""DiskSpd's XML, read by a parser nobody here wrote, against the original's names."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from teijo.personas.diskspd.parsing import parse
from teijo.personas.diskspd.xml import profile_xml, results_xml
from tests.personas.diskspd.samples import HOST, MIXED

# What version 2.2 writes of a run from a command line, by where it stands, in its order.
SYSTEM = ("ComputerName", "Tool", "RunTime", "PowerScheme", "ProcessorTopology")
SPAN_PROFILE = (
    "CompletionRoutines", "MeasureLatency", "CalculateIopsStdDev", "DisableAffinity", "Duration",
    "Warmup", "Cooldown", "ThreadCount", "RequestCount", "IoBucketDuration", "RandSeed", "Targets",
)  # fmt: skip
TARGET_PROFILE = (
    "Path", "BlockSize", "BaseFileOffset", "SequentialScan", "RandomAccess", "TemporaryFile",
    "UseLargePages", "DisableOSCache", "WriteThrough", "WriteBufferContent", "ParallelAsyncIO",
    "FileSize", "Random", "ThreadStride", "MaxFileSize", "RequestCount", "WriteRatio",
    "Throughput", "ThreadsPerFile", "IOPriority", "Weight",
)  # fmt: skip
SPAN = (
    "TestTimeSeconds", "ThreadCount", "RequestCount", "ProcCount", "CpuUtilization", "Latency",
    "Iops", "Thread", "Thread",
)  # fmt: skip
PROCESSOR = (
    "Socket", "Node", "Group", "Core", "EfficiencyClass", "Id", "UsagePercent", "UserPercent",
    "KernelPercent", "IdlePercent",
)  # fmt: skip
TARGET = (
    "Path", "BytesCount", "FileSize", "IOCount", "ReadBytes", "ReadCount", "WriteBytes",
    "WriteCount", "AverageReadLatencyMilliseconds", "ReadLatencyStdev",
    "AverageWriteLatencyMilliseconds", "WriteLatencyStdev", "AverageLatencyMilliseconds",
    "LatencyStdev", "Iops",
)  # fmt: skip
LATENCY = (
    "AverageReadMilliseconds", "ReadLatencyStdev", "AverageWriteMilliseconds", "WriteLatencyStdev",
    "AverageTotalMilliseconds", "LatencyStdev",
)  # fmt: skip


def names(element: ET.Element | None) -> tuple[str, ...]:
    assert element is not None
    return tuple(child.tag for child in element)


@pytest.fixture
def root() -> ET.Element:
    command = parse(["-b4K", "-r", "-w30", "-L", "-D", "-Sh", "-c10M", "-Rxml", "testfile.dat"])
    return ET.fromstring(results_xml(command, HOST, MIXED))


def test_every_element_has_the_originals_name_and_place(root):
    assert root.tag == "Results"
    assert names(root) == ("System", "Profile", "TimeSpan")
    assert names(root.find("System")) == SYSTEM
    assert names(root.find("System/Tool")) == ("Version", "VersionDate")
    assert names(root.find("System/ProcessorTopology")) == (
        "Group", "Node", "Socket", "Core", "Core",
    )  # fmt: skip
    assert names(root.find("Profile")) == ("Progress", "ResultFormat", "Verbose", "TimeSpans")
    assert names(root.find("Profile/TimeSpans/TimeSpan")) == SPAN_PROFILE
    assert names(root.find("Profile/TimeSpans/TimeSpan/Targets/Target")) == TARGET_PROFILE
    assert names(root.find("TimeSpan")) == SPAN
    assert names(root.find("TimeSpan/CpuUtilization")) == ("CPU", "CPU", "Average")
    assert names(root.find("TimeSpan/CpuUtilization/CPU")) == PROCESSOR
    assert names(root.find("TimeSpan/CpuUtilization/Average")) == PROCESSOR[-4:]
    assert names(root.find("TimeSpan/Latency"))[:6] == LATENCY
    assert names(root.find("TimeSpan/Thread")) == ("Id", "Target")
    assert names(root.find("TimeSpan/Thread/Target")) == TARGET
    assert names(root.find("TimeSpan/Iops")) == (
        "ReadIopsStdDev", "WriteIopsStdDev", "IopsStdDev", "Bucket", "Bucket",
    )  # fmt: skip


def text(root: ET.Element, path: str) -> str:
    found = root.findtext(path)
    assert found is not None, path
    return found


def test_the_numbers_are_those_of_the_run(root):
    assert text(root, "TimeSpan/TestTimeSeconds") == "2.00"
    assert text(root, "TimeSpan/ThreadCount") == "2"
    assert [each.text for each in root.findall("TimeSpan/Thread/Target/IOCount")] == [
        "1500", "2000",
    ]  # fmt: skip
    assert text(root, "TimeSpan/Thread/Target/ReadBytes") == "4096000"
    assert text(root, "TimeSpan/Latency/AverageTotalMilliseconds") == "0.571"
    assert text(root, "TimeSpan/Iops/ReadIopsStdDev") == "100.000"
    assert text(root, "TimeSpan/CpuUtilization/Average/UsagePercent") == "27.50"


def test_percentiles_run_from_0_to_100_in_the_originals_steps(root):
    told = [each.text for each in root.findall("TimeSpan/Latency/Bucket/Percentile")]
    assert told[:3] == ["0", "1", "2"]
    assert told[100:] == [
        "99.9", "99.99", "99.999", "99.9999", "99.99999", "99.999999", "99.9999999", "100",
    ]  # fmt: skip
    medians = root.findall("TimeSpan/Latency/Bucket")[50]
    assert names(medians) == (
        "Percentile", "ReadMilliseconds", "WriteMilliseconds", "TotalMilliseconds",
    )  # fmt: skip


def test_a_bucket_has_the_rates_of_its_interval(root):
    first = root.findall("TimeSpan/Iops/Bucket")[0].attrib
    assert first["SampleMillisecond"] == "1000"
    assert (first["Read"], first["Write"], first["Total"]) == ("1400", "250", "1650")
    assert first["ReadAvgLatencyMilliseconds"] == "0.500"
    # How far latencies scatter within an interval is not recorded, so it is not told.
    assert "ReadLatencyStdDev" not in first


def test_the_first_lines_byte_for_byte():
    told = results_xml(parse(["-Rxml", "a"]), HOST, MIXED)
    assert told.startswith(
        "<Results>\n"
        "  <System>\n"
        "    <ComputerName>host</ComputerName>\n"
        "    <Tool>\n"
        "      <Version>2.2.0</Version>\n"
        "      <VersionDate>2024/6/3</VersionDate>\n"
        "    </Tool>\n"
        "    <RunTime>2026/11/23 08:00:00 UTC</RunTime>\n"
        '    <PowerScheme Name="performance" Guid=""/>\n'
        '    <ProcessorTopology Heterogeneous="false">\n'
        '      <Group Group="0" MaximumProcessors="2" ActiveProcessors="2" '
        'ActiveProcessorMask="0x3"/>\n'
    )
    assert told.endswith("  </TimeSpan>\n</Results>")


def test_the_profile_alone():
    told = profile_xml(parse(["-Rpxml", "-t2", "-si", "-Z1M", "a & b"]))
    root = ET.fromstring(told)
    assert told.endswith("</Profile>\n")
    target = root.find("TimeSpans/TimeSpan/Targets/Target")
    assert target is not None
    assert target.findtext("Path") == "a & b"
    assert target.findtext("InterlockedSequential") == "true"
    assert target.findtext("WriteBufferContent/Pattern") == "random"
    assert target.findtext("WriteBufferContent/RandomDataSource/SizeInBytes") == "1048576"
    assert "zero" in profile_xml(parse(["-Z", "a"]))


def test_a_test_without_time_is_an_error():
    told = results_xml(parse(["-Rxml", "a"]), HOST, replace(MIXED, elapsed_ns=0))
    assert names(ET.fromstring(told).find("TimeSpan")) == ("Error",)
