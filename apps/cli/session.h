// SPDX-License-Identifier: Apache-2.0
//
// One run of the tool: where its texts go and how they look. The only place that knows of the terminal and the
// environment. Laws: results go to standard output, diagnostics and progress to standard error; with
// --diagnostics=json each report is one line of JSON; with --json standard output is one JSON document however the
// verb ends: where it has no result, what was reported.
#pragma once

#include <string>
#include <vector>

#include "apps/cli/arguments.h"
#include "frontend/base/json.h"
#include "frontend/base/result.h"

namespace tilewright::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitDiagnostics = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitUnknown = 3;  // neither shown nor refuted
inline constexpr int kExitInternal = 70;

class Session {
 public:
  Session();
  // The options that every verb takes.
  void declare(Arguments& arguments);
  // --json was given.
  void expect_json() { wants_json_ = true; }

  // `source` may be null: diagnostics without a place in a text.
  void report(const std::vector<Diagnostic>& diagnostics, const Source* source);
  void report(const Diagnostic& diagnostic) { report(std::vector{diagnostic}, nullptr); }
  // The value, or none after reporting.
  template <class T>
  std::optional<T> take(Result<T> result, const Source* source = nullptr) {
    if (result.ok()) return std::move(result).value();
    report(result.diagnostics(), source);
    return std::nullopt;
  }
  // The same for what may fail for reasons outside of the text: the text is named where it has the place.
  template <class T>
  std::optional<T> take_placed(Result<T> result, const Source* source) {
    if (result.ok()) return std::move(result).value();
    for (const Diagnostic& diagnostic : result.diagnostics())
      report({diagnostic}, diagnostic.span.none() ? nullptr : source);
    return std::nullopt;
  }
  // A mistake in the command line; returns kExitUsage.
  int usage(const std::string& message);

  // Standard output; a failure to write is seen at finish().
  void print(std::string_view text);
  // What comes beside the result: with --json on standard error.
  void print_aside(std::string_view text);
  void print_json(const Json& value) { print(value.dump() + "\n"); }
  // Standard error, only when a person watches.
  void progress(std::string_view text) const;
  void note(std::string_view text) const;  // standard error, always
  // Flushes standard output; kExitDiagnostics instead of kExitOk when that fails.
  int finish(int status);

 private:
  bool colour() const;

  std::string diagnostics_ = "text";
  std::string color_ = "auto";
  bool wants_json_ = false;
  bool printed_ = false;
  std::string usage_;
  Json reported_ = Json::array();
};

// A regular file, or standard input for "-".
Result<Source> read_source(const std::string& path);

struct OutputFile {
  std::string name;
  std::string_view bytes;
};
// Writes all files into the folder, which is made when it is not there: first all of them under temporary
// names, then the renames. On a failure no temporary file stays and no file is half written.
Result<Ok> write_files(const std::string& folder, const std::vector<OutputFile>& files);
// The same for names that are paths; a failure has this code.
Result<Ok> write_paths(const std::vector<OutputFile>& files, Code code);
// E0902 when a file to write is one of those read, under whatever name.
Result<Ok> check_not_read(const std::string& path, const std::vector<std::string>& read);
// SIGINT, SIGTERM, SIGHUP and SIGPIPE remove the temporary files before they end the tool.
void remove_temporaries_on_signals();
// Standard streams that the caller closed fail when they are used; no file that is opened later takes their place.
void hold_standard_streams();

}  // namespace tilewright::cli
