"""A saved schedule comes back bit for bit; anything else is refused with its reason."""

import dataclasses
import hashlib
import json

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from elastic_consistency.schedule import Schedule
from elastic_consistency.schedule.storage import StorageError, load_valid_schedule


@pytest.fixture
def saved(handmade, tmp_path):
    path = tmp_path / "schedule.parquet"
    handmade["server"].save(path)
    return path


def rewrite_header(path, change):
    """Alter the header and keep its checksum right, as another program would write it."""
    table = parquet.read_table(path)
    metadata = dict(table.schema.metadata)
    header = json.loads(metadata[b"elastic_consistency.schedule"])
    change(header)
    text = json.dumps(header).encode()
    metadata[b"elastic_consistency.schedule"] = text
    metadata[b"elastic_consistency.schedule.sha256"] = hashlib.sha256(text).hexdigest().encode()
    parquet.write_table(table.replace_schema_metadata(metadata), path)


@pytest.mark.parametrize("name", ["server", "pairwise", "push_sum", "blocks"])
def test_a_schedule_survives_the_disk(handmade, tmp_path, name):
    handmade[name].save(tmp_path / "x.parquet")

    loaded = Schedule.load(tmp_path / "x.parquet")

    assert loaded.digest() == handmade[name].digest()
    assert loaded.metadata == handmade[name].metadata
    loaded.check()


def test_any_parquet_reader_can_open_it(saved, handmade):
    table = parquet.read_table(saved).to_pandas()

    assert table["time_s"].tolist() == handmade["server"].rows.time.tolist()
    assert table["job_share"].notna().sum() == len(handmade["server"].jobs)


def test_decisions_and_annotations_survive(make_hand, tmp_path):
    hand = make_hand(1, (-1,), provenance={"protocol": "by hand", "seed": 3})
    hand.time = 1.5
    hand.record.annotate("retransmission", 0, "link 3")
    hand.record.decide("start_early", (4, 2), 1.0)
    schedule = hand.record.finish()

    schedule.save(tmp_path / "x.parquet")

    assert Schedule.load(tmp_path / "x.parquet").metadata == schedule.metadata


def test_every_truncation_is_refused(saved):
    whole = saved.read_bytes()
    for size in np.linspace(0, len(whole) - 1, 60).astype(int):
        saved.write_bytes(whole[:size])
        with pytest.raises(StorageError, match=r"schedule\.parquet"):
            Schedule.load(saved)


def test_no_flipped_bit_changes_a_schedule_silently(saved, handmade):
    """A flip is refused, or it sits where it changes nothing (such as unused statistics)."""
    whole, digest = saved.read_bytes(), handmade["server"].digest()
    metadata = handmade["server"].metadata
    rng, refused = np.random.default_rng(5), 0
    for position in rng.integers(0, len(whole), 300):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << int(rng.integers(8))
        saved.write_bytes(damaged)
        try:
            loaded = Schedule.load(saved)
        except StorageError:
            refused += 1
        else:
            assert loaded.digest() == digest
            assert loaded.metadata == metadata
    assert refused > 150


def test_a_newer_format_asks_for_a_newer_version(saved):
    rewrite_header(saved, lambda header: header.update(format_version=2))

    with pytest.raises(StorageError, match=r"format 2.*reads up to 1.*newer"):
        Schedule.load(saved)


def test_a_foreign_parquet_file_is_named_as_such(tmp_path):
    parquet.write_table(arrow.table({"a": [1]}), tmp_path / "x.parquet")

    with pytest.raises(StorageError, match="not a schedule"):
        Schedule.load(tmp_path / "x.parquet")


def test_a_text_file_is_refused(tmp_path):
    (tmp_path / "x.parquet").write_text("time,op\n0,1\n")

    with pytest.raises(StorageError, match="not a parquet file"):
        Schedule.load(tmp_path / "x.parquet")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no schedule at"):
        Schedule.load(tmp_path / "nothing.parquet")


@pytest.mark.parametrize("key", ["n_rows", "hosts", "digest", "annotations", "n_workers"])
def test_a_header_without_a_key_is_refused(saved, key):
    rewrite_header(saved, lambda header: header.pop(key))

    with pytest.raises(StorageError):
        Schedule.load(saved)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("provenance", 3),
        ("provenance", []),
        ("hosts", 3),
        ("decisions", [[1]]),
        ("annotations", [[1, 2, 3, 4, 5, 6]]),
        ("n_rows", 10**9),
        ("format_version", True),
    ],
)
def test_a_header_with_another_type_is_refused(saved, key, value):
    def change(header):
        header[key] = value

    rewrite_header(saved, change)

    with pytest.raises(StorageError, match=str(saved)):
        Schedule.load(saved)


COLUMNS = {
    "nothing": lambda table: table.drop(["job"]),
    "another name": lambda table: table.rename_columns(["x", *table.column_names[1:]]),
    "words": lambda table: table.set_column(0, "time_s", arrow.array(["a"] * len(table))),
    "lists": lambda table: table.set_column(0, "time_s", arrow.array([[1.0]] * len(table))),
    "tables": lambda table: table.set_column(1, "op", arrow.array([{"a": 1}] * len(table))),
    "fewer rows": lambda table: table.slice(0, len(table) - 1),
    "another order": lambda table: table.take(list(range(len(table)))[::-1]),
    "a column twice": lambda table: table.append_column("time_s", table.column(0)),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_that_were_changed_are_refused(saved, name):
    parquet.write_table(COLUMNS[name](parquet.read_table(saved)), saved)

    with pytest.raises(StorageError, match=str(saved)):
        Schedule.load(saved)


def test_a_file_from_elsewhere_must_hold_a_valid_schedule(handmade, tmp_path):
    """Its digest is right, but one of its times is none: the file and the row are named."""
    whole = handmade["server"]
    times = np.array(whole.rows.time)
    times[3] = np.nan
    broken = dataclasses.replace(whole, rows=dataclasses.replace(whole.rows, time=times))
    path = tmp_path / "broken.parquet"
    broken.save(path)

    with pytest.raises(StorageError, match=rf"{path}: .* at row 3: time must be finite"):
        load_valid_schedule(path)

    handmade["server"].save(path)
    assert load_valid_schedule(path).digest() == handmade["server"].digest()


def test_a_failed_write_leaves_the_old_file_and_nothing_else(saved, handmade, monkeypatch):
    before = saved.read_bytes()

    def fail(*args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(parquet, "write_table", fail)
    with pytest.raises(OSError, match="No space"):
        handmade["pairwise"].save(saved)

    assert saved.read_bytes() == before
    assert [p.name for p in saved.parent.iterdir()] == [saved.name]


def test_a_copy_with_another_seed_does_not_inherit_the_digest(handmade):
    schedule = handmade["server"]
    first = schedule.digest()

    other = dataclasses.replace(
        schedule, metadata=dataclasses.replace(schedule.metadata, seed=schedule.metadata.seed + 1)
    )

    assert other.digest() != first
    assert schedule.digest() == first


def test_a_schedule_is_hashed_once(handmade, monkeypatch):
    schedule = dataclasses.replace(handmade["server"])
    first = schedule.digest()

    monkeypatch.setattr(hashlib, "sha256", None)

    assert schedule.digest() == first
