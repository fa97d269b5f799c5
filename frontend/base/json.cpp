// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/json.h"

#include <nlohmann/json.hpp>
#include <unordered_set>

#include "frontend/base/format.h"

namespace tilewright {

namespace {

constexpr std::size_t kMaxJsonNesting = 2000;
constexpr std::size_t kMaxJsonBytes = std::size_t{64} << 20;

// Builds a Json from the events of the library's parser; stops at the first thing it refuses.
class Builder {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  bool null() { return add(Json()); }
  bool boolean(bool value) { return add(Json(value)); }
  bool number_integer(number_integer_t value) { return add(Json(std::int64_t{value})); }
  bool number_unsigned(number_unsigned_t value) {
    if (value > static_cast<number_unsigned_t>(INT64_MAX))
      return refuse("an integer does not fit 64 bits");
    return add(Json(static_cast<std::int64_t>(value)));
  }
  bool number_float(number_float_t value, const string_t&) { return add(Json(value)); }
  bool string(string_t& value) { return add(Json(std::move(value))); }
  bool binary(binary_t&) { return refuse("binary data is no JSON"); }
  bool start_object(std::size_t) { return enter(true); }
  bool key(string_t& name) {
    Frame& frame = open_.back();
    if (!frame.names.insert(name).second)
      return refuse("the member " + in_backticks(name) + " occurs twice");
    frame.members.emplace_back().first = std::move(name);
    return true;
  }
  bool end_object() { return leave(); }
  bool start_array(std::size_t) { return enter(false); }
  bool end_array() { return leave(); }
  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception&) {
    position_ = position;
    message_ =
        token.empty() ? "the text is not JSON" : "the text is not JSON near " + in_backticks(token);
    return false;
  }

  std::size_t position() const { return position_; }
  const std::string& message() const { return message_; }
  Json take() { return std::move(root_); }

 private:
  bool refuse(std::string message) {
    message_ = std::move(message);
    return false;
  }
  // An array or object whose end has not come. The names find repetitions in constant time.
  struct Frame {
    bool is_object;
    Json::Array elements;
    Json::Object members;
    std::unordered_set<std::string> names;
  };
  bool enter(bool is_object) {
    if (open_.size() >= kMaxJsonNesting) return refuse("values nest deeper than 2000 levels");
    open_.push_back({is_object, {}, {}, {}});
    return true;
  }
  bool leave() {
    Frame done = std::move(open_.back());
    open_.pop_back();
    return add(done.is_object ? Json(std::move(done.members)) : Json(std::move(done.elements)));
  }
  bool add(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back().is_object) {
      open_.back().members.back().second = std::move(value);
    } else {
      open_.back().elements.push_back(std::move(value));
    }
    return true;
  }

  Json root_;
  std::vector<Frame> open_;
  std::string message_;
  std::size_t position_ = 0;
};

// Bytes of the UTF-8 sequence at the start of text; 0 when it is not one.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80                    ? 1
                             : first >= 0xc2 && first < 0xe0 ? 2
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  // Overlong forms, surrogates and values above U+10FFFF.
  if (length == 3 && first == 0xe0 && byte(1) < 0xa0) return 0;
  if (length == 3 && first == 0xed && byte(1) >= 0xa0) return 0;
  if (length == 4 && first == 0xf0 && byte(1) < 0x90) return 0;
  if (length == 4 && first == 0xf4 && byte(1) >= 0x90) return 0;
  return length;
}

void dump_string(std::string& out, std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  out += '"';
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const char c = text[0];
    if (length == 0) {
      out += "\xef\xbf\xbd";
    } else if (c == '"' || c == '\\') {
      (out += '\\') += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (length == 1 && static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += kDigits[c >> 4];
      out += kDigits[c & 15];
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

// Keeps a double a double when read back.
std::string dump_double(double value) {
  std::string text = format_double(value);
  if (text.find_first_of("ni") != std::string::npos) return "null";
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

class Dumper {
 public:
  explicit Dumper(int indent) : indent_(indent) {}

  void dump(const Json& json, int level) {
    if (json.is_null()) out_ += "null";
    if (const bool* value = json.as_bool()) out_ += *value ? "true" : "false";
    if (const auto* value = json.as_integer()) out_ += std::to_string(*value);
    if (const auto* value = json.as_double()) out_ += dump_double(*value);
    if (const auto* value = json.as_string()) dump_string(out_, *value);
    if (const auto* elements = json.as_array()) {
      list(*elements, '[', ']', level, [&](const Json& e) { dump(e, level + 1); });
    }
    if (const auto* members = json.as_object()) {
      list(*members, '{', '}', level, [&](const Json::Member& member) {
        dump_string(out_, member.first);
        out_ += indent_ < 0 ? ":" : ": ";
        dump(member.second, level + 1);
      });
    }
  }
  std::string take() { return std::move(out_); }

 private:
  template <class List, class F>
  void list(const List& elements, char begin, char end, int level, F&& f) {
    out_ += begin;
    bool first = true;
    for (const auto& element : elements) {
      if (!first) out_ += ',';
      first = false;
      break_line(level + 1);
      f(element);
    }
    if (!first) break_line(level);
    out_ += end;
  }
  void break_line(int level) {
    if (indent_ < 0) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(indent_ * level), ' ');
  }

  int indent_;
  std::string out_;
};

}  // namespace

Json Json::object() {
  Json json;
  json.value_ = Object{};
  return json;
}

const Json* Json::find(std::string_view name) const {
  if (const Object* members = as_object())
    for (const Member& member : *members)
      if (member.first == name) return &member.second;
  return nullptr;
}

void Json::push(Json value) { std::get<Array>(value_).push_back(std::move(value)); }

void Json::set(std::string_view name, Json value) {
  Object& members = std::get<Object>(value_);
  for (Member& member : members)
    if (member.first == name) {
      member.second = std::move(value);
      return;
    }
  members.emplace_back(std::string(name), std::move(value));
}

std::string Json::dump(int indent) const {
  Dumper dumper(indent);
  dumper.dump(*this, 0);
  return dumper.take();
}

Result<Json> parse_json(const Source& source) {
  if (source.text().size() > kMaxJsonBytes)
    return fail(Code::SourceTooLarge, {}, "the text is longer than 64 MiB",
                "split it into several files");
  Builder builder;
  bool good = false;
  // The library throws on a few malformed inputs even with the event interface.
  try {
    good = nlohmann::json::sax_parse(source.text().begin(), source.text().end(), &builder);
  } catch (const std::exception&) {
    good = false;
  }
  if (good) return builder.take();
  const auto size = static_cast<std::uint32_t>(source.text().size());
  const std::uint32_t end = std::min(static_cast<std::uint32_t>(builder.position()), size);
  const std::string message =
      builder.message().empty() ? "the text is not JSON" : builder.message();
  return fail(Code::BadJson, {end > 0 ? end - 1 : 0, end}, message,
              "check the text with a JSON tool");
}

}  // namespace tilewright
