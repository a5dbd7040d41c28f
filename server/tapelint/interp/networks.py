"""Networks that libraries make: which names return a Module, and what its outputs are called. Data, in one place.

    torchvision.models.resnet18()                    a Module with parameters nobody looks into
    timm.create_model("vit_base_patch16_224")        the same
    BertModel.from_pretrained("bert-base-uncased")   the same; its output's ``loss`` and ``logits`` depend on it

What such a network does in forward is assumed, and said so in every message that rests on it.
"""

from __future__ import annotations

import re
from functools import cache

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
    )
)
"""Dotted names of functions and classes that return a network."""

FIELDS = frozenset(
    "loss logits last_hidden_state pooler_output start_logits end_logits prediction_logits seq_relationship_logits "
    "logits_per_image logits_per_text image_embeds text_embeds sample encoder_last_hidden_state".split()
)
"""Attributes of the outputs of such networks that are tensors of the graph."""


@cache
def is_network(name: str) -> bool:
    """Whether a library call returns a network."""
    return any(pattern.fullmatch(name) for pattern in NETWORKS)
