
class ScaledBlock(Qwen3TransformerBlock):
    """A block whose two residual writes are scaled (1/visits in a loop by default, arXiv 2609.01343)."""

    @dataclass(kw_only=True, slots=True)
    class Config(Qwen3TransformerBlock.Config):
        scale: float = 1.0

    def __init__(self, config):
        super().__init__(config)
        self.scale = config.scale

    def forward(self, x, attention_masks, positions=None):
        x = x + self.scale * self.attention(self.attention_norm(x), attention_masks, positions)
        feed_forward = self.moe if self.moe_enabled else self.feed_forward
        return x + self.scale * feed_forward(self.ffn_norm(x))


class LoopedModel(Qwen3Model):
    """Runs its layers in a given order, some of them several times; each is stored once.

    Works with data, tensor and expert parallel, activation checkpointing and compilation, which act on single
    layers; not with pipeline stages. The trainer's own FLOPs count stored layers once, so its MFU is too low.
    """

    @dataclass(kw_only=True, slots=True)
    class Config(Qwen3Model.Config):
        order: list[int]

    def forward(self, tokens, positions=None, attention_masks=None):
        if self.tok_embeddings is None or self.lm_head is None or len(self.layers) < len(self.config.layers):
            raise ValueError("a loop cannot be cut into pipeline stages")
        x = self.tok_embeddings(tokens)
        for layer in self.config.order:
            x = self.layers[str(layer)](x, attention_masks, positions)
        x = self.norm(x)
        return x if self._skip_lm_head else self.lm_head(x)

