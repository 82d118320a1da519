// Fuzz target: whatever the bytes, formats::read reads them or throws isoloop::Error.
//
// Source: libFuzzer's interface. An Error of kind internal counts as a bug: it means that isoloop,
// not the input, is wrong. Built under ISOLOOP_FUZZ; its corpus is replayed by
// tests/formats/corpus_test.cpp.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "isoloop/formats.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    isoloop::arch::to_json(isoloop::formats::read(text, "input.json", "input").architecture);
  } catch (const isoloop::Error& error) {
    if (error.kind == isoloop::ErrorKind::internal) throw;
  }
  return 0;
}
