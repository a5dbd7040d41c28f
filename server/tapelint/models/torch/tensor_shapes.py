"""The sizes of tensors, as far as they are known: what ``backward()`` asks for, and what it is refused for.

    torch.randn(8, 3)            (8, 3)
    nn.Linear(3, 1)(x)           (8, 1)
    nn.Linear(3, 1)(batch)       (None, 1): a size that nothing in the file tells is None
    F.mse_loss(out, target)      (): one number

Where the number of dimensions is not known, it may still be known that there is more than one element: ``MANY`` (an
unknown tensor times one of three elements), or one for each sample of a batch: ``BATCH`` (an unreduced loss).

A handler gives the sizes of what an op returns; an op without one gives a tensor whose sizes are not known. Only a few
dozen ops matter, because an element count that is unknown is never reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ...autograd import BATCH, MANY, Extent, is_wide
from ...domain.state import State
from ...domain.values import NONE, Const, TensorRef
from ...ops.schema import Op
from ...ops.shapes import UNKNOWN, Sized, sizes_of
from .known_shape import Given, Sizes, broadcast, extent_of, items_in

Handler = Callable[[Given], Extent]
HANDLERS: dict[str, Handler] = {}


def result_extent(state: State, op: str, named: Mapping[str, object]) -> Extent:
    """The sizes of what ``op`` returns for these arguments, as far as they are known."""
    handler = HANDLERS.get(op)
    try:
        return handler(Given(state, named)) if handler is not None else None
    except (IndexError, ArithmeticError):  # too few dimensions, or none such: PyTorch refuses them
        return None


def results_extents(state: State, op: Op, named: Mapping[str, object]) -> tuple[Extent, ...]:
    """The sizes of each result, as far as a handler or the rule of the op's row knows; one where all are alike."""
    known = result_extent(state, op.name, named)
    if known is not None or not op.sizes:
        return (known,)
    if op.sizes[0].startswith("=") and "," not in op.sizes[0] and len(op.sizes) == 1:
        return (extent_of(state, named.get(op.sizes[0][1:])),)
    given = {name: described(state, value) for name, value in named.items()}
    return tuple(None if rule == "-" else sizes_of(rule, given) for rule in op.sizes)


def described(state: State, value: object) -> object:
    """An argument as the rules of the op table take it."""
    if isinstance(value, TensorRef):
        extent = state.tensors[value.id].sizes
        return Sized(extent if isinstance(extent, tuple) else None)
    if isinstance(value, Const):
        return value.value
    items = items_in(state, value)
    return [described(state, item) for item in items] if items is not None else UNKNOWN


def same(given: Given) -> Extent:
    return given.extent("self", "input")


def together(given: Given) -> Extent:
    return broadcast(*(extent_of(given.state, v) for n, v in given.named.items() if n in OPERANDS))


def unreduced(given: Given) -> Extent:
    """A loss with ``reduction="none"``: one number for each pair; the other reductions have rows that say so."""
    return together(given) or BATCH


OPERANDS = frozenset("self other input target exponent end weight condition tensor1 tensor2 min max value".split())
"""The parameters of ops that are broadcast with each other, as they are called in the op table."""


def reduced(given: Given) -> Extent:
    if "other" in given.named:  # torch.max(a, b)
        return together(given)
    source, dims = given.sizes("self", "input"), given.numbers("dim")
    if given.named.get("dim", NONE) == NONE:
        return _reduced_wholly(source, given.keeps())
    if source is None or dims is None or None in dims:
        return None
    gone = {dim % len(source) for dim in dims if dim is not None} if source else set()
    if given.keeps():
        return tuple(1 if i in gone else size for i, size in enumerate(source))
    return tuple(size for i, size in enumerate(source) if i not in gone)


def _reduced_wholly(source: Sizes | None, keeps: bool) -> Extent:
    """One number made of all: no dimension is left, or each has one element."""
    if not keeps:
        return ()
    return None if source is None else (1,) * len(source)


def created(given: Given) -> Extent:
    sizes = given.numbers("size")
    return tuple(sizes) if sizes is not None else None


def counted(given: Given) -> Extent:
    if "start" in given.named or "step" in given.named:
        return (given.number("steps"),) if "steps" in given.named else (None,)
    return (given.number("end"),)


def rearranged(given: Given) -> Extent:
    """Sizes that are not known, but as many elements as before."""
    extent = given.extent("self", "input")
    return (MANY if is_wide(extent) else None) if isinstance(extent, tuple) else extent


def viewed(given: Given) -> Extent:
    source, wanted = given.sizes("self"), given.numbers("shape" if "shape" in given.named else "size")
    if wanted is None:
        return rearranged(given)
    if -1 not in wanted:
        return tuple(wanted)
    rest = [size for size in wanted if size != -1]
    total, known = _product(source), _product(rest)
    missing = total // known if total is not None and known else None
    return tuple(missing if size == -1 else size for size in wanted)


def flattened(given: Given) -> Extent:
    source, start, end = given.sizes("self", "input"), given.number("start_dim", 0), given.number("end_dim", -1)
    if not source or start is None or end is None:
        return rearranged(given)
    start, end = start % len(source), end % len(source)
    middle = source[start : end + 1]
    return (*source[:start], _product(middle), *source[end + 1 :])


def unflattened(given: Given) -> Extent:
    source, dim = given.sizes("self", "input"), given.number("dim")
    parts = given.numbers("sizes" if "sizes" in given.named else "unflattened_size")
    if not source or dim is None or parts is None or not -len(source) <= dim < len(source):
        return rearranged(given)
    dim %= len(source)
    size, known = source[dim], _product(part for part in parts if part != -1)
    rest = size // known if size is not None and known else None
    return (*source[:dim], *(rest if part == -1 else part for part in parts), *source[dim + 1 :])


def _product(sizes: Iterable[int | None] | None) -> int | None:
    """How many elements dimensions of these sizes have together; None where one of them is not known."""
    product = 1
    for size in (None,) if sizes is None else sizes:
        if size is None:
            return None
        product *= size
    return product


def squeezed(given: Given) -> Extent:
    source, dims = given.sizes("self"), given.numbers("dim")
    if source is None:
        return rearranged(given)
    if dims is None:
        return rearranged(given) if None in source else tuple(size for size in source if size != 1)
    places = {dim % len(source) for dim in dims if dim is not None} if source else set()
    if None in dims or any(source[place] is None for place in places):
        return rearranged(given)
    return tuple(size for i, size in enumerate(source) if i not in places or size != 1)


def unsqueezed(given: Given) -> Extent:
    source, dim = given.sizes("self"), given.number("dim")
    if source is None or dim is None:
        return rearranged(given)
    place = dim % (len(source) + 1)
    return (*source[:place], 1, *source[place:])


def _are_places(dims: Iterable[int | None], source: tuple[int | None, ...]) -> bool:
    """Whether these are dimensions of a tensor of these sizes; others are refused by PyTorch."""
    return all(dim is not None and -len(source) <= dim < len(source) for dim in dims)


def transposed(given: Given) -> Extent:
    source = given.sizes("self")
    one, two = given.number("dim0", -2), given.number("dim1", -1)
    if source is None or one is None or two is None or not _are_places((one, two), source):
        return rearranged(given)
    turned = list(source)
    turned[one], turned[two] = turned[two], turned[one]
    return tuple(turned)


def permuted(given: Given) -> Extent:
    source, dims = given.sizes("self"), given.numbers("dims")
    if source is None or dims is None or len(dims) != len(source) or not _are_places(dims, source):
        return rearranged(given)
    return tuple(source[dim] for dim in dims if dim is not None)


def multiplied(given: Given) -> Extent:
    left, right = given.sizes("self"), given.sizes("other", "mat2", "vec", "tensor")
    if not left or not right:
        return None
    rows, columns = left[:-1][-1:], right[-1:] if len(right) > 1 else ()
    batch = broadcast(left[:-2], right[:-2])
    return (*batch, *rows, *columns) if isinstance(batch, tuple) else None


def linear(given: Given) -> Extent:
    source, weight = given.sizes("input", "self"), given.sizes("weight")
    if weight is None:
        return None
    if not source:  # Whatever comes in, more than one feature is more than one element.
        return MANY if is_wide(weight[:1]) and len(weight) == 2 else None
    return (*source[:-1], weight[0]) if len(weight) == 2 else source[:-1]


def convolved(given: Given) -> Extent:
    source, weight = given.sizes("input", "self"), given.sizes("weight")
    if weight is None:
        return None
    if source is None or len(source) < len(weight):
        return MANY if is_wide(weight[:1]) else None
    return (source[0], weight[0], *(None for _ in source[2:]))


def convolved_back(given: Given) -> Extent:
    source, weight = given.sizes("input", "self"), given.sizes("weight")
    if weight is None or len(weight) < 2:
        return None
    if source is None or len(source) < len(weight):
        return MANY if is_wide(weight[1:2]) else None
    return (source[0], weight[1], *(None for _ in source[2:]))


def resampled(spatial: int) -> Handler:
    """Pooling, padding and upsampling change the last dimensions alone."""

    def sizes(given: Given) -> Extent:
        source = given.sizes("input", "self")
        if source is None or len(source) < spatial:
            return None
        return (*source[: len(source) - spatial], *(None for _ in range(spatial)))

    return sizes


def embedded(given: Given) -> Extent:
    source, weight = given.sizes("input"), given.sizes("weight")
    if weight is None:
        return None
    if source is None:
        return MANY if is_wide(weight[-1:]) else None
    return (*source, weight[-1])


def per_class(given: Given) -> Extent:
    """An unreduced classification loss: one number for each target."""
    source = given.sizes("input", "self")
    if source is None:
        return BATCH
    return (*source[:1], *source[2:]) if len(source) > 1 else ()


def joined(given: Given) -> Extent:
    parts, dim = items_in(given.state, given.named.get("tensors")), given.number("dim", 0)
    extents = [extent_of(given.state, part) for part in parts or ()]
    shapes = _alike(extents)
    if shapes is None or dim is None:
        return MANY if any(map(is_wide, extents)) else None
    place = dim % len(shapes[0]) if shapes[0] else 0
    ends = [shape[place] for shape in shapes if shape]
    known = [end for end in ends if end is not None]
    total = sum(known) if len(known) == len(ends) else None
    return tuple(total if i == place else size for i, size in enumerate(shapes[0]))


def _alike(extents: Sequence[Extent]) -> list[Sizes] | None:
    """The sizes of tensors that have equally many dimensions; None where they may not have, or there are none."""
    shapes = [extent for extent in extents if isinstance(extent, tuple)]
    if not shapes or len(shapes) < len(extents) or any(len(s) != len(shapes[0]) for s in shapes):
        return None
    return shapes


def stacked(given: Given) -> Extent:
    parts = items_in(given.state, given.named.get("tensors"))
    inner, dim = extent_of(given.state, parts[0]) if parts else None, given.number("dim", 0)
    if parts is None or not isinstance(inner, tuple) or dim is None:
        return MANY if parts is not None and len(parts) > 1 else None
    place = dim % (len(inner) + 1)
    return (*inner[:place], len(parts), *inner[place:])


def beside(given: Given) -> Extent:
    """``hstack``: in the first dimension of vectors, in the second of others."""
    parts = items_in(given.state, given.named.get("tensors"))
    inner = extent_of(given.state, parts[0]) if parts else None
    if not isinstance(inner, tuple):
        return None
    return joined(Given(given.state, {**given.named, "dim": Const(int(len(inner) > 1))}))


def moved(given: Given) -> Extent:
    """As many dimensions as before, in an order that is not computed."""
    source = given.sizes("self", "input")
    return rearranged(given) if source is None else (None,) * len(source)


def multiplied_and_added(given: Given) -> Extent:
    """``baddbmm``."""
    left, right = given.sizes("batch1"), given.sizes("batch2")
    if left is None or right is None or not len(left) == len(right) == 3:
        return (None,) * 3
    return (*left[:2], right[2])


def chosen(given: Given) -> Extent:
    """``where``, which gives indices where there is nothing to choose from."""
    return together(given) if given.named.keys() & {"self", "input", "other"} else None


def unbound(given: Given) -> Extent:
    source, dim = given.sizes("self"), given.number("dim", 0)
    if not source or dim is None:
        return None
    return tuple(size for i, size in enumerate(source) if i != dim % len(source))


def repeated(given: Given) -> Extent:
    wanted, source = given.numbers("size"), given.sizes("self")
    if wanted is None or source is None:
        return rearranged(given)
    padded = (*(1 for _ in range(len(wanted) - len(source))), *source)
    return tuple(old if new == -1 else new for new, old in zip(wanted, padded))


def diagonal(given: Given) -> Extent:
    source = given.sizes("self")
    if source is None or len(source) != 2 or None in source or given.named.keys() & {"offset", "dim1", "dim2"}:
        return None
    return (min(size for size in source if size is not None),)


def parted(given: Given) -> Extent:
    """As many parts as asked for, where they are equal."""
    source, dim = given.sizes("self", "input"), given.number("dim", 0)
    count = given.number("chunks" if "chunks" in given.named else "sections")
    if not source or dim is None or not count:
        return None
    size = source[dim % len(source)]
    part = size // count if size is not None and size % count == 0 else None
    return tuple(part if i == dim % len(source) else size for i, size in enumerate(source))


def register(handler: Handler, names: str) -> None:
    for name in names.split():
        HANDLERS[name] = handler
        HANDLERS["nn.functional." + name] = handler


register(
    same,
    "abs acos asin atan ceil clone contiguous cos cosh cumprod cumsum detach dropout elu erf exp exp2 expm1 flip float "
    "floor frac gelu hardtanh leaky_relu log log10 log1p log2 log_sigmoid log_softmax logit mish neg negative "
    "normalize nan_to_num positive prelu reciprocal relu relu6 round rsqrt selu sigmoid sign silu sin sinh softmax "
    "softplus sort sqrt square tan tanh tril triu trunc layer_norm batch_norm batchnorm1d batchnorm2d layernorm "
    "identity logsigmoid logsoftmax leakyrelu softsign threshold masked_fill renorm double half bfloat16 ones_like "
    "zeros_like rand_like randn_like full_like empty_like roll fliplr flipud alpha_dropout dropout1d dropout2d",
)
register(
    together,
    "add sub subtract mul multiply div divide true_divide pow __rsub__ __rtruediv__ __rpow__ maximum minimum fmax fmin "
    "atan2 hypot remainder fmod floor_divide eq ne lt le gt ge lerp addcmul addcdiv clamp clamp_min clamp_max "
    "logical_and logical_or logaddexp",
)
register(
    unreduced,
    "mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy kl_div binary_cross_entropy_with_logits mseloss "
    "l1loss smoothl1loss huberloss bceloss bcewithlogitsloss kldivloss",
)
register(
    reduced,
    "sum mean prod amax amin max min norm std var logsumexp median nansum nanmean argmax argmin any all "
    "linalg_norm linalg_vector_norm",
)
register(created, "randn rand zeros ones empty full randint normal")
register(counted, "arange linspace")
register(viewed, "view reshape")
register(transposed, "transpose swapaxes t T mT")
register(multiplied, "matmul mm bmm mv __matmul__")
register(linear, "linear")
register(convolved, "conv1d conv2d conv3d")
register(convolved_back, "conv_transpose1d conv_transpose2d convtranspose1d convtranspose2d")
for count in (1, 2, 3):
    pools = ("max", "avg", "lp", "adaptive_avg", "adaptive_max")
    register(resampled(count), " ".join(f"{pool}_pool{count}d" for pool in pools))
    register(resampled(count), f"max_pool{count}d_with_indices")
    layers = ("maxpool", "avgpool", "lppool", "adaptiveavgpool", "adaptivemaxpool")
    pads = ("zeropad", "constantpad", "reflectionpad", "replicationpad", "circularpad")
    register(resampled(count), " ".join(f"{layer}{count}d" for layer in (*layers, *pads)))
register(resampled(2), "upsamplingnearest2d upsamplingbilinear2d")
register(embedded, "embedding")
register(per_class, "cross_entropy nll_loss crossentropyloss nllloss")
register(joined, "cat concat concatenate")
register(moved, "movedim moveaxis")
register(stacked, "stack")
HANDLERS |= {
    "hstack": beside,
    "where": chosen,
    "baddbmm": multiplied_and_added,
    "flatten": flattened,
    "ravel": flattened,
    "unflatten": unflattened,
    "squeeze": squeezed,
    "unsqueeze": unsqueezed,
    "permute": permuted,
    "unbind": unbound,
    "diagonal": diagonal,
    "chunk": parted,
    "tensor_split": parted,
    "expand": repeated,
    "eye": lambda given: (given.number("n"), given.number("m" if "m" in given.named else "n")),
}
