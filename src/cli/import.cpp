// isoloop import: a foreign config as an isoloop architecture file.
//
// Held by tests/cli/import_test.cpp.
#include <fmt/format.h>

#include "cli/input.h"
#include "cli/views.h"

namespace isoloop::cli {

Action declare_import(CLI::App& app) {
  const auto file = std::make_shared<std::string>();
  const auto loop = std::make_shared<std::string>();
  app.add_option("FILE", *file, "Config file, - for stdin, or a built-in name")->required();
  app.add_option("--loop", *loop, "Loop its layers, e.g. middle or 3+6x2+3")->type_name("LOOP");
  return [file, loop](Context& context) {
    const Loaded loaded = load(*file, context);
    for (const std::string& left_out : loaded.left_out)
      context.warn(fmt::format("{}: left out: {}", *file, left_out));
    Answer answer;
    answer.json = arch::to_json(looped(loaded.architecture, *loop));
    // The file is the answer in every format: it is meant to be read by people, too.
    if (context.common.format == OutputFormat::text) context.common.format = OutputFormat::json;
    answer.document.blocks.emplace_back(report::Code{answer.json});
    return answer;
  };
}

}  // namespace isoloop::cli
