// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/split_complex.h"

#include <unordered_set>

#include "frontend/ir/complex.h"
#include "frontend/ir/walk.h"
#include "lowering/program/places.h"

namespace tilewright::program {

namespace {

class Splitter {
 public:
  Splitter(ir::Context& context, const Program& program)
      : context_(context), exprs_(context), given_(program.places.get()) {
    if (given_) places_ = *given_;
  }

  std::vector<Parameter> parameters(const std::vector<Parameter>& given) {
    std::vector<Parameter> out;
    for (Parameter parameter : given) {
      std::vector<Symbol> names;
      append(parameter.name, parameter.type, names);
      if (ir::is_complex(parameter.type)) complex_buffers_.insert(parameter.name);
      parameter.type = ir::part_type(parameter.type);
      for (Symbol name : names) {
        parameter.name = name;
        out.push_back(parameter);
      }
    }
    return out;
  }

  Stmt run(Stmt stmt) { return placed(stmt, split(stmt)); }
  // Where the parts stand that are made of what stands there.
  std::shared_ptr<const Places> places() const {
    return given_ ? std::make_shared<const Places>(places_) : nullptr;
  }

 private:
  Stmt placed(Stmt from, Stmt made) {
    if (!given_) return made;
    if (auto at = given_->stmts.find(from); at != given_->stmts.end())
      places_.stmts.emplace(made, at->second);
    return made;
  }
  void append(Symbol name, ScalarType type, std::vector<Symbol>& out) {
    exprs_.append(name, type, out);
    if (!given_) return;
    if (auto at = given_->names.find(name); at != given_->names.end())
      for (Symbol part : out) places_.names.emplace(part, at->second);
  }

  Stmt split(Stmt stmt) {
    if (const auto* let = stmt.as<Let>()) return split(*let);
    if (const auto* alloc = stmt.as<Alloc>()) return split(*alloc);
    if (const auto* store = stmt.as<Store>()) return split(*store);
    if (const auto* prefetch = stmt.as<Prefetch>()) return split(stmt, *prefetch);
    return map_parts(context_, stmt, Parts{*this});
  }

  // verify() lets no other statement hold complex values.
  struct Parts {
    Splitter& splitter;
    Stmt operator()(std::string_view, Stmt stmt) const { return splitter.run(stmt); }
    Expr operator()(std::string_view, Expr expr) const { return splitter.exprs_.real(expr); }
    Symbol operator()(std::string_view, Symbol name) const { return name; }
  };

  std::vector<Expr> reals(NodeList<Expr> exprs) {
    std::vector<Expr> out;
    for (Expr e : exprs) out.push_back(exprs_.real(e));
    return out;
  }

  Stmt split(const Let& n) {
    const Stmt body = run(n.body);
    if (!ir::is_complex(n.value.type()))
      return make_let(context_, n.var, exprs_.real(n.value), body);
    const ir::Parts value = exprs_.parts(n.value);
    return make_let(context_, exprs_.part_name(n.var, false), value.re,
                    make_let(context_, exprs_.part_name(n.var, true), value.im, body));
  }
  Stmt split(const Alloc& n) {
    std::vector<Symbol> names;
    append(n.buffer, n.type, names);
    if (ir::is_complex(n.type)) complex_buffers_.insert(n.buffer);
    Stmt out = run(n.body);
    for (auto name = names.rbegin(); name != names.rend(); ++name)
      out = make_alloc(context_, *name, ir::part_type(n.type), reals(n.extents), n.space, out,
                       n.place);
    return out;
  }
  Stmt split(Stmt stmt, const Prefetch& n) {
    if (!complex_buffers_.contains(n.buffer)) return map_parts(context_, stmt, Parts{*this});
    const std::vector<Expr> indices = reals(n.indices);
    std::vector<Stmt> both;
    for (bool imaginary : {false, true}) {
      Prefetch part = n;
      part.buffer = exprs_.part_name(n.buffer, imaginary);
      part.indices = indices;
      both.push_back(make(context_, part));
    }
    return make_block(context_, both);
  }
  // Both parts, and indices that read memory, are computed before either part is stored: a product reads both.
  Stmt split(const Store& n) {
    std::vector<Expr> indices = reals(n.indices);
    const std::vector<Expr> point = reals(n.point);
    auto store = [&](Symbol buffer, Expr value) {
      return placed(Stmt(&n),
                    make_store(context_, buffer, indices, value, n.role, n.origin, point));
    };
    if (!ir::is_complex(n.value.type())) return store(n.buffer, exprs_.real(n.value));
    const std::string base = "part" + std::to_string(stores_++);
    std::vector<std::pair<Symbol, Expr>> lets;
    auto named = [&](std::string_view suffix, Expr value) {
      lets.emplace_back(context_.symbol(base + "'" + std::string(suffix)), value);
      return context_.var(lets.back().first, value.type());
    };
    for (std::size_t d = 0; d < indices.size(); ++d)
      if (!ir::reads(indices[d]).empty()) indices[d] = named("at" + std::to_string(d), indices[d]);
    const ir::Parts value = exprs_.parts(n.value);
    const Expr re = named("re", value.re);
    const Expr im = named("im", value.im);
    const Stmt both[] = {store(exprs_.part_name(n.buffer, false), re),
                         store(exprs_.part_name(n.buffer, true), im)};
    Stmt out = make_block(context_, both);
    for (auto let = lets.rbegin(); let != lets.rend(); ++let)
      out = make_let(context_, let->first, let->second, out);
    return out;
  }

  ir::Context& context_;
  ir::ComplexSplitter exprs_;
  const Places* given_;
  Places places_;
  std::unordered_set<Symbol> complex_buffers_;
  int stores_ = 0;
};

}  // namespace

bool has_complex(const Program& program) {
  bool found = false;
  for (const Parameter& parameter : program.parameters) found |= ir::is_complex(parameter.type);
  walk(program.body, [&](Stmt stmt) {
    if (const auto* alloc = stmt.as<Alloc>()) found |= ir::is_complex(alloc->type);
    for_each_part(stmt, [&](std::string_view, const auto& part) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(part)>, Expr>)
        ir::walk(part, [&](Expr e) { found |= ir::is_complex(e.type()); });
    });
  });
  return found;
}

Program split_complex(ir::Context& context, const Program& program) {
  if (!has_complex(program)) return program;
  Splitter splitter(context, program);
  Program out = program;
  out.parameters = splitter.parameters(program.parameters);
  out.body = splitter.run(program.body);
  out.places = splitter.places();
  return out;
}

}  // namespace tilewright::program
