// SPDX-License-Identifier: Apache-2.0
//
// The arguments of one verb, declared where the values live; the library that parses them stays in
// arguments.cpp. Options are `--name VALUE` or `--name=VALUE`; a list option may be repeated. Law: a command
// line either fills the declared values or gives one line that says what is wrong with it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tilewright::cli {

class Arguments {
 public:
  Arguments(std::string name, std::string summary);
  ~Arguments();

  void positional(const std::string& name, std::string& value, const std::string& help);
  void optional_positional(const std::string& name, std::string& value, const std::string& help);
  // What is left of the words without a dash.
  void positionals(const std::string& name, std::vector<std::string>& values,
                   const std::string& help);
  // `names` as in "-o,--output"; `meta` stands for the value in help texts.
  void option(const std::string& names, std::string& value, const std::string& meta,
              const std::string& help);
  void choice(const std::string& names, std::string& value, const std::vector<std::string>& values,
              const std::string& help);
  // Commas separate values, and the option may be repeated.
  void list(const std::string& names, std::vector<std::string>& values, const std::string& meta,
            const std::string& help);
  // NAME=FILE: a comma separates two of them where the next NAME= follows it, so files may have commas in their names.
  void files(const std::string& names, std::vector<std::string>& values, const std::string& meta,
             const std::string& help);
  void number(const std::string& names, std::int64_t& value, std::int64_t lowest,
              const std::string& meta, const std::string& help);
  void flag(const std::string& names, bool& value, const std::string& help);

  enum class Outcome { Parsed, Help, Wrong };
  // Without the verb. `wrong` gets one line.
  Outcome parse(const std::vector<std::string>& words, std::string& wrong);
  std::string help() const;
  struct Described {
    std::string names;  // "-o,--output", or the name of a positional
    std::string meta;
    std::string help;
    bool required = false;
  };
  std::vector<Described> described() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// `NAME=VALUE` at the first `=`; none without one, or with an empty name.
std::optional<std::pair<std::string, std::string>> split_definition(const std::string& text);

}  // namespace tilewright::cli
