// SPDX-License-Identifier: Apache-2.0
//
// The verifier of programs: verify.cpp checks what every program has, verify_concurrent.cpp agents,
// synchronisation and intrinsics. Private to the two.
#pragma once

#include <optional>
#include <unordered_set>

#include "lowering/program/verify.h"

namespace tilewright::program {

class Verifier {
 public:
  Verifier(const Program& program, const ProgramSpans* spans) : program_(program), spans_(spans) {}
  std::vector<Diagnostic> run();

 private:
  struct Buffer {
    ScalarType type = ScalarType::F32;
    std::size_t rank = 0;
    bool writable = false;
    Space space = Space::Global;
    std::size_t owner = 0;  // depth in agents_
  };
  struct SyncObject {
    ObjectKind kind = ObjectKind::Barrier;
    std::size_t rank = 0;
    ScalarType type = ScalarType::F32;
  };
  // A buffer that lies at a place, while it lives.
  struct Placed {
    Symbol buffer;
    Space space = Space::Tensor;
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };

  void report(Expr e, Diagnostic d);
  void report(Diagnostic d);
  void report(Code code, std::string message, std::string remedy);
  void bind(Symbol name, std::string_view what, Span span);
  void expr(Expr root, ScalarType type, const std::string& what);
  void exprs(NodeList<Expr> roots, const std::string& what);
  void names(Expr root);
  void variable(Expr e, const ir::Var& var);
  // A read or a store: the buffer is in scope and has this rank and type.
  const Buffer* access(Expr e, Symbol name, NodeList<Expr> indices, ScalarType type);
  // The same for whatever is no expression.
  const Buffer* find_buffer(Symbol name, std::size_t rank);
  void writable(const Buffer* buffer, Symbol name);
  void origin(Symbol origin, NodeList<Expr> point);
  void body(Stmt stmt);
  // A body in which the name is a scalar.
  void body_with(Symbol name, ScalarType type, std::string_view what, Stmt stmt);
  // A body that agents of this scope execute.
  void agents(Scope scope, Stmt stmt);

  void check(const Block& n);
  void check(const For& n);
  void check(const If& n);
  void check(const Let& n);
  void check(const Alloc& n);
  void check(const Store& n);
  void check(const While& n);
  void check(const Ring& n);
  void check(const Call& n);
  void check(const Atomic& n);
  void check(const Prefetch& n);
  void check(const Kernel& n);
  void check(const Bind& n);
  void check(const Concurrent& n);
  void check(const Role& n);
  void check(const Object& n);
  void check(const Async& n);
  void check(const Signal& n);
  void check(const Wait& n);
  void check(const Receive& n);
  void check(const Fence& n);
  void check(const Sync& n);
  void check(const Vote& n);

  void role(Stmt stmt, const Role& n);
  void intrinsics();
  void no_complex(ScalarType type, const std::string& what);
  void plan();
  void place_of_statement(Stmt stmt);
  void scope_narrows(Scope scope, std::string_view what);
  void encloses(Scope scope, std::string_view what);
  void space_exists(const Alloc& n);
  std::optional<Placed> placed(const Alloc& n);
  void operand(const Intrinsic& intrinsic, const TileNode& tile, std::unordered_set<Symbol>& seen);
  // The object, when it is one of these kinds.
  const SyncObject* object(Symbol name, NodeList<Expr> indices, std::string_view verb,
                           std::initializer_list<ObjectKind> kinds);

  const Program& program_;
  const ProgramSpans* spans_;
  std::vector<Diagnostic> out_;
  std::unordered_set<Symbol> bound_;
  std::unordered_set<Symbol> extents_;
  std::unordered_map<Symbol, ScalarType> vars_;
  std::unordered_map<Symbol, Buffer> buffers_;
  std::unordered_map<Symbol, SyncObject> objects_;
  std::unordered_set<Symbol> kernels_;
  std::vector<Scope> agents_{Scope::System};  // from outside in
  std::vector<Placed> placed_;
  std::int64_t register_budget_ = 0;  // of the role, in registers; 0: not said
  std::int64_t registers_ = 0;  // that live here in the role
  std::int64_t copies_ = 1;  // agents inside the role
  bool in_vector_ = false;
  bool in_async_ = false;
  int depth_ = 0;
  Span span_;
};

}  // namespace tilewright::program
