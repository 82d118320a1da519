// JSON text to a value, with line and column for everything that is wrong with the text.
//
// nlohmann's parser does the work through its event interface; this file builds the value itself
// because the library's own builder silently keeps the last of two fields with one name.
//
// Held by tests/base/json_reader_test.cpp.
#include <fmt/core.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "base/json_reader.h"

namespace isoloop::json {
namespace {

constexpr std::size_t max_nesting = 100;

// "file:line:column" of the byte before `end`, the last one the parser read.
std::string position(std::string_view file, std::string_view text, std::size_t end) {
  const std::size_t at = std::min(end == 0 ? 0 : end - 1, text.size());
  std::size_t line = 1, column = 1;
  for (std::size_t i = 0; i < at; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\n') {
      ++line;
      column = 1;
    } else if ((byte & 0xC0) != 0x80) {  // UTF-8 continuation bytes are no new character
      ++column;
    }
  }
  return fmt::format("{}:{}:{}", file, line, column);
}

// "unexpected '}' in object key; expected string literal", out of the library's
// "[json.exception.…] parse error at …: syntax error while parsing object key - unexpected '}';
// last read: '…'; expected string literal". What was last read may be half a token of any bytes;
// the position says it better.
std::string clean(std::string_view message) {
  constexpr std::string_view parsing = "while parsing ";
  if (const auto at = message.find(parsing); at != message.npos) {
    message.remove_prefix(at + parsing.size());
  }
  const auto dash = message.find(" - ");
  if (dash == message.npos) return std::string(message);
  const std::string_view place = message.substr(0, dash);
  std::string_view problem = message.substr(dash + 3), expected;
  if (const auto at = problem.rfind("; expected "); at != problem.npos) {
    expected = problem.substr(at);
    problem = problem.substr(0, at);
  }
  problem = problem.substr(0, problem.find("; last read: "));
  return fmt::format("{} in {}{}", problem, place, expected);
}

// Reads characters and tells the builder how many, which the events themselves do not.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, std::size_t* count) : at_(at), count_(count) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    ++*count_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) {
    return a.at_ == b.at_;
  }

 private:
  const char* at_;
  std::size_t* count_;
};

// Receives the parser's events and builds the value.
class Builder {
 public:
  Builder(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  std::size_t* count() { return &count_; }
  Value take() { return std::move(root_); }

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(std::int64_t value) { return put(value); }
  bool number_unsigned(std::uint64_t value) { return put(value); }
  bool number_float(double value, const std::string&) { return put(value); }
  bool string(std::string& value) { return put(std::move(value)); }
  bool binary(Value::binary_t&) { throw internal_error("JSON text has no binary values"); }
  bool start_object(std::size_t) { return open(Value::object()); }
  bool end_object() { return close(); }
  bool start_array(std::size_t) { return open(Value::array()); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    if (open_.back()->contains(name)) {
      throw input_error(fmt::format("field '{}' appears twice in one object", name),
                        position(file_, text_, count_), "keep one of the two");
    }
    key_ = name;
    return true;
  }

  bool parse_error(std::size_t byte, const std::string&, const nlohmann::detail::exception& error) {
    throw input_error(fmt::format("not valid JSON: {}", clean(error.what())),
                      position(file_, text_, byte));
  }
  bool parse_error(std::size_t byte, const std::string& token,
                   const nlohmann::detail::out_of_range&) {
    throw input_error(fmt::format("the number {} is too large", token),
                      position(file_, text_, byte));
  }

 private:
  Value* add(Value value) {
    if (open_.empty()) return &(root_ = std::move(value));
    if (open_.back()->is_array()) return &open_.back()->emplace_back(std::move(value));
    return &((*open_.back())[key_] = std::move(value));
  }
  bool put(Value value) {
    add(std::move(value));
    return true;
  }
  bool open(Value value) {
    if (open_.size() == max_nesting) {
      throw input_error(fmt::format("nested deeper than {} levels", max_nesting),
                        position(file_, text_, count_));
    }
    open_.push_back(add(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_, file_;
  std::size_t count_ = 0;
  Value root_;
  std::vector<Value*> open_;  // the objects and lists around the current place
  std::string key_;
};

}  // namespace

Value parse(std::string_view text, std::string_view file) {
  if (text.find_first_not_of(" \t\r\n") == text.npos) {
    throw input_error("is empty; expected a JSON document", std::string(file));
  }
  Builder builder(text, file);
  const char* const begin = text.data();
  Value::sax_parse(CountingIterator(begin, builder.count()),
                   CountingIterator(begin + text.size(), builder.count()), &builder);
  return builder.take();
}

}  // namespace isoloop::json
