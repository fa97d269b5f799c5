// SPDX-License-Identifier: Apache-2.0
//
// Deliberately wrong edits of right Programs: each must trap or give another result than the algorithm at
// some of the case's sizes. An edit that changes nothing in any run is listed with the reason.
#include "frontend/ir/walk.h"
#include "tests/laws/random_case.h"

namespace tilewright {
namespace {

using program::OriginRole;
using program::Stmt;

struct Subject {
  const char* name;
  const char* algorithm;
  const char* schedule;
  std::vector<std::map<std::string, std::int64_t>> sizes;
};

const Subject kSubjects[] = {
    {"gemm",
     R"(algorithm gemm(M, N, K) {
  input a : f32[M, K]
  input b : f32[K, N]
  output c[i < M, j < N] : f32 = sum(k < K) a[i, k] * b[k, j]
})",
     R"(schedule s for gemm on host {
  tile c.i, c.j by 2, 4 as it, jt, ii, jj
  split c.k by 4 as ko, ki
  reorder c: jt, it, ko, ki, ii, jj
  stage b[k, j] at c.jt as bp[k, j] pad
  unroll c.ii
  vectorize c.jj
  keep c[ii, jj] in register
  parallel c.jt
})",
     {{{"M", 5}, {"N", 7}, {"K", 6}}, {{"M", 4}, {"N", 8}, {"K", 4}}}},
    {"lanes",
     R"(algorithm lanes(M, K) {
  input x : f32[M, K]
  output s[i < M] : f32 = sum(k < K) x[i, k]
})",
     R"(schedule s for lanes on host {
  vectorize s.k by 4
  parallel s.i
})",
     {{{"M", 3}, {"K", 11}}}},
    {"stencil",
     R"(algorithm stencil(M, N) {
  input x : f32[M + 2, N]
  t[i < M + 2, j < N] : f32 = x[i, j] * 2
  output y[i < M, j < N] : f32 = t[i, j] + t[i + 1, j] + t[i + 2, j]
})",
     R"(schedule s for stencil on host {
  split y.i by 4 as io, ii
  compute_at t in y.io
})",
     {{{"M", 7}, {"N", 3}}}},
    {"triangle",
     R"(algorithm triangle(N) {
  input x : i32[N, N]
  output y[i < N] : i32 = sum(k < i + 1) x[i, k] * x[k, i]
})",
     R"(schedule s for triangle on host {
  split y.k by 3 as ko, ki
  reorder y: ko, i, ki
})",
     {{{"N", 7}}}},
    {"peel",
     R"(algorithm peel(N) {
  input x : f32[N]
  output y[i < N] : f32 = max(x[i], 0)
})",
     R"(schedule s for peel on host {
  split y.i by 4 as io, ii
  vectorize y.ii
  peel y.io
})",
     {{{"N", 11}}, {{"N", 3}}, {{"N", 8}}}},
};

// One kind of wrong edit. It is offered every statement; a null result means it does not apply there.
struct Mutation {
  const char* name;
  Stmt (*edit)(ir::Context&, const program::Program&, Stmt);
};

ir::Expr plus_one(ir::Context& context, ir::Expr e) { return context.add(e, context.index(1)); }

Stmt drop_guard(ir::Context&, const program::Program&, Stmt s) {
  const auto* n = s.as<program::If>();
  return n ? n->then_body : Stmt();
}
Stmt later_start(ir::Context& context, const program::Program&, Stmt s) {
  const auto* n = s.as<program::For>();
  return n ? program::make_for(context, n->loop, n->var, plus_one(context, n->lower), n->upper,
                               n->body)
           : Stmt();
}
Stmt earlier_end(ir::Context& context, const program::Program&, Stmt s) {
  const auto* n = s.as<program::For>();
  return n ? program::make_for(context, n->loop, n->var, n->lower,
                               context.sub(n->upper, context.index(1)), n->body)
           : Stmt();
}
Stmt later_end(ir::Context& context, const program::Program&, Stmt s) {
  const auto* n = s.as<program::For>();
  return n ? program::make_for(context, n->loop, n->var, n->lower, plus_one(context, n->upper),
                               n->body)
           : Stmt();
}
Stmt swap_bounds(ir::Context& context, const program::Program&, Stmt s) {
  const auto* n = s.as<program::For>();
  return n ? program::make_for(context, n->loop, n->var, n->upper, n->lower, n->body) : Stmt();
}
Stmt missing_init(ir::Context& context, const program::Program&, Stmt s) {
  const auto* n = s.as<program::Store>();
  return n && n->role == OriginRole::Init ? program::make_block(context, {}) : Stmt();
}
Stmt missing_store(ir::Context& context, const program::Program&, Stmt s) {
  return s.as<program::Store>() ? program::make_block(context, {}) : Stmt();
}
Stmt moved_store(ir::Context& context, const program::Program&, Stmt s) {
  const auto* n = s.as<program::Store>();
  if (!n || n->indices.empty()) return {};
  std::vector<ir::Expr> indices(n->indices.begin(), n->indices.end());
  indices[0] = plus_one(context, indices[0]);
  return program::make_store(context, n->buffer, indices, n->value, n->role, n->origin, n->point);
}
// Every read of the value one cell on in its last dimension: a wrong offset of a copy.
Stmt moved_reads(ir::Context& context, const program::Program&, Stmt s) {
  const auto* n = s.as<program::Store>();
  if (!n) return {};
  const ir::Expr value = ir::rewrite(context, n->value, [&](ir::Expr e) -> ir::Expr {
    const auto* r = e.as<ir::Read>();
    if (!r || r->indices.empty()) return {};
    std::vector<ir::Expr> indices(r->indices.begin(), r->indices.end());
    indices.back() = plus_one(context, indices.back());
    return context.read(r->tensor, indices, r->type);
  });
  if (value == n->value) return {};
  return program::make_store(context, n->buffer, n->indices, value, n->role, n->origin, n->point);
}
// The first of two partial results alone.
Stmt wrong_merge(ir::Context& context, const program::Program&, Stmt s) {
  const auto* n = s.as<program::Store>();
  const auto* op = n && n->role == OriginRole::Merge ? n->value.as<ir::Op>() : nullptr;
  if (!op || op->args.size() != 2) return {};
  return program::make_store(context, n->buffer, n->indices, op->args[0], n->role, n->origin,
                             n->point);
}
Stmt forgotten_sum(ir::Context& context, const program::Program&, Stmt s) {
  const auto* n = s.as<program::Store>();
  const auto* op = n && n->role == OriginRole::Fold ? n->value.as<ir::Op>() : nullptr;
  if (!op) return {};
  const ir::Expr term =
      op->op == ir::OpCode::Fma ? context.mul(op->args[0], op->args[1]) : op->args[1];
  return program::make_store(context, n->buffer, n->indices, term, n->role, n->origin, n->point);
}
Stmt smaller_buffer(ir::Context& context, const program::Program&, Stmt s) {
  const auto* n = s.as<program::Alloc>();
  if (!n) return {};
  std::vector<ir::Expr> extents(n->extents.begin(), n->extents.end());
  extents[0] = context.sub(extents[0], context.index(1));
  return program::make_alloc(context, n->buffer, n->type, extents, n->space, n->body);
}

const Mutation kMutations[] = {
    {"drop a guard", drop_guard},         {"start a loop later", later_start},
    {"end a loop earlier", earlier_end},  {"end a loop later", later_end},
    {"swap bounds", swap_bounds},         {"leave out an init", missing_init},
    {"leave out a store", missing_store}, {"store one cell on", moved_store},
    {"read one cell on", moved_reads},    {"merge wrongly", wrong_merge},
    {"forget the sum", forgotten_sum},    {"allocate one less", smaller_buffer},
};

// The Program with the n-th statement that the mutation applies to edited; nothing when there are fewer.
std::optional<program::Program> mutant(ir::Context& context, const program::Program& program,
                                       const Mutation& mutation, int n) {
  // By position, since equal statements are one node.
  int seen = 0;
  bool done = false;
  std::function<Stmt(Stmt)> edit = [&](Stmt s) -> Stmt {
    if (Stmt changed = mutation.edit(context, program, s);
        changed && !(changed == s) && seen++ == n) {
      done = true;
      return changed;
    }
    return program::visit(
        s, ir::Overloaded{
               [&](const program::Block& b) {
                 std::vector<Stmt> body;
                 for (Stmt inner : b.body) body.push_back(edit(inner));
                 return program::make_block(context, body);
               },
               [&](const program::For& f) {
                 return program::make_for(context, f.loop, f.var, f.lower, f.upper, edit(f.body));
               },
               [&](const program::If& f) {
                 const Stmt then_body = edit(f.then_body);
                 return program::make_if(context, f.condition, then_body,
                                         f.else_body ? edit(f.else_body) : Stmt());
               },
               [&](const program::Let& l) {
                 return program::make_let(context, l.var, l.value, edit(l.body));
               },
               [&](const program::Alloc& a) {
                 return program::make_alloc(context, a.buffer, a.type, a.extents, a.space,
                                            edit(a.body));
               },
               [&](const auto&) { return s; },
           });
  };
  program::Program out = program;
  out.body = edit(program.body);
  if (!done) return std::nullopt;
  return out;
}

// Equal to the right Program in every run, and why.
bool is_equivalent(const std::string& subject, const std::string& mutation, int n) {
  static const std::set<std::tuple<std::string, std::string, int>> kEquivalent = {
      // One more tile: the loops inside it are empty, or their guards hold nowhere.
      {"gemm", "end a loop later", 0},
      {"gemm", "end a loop later", 3},
      {"gemm", "end a loop later", 6},
      {"lanes", "end a loop later", 2},
      {"stencil", "end a loop later", 0},
      {"triangle", "end a loop later", 1},
      {"peel", "end a loop later", 2},
      // Lanes of a partial tile: a fifth one is guarded or writes what the next tile writes again, and the
      // last one is never needed.
      {"peel", "end a loop later", 3},
      {"peel", "end a loop earlier", 3},
  };
  return kEquivalent.contains({subject, mutation, n});
}

TEST(Mutants, EachIsCaught) {
  int caught = 0;
  for (const Subject& subject : kSubjects) {
    ir::Context context;
    poly::Context polyhedra;
    auto algorithm = ir::parse_algorithm(context, Source("a.tw", subject.algorithm));
    ASSERT_TRUE(algorithm.ok()) << laws::messages(algorithm.diagnostics());
    auto schedule =
        directives::parse_schedule(context, *algorithm, Source("s.tws", subject.schedule));
    ASSERT_TRUE(schedule.ok()) << laws::messages(schedule.diagnostics());
    auto built = build::build(context, polyhedra, *algorithm, *schedule);
    ASSERT_TRUE(built.ok()) << laws::messages(built.diagnostics());

    struct Size {
      ir::Bindings bindings;
      ir::TensorMap inputs;
      std::map<Symbol, ir::BoundedTensor> bounds;
    };
    std::vector<Size> sizes;
    for (const auto& named : subject.sizes) {
      Size size;
      for (const auto& [name, value] : named) size.bindings[context.symbol(name)] = value;
      size.inputs = ir::random_inputs(*algorithm, size.bindings, 5);
      auto bounds = ir::interpret_with_bound(*algorithm, size.bindings, size.inputs);
      ASSERT_TRUE(bounds.ok());
      size.bounds = *std::move(bounds);
      sizes.push_back(std::move(size));
    }
    auto passes_at = [&](const program::Program& program) {
      for (const Size& size : sizes) {
        for (const std::uint64_t order : {0, 1, 2}) {
          program::InterpretOptions options;
          options.schedule_seed = order;
          auto run = program::interpret(context, program, size.bindings, size.inputs, options);
          if (!run.ok()) return false;
          for (const auto& [name, tensor] : run->outputs)
            if (ir::find_violation(size.bounds.at(name), tensor)) return false;
        }
      }
      return true;
    };
    ASSERT_TRUE(passes_at(*built)) << program::print(*built);
    for (const Mutation& mutation : kMutations) {
      for (int n = 0;; ++n) {
        const auto wrong = mutant(context, *built, mutation, n);
        if (!wrong) break;
        if (is_equivalent(subject.name, mutation.name, n)) continue;
        // Caught by the verifier, a trap or the comparison.
        const bool survives = program::verify(*wrong).empty() && passes_at(*wrong);
        EXPECT_FALSE(survives) << subject.name << ": " << mutation.name << ", place " << n << "\n"
                               << program::print(*wrong);
        caught += !survives;
      }
    }
  }
  EXPECT_GT(caught, 100);
}

}  // namespace
}  // namespace tilewright
