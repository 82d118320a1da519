// The embedded data files are the files of data/, byte for byte, sorted and findable.
//
// Source: the files themselves. Holds src/base/data.cpp and scripts/embed_data.cmake.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "isoloop/base.h"
#include "support/numbers.h"

namespace isoloop {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("data files are sorted by path and found by it") {
  const auto files = data_files();
  CHECK(std::ranges::is_sorted(files, {}, &DataFile::path));
  for (const DataFile& file : files) CHECK(data_file(file.path).data() == file.text.data());
}

TEST_CASE("data files are the JSON files and templates of data/, byte for byte") {
  const fs::path root = fs::path(ISOLOOP_SOURCE_DIR) / "data";
  std::size_t count = 0;
  if (fs::exists(root)) {
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      const std::string below = entry.path().string();
      if (!entry.is_regular_file() || below.find("__pycache__") != below.npos) continue;
      if (entry.path().extension() != ".json" && below.find("/templates/") == below.npos) continue;
      ++count;
      const std::string path = fs::relative(entry.path(), root).generic_string();
      CAPTURE(path);
      CHECK(data_file(path) == content(entry.path()));
    }
  }
  CHECK(data_files().size() == count);
}

TEST_CASE("data file that is not compiled in is a fault of the program") {
  const Error error = test::error_of([] { data_file("models/none.json"); });
  CHECK(error.kind == ErrorKind::internal);
  CHECK(error.message == "data file 'models/none.json' is not compiled in");
}

}  // namespace isoloop
