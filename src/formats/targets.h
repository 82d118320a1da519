// What the writers share: refusing by name, the layers of a model in order, text of configs.
//
// Source: targets() in targets.cpp says which trainer can say what, and why that is right. Held by
// tests/formats/targets_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "isoloop/formats.h"

namespace isoloop::formats {

/// Throws for the first need that the target cannot say, naming feature and segment.
void refuse_unsaid(const arch::Architecture& model, const Target& target);
/// The error for something a target's features do not tell: "segment 'moe': <target> cannot ...".
Error cannot(const Target& target, std::string_view segment, std::string_view what,
             std::string hint = {});

/// One segment of one layer for every physical layer, window included, in order, without names.
std::vector<arch::Segment> layers_of(const arch::Architecture& model);
/// The first layer with experts, or without; null if there is none.
const arch::Ffn* first_ffn(const arch::Architecture& model, bool moe);
/// Dense layers in front of the first MoE layer.
std::int64_t leading_dense(const std::vector<arch::Segment>& layers);
bool is_looped(const arch::Architecture& model);

/// A name that is a word to shells, Python and file systems: letters, digits, - _ and '.'.
std::string slug(std::string_view name);

/// Refuses visits that are a mean over sampled depths: a model that runs needs whole ones.
void refuse_sampled_visits(const arch::Architecture& model, const Target& target);
/// Whether plain layers do not do: some run again, or their residual writes are scaled.
bool needs_looped_layers(const arch::Architecture& model);

// One writer per target, in the file of its name.
Emitted emit_hf(const arch::Architecture&, const Target&, const Sharding&);
Emitted emit_hf_package(const arch::Architecture&, const Target&, const Sharding&);
Emitted emit_megatron(const arch::Architecture&, const Target&, const Sharding&);
Emitted emit_torchtitan(const arch::Architecture&, const Target&, const Sharding&);
Emitted emit_maxtext(const arch::Architecture&, const Target&, const Sharding&);
Emitted emit_olmo(const arch::Architecture&, const Target&, const Sharding&);
Emitted emit_nanotron(const arch::Architecture&, const Target&, const Sharding&);

}  // namespace isoloop::formats
