"""Event files: read back record by record, and by TensorBoard itself where it is installed."""

from __future__ import annotations

import io
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
    assert (folder / "tensors.tsv").read_text().splitlines() == ["0.0\t1.0", "2.0\t3.0", "4.0\t5.0"]
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


def values_of(folder: Path) -> list[dict[int, list[Any]]]:
    """Return the summary values of the only event file in a folder, in order."""
    events = [fields(record) for record in records(folder)[1:]]
    return [fields(value) for event in events for summary in event[5] for value in fields(summary)[1]]


def plugin_of(value: dict[int, list[Any]]) -> dict[int, list[Any]]:
    return fields(fields(value[9][0])[1][0])


def test_a_mesh_is_an_event_of_its_parts(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        writer.add_mesh("m", torch.ones(1, 4, 3), torch.full((1, 4, 3), 9), torch.tensor([[[0, 1, 2]]]), {"a": 1}, 5)
    assert len(records(tmp_path)) == 2
    values = values_of(tmp_path)
    assert [value[1] for value in values] == [[b"m_VERTEX"], [b"m_FACE"], [b"m_COLOR"]]
    said = [fields(plugin_of(value)[2][0]) for value in values]
    assert [(each[2], each[3], each[5], each[6], each[7]) for each in said] == [
        ([b"m"], [kind], [b'{"a": 1}'], [bytes([1, rows, 3])], [0b1110]) for kind, rows in ((1, 4), (2, 1), (3, 4))
    ]
    assert struct.unpack("<3f", fields(values[1][8][0])[5][0]) == (0.0, 1.0, 2.0)


def test_charts_are_laid_out(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        writer.add_custom_scalars({"T": {"one": ["Multiline", ["a", "b"]], "two": ["Margin", ["x", "y", "z"]]}})
        writer.add_custom_scalars_multilinechart(["a"], "c", "t")
        with pytest.raises(AssertionError, match="Expected 3 tags, got 1"):
            writer.add_custom_scalars_marginchart(["a"])
    first, second = values_of(tmp_path)
    assert first[1] == [b"custom_scalars__config__"] and plugin_of(first)[1] == [b"custom_scalars"]
    charts = b"\x12\x0d\n\x03one\x12\x06\n\x01a\n\x01b\x12\x12\n\x03two\x1a\x0b\n\x09\n\x01x\x12\x01y\x1a\x01z"
    assert fields(first[8][0])[8] == [b"\x12" + bytes([len(charts) + 3]) + b"\n\x01T" + charts]
    assert fields(second[8][0])[8] == [b"\x12\x0d\n\x01c\x12\x08\n\x01t\x12\x03\n\x01a"]


@pytest.mark.parametrize(
    ("tensor", "kind", "field", "held"),
    [
        (torch.tensor([1.5]), 1, 5, struct.pack("<f", 1.5)),
        (torch.tensor([1.5], dtype=torch.float64), 2, 6, struct.pack("<d", 1.5)),
        (torch.tensor([3], dtype=torch.int16), 5, 7, b"\x03"),
        (torch.tensor([300]), 9, 10, b"\xac\x02"),
        (torch.tensor([True]), 10, 11, b"\x01"),
        (torch.tensor([1.0], dtype=torch.bfloat16), 14, 13, b"\x80\x7f"),
        (torch.tensor([1 + 2j]), 8, 9, struct.pack("<2f", 1, 2)),
    ],
)
def test_tensors_of_all_kinds_are_written(
    tmp_path: Path, tensor: torch.Tensor, kind: int, field: int, held: bytes
) -> None:
    with SummaryWriter(tmp_path) as writer:
        writer.add_tensor("t", tensor)
    found = fields(values_of(tmp_path)[0][8][0])
    assert found[1] == [kind] and found[field] == [held] and found[2] == [b"\x12\x02\x08\x01"]


def test_what_was_counted_already_is_written_as_it_is(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram_raw("h", 0, 1, 2, 1.5, 1.25, [0.5, 1.0], [1, 1])
        writer.add_pr_curve_raw("p", [1, 2], [3, 4], [5, 6], [7, 8], [0.5, 1], [0, 1], num_thresholds=2)
        writer.add_scalar("s", 2.5, new_style=True, double_precision=True)
        with pytest.raises(ValueError, match=r"len\(bucket_limits\) != len\(bucket_counts\)"):
            writer.add_histogram_raw("h", 0, 1, 2, 1.5, 1.25, [0.5], [1, 1])
    counted, curve, number = values_of(tmp_path)
    assert fields(counted[5][0])[6] == [struct.pack("<2d", 0.5, 1.0)]
    assert struct.unpack("<12f", fields(curve[8][0])[5][0]) == (1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1, 0, 1)
    assert plugin_of(number)[1] == [b"scalars"] and fields(number[8][0]) == {1: [2], 6: [struct.pack("<d", 2.5)]}


def test_films_and_boxes_are_pictures(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    with SummaryWriter(tmp_path) as writer:
        films = torch.zeros(3, 2, 3, 4, 4)
        films[:, 1] = 1
        writer.add_video("v", films, 1, fps=5)
        writer.add_image_with_boxes("b", torch.zeros(3, 20, 20), torch.tensor([[2.0, 3.0, 10.0, 12.0]]), labels="q")
    film, boxed = (fields(value[4][0]) for value in values_of(tmp_path))
    shown = image.open(io.BytesIO(film[4][0]))
    assert (film[1], film[2], film[3], shown.n_frames, shown.info["duration"]) == ([4], [16], [3], 2, 200)
    shown.seek(1)
    second = np.asarray(shown.convert("RGB"))
    assert second[:, :12].min() == 255 and second[:, 12:].max() == 0
    pixels = np.asarray(image.open(io.BytesIO(boxed[4][0])))
    assert pixels[5, 2].tolist() == [255, 0, 0] and pixels[0, 0].tolist() == [0, 0, 0]


def test_hyperparameters_say_which_values_they_may_have(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path) as writer:
        writer.add_hparams({"o": "sgd", "b": True}, {"m": 1}, {"o": ["sgd", "adam"]}, run_name="run", global_step=4)
        for given, error in (
            ((3, {}), "hparam_dict and metric_dict should be dictionary"),
            (({"a": 1}, {}, {"a": ["x"]}), r"hparam_domain_discrete\[a\] should be a list of same type"),
        ):
            with pytest.raises(TypeError, match=error):
                writer.add_hparams(*given)
        with pytest.raises(ValueError, match="value should be one of int, float, str, bool, or"):
            writer.add_hparams({"a": [1]}, {})
    announced = fields(fields(plugin_of(values_of(tmp_path / "run")[0])[2][0])[2][0])
    first, second = map(fields, announced[4])
    assert first[4] == [1] and fields(first[5][0])[1] == [b"\x1a\x03sgd", b"\x1a\x04adam"] and second[4] == [3]


def test_the_projectors_list_is_torchs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with SummaryWriter(tmp_path) as writer:
        for _ in range(2):
            writer.add_embedding(
                torch.tensor([[0.5], [1.0]]), [["a", 1], ["b", 2]], torch.zeros(2, 3, 4, 5), 2, "x/y", ["n", "v"]
            )
        assert (
            capsys.readouterr().out == "warning: Embedding dir exists, did you set global_step for add_embedding()?\n"
        )
        with pytest.raises(AssertionError, match="#labels should equal with #data points"):
            writer.add_embedding(torch.zeros(2, 1), ["a"])
        with pytest.raises(AssertionError, match="mat should be 2D"):
            writer.add_embedding(torch.zeros(2))
    place = "00002/x%2fy"
    entry = (
        f'embeddings {{\n  tensor_name: "x/y:00002"\n  metadata_path: "{place}/metadata.tsv"\n  sprite {{\n'
        f'    image_path: "{place}/sprite.png"\n    single_image_dim: 5\n    single_image_dim: 4\n  }}\n'
        f'  tensor_path: "{place}/tensors.tsv"\n}}\n'
    )
    assert (tmp_path / "projector_config.pbtxt").read_text() == entry * 2
    assert (tmp_path / place / "tensors.tsv").read_text() == "0.5\n1.0\n"
    assert (tmp_path / place / "metadata.tsv").read_text() == "n\tv\na\t1\nb\t2\n"
