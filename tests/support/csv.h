// Test support: rows of a comma-separated file by column name. Fields may be quoted.
#pragma once

#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace isoloop::test {

using CsvRow = std::map<std::string, std::string>;

inline std::vector<std::string> csv_fields(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      fields.emplace_back();
    else if (c != '\r')
      fields.back() += c;
  }
  return fields;
}

/// Rows of tests/<path>; throws if the file is missing.
inline std::vector<CsvRow> csv(const std::string& path) {
  std::ifstream in(std::string(ISOLOOP_SOURCE_DIR) + "/tests/" + path);
  if (!in) throw std::runtime_error("cannot read tests/" + path);
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> names = csv_fields(line);
  std::vector<CsvRow> rows;
  while (std::getline(in, line)) {
    const std::vector<std::string> fields = csv_fields(line);
    CsvRow row;
    for (std::size_t i = 0; i < names.size() && i < fields.size(); ++i) row[names[i]] = fields[i];
    rows.push_back(row);
  }
  return rows;
}

}  // namespace isoloop::test
