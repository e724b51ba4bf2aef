"""A lake on S3-compatible storage, at a real server of this machine (moto), by its own protocol."""

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from moto.server import ThreadedMotoServer

from teijo import api
from teijo.errors import HostError, UsageError
from teijo.lake.lake import Lake
from teijo.lake.rows import RunRows
from teijo.lake.schema import MARKER, TABLES
from teijo.lake.store import store_at
from teijo.lake.writing import write_batches
from tests.lake.made import another

KEYS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(endpoint: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    name = request.node.name.replace("_", "-")[:60].strip("-").lower()
    boto3.client("s3", endpoint_url=endpoint).create_bucket(Bucket=name)
    return name


def objects(endpoint: str, bucket: str) -> set[str]:
    told = boto3.client("s3", endpoint_url=endpoint).list_objects_v2(Bucket=bucket)
    return {each["Key"] for each in told.get("Contents", [])}


def test_a_lake_on_s3_answers_as_one_in_a_folder(
    endpoint: str, bucket: str, run_files: Path, tmp_path: Path
) -> None:
    far, near = api.lake(f"s3://{bucket}/all/lake"), api.lake(tmp_path / "near")
    assert far.add([run_files]).runs == near.add([run_files]).runs == 4
    assert far.add([run_files]).there == 4
    for question in (*(f"FROM {table} ORDER BY ALL" for table in TABLES), "FROM fleet_spread"):
        assert far.sql(question).equals(near.sql(question)), question
    keys = objects(endpoint, bucket)
    assert f"all/lake/{MARKER}" in keys
    assert len([key for key in keys if key.endswith(".parquet")]) == 4
    assert far.document() is not None


def test_compacting_on_s3_changes_no_answer(endpoint: str, bucket: str, rows: RunRows) -> None:
    lake = Lake(store_at(f"s3://{bucket}/lake"))
    lake.store.make("test")
    for number in range(3):
        write_batches(lake.store, [another(rows, number)])
    question = "SELECT * EXCLUDE batch FROM figures ORDER BY ALL"
    before = lake.sql(question)
    done = lake.compact()
    assert (done.files_before, done.files) == (12, 4)
    assert lake.sql(question).equals(before)
    # Arrow leaves an empty object for a folder whose file it removes.
    assert len([key for key in objects(endpoint, bucket) if key.endswith(".parquet")]) == 4


def test_a_question_at_a_lake_on_s3_reads_no_file_of_this_machine(
    bucket: str, rows: RunRows, tmp_path: Path
) -> None:
    lake = Lake(store_at(f"s3://{bucket}/lake"))
    lake.store.make("test")
    write_batches(lake.store, [another(rows, 1)])
    (tmp_path / "secret.csv").write_text("a\n1\n")
    for question in (
        f"FROM read_csv('{tmp_path}/secret.csv')",
        f"FROM read_parquet('s3://{bucket}/lake/runs/*/*/*.parquet')",
    ):
        with pytest.raises(UsageError):
            lake.sql(question)


def test_a_bucket_that_is_not_there_is_said_as_that(bucket: str, run_files: Path) -> None:
    with pytest.raises((HostError, UsageError)) as refusal:
        api.lake("s3://no-such-bucket-here/lake").add([run_files])
    assert "no-such-bucket-here" in refusal.value.message
    with pytest.raises(UsageError, match="There is no lake"):
        api.lake(f"s3://{bucket}/nothing").sql("FROM runs")


def test_the_place_may_name_its_server_itself(
    endpoint: str, bucket: str, run_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    server = endpoint.removeprefix("http://")
    place = f"s3://{bucket}/lake?scheme=http&endpoint_override={server}"
    assert api.lake(place).add([run_files]).runs == 4
    assert "AWS_ENDPOINT_URL" not in os.environ


@pytest.mark.parametrize("place", ["http://host/lake", "s3://", "gs://bucket/lake"])
def test_what_is_no_place_of_a_lake_is_refused(place: str) -> None:
    with pytest.raises(UsageError, match="no place for a lake"):
        api.lake(place)
