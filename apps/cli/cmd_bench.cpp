// SPDX-License-Identifier: Apache-2.0
//
// `tilewright bench FILE.tw -D M=1024 ...`: the time of one call, in this process. Comparisons with other
// programs are the business of `./dev bench`, which keeps them apart and interleaves them.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "apps/cli/machines.h"
#include "apps/cli/tensors.h"
#include "apps/cli/verb.h"
#include "tilewright/runtime.h"

namespace tilewright::cli {

namespace {

double now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

class Bench final : public Verb {
 public:
  void declare(Arguments& arguments) override {
    stages_.declare_inputs(arguments);
    arguments.option("-t,--target", target_, "NAME", "x86-64-v4, x86-64-v3 or native");
    arguments.number("--threads", threads_, 0, "N", "threads of parallel loops, 0 for all");
    arguments.number("--calls", calls_, 1, "N", "calls that are timed, at least");
    arguments.number("--milliseconds", milliseconds_, 1, "MS", "time that is spent, at least");
    arguments.flag("--json", json_, "print a report as JSON");
  }

  int run(Session& session) override {
    if (threads_ > TILEWRIGHT_MAX_THREADS) return session.usage("bench: --threads: at most 1024");
    Work work(session, stages_);
    if (const int status = work.check_usage(); status != kExitOk) return status;
    if (!work.load_algorithm() || !work.load_schedule("")) return kExitDiagnostics;
    const auto given = gather_tensors(session, work, {}, 1);
    if (!given || !work.lower()) return kExitDiagnostics;
    const auto target = target_to_run(session, target_, work.schedule().machine, stages_.schedule);
    if (!target) return kExitDiagnostics;
    auto kernel = session.take_placed(Kernel::make(work, *target), work.algorithm_source());
    if (!kernel) return kExitDiagnostics;
    Arrays arrays = make_arrays(work.program(), given->sizes, given->inputs);
    if (!session.take((*kernel)->bind(arrays, static_cast<int>(threads_)))) return kExitDiagnostics;
    std::vector<double> seconds;
    if (!time_calls(session, **kernel, &seconds)) return kExitDiagnostics;
    report(session, work, given->sizes, seconds);
    return kExitOk;
  }

 private:
  bool time_calls(Session& session, Kernel& kernel, std::vector<double>* seconds) {
    if (!session.take(kernel.call())) return false;  // pages, caches and the pool's threads
    const double end = now() + static_cast<double>(milliseconds_) * 1e-3;
    while (static_cast<std::int64_t>(seconds->size()) < calls_ || now() < end) {
      const double begin = now();
      if (!session.take(kernel.call())) return false;
      seconds->push_back(now() - begin);
    }
    std::sort(seconds->begin(), seconds->end());
    return true;
  }

  void report(Session& session, const Work& work, const ir::Bindings& sizes,
              const std::vector<double>& seconds) const {
    auto quantile = [&](double q) {
      return seconds[static_cast<std::size_t>(q * static_cast<double>(seconds.size() - 1))];
    };
    const std::string at = check::sizes_text(work.algorithm().extents, sizes);
    if (json_) {
      Json out = Json::object();
      out.set("version", 1);
      out.set("name", work.algorithm().name.text());
      out.set("sizes", at);
      out.set("calls", static_cast<std::int64_t>(seconds.size()));
      out.set("median_seconds", quantile(0.5));
      out.set("fastest_seconds", seconds.front());
      out.set("tenth_seconds", quantile(0.1));
      out.set("ninetieth_seconds", quantile(0.9));
      session.print_json(out);
      return;
    }
    char text[160];
    std::snprintf(text, sizeof(text), "median %.6g ms, 10 %% %.6g ms, 90 %% %.6g ms, %zu calls\n",
                  quantile(0.5) * 1e3, quantile(0.1) * 1e3, quantile(0.9) * 1e3, seconds.size());
    session.print(std::string(work.algorithm().name.text()) + " " + at + ": " + text);
  }

  StageOptions stages_;
  std::string target_;
  std::int64_t threads_ = 0;
  std::int64_t calls_ = 15;
  std::int64_t milliseconds_ = 500;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_bench() { return std::make_unique<Bench>(); }

}  // namespace tilewright::cli
