// Megatron-LM arguments: written, read back, and what is refused.
#include "formats/megatron.h"

#include <doctest/doctest.h>

#include "support/random_architecture.h"

using namespace isoloop;
using formats::emit;
using formats::find_target;

namespace {

arch::Architecture imported(const std::string& text) {
  return formats::read(text, "args", "model").architecture;
}

constexpr const char* plain =
    "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --ffn-hidden-size 128 --swiglu "
    "--disable-bias-linear --normalization RMSNorm --position-embedding-type rope "
    "--vocab-size 1000 ";

}  // namespace

TEST_CASE("megatron: every random architecture it can say comes back from both files") {
  test::Dice dice(2);
  int written = 0;
  for (int i = 0; i < 3000; ++i) {
    const arch::Architecture m = test::random_architecture(dice);
    formats::Emitted emitted;
    try {
      emitted = emit(m, find_target("megatron", ""), {});
    } catch (const Error& error) {
      CHECK(error.kind == ErrorKind::input);
      CHECK(error.message.starts_with("megatron cannot say "));
      continue;
    }
    ++written;
    for (const char* file : {"model.yaml", "train.sh"}) {
      const formats::Import import = formats::read(emitted.files.at(file), file, "random");
      CHECK(import.format == "megatron");
      CHECK(import.warnings.empty());
      CHECK(import.left_out.empty());
      CHECK(formats::same_model(import.architecture, m));
      CHECK(import.architecture.context == m.context);
    }
  }
  CHECK(written > 300);
}

TEST_CASE("megatron: what a missing argument means") {
  const arch::Architecture m = imported(plain);
  CHECK(m.segments.front().attention.kv_heads == 4);
  CHECK(m.segments.front().attention.head_size == 16);
  CHECK(m.tied);
  const arch::Architecture moe = imported(std::string(plain) + "--num-experts 8");
  CHECK(moe.segments.front().ffn.top_k == 2);
  CHECK(moe.segments.front().ffn.expert_size == 128);
  const arch::Architecture biased =
      imported("--num-layers 1 --hidden-size 64 --num-attention-heads 4 --ffn-hidden-size 128");
  CHECK(biased.norm == arch::NormKind::layer);
  CHECK(biased.segments.front().attention.output_bias);
  CHECK(!biased.segments.front().ffn.gated);
}

TEST_CASE("megatron: layer lists, windows and plain numbers") {
  const auto moe = [](const std::string& frequency) {
    return imported(std::string(plain) + "--num-experts 8 --moe-layer-freq " + frequency);
  };
  CHECK(moe("2").segments.size() == 4);  // layers 0 and 2
  CHECK(moe("2").segments.front().ffn.moe);
  CHECK(moe("\"([0]*1+[1]*3)\"").segments.front().layers == 1);
  const arch::Architecture w =
      imported(std::string(plain) + "--window-size 127,0 --window-attn-skip-freq 4");
  CHECK(w.segments.front().attention.windows == std::vector<std::int64_t>{128, 128, 128, 0});
}

TEST_CASE("megatron: list expressions") {
  CHECK(formats::parse_pattern("([0]*2+[1,0])*2", "x") ==
        std::vector<std::int64_t>{0, 0, 1, 0, 0, 0, 1, 0});
  CHECK(formats::pattern_text({0, 0, 1}) == "([0]*2+[1]*1)");
  CHECK(formats::pattern_text({1, 1}) == "([1]*2)");
  CHECK(formats::pattern_text({1, 0, 1, 0}) == "([1,0]*2)");
  CHECK(formats::pattern_text({1, 0, 1}) == "([1]*1+[0]*1+[1]*1)");
  for (const char* bad : {"", "[", "[]", "([0]", "[0]*", "[0]]", "[0]*999999999", "0"})
    CHECK_THROWS_AS(formats::parse_pattern(bad, "x"), Error);
}

TEST_CASE("megatron: complaints name file, line and flag") {
  const auto message = [](const std::string& text) {
    try {
      imported(text);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(message("--num-layers 4") ==
        "args: --hidden-size is missing\n  hint: no dimension is ever assumed");
  CHECK(message("--num-layers $LAYERS --hidden-size 4") ==
        "args:1: --num-layers: '$LAYERS' is not a whole number of at least 1\n"
        "  hint: variables are not expanded");
  CHECK(message("--num-layers 4\n--num-layers 5") ==
        "args:2: --num-layers is '5' here and '4' in line 1\n  hint: keep one of the two");
  CHECK(message(std::string(plain) + "--spec a b") ==
        "args:1: --spec: a layer specification in Python cannot be read\n"
        "  hint: name the folder that isoloop emit wrote, or the architecture.json in it");
  CHECK(message(std::string(plain) + "--num-experts 8 --moe-layer-freq \"[0]*3\"") ==
        "args:1: --moe-layer-freq: lists 3 layers of 4");
  CHECK(message("--num-layers \"4") == "args:1: a quote is not closed");
}

TEST_CASE("megatron: refusals that the table of features does not tell") {
  arch::Architecture m = imported(plain);
  m.segments.front().attention.output_bias = true;
  CHECK_THROWS_WITH_AS(
      emit(m, find_target("megatron", ""), {}),
      "segment 'layers': megatron cannot say biases on some linear maps only\n"
      "  hint: it has biases on all linear maps (router and experts included, and then no shared "
      "experts), on q, k and v, or none",
      Error);
}
