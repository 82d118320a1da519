// Writing answers.
//
// Files appear whole or not at all: text goes to a temporary neighbour which is renamed over the
// target. Held by tests/cli/output_test.cpp.
#include "cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>

namespace isoloop::cli {
namespace {

namespace fs = std::filesystem;

std::string body(const Answer& answer, const Context& context, bool colour) {
  const report::Style style{colour, context.streams.width};
  switch (context.common.format) {
    case OutputFormat::text: return report::write(answer.document, report::Format::text, style);
    case OutputFormat::md: return report::write(answer.document, report::Format::markdown, style);
    case OutputFormat::csv: return report::write(answer.document, report::Format::csv, style);
    case OutputFormat::json: return answer.json;
    default: break;
  }
  for (const auto& [format, text] : answer.other)
    if (format == context.common.format) return text;
  throw internal_error("the command did not produce this format");
}

fs::path temporary_beside(const fs::path& path) {
  fs::path clean = path;
  if (clean.filename().empty()) clean = clean.parent_path();
  return clean.parent_path() / fmt::format(".{}.{}.tmp", clean.filename().string(), ::getpid());
}

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file)
    throw usage_error("cannot be written", path.string(),
                      "the folder must exist and be writable, and have space");
}

void refuse_existing(const fs::path& path, bool force) {
  std::error_code code;
  if (!force && fs::exists(fs::symlink_status(path, code)))
    throw usage_error("exists already", path.string(), "add --force to replace it");
}

[[noreturn]] void fail(const fs::path& path, const std::error_code& code) {
  throw usage_error(fmt::format("cannot be written: {}", code.message()), path.string(),
                    "name a folder that exists and is writable");
}

void put_in_place(const fs::path& made, const fs::path& target, bool is_folder) {
  std::error_code code;
  const fs::path old = temporary_beside(target).string() + ".old";
  const bool replaces_folder = is_folder && fs::exists(target);
  if (replaces_folder) fs::rename(target, old, code);
  if (!code) fs::rename(made, target, code);
  if (code) {
    std::error_code ignored;
    if (replaces_folder && !fs::exists(target)) fs::rename(old, target, ignored);
    fs::remove_all(made, ignored);
    fail(target, code);
  }
  if (replaces_folder) fs::remove_all(old, code);
}

}  // namespace

void write_answer(const Answer& answer, const Context& context) {
  const bool to_file = !context.common.output.empty();
  const bool colour = !to_file && context.streams.out_is_terminal;
  const std::string text = body(answer, context, colour);
  if (to_file)
    write_file(context.common.output, text, context.common.force);
  else
    context.streams.out << text << std::flush;
}

void write_file(const std::string& path, const std::string& text, bool force) {
  refuse_existing(path, force);
  if (fs::is_directory(path)) throw usage_error("is a folder", path, "name a file");
  const fs::path beside = temporary_beside(path);
  try {
    write_text(beside, text);
  } catch (const Error&) {
    std::error_code ignored;
    fs::remove(beside, ignored);
    throw usage_error("cannot be written", path, "name a folder that exists and is writable");
  }
  put_in_place(beside, path, false);
}

void write_folder(const std::string& folder, const std::map<std::string, std::string>& files,
                  bool force) {
  fs::path target = fs::path(folder).lexically_normal();
  if (target.filename().empty()) target = target.parent_path();
  std::error_code code;
  const bool empty_folder = fs::is_directory(target, code) && fs::is_empty(target, code);
  if (!empty_folder) refuse_existing(target, force);
  if (fs::exists(target, code) && !fs::is_directory(target, code))
    throw usage_error("is a file", folder, "name a folder");
  const fs::path beside = temporary_beside(target);
  fs::create_directory(beside, code);
  if (code) fail(target, code);
  try {
    for (const auto& [name, text] : files) {
      fs::create_directories((beside / name).parent_path());
      write_text(beside / name, text);
    }
  } catch (...) {
    fs::remove_all(beside, code);
    throw;
  }
  put_in_place(beside, target, true);
}

nlohmann::ordered_json number(const Ratio& value) {
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  if (value.is_integer() && abs(value) <= Ratio(exact)) return value.num().to_int64();
  return value.to_double();
}

nlohmann::ordered_json fraction(const Ratio& value) { return value.to_double(); }

}  // namespace isoloop::cli
