// SPDX-License-Identifier: Apache-2.0
//
// Reads the JSON of a schedule. The form is judged here, with the path of a mistake: members and words, names and
// numbers that the text form can write, placements that end at the root. What the tree means is judged by what judges
// the text: derive, verify, verify_guards.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "frontend/base/format.h"
#include "frontend/base/text.h"
#include "frontend/ir/declarations_json.h"
#include "frontend/ir/json.h"
#include "frontend/ir/text.h"
#include "frontend/ir/verify.h"
#include "frontend/ir/walk.h"
#include "schedules/tree/derive.h"
#include "schedules/tree/guards.h"
#include "schedules/tree/json.h"
#include "schedules/tree/json_names.h"

namespace tilewright::tree {

namespace {

// As in the text: larger numbers would only overflow index arithmetic.
constexpr std::int64_t kMaxNumber = std::int64_t{1} << 31;

class ScheduleReader : public ir::DeclarationReader {
 public:
  ScheduleReader(ir::Context& context, const ir::Algorithm& algorithm)
      : DeclarationReader(context), algorithm_(algorithm) {}

  using DeclarationReader::read;

  // A path such as `layer.peak`; name() is for those without a dot.
  bool read(const Json& json, Symbol& out) {
    const std::string* text = json.as_string();
    if (!text || !is_name(*text)) return refuse("a name is needed here");
    out = context_.symbol(*text);
    return true;
  }
  bool read(const Json& json, Scope& out) {
    return word(json, Scope::Lane, Scope::Device, scope_text, out);
  }
  bool read(const Json& json, Space& out) {
    // Registers are `in_register`.
    return word(json, Space::Shared, Space::Accumulator, space_text, out);
  }
  bool read(const Json& json, LoopKind& out) {
    return word(json, LoopKind::Serial, LoopKind::Unrolled, loop_kind_name, out);
  }
  bool read(const Json& json, LayoutComponent::Part& out) {
    using Part = LayoutComponent::Part;
    return word(json, Part::Whole, Part::Remainder, layout_part_name, out);
  }

  bool read(const Json& json, AlgebraStep& out) {
    std::string kind;
    if (!kind_of(json, kind)) return false;
    if (kind == "split_reduction") {
      SplitReductionStep step;
      return only(json, {"kind", "equation", "variable", "factor", "outer", "inner"}) &&
             field(json, "equation", step.equation) && name(json, "variable", step.var) &&
             number(json, "factor", 1, step.factor) && name(json, "outer", step.outer) &&
             name(json, "inner", step.inner) && (out = step, true);
    }
    if (kind == "defer") {
      DeferStep step;
      return only(json, {"kind", "tensor", "equation"}) && field(json, "tensor", step.tensor) &&
             field(json, "equation", step.equation) && (out = step, true);
    }
    if (kind == "recompute") {
      RecomputeStep step;
      return only(json, {"kind", "equation", "reader"}) && field(json, "equation", step.equation) &&
             field(json, "reader", step.reader) && (out = step, true);
    }
    return refuse("a step of kind `split_reduction`, `defer` or `recompute` is needed here");
  }

  bool read(const Json& json, Step& out) {
    std::string kind;
    if (!kind_of(json, kind)) return false;
    if (kind == "split") {
      SplitStep step;
      return only(json, {"kind", "loop", "factor", "outer", "inner"}) &&
             name(json, "loop", step.parent) && number(json, "factor", 1, step.factor) &&
             name(json, "outer", step.outer) && name(json, "inner", step.inner) &&
             (out = step, true);
    }
    if (kind == "fuse") {
      FuseStep step;
      return only(json, {"kind", "outer", "inner", "fused"}) && name(json, "outer", step.outer) &&
             name(json, "inner", step.inner) && name(json, "fused", step.fused) &&
             (out = step, true);
    }
    return refuse("a step of kind `split` or `fuse` is needed here");
  }

  bool read(const Json& json, Prefetch& out) {
    return only(json, {"tensor", "distance"}) && field(json, "tensor", out.tensor) &&
           number(json, "distance", 1, out.distance);
  }
  bool read(const Json& json, PipelineRow& out) {
    return only(json, {"statement", "stage", "unit"}) && field(json, "statement", out.statement) &&
           number(json, "stage", 0, out.stage) &&
           (!json.find("unit") || name(json, "unit", out.unit));
  }
  bool read(const Json& json, Role& out) {
    return only(json, {"name", "statements", "scope", "lanes", "registers"}) &&
           name(json, "name", out.name) && some(json, "statements", out.statements) &&
           field(json, "scope", out.scope) && maybe_number(json, "lanes", 0, out.lanes) &&
           maybe_number(json, "registers", 0, out.registers);
  }
  bool read(const Json& json, OrderEdge& out) {
    return only(json, {"before", "after", "distance"}) && field(json, "before", out.before) &&
           field(json, "after", out.after) && maybe_number(json, "distance", 0, out.distance);
  }
  bool read(const Json& json, Loop& out) {
    return only(json, {"name", "kind", "peel", "bind", "agents_by", "when", "prefetch", "pipeline",
                       "roles", "order"}) &&
           name(json, "name", out.name) && field(json, "kind", out.kind) &&
           maybe(json, "peel", out.peel) && maybe(json, "bind", out.scope) &&
           maybe_number(json, "agents_by", 1, out.agents_by) &&
           conditions(json, "when", out.versions) && maybe(json, "prefetch", out.prefetches) &&
           maybe(json, "pipeline", out.pipeline) && maybe(json, "roles", out.roles) &&
           maybe(json, "order", out.order);
  }

  bool read(const Json& json, LoopRef& out) {
    return only(json, {"nest", "loop"}) && field(json, "nest", out.nest) &&
           name(json, "loop", out.loop);
  }
  bool read(const Json& json, LayoutComponent& out) {
    if (!only(json, {"name", "dim", "part", "factor"}) || !name(json, "name", out.name) ||
        !name(json, "dim", out.dim) || !field(json, "part", out.part) ||
        !maybe_number(json, "factor", 1, out.factor))
      return false;
    return out.part != LayoutComponent::Part::Whole || out.factor == 1 ||
           refuse("a whole dimension has no factor");
  }
  bool read(const Json& json, Swizzle& out) {
    return only(json, {"target", "target_bit", "source", "source_bit", "bits"}) &&
           name(json, "target", out.target) && bit(json, "target_bit", 0, out.target_bit) &&
           name(json, "source", out.source) && bit(json, "source_bit", 0, out.source_bit) &&
           bit(json, "bits", 1, out.bits);
  }
  bool read(const Json& json, Stage& out) {
    return only(json, {"tensor", "dims", "layout", "pad", "at_plan", "swizzle"}) &&
           field(json, "tensor", out.tensor) && names(json, "dims", out.dims) &&
           field(json, "layout", out.layout) && maybe(json, "pad", out.pad) &&
           maybe(json, "at_plan", out.at_plan) && maybe(json, "swizzle", out.swizzles);
  }
  bool read(const Json& json, Tensorized& out) {
    return only(json, {"instruction", "loops"}) && field(json, "instruction", out.instruction) &&
           names(json, "loops", out.loops);
  }
  bool read(const Json& json, Nest& out) {
    if (!only(json, {"name", "at", "stage", "steps", "kernel", "in_register", "space", "ring",
                     "async", "keep", "tensorize", "loops"}) ||
        !maybe(json, "at", out.at) || !maybe(json, "stage", out.stage))
      return false;
    // The buffer of a staged copy is new, so it is no path.
    return (out.stage ? name(json, "name", out.name) : field(json, "name", out.name)) &&
           field(json, "steps", out.steps) && maybe(json, "kernel", out.kernel) &&
           maybe(json, "in_register", out.in_register) && maybe(json, "space", out.space) &&
           maybe_number(json, "ring", 1, out.ring) && maybe(json, "async", out.is_async) &&
           (!json.find("keep") || names(json, "keep", out.keep)) &&
           maybe(json, "tensorize", out.tensorized) && field(json, "loops", out.loops);
  }
  bool read(const Json& json, Set& out) {
    return only(json, {"members", "order"}) && some(json, "members", out.members) &&
           maybe(json, "order", out.order);
  }

  bool read(const Json& json, Tree& out) {
    if (!only(json, {"algebra", "inline", "nests", "sets"}) ||
        !maybe(json, "algebra", out.algebra) || !within("algebra", [&] { return derived(out); }) ||
        !maybe(json, "inline", out.inlined) || !field(json, "nests", out.nests) ||
        !within("nests", [&] { return placed(out.nests); }) || !maybe(json, "sets", out.sets))
      return false;
    std::sort(out.inlined.begin(), out.inlined.end());
    order_nests(out);
    return true;
  }

  bool read(const Json& json, Schedule& out) {
    if (!header(json, "tilewright.schedule") ||
        !only(json, {"format", "version", "name", "algorithm", "machine", "algorithm_hash",
                     "guards", "tree"}) ||
        !name(json, "name", out.name) || !field(json, "algorithm", out.algorithm) ||
        !text(json, "machine", out.machine) ||
        !within("machine", [&] { return is_machine(out.machine); }) || !for_algorithm(json, out))
      return false;
    return conditions(json, "guards", out.guards) && field(json, "tree", out.tree);
  }

  Failure fail_with(Failure failure) const {
    // Whatever an algorithm's own places are, they are none of this JSON.
    for (Diagnostic& d : failure.diagnostics) d.span = {};
    return failure;
  }

 private:
  template <class Body>
  bool within(std::string part, const Body& body) {
    path_.push_back(std::move(part));
    const bool good = body();
    path_.pop_back();
    return good;
  }

  // An object with no member but these.
  bool only(const Json& json, std::initializer_list<std::string_view> known) {
    const Json::Object* object = json.as_object();
    if (!object) return refuse("an object is needed here");
    for (const auto& [member_name, value] : *object) {
      if (std::find(known.begin(), known.end(), member_name) != known.end()) continue;
      std::string choices;
      for (std::string_view one : known)
        (choices += choices.empty() ? "" : ", ") += in_backticks(one);
      return refuse(in_backticks(member_name) + " is no member here; there are " + choices);
    }
    return true;
  }

  template <class T>
  bool field(const Json& json, std::string_view key, T& out) {
    return member(*this, json, key, out);
  }
  template <class T>
  bool field(const Json& json, std::string_view key, std::vector<T>& out) {
    return list(*this, json, key, out);
  }
  template <class T>
  bool field(const Json& json, std::string_view key, std::optional<T>& out) {
    return member(*this, json, key, out.emplace());
  }
  template <class T>
  bool maybe(const Json& json, std::string_view key, T& out) {
    return !json.find(key) || field(json, key, out);
  }
  template <class T>
  bool some(const Json& json, std::string_view key, std::vector<T>& out) {
    return field(json, key, out) && (!out.empty() || within(std::string(key), [&] {
             return refuse("a list of at least one is needed here");
           }));
  }
  bool text(const Json& json, std::string_view key, std::string& out) {
    const Json* found = json.find(key);
    if (!found) return refuse("the member " + in_backticks(key) + " is missing");
    if (!found->as_string())
      return within(std::string(key), [&] { return refuse("a text is needed here"); });
    out = *found->as_string();
    return true;
  }
  bool kind_of(const Json& json, std::string& out) { return text(json, "kind", out); }

  bool name(const Json& json, std::string_view key, Symbol& out) {
    return field(json, key, out) && without_dot(key, out);
  }
  bool names(const Json& json, std::string_view key, std::vector<Symbol>& out) {
    return field(json, key, out) &&
           std::all_of(out.begin(), out.end(), [&](Symbol one) { return without_dot(key, one); });
  }
  bool without_dot(std::string_view key, Symbol symbol) {
    return symbol.text().find('.') == std::string_view::npos ||
           within(std::string(key), [&] { return refuse("a name without a dot is needed here"); });
  }

  bool number(const Json& json, std::string_view key, std::int64_t least, std::int64_t& out,
              std::int64_t most = kMaxNumber) {
    return field(json, key, out) &&
           ((out >= least && out <= most) || within(std::string(key), [&] {
              return refuse("a number from " + std::to_string(least) + " to " +
                            std::to_string(most) + " is needed here");
            }));
  }
  bool maybe_number(const Json& json, std::string_view key, std::int64_t least, std::int64_t& out) {
    return !json.find(key) || number(json, key, least, out);
  }
  bool bit(const Json& json, std::string_view key, std::int64_t least, int& out) {
    std::int64_t wide = 0;
    if (!number(json, key, least, wide, kMaxSwizzleBits)) return false;
    out = static_cast<int>(wide);
    return true;
  }

  template <class Enum>
  bool word(const Json& json, Enum first, Enum last, std::string_view (*text_of)(Enum), Enum& out) {
    const std::string* text = json.as_string();
    std::string choices;
    for (int i = static_cast<int>(first); i <= static_cast<int>(last); ++i) {
      const std::string_view candidate = text_of(static_cast<Enum>(i));
      if (text && *text == candidate) {
        out = static_cast<Enum>(i);
        return true;
      }
      (choices += choices.empty() ? "" : ", ") += in_backticks(candidate);
    }
    return refuse("one of " + choices + " is needed here");
  }

  // What the text form takes after `on`: words without a blank between them, up to a brace.
  bool is_machine(const std::string& machine) {
    const Source source("machine", machine);
    TextCursor cursor(source);
    std::string words;
    bool brace = false;
    while (!cursor.at_end()) {
      brace = brace || cursor.at("{");
      words += cursor.next().text;
    }
    return (!cursor.failed() && !brace && !words.empty() && words == machine) ||
           refuse("a machine such as `x86-64-v4`, or the path of a machine file, is needed here");
  }

  bool for_algorithm(const Json& json, Schedule& out) {
    const std::string own(algorithm_.name.text());
    if (!(out.algorithm == algorithm_.name))
      return other(in_backticks(out.algorithm.text()), in_backticks(own),
                   "give the schedule its own algorithm");
    if (!json.find("algorithm_hash")) return true;
    if (!text(json, "algorithm_hash", out.algorithm_hash)) return false;
    const std::string hash = ir::algorithm_hash(algorithm_);
    return out.algorithm_hash == hash ||
           other("another content of " + in_backticks(own), "this one",
                 "the algorithm given has the hash " + in_backticks(hash));
  }
  bool other(const std::string& wanted, const std::string& given, std::string remedy) {
    failure_ = Failure{{Diagnostic{Code::ScheduleHeader,
                                   {},
                                   "a schedule for " + wanted + ", used with " + given,
                                   std::move(remedy),
                                   {},
                                   {}}}};
    return false;
  }

  // Conditions on sizes, as the text form can write them.
  bool conditions(const Json& json, std::string_view key, std::vector<Expr>& out) {
    if (!maybe(json, key, out)) return false;
    for (std::size_t i = 0; i < out.size(); ++i)
      if (!within(std::string(key) + "." + std::to_string(i), [&] {
            return condition(out[i]) &&
                   no_more((*json.find(key)->as_array())[i], ir::to_json(out[i]));
          }))
        return false;
    return true;
  }
  // No member that the writer does not write.
  bool no_more(const Json& given, const Json& written) {
    if (const Json::Object* object = given.as_object())
      for (const auto& [member_name, value] : *object) {
        const Json* same = written.find(member_name);
        if (!same) return refuse(in_backticks(member_name) + " is no member here");
        if (!no_more(value, *same)) return false;
      }
    const Json::Array* list = given.as_array();
    const Json::Array* other = written.as_array();
    for (std::size_t i = 0; list && other && i < std::min(list->size(), other->size()); ++i)
      if (!no_more((*list)[i], (*other)[i])) return false;
    return true;
  }
  bool condition(Expr root) {
    if (root.type() != ir::ScalarType::Bool) return refuse("a condition is needed here");
    std::string wrong;
    ir::verify_expr(root, [&](Expr, const Diagnostic& d) {
      if (wrong.empty()) wrong = d.message;
    });
    if (!wrong.empty()) return refuse(wrong);
    ir::walk(root, [&](Expr e) {
      const auto* extent = e.as<ir::Extent>();
      if (extent && !algorithm_.find_extent(extent->name))
        wrong = in_backticks(extent->name.text()) + " is no extent of the algorithm";
      if (e.as<ir::Var>() || e.as<ir::Read>() || e.as<ir::Fold>())
        wrong = "a condition is over the sizes alone";
    });
    return wrong.empty() || refuse(wrong);
  }

  // The algorithm whose equations the nests compute.
  bool derived(Tree& tree) {
    for (std::size_t i = 0; i < tree.algebra.size(); ++i) {
      auto made = derive(context_, tree.algorithm(algorithm_), tree.algebra[i]);
      if (!made.ok()) {
        failure_ = std::move(made).failure();
        for (Diagnostic& d : failure_.diagnostics)
          d.evidence.emplace_back("path", "tree.algebra." + std::to_string(i));
        return false;
      }
      tree.derived.algorithm = std::make_shared<const ir::Algorithm>(std::move(made->algorithm));
    }
    return true;
  }

  // Each nest has its own name, and from each the way outwards ends at the root, through no more levels than a text
  // may nest: all that comes after recurses along it.
  bool placed(const std::vector<Nest>& nests) {
    std::unordered_map<Symbol, const Nest*> by_name;
    for (std::size_t i = 0; i < nests.size(); ++i)
      if (!by_name.emplace(nests[i].name, &nests[i]).second)
        return within(std::to_string(i), [&] {
          return refuse(in_backticks(nests[i].name.text()) + " has two nests");
        });
    for (std::size_t i = 0; i < nests.size(); ++i)
      if (!within(std::to_string(i), [&] { return is_placed(nests[i], by_name); })) return false;
    return true;
  }
  bool is_placed(const Nest& nest, const std::unordered_map<Symbol, const Nest*>& by_name) {
    std::size_t levels = nest.loops.size() + 2;
    std::set<Symbol> seen;
    for (const Nest* inner = &nest; inner->at && levels <= kMaxTextNesting;) {
      if (!seen.insert(inner->name).second)
        return refuse(in_backticks(nest.name.text()) + " stands in a nest that stands in itself");
      const auto found = by_name.find(inner->at->nest);
      if (found == by_name.end()) break;  // verify() refuses it
      const std::vector<Loop>& loops = found->second->loops;
      const auto at = std::find_if(loops.begin(), loops.end(),
                                   [&](const Loop& loop) { return loop.name == inner->at->loop; });
      levels += 2 + static_cast<std::size_t>(at - loops.begin());
      inner = found->second;
    }
    return levels <= kMaxTextNesting ||
           refuse("nests and loops of more than " + std::to_string(kMaxTextNesting) + " levels");
  }

  const ir::Algorithm& algorithm_;
};

}  // namespace

Result<Schedule> schedule_from_json(ir::Context& context, const ir::Algorithm& algorithm,
                                    const Json& json) {
  ScheduleReader reader(context, algorithm);
  Schedule schedule;
  if (!reader.read(json, schedule)) return reader.fail_with(reader.failure());
  auto verified = verify(algorithm, schedule.tree, schedule.guards);
  if (verified.ok()) verified = verify_guards(algorithm, schedule);
  if (!verified.ok()) return reader.fail_with(std::move(verified).failure());
  return schedule;
}

}  // namespace tilewright::tree
