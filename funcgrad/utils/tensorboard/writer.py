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
from funcgrad.utils.tensorboard.event_file import EventFile, content, double, doubles, integer, plugin, single
from funcgrad.utils.tensorboard.hparams import hparam_values
from funcgrad.utils.tensorboard.pictures import arranged, drawn, image_value, png

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
        """Write one number; a tensor of one element is computed now."""
        self._add(tag, single(2, _number(scalar_value)), global_step, walltime)

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
        table = pr_table(labels, predictions, min(num_thresholds, MOST_THRESHOLDS), given)
        self._add(tag, pr_value(table), global_step, walltime)

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
        """Write a run's hyperparameters and what came of them, into a folder of its own."""
        folder = os.path.join(self.log_dir, run_name or str(time.time()))
        for value in hparam_values(hparam_dict, metric_dict):
            self._file(folder).add(value)
        for tag, metric in metric_dict.items():
            self._add(tag, single(2, _number(metric)), global_step, None, folder)

    def add_embedding(
        self, mat: Any, metadata: Sequence[Any] | None = None, label_img: Any = None,
        global_step: int | None = None, tag: str = "default", metadata_header: Sequence[str] | None = None,
    ) -> None:  # fmt: skip
        """Write points, their labels and pictures for TensorBoard's projector."""
        place = f"{0 if global_step is None else global_step:05d}/{tag}"
        folder = Path(self.log_dir) / place
        folder.mkdir(parents=True, exist_ok=True)
        np.savetxt(folder / "tensors.tsv", _host(mat), fmt="%.8g", delimiter="\t")
        entry = f'embeddings {{\ntensor_name: "{tag}:{place[:5]}"\ntensor_path: "{place}/tensors.tsv"\n'
        if metadata is not None:
            rows = ["\t".join(map(str, row)) if metadata_header else str(row) for row in metadata]
            head = ["\t".join(metadata_header)] if metadata_header else []
            (folder / "metadata.tsv").write_text("\n".join([*head, *rows]) + "\n")
            entry += f'metadata_path: "{place}/metadata.tsv"\n'
        if label_img is not None:
            pictures = _host(label_img)
            side = int(np.ceil(np.sqrt(len(pictures))))
            sheet = np.zeros((side * side, *pictures.shape[1:]), pictures.dtype)
            sheet[: len(pictures)] = pictures
            colours, height, width = pictures.shape[1:]
            joined = sheet.reshape(side, side, colours, height, width).transpose(0, 3, 1, 4, 2)
            pixels = joined.reshape(side * height, side * width, colours)
            (folder / "sprite.png").write_bytes(png(np.clip(pixels * 255, 0, 255).astype(np.uint8)))
            entry += f'sprite {{\nimage_path: "{place}/sprite.png"\n'
            entry += f"single_image_dim: {width}\nsingle_image_dim: {height}\n}}\n"
        with (Path(self.log_dir) / "projector_config.pbtxt").open("a") as file:
            file.write(entry + "}\n")

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
