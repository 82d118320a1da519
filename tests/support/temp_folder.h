// Test support: a folder of its own for a test that reads and writes files, gone with the object.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace isoloop::test {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "isoloop-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::filesystem::filesystem_error("mkdtemp", {});
    root_ = pattern;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  /// The path of `name` inside.
  std::string operator/(const std::string& name) const { return (root_ / name).string(); }
  std::string path() const { return root_.string(); }

  /// Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << text;
    return *this / name;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(root_ / name, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  /// Everything inside by relative path, hidden and temporary files included, with contents.
  std::vector<std::string> listing() const {
    std::vector<std::string> result;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root_)) {
      const std::string name = entry.path().lexically_relative(root_).string();
      result.push_back(entry.is_regular_file() ? name + ": " + read(name) : name + "/");
    }
    std::sort(result.begin(), result.end());
    return result;
  }

  /// `text` with this folder's path taken out, so that messages can be compared.
  std::string relative(std::string text) const {
    const std::string prefix = path() + "/";
    for (std::size_t at = text.find(prefix); at != text.npos; at = text.find(prefix, at))
      text.erase(at, prefix.size());
    return text;
  }

 private:
  std::filesystem::path root_;
};

/// A model small enough to check by hand: 4 layers of 64, 4 heads of 16, 8 experts of 32, top-2.
inline std::string small_model() {
  return R"({
  "schema": "isoloop/arch/v1",
  "name": "small",
  "hidden_size": 64,
  "vocab_size": 100,
  "context": 128,
  "segments": [
    {
      "name": "layers",
      "layers": 4,
      "attention": {"kind": "gqa", "heads": 4, "kv_heads": 2, "head_size": 16},
      "ffn": {"kind": "moe", "experts": 8, "top_k": 2, "expert_size": 32}
    }
  ]
}
)";
}

/// `text` with the one occurrence of `from` replaced.
inline std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == text.npos || text.find(from, at + 1) != text.npos)
    throw std::runtime_error("not exactly one '" + from + "' to replace");
  return text.replace(at, from.size(), to);
}

/// Runs the rest of the test in another working folder.
class WorkingFolder {
 public:
  explicit WorkingFolder(const std::string& path) : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(path);
  }
  ~WorkingFolder() { std::filesystem::current_path(before_); }

 private:
  std::filesystem::path before_;
};

}  // namespace isoloop::test
