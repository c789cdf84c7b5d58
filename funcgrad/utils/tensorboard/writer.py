"""SummaryWriter: scalars, histograms, pictures, text and more, into files that TensorBoard shows."""

from __future__ import annotations

import io
import os
import socket
import time
import wave
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from funcgrad._tensor.interop import to_host
from funcgrad._tensor.tensor import Tensor
from funcgrad.utils.tensorboard.curves import MOST_THRESHOLDS, pr_table, pr_value
from funcgrad.utils.tensorboard.embeddings import encoded, entry_of, write_labels, write_points, write_sheet
from funcgrad.utils.tensorboard.event_file import EventFile, content, double, doubles, integer, plugin, single
from funcgrad.utils.tensorboard.hparams import hparam_values
from funcgrad.utils.tensorboard.pictures import arranged, boxed, drawn, film, film_value, image_value
from funcgrad.utils.tensorboard.tensors import layout_fields, mesh_values, scalar_field, tensor_field

FileWriter = EventFile


def _edges() -> list[float]:
    positive = [1e-12]
    while positive[-1] < 1e20:
        positive.append(positive[-1] * 1.1)
    return [-x for x in reversed(positive)] + [0.0] + positive


def _joined(counts: Any, edges: Any, together: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Join so many neighbouring bins each."""
    starts = np.arange(0, len(counts), together)
    return np.add.reduceat(counts, starts), np.append(np.asarray(edges)[starts], edges[-1])


def _host(given: Any) -> NDArray[Any]:
    if isinstance(given, Tensor):
        return to_host(given.detach())
    if not isinstance(given, np.ndarray) and not np.isscalar(given):
        raise NotImplementedError(f"Got {type(given)}, but numpy array or torch tensor are expected.")
    return np.asarray(given)


def _number(given: Any) -> float:
    numbers = _host(given).squeeze()
    if numbers.ndim:
        raise AssertionError(
            "Tensor should contain one element (0 dimensions). Was given size: "
            f"{numbers.size} and {numbers.ndim} dimensions."
        )
    return float(numbers)


class SummaryWriter:
    """Write to a folder; without `log_dir`, to one in `runs` named after the time and the machine."""

    def __init__(
        self, log_dir: str | os.PathLike[str] | None = None, comment: str = "", purge_step: int | None = None,
        max_queue: int = 10, flush_secs: float = 120, filename_suffix: str = "",
    ) -> None:  # fmt: skip
        if not log_dir:
            log_dir = Path("runs") / f"{time.strftime('%b%d_%H-%M-%S')}_{socket.gethostname()}{comment}"
        self.log_dir = os.fspath(log_dir)
        self._options = (max_queue, flush_secs, filename_suffix)
        self._files: dict[str, EventFile] = {}
        self._projected = ""  # the projector's list of tables
        self._file(self.log_dir)

    def _file(self, folder: str) -> EventFile:
        if folder not in self._files:
            self._files[folder] = EventFile(folder, *self._options)
        return self._files[folder]

    def _add(self, tag: str, fields: bytes, step: Any, walltime: float | None, folder: str | None = None) -> None:
        self._file(folder or self.log_dir).add(content(1, tag) + fields, step, walltime)

    @property
    def file_writer(self) -> EventFile:
        """The file that summaries are added to by hand."""
        return self._file(self.log_dir)

    def _get_file_writer(self) -> EventFile:
        return self.file_writer

    def get_logdir(self) -> str:
        """Return the folder."""
        return self.log_dir

    def add_scalar(
        self, tag: str, scalar_value: Any, global_step: int | None = None, walltime: float | None = None,
        new_style: bool = False, double_precision: bool = False,
    ) -> None:  # fmt: skip
        """Write one number; a tensor of one element is computed now.

        new_style: as a tensor, in double precision if `double_precision`.
        """
        value = _number(scalar_value)
        fields = scalar_field(value, double_precision) if new_style else single(2, value)
        self._add(tag, fields, global_step, walltime)

    def add_tensor(
        self, tag: str, tensor: Tensor, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Write a tensor. ValueError for a dtype that the file has no place for."""
        self._add(tag, plugin("tensor") + tensor_field(tag, _host(tensor)), global_step, walltime)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: Mapping[str, Any], global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Write several numbers that one plot shows, each into a folder of its own."""
        for tag, value in tag_scalar_dict.items():
            folder = os.path.join(self.log_dir, f"{main_tag.replace('/', '_')}_{tag}")
            self._add(main_tag, single(2, _number(value)), global_step, walltime, folder)

    def add_histogram(
        self, tag: str, values: Any, global_step: int | None = None, bins: Any = "tensorflow",
        walltime: float | None = None, max_bins: int | None = None,
    ) -> None:  # fmt: skip
        """Write how a tensor's numbers are distributed, in at most `max_bins` bins. ValueError for an empty one."""
        numbers = _host(values).reshape(-1).astype(np.float64)
        if numbers.size == 0:
            raise ValueError("The input has no element.")
        counts, edges = np.histogram(numbers, _edges() if bins == "tensorflow" else bins)
        if max_bins is not None and len(counts) > max_bins:
            counts, edges = _joined(counts, edges, len(counts) // max_bins)
        filled = np.flatnonzero(counts)
        first, last = (int(filled[0]), int(filled[-1]) + 1) if filled.size else (0, 1)
        fields = b"".join(
            double(i, float(x))
            for i, x in enumerate((numbers.min(), numbers.max(), numbers.size, numbers.sum(), numbers @ numbers), 1)
        )
        fields += doubles(6, edges[first : last + 1]) + doubles(7, [0.0, *counts[first:last]])
        self._add(tag, content(5, fields), global_step, walltime)

    def add_histogram_raw(
        self, tag: str, min: float, max: float, num: float, sum: float, sum_squares: float,
        bucket_limits: Sequence[float], bucket_counts: Sequence[float], global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Write a histogram that was counted already. ValueError where limits and counts are not of one length."""
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError("len(bucket_limits) != len(bucket_counts), see the document.")
        fields = b"".join(double(i, float(x)) for i, x in enumerate((min, max, num, sum, sum_squares), 1))
        self._add(
            tag, content(5, fields + doubles(6, bucket_limits) + doubles(7, bucket_counts)), global_step, walltime
        )

    def add_image(
        self, tag: str, img_tensor: Any, global_step: int | None = None, walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:  # fmt: skip
        """Write a picture: uint8, or floats from 0 to 1."""
        self._add(tag, image_value(arranged(_host(img_tensor), dataformats)), global_step, walltime)

    def add_images(
        self, tag: str, img_tensor: Any, global_step: int | None = None, walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:  # fmt: skip
        """Write several pictures side by side."""
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_image_with_boxes(
        self, tag: str, img_tensor: Any, box_tensor: Any, global_step: int | None = None,
        walltime: float | None = None, rescale: float = 1, dataformats: str = "CHW", labels: Any = None,
    ) -> None:  # fmt: skip
        """Write a picture with boxes (N, 4) drawn on it, each from left and top to right and bottom; needs Pillow.

        labels: a text for each box.
        """
        boxes, labels = _host(box_tensor), [labels] if isinstance(labels, str) else labels
        if labels is not None and len(labels) != len(boxes):
            labels = None
        picture = arranged(_host(img_tensor), dataformats)
        self._add(tag, boxed(picture, boxes, labels, rescale), global_step, walltime)

    def add_video(
        self, tag: str, vid_tensor: Any, global_step: int | None = None, fps: float = 4,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Write films side by side as an animated GIF; needs Pillow.

        Shape: (N, T, C, H, W), uint8 or floats from 0 to 1. fps: frames a second.
        """
        self._add(tag, film_value(film(_host(vid_tensor)), fps), global_step, walltime)

    def add_mesh(
        self, tag: str, vertices: Any, colors: Any = None, faces: Any = None, config_dict: Any = None,
        global_step: int | None = None, walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Write points in space, or a surface of triangles.

        Shape: vertices (B, N, 3), colors (B, N, 3) from 0 to 255, faces (B, F, 3), places of three vertices each.
        config_dict: how three.js shows it.
        """
        given = {"VERTEX": vertices, "FACE": faces, "COLOR": colors}
        parts = {part: _host(tensor) for part, tensor in given.items() if tensor is not None}
        values = [content(1, name) + fields for name, fields in mesh_values(tag, parts, config_dict)]
        self.file_writer.add_several(values, global_step, walltime)

    def add_custom_scalars(self, layout: Any) -> None:
        """Say which numbers are drawn together: {category: {title: ["Multiline", tags]}}; call it once.

        ["Margin", [value, lower, upper]] draws one number between bounds.
        """
        self._add("custom_scalars__config__", layout_fields(layout), None, None)

    def add_custom_scalars_multilinechart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Say that these numbers are drawn together."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Say that a number is drawn between two others. AssertionError for other than three tags."""
        if len(tags) != 3:
            raise AssertionError(f"Expected 3 tags, got {len(tags)}.")
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_figure(
        self, tag: str, figure: Any, global_step: int | None = None, close: bool = True,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Write one matplotlib figure, or several side by side; `close` clears them."""
        figures = list(figure) if isinstance(figure, Sequence) else [figure]
        pictures = np.concatenate([drawn(each) for each in figures], axis=1)
        self.add_image(tag, pictures, global_step, walltime, "HWC")
        if close:
            for each in figures:
                each.clear()

    def add_text(
        self, tag: str, text_string: str, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Write a text, shown as Markdown."""
        tensor = content(8, integer(1, 7) + content(2, content(2, integer(1, 1))) + content(8, text_string))
        self._add(f"{tag}/text_summary", plugin("text") + tensor, global_step, walltime)

    def add_pr_curve(
        self, tag: str, labels: Any, predictions: Any, global_step: int | None = None, num_thresholds: int = 127,
        weights: Any = None, walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Write precision against recall: labels 0 or 1, and the probabilities predicted. At most 127 points."""
        labels, predictions = _host(labels).reshape(-1), _host(predictions).reshape(-1)
        given = None if weights is None else _host(weights).reshape(-1)
        thresholds = min(num_thresholds, MOST_THRESHOLDS)
        self._add(tag, pr_value(pr_table(labels, predictions, thresholds, given), thresholds), global_step, walltime)

    def add_pr_curve_raw(
        self, tag: str, true_positive_counts: Any, false_positive_counts: Any, true_negative_counts: Any,
        false_negative_counts: Any, precision: Any, recall: Any, global_step: int | None = None,
        num_thresholds: int = 127, weights: Any = None, walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Write precision against recall that was counted already, a number for each threshold."""
        rows = (true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts)
        table = np.stack([np.asarray(row) for row in (*rows, precision, recall)])
        self._add(tag, pr_value(table, min(num_thresholds, MOST_THRESHOLDS)), global_step, walltime)

    def add_audio(
        self, tag: str, snd_tensor: Any, global_step: int | None = None, sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Write a sound of one channel, numbers from -1 to 1."""
        samples = np.clip(_host(snd_tensor).reshape(-1), -1, 1)
        file = io.BytesIO()
        with wave.open(file, "wb") as sound:
            sound.setnchannels(1)
            sound.setsampwidth(2)
            sound.setframerate(sample_rate)
            sound.writeframes((samples * 32767).astype("<i2").tobytes())
        fields = single(1, sample_rate) + integer(2, 1) + integer(3, samples.size)
        fields += content(4, file.getvalue()) + content(5, "audio/wav")
        self._add(tag, content(6, fields), global_step, walltime)

    def add_hparams(
        self, hparam_dict: Mapping[str, Any], metric_dict: Mapping[str, Any],
        hparam_domain_discrete: Any = None, run_name: str | None = None, global_step: int | None = None,
    ) -> None:  # fmt: skip
        """Write a run's hyperparameters and what came of them, into a folder of its own.

        hparam_domain_discrete: the values that hyperparameters may have, as lists. TypeError for what are no
        dictionaries; ValueError for other values than numbers, texts, truth values and tensors of one element.
        """
        if type(hparam_dict) is not dict or type(metric_dict) is not dict:
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
        values = hparam_values(hparam_dict, metric_dict, hparam_domain_discrete)
        folder = os.path.join(self.log_dir, run_name or str(time.time()))
        for value in values:
            self._file(folder).add(value, global_step)
        for tag, metric in metric_dict.items():
            self._add(tag, single(2, _number(metric)), global_step, None, folder)

    def add_embedding(
        self, mat: Any, metadata: Sequence[Any] | None = None, label_img: Any = None,
        global_step: int | None = None, tag: str = "default", metadata_header: Sequence[str] | None = None,
    ) -> None:  # fmt: skip
        """Write points (N, D), their labels and pictures (N, C, H, W) for TensorBoard's projector.

        AssertionError for other numbers of labels or pictures than of points, and for points that are no matrix.
        """
        points, step = _host(mat), global_step or 0
        place = f"{step:05d}/{encoded(tag)}"
        folder = Path(self.log_dir) / place
        if folder.is_dir():
            print("warning: Embedding dir exists, did you set global_step for add_embedding()?")
        folder.mkdir(parents=True, exist_ok=True)
        if metadata is not None:
            write_labels(folder, metadata, metadata_header, len(points))
        pictures = None if label_img is None else _host(label_img)
        if pictures is not None:
            write_sheet(folder, pictures, len(points))
        write_points(folder, points)
        self._projected += entry_of(tag, step, place, metadata is not None, pictures)
        (Path(self.log_dir) / "projector_config.pbtxt").write_text(self._projected)

    def add_graph(self, model: Any, input_to_model: Any = None, verbose: bool = False, **_: Any) -> None:
        """Accepted, and nothing is drawn: `funcgrad.explain` shows the program."""

    def flush(self) -> None:
        """Write out what waits."""
        for file in self._files.values():
            file.flush()

    def close(self) -> None:
        """Write out what waits and close the files; what is added later opens new ones."""
        for file in self._files.values():
            file.close()
        self._files.clear()

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
