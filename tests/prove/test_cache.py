# Bytes of the real KV cache after decoding n tokens = `isoloop count`, exactly; and decoding with it
# gives the logits of the uncached model.
import pytest
import torch
from architectures import CPU, named
from support import count, exact, stir, tokens

PREFILL, DECODED, BATCH = 3, 5, 2
LENGTH = PREFILL + DECODED

# Older tokens keep what the last visit wrote, so a visit does not see its own keys of the past.
APPROXIMATE = {"last", "modulo"}


def decode(model, ids, prefill):
    """Logits of all tokens: a prefill, then one token at a time through the cache."""
    with torch.no_grad():
        cache = model.new_cache()
        logits = [model(ids[:, :prefill], past_key_values=cache).logits]
        for t in range(prefill, ids.shape[1]):
            logits.append(model(ids[:, t : t + 1], past_key_values=cache).logits)
    return torch.cat(logits, dim=1), cache


def approximate(document):
    return any(s.get("kv_policy") in APPROXIMATE for s in document["segments"])


@pytest.mark.parametrize("document", CPU, ids=lambda d: d["name"])
def test_bytes_and_logits(document, build):
    model = stir(build(document)).eval()
    ids = tokens(document, BATCH, LENGTH)
    logits, cache = decode(model, ids, PREFILL)
    counted = count(document, "--kv-dtype", "fp32", "--context", LENGTH)
    assert len(cache.layers) == exact(counted["kv_cache"]["slots"])
    assert cache.nbytes() == BATCH * exact(counted["memory"]["kv_bytes_per_sequence"])
    if not any(any(s["attention"].get("windows", [])) for s in document["segments"]):
        assert cache.nbytes() == BATCH * LENGTH * exact(counted["kv_cache"]["bytes_per_token"])
    with torch.no_grad():
        uncached = model(ids, use_cache=False).logits
    if approximate(document):
        # Exact as long as there is no past: one prefill.
        logits, uncached = decode(model, ids[:, :PREFILL], PREFILL)[0], model(ids[:, :PREFILL], use_cache=False).logits
    torch.testing.assert_close(logits, uncached, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["looped", "looped-windowed", "looped-first-slot-mla", "chunked"])
def test_longer_than_a_window(name, build, proved):
    document = named(name)
    model = stir(build(document)).eval()
    ids = tokens(document, BATCH, 40)
    logits, cache = decode(model, ids, 17)
    counted = count(document, "--kv-dtype", "fp32", "--context", 40)
    assert cache.nbytes() == BATCH * exact(counted["memory"]["kv_bytes_per_sequence"])
    uncached = model(ids, use_cache=False).logits.detach()
    difference = (logits - uncached).abs().max().item()
    assert difference < 1e-4
    proved(f"cached and uncached logits over 40 tokens, {name}", f"largest difference {difference:.1e}")


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_padded_prompts_generate_as_alone(attention, build):
    document = named("looped")
    model = stir(build(document, attention=attention)).eval()
    ids = tokens(document, 1, 6)
    alone = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=6, do_sample=False, pad_token_id=0)
    padded = torch.cat([torch.zeros(1, 3, dtype=torch.long), ids], dim=1)
    mask = (torch.arange(9) >= 3).long()[None]
    both = model.generate(padded, attention_mask=mask, max_new_tokens=6, do_sample=False, pad_token_id=0)
    assert torch.equal(alone[:, 6:], both[:, 9:])
