// SPDX-License-Identifier: Apache-2.0
//
// The text of a recorded algorithm, with the C++ place of each piece. The reader of `.tw` files gives it its
// meaning, so the two languages cannot differ; a finding about a piece of the text becomes one about the line
// that recorded it. Law: a statement with a mistake of its own has no further findings, and what it declares is
// known to be faulty, so that one mistake is reported once.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "frontend/base/source.h"
#include "frontend/language/node.h"

namespace tilewright::language::detail {

class Transcript {
 public:
  explicit Transcript(const AlgorithmState& algorithm);

  const std::string& text() const { return text_; }
  bool has_mistakes() const { return !mistakes_.empty(); }
  // The mistakes found on the way, then those of the reader, by place in the definitions.
  std::vector<Diagnostic> merge(const std::vector<tilewright::Diagnostic>& found) const;

 private:
  struct Piece {
    Span span;
    Where where;
  };
  // `requires`, `input` or an equation.
  struct Statement {
    Span span;
    Where where;
    std::string what;  // "the definition of `c`"
    bool faulty = false;
  };

  // Those that are called, each before its callers, then the algorithm itself.
  void gather(const AlgorithmState& algorithm);
  void algorithm(const AlgorithmState& algorithm);
  void monoid(const MonoidState& monoid);
  void begin_loop(const LoopState& loop, Where where);
  void call(const Definition& definition);
  void tensor_name(const Declaration* tensor, Where where);
  void terms(std::span<const NodePtr> nodes);
  void header();
  void input(const Declaration& input);
  void definition(const Definition& definition);
  void head_index(const Operand& index);
  void expr(const NodePtr& node);
  void read(const Node& node);
  void infix(const Node& node);
  void fold(const Node& node);
  void list(std::span<const NodePtr> nodes);
  void range(const NodePtr& node);
  // Writes a name, or reports E0107 and writes one that stands for it.
  void name(const std::string& text, std::string_view what, Where where);
  void type(const std::string& text, Where where);
  bool owned(const Declaration& declaration, Where where);
  void placeholder() { text_ += unknown_; }
  void report(Code code, std::string message, std::string remedy, Where where);
  void undefined();

  template <class F>
  void piece(Where where, F&& write) {
    const auto begin = static_cast<std::uint32_t>(text_.size());
    write();
    pieces_.push_back({{begin, static_cast<std::uint32_t>(text_.size())}, where});
  }
  template <class F>
  void statement(Where where, std::string what, F&& write) {
    faulty_ = false;
    const auto begin = static_cast<std::uint32_t>(text_.size());
    write();
    statements_.push_back(
        {{begin, static_cast<std::uint32_t>(text_.size())}, where, std::move(what), faulty_});
    text_ += '\n';
  }

  Place place_of_span(Span span) const;
  const Statement* statement_of(Span span) const;
  Diagnostic translate(const tilewright::Diagnostic& found) const;

  const AlgorithmState& root_;
  const AlgorithmState* algorithm_;  // that is being written
  std::vector<const AlgorithmState*> all_;
  std::string unknown_ = "cpp.mistake";
  std::string text_;
  std::vector<Piece> pieces_;
  std::vector<Statement> statements_;
  bool faulty_ = false;
  std::vector<std::pair<std::uint32_t, Diagnostic>> mistakes_;  // with their place in the text
  std::set<std::string> bad_names_;  // reported
  std::set<const Node*> reported_;
};

}  // namespace tilewright::language::detail
