// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/split_complex.h"

#include "frontend/ir/complex.h"
#include "frontend/ir/walk.h"

namespace tilewright::program {

namespace {

class Splitter {
 public:
  explicit Splitter(ir::Context& context) : context_(context), exprs_(context) {}

  std::vector<Parameter> parameters(const std::vector<Parameter>& given) {
    std::vector<Parameter> out;
    for (Parameter parameter : given) {
      if (!ir::is_complex(parameter.type)) {
        out.push_back(std::move(parameter));
        continue;
      }
      const Symbol name = parameter.name;
      parameter.type = ir::part_type(parameter.type);
      for (bool imaginary : {false, true}) {
        parameter.name = exprs_.part_name(name, imaginary);
        out.push_back(parameter);
      }
    }
    return out;
  }

  Stmt run(Stmt stmt) {
    if (!stmt) return stmt;
    return visit(stmt, [&](const auto& node) { return split(node); });
  }

 private:
  std::vector<Expr> reals(NodeList<Expr> exprs) {
    std::vector<Expr> out;
    for (Expr e : exprs) out.push_back(exprs_.real(e));
    return out;
  }

  Stmt split(const Block& n) {
    std::vector<Stmt> body;
    for (Stmt part : n.body) body.push_back(run(part));
    return make_block(context_, body);
  }
  Stmt split(const For& n) {
    return make_for(context_, n.loop, n.var, exprs_.real(n.lower), exprs_.real(n.upper),
                    run(n.body));
  }
  Stmt split(const If& n) {
    return make_if(context_, exprs_.real(n.condition), run(n.then_body), run(n.else_body));
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
    const Stmt body = run(n.body);
    const std::vector<Expr> extents = reals(n.extents);
    if (!ir::is_complex(n.type))
      return make_alloc(context_, n.buffer, n.type, extents, n.space, body);
    const ScalarType part = ir::part_type(n.type);
    return make_alloc(context_, exprs_.part_name(n.buffer, false), part, extents, n.space,
                      make_alloc(context_, exprs_.part_name(n.buffer, true), part, extents,
                                 n.space, body));
  }
  // Both parts are computed before either is stored: a product reads both.
  Stmt split(const Store& n) {
    const std::vector<Expr> indices = reals(n.indices);
    const std::vector<Expr> point = reals(n.point);
    auto store = [&](Symbol buffer, Expr value) {
      return make_store(context_, buffer, indices, value, n.role, n.origin, point);
    };
    if (!ir::is_complex(n.value.type())) return store(n.buffer, exprs_.real(n.value));
    const ir::Parts value = exprs_.parts(n.value);
    const std::string base = "part" + std::to_string(stores_++);
    const Symbol re = exprs_.part_name(context_.symbol(base), false);
    const Symbol im = exprs_.part_name(context_.symbol(base), true);
    const ScalarType part = value.re.type();
    const Stmt both[] = {store(exprs_.part_name(n.buffer, false), context_.var(re, part)),
                         store(exprs_.part_name(n.buffer, true), context_.var(im, part))};
    return make_let(context_, re, value.re,
                    make_let(context_, im, value.im, make_block(context_, both)));
  }

  ir::Context& context_;
  ir::ComplexSplitter exprs_;
  int stores_ = 0;
};

}  // namespace

bool has_complex(const Program& program) {
  bool found = false;
  for (const Parameter& parameter : program.parameters) found |= ir::is_complex(parameter.type);
  auto look = [&](Expr root) {
    ir::walk(root, [&](Expr e) { found |= ir::is_complex(e.type()); });
  };
  walk(program.body, [&](Stmt stmt) {
    if (const auto* store = stmt.as<Store>()) look(store->value);
    if (const auto* let = stmt.as<Let>()) look(let->value);
    if (const auto* branch = stmt.as<If>()) look(branch->condition);
    if (const auto* alloc = stmt.as<Alloc>()) found |= ir::is_complex(alloc->type);
  });
  return found;
}

Program split_complex(ir::Context& context, const Program& program) {
  if (!has_complex(program)) return program;
  Splitter splitter(context);
  Program out = program;
  out.parameters = splitter.parameters(program.parameters);
  out.body = splitter.run(program.body);
  return out;
}

}  // namespace tilewright::program
