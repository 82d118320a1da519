// A short fingerprint of a text: 64-bit FNV-1a as 16 hexadecimal digits.
//
// Source: RFC 9923 (The FNV Non-Cryptographic Hash Algorithm). Held by tests/base/hash_test.cpp.
#pragma once

#include <string>
#include <string_view>

namespace isoloop {

std::string fnv1a(std::string_view text);

}  // namespace isoloop
