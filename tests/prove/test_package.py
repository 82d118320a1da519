# The package as a user of transformers meets it: loading with trust_remote_code, saving, generation,
# gradient checkpointing, torch.compile, bf16, balancing, and refusals by field.
import copy

import pytest
import torch
from architectures import CPU, model as architecture, named
from support import count, from_config, load_config, stir, tokens, write_package
from transformers import AutoConfig, AutoModelForCausalLM


def test_loads_saves_and_loads_again(tmp_path):
    document = named("looped-tied-four-visits")
    folder = write_package(document, tmp_path / "first")
    model = stir(from_config(load_config(folder)))
    ids = tokens(document)
    with torch.no_grad():
        before = model.eval()(ids).logits
    model.save_pretrained(tmp_path / "second")
    for file in folder.glob("*.py"):  # a checkpoint that carries its code
        (tmp_path / "second" / file.name).write_text(file.read_text())
    again = AutoModelForCausalLM.from_pretrained(tmp_path / "second", trust_remote_code=True,
                                                 attn_implementation=model.config._attn_implementation)
    with torch.no_grad():
        assert torch.equal(before, again.eval()(ids).logits)
    config = AutoConfig.from_pretrained(tmp_path / "second", trust_remote_code=True)
    assert count(config.architecture)["params"] == count(document)["params"]
    assert config.hidden_size == 32 and config.vocab_size == document["vocab_size"]


@pytest.mark.parametrize("name", ["moe", "looped", "looped-first-slot", "looped-shared-mla", "jetmoe-like", "hrm-like"])
def test_generates_what_repeated_forward_passes_choose(name, build):
    document = named(name)
    model = stir(build(document)).eval()
    ids = tokens(document, 2, 5)
    mask = torch.ones_like(ids)
    generated = model.generate(ids, attention_mask=mask, max_new_tokens=6, do_sample=False, pad_token_id=0)
    for _ in range(6):
        with torch.no_grad():
            nxt = model(ids, use_cache=False).logits[:, -1].argmax(-1, keepdim=True)
        ids = torch.cat([ids, nxt], dim=1)
    assert torch.equal(generated, ids)


def gradients(model, ids):
    model.zero_grad()
    model.train()(ids, labels=ids, use_cache=False).loss.backward()
    return {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}


@pytest.mark.parametrize("name", ["looped", "looped-first-slot", "looped-truncated", "huginn-like", "jetmoe-like"])
def test_gradient_checkpointing_changes_nothing(name, build):
    document = named(name)
    model = stir(build(document))
    ids = tokens(document)
    plain = gradients(model, ids)
    model.gradient_checkpointing_enable()
    saved = gradients(model, ids)
    assert plain.keys() == saved.keys()
    for key in plain:
        torch.testing.assert_close(plain[key], saved[key])


@pytest.mark.parametrize("document", CPU, ids=lambda d: d["name"])
def test_every_weight_learns(document, build):
    """Every parameter gets a gradient, except biases that the load moves, and the start of a loop whose first
    visits are not back-propagated through."""
    model = stir(build(document))
    got = gradients(model, tokens(document))
    missing = [n for n, p in model.named_parameters() if p.requires_grad and n not in got]
    truncated = any(isinstance(s.get("visits"), dict) for s in document["segments"])
    assert missing == (["model.state_vectors"] if truncated and "state_vectors" in document else [])


@pytest.mark.parametrize("name", ["dense-mha", "looped"])
def test_compiles(name, build):
    document = named(name)
    model = stir(build(document, attention="sdpa")).eval()
    ids = tokens(document)
    with torch.no_grad():
        plain = model(ids, use_cache=False).logits
        compiled = torch.compile(model, backend="aot_eager")(ids, use_cache=False).logits
    torch.testing.assert_close(plain, compiled, rtol=1e-4, atol=1e-5)


def loss_and_gradients(step, model, ids):
    model.zero_grad()
    loss = step(input_ids=ids, labels=ids, use_cache=False).loss
    loss.backward()
    return loss.detach(), {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


def test_compiled_kernels_train_the_same(build):
    model, ids = stir(build(named("looped"))), tokens(named("looped"))
    torch.testing.assert_close(loss_and_gradients(torch.compile(model), model, ids),
                               loss_and_gradients(model, model, ids), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["looped", "moe-ungated", "moe-every-bias", "looped-jetmoe"])
def test_grouped_multiplication_trains_the_same(name, build):
    document = named(name)
    ids = tokens(document)
    loop, grouped = (stir(build(document, moe_implementation=how)) for how in ("loop", "grouped"))
    torch.testing.assert_close(loss_and_gradients(grouped, grouped, ids), loss_and_gradients(loop, loop, ids),
                               rtol=1e-4, atol=1e-5)


def test_runs_in_bf16(build):
    for name in ("looped", "looped-shared-mla", "huginn-like", "moe-every-bias", "jetmoe-like"):
        document = named(name)
        model = build(document).to(torch.bfloat16).train()
        ids = tokens(document)
        out = model(ids, labels=ids)
        assert out.logits.dtype == torch.bfloat16 and torch.isfinite(out.loss)
        out.loss.backward()


def test_balancing_loss_is_one_for_a_uniform_router(build):
    model = build(named("moe")).train()
    ids = tokens(named("moe"))
    with torch.no_grad():
        for p in (p for n, p in model.named_parameters() if "router" in n):
            p.zero_()
    assert abs(model(ids, labels=ids).aux_loss.item() - 1) < 1e-5


def test_selection_bias_moves_towards_idle_experts(build):
    model = build(named("moe-every-bias")).train()
    ids = tokens(named("moe-every-bias"))
    model(ids, labels=ids)
    router = model.model.segments[0].layers[0].ffn.router
    load = router.load.clone()
    model.model.balance_experts(rate=0.5)
    assert torch.equal(router.selection_bias, 0.5 * torch.sign(load.mean() - load))


def refused(build, change, match):
    document = copy.deepcopy(named("looped"))
    change(document)
    with pytest.raises(ValueError, match=match):
        build(document)


def test_refuses_by_field_what_it_cannot_execute(build):
    refused(build, lambda d: d["segments"][1].update(visits="5/2"), r"segments\[1\]\.visits: 5/2")
    refused(build, lambda d: d.pop("vocab_size"), "vocab_size: not stated")
    refused(build, lambda d: d.update(schema="isoloop/arch/v2"), "schema: is 'isoloop/arch/v2'")
    refused(build, lambda d: d["segments"][1].update(visits={"forward": 3, "backward": 1}, kv_policy="first"),
            r"segments\[1\]\.kv_policy")
