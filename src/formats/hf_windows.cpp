// Which layers of a Hugging Face model have a sliding window, and of which size.
//
// Source: the configuration class of each family, see hf_families.h. Held by
// tests/formats/hf_layers_test.cpp.
#include <fmt/format.h>

#include "formats/hf_layers.h"

namespace isoloop::formats {
namespace {

struct LayerTypes {
  Mask windowed;
  bool chunked = false;
};

LayerTypes layer_types(Config& config, std::int64_t layers) {
  const json::Value& list = *config.find({"layer_types"});
  if (!list.is_array() || static_cast<std::int64_t>(list.size()) != layers) {
    throw config.error("layer_types", fmt::format("must be a list of {} layer types", layers));
  }
  LayerTypes result{Mask(list.size())};
  for (std::size_t i = 0; i < list.size(); ++i) {
    const bool chunk = list[i] == "chunked_attention";
    if (!chunk && list[i] != "sliding_attention" && list[i] != "full_attention") {
      const std::string kind = list[i].is_string() ? list[i].get<std::string>() : "(not text)";
      throw config.error(fmt::format("layer_types[{}]", i),
                         fmt::format("'{}' layers cannot be read", kind),
                         "full_attention, sliding_attention or chunked_attention");
    }
    result.windowed[i] = list[i] != "full_attention";
    result.chunked = result.chunked || chunk;
  }
  return result;
}

Mask windowed_by_rule(const WindowRule& rule, Config& config, std::int64_t layers) {
  if (const auto stated = config.list(rule.by_layer); stated && !stated->empty())
    return stated_mask(config, rule.by_layer.front(), *stated, layers);
  switch (rule.layers) {
    case Windows::all:
      return Mask(static_cast<std::size_t>(layers), true);
    case Windows::even:
      return mask(layers, [](std::int64_t i) { return i % 2 == 0; });
    case Windows::from_max_window: {
      const auto first = config.whole({"max_window_layers"});
      if (!first) throw config.missing({"max_window_layers"});
      return mask(layers, [&](std::int64_t i) { return i >= *first; });
    }
    case Windows::all_but_every_nth: {
      const std::int64_t n = config.dimension(rule.pattern);
      return mask(layers, [&](std::int64_t i) { return (i + 1) % n != 0; });
    }
    case Windows::unknown:
      break;
  }
  throw config.error("use_sliding_window", "is true, but no key says which layers have the window",
                     "give layer_types");
}

/// The size of the windows, 0 for none.
std::int64_t window_size(const WindowRule& rule, Config& config, bool needed,
                         std::vector<std::string>& warnings) {
  const std::int64_t size = config.whole(rule.size).value_or(0);
  if (size == 0 && needed) throw config.missing(rule.size);
  if (rule.class_assumes_one && !config.mentions(rule.size.front())) {
    warnings.push_back(fmt::format(
        "{}: missing, so every layer is read as full attention; the class itself assumes a window",
        config.where(rule.size.front())));
  }
  return size;
}

}  // namespace

LayerWindows layer_windows(const Family& family, Config& config, std::int64_t layers,
                           std::vector<std::string>& warnings) {
  LayerWindows result{std::vector<std::int64_t>(static_cast<std::size_t>(layers))};
  const bool typed = config.states({"layer_types"});
  if (!typed && !family.windows) return result;
  const WindowRule rule = family.windows.value_or(WindowRule{});
  for (const Keys* keys : {&rule.size, &rule.pattern, &rule.by_layer}) config.know(*keys);
  if (rule.only_if_used) config.know({"max_window_layers"});

  LayerTypes types;
  if (typed) types = layer_types(config, layers);
  if (rule.only_if_used && !config.fact({false, {"use_sliding_window"}})) return result;
  const std::int64_t size = window_size(rule, config, rule.needed || any(types.windowed), warnings);
  if (size == 0) return result;
  if (!typed) types = {windowed_by_rule(rule, config, layers), rule.chunked};
  result.chunked = types.chunked && any(types.windowed);
  for (std::size_t i = 0; i < types.windowed.size(); ++i)
    result.sizes[i] = types.windowed[i] ? size : 0;
  return result;
}

}  // namespace isoloop::formats
