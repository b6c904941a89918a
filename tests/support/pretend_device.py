"""A device that is not there: tensors on it hold numbers, and must not meet tensors of the CPU.

It goes by the name of PyTorch's meta device. A network or loss that makes a tensor without naming a
device, which fails on a GPU, fails here as well, on a machine without one.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map_only, tree_unflatten

META: Final = torch.device("meta")
# A GPU takes these from the CPU: indices, lengths, and what is copied to it.
FROM_CPU: Final = ("aten.index.", "aten.index_put", "aten._ctc_loss.", "aten.copy_.")


class PretendTensor(Tensor):
    """A tensor on the pretended device; `held` has its numbers."""

    held: Tensor

    @staticmethod
    def __new__(cls: type, held: Tensor) -> "PretendTensor":
        tensor = Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
            cls,
            held.shape,
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=META,
            requires_grad=held.requires_grad,
        )
        tensor.held = held
        return tensor

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        with torch._C.DisableTorchFunctionSubclass():
            if func is F.ctc_loss:  # its mean is taken out of our reach
                return F.ctc_loss(*args, **(kwargs | {"reduction": "none"})).sum()
            return func(*args, **kwargs)

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, operation: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return run(operation, args, kwargs or {})

    def __repr__(self) -> str:  # type: ignore[override]
        return f"PretendTensor({self.held})"


class PretendDevice(TorchDispatchMode):
    """While active, tensors that are made on the meta device, or moved to it, hold numbers."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        return run(func, args, dict(kwargs or {}))


def run(operation: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Run on the CPU → the output, on the pretended device where an input or the call names it."""
    values, spec = tree_flatten((args, kwargs))
    tensors = [value for value in values if isinstance(value, Tensor)]
    pretended = [tensor for tensor in tensors if isinstance(tensor, PretendTensor)]
    strangers = [t for t in tensors if not isinstance(t, PretendTensor) and t.dim()]
    if pretended and strangers and not str(operation).startswith(FROM_CPU):
        raise RuntimeError(f"{operation}: tensors on the CPU and on the pretended device")
    named = kwargs.get("device")
    place = torch.device(named) if named is not None else None
    there = place.type == "meta" if place else bool(pretended)
    held = [value.held if isinstance(value, PretendTensor) else value for value in values]
    plain_args, plain_kwargs = tree_unflatten(held, spec)
    if named is not None:
        plain_kwargs["device"] = torch.device("cpu")
    output = operation(*plain_args, **plain_kwargs)
    if not there:
        return output

    def wrap(tensor: Tensor) -> Tensor:
        same = [t for t in pretended if t.held is tensor]  # an operation in place
        return same[0] if same else PretendTensor(tensor)

    return tree_map_only(Tensor, wrap, output)


def move(values: Any, place: str | torch.device) -> Any:
    """Return a structure whose tensors and networks are on the device."""
    if isinstance(values, nn.Module):
        return values.to(place)
    return tree_map_only(Tensor, lambda tensor: tensor.to(place), values)
