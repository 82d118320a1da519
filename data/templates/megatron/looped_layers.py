# The loop of @name@ for Megatron-LM, which has no argument for one.
#
#   pretrain_gpt.py ... --spec looped_layers looped_block_spec      (with this directory in PYTHONPATH)
#
# Every layer is stored once under its usual name, so a checkpoint looks like that of the model without
# its loop. The last layer of a loop sends its output through the loop's layers again; gradients of the
# visits add up in the one set of weights. Both residual writes of a layer are scaled as the architecture
# says (1/visits by default, arXiv 2609.01343).
#
# For training: a layer has one key-value slot here, so decoding is refused. Balancing losses are logged
# as sums over the visits. Written against Megatron-Core 0.16.
import sys
from dataclasses import replace

from megatron.core.models.gpt.gpt_layer_specs import get_gpt_decoder_block_spec

LOOPS = [@loops@]  # first layer (from 1), layers, visits
SCALES = [@scales@]  # first layer, last layer, scale of their residual writes

# Recomputing a part that holds parameters runs its backward pass by itself, once per visit, and an
# overlapped gradient reduction would start after the first one. These parts hold none.
SAFE_TO_RECOMPUTE = {"core_attn", "moe_act"}


def scaled(bias_dropout_add, scale):
    """A residual write of `scale` times what the layer adds."""

    def get(training, fused):
        add = bias_dropout_add(training, fused)

        def write(x_with_bias, residual, dropout):
            x, bias = x_with_bias
            return add((x * scale, None if bias is None else bias * scale), residual, dropout)

        return write

    return get


class Loop:
    """Layers that run `visits` times. A model that is built afresh gets a list of its own."""

    def __init__(self, first, span, visits):
        self.first, self.last, self.visits = first, first + span - 1, visits
        self.layers = []

    def layers_with(self, layer):
        if layer.layer_number == self.first:
            self.layers = []
        self.layers.append(layer)
        return self.layers


class LoopedLayer:
    """Goes in front of a transformer layer class."""

    def __init__(self, *args, loops=(), **kwargs):
        super().__init__(*args, **kwargs)
        for first, last, scale in SCALES:
            if first <= self.layer_number <= last:
                self.self_attn_bda = scaled(self.self_attn_bda, scale)
                self.mlp_bda = scaled(self.mlp_bda, scale)
        self.visits, self.visited = 1, []  # of the loop that ends here
        for loop in loops:
            if loop.first <= self.layer_number <= loop.last:
                layers = loop.layers_with(self)
                if self.layer_number == loop.last:
                    self.visits, self.visited = loop.visits, layers

    def forward(self, hidden_states, inference_context=None, **kwargs):
        if inference_context is not None:
            raise NotImplementedError("a looped layer needs a key-value slot per visit, which Megatron-LM has not")
        hidden_states, context = super().forward(hidden_states=hidden_states, **kwargs)
        for _ in range(1, self.visits):
            for layer in self.visited[:-1]:
                hidden_states, context = layer(hidden_states=hidden_states, **kwargs)
            hidden_states, context = super().forward(hidden_states=hidden_states, **kwargs)
        return hidden_states, context


def block_spec(config, use_transformer_engine, **options):
    """The decoder's block: Megatron's own layers, each with LoopedLayer in front."""
    if config.pipeline_model_parallel_size > 1:
        raise ValueError("a loop cannot be cut into pipeline stages: use --pipeline-model-parallel-size 1")
    unsafe = set(config.recompute_modules or []) - SAFE_TO_RECOMPUTE
    if config.recompute_granularity == "full" or (config.recompute_granularity == "selective" and unsafe):
        raise ValueError("layers of a loop can recompute core_attn and moe_act only: "
                         "use --recompute-granularity selective --recompute-modules core_attn")
    block = get_gpt_decoder_block_spec(config, use_transformer_engine, **options)
    loops, classes = [Loop(*loop) for loop in LOOPS], {}

    def looped(spec):
        name = f"Looped{spec.module.__name__}"
        looped_class = classes.setdefault(name, type(name, (LoopedLayer, spec.module), {}))
        return replace(spec, module=looped_class, params={**spec.params, "loops": loops})

    return replace(block, layer_specs=[looped(spec) for spec in block.layer_specs])


if "megatron.training" in sys.modules:  # pretrain_gpt.py looks the specification up while it builds the model
    from megatron.training import get_args
    from megatron.training.arguments import core_transformer_config_from_args

    looped_block_spec = block_spec(
        core_transformer_config_from_args(get_args()), get_args().transformer_impl == "transformer_engine",
        normalization=get_args().normalization, qk_l2_norm=get_args().qk_l2_norm)
