// Loading architectures named on the command line.
//
// A path wins over a built-in name. Held by tests/cli/bad_input_test.cpp and options_test.cpp.
#include "cli/input.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <istream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "isoloop/grid.h"

namespace isoloop::cli {
namespace {

constexpr std::string_view models_folder = "models/";

std::string stem(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view file = slash == std::string_view::npos ? path : path.substr(slash + 1);
  return std::string(file.substr(0, file.rfind('.')));
}

Loaded from_import(formats::Import import, const Context& context, const std::string& argument) {
  for (const std::string& warning : import.warnings)
    context.warn(fmt::format("{}: {}", argument, warning));
  return {std::move(import.architecture), std::move(import.format), std::move(import.family),
          std::move(import.left_out), 0, {}};
}

Loaded load_model(const DataFile& file, const std::string& name, const Context& context) {
  const auto entry = nlohmann::json::parse(file.text);
  Loaded loaded = from_import(formats::read(entry.at("config").dump(), name, name), context, name);
  loaded.architecture.name = name;
  const auto& published = entry.at("published");
  if (published.at("stored_params").is_number())
    loaded.published_stored = published.at("stored_params").get<std::int64_t>();
  for (const auto& [extra, value] : entry.at("stored_extras").items())
    loaded.stored_extras.emplace_back(extra, value.get<std::int64_t>());
  return loaded;
}

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const BuiltIn& model : built_in_models()) names.push_back(model.name);
  return names;
}

Loaded load_built_in(const std::string& name, const Context& context) {
  const std::string path = fmt::format("{}{}.json", models_folder, name);
  for (const DataFile& file : data_files())
    if (file.path == path) return load_model(file, name, context);
  for (arch::Architecture& model : grid::built_in_architectures())
    if (model.name == name) return {std::move(model), "built-in", "", {}, 0, {}};
  Error error = unknown_name(ErrorKind::usage, "model or file", name, known_names(), "");
  if (error.hint.empty() || error.hint.starts_with("known"))
    error = usage_error(error.message, "", "isoloop list models shows the built-in ones");
  throw error;
}

[[noreturn]] void refuse_size(const Reading& reading, const std::string& shown) {
  throw usage_error(fmt::format("is larger than {} MiB", reading.mebibytes), shown,
                    reading.too_large);
}

std::string read_all(std::istream& in, const std::string& shown, const Reading& reading) {
  constexpr std::size_t block = 1 << 16;
  const std::size_t largest = reading.mebibytes << 20;
  std::string text;
  while (in && text.size() <= largest) {
    const std::size_t size = text.size();
    text.resize(size + block);
    in.read(text.data() + size, static_cast<std::streamsize>(block));
    text.resize(size + static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) throw usage_error("cannot be read to its end", shown, "check the file and its disk");
  if (text.size() > largest) refuse_size(reading, shown);
  return text;
}

/// The file of a folder that says the architecture: what emit writes into every folder, or a Hugging
/// Face checkpoint's.
std::string file_of_folder(const std::string& folder) {
  std::error_code code;
  for (const char* name : {"architecture.json", "config.json"}) {
    const std::filesystem::path file = std::filesystem::path(folder) / name;
    if (std::filesystem::exists(file, code)) return file.string();
  }
  throw usage_error("is a folder without architecture.json and config.json", folder, "name a file");
}

}  // namespace

std::vector<BuiltIn> built_in_models() {
  std::vector<BuiltIn> result;
  for (const DataFile& file : data_files()) {
    if (!file.path.starts_with(models_folder)) continue;
    const auto entry = nlohmann::json::parse(file.text);
    result.push_back({stem(file.path), entry.at("name"),
                      entry.at("confidence") == "exact" ? "published count" : "unverified",
                      entry.at("source")});
  }
  for (const std::string& name : grid::names()) {
    const grid::Grid grid = grid::load(name, "data/grids");
    for (const arch::Architecture& model : grid::built_in_architectures())
      if (model.name.starts_with(name))
        result.push_back({model.name, grid.title, "grid " + name, grid.source});
  }
  return result;
}

std::string read_text(const std::string& path, const Context& context, const Reading& reading) {
  if (path == "-") return read_all(context.streams.in, "standard input", reading);
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) throw usage_error("is a folder", path, "name a file");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw usage_error(fmt::format("cannot be read: {}", std::generic_category().message(errno)),
                      path, reading.absent);
  const auto size = std::filesystem::file_size(path, code);  // of a pipe there is none
  if (!code && size > reading.mebibytes << 20) refuse_size(reading, path);
  return read_all(file, path, reading);
}

std::string read_result(const std::string& path, const Context& context) {
  constexpr Reading result = {
      1024,
      "name a file that exists and is readable; isoloop COMMAND ... --format json writes results",
      "ask a smaller question, e.g. with tighter tolerances"};
  return read_text(path, context, result);
}

Loaded load(const std::string& argument, const Context& context) {
  std::error_code code;  // a link to nothing is a path, too
  const bool looks_like_path =
      argument == "-" || argument.find('/') != std::string::npos || argument.ends_with(".json") ||
      std::filesystem::exists(std::filesystem::symlink_status(argument, code));
  if (!looks_like_path) return load_built_in(argument, context);
  if (std::filesystem::is_directory(argument, code))
    return load_file(file_of_folder(argument), context);
  if (argument != "-") return load_file(argument, context);
  const std::string shown = "standard input";
  return from_import(formats::read(read_text("-", context), shown, "stdin"), context, shown);
}

Loaded load_file(const std::string& path, const Context& context) {
  return from_import(formats::read(read_text(path, context), path, stem(path)), context, path);
}

}  // namespace isoloop::cli
