// isoloop check: formats for people, programs, CI servers and GitHub; what moved; --update; and
// manifests that are wrong.
#include <doctest/doctest.h>

#include "support/run_cli.h"
#include "support/temp_folder.h"

namespace {

using isoloop::test::run_cli;
using isoloop::test::small_model;
using isoloop::test::TempFolder;
using isoloop::test::with;

/// A manifest of one pair: small against itself with other experts, allowed to differ by 1 %.
std::string manifest(const std::string& name = "p", const std::string& extra = "") {
  return R"({
  "schema": "isoloop/pairs/v1",
  "convention": "causal",
  "tolerance": {"flops": "1%", "params": "1%"},
  "pairs": [{"name": ")" + name + R"(", "baseline": "a.json", "match": "sub/b.json")" + extra + "}]\n}\n";
}

TempFolder& write_pair(TempFolder& folder, const char* experts) {
  folder.write("a.json", small_model());
  folder.write("sub/b.json", with(small_model(), "\"experts\": 8", std::string("\"experts\": ") + experts));
  return folder;
}

TEST_CASE("a pair within tolerance") {
  TempFolder folder;
  write_pair(folder, "8");
  const auto ran = run_cli({"check", folder.write("pairs.json", manifest())});
  CHECK(ran.code() == 0);
  CHECK(ran.err == "");
  CHECK(ran.out ==
        "pair        flops   params  tolerance\n"
        "──────────────────────────────────────────\n"
        "p     ok  0.000 %  0.000 %  1.00 %, 1.00 %\n\n"
        "The pair is within tolerance.\n");
  CHECK(run_cli({"check", folder / "pairs.json", "--format", "github"}).out ==
        "::notice title=isoloop check::the pair is within tolerance.\n");
}

TEST_CASE("a pair that moved names the budget and the row") {
  TempFolder folder;
  write_pair(folder, "8").write("pairs.json", manifest());
  const auto updated = run_cli({"check", folder / "pairs.json", "--update"});
  CHECK(updated.code() == 0);
  CHECK(updated.out.find("The manifest now records the present counts.") != updated.out.npos);
  write_pair(folder, "9");
  const auto ran = run_cli({"check", folder / "pairs.json"});
  CHECK(ran.code() == 1);
  CHECK(ran.out.find("p: params off by +") != ran.out.npos);
  CHECK(ran.out.find("(tolerance 1.00 %); moved most: match: layers / routed experts, 196,608 ->\n221,184") != ran.out.npos);
  CHECK(ran.out.ends_with("1 of 1 pairs is out of budget.\n"));
}

TEST_CASE("JUnit XML and GitHub annotations keep hostile names harmless") {
  TempFolder folder;
  write_pair(folder, "16").write("pairs.json", manifest("<b>\\\"&\\n::x%\\u001b"));
  const auto junit = run_cli({"check", folder / "pairs.json", "--format", "junit"});
  CHECK(junit.code() == 1);
  CHECK(junit.out.starts_with(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
      "  <testsuite name=\"isoloop check\" tests=\"2\" failures=\"2\" errors=\"0\" skipped=\"0\">\n"
      "    <testcase classname=\"&lt;b&gt;&quot;&amp;&#10;::x%\" name=\"flops\">\n"
      "      <failure type=\"budget\" message=\"flops off by +"));
  const auto github = run_cli({"check", folder / "pairs.json", "--format", "github"});
  CHECK(folder.relative(github.out).starts_with("::error file=sub/b.json,title=<b>\"&%0A%3A%3Ax%25"));
  CHECK(std::count(github.out.begin(), github.out.end(), '\n') == 2);
}

TEST_CASE("pairs with budgets of their own keep their columns") {
  TempFolder folder;
  write_pair(folder, "8");
  const std::string text = with(manifest(), "}]", "}, {\"name\": \"q\", \"baseline\": \"a.json\", \"match\": \"a.json\", "
                                                  "\"tolerance\": {\"kv\": \"2%\"}}]");
  const auto ran = run_cli({"check", folder.write("pairs.json", text), "--format", "csv"});
  CHECK(ran.out ==
        "pair,,flops,params,kv,tolerance\r\n"
        "p,ok,0.000 %,0.000 %,,\"1.00 %, 1.00 %\"\r\n"
        "q,ok,,,0.000 %,2.00 %\r\n");
}

TEST_CASE("manifests that are wrong") {
  struct Bad {
    std::string text, message;
  };
  for (const Bad& bad : std::initializer_list<Bad>{
           {"", "pairs.json: is empty; expected a JSON document"},
           {"[]", "pairs.json: is a list; expected an object { … }"},
           {"{}", "pairs.json: field 'schema' is missing"},
           {with(manifest(), "pairs/v1", "pairs/v2"),
            "pairs.json: schema: is 'isoloop/pairs/v2'\n  hint: expected 'isoloop/pairs/v1'"},
           {"{\"schema\": \"isoloop/pairs/v1\", \"convention\": \"causal\", \"pairs\": []}",
            "pairs.json: pairs: has no pair to check\n  hint: each pair has a name, a baseline file and a match file"},
           {with(manifest(), "causal", "casual"),
            "pairs.json: convention: unknown convention 'casual'\n  hint: did you mean 'causal'?"},
           {with(manifest(), "\"flops\": \"1%\"", "\"fops\": \"1%\""),
            "pairs.json: tolerance: unknown field 'fops'\n  hint: did you mean 'flops'?"},
           {with(manifest(), "\"flops\": \"1%\"", "\"flops\": \"-1%\""),
            "pairs.json: tolerance.flops: '-1%' is negative\n  hint: write it like 1%, 0.5% or 0.005"},
           {with(manifest(), "\"flops\": \"1%\"", "\"flops\": 1"),
            "pairs.json: tolerance.flops: is 1; expected text in quotes"},
           {with(manifest(), "\"baseline\"", "\"base\""), "pairs.json: pairs[0]: field 'baseline' is missing"},
           {with(manifest(), "  \"tolerance\": {\"flops\": \"1%\", \"params\": \"1%\"},\n", ""),
            "pairs.json: tolerance: is missing and pair 'p' has none\n"
            "  hint: write e.g. {\"flops\": \"1%\", \"params\": \"1%\", \"kv\": \"2%\"}"},
           {with(manifest(), "sub/b.json", "nosuch.json"),
            "nosuch.json: cannot be read: No such file or directory\n"
            "  hint: it is named in pairs.json; names are relative to that file"},
           {with(manifest(), "sub/b.json", "sub"),
            "sub: is a folder\n  hint: it is named in pairs.json; names are relative to that file"},
           {with(manifest(), "sub/b.json", "smelt-200m-e192"),
            "smelt-200m-e192: cannot be read: No such file or directory\n"
            "  hint: it is named in pairs.json; names are relative to that file"},
       }) {
    CAPTURE(bad.message);
    TempFolder folder;
    write_pair(folder, "8").write("pairs.json", bad.text);
    const auto before = folder.listing();
    for (const char* update : {"--quiet", "--update"}) {
      const auto ran = run_cli({"check", folder / "pairs.json", update});
      CHECK(ran.code() == 2);
      CHECK(ran.out == "");
      CHECK(folder.relative(ran.err) == "isoloop: " + bad.message + "\n");
      CHECK(folder.listing() == before);
    }
  }
}

TEST_CASE("absolute names, and a manifest on standard input") {
  TempFolder folder;
  write_pair(folder, "8");
  const std::string text = with(with(manifest(), "a.json", folder / "a.json"), "sub/b.json", folder / "sub/b.json");
  CHECK(run_cli({"check", "-"}, text).code() == 0);
  CHECK(run_cli({"check", "-", "--update"}, text).err ==
        "isoloop: --update: standard input cannot be updated\n  hint: name the manifest's file\n");
}

}  // namespace
