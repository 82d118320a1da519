// Where answers go: whole files and folders or nothing, nothing replaced without --force, and
// nothing of anybody else's replaced at all. Listings before and after show that no trace is left.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include "support/run_cli.h"
#include "support/temp_folder.h"

namespace {

using isoloop::test::run_cli;
using isoloop::test::TempFolder;

const std::string model = "smelt-200m-e192";
const std::string cannot = ": cannot be written\n  hint: name a folder that exists and is writable\n";

void refuse(const TempFolder& folder, const std::vector<std::string>& args, const std::string& message) {
  CAPTURE(message);
  const auto before = folder.listing();
  const auto ran = run_cli(args);
  CHECK(ran.code() == 2);
  CHECK(ran.out == "");
  CHECK(folder.relative(ran.err) == "isoloop: " + message);
  CHECK(folder.listing() == before);
}

TEST_CASE("--output writes what would have been printed") {
  const TempFolder folder;
  const auto printed = run_cli({"count", model});
  const auto ran = run_cli({"count", model, "--output", folder / "a.txt"});
  CHECK(ran.code() == 0);
  CHECK(ran.out == "");
  CHECK(ran.err == "");
  CHECK(folder.listing() == std::vector<std::string>{"a.txt: " + printed.out});
}

TEST_CASE("an existing file is replaced only with --force") {
  const TempFolder folder;
  const std::string file = folder.write("a.txt", "mine");
  refuse(folder, {"count", model, "--output", file}, "a.txt: exists already\n  hint: add --force to replace it\n");
  CHECK(run_cli({"count", model, "--output", file, "--force"}).code() == 0);
  CHECK(folder.read("a.txt") == run_cli({"count", model}).out);
}

TEST_CASE("paths that no file can have") {
  const TempFolder folder;
  folder.write("plain", "x");
  std::filesystem::create_directory(folder / "sub");
  std::filesystem::create_symlink("nowhere", folder / "dangling");
  const auto to = [&](const std::string& path) {
    return std::vector<std::string>{"count", model, "--force", "--output", path};
  };
  refuse(folder, to(folder / "sub"), "sub: is a folder\n  hint: name a file\n");
  refuse(folder, to(folder / "new/"), "new/: is a folder\n  hint: name a file\n");
  refuse(folder, to(folder / "no/such"), "no/such" + cannot);
  refuse(folder, to(folder / "plain/below"), "plain/below" + cannot);
  refuse(folder, to(folder / std::string(300, 'a')), std::string(300, 'a') + cannot);
  refuse(folder, to(folder / "dangling"), "dangling: is a link to nothing\n  hint: remove the link\n");
  refuse(folder, to("/proc/isoloop-test"), "/proc/isoloop-test" + cannot);
}

TEST_CASE("a link is followed, not replaced") {
  const TempFolder folder;
  folder.write("real.txt", "old");
  std::filesystem::create_symlink("real.txt", folder / "link");
  CHECK(run_cli({"count", model, "--force", "--output", folder / "link"}).code() == 0);
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(folder.read("real.txt") == run_cli({"count", model}).out);
}

TEST_CASE("what is not a regular file is never replaced") {
  const TempFolder folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  refuse(folder, {"count", model, "--force", "--output", pipe}, "pipe: is not a regular file\n  hint: name another file\n");
}

TEST_CASE("a folder appears whole, and is replaced only if isoloop wrote it") {
  const TempFolder folder;
  const std::vector<std::string> match = {"match", model, "-o", folder / "out"};
  CHECK(run_cli(match).code() == 0);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "out")) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"answer-1.json", "baseline.json", "pairs.json"});
  refuse(folder, match, "out: exists already\n  hint: add --force to replace it\n");

  const auto first = folder.listing();
  folder.write("out/answer-7.json", "stale");
  CHECK(run_cli({"match", model, "-o", folder / "out/", "--force"}).code() == 0);
  CHECK(folder.listing() == first);

  folder.write("out/thesis.tex", "years of work");
  refuse(folder, {"match", model, "-o", folder / "out", "--force"},
         "out: holds files that isoloop did not write\n  hint: name another folder\n");
}

TEST_CASE("paths that no folder can have") {
  const TempFolder folder;
  folder.write("plain", "x");
  const auto to = [&](const std::string& path) {
    return std::vector<std::string>{"match", model, "--force", "-o", path};
  };
  refuse(folder, to(folder / "plain"), "plain: is a file\n  hint: name a folder\n");
  refuse(folder, to(folder / "no/such"),
         "no/such: cannot be written: No such file or directory\n  hint: name a folder that exists and is writable\n");
  refuse(folder, to(folder / "plain/below"),
         "plain/below: cannot be written: Not a directory\n  hint: name a folder that exists and is writable\n");
}

TEST_CASE("nothing is written if one of two answers cannot be") {
  const TempFolder folder;
  folder.write("mine", "x");
  refuse(folder, {"match", model, "-o", folder / "out", "--output", folder / "mine"},
         "mine: exists already\n  hint: add --force to replace it\n");
  refuse(folder, {"match", model, "-o", folder / "out", "--output", folder / "no/such"}, "no/such" + cannot);
  refuse(folder, {"match", model, "-o", folder / "out", "--output", folder / "out"},
         "--output: is also the folder to write\n  hint: give the file another name\n");
  refuse(folder, {"match", model, "-o", folder / "plain/x", "--output", folder / "fine"},
         "plain/x: cannot be written: No such file or directory\n  hint: name a folder that exists and is writable\n");
}

TEST_CASE("an infeasible match writes no folder") {
  const TempFolder folder;
  const auto ran = run_cli({"match", model, "--fix", "hidden=1279", "-o", folder / "out"});
  CHECK(ran.code() == 1);
  CHECK(folder.listing().empty());
}

TEST_CASE("a full or closed standard output is an error") {
  std::istringstream in;
  std::ostringstream out, err;
  out.setstate(std::ios::badbit);
  CHECK(isoloop::cli::run({"count", model}, {in, out, err}) == isoloop::cli::ExitCode::usage);
  CHECK(err.str() == "isoloop: standard output: cannot be written\n  hint: the disk may be full, or the reader gone\n");
}

}  // namespace
