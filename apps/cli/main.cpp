// SPDX-License-Identifier: Apache-2.0
//
// tilewright VERB ...: finds the verb, fills its arguments, runs it. Exit status: 0 done, 1 diagnostics were
// reported, 2 usage, 3 not decided, 70 a defect. Whatever escapes is caught here and says how to report it.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

#include "apps/cli/verb.h"

namespace tilewright::cli {

namespace {

// The verb whose name is closest, for a remedy; empty when none is close.
std::string closest_verb(std::string_view word) {
  std::string best;
  std::size_t best_distance = 3;
  for (const VerbInfo& info : all_verbs()) {
    const std::string_view name = info.name;
    std::vector<std::size_t> row(name.size() + 1);
    for (std::size_t j = 0; j <= name.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= name.size(); ++j) {
        const std::size_t change = diagonal + (word[i - 1] == name[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
      }
    }
    if (row[name.size()] < best_distance) {
      best_distance = row[name.size()];
      best = name;
    }
  }
  return best;
}

int run_verb(const VerbInfo& info, const std::vector<std::string>& words) {
  Session session;
  Arguments arguments("tilewright " + std::string(info.name), std::string(info.summary));
  const auto end = std::find(words.begin(), words.end(), "--");
  if (std::find(words.begin(), end, "--json") != end) session.expect_json();
  const std::unique_ptr<Verb> verb = info.make();
  verb->declare(arguments);
  session.declare(arguments);
  std::string wrong;
  switch (arguments.parse(words, wrong)) {
    case Arguments::Outcome::Help: session.print(arguments.help()); return session.finish(kExitOk);
    case Arguments::Outcome::Wrong:
      return session.finish(session.usage(std::string(info.name) + ": " + wrong +
                                          "; see `tilewright help " + std::string(info.name) +
                                          "`"));
    case Arguments::Outcome::Parsed: break;
  }
  return session.finish(verb->run(session));
}

int run_tool(const std::vector<std::string>& words) {
  Session session;
  if (words.empty()) {
    std::fputs(usage(nullptr).c_str(), stderr);
    return kExitUsage;
  }
  std::string name = words.front();
  std::vector<std::string> rest(words.begin() + 1, words.end());
  if (name == "--help" || name == "-h") name = "help";
  if (name == "--version") name = "version";
  if (const VerbInfo* info = find_verb(name)) return run_verb(*info, rest);
  if (name.ends_with(".tw")) return run_verb(*find_verb("compile"), words);
  const std::string close = closest_verb(name);
  return session.usage("`" + name + "` is no verb; " +
                       (close.empty() ? "see `tilewright help`" : "did you mean `" + close + "`?"));
}

int report_defect(const char* what) {
  std::fprintf(
      stderr,
      "tilewright: internal error: %s\n"
      "This is a defect of tilewright. Please report it with the command, its input files and the\n"
      "output of `tilewright version`.\n",
      what);
  return kExitInternal;
}

}  // namespace

int main_of(int argc, char** argv) {
  // A file that grows beyond what the user may write is seen as an error of write, not as a signal.
  std::signal(SIGXFSZ, SIG_IGN);
  hold_standard_streams();
  remove_temporaries_on_signals();
  try {
    return run_tool(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
  } catch (const std::bad_alloc&) {
    return report_defect("out of memory");
  } catch (const std::exception& error) {
    return report_defect(error.what());
  } catch (...) {
    return report_defect("an exception of unknown type");
  }
}

}  // namespace tilewright::cli

int main(int argc, char** argv) { return tilewright::cli::main_of(argc, argv); }
