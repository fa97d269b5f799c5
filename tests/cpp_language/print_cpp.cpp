// SPDX-License-Identifier: Apache-2.0
//
// print_cpp COUNT OUTPUT FILE.tw...: writes random algorithms and those of the files as C++ code (generated.h).
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "frontend/base/format.h"
#include "frontend/base/render.h"
#include "frontend/ir/generate.h"
#include "frontend/ir/text.h"

namespace tilewright {
namespace {

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

std::string type_name(ir::ScalarType type) {
  const std::string text(ir::type_text(type));
  return text == "bool" || text == "index" ? text + "_" : text;
}

// Whether the C++ language has a form for all of it: one value for each fold, by sum, prod, min or max, over
// all of its bounds; no facts, no views, no constants.
bool has_cpp_form(const ir::Algorithm& algorithm) {
  for (const ir::Input& input : algorithm.inputs)
    if (input.facts.any() || input.is_const) return false;
  for (const ir::Equation& equation : algorithm.equations) {
    if (equation.is_view) return false;
    const ir::Fold* fold = equation.fold();
    if (fold == nullptr) continue;
    const ir::Monoid kind = fold->monoid_kind();
    if (!fold->is_plain() || kind == ir::Monoid::And || kind == ir::Monoid::Or) return false;
  }
  return algorithm.monoids.empty();
}

class CppPrinter {
 public:
  explicit CppPrinter(const ir::Algorithm& algorithm) : algorithm_(algorithm) {}

  std::string function(const std::string& name) {
    out_ = "Algorithm " + name + "() {\n  Algorithm a(" + quoted(algorithm_.name.text()) + ");\n";
    for (const ir::ExtentDecl& extent : algorithm_.extents) {
      std::string range = ".min = " + std::to_string(extent.min);
      if (extent.max) range += ", .max = " + std::to_string(*extent.max);
      range += ", .multiple_of = " + std::to_string(extent.multiple_of);
      line("Extent " + declare(extent.name) + "(a, " + quoted(extent.name.text()) + ", {" + range +
           "});");
    }
    for (const ir::Expr requirement : algorithm_.requirements)
      line("a.require(" + expr(requirement) + ");");
    for (const ir::Input& input : algorithm_.inputs)
      line("Input " + declare(input.name) + "(a, " + quoted(input.name.text()) + ", " +
           type_name(input.type) + ", {" + list(input.shape) + "});");
    for (const ir::Equation& equation : algorithm_.equations) define(equation);
    return out_ + "  return a;\n}\n";
  }

 private:
  void line(const std::string& text) { out_ += "  " + text + "\n"; }

  std::string declare(Symbol name) {
    return names_.emplace(name, "t" + std::to_string(names_.size())).first->second;
  }

  void define(const ir::Equation& equation) {
    const std::string tensor = declare(equation.name);
    line((equation.is_output ? "Output " : "Tensor ") + tensor + "(a, " +
         quoted(equation.name.text()) + ", " + type_name(equation.type) + ");");
    std::string head;
    for (std::size_t i = 0; i < equation.indices.size(); ++i)
      head += (i ? ", " : "") + var(equation.indices[i]) + " < " + expr(equation.shape[i]);
    line(tensor + ".at({" + head + "}) = " + expr(equation.value) + ";");
  }

  static std::string var(Symbol name) { return "Var(" + quoted(name.text()) + ")"; }

  std::string list(std::span<const ir::Expr> exprs) {
    std::string out;
    for (const ir::Expr e : exprs) out += (out.empty() ? "" : ", ") + expr(e);
    return out;
  }

  static std::string integer(std::int64_t value) {
    return value == INT64_MIN ? "INT64_MIN" : "INT64_C(" + std::to_string(value) + ")";
  }

  static std::string real(const ir::FloatConst& n) {
    if (std::isnan(n.value)) return "NAN";
    if (std::isinf(n.value)) return n.value < 0 ? "-inf" : "inf";
    const std::string text = n.type == ir::ScalarType::F64
                                 ? format_double(n.value)
                                 : format_float(static_cast<float>(n.value));
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
  }

  std::string operation(const ir::Op& n) {
    const ir::OpInfo& info = ir::op_info(n.op);
    const std::string op(info.text);
    if (info.syntax == ir::OpSyntax::Infix)
      return "(" + expr(n.args[0]) + " " + op + " " + expr(n.args[1]) + ")";
    if (info.syntax == ir::OpSyntax::Prefix) return "(" + op + expr(n.args[0]) + ")";
    return op + "(" + list(n.args) + ")";
  }

  std::string fold(const ir::Fold& n) {
    std::string domain;
    for (std::size_t i = 0; i < n.vars.size(); ++i)
      domain += (i ? ", " : "") + ("RDom(" + quoted(n.vars[i].text())) + ", " + expr(n.lower[i]) +
                ", " + expr(n.upper[i]) + ")";
    return std::string(n.monoid.text()) + "({" + domain + "}, " + list(n.body) + ")";
  }

  std::string expr(ir::Expr e) {
    return ir::visit(
        e, ir::Overloaded{
               [&](const ir::IntConst& n) {
                 if (n.type == ir::ScalarType::U64)
                   return type_name(n.type) + "(UINT64_C(" +
                          std::to_string(static_cast<std::uint64_t>(n.value)) + "))";
                 if (n.type == ir::ScalarType::Index) return "Expr(" + integer(n.value) + ")";
                 return type_name(n.type) + "(" + integer(n.value) + ")";
               },
               [&](const ir::FloatConst& n) { return type_name(n.type) + "(" + real(n) + ")"; },
               [&](const ir::BoolConst& n) {
                 return std::string(n.value ? "Expr(true)" : "Expr(false)");
               },
               [&](const ir::Var& n) { return var(n.name); },
               [&](const ir::Extent& n) { return names_.at(n.name); },
               [&](const ir::Read& n) {
                 return names_.at(n.tensor) + ".at({" + list(n.indices) + "})";
               },
               [&](const ir::Op& n) { return operation(n); },
               [&](const ir::Select& n) {
                 return "select(" + expr(n.condition) + ", " + expr(n.then_value) + ", " +
                        expr(n.else_value) + ")";
               },
               [&](const ir::Cast& n) {
                 const auto* constant = n.value.as<ir::IntConst>();
                 const bool index = constant && constant->type == ir::ScalarType::Index;
                 return type_name(n.type) + "(" + (index ? "index_(" : "") + expr(n.value) +
                        (index ? "))" : ")");
               },
               [&](const ir::Saturate& n) {
                 return "saturate(" + type_name(n.type) + ", " + expr(n.value) + ")";
               },
               [&](const ir::RoundTo& n) {
                 return "round_to(" + type_name(n.grid) + ", " + expr(n.value) + ")";
               },
               [&](const ir::Fold& n) { return fold(n); },
           });
  }

  const ir::Algorithm& algorithm_;
  std::map<Symbol, std::string> names_;
  std::string out_;
};

class Batch {
 public:
  void add(const std::string& name, const ir::Algorithm& algorithm) {
    const std::string function = "make_" + std::to_string(count_++);
    functions_ += CppPrinter(algorithm).function(function);
    rows_ += "    {\"" + name + "\", R\"tw(" + ir::print(algorithm) + ")tw\", " + function + "},\n";
  }

  std::string text() const {
    return "// Generated by tests/cpp_language/print_cpp.cpp.\n#include <cmath>\n#include "
           "<cstdint>\n\n"
           "#include \"tests/cpp_language/generated.h\"\n\nnamespace tilewright::generated {\n\n"
           "namespace {\nusing namespace language;\n\n" +
           functions_ + "\nconst Case kCases[] = {\n" + rows_ +
           "};\n}  // namespace\n\nstd::span<const Case> cases() { return kCases; }\n\n"
           "}  // namespace tilewright::generated\n";
  }

 private:
  int count_ = 0;
  std::string functions_;
  std::string rows_;
};

int run(int argc, char** argv) {
  if (argc < 3) return 2;
  Batch batch;
  const int wanted = std::atoi(argv[1]);
  for (int seed = 0, taken = 0; taken < wanted && seed < 20 * wanted; ++seed) {
    ir::Context context;
    ir::GenerateOptions options;
    options.defined = seed % 3 != 0;
    const ir::Algorithm algorithm = ir::random_algorithm(context, seed, options);
    if (!has_cpp_form(algorithm)) continue;
    batch.add("seed " + std::to_string(seed), algorithm);
    ++taken;
  }
  for (int i = 3; i < argc; ++i) {
    std::ifstream file(argv[i]);
    std::stringstream text;
    text << file.rdbuf();
    ir::Context context;
    const Source source(argv[i], text.str());
    auto parsed = ir::parse_algorithm(context, source);
    if (!parsed.ok()) {
      std::fputs(render(parsed.diagnostics(), &source).c_str(), stderr);
      return 1;
    }
    batch.add(std::string(parsed->name.text()), *parsed);
  }
  std::ofstream(argv[2]) << batch.text();
  return 0;
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) { return tilewright::run(argc, argv); }
