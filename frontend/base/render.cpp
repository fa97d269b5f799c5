// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/render.h"

#include <algorithm>
#include <tuple>

#include "frontend/base/format.h"

namespace tilewright {

namespace {

constexpr std::string_view kSeverities[] = {"error", "warning", "note"};
constexpr std::size_t kTab = 4;
// Longer lines are shown as a window around the caret.
constexpr std::size_t kMaxColumns = 160;

std::string_view severity_text(Severity severity) {
  return kSeverities[static_cast<int>(severity)];
}

// By place, then code, then order of report.
std::vector<const Diagnostic*> ordered(const std::vector<Diagnostic>& diagnostics,
                                       bool keep_order) {
  std::vector<const Diagnostic*> out;
  for (const Diagnostic& d : diagnostics) out.push_back(&d);
  if (!keep_order)
    std::sort(out.begin(), out.end(), [](const Diagnostic* a, const Diagnostic* b) {
      return std::tuple(a->span.begin, a->span.end, code_text(a->code), a) <
             std::tuple(b->span.begin, b->span.end, code_text(b->code), b);
    });
  return out;
}

class Renderer {
 public:
  Renderer(const Source* source, bool colour) : source_(source), colour_(colour) {}

  void diagnostic(const Diagnostic& d) {
    const Severity severity = code_severity(d.code);
    const std::string_view shade = severity == Severity::Error     ? "1;31"
                                   : severity == Severity::Warning ? "1;35"
                                                                   : "1;36";
    place(d.span);
    paint(shade, std::string(severity_text(severity)) + ":");
    out_ += " ";
    paint("1", printable(d.message));
    out_ += " [" + std::string(code_text(d.code)) + "]\n";
    excerpt(d.span, shade);
    for (const Label& label : d.labels) {
      place(label.span);
      paint("1;36", "note:");
      out_.append(" ").append(printable(label.text)).append("\n");
      excerpt(label.span, "1;36");
    }
    for (const auto& [name, value] : d.evidence) {
      out_ += "  ";
      paint("1;36", "note:");
      out_.append(" ").append(printable(name)).append(" = ").append(printable(value)).append("\n");
    }
    if (!d.remedy.empty()) {
      out_ += "  ";
      paint("1;32", "help:");
      out_.append(" ").append(printable(d.remedy)).append("\n");
    }
  }

  std::string take() { return std::move(out_); }

 private:
  void paint(std::string_view shade, std::string_view text) {
    if (colour_) ((out_ += "\x1b[") += shade) += "m";
    out_ += text;
    if (colour_) out_ += "\x1b[0m";
  }

  void place(Span span) {
    if (!source_) return;
    std::string text = printable(source_->name());
    if (!span.none()) {
      const LineColumn at = source_->line_column(span.begin);
      text.append(":")
          .append(std::to_string(at.line))
          .append(":")
          .append(std::to_string(at.column));
    }
    paint("1", text + ":");
    out_ += " ";
  }

  // The line of the span with carets under it. Every byte takes as many columns as it is shown in.
  void excerpt(Span span, std::string_view shade) {
    if (!source_ || span.none()) return;
    const LineColumn begin = source_->line_column(span.begin);
    const std::string_view line = source_->line(begin.line);
    const std::size_t first = std::min<std::size_t>(begin.column - 1, line.size());
    const std::size_t length = std::max<std::size_t>(span.end - span.begin, 1);
    const std::size_t last = std::max(std::min(first + length, line.size()), first);
    std::string shown;
    std::size_t caret_begin = 0;
    std::size_t caret_end = 0;
    const std::size_t window = first > kMaxColumns / 2 ? first - kMaxColumns / 2 : 0;
    for (std::size_t i = window; i < line.size() && shown.size() < kMaxColumns; ++i) {
      if (i == first) caret_begin = shown.size();
      shown += line[i] == '\t' ? std::string(kTab, ' ') : printable(line.substr(i, 1));
      if (i < last) caret_end = shown.size();
    }
    if (first >= line.size()) caret_begin = shown.size();
    const std::string number = std::to_string(begin.line);
    out_.append(number.size() < 5 ? 5 - number.size() : 0, ' ');
    out_ += number + " | " + shown + "\n      | ";
    out_.append(caret_begin, ' ');
    const std::size_t width = caret_end > caret_begin ? caret_end - caret_begin : 1;
    paint(shade, std::string("^").append(width - 1, '~'));
    out_ += "\n";
  }

  const Source* source_;
  bool colour_;
  std::string out_;
};

void set_place(Json& json, Span span, const Source* source) {
  if (span.none()) return;
  Json place = Json::object();
  if (source) {
    const LineColumn begin = source->line_column(span.begin);
    const LineColumn end = source->line_column(span.end);
    place.set("line", begin.line);
    place.set("column", begin.column);
    place.set("end_line", end.line);
    place.set("end_column", end.column);
  }
  place.set("begin", span.begin);
  place.set("end", span.end);
  json.set("place", std::move(place));
}

}  // namespace

std::string render(const std::vector<Diagnostic>& diagnostics, const Source* source,
                   const RenderOptions& options) {
  Renderer renderer(source, options.colour);
  for (const Diagnostic* d : ordered(diagnostics, options.keep_order)) renderer.diagnostic(*d);
  return renderer.take();
}

Json render_json(const std::vector<Diagnostic>& diagnostics, const Source* source,
                 const RenderOptions& options) {
  Json all = Json::array();
  for (const Diagnostic* one_of_all : ordered(diagnostics, options.keep_order)) {
    const Diagnostic& d = *one_of_all;
    Json json = Json::object();
    json.set("code", code_text(d.code));
    json.set("severity", severity_text(code_severity(d.code)));
    json.set("message", d.message);
    if (!d.remedy.empty()) json.set("remedy", d.remedy);
    if (source) json.set("file", source->name());
    set_place(json, d.span, source);
    Json labels = Json::array();
    for (const Label& label : d.labels) {
      Json one = Json::object();
      one.set("text", label.text);
      set_place(one, label.span, source);
      labels.push(std::move(one));
    }
    if (!d.labels.empty()) json.set("labels", std::move(labels));
    // Pairs, since one refusal may name the same thing twice.
    Json evidence = Json::array();
    for (const auto& [name, value] : d.evidence) {
      Json one = Json::object();
      one.set("name", name);
      one.set("value", value);
      evidence.push(std::move(one));
    }
    if (!d.evidence.empty()) json.set("evidence", std::move(evidence));
    all.push(std::move(json));
  }
  return all;
}

}  // namespace tilewright
