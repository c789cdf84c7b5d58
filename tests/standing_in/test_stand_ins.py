"""jit, compile, profiler, hub and their like do what a script needs of them."""

from __future__ import annotations

import copy
import importlib
import json
import socket
import threading
from pathlib import Path
from typing import Any
from urllib.error import URLError

import numpy as np
import pytest

import funcgrad as torch
from funcgrad import compiler, distributed, futures, hub, jit, multiprocessing, nn, onnx, profiler
from funcgrad._tensor.printing import printoptions
from funcgrad.jit import state
from funcgrad.nn.attention import SDPBackend, sdpa_kernel
from funcgrad.nn.attention.flex_attention import AuxRequest, and_masks, create_block_mask, create_mask, flex_attention
from funcgrad.standing_in import buffers, compiler_errors, places, texts


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, x: Any) -> Any:
        return self.layer(x).relu()

    @jit.export
    def twice(self, x: Any) -> Any:
        return 2 * self(x)


def test_a_compiled_module_is_the_module_with_torchs_prefix() -> None:
    net = Net()
    compiled = torch.compile(net, mode="max-autotune")
    x = torch.ones(1, 3)
    assert list(compiled.state_dict()) == ["_orig_mod.layer.weight", "_orig_mod.layer.bias"]
    assert torch.equal(compiled(x), net(x))
    assert torch.equal(compiled.twice(x), net.twice(x))
    compiled.eval()
    compiled.extra = 5
    assert (net.training, net.extra, compiled._orig_mod is net) == (False, 5, True)


def test_a_compiled_module_asks_the_module_for_everything_else() -> None:
    net: Any = Net()
    compiled = torch.compile(net)
    assert callable(compiled.dynamo_ctx)
    assert not hasattr(net, "dynamo_ctx")
    compiled.extra = 5
    net.extra = 7
    assert compiled.extra == 7
    del compiled.extra
    assert not hasattr(net, "extra")
    assert "twice" in dir(compiled)
    net.eval()
    assert not compiled.training


def test_compile_refuses_backends_that_torch_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "REGISTERED", known := {})
    monkeypatch.setattr("funcgrad.compiling.REGISTERED", known)
    with pytest.raises(
        compiler._dynamo.exc.InvalidBackend, match=r"^Invalid backend: 'foo', see `torch._dynamo.list_b"
    ):
        torch.compile(backend="foo")(torch.relu)
    compiler._dynamo.register_backend(lambda graph, inputs: graph, name="foo")
    assert torch.compile(torch.relu, backend="foo")(-torch.ones(2)).tolist() == [0.0, 0.0]
    assert compiler.list_backends() == ["cudagraphs", "foo", "inductor", "openxla", "tvm"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            {"mode": "fast"},
            "Unrecognized mode=fast, should be one of: default, lite, reduce-overhead, max-autotune-no-",
        ),
        ({"mode": "default", "options": {"debug": True}}, "Either mode or options can be specified, but both can't be"),
    ],
)
def test_compile_refuses_modes_that_torch_does_not_know(options: dict[str, Any], told: str) -> None:
    with pytest.raises(RuntimeError, match=f"^{told}"):
        torch.compile(torch.relu, **options)
    with pytest.raises(RuntimeError, match=f"^{told}"):
        torch.compile(**options)(torch.relu)
    assert torch.compile(torch.relu, mode="max-autotune") is torch.relu


def test_compile_decorates_functions() -> None:
    @torch.compile(fullgraph=True)
    def double(x: Any) -> Any:
        return x * 2

    assert double(torch.ones(2)).tolist() == [2.0, 2.0]
    assert not compiler.is_compiling()
    with compiler.config.patch(recompile_limit=1):
        assert compiler.config.recompile_limit == 1
    assert compiler.config.recompile_limit == 8
    assert compiler.config.nobody_set_this is None


class Narrow(nn.Module):
    def forward(self, x: Any) -> Any:
        assert x.shape[-1] == 3, "three, please"
        return x


def test_an_assertion_of_a_scripted_module_is_an_error_of_jit() -> None:
    scripted = jit.script(Narrow())
    assert scripted(torch.ones(3)).tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(jit.Error, match="AssertionError: three, please"):
        scripted(torch.ones(4))


class Third(nn.Module):
    def forward(self, x: Any) -> Any:
        return x[..., 2]


def test_an_index_out_of_range_is_a_runtime_error_of_a_scripted_module() -> None:
    scripted = jit.trace(Third(), torch.ones(3))
    assert scripted(torch.ones(3)) == 1
    with pytest.raises(RuntimeError, match="in the TorchScript interpreter"):
        scripted(torch.ones(2))


def test_a_tensor_is_told_from_others_by_a_number() -> None:
    x = nn.Parameter(torch.ones(2))
    assert x._cdata == x._cdata != x.detach()._cdata


@pytest.mark.parametrize("make", [jit.script, lambda net: jit.trace(net, torch.ones(1, 3))])
def test_a_scripted_module_is_saved_whole(make: Any, tmp_path: Path) -> None:
    net = Net()
    scripted = make(net)
    assert isinstance(scripted, jit.ScriptModule)
    assert isinstance(scripted, Net)
    assert scripted.original_name == "Net"
    scripted.save(tmp_path / "net.pt")
    loaded = jit.load(tmp_path / "net.pt")
    x = torch.randn(4, 3)
    assert torch.equal(loaded(x), net(x))
    assert torch.equal(loaded.twice(x), net.twice(x))
    assert list(loaded.state_dict()) == list(net.state_dict())


def test_files_are_kept_beside_a_scripted_module(tmp_path: Path) -> None:
    jit.save(jit.script(Net()), tmp_path / "net.pt", _extra_files={"notes": "bär", "bytes": b"\x00\xff"})
    found = {"notes": "", "bytes": "", "missing": "not there"}
    jit.load(tmp_path / "net.pt", _extra_files=found)
    assert found == {"notes": "bär".encode(), "bytes": b"\x00\xff", "missing": b""}


def test_what_script_is_given_runs_in_python() -> None:
    def function(x: Any) -> Any:
        return x

    assert jit.script(function)(jit) is jit
    assert jit.script(Net) is Net
    assert not jit.is_scripting()
    assert jit.isinstance([1], list[int])
    assert jit.wait(jit.fork(lambda x: x + 1, 2)) == 3


def test_a_schedule_says_what_each_step_does() -> None:
    action = profiler.schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    names = [action(step).name for step in range(11)]
    turn = ["NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE"]
    assert names == ["NONE", *turn, *turn, "NONE", "NONE"]


def test_a_profile_adds_up_named_spans(tmp_path: Path) -> None:
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU]) as prof:
        for _ in range(3):
            with profiler.record_function("outer"), profiler.record_function("inner"):
                torch.ones(3).sum().item()
            prof.step()
    averages = {row.key: row for row in prof.key_averages()}
    assert averages["outer"].count == averages["inner"].count == 3
    assert averages["outer"].cpu_time_total >= averages["inner"].cpu_time_total
    assert (
        averages["outer"].self_cpu_time_total <= averages["outer"].cpu_time_total - averages["inner"].cpu_time_total + 1
    )
    shown = prof.key_averages().table(sort_by="cpu_time_total", row_limit=5)
    assert "ProfilerStep" not in shown
    assert "# of Calls" in shown
    prof.export_chrome_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert [event["name"] for event in events].count("outer") == 3


def test_a_trace_is_handed_over_after_each_turn_of_the_schedule(tmp_path: Path) -> None:
    ready = profiler.tensorboard_trace_handler(str(tmp_path))
    turns = profiler.schedule(wait=1, warmup=1, active=2, repeat=2)
    with profiler.profile(schedule=turns, on_trace_ready=ready) as prof:
        for _ in range(10):
            prof.step()
    files = sorted(tmp_path.iterdir())
    assert len(files) == 2
    assert all(file.name.endswith(".pt.trace.json") for file in files)
    assert "ProfilerStep#6" in files[1].read_text()
    assert [(row.key, row.count) for row in prof.key_averages() if "Step" in row.key] == [("ProfilerStep*", 2)]


def test_a_trace_is_handed_over_when_the_next_step_has_begun() -> None:
    steps = []
    turns = profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
    with profiler.profile(schedule=turns, on_trace_ready=lambda prof: steps.append(prof.step_num)) as prof:
        for _ in range(6):
            prof.step()
    assert steps == [4]


def test_threads_stand_for_processes_and_share_the_model() -> None:
    model = nn.Linear(2, 1).share_memory()
    before = model.bias.item()

    def train(rank: int, counter: Any, lock: Any) -> None:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            with lock:
                optimizer.zero_grad()
                model(torch.ones(1, 2)).sum().backward()
                optimizer.step()
                counter.value += 1

    counter, lock = multiprocessing.Value("i", 0), multiprocessing.Lock()
    workers = [multiprocessing.Process(target=train, args=(rank, counter, lock)) for rank in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert counter.value == 6
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert model.bias.item() == pytest.approx(before - 0.6, abs=1e-5)


def test_spawn_reports_what_a_process_raised() -> None:
    def fail(rank: int, limit: int) -> None:
        if rank == limit:
            raise KeyError("lost")

    with pytest.raises(multiprocessing.ProcessRaisedException, match="KeyError: 'lost'"):
        multiprocessing.spawn(fail, args=(1,), nprocs=2)
    ids = multiprocessing.Queue()
    multiprocessing.spawn(lambda rank: ids.put(threading.get_ident()), nprocs=2)
    assert ids.get() != threading.get_ident()


def test_a_process_group_ends_with_its_process() -> None:
    def work(rank: int, seen: Any) -> None:
        distributed.init_process_group("gloo", rank=rank, world_size=1, store=distributed.HashStore())
        seen.put(distributed.get_rank())

    seen = multiprocessing.Queue()
    for _ in range(2):
        multiprocessing.spawn(work, args=(seen,), nprocs=1)
    assert [seen.get(), seen.get()] == [0, 0]
    assert not distributed.is_initialized()


def test_futures_follow_each_other() -> None:
    first: futures.Future = futures.Future()
    second = first.then(lambda done: done.value() + 1)
    together = futures.collect_all([first, second])
    first.set_result(1)
    assert futures.wait_all([first, second]) == [1, 2]
    assert [future.wait() for future in together.wait()] == [1, 2]
    failed = first.then(lambda done: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        failed.wait()


def test_hub_reads_folders_and_says_what_it_cannot_get(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "hubconf.py").write_text('def net(size=2):\n    """Return a list."""\n    return [0] * size\n')
    assert hub.load(str(tmp_path), "net", source="local", size=3) == [0, 0, 0]
    assert hub.list(str(tmp_path), source="local") == ["net"]
    assert hub.help(str(tmp_path), "net", source="local") == "Return a list."
    hub.set_dir(tmp_path)
    url = f"file://{tmp_path}/absent-0123.pth"
    with pytest.raises(URLError) as refused:
        hub.load_state_dict_from_url(url)
    assert f"put it at {tmp_path}/checkpoints/absent-0123.pth" in refused.value.__notes__[0]
    assert capsys.readouterr().err == f'Downloading: "{url}" to {tmp_path}/checkpoints/absent-0123.pth\n'
    torch.save({"weight": torch.ones(2)}, tmp_path / "checkpoints" / "absent-0123.pth")
    assert hub.load_state_dict_from_url(url)["weight"].tolist() == [1.0, 1.0]


def test_onnx_says_what_to_do_instead() -> None:
    with pytest.raises(RuntimeError, match="funcgrad writes no ONNX"):
        onnx.export(Net(), torch.ones(1, 3), "net.onnx")


def test_flexible_attention_is_attention_with_a_mask() -> None:
    query, key, value = (torch.randn(2, 4, 6, 8) for _ in range(3))

    def causal(b: Any, h: Any, q: Any, kv: Any) -> Any:
        return q >= kv

    mask = create_block_mask(causal, None, None, 6, 6)
    expected = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
    with sdpa_kernel([SDPBackend.MATH, SDPBackend.FLASH_ATTENTION]):
        found = flex_attention(query, key, value, block_mask=mask)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=1e-6)
    near = and_masks(causal, lambda b, h, q, kv: q - kv < 2)
    assert create_mask(near, None, None, 3, 3)[0, 0].tolist() == [
        [True, False, False], [True, True, False], [False, True, True],
    ]  # fmt: skip


def test_kernels_of_attention_are_allowed_and_told_of() -> None:
    cuda = torch.backends.cuda
    with sdpa_kernel(SDPBackend.MATH):
        assert cuda.math_sdp_enabled() and not cuda.flash_sdp_enabled() and not cuda.mem_efficient_sdp_enabled()
        with sdpa_kernel([SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION]):
            assert cuda.cudnn_sdp_enabled() and cuda.flash_sdp_enabled() and not cuda.math_sdp_enabled()
        assert cuda.math_sdp_enabled() and not cuda.cudnn_sdp_enabled()
    cuda.enable_flash_sdp(False)
    assert not cuda.flash_sdp_enabled() and cuda.cudnn_sdp_enabled()
    cuda.enable_flash_sdp(True)
    with pytest.raises(AssertionError, match="Backend must be an instance of SDPBackend"), sdpa_kernel(3):  # type: ignore[arg-type]  # what is refused
        pass


def test_flexible_attention_changes_scores_and_gives_nothing_for_nothing() -> None:
    query, key, value = (torch.randn(1, 2, 4, 8) for _ in range(3))
    slopes = torch.tensor([0.5, 0.25])
    found = flex_attention(query, key, value, lambda score, b, h, q, kv: score - slopes[h] * (q - kv))
    places = torch.arange(4)
    bias = -slopes[:, None, None] * (places[:, None] - places)
    expected = nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=bias[None])
    np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=1e-6)
    nothing = create_block_mask(lambda b, h, q, kv: q < 0 * kv, None, None, 4, 4)
    assert flex_attention(query, key, value, block_mask=nothing).abs().sum().item() == 0.0


def test_flexible_attention_returns_what_is_asked_for_beside_its_result() -> None:
    query, key, value = (torch.randn(1, 2, 4, 8) for _ in range(3))
    _, aux = flex_attention(query, key, value, return_aux=AuxRequest(lse=True, max_scores=True))
    scores = query @ key.transpose(-2, -1) / 8**0.5
    np.testing.assert_allclose(aux.lse.numpy(), scores.logsumexp(-1).numpy(), atol=1e-6)
    np.testing.assert_allclose(aux.max_scores.numpy(), scores.amax(-1).numpy(), atol=1e-6)
    assert flex_attention(query, key, value, return_aux=AuxRequest())[1] == (None, None)
    with pytest.raises(ValueError, match="Cannot specify both"):
        flex_attention(query, key, value, return_lse=True, return_aux=AuxRequest(lse=True))


def test_cuda_graphs_are_refused_in_words() -> None:
    with pytest.raises(RuntimeError, match="CUDA graphs are not captured here"):
        torch.cuda.CUDAGraph()
    assert torch.cuda.make_graphed_callables(abs, (1,)) is abs


def test_arguments_are_scattered_by_name_and_what_is_no_tensor_goes_to_each_device() -> None:
    x = torch.arange(4)
    positional, named = nn.parallel.scatter_kwargs((x, "a"), {"mask": x * 2, "deep": {"flag": True}}, [0, 1])
    assert [(part.tolist(), word) for part, word in positional] == [([0, 1], "a"), ([2, 3], "a")]
    assert [part["mask"].tolist() for part in named] == [[0, 2], [4, 6]]
    assert [part["deep"] for part in named] == [{"flag": True}, {"flag": True}]


class Doubling(jit.ScriptModule):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(2, 2)

    @jit.script_method
    def forward(self, x: Any) -> Any:
        return 2 * self.inner(x)


def test_a_module_written_as_a_script_module_is_saved_and_loaded_as_itself(tmp_path: Path) -> None:
    doubling = nn.Sequential(Doubling())
    jit.script(doubling).save(tmp_path / "whole.pt")
    doubling[0].save(tmp_path / "part.pt")
    x = torch.ones(1, 2)
    for name in ("whole.pt", "part.pt"):
        loaded = jit.load(tmp_path / name)
        assert torch.equal(loaded(x), doubling(x))
    assert type(loaded) is Doubling and loaded.original_name == "Doubling"


def test_a_buffer_shows_the_tensors_that_were_laid_into_it() -> None:
    parts = [torch.ones(2, 2), torch.zeros(3)]
    flat = buffers._flatten_dense_tensors(parts)
    first, second = buffers._unflatten_dense_tensors(flat, parts)
    flat += 1
    assert flat.tolist() == [2, 2, 2, 2, 1, 1, 1]
    assert first.tolist() == [[2, 2], [2, 2]]
    assert second.tolist() == [1, 1, 1]


def test_tensors_are_taken_in_groups_of_a_type_and_a_size() -> None:
    floats, whole = [torch.zeros(n) for n in (2, 1, 5, 1)], torch.zeros(2, dtype=torch.int64)
    groups = list(buffers._take_tensors([*floats[:2], whole, *floats[2:]], size_limit=12))
    assert [[x.numel() for x in group] for group in groups] == [[2, 1], [5], [1], [2]]


def test_numbers_are_written_as_repr_writes_them() -> None:
    x = torch.tensor([[0.0, 1 / 3], [1.0, 4 / 3]])
    assert texts._tensor_str(x, indent=0) == "[[0.0000, 0.3333],\n [1.0000, 1.3333]]"
    before = texts.PRINT_OPTS.precision
    with printoptions(precision=before + 1):
        assert before + 1 == texts.PRINT_OPTS.precision


def test_remote_calls_are_not_available() -> None:
    assert not distributed.rpc.is_available()
    with pytest.raises(AttributeError, match="calls no functions in others"):
        distributed.rpc.init_rpc  # noqa: B018 - asking is what is tested


def test_an_example_is_run_as_often_as_torch_runs_it() -> None:
    x, counts = torch.ones(4, 2), []
    for options in ({}, {"check_trace": False}, {"check_inputs": [x, x]}):
        norm = nn.BatchNorm1d(2)
        jit.trace(norm, x, **options)
        counts.append(int(norm.num_batches_tracked))
    assert counts == [5, 1, 9]
    net = nn.Linear(2, 2)
    assert type(jit.trace(net.forward, (x,))).__name__ == "TopLevelTracedModule"
    jit.trace(net, example_kwarg_inputs={"input": x})
    assert net.weight.grad is None


def test_an_output_that_is_another_one_each_time_is_told_of() -> None:
    torch.manual_seed(0)
    with pytest.warns(jit.TracerWarning, match="Output nr 1. of the traced function does not match"):
        jit.trace(nn.Dropout(), torch.ones(10))
    assert torch.rand(1) == pytest.approx(0.0340, abs=1e-4)


def test_what_cannot_be_traced_is_refused() -> None:
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        jit.trace(nn.Linear(3, 2), torch.ones(1, 2))
    for given, message in (
        ("a", "Only tensors, lists"),
        (None, "didn't return any values"),
        ({"a": x}, "strict=False"),
    ):
        with pytest.raises(RuntimeError, match=message):
            jit.trace(lambda _, given=given: given, x)
    with pytest.raises(AttributeError, match="doesn't support compiling individual module's functions"):
        jit.trace(nn.Linear(2, 2).float, x)
    with pytest.raises(AttributeError, match="expected a dictionary of"):
        jit.trace_module(nn.Linear(2, 2), x)


def test_a_backward_pass_through_other_processes_is_refused() -> None:
    assert not distributed.autograd.is_available()
    with pytest.raises(RuntimeError, match="funcgrad has one process"):
        distributed.autograd.context()


def test_a_free_port_can_be_listened_at() -> None:
    with distributed.elastic.get_socket_with_port() as taken:
        port = distributed.elastic.get_free_port()
        assert port != taken.getsockname()[1]
    with socket.create_server(("127.0.0.1", port)) as listening:
        assert listening.getsockname()[1] == port


def test_there_is_no_graph_in_torchs_own_language() -> None:
    with pytest.raises(RuntimeError, match="funcgrad traces no graph"):
        jit._get_trace_graph(nn.Linear(1, 1), (torch.ones(1),))


def test_errors_of_torchs_compiler_can_be_caught() -> None:
    assert issubclass(compiler_errors.Unsupported, compiler_errors.TorchDynamoException)
    assert compiler._dynamo.exc is compiler_errors
    assert isinstance(torch.compile(torch.nn.Linear(1, 1)), compiler._dynamo.eval_frame.OptimizedModule)
    assert compiler.is_dynamo_supported()
    assert torch._disable_dynamo(len) is torch._disable_dynamo(recursive=False)(len) is len
    with compiler.disable_cache_limit():
        assert torch.compile(torch.sin)(torch.zeros(1)).item() == 0


def test_what_needs_a_gpu_is_called_where_there_is_one() -> None:
    called: list[bool] = []
    torch.cuda._lazy_call(lambda: called.append(True))
    assert bool(called) == torch.cuda.is_available() != torch.cuda.amp.amp_definitely_not_available()
    assert torch.cuda._initialized == torch.cuda.is_available()
    assert not hasattr(torch.cuda, "_initialised")


def test_torch_paths_of_libraries_are_found() -> None:
    views = ("_VF", "_dynamo.exc", "_functorch.apis", "_functorch.eager_transforms", "_lowrank", "_vmap_internals")
    views += ("cuda.amp.common", "distributed._tensor.experimental", "jit._script", "jit._trace")
    views += ("cuda.graphs", "optim._functional", "utils._foreach_utils", "utils._device")
    views += ("distributed.elastic.utils", "distributed.elastic.utils.distributed")
    assert all(importlib.import_module(room) for view in views for room in places.VIEWS[f"torch.{view}"])
    assert callable(distributed.tensor.experimental.implicit_replication)


class Gate(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.relu()


def test_scripted_and_traced_modules_are_printed_by_their_classes() -> None:
    model = torch.nn.Sequential(Gate(), torch.nn.Linear(2, 2))
    scripted, traced = torch.jit.script(model), torch.jit.trace(model, torch.ones(1, 2))
    assert repr(scripted).split("\n") == [
        "RecursiveScriptModule(", "  original_name=Sequential", "  (0): RecursiveScriptModule(original_name=Gate)",
        "  (1): RecursiveScriptModule(original_name=Linear)", ")",
    ]  # fmt: skip
    assert repr(traced).split("\n") == [
        "Sequential(", "  original_name=Sequential", "  (0): Gate(original_name=Gate)",
        "  (1): Linear(original_name=Linear)", ")",
    ]  # fmt: skip
    assert str(type(scripted)) == "<class 'torch.jit._script.RecursiveScriptModule'>"
    assert repr(copy.deepcopy(traced)) == repr(traced)


def test_a_scripted_function_knows_that_it_was() -> None:
    def doubled(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    assert not isinstance(doubled, torch.jit.ScriptFunction)
    assert isinstance(torch.jit.script(doubled), torch.jit.ScriptFunction)
    assert torch.jit.script(doubled)(torch.ones(1)).item() == 2


def test_what_is_scripted_or_traced_while_jit_is_off_comes_back_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    net = nn.Linear(1, 1)
    state.disable()
    assert jit.script(net) is jit.trace(net, torch.ones(1)) is jit.trace_module(net, {"forward": torch.ones(1)}) is net
    state.enable()
    assert isinstance(jit.script(net), jit.ScriptModule) and bool(state._enabled)
    for given, is_on in {"0": False, "1": True, "no": False}.items():
        monkeypatch.setenv("PYTORCH_JIT", given)
        assert bool(state.EnabledProxy()) is is_on
    monkeypatch.setenv("PYTORCH_JIT", "perhaps")
    with pytest.raises(ValueError, match="Unknown setting of PYTORCH_JIT"):
        state.EnabledProxy()
