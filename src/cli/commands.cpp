// The table of commands.
//
// Held by tests/cli/commands_test.cpp: every example runs.
#include "cli/command.h"

namespace isoloop::cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> table = {
      {"count", "Parameters, FLOPs per token, KV cache and memory of architectures",
       "isoloop count qwen3-30b-a3b mixtral-8x7b --convention all", declare_count},
      {"explain", "The same as formulas, with letters and with numbers",
       "isoloop explain smelt-200m-e192", declare_explain},
      {"match", "The looped architecture nearest in cost to a baseline, with proof",
       "isoloop match smelt-200m-e192 --loop middle --top 3", declare_match},
      {"check", "Are the pairs of a manifest within tolerance? Exit 1 if not",
       "isoloop check grid-out/pairs.json", declare_check, {OutputFormat::junit, OutputFormat::github}},
      {"grid", "All cells of a published grid: baselines, matches, printed figures",
       "isoloop grid smelt", declare_grid},
      {"sweep", "An ablation series over span, visits, depth or start, each member matched",
       "isoloop sweep smelt-200m-e192 --span 0:12:2", declare_sweep},
      {"explore", "The whole design space: Pareto front over mismatch, step time, predicted loss",
       "isoloop explore smelt-200m-e192 --gpu h100-sxm5", declare_explore},
      {"merge", "The shards of an exploration into one result",
       "isoloop merge shard-1.json shard-2.json", declare_merge},
      {"emit", "A ready-to-train directory for a trainer",
       "isoloop emit smelt-200m-e192 --to hf --vocab 32000 -o run", declare_emit},
      {"plan", "Launch shapes, occupancy, waves and time of every kernel of a step on a GPU",
       "isoloop plan smelt-200m-e192 --loop middle --gpu h100-sxm5 --against smelt-200m-e192",
       declare_plan},
      {"fit", "Coefficients of a scaling law with intervals, every known trap checked",
       "isoloop fit runs.csv --law my-law.json", declare_fit},
      {"gain", "The share of compute one law saves against another",
       "isoloop gain baseline smelt", declare_gain},
      {"allocate", "The best size and tokens for a budget under a law, with GPU-hours",
       "isoloop allocate smelt --compute 1e21 --gpu h100-sxm5 --gpus 256", declare_allocate},
      {"report", "One self-contained HTML page of tables and charts from JSON results",
       "isoloop report grid.json -o page.html", declare_report, {OutputFormat::html, OutputFormat::svg},
       OutputFormat::html, "-o,--output"},
      {"import", "A foreign config (Hugging Face, Megatron-LM) as an isoloop file",
       "isoloop import config.json --output model.json", declare_import},
      {"list", "What can be named: models, grids, sweeps, GPUs, conventions, targets, ...",
       "isoloop list conventions", declare_list},
      {"completion", "Shell completion for bash, zsh or fish", "isoloop completion bash",
       declare_completion},
      {"man", "The manual page, in man(7) markup", "isoloop man", declare_man},
  };
  return table;
}

}  // namespace isoloop::cli
