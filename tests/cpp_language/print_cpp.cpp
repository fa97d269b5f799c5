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
    for (const ir::MonoidDecl& monoid : algorithm_.monoids) declare_monoid(monoid);
    for (const ir::Input& input : algorithm_.inputs)
      line((input.is_const                     ? "ConstInput "
            : algorithm_.new_value(input.name) ? "InOut "
                                               : "Input ") +
           declare(input.name) + "(a, " + quoted(input.name.text()) + ", " + type_name(input.type) +
           ", {" + list(input.shape) + "}" + facts(input.facts) + ");");
    define_all();
    return out_ + "  return a;\n}\n";
  }

 private:
  void line(const std::string& text) { out_ += "  " + text + "\n"; }

  std::string declare(Symbol name) {
    return names_.emplace(name, "t" + std::to_string(names_.size())).first->second;
  }

  // Each loop around its equations.
  void define_all() {
    std::size_t next = 0;
    std::vector<const ir::Loop*> open;
    for (std::size_t i = 0; i < algorithm_.equations.size(); ++i) {
      for (; next < algorithm_.loops.size() && algorithm_.loops[next].first == i; ++next) {
        open.push_back(&algorithm_.loops[next]);
        begin(*open.back());
      }
      define(algorithm_.equations[i]);
      for (; !open.empty() && open.back()->last == i + 1; open.pop_back()) {
        const std::string loop = names_.at(open.back()->var);
        for (const ir::Carry& carry : open.back()->carries)
          line(loop + ".next(" + names_.at(carry.name) + ", " + names_.at(carry.next) + ");");
        line(loop + ".end();");
      }
    }
  }

  void begin(const ir::Loop& loop) {
    const std::string trips = expr(loop.trips);
    const std::string name = declare(loop.var);
    line("Loop " + name + "(a, " + quoted(loop.var.text()) + ", " + trips + ");");
    for (const ir::Carry& carry : loop.carries)
      line("Tensor " + declare(carry.name) + " = " + name + ".carry(" + quoted(carry.name.text()) +
           ", " + names_.at(carry.start) + ");");
    if (loop.condition) line(name + ".while_(" + expr(loop.condition) + ");");
  }

  void define(const ir::Equation& equation) {
    const std::string tensor = declare(equation.name);
    std::string made = equation.is_output ? "Output " : equation.is_view ? "View " : "Tensor ";
    made += tensor + "(a, " + quoted(equation.name.text());
    if (equation.parts.empty()) made += ", " + type_name(equation.type);
    if (equation.into.valid()) made += ", " + names_.at(equation.into);
    line(made + ");");
    for (const ir::TensorPart& part : equation.parts)
      names_[part.name] =
          tensor + "[" + quoted(part.name.text().substr(equation.name.text().size() + 1)) + "]";
    std::string head;
    for (std::size_t i = 0; i < equation.indices.size(); ++i)
      head += (i ? ", " : "") + var(equation.indices[i]) + " < " + expr(equation.shape[i]);
    line(tensor + ".at({" + head + "}) = " + expr(equation.value) + ";");
  }

  void declare_monoid(const ir::MonoidDecl& monoid) {
    const std::string name = declare(monoid.name);
    std::string fields;
    for (std::size_t i = 0; i < monoid.fields.size(); ++i)
      fields += (i ? ", {" : "{") + quoted(monoid.fields[i].text()) + ", " +
                type_name(monoid.types[i]) + "}";
    line("Monoid " + name + "(a, " + quoted(monoid.name.text()) + ", {" + fields + "}, {" +
         list(monoid.identity) + "});");
    line(name + "(Element(" + quoted(monoid.left.text()) + "), Element(" +
         quoted(monoid.right.text()) + ")) = {" + list(monoid.combine) + "};");
    if (monoid.commutative) line(name + ".commutative();");
  }

  std::string facts(const ir::Facts& facts) {
    if (!facts.any()) return {};
    const bool ordered = !facts.lower;
    return (ordered ? std::string(", monotone()")
                    : ", range(" + expr(facts.lower) + ", " + expr(facts.upper) + ")") +
           (facts.clamp ? ".clamp()" : "") + (facts.monotone && !ordered ? ".monotone()" : "") +
           (facts.injective ? ".injective()" : "") + (facts.assumed ? ".assumed()" : "");
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
    const bool declared = n.monoid_kind() == ir::Monoid::Declared;
    const std::string text(n.monoid.text());
    const std::string name = declared        ? names_.at(n.monoid)
                             : text == "and" ? "all"
                             : text == "or"  ? "any"
                                             : text;
    const std::string terms = "{" + list(n.body) + "}";
    if (n.scan && n.state.empty())
      return (declared ? name + ".scan" : "scan_" + name) + "(" + var(n.vars[0]) + ", " + terms +
             ")";
    if (n.scan) {
      std::string state;
      for (std::size_t i = 0; i < n.state.size(); ++i)
        state += (i ? ", " : "") + ("State(" + quoted(n.state[i].text())) + ").from(" +
                 expr(n.base[i]) + ")";
      return "scan(" + var(n.vars[0]) + ", {" + state + "}, " + terms + ")";
    }
    std::string domain;
    for (std::size_t i = 0; i < n.vars.size(); ++i)
      domain += (i ? ", " : "") + ("RDom(" + quoted(n.vars[i].text())) + ", " + expr(n.lower[i]) +
                ", " + expr(n.upper[i]) + ")";
    std::string out = name + "({" + domain + "}, " + terms + ")";
    if (!n.where.empty()) out += ".where(" + expr(n.where[0]) + ")";
    if (!n.on_empty.empty()) out += ".on_empty({" + list(n.on_empty) + "})";
    if (n.is_update()) out = "update({" + list(n.base) + "}, " + out + ".at({" + list(n.at) + "}))";
    return out;
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
