// SPDX-License-Identifier: Apache-2.0
#include "frontend/ir/parse_monoid.h"

#include "frontend/ir/declarations.h"

namespace tilewright::ir {

namespace {

class MonoidReader {
 public:
  MonoidReader(TextCursor& cursor, Context& context)
      : cursor_(cursor), context_(context), elaborator_(context, scope_, cursor) {}

  std::optional<MonoidDecl> read() {
    const std::uint32_t begin = cursor_.next().span.begin;
    const auto name = cursor_.expect_name("the name of the reduction", "name it, as in `lse`");
    if (!name) return std::nullopt;
    if (is_reserved_name(name->text))
      cursor_.report(Code::ReservedName, name->span,
                     "`" + std::string(name->text) + "` is a word of the language, not a name",
                     "choose another name");
    out_.name = context_.symbol(name->text);
    if (!fields()) return std::nullopt;
    out_.commutative = cursor_.accept("commutative");
    if (!cursor_.expect("{", "after the fields") || !identity() || !combine() ||
        !cursor_.expect("}", "to end the reduction"))
      return std::nullopt;
    out_.span = cursor_.span_from(begin);
    return std::move(out_);
  }

 private:
  bool fields() {
    if (!cursor_.expect("(", "after the name", "write the fields, as in `(m : f32, s : f32)`"))
      return false;
    do {
      const auto field = cursor_.expect_name("the name of a field", "name it, as in `m : f32`");
      if (!field || !cursor_.expect(":", "after the field", "write its type, as in `m : f32`"))
        return false;
      const auto type = parse_scalar_type(cursor_);
      if (!type) return false;
      out_.fields.push_back(context_.symbol(field->text));
      out_.types.push_back(*type);
    } while (cursor_.accept(","));
    return cursor_.expect(")", "after the fields");
  }

  bool identity() {
    if (!cursor_.expect("identity", "first",
                        "write the value that changes nothing, as in `identity 0`"))
      return false;
    return values(out_.identity, "the identity");
  }

  bool combine() {
    if (!cursor_.expect("combine", "after the identity", "write `combine(a, b) = ...`") ||
        !cursor_.expect("(", "after `combine`"))
      return false;
    const auto left = cursor_.expect_name("the name of the earlier values", "write `(a, b)`");
    if (!left || !cursor_.expect(",", "between the names")) return false;
    const auto right = cursor_.expect_name("the name of the later values", "write `(a, b)`");
    if (!right || !cursor_.expect(")", "after the names") ||
        !cursor_.expect("=", "before the values"))
      return false;
    out_.left = context_.symbol(left->text);
    out_.right = context_.symbol(right->text);
    for (const Token* side : {&*left, &*right})
      for (std::size_t i = 0; i < out_.fields.size(); ++i)
        scope_.declare(
            context_.symbol(std::string(side->text) + "." + std::string(out_.fields[i].text())),
            {Meaning::Kind::Variable, out_.types[i], 0, side->span});
    return values(out_.combine, "the combination");
  }

  // One value for each field.
  bool values(std::vector<Expr>& out, const std::string& what) {
    bool good = true;
    do {
      const SyntaxPtr syntax = parse_expr_syntax(cursor_);
      if (!syntax) return false;
      const std::size_t i = out.size();
      const bool extra = i >= out_.types.size();
      out.push_back(extra ? elaborator_.expression(*syntax, std::nullopt)
                          : elaborator_.expression_of(*syntax, out_.types[i], what));
      good = good && out.back();
    } while (cursor_.accept(","));
    return good;
  }

  TextCursor& cursor_;
  Context& context_;
  Scope scope_;
  Elaborator elaborator_;
  MonoidDecl out_;
};

}  // namespace

std::optional<MonoidDecl> parse_monoid(TextCursor& cursor, Context& context) {
  return MonoidReader(cursor, context).read();
}

}  // namespace tilewright::ir
