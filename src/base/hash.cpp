// FNV-1a over bytes. Held by tests/base/hash_test.cpp against published values.
#include "base/hash.h"

#include <fmt/format.h>

#include <cstdint>

namespace isoloop {

std::string fnv1a(std::string_view text) {
  constexpr std::uint64_t offset_basis = 0xcbf29ce484222325U, prime = 0x100000001b3U;
  std::uint64_t hash = offset_basis;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * prime;
  return fmt::format("{:016x}", hash);
}

}  // namespace isoloop
