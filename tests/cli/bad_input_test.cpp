// Files that are wrong: every kind of mistake with its full message (where, what, what instead),
// exit code 2, nothing printed and nothing written.
//
// What each reader refuses in detail is held by tests/arch and tests/formats; here it is what a
// person sees.
#include <doctest/doctest.h>

#include "support/run_cli.h"
#include "support/temp_folder.h"

namespace {

using isoloop::test::run_cli;
using isoloop::test::small_model;
using isoloop::test::TempFolder;
using isoloop::test::with;

struct Bad {
  std::string text;
  const char* message;
};

/// Every command that reads an architecture says the same.
void refuse(const Bad& bad) {
  CAPTURE(bad.message);
  const TempFolder folder;
  const std::string file = folder.write("m.json", bad.text);
  const auto before = folder.listing();
  for (const char* command : {"count", "explain", "import", "match"}) {
    CAPTURE(command);
    const auto ran = run_cli({command, file, "--output", folder / "out"});
    CHECK(ran.code() == 2);
    CHECK(ran.out == "");
    CHECK(folder.relative(ran.err) == std::string("isoloop: ") + bad.message + "\n");
    CHECK(folder.listing() == before);
  }
}

TEST_CASE("text that is not JSON") {
  for (const Bad& bad : std::initializer_list<Bad>{
           {"", "m.json: is empty; expected a JSON document"},
           {" \n\t ", "m.json: is empty; expected a JSON document"},
           {"{\n  \"schema\": \"isoloop/arch/v1\",\n  \"hidden_size\": 12x\n}",
            "m.json:3:20: not valid JSON: invalid literal in object; expected '}'"},
           {"{\r\n  \"schema\": 1,\r\n}",
            "m.json:3:1: not valid JSON: unexpected '}' in object key; expected string literal"},
           {small_model() + "{}", "m.json:16:1: not valid JSON: unexpected '{' in value; expected end of input"},
           {"{\"a\": \"\xff\"}", "m.json:1:8: not valid JSON: invalid string: ill-formed UTF-8 byte in value"},
           {std::string("{\"a\": \0}", 8), "m.json:1:7: not valid JSON: unexpected end of input in value; expected '[', '{', or a literal"},
           {"\x7f" "ELF\x02\x01", "m.json:1:1: not valid JSON: invalid literal in value"},
           {std::string(100'000, '['), "m.json:1:101: nested deeper than 100 levels"},
           {with(small_model(), "64,", "1e400,"), "m.json:4:22: the number 1e400 is too large"},
           {"{\"a\": 1, \"a\": 2}", "m.json:1:12: field 'a' appears twice in one object\n  hint: keep one of the two"},
       })
    refuse(bad);
}

TEST_CASE("JSON that is no model") {
  const char* no_model =
      "m.json: not a model configuration\n  hint: understood are isoloop architectures (\"schema\": "
      "\"isoloop/arch/v1\"), Hugging Face config.json files (with \"model_type\") and Megatron-LM "
      "arguments (with --num-layers)";
  for (const char* text : {"[1, 2]", "3", "null", "\"x\"", "{}", "{\"model_type\": 5}"}) refuse({text, no_model});
  for (const Bad& bad : std::initializer_list<Bad>{
           {with(small_model(), "arch/v1", "arch/v2"),
            "m.json: schema: is \"isoloop/arch/v2\"; expected \"isoloop/arch/v1\"\n"
            "  hint: other formats are read by `isoloop import`"},
           {"{\"model_type\": \"lama\"}",
            "m.json: model_type: unknown model_type 'lama'\n  hint: did you mean 'llama'?"},
           {"{\"model_type\": \"mamba\"}",
            "m.json: model_type: mamba cannot be read: it has Mamba layers\n"
            "  hint: decoders of attention and feed-forward layers can be read"},
           {"{\"model_type\": \"llama\", \"hidden_size\": 64}",
            "m.json: key 'vocab_size' is missing or null\n  hint: no dimension is ever assumed"},
       })
    refuse(bad);
}

TEST_CASE("dimensions of the wrong type or size") {
  const auto hidden = [](const char* value) { return with(small_model(), "\"hidden_size\": 64", std::string("\"hidden_size\": ") + value); };
  for (const Bad& bad : std::initializer_list<Bad>{
           {hidden("\"64\""), "m.json: hidden_size: is \"64\"; expected a whole number\n  hint: write 64 without quotes"},
           {hidden("64.0"), "m.json: hidden_size: is 64.0; expected a whole number\n  hint: write 64"},
           {hidden("64.5"), "m.json: hidden_size: is 64.5; expected a whole number"},
           {hidden("null"), "m.json: hidden_size: is null; expected a whole number"},
           {hidden("true"), "m.json: hidden_size: is true; expected a whole number"},
           {hidden("[64]"), "m.json: hidden_size: is a list; expected a whole number"},
           {hidden("-64"), "m.json: hidden_size: is -64; expected a whole number of at least 1"},
           {hidden("0"), "m.json: hidden_size: is 0; expected a whole number of at least 1"},
           {hidden("1099511627777"),
            "m.json: hidden_size: is 1099511627777; expected a whole number of at most 1099511627776"},
           {hidden("99999999999999999999"),
            "m.json: hidden_size: is 1e+20; expected a whole number of at most 1099511627776"},
           {with(small_model(), "\"layers\": 4", "\"layers\": 100001"),
            "m.json: segments[0].layers: is 100001; expected a whole number of at most 100000"},
       })
    refuse(bad);
}

TEST_CASE("fields that contradict each other") {
  for (const Bad& bad : std::initializer_list<Bad>{
           {with(small_model(), "\"hidden_size\"", "\"hiden_size\""),
            "m.json: unknown field 'hiden_size'\n  hint: did you mean 'hidden_size'?"},
           {with(small_model(), "\"heads\"", "\"heds\""),
            "m.json: segments[0].attention: unknown field 'heds'\n  hint: did you mean 'heads'?"},
           {with(small_model(), "\"kv_heads\": 2", "\"kv_heads\": 3"),
            "m.json: segments[0].attention.kv_heads: is 3, which does not divide the 4 heads\n"
            "  hint: kv_heads can be 1, 2, 4"},
           {with(small_model(), "\"top_k\": 2", "\"top_k\": 9"),
            "m.json: segments[0].ffn.top_k: is 9, more than the 8 experts\n  hint: top_k can be 1 to 8"},
           {with(small_model(), "\"layers\": 4", "\"layers\": 4, \"visits\": 0"),
            "m.json: segments[0].visits: is 0; expected at least 1 visit\n"
            "  hint: 1 means no loop; to leave the layers out, remove them"},
           {with(small_model(), "\"segments\"", "\"loop\": \"1+9x2+1\", \"segments\""),
            "m.json: loop: cannot use the loop '1+9x2+1': 1 + 9 + 1 are 11 layers, but the model has 4\n"
            "  hint: for example all x2"},
           {"{\"model_type\": \"llama\", \"hidden_size\": 100, \"num_hidden_layers\": 2, \"num_attention_heads\": 3, "
            "\"intermediate_size\": 64, \"vocab_size\": 10}",
            "m.json: num_attention_heads: 3 heads do not divide the hidden size 100\n"
            "  hint: state the head size as head_dim"},
       })
    refuse(bad);
}

TEST_CASE("counts that do not fit 128 bits name the model") {
  const TempFolder folder;
  const std::string huge = "1099511627776";
  const std::string text = with(with(with(small_model(), "\"hidden_size\": 64", "\"hidden_size\": " + huge),
                                     "\"experts\": 8", "\"experts\": " + huge),
                                "\"expert_size\": 32", "\"expert_size\": " + huge);
  const std::string file = folder.write("m.json", text);
  for (const char* command : {"count", "explain"}) {
    CAPTURE(command);
    const auto ran = run_cli({command, file});
    CHECK(ran.code() == 2);
    CHECK(folder.relative(ran.err) ==
          "isoloop: m.json: count overflows 128 bits in multiplication\n  hint: a dimension is far too large\n");
  }
}

TEST_CASE("files that cannot be read") {
  const TempFolder folder;
  std::filesystem::create_directory(folder / "d.json");
  std::filesystem::create_symlink("nowhere", folder / "dangling");
  const std::string hint =
      "\n  hint: name a file that exists and is readable; isoloop list models shows the built-in models\n";
  const auto message = [&](const std::string& file) {
    const auto ran = run_cli({"count", folder / file});
    CHECK(ran.code() == 2);
    return folder.relative(ran.err);
  };
  CHECK(message("missing.json") == "isoloop: missing.json: cannot be read: No such file or directory" + hint);
  CHECK(message("dangling") == "isoloop: dangling: cannot be read: No such file or directory" + hint);
  CHECK(message("d.json") == "isoloop: d.json: is a folder without architecture.json and config.json\n"
                             "  hint: name a file\n");
  folder.write("plain", "x");
  CHECK(message("plain/x.json") == "isoloop: plain/x.json: cannot be read: Not a directory" + hint);
}

TEST_CASE("standard input is named, and endless input is refused") {
  const auto ran = run_cli({"count", "-"}, "{");
  CHECK(ran.code() == 2);
  CHECK(ran.err == "isoloop: standard input:1:2: not valid JSON: unexpected end of input in object key; "
                   "expected string literal\n");
  CHECK(run_cli({"count", "-"}, std::string((64 << 20) + 1, ' ')).err ==
        "isoloop: standard input: is larger than 64 MiB\n  hint: a configuration has a few kilobytes\n");
  CHECK(run_cli({"count", "-", "-"}, small_model()).err ==
        "isoloop: standard input: is empty; expected a JSON document\n");
}

TEST_CASE("names do not reach the terminal as commands") {
  CHECK(run_cli({"count", "\x1b[31mred\n\xff\xc2\x9b"}).err ==
        "isoloop: unknown model or file '\\x1b[31mred\\x0a\\xff\\xc2\\x9b'\n"
        "  hint: isoloop list models shows the built-in ones\n");
  const TempFolder folder;
  const std::string file = folder.write("m.json", with(small_model(), "\"small\"", "\"\\u001b[31m<b>|x,\\\"y\\u0000\\n\""));
  const std::string text = run_cli({"count", file}).out;
  CHECK(text.find('\x1b') == text.npos);
  CHECK(text.starts_with(" [31m<b>|x,\"y\n"));
}

TEST_CASE("windows line ends and a byte order mark are no mistake") {
  const TempFolder folder;
  std::string crlf;
  for (const char c : small_model()) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  CHECK(run_cli({"count", folder.write("b/m.json", crlf)}).code() == 0);
  CHECK(run_cli({"count", folder.write("c/m.json", "\xef\xbb\xbf" + small_model())}).code() == 0);
}

}  // namespace
