"""Event files: read back record by record, and by TensorBoard itself where it is installed."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from funcgrad.utils.tensorboard import SummaryWriter
from funcgrad.utils.tensorboard.curves import pr_table
from funcgrad.utils.tensorboard.event_file import masked_checksum
from funcgrad.utils.tensorboard.pictures import arranged, png
from funcgrad.utils.tensorboard.summary import hparams


def records(folder: Path) -> list[bytes]:
    """Return the records of the only event file in a folder, each with its checksums checked."""
    (file,) = folder.glob("events.out.tfevents.*")
    data, found = file.read_bytes(), []
    while data:
        head, (check,) = data[:8], struct.unpack("<I", data[8:12])
        assert check == masked_checksum(head)
        (length,) = struct.unpack("<Q", head)
        body = data[12 : 12 + length]
        assert struct.unpack("<I", data[12 + length : 16 + length])[0] == masked_checksum(body)
        found.append(body)
        data = data[16 + length :]
    return found


def fields(message: bytes) -> dict[int, list[Any]]:
    """Return a protocol-buffer message's fields by number; texts and messages as bytes."""
    found: dict[int, list[Any]] = {}
    place = 0

    def varint() -> int:
        nonlocal place
        number = shift = 0
        while True:
            byte = message[place]
            place += 1
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number

    while place < len(message):
        key = varint()
        kind = key & 7
        if kind == 0:
            value: Any = varint()
        elif kind == 2:
            length = varint()
            value = message[place : place + length]
            place += length
        else:
            size, form = (8, "<d") if kind == 1 else (4, "<f")
            (value,) = struct.unpack(form, message[place : place + size])
            place += size
        found.setdefault(key >> 3, []).append(value)
    return found


def test_the_checksum_is_crc32c() -> None:
    # RFC 3720, B.4: 32 bytes of zeros have the CRC-32C 0x8A9136AA
    unmasked = (masked_checksum(bytes(32)) - 0xA282EAD8) & 0xFFFFFFFF
    assert (unmasked >> 17 | unmasked << 15) & 0xFFFFFFFF == 0x8A9136AA


def test_scalars_are_events_with_their_steps(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("loss/train", torch.tensor(0.5), 3, walltime=12.0)
        writer.add_scalar("loss/train", 0.25, 4)
    version, first, second = map(fields, records(tmp_path))
    assert version[3] == [b"brain.Event:2"]
    value = fields(fields(first[5][0])[1][0])
    assert (first[1], first[2], value[1], value[2]) == ([12.0], [3], [b"loss/train"], [0.5])
    assert second[2] == [4]


def test_a_histogram_counts_every_number(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram("weights", torch.tensor([-1.0, 0.5, 0.5, 2.0]), 0)
        with pytest.raises(ValueError, match="no element"):
            writer.add_histogram("none", torch.zeros(0))
    histogram = fields(fields(fields(fields(records(tmp_path)[1])[5][0])[1][0])[5][0])
    assert [histogram[i][0] for i in range(1, 6)] == [-1.0, 2.0, 4.0, 2.0, 5.5]
    edges, counts = (np.frombuffer(histogram[i][0], "<f8") for i in (6, 7))
    assert len(edges) == len(counts)
    assert counts.sum() == 4
    assert edges[-1] >= 2.0


def test_a_png_decodes_to_its_pixels() -> None:
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    data = png(pixels)
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    start = data.index(b"IDAT")
    (length,) = struct.unpack(">I", data[start - 4 : start])
    rows = np.frombuffer(zlib.decompress(data[start + 4 : start + 4 + length]), np.uint8).reshape(2, 13)
    assert (rows[:, 1:].reshape(2, 4, 3) == pixels).all()


def test_pictures_are_arranged_by_their_letters() -> None:
    chw = np.random.default_rng(0).random((3, 4, 5))
    assert (arranged(chw, "CHW") == arranged(chw.transpose(1, 2, 0), "HWC")).all()
    assert arranged(chw[0], "HW").shape == (4, 5, 3)
    assert arranged(np.zeros((10, 1, 4, 5)), "NCHW").shape == (8, 40, 1)
    with pytest.raises(AssertionError, match="input format"):
        arranged(chw, "NCHW")


def test_tensorboard_itself_reads_everything(tmp_path: Path) -> None:
    reading = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("a", 1.0, 0)
        writer.add_histogram("h", torch.randn(100), 0)
        writer.add_image("i", torch.rand(3, 4, 5), 0)
        writer.add_text("t", "words", 0)
        writer.add_audio("s", torch.rand(100), 0)
        writer.add_scalars("both", {"x": 1, "y": 2}, 0)
        writer.add_hparams({"lr": 0.1, "name": "n", "flag": True}, {"accuracy": 0.5})
    read = reading.EventAccumulator(str(tmp_path)).Reload()
    tags = read.Tags()
    assert [tags[kind] for kind in ("scalars", "histograms", "images", "audio", "tensors")] == [
        ["a"], ["h"], ["i"], ["s"], ["t/text_summary"],
    ]  # fmt: skip
    assert (read.Images("i")[0].width, read.Histograms("h")[0].histogram_value.num) == (5, 100)
    assert sorted(folder.name for folder in tmp_path.iterdir() if folder.is_dir())[-2:] == ["both_x", "both_y"]


def test_hyperparameters_are_added_by_hand(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        for each in hparams({"lr": torch.tensor(0.5), "name": "n", "none": None}, {"accuracy": 0}):
            writer.file_writer.add_summary(each, global_step=3)
        assert writer._get_file_writer().get_logdir() == str(tmp_path)
    _, *events = map(fields, records(tmp_path))
    values = [fields(fields(event[5][0])[1][0]) for event in events]
    assert [event[2] for event in events] == [[3]] * 3
    assert [value[1] for value in values] == [
        [b"_hparams_/experiment"], [b"_hparams_/session_start_info"], [b"_hparams_/session_end_info"],
    ]  # fmt: skip
    start = fields(fields(fields(values[1][9][0])[1][0])[2][0])[3][0]
    assert [fields(entry)[1] for entry in fields(start)[1]] == [[b"lr"], [b"name"]]
    no_dictionary: Any = [("accuracy", 0)]
    with pytest.raises(TypeError, match="parameter: metric_dict should be a dictionary, nothing logged"):
        hparams({}, no_dictionary)


def test_an_embedding_is_written_for_the_projector(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        writer.add_embedding(torch.arange(6.0).reshape(3, 2), ["a", "b", "c"], torch.rand(3, 1, 2, 2), 7)
    folder = tmp_path / "00007" / "default"
    assert (folder / "tensors.tsv").read_text().splitlines() == ["0\t1", "2\t3", "4\t5"]
    assert (folder / "metadata.tsv").read_text() == "a\nb\nc\n"
    assert (folder / "sprite.png").exists()
    assert 'tensor_path: "00007/default/tensors.tsv"' in (tmp_path / "projector_config.pbtxt").read_text()


def test_a_precision_recall_curve_counts_what_lies_above_each_threshold(tmp_path: Path) -> None:
    table = pr_table(np.array([0, 1, 1, 0]), np.array([0.1, 0.6, 0.9, 0.7]), 3)
    assert table[:4].tolist() == [[2, 2, 0], [2, 1, 0], [0, 1, 2], [0, 0, 2]]
    np.testing.assert_allclose(table[4:], [[0.5, 2 / 3, 0], [1, 1, 0]])
    with SummaryWriter(tmp_path) as writer:
        writer.add_pr_curve("cats", torch.tensor([0, 1, 1]), torch.tensor([0.2, 0.7, 1.0]), 0, num_thresholds=5)
    (file,) = tmp_path.iterdir()
    assert b"pr_curves" in file.read_bytes()


def test_lists_and_several_numbers_are_refused_as_scalars(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        with pytest.raises(
            NotImplementedError, match="Got <class 'list'>, but numpy array or torch tensor are expected"
        ):
            writer.add_scalar("loss", [0.5])
        with pytest.raises(AssertionError, match="Was given size: 2 and 1 dimensions"):
            writer.add_scalar("loss", torch.ones(2))
        writer.add_scalar("loss", torch.ones(1, 1))
