// SPDX-License-Identifier: Apache-2.0
#include "schedules/machine/unify.h"

#include <algorithm>
#include <optional>

#include "frontend/ir/text.h"
#include "frontend/ir/walk.h"

namespace tilewright::machine {

namespace {

using ir::Expr;

bool commutes(Expr e) {
  const auto* op = e.as<ir::Op>();
  return op && (op->op == ir::OpCode::Add || op->op == ir::OpCode::Mul);
}

// One attempt: of the operations that commute, in the order in which they are met, those whose bit is set have their
// operands exchanged.
class Unifier {
 public:
  Unifier(const Meaning& meaning, std::uint64_t exchanged, Mismatch* mismatch)
      : meaning_(meaning), exchanged_(exchanged), mismatch_(mismatch) {
    out_.reads.resize(meaning.operands.size());
  }

  std::optional<Unified> run(Expr term) {
    if (!match(meaning_.term, term)) return std::nullopt;
    return out_;
  }

 private:
  bool differ(Expr wanted, Expr found) {
    // The first difference in the order of the text says most.
    if (mismatch_ && mismatch_->wanted.empty()) *mismatch_ = {shown(wanted), shown(found)};
    return false;
  }
  // An operand is any read of its type.
  static std::string shown(Expr e) {
    const std::string text = "`" + ir::print(e) + "`";
    return e.as<ir::Read>() ? "a read of " + std::string(ir::type_text(e.type())) + ", " + text
                            : text;
  }

  bool match(Expr pattern, Expr term) {
    if (pattern.type() != term.type() || pattern.kind() != term.kind())
      return differ(pattern, term);
    if (const auto* operand = pattern.as<ir::Read>()) return bind(*operand, *term.as<ir::Read>());
    if (const auto* op = pattern.as<ir::Op>()) return match_op(*op, *term.as<ir::Op>());
    if (const auto* cast = pattern.as<ir::Cast>())
      return match(cast->value, term.as<ir::Cast>()->value);
    // Constants, extents and variables are the same node where they are equal. Other kinds no meaning has.
    return pattern == term || differ(pattern, term);
  }

  bool bind(const ir::Read& operand, const ir::Read& read) {
    for (std::size_t i = 0; i < meaning_.operands.size(); ++i)
      if (meaning_.operands[i].name == operand.tensor) out_.reads[i] = &read;
    return true;
  }

  bool match_op(const ir::Op& pattern, const ir::Op& term) {
    if (pattern.op != term.op || pattern.args.size() != term.args.size())
      return differ(Expr(&pattern), Expr(&term));
    bool exchange = false;
    if (commutes(Expr(&pattern))) {
      exchange = (exchanged_ & 1) != 0;
      exchanged_ >>= 1;
    }
    for (std::size_t i = 0; i < pattern.args.size(); ++i)
      if (!match(pattern.args[i], term.args[exchange ? 1 - i : i])) return false;
    return true;
  }

  const Meaning& meaning_;
  std::uint64_t exchanged_;
  Mismatch* mismatch_;
  Unified out_;
};

// More than any description has: each one doubles the attempts.
constexpr int kMostCommuting = 8;

}  // namespace

std::vector<Unified> unify(const Meaning& meaning, Expr term, Mismatch* mismatch) {
  int commuting = 0;
  ir::walk(meaning.term, [&](Expr e) { commuting += commutes(e) ? 1 : 0; });
  std::vector<Unified> out;
  const std::uint64_t attempts = std::uint64_t{1} << std::min(commuting, kMostCommuting);
  for (std::uint64_t exchanged = 0; exchanged < attempts; ++exchanged)
    if (auto one = Unifier(meaning, exchanged, exchanged == 0 ? mismatch : nullptr).run(term))
      out.push_back(*std::move(one));
  return out;
}

}  // namespace tilewright::machine
