// formats: foreign model configurations in and out, one file per format under src/formats/.
//
// A reader recognises its format by content, fills an arch::Architecture without guessing any
// dimension, and names what it had to leave out. Which families exist and what each key means is
// one table per format.
//
// Held by tests/formats/*_test.cpp against published parameter counts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "isoloop/arch.h"

namespace isoloop::formats {

struct Import {
  arch::Architecture architecture;
  std::string format;                 // "isoloop", "hf"
  std::string family;                 // foreign family, e.g. the model_type of a HF config
  std::vector<std::string> warnings;  // e.g. a key this reader does not know that may change cost
  std::vector<std::string> left_out;  // e.g. "vision tower (siglip_vision_model)"
};

/// Reads an isoloop architecture file, a file of data/models or any known foreign config. `file`
/// names the input in messages; `name` becomes the architecture's name where the file has none.
/// Throws Error (kind input): malformed JSON with line and column, a missing dimension by its key,
/// an unknown family with the nearest known one, a layer kind that cannot be expressed by name.
Import read(std::string_view text, std::string_view file, std::string_view name);

/// The Hugging Face model types that can be read, sorted.
std::vector<std::string> hf_families();

}  // namespace isoloop::formats
