"""Networks that libraries make: which names return a Module, and what its outputs are called. Data, in one place.

    torchvision.models.resnet18()                    a Module with unknown parameters
    timm.create_model("vit_base_patch16_224")        the same
    BertModel.from_pretrained("bert-base-uncased")   the same; its output's ``loss`` and ``logits`` depend on it
    torch_geometric.nn.GCNConv(16, 7)                a layer: a class that the program may derive its own from
    torch_geometric.nn.GINConv(mlp)                  a layer without parameters but those of ``mlp``

What such a network does in forward is assumed, and said so in every message that rests on it.
"""

from __future__ import annotations

import re
from functools import lru_cache

_OTHERS = "Token|Process|Config|Output|Extract|Train|Callback|Dataset|Collator"
_ARCHITECTURE = rf"(?!\w*(?:{_OTHERS}))\w*(?:Model|For[A-Z])\w*"
_MADE = r"(?:\.from_pretrained|\.from_config|\._from_config)?"

NETWORKS = tuple(
    re.compile(pattern)
    for pattern in (
        r"torchvision\.models\.(?:\w+\.)*(?!get_|list_|register_)[a-z]\w*",
        r"timm\.(?:models\.)?create_model",
        r"timm\.models\.(?:\w+\.)*(?!list_|is_|has_|load_|get_|register_)[a-z]+[0-9_]\w*",
        rf"transformers\.(?:\w+\.)*{_ARCHITECTURE}{_MADE}",
        rf"diffusers\.(?:\w+\.)*(?:\w*Model|AutoencoderKL|VQModel){_MADE}",
        r"segmentation_models_pytorch\.(?:create_model|[A-Z]\w*)",
        r"efficientnet_pytorch\.EfficientNet\.from_(?:pretrained|name)",
        r"sentence_transformers\.SentenceTransformer",
        r"torch\.hub\.load",
        r"torch_geometric\.nn\.(?:\w+\.)*to_(?:hetero(?:_with_bases)?|fixed_size)",
    )
)
"""Dotted names of functions and classes that return a network."""

FIELDS = frozenset(
    "loss logits last_hidden_state pooler_output start_logits end_logits prediction_logits seq_relationship_logits "
    "logits_per_image logits_per_text image_embeds text_embeds sample encoder_last_hidden_state".split()
)
"""Attributes of the outputs of such networks that are tensors of the graph: those of transformers/modeling_outputs.py,
and ``sample`` of diffusers.
"""


@lru_cache(4096)
def is_network(name: str) -> bool:
    """Whether a library call returns a network."""
    return any(pattern.fullmatch(name) for pattern in NETWORKS)


SOME = {
    "torch.optim": "torch.optim.Optimizer",
    **{f"torchvision.models{part}": "torchvision.models.model" for part in ("", ".segmentation", ".video")},
}
"""What programs pick of a library by a name of which nothing is known: some optimizer, some network."""


def some_of(library: str) -> str | None:
    """What ``getattr(library, name)`` and ``library.__dict__[name]`` stand for, whatever the name is; None where that
    may be anything.
    """
    return SOME.get(library.removesuffix(".__dict__"))


_GRAPHS = r"torch_geometric\.(?:(?:contrib\.|llm\.)?nn|(?:contrib|llm)\.models)\.(?:\w+\.)*"
_PLAIN = (
    "Parameter|Buffer|UninitializedParameter|UninitializedBuffer|PackedSequence|LazyModuleMixin|Tensor|Size|"
    "LinearCrossEntropyOptions"
)
_WITHOUT_LAYERS = (
    r"(?:attention|common_types|functional|init|parameter|utils(?!\.parametri)|modules\._functions"
    r"|parallel\._functions)"
)

LAYERS = re.compile(
    rf"torch\.nn\.(?!{_WITHOUT_LAYERS}\.)(?:\w+\.)*(?!(?:{_PLAIN})$)[A-Z]\w*"
    r"|(?:pytorch_lightning|lightning)\.(?:\w+\.)*[A-Z]\w*Module"
    r"|(?:torchvision\.models|timm\.(?:models|layers|loss))\.(?:\w+\.)*[A-Z]\w*"
    rf"|transformers\.(?:\w+\.)*(?:modeling_\w+\.[A-Z]\w*|\w*PreTrainedModel|{_ARCHITECTURE})"
    rf"|{_GRAPHS}(?!\w*(?:Index|Info|Output|Loader|LR)$)[A-Z]\w*"
    r"|gpytorch\.(?:kernels|likelihoods|means|mlls|models|variational)\.(?:\w+\.)*(?!\w*AddedLossTerm$)[A-Z]\w*"
)
"""Names of library classes whose objects are Modules."""

_OWNLESS = (
    "MessagePassing APPNP LGConv SimpleConv EdgeConv DynamicEdgeConv PointNetConv PPFConv GINConv HeteroConv WLConv "
    "WLConvContinuous Aggregation SumAggregation MeanAggregation MaxAggregation MinAggregation MulAggregation "
    "VarAggregation StdAggregation QuantileAggregation MedianAggregation SortAggregation VariancePreservingAggregation "
    "GraphSizeNorm PairNorm MeanSubtractionNorm PositionalEncoding TemporalEncoding Reshape LabelPropagation "
    "CorrectAndSmooth InnerProductDecoder GAE VGAE ARGA ARGVA DeepGCNLayer MetaLayer Sequential ModuleDict "
    "ParameterDict DataParallel"
)
OWNLESS = re.compile(
    r"torch\.nn\.Module|\w+\.(?:\w+\.)*Lightning(?:Data)?Module"
    rf"|{_GRAPHS}(?:{_OWNLESS.replace(' ', '|')})"
)
"""Those among them that have no parameters but the ones of the modules they are given."""

_ANSWERS = (
    "loss recon_loss kl_loss reg_loss link_pred_loss recommendation_loss nll_loss encode decode discriminate "
    "get_embedding propagate"
)
ANSWERS = ((re.compile(_GRAPHS + r"[A-Z]\w*"), frozenset(_ANSWERS.split()), frozenset(("discriminator_loss",))),)
"""Methods of layers: first those whose results depend on what they are given and on all of the parameters, as that of
``forward`` does, then those that detach what they are given.
"""


@lru_cache(4096)
def is_layer(name: str) -> bool:
    """Whether a library class of this name is a Module."""
    return LAYERS.fullmatch(name) is not None


@lru_cache(4096)
def is_ownless(name: str) -> bool:
    """Whether a Module of this class has no parameters of its own."""
    return OWNLESS.fullmatch(name) is not None


@lru_cache(4096)
def answers(name: str, method: str) -> bool | None:
    """Whether the result of a method of this class depends on what it is given and on the network; None where no code
    knows.
    """
    known = ((method in given, method in cut) for pattern, given, cut in ANSWERS if pattern.fullmatch(name))
    return next((flows for flows, cuts in known if flows or cuts), None)
