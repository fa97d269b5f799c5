// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/arguments.h"

#include <CLI/CLI.hpp>
#include <charconv>

namespace tilewright::cli {

struct Arguments::Impl {
  CLI::App app;
};

namespace {

bool is_name_character(char c, bool first) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  return letter || (!first && ((c >= '0' && c <= '9') || c == '.'));
}

// `a=x,1.npy,b=y.npy` is two definitions.
std::vector<std::string> split_files(const std::string& text) {
  std::vector<std::string> out;
  std::size_t begin = 0;
  for (std::size_t comma = text.find(','); comma != std::string::npos;
       comma = text.find(',', comma + 1)) {
    std::size_t end = comma + 1;
    while (end < text.size() && is_name_character(text[end], end == comma + 1)) ++end;
    if (end == comma + 1 || end == text.size() || text[end] != '=') continue;
    out.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  out.push_back(text.substr(begin));
  return out;
}

}  // namespace

Arguments::Arguments(std::string name, std::string summary) : impl_(std::make_unique<Impl>()) {
  impl_->app.name(std::move(name));
  impl_->app.description(std::move(summary));
  impl_->app.set_help_flag("-h,--help", "print this and stop");
  impl_->app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::Throw);
}

Arguments::~Arguments() = default;

void Arguments::positional(const std::string& name, std::string& value, const std::string& help) {
  impl_->app.add_option(name, value, help)->required()->type_name("");
}

void Arguments::optional_positional(const std::string& name, std::string& value,
                                    const std::string& help) {
  impl_->app.add_option(name, value, help)->type_name("");
}

void Arguments::positionals(const std::string& name, std::vector<std::string>& values,
                            const std::string& help) {
  impl_->app.add_option(name, values, help)->type_name("");
}

void Arguments::option(const std::string& names, std::string& value, const std::string& meta,
                       const std::string& help) {
  impl_->app.add_option(names, value, help)->type_name(meta);
}

void Arguments::choice(const std::string& names, std::string& value,
                       const std::vector<std::string>& values, const std::string& help) {
  std::string meta;
  for (const std::string& one : values) meta += (meta.empty() ? "" : "|") + one;
  impl_->app.add_option(names, value, help)
      ->check([values, meta](const std::string& given) {
        for (const std::string& one : values)
          if (one == given) return std::string();
        return "`" + given + "` is not one of " + meta;
      })
      ->type_name(meta);
}

void Arguments::list(const std::string& names, std::vector<std::string>& values,
                     const std::string& meta, const std::string& help) {
  // One value per occurrence: what follows is a positional again.
  impl_->app.add_option(names, values, help)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name(meta + "...");
}

void Arguments::files(const std::string& names, std::vector<std::string>& values,
                      const std::string& meta, const std::string& help) {
  impl_->app
      .add_option_function<std::vector<std::string>>(
          names,
          [&values](const std::vector<std::string>& given) {
            for (const std::string& text : given)
              for (std::string& one : split_files(text)) values.push_back(std::move(one));
          },
          help)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name(meta + "...");
}

void Arguments::number(const std::string& names, std::int64_t& value, std::int64_t lowest,
                       const std::string& meta, const std::string& help) {
  impl_->app.add_option(names, value, help)
      ->check([lowest](const std::string& given) {
        std::int64_t number = 0;
        const char* end = given.data() + given.size();
        const auto [rest, error] = std::from_chars(given.data(), end, number);
        if (error == std::errc() && rest == end && number >= lowest) return std::string();
        return "`" + given + "` is not an integer of at least " + std::to_string(lowest);
      })
      ->type_name(meta);
}

void Arguments::flag(const std::string& names, bool& value, const std::string& help) {
  impl_->app.add_flag(names, value, help)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

Arguments::Outcome Arguments::parse(const std::vector<std::string>& words, std::string& wrong) {
  try {
    // The library takes the words from the back.
    impl_->app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    return Outcome::Parsed;
  } catch (const CLI::CallForHelp&) {
    return Outcome::Help;
  } catch (const CLI::ParseError& error) {
    wrong = error.what();
    for (char& c : wrong)
      if (c == '\n') c = ' ';
    return Outcome::Wrong;
  }
}

std::string Arguments::help() const { return impl_->app.help(); }

std::vector<Arguments::Described> Arguments::described() const {
  std::vector<Described> out;
  for (const CLI::Option* option : impl_->app.get_options())
    out.push_back({option->get_name(option->get_positional(), true), option->get_type_name(),
                   option->get_description(), option->get_required()});
  return out;
}

std::optional<std::pair<std::string, std::string>> split_definition(const std::string& text) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0) return std::nullopt;
  return std::pair(text.substr(0, at), text.substr(at + 1));
}

}  // namespace tilewright::cli
