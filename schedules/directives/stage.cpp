// SPDX-License-Identifier: Apache-2.0
//
// stage b[k, j] at c.jt as bp[k, j] pad            copies the columns that one jt needs; pads them to whole tiles
// stage a[i, k] at c.it as ap[k, i]                transposes
// stage b[k, j] at c.ko as bp[jo = j / 16, k, ji = j % 16] pad     packs into panels
// stage b[k, j] at c.ko as bp[k, j] layout swizzle(j[2:5] by k[0:3])   moves each row by its number, bit by bit
// stage w[k, j] at plan as wp[j / 16, k, j % 16] pad               once, of a constant input
// The components of the layout become the loops of the copy: bp.k, bp.j. Unnamed parts of a split dimension
// are called `j_o` and `j_i`.
#include <algorithm>

#include "schedules/directives/directive.h"

namespace tilewright::directives {

namespace {

using tree::LayoutComponent;

// `j`, `j / 16`, `j % 16`, each optionally after `name =`.
std::optional<LayoutComponent> parse_component(Reader& reader, std::vector<Span>& places) {
  auto dim = reader.name("a dimension");
  if (!dim) return std::nullopt;
  places.push_back(dim->span);
  LayoutComponent out;
  out.name = out.dim = *dim;
  const bool named = reader.cursor.accept("=");
  if (named) {
    auto source = reader.name("a dimension");
    if (!source) return std::nullopt;
    out.dim = *source;
  }
  const bool quotient = reader.cursor.at("/");
  if (!quotient && !reader.cursor.at("%")) return out;
  reader.cursor.next();
  auto factor = reader.factor();
  if (!factor) return std::nullopt;
  out.factor = *factor;
  out.part = quotient ? LayoutComponent::Part::Quotient : LayoutComponent::Part::Remainder;
  if (!named) out.name = reader.context.symbol(std::string(dim->text()) + (quotient ? "_o" : "_i"));
  return out;
}

std::string default_name(const LayoutComponent& part) {
  const std::string dim(part.dim.text());
  switch (part.part) {
    case LayoutComponent::Part::Whole: return dim;
    case LayoutComponent::Part::Quotient: return dim + "_o";
    case LayoutComponent::Part::Remainder: return dim + "_i";
  }
  __builtin_unreachable();
}

std::string print_component(const LayoutComponent& part) {
  std::string text;
  if (part.name.text() != default_name(part)) text = std::string(part.name.text()) + " = ";
  text += part.dim.text();
  if (part.part == LayoutComponent::Part::Quotient) text += " / " + std::to_string(part.factor);
  if (part.part == LayoutComponent::Part::Remainder) text += " % " + std::to_string(part.factor);
  return text;
}

// `j[2:5]`: a component and bits of it.
std::optional<std::pair<Word, std::pair<int, int>>> parse_bits(Reader& reader) {
  TextCursor& cursor = reader.cursor;
  auto name = reader.name("a component of the layout");
  if (!name || !cursor.expect("[", "after the component", "write its bits: `j[2:5]`"))
    return std::nullopt;
  const Span at = cursor.peek().span;
  auto low = cursor.expect_integer("the lowest bit");
  if (!low || !cursor.expect(":", "after the lowest bit", "write `j[2:5]`")) return std::nullopt;
  auto high = cursor.expect_integer("the end of the bits");
  if (!high || !cursor.expect("]", "after the bits")) return std::nullopt;
  if (*low < 0 || *high <= *low || *high > tree::kMaxSwizzleBits) {
    cursor.report(Code::BadNumber, at,
                  "bits " + std::to_string(*low) + " to " + std::to_string(*high),
                  "write a range of bits below " + std::to_string(tree::kMaxSwizzleBits) +
                      ", its end not included");
    return std::nullopt;
  }
  return std::pair{*name, std::pair{static_cast<int>(*low), static_cast<int>(*high)}};
}

// `layout swizzle(j[2:5] by k[0:3], ...)`.
bool parse_swizzles(Reader& reader, std::vector<tree::Swizzle>& out) {
  TextCursor& cursor = reader.cursor;
  if (!cursor.accept("layout")) return true;
  if (!cursor.expect("swizzle", "after `layout`", "write `layout swizzle(j[2:5] by k[0:3])`") ||
      !cursor.expect("(", "after `swizzle`"))
    return false;
  do {
    auto target = parse_bits(reader);
    if (!target ||
        !cursor.expect("by", "after the bits", "write `by` and the bits that change them"))
      return false;
    const Span at = cursor.peek().span;
    auto source = parse_bits(reader);
    if (!source) return false;
    const auto [low, high] = target->second;
    const auto [source_low, source_high] = source->second;
    if (high - low != source_high - source_low) {
      cursor.report(Code::BadNumber, at,
                    std::to_string(source_high - source_low) + " bits, where " +
                        std::to_string(high - low) + " are changed",
                    "write ranges of one length");
      return false;
    }
    out.push_back(
        {target->first, low, source->first, source_low, high - low, {target->first.span}});
  } while (cursor.accept(","));
  return cursor.expect(")", "after the swizzle");
}

std::string print_bits(Symbol name, int low, int bits) {
  return std::string(name.text()) + "[" + std::to_string(low) + ":" + std::to_string(low + bits) +
         "]";
}

}  // namespace

std::optional<StageCopy> StageCopy::parse(Reader& reader) { return parse_with(reader, true); }
std::optional<StageCopy> StageCopy::parse_in_tree(Reader& reader) {
  return parse_with(reader, false);
}

std::optional<StageCopy> StageCopy::parse_with(Reader& reader, bool with_place) {
  StageCopy out;
  TextCursor& cursor = reader.cursor;
  auto tensor = reader.path("a tensor");
  if (!tensor ||
      !cursor.expect("[", "after the tensor", "name its dimensions: `stage b[k, j] ...`"))
    return std::nullopt;
  // A tensor without dimensions is written `x[]`.
  if (!cursor.accept("]")) {
    auto dims = reader.names("a name for a dimension");
    if (!dims || !cursor.expect("]", "after the dimensions")) return std::nullopt;
    out.stage.dims = symbols(*dims);
    out.stage.dim_places = places(*dims);
  }
  if (with_place && !cursor.expect("at", "after the tensor", "write `at nest.loop`, or `at plan`"))
    return std::nullopt;
  // In a tree the place is around a copy, or it says that it has none.
  const bool at_plan = with_place ? cursor.at("plan") && cursor.peek(1).text == "as"
                                  : cursor.at("at") && cursor.peek(1).text == "plan";
  if (at_plan) {
    if (!with_place) cursor.next();
    cursor.next();
    out.stage.at_plan = true;
  } else if (with_place) {
    auto at = reader.loop_name();
    if (!at) return std::nullopt;
    out.at = *at;
  }
  if (!cursor.expect("as", "before the copy", "write `as buffer[layout]`")) return std::nullopt;
  auto buffer = reader.name("a name for the copy");
  if (!buffer || !cursor.expect("[", "after the buffer", "write its layout: `as bp[k, j]`"))
    return std::nullopt;
  if (!cursor.accept("]")) {
    do {
      auto part = parse_component(reader, out.stage.layout_places.spans);
      if (!part) return std::nullopt;
      out.stage.layout.push_back(*part);
    } while (cursor.accept(","));
    if (!cursor.expect("]", "after the layout")) return std::nullopt;
  }
  out.stage.tensor = *tensor;
  out.stage.tensor_place = {tensor->span};
  out.stage.pad = cursor.accept("pad");
  if (!parse_swizzles(reader, out.stage.swizzles)) return std::nullopt;
  out.buffer = *buffer;
  return out;
}

std::string print_stage(const tree::Stage& stage, std::string_view buffer,
                        const std::string& place) {
  std::string text = "stage " + std::string(stage.tensor.text()) + "[";
  for (std::size_t i = 0; i < stage.dims.size(); ++i)
    text += (i ? ", " : "") + std::string(stage.dims[i].text());
  text += "]" + (stage.at_plan ? " at plan" : place) + " as " + std::string(buffer) + "[";
  for (std::size_t i = 0; i < stage.layout.size(); ++i)
    text += (i ? ", " : "") + print_component(stage.layout[i]);
  text += std::string("]") + (stage.pad ? " pad" : "");
  for (std::size_t i = 0; i < stage.swizzles.size(); ++i) {
    const tree::Swizzle& s = stage.swizzles[i];
    text += (i ? ", " : " layout swizzle(") + print_bits(s.target, s.target_bit, s.bits) + " by " +
            print_bits(s.source, s.source_bit, s.bits);
  }
  return text + (stage.swizzles.empty() ? "" : ")");
}

std::string StageCopy::print() const {
  return print_stage(stage, buffer.text(), stage.at_plan ? "" : " at " + directives::print(at));
}

Result<Ok> StageCopy::apply(Target& target) const {
  FoundLoop owner;
  if (!stage.at_plan) {
    TILEWRIGHT_TRY(found, find_loop(target, at));
    owner = found;
  }
  if (!target.algorithm.shape_of(stage.tensor))
    return refuse(stage.tensor_place.span,
                  "`" + std::string(stage.tensor.text()) + "` is not a tensor",
                  "stage an input or an equation", {{"tensor", std::string(stage.tensor.text())}});
  if (target.tree.find(buffer) || target.algorithm.shape_of(buffer))
    return refuse(buffer.span,
                  "`" + std::string(buffer.text()) + "` is a name that the schedule has already",
                  "choose another name for the copy", {{"taken", std::string(buffer.text())}});
  tree::Nest nest;
  nest.name = buffer;
  nest.stage = stage;
  if (!stage.at_plan) nest.at = tree::LoopRef{owner.nest->name, owner.loop().name};
  nest.place = {buffer.span};
  nest.placed = {stage.at_plan ? buffer.span : at.span};
  for (const LayoutComponent& part : stage.layout)
    nest.loops.push_back({part.name, tree::LoopKind::Serial, false});
  if (stage.at_plan) {
    // Before everything else, after the copies of the plan that are there.
    auto& nests = target.tree.nests;
    const auto place = std::find_if(nests.begin(), nests.end(), [](const tree::Nest& n) {
      return !n.stage || !n.stage->at_plan;
    });
    nests.insert(place, std::move(nest));
    return Ok{};
  }
  // After every nest that computes the tensor, before the nest that reads the copy.
  target.tree.nests.push_back(std::move(nest));
  move_before(target.tree, buffer, at.nest.valid() ? at.nest : target.tree.nests.back().at->nest);
  return Ok{};
}

}  // namespace tilewright::directives
