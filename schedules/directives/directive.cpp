// SPDX-License-Identifier: Apache-2.0
#include "schedules/directives/directive.h"

#include <algorithm>

namespace tilewright::directives {

const std::vector<DirectiveInfo>& all_directives() {
  static const std::vector<DirectiveInfo> rows = {
#define TILEWRIGHT_DIRECTIVE(type, keyword, example, summary) {keyword, example, summary},
#include "schedules/directives/directives.def"
#undef TILEWRIGHT_DIRECTIVE
  };
  return rows;
}

bool is_directive_keyword(std::string_view text) {
  const auto& rows = all_directives();
  return std::any_of(rows.begin(), rows.end(),
                     [&](const DirectiveInfo& row) { return row.keyword == text; });
}

std::optional<Directive> parse_directive(Reader& reader) {
  const std::string keyword(reader.cursor.next().text);
#define TILEWRIGHT_DIRECTIVE(type, word, example, summary) \
  if (keyword == word) {                                   \
    auto parsed = type::parse(reader);                     \
    if (!parsed) return std::nullopt;                      \
    return Directive(*std::move(parsed));                  \
  }
#include "schedules/directives/directives.def"
#undef TILEWRIGHT_DIRECTIVE
  return std::nullopt;
}

std::string print(const Directive& directive) {
  return std::visit([](const auto& d) { return d.print(); }, directive);
}

Result<Ok> apply(const Directive& directive, Target& target) {
  // On a copy, so that a refusal half-way leaves the tree alone.
  tree::Tree trial = target.tree;
  // The old tree, and so what it derived, outlives the attempt.
  Target attempt{target.context, target.tree.algorithm(target.algorithm), trial, target.guards};
  TILEWRIGHT_CHECK_OK(std::visit([&](const auto& d) { return d.apply(attempt); }, directive));
  target.tree = std::move(trial);
  return Ok{};
}

std::vector<Symbol> symbols(const std::vector<Word>& words) { return {words.begin(), words.end()}; }

tree::Places places(const std::vector<Word>& words) {
  tree::Places out;
  for (const Word& word : words) out.spans.push_back(word.span);
  return out;
}

std::string print(const LoopName& name) {
  std::string text(name.nest.text());
  if (!text.empty()) text += '.';
  return text + std::string(name.loop.text());
}

std::string loop_path(const tree::Nest& nest, Symbol loop) {
  return print(LoopName{nest.name, loop, {}});
}

Failure refuse(Span span, std::string message, std::string remedy, Evidence evidence) {
  return fail(Diagnostic{Code::DirectiveRefused,
                         span,
                         std::move(message),
                         std::move(remedy),
                         {},
                         std::move(evidence)});
}

std::optional<LoopName> Reader::loop_name() {
  auto token = cursor.expect_name("a loop", "write `nest.loop`, for example `c.i`");
  if (!token) return std::nullopt;
  LoopName out;
  out.span = token->span;
  const std::size_t dot = token->text.rfind('.');
  if (dot == std::string_view::npos) {
    out.loop = context.symbol(token->text);
  } else {
    out.nest = context.symbol(token->text.substr(0, dot));
    out.loop = context.symbol(token->text.substr(dot + 1));
  }
  return out;
}

std::optional<Word> Reader::name(std::string_view what) {
  auto token = cursor.expect_name(what, "write a name");
  if (!token) return std::nullopt;
  if (token->text.find('.') != std::string_view::npos) {
    cursor.report(
        Code::UnexpectedToken, token->span,
        "expected " + std::string(what) + ", found the path `" + std::string(token->text) + "`",
        "write a name without a dot");
    return std::nullopt;
  }
  return Word(context.symbol(token->text), token->span);
}

std::optional<Word> Reader::path(std::string_view what) {
  auto token = cursor.expect_name(what, "write a name");
  if (!token) return std::nullopt;
  return Word(context.symbol(token->text), token->span);
}

std::optional<std::vector<Word>> Reader::names(std::string_view what) {
  std::vector<Word> out;
  do {
    auto one = name(what);
    if (!one) return std::nullopt;
    out.push_back(*one);
  } while (cursor.accept(","));
  return out;
}

std::optional<std::int64_t> Reader::factor() {
  const Span at = cursor.peek().span;
  auto value = cursor.expect_integer("a factor");
  if (!value) return std::nullopt;
  // Larger tiles than any tensor would only overflow index arithmetic.
  if (*value < 1 || *value > (std::int64_t{1} << 31)) {
    cursor.report(Code::BadNumber, at, "a factor of " + std::to_string(*value),
                  "write a factor from 1 to 2147483648");
    return std::nullopt;
  }
  return value;
}

std::optional<std::int64_t> Reader::count() {
  const Span at = cursor.peek().span;
  auto value = cursor.expect_integer("a number");
  if (!value) return std::nullopt;
  if (*value < 0 || *value > (std::int64_t{1} << 31)) {
    cursor.report(Code::BadNumber, at, "a number of " + std::to_string(*value),
                  "write a number from 0 to 2147483648");
    return std::nullopt;
  }
  return value;
}

std::optional<tree::Space> Reader::space() {
  const auto found = tree::find_space(cursor.peek().text);
  if (found) {
    cursor.next();
    return found;
  }
  cursor.unexpected("a memory",
                    "the memories are `register`, `shared`, `tensor`, `scratchpad`, `accumulator`");
  return std::nullopt;
}

std::optional<tree::Scope> Reader::scope() {
  const auto found = tree::find_scope(cursor.peek().text);
  if (found) {
    cursor.next();
    return found;
  }
  cursor.unexpected("a scope",
                    "the scopes are `lane`, `warp`, `warpgroup`, `block`, `pair`, `cluster`, "
                    "`core`, `device`");
  return std::nullopt;
}

Result<tree::Nest*> find_nest(Target& target, Symbol name, Span span) {
  if (tree::Nest* nest = target.tree.find(name)) return nest;
  std::string known;
  for (const tree::Nest& nest : target.tree.nests)
    known += (known.empty() ? "`" : ", `") + std::string(nest.name.text()) + "`";
  return fail(Code::UnknownLoop, span, "`" + std::string(name.text()) + "` has no loops here",
              "the nests are " + known);
}

Result<FoundLoop> find_loop(Target& target, const LoopName& name) {
  std::vector<FoundLoop> found;
  std::string known;
  for (tree::Nest& nest : target.tree.nests) {
    if (name.nest.valid() && !(nest.name == name.nest)) continue;
    for (std::size_t i = 0; i < nest.loops.size(); ++i) {
      known += (known.empty() ? "`" : ", `") + std::string(nest.name.text()) + "." +
               std::string(nest.loops[i].name.text()) + "`";
      if (nest.loops[i].name == name.loop) found.push_back({&nest, i});
    }
  }
  if (found.size() == 1) return found[0];
  if (found.empty()) {
    if (name.nest.valid()) TILEWRIGHT_CHECK_OK(find_nest(target, name.nest, name.span));
    return fail(Code::UnknownLoop, name.span, "no loop `" + print(name) + "`",
                "the loops are " + known);
  }
  return fail(Code::UnknownLoop, name.span,
              "`" + print(name) + "` is a loop of " + std::to_string(found.size()) + " nests",
              "write `" + std::string(found[0].nest->name.text()) + "." + print(name) + "`");
}

bool has_name(const Target& target, const tree::Nest& nest, Symbol name) {
  if (nest.find_loop(name)) return true;
  for (const tree::Step& step : nest.steps) {
    if (const auto* s = std::get_if<tree::SplitStep>(&step)) {
      if (s->parent == name || s->outer == name || s->inner == name) return true;
    } else {
      const auto& f = std::get<tree::FuseStep>(step);
      if (f.outer == name || f.inner == name || f.fused == name) return true;
    }
  }
  // The dimensions too: they are names until a step takes them.
  const ir::Equation* equation = nest.stage ? nullptr : target.algorithm.find_equation(nest.name);
  if (!equation) return false;
  const std::vector<Symbol> dims = tree::dimensions(*equation);
  return std::find(dims.begin(), dims.end(), name) != dims.end();
}

Result<Ok> not_kept(const tree::Nest& nest, Symbol loop, Span span) {
  if (std::find(nest.keep.begin(), nest.keep.end(), loop) == nest.keep.end()) return Ok{};
  return refuse(span, "results over loop `" + std::string(loop.text()) + "` are kept in registers",
                "split and fuse before `keep`", {{"loop", loop_path(nest, loop)}});
}

Result<Ok> split_loop(Target& target, const FoundLoop& found, std::int64_t factor,
                      const Word& outer, const Word& inner, Span span) {
  tree::Nest& nest = *found.nest;
  const tree::Loop old = found.loop();
  if (old.kind == tree::LoopKind::Vector || old.kind == tree::LoopKind::Unrolled)
    return refuse(
        span, "loop `" + std::string(old.name.text()) + "` is already vectorized or unrolled",
        "split it first, then mark one of its parts", {{"loop", loop_path(nest, old.name)}});
  if (old.peel)
    return refuse(span, "loop `" + std::string(old.name.text()) + "` is peeled already",
                  "split it before `peel`", {{"loop", loop_path(nest, old.name)}});
  TILEWRIGHT_CHECK_OK(not_kept(nest, old.name, span));
  for (const Word& name : {outer, inner})
    if (has_name(target, nest, name))
      return refuse(name.span.none() ? span : name.span,
                    "nest `" + std::string(nest.name.text()) + "` has a loop `" +
                        std::string(name.text()) + "` already",
                    "choose another name after `as`",
                    {{"loop", loop_path(nest, old.name)}, {"taken", std::string(name.text())}});
  if (outer == inner)
    return refuse(inner.span.none() ? span : inner.span,
                  "both parts are named `" + std::string(outer.text()) + "`",
                  "choose two names after `as`",
                  {{"loop", loop_path(nest, old.name)}, {"taken", std::string(outer.text())}});
  const auto place = [](const tree::Nest& n, const tree::Loop& l) {
    return tree::LoopRef{n.name, l.name};
  };
  for (const tree::Nest& other : target.tree.nests)
    if (other.at && *other.at == place(nest, old))
      return refuse(
          span,
          "`" + std::string(other.name.text()) + "` is placed in loop `" +
              std::string(old.name.text()) + "`",
          "split the loop before placing anything in it",
          {{"loop", loop_path(nest, old.name)}, {"placed", std::string(other.name.text())}});
  nest.steps.push_back(tree::SplitStep{old.name, factor, outer, inner, {span}});
  nest.loops[found.index] = old;
  nest.loops[found.index].name = outer;
  nest.loops.insert(nest.loops.begin() + static_cast<std::ptrdiff_t>(found.index) + 1,
                    {inner, tree::LoopKind::Serial, false, {inner.span}, {}});
  return Ok{};
}

Result<Ok> mark_constant_loop(Target& target, const LoopName& name,
                              std::optional<std::int64_t> factor, tree::LoopKind kind,
                              std::string_view suffix) {
  TILEWRIGHT_TRY(found, find_loop(target, name));
  const bool marked =
      found.loop().kind != tree::LoopKind::Serial || found.loop().scope != tree::Scope::None;
  if (marked && !factor)
    return refuse(name.span, "loop `" + print(name) + "` is marked already",
                  "mark a loop once; split it to mark its parts",
                  {{"loop", loop_path(*found.nest, found.loop().name)}});
  if (!factor) {
    if (found.loop().peel)
      return refuse(name.span, "loop `" + print(name) + "` is peeled already",
                    "mark the inner loop of the split",
                    {{"loop", loop_path(*found.nest, found.loop().name)}});
    found.loop().kind = kind;
    found.loop().marked = {name.span};
    return Ok{};
  }
  const std::string base(found.loop().name.text());
  TILEWRIGHT_CHECK_OK(split_loop(target, found, *factor, target.context.symbol(base + "_o"),
                                 target.context.symbol(base + std::string(suffix)), name.span));
  tree::Loop& inner = found.nest->loops[found.index + 1];
  inner.kind = kind;
  inner.marked = {name.span};
  return Ok{};
}

void move_before(tree::Tree& tree, Symbol nest, Symbol owner) {
  auto& nests = tree.nests;
  auto find = [&](Symbol name) {
    return std::find_if(nests.begin(), nests.end(),
                        [&](const tree::Nest& n) { return n.name == name; });
  };
  auto from = find(nest);
  auto to = find(owner);
  if (from == nests.end() || to == nests.end() || from < to) return;
  std::rotate(to, from, from + 1);
}

}  // namespace tilewright::directives
