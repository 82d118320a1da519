// Writing answers.
//
// Files appear whole or not at all: text goes to a temporary neighbour which is renamed over the
// target. Held by tests/cli/output_test.cpp.
#include "cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
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

/// A folder's path without "." and ".." and without a slash at the end, links followed.
fs::path folder_path(const std::string& folder) {
  std::error_code code;
  fs::path path = fs::weakly_canonical(fs::absolute(folder, code), code);
  if (code || path.empty()) path = fs::path(folder).lexically_normal();
  return path.filename().empty() ? path.parent_path() : path;
}

fs::path temporary_beside(const fs::path& path) {
  return path.parent_path() / fmt::format(".{}.{}.tmp", path.filename().string(), ::getpid());
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

/// What a path leads to through links, so that a link is kept and its target replaced.
fs::path followed(const fs::path& path) {
  std::error_code code;
  if (!fs::is_symlink(fs::symlink_status(path, code))) return path;
  const fs::path target = fs::canonical(path, code);
  if (code) throw usage_error("is a link to nothing", path.string(), "remove the link");
  return target;
}

/// Folders isoloop writes hold nothing else; replacing any other one would lose what is in it.
bool replaceable(const fs::path& folder) {
  std::error_code code;
  fs::directory_iterator at(folder, code);
  if (code) return false;
  return std::all_of(begin(at), end(at), [](const fs::directory_entry& entry) {
    const fs::path name = entry.path().filename();
    return name == "configs" || name == "README.md" || name.extension() == ".json" ||
           name.extension() == ".jsonl";
  });
}

[[noreturn]] void fail(const fs::path& path, const std::error_code& code) {
  throw usage_error(fmt::format("cannot be written: {}", code.message()), path.string(),
                    "name a folder that exists and is writable");
}

void put_in_place(const fs::path& made, const fs::path& target, bool is_folder) {
  std::error_code code;
  const fs::path old = temporary_beside(target).string() + ".old";
  const bool replaces_folder = is_folder && fs::exists(target, code);
  code.clear();
  if (replaces_folder) fs::rename(target, old, code);
  if (!code) fs::rename(made, target, code);
  if (code) {
    std::error_code ignored;
    if (replaces_folder && !fs::exists(target, ignored)) fs::rename(old, target, ignored);
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
  if (to_file) return write_file(context.common.output, text, context.common.force);
  context.streams.out << text << std::flush;
  if (!context.streams.out)
    throw usage_error("cannot be written", "standard output", "the disk may be full, or the reader gone");
}

void check_file(const std::string& path, bool force) {
  std::error_code code;
  const fs::path target(path);
  if (fs::is_directory(target, code) || target.filename().empty())
    throw usage_error("is a folder", path, "name a file");
  refuse_existing(target, force);
  const fs::path real = followed(target);
  const fs::file_status status = fs::status(real, code);
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw usage_error("is not a regular file", path, "name another file");
  const fs::path beside = temporary_beside(real);
  try {
    write_text(beside, "");
  } catch (const Error&) {
    throw usage_error("cannot be written", path, "name a folder that exists and is writable");
  }
  fs::remove(beside, code);
}

void check_folder(const std::string& folder, bool force) {
  const fs::path target = folder_path(folder);
  std::error_code code;
  const fs::file_status status = fs::status(target, code);
  if (fs::exists(status) && !fs::is_directory(status)) throw usage_error("is a file", folder, "name a folder");
  if (fs::is_directory(status)) {
    if (fs::is_empty(target, code)) return;
    refuse_existing(target, force);
    if (!replaceable(target))
      throw usage_error("holds files that isoloop did not write", folder, "name another folder");
  } else {
    (void)followed(target);
  }
  const fs::path beside = temporary_beside(target);
  fs::create_directory(beside, code);
  if (code) fail(folder, code);
  fs::remove(beside, code);
}

void write_file(const std::string& path, const std::string& text, bool force) {
  check_file(path, force);
  const fs::path target = followed(path), beside = temporary_beside(target);
  try {
    write_text(beside, text);
  } catch (const Error&) {
    std::error_code ignored;
    fs::remove(beside, ignored);
    throw usage_error("cannot be written", path, "name a folder that exists, is writable and has space");
  }
  put_in_place(beside, target, false);
}

void write_folder(const std::string& folder, const std::map<std::string, std::string>& files,
                  bool force) {
  check_folder(folder, force);
  const fs::path target = folder_path(folder), beside = temporary_beside(target);
  std::error_code code;
  fs::create_directory(beside, code);
  if (code) fail(folder, code);
  try {
    for (const auto& [name, text] : files) {
      fs::create_directories((beside / name).parent_path(), code);
      write_text(beside / name, text);
    }
  } catch (...) {
    fs::remove_all(beside, code);
    throw;
  }
  put_in_place(beside, target, true);
}

nlohmann::ordered_json number(const Ratio& value) {
  if (value.is_integer() && abs(value) <= Ratio(INT64_MAX)) return value.num().to_int64();
  return value.to_double();
}

nlohmann::ordered_json fraction(const Ratio& value) { return value.to_double(); }

}  // namespace isoloop::cli
