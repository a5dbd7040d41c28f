"""What users can call, and the share of it that has rows: ``python -m tools.ops.coverage`` writes ``coverage.txt``.

Public names are taken from PyTorch itself; those that are not about tensors and gradients are left out, for a reason.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from tools.ops.layer_samples import NOT_LAYERS
from tools.ops.samples import row_name
from torch import Tensor, nn

from tapelint import ops

PAGE = Path(__file__).with_name("coverage.txt")

REASONS: dict[str, str] = {
    "asks about a tensor or a type and returns no tensor": """
        are_deterministic_algorithms_enabled data_ptr dim element_size get_default_dtype get_device
        get_deterministic_debug_mode get_device_module get_float32_matmul_precision get_num_interop_threads
        get_num_threads get_rng_state initial_seed is_contiguous is_grad_enabled is_inference_mode_enabled
        is_nonzero is_shared is_storage is_tensor is_warn_always_enabled item ndimension nelement numel size storage
        storage_offset storage_type stride tolist typename untyped_storage get_default_device
        is_deterministic_algorithms_warn_only_enabled get_autocast_dtype get_autocast_gpu_dtype
        get_autocast_cpu_dtype get_autocast_xla_dtype get_autocast_ipu_dtype is_autocast_cache_enabled
        is_autocast_cpu_enabled is_autocast_enabled is_autocast_ipu_enabled is_autocast_xla_enabled
        is_anomaly_check_nan_enabled is_anomaly_enabled dim_order
    """,
    "autograd itself: the interpreter models it": """
        backward retain_grad requires_grad_ register_hook register_post_accumulate_grad_hook detach_
        set_anomaly_enabled reinforce
    """,
    "sets something up": """
        set_autocast_cache_enabled set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_dtype
        set_autocast_enabled set_autocast_gpu_dtype set_autocast_ipu_dtype set_autocast_ipu_enabled
        set_autocast_xla_dtype set_autocast_xla_enabled set_default_device set_default_dtype set_default_tensor_type
        set_deterministic_debug_mode set_float32_matmul_precision set_flush_denormal set_num_interop_threads
        set_num_threads set_printoptions set_rng_state set_warn_always use_deterministic_algorithms manual_seed seed
        clear_autocast_cache autocast_decrement_nesting autocast_increment_nesting fork wait init_num_threads
        unify_type_list get_file_path prepare_multiprocessing_environment thread_safe_generator
    """,
    "runs, saves or compiles programs": """
        cond while_loop compile compiled_with_cxx11_abi load save import_ir_module import_ir_module_from_buffer
        parse_ir parse_schema parse_type_comment merge_type_from_type_comment vmap classproperty
        handle_torch_function has_torch_function has_torch_function_unary has_torch_function_variadic
        boolean_dispatch assert_int_or_pair
    """,
    "sparse and quantized tensors are not modelled": """
        coalesce to_sparse to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr smm sparse_resize_
        sparse_resize_and_clear_ sparse_bsc_tensor sparse_bsr_tensor sparse_compressed_tensor sparse_coo_tensor
        sparse_csc_tensor sparse_csr_tensor resize_as_sparse_ quantized_gru_cell quantized_lstm_cell
        quantized_rnn_relu_cell quantized_rnn_tanh_cell dsmm hsmm spmm saddmm choose_qparams_optimized
        fake_quantize_per_channel_affine fused_moving_avg_obs_fake_quant scaled_mm grouped_mm scaled_grouped_mm
    """,
    "for other libraries and devices": """
        apply_ map_ map2_ from_dlpack to_dlpack frombuffer numpy module_load share_memory_ pin_memory
    """,
    "PyTorch has removed or deprecated it": "eig lstsq matrix_rank solve symeig resize resize_as index",
    "only a layer calls it": """
        multi_head_attention_forward adaptive_max_pool2d_with_indices adaptive_max_pool3d_with_indices
        fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices
    """,
}
# What has no row among the ops of op_db, by the beginnings of their names, and why.
WITHOUT_ROW = {
    "masked.": "torch.masked, a prototype",
    "signal.": "torch.signal.windows: they take no tensor",
    "sparse.": "sparse tensors are not modelled",
    "to_sparse": "sparse tensors are not modelled",
    "torch.": "not for users",
    "max_pool2d_with_indices_backward": "not for users",
    "native_dropout_backward": "not for users",
    "slice": "the op behind x[a:b], which has a row of its own",
    "item": "does not return a tensor",
    "nn.functional.multi_head_attention_forward": "only nn.MultiheadAttention calls it, which has a row",
}
INTERNAL = ("cudnn_", "miopen_", "mkldnn_", "fbgemm_", "_", "native_", "sym_", "wrapped_")
"""Kernels that PyTorch calls itself."""


def spaces() -> Iterator[tuple[str, Any]]:
    yield "torch", torch
    yield "torch.Tensor", Tensor
    yield "torch.nn.functional", torch.nn.functional
    for name in ("linalg", "special", "fft"):
        yield f"torch.{name}", getattr(torch, name)


def opinfo_names() -> list[str]:
    """PyTorch's own list of what it tests, but for its private functions."""
    from torch.testing._internal.common_methods_invocations import op_db

    return sorted({row_name(info.name) for info in op_db if not info.name.startswith(("_", "jiterator", "torch.ops."))})


def reason_for(name: str) -> str | None:
    if name.startswith(INTERNAL):
        return "a kernel that PyTorch calls itself"
    return next((why for why, listed in REASONS.items() if name in listed.split()), None)


def callables_of(space: Any) -> list[str]:
    public = {name: getattr(space, name, None) for name in dir(space) if not name.startswith("_")}
    found = {name: thing for name, thing in public.items() if inspect.isroutine(thing)}
    if not isinstance(space, ModuleType):
        return list(found)
    return [name for name, f in found.items() if (getattr(f, "__module__", None) or "torch").startswith("torch")]


def count(space_name: str, space: Any) -> tuple[int, list[str], dict[str, list[str]]]:
    """How many names have rows; those that have none; those left out, by the reason."""
    there, missing, left_out = 0, [], dict[str, list[str]]()
    for name in callables_of(space):
        if ops.op_name(f"{space_name}.{name}") is not None:
            there += 1
        elif (why := reason_for(name)) is not None:
            left_out.setdefault(why, []).append(name)
        else:
            missing.append(name)
    return there, missing, left_out


def _layer_classes() -> set[str]:
    return {name for name, cls in vars(nn).items() if inspect.isclass(cls) and issubclass(cls, nn.Module)}


def report() -> str:
    """The page: a share for each namespace, for the layers, then what is left out and why."""
    lines = ["What users can call and what of it the op table knows. Written by `python -m tools.ops.coverage`.", ""]
    reasons: dict[str, set[str]] = {}
    for space_name, space in spaces():
        there, without, left_out = count(space_name, space)
        lines.append(f"{space_name}: {share(there, without)}")
        for why, names in left_out.items():
            reasons.setdefault(why, set()).update(f"{space_name}.{name}" for name in names)
    twins = [name for name in dir(Tensor) if name.endswith("_") and not name.startswith("_")]
    twins = [name for name in twins if reason_for(name) is None]
    lines.append(f"in-place methods: {share(*split(twins, lambda n: f'torch.Tensor.{n}'))}")
    layers = _layer_classes() - NOT_LAYERS
    missing = sorted(layers - ops.layer_names())
    lines.append(f"layers of torch.nn: {share(len(layers) - len(missing), missing)}")
    tested = [name for name in opinfo_names() if not name.startswith(tuple(WITHOUT_ROW))]
    unknown = [name for name in tested if not _has_row(name)]
    lines.append(f"ops of op_db: {share(len(tested) - len(unknown), unknown)}")
    lines += ["", "Left out, and why:", ""]
    for why, every in sorted(reasons.items()):
        lines.append(f"{why}: {', '.join(sorted(every))}")
    lines += ["", "Left out of op_db, by the beginning of the name, and why:", ""]
    lines += [f"{start}: {why}" for start, why in WITHOUT_ROW.items()]
    return "\n".join(lines) + "\n"


def split(names: list[str], spell: Any) -> tuple[int, list[str]]:
    missing = [name for name in names if ops.op_name(spell(name)) is None]
    return len(names) - len(missing), missing


def _has_row(name: str) -> bool:
    # Some have an in-place form only: x.uniform_().
    return not ops.names().isdisjoint({name, f"{name}_"}) or ops.op_name(f"torch.{name}") is not None


def share(there: int, missing: list[str]) -> str:
    total = there + len(missing)
    rest = f"; without: {', '.join(missing)}" if missing else ""
    return f"{there / total:.1%} of {total}{rest}"


if __name__ == "__main__":
    PAGE.write_text(report(), encoding="utf-8")
    print(report())
