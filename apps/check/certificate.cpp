// SPDX-License-Identifier: Apache-2.0
#include "apps/check/certificate.h"

namespace tilewright::checker {

namespace {

constexpr std::size_t kMaxCertificate = std::size_t{64} << 20;

class Lines {
 public:
  Lines(Arena& arena, Name text, const Program& program) : arena_(arena), rest_(text) {
    if (text.size() > kMaxCertificate) throw Refused("the certificate is longer than 64 MiB");
    for (const Extent& e : program.extents) extents_.push_back(e.name);
    step();
  }

  bool at_end() const { return at_end_; }
  bool begins(Name word) const { return line_.substr(0, word.size()) == word; }

  // The line begins with the word; gives the rest of it.
  Name take(Name word) {
    if (at_end_ || !begins(word)) refuse("expected `" + std::string(word) + "`");
    const Name out = line_.substr(word.size());
    step();
    return out;
  }
  void expect(const std::string& whole) {
    if (at_end_ || line_ != whole) refuse("expected `" + whole + "`");
    step();
  }

  // `if CONDITION : WORD REST`, over the loops and the extents.
  std::pair<Ref, Name> piece(const std::vector<Name>& loops) {
    const std::size_t colon = line_.find(" : ");
    if (colon == Name::npos) refuse("expected ` : `");
    const Ref where = list(line_.substr(3, colon - 3), loops, kBool, 1)[0];
    return {where, line_.substr(colon + 3)};
  }

  std::vector<Source> sources(const std::vector<Name>& loops, const Statements& statements) {
    std::vector<Source> out;
    for (; !at_end_ && begins("if "); step()) {
      const auto [where, rest] = piece(loops);
      const std::size_t colon = rest.find(" : ");
      if (rest.substr(0, 5) != "from " || colon == Name::npos) refuse("expected `from` and ` : `");
      Source& made = out.emplace_back();
      made.where = where;
      made.writer = number(rest.substr(5, colon - 5), statements.all().size());
      const Statement& writer = statements.all()[static_cast<std::size_t>(made.writer)];
      made.instance =
          list(rest.substr(colon + 3), loops, kIndex, Statements::loops(writer.around).size());
    }
    return out;
  }

  std::vector<Claim> claims(const std::vector<Name>& loops) {
    std::vector<Claim> out;
    for (; !at_end_ && begins("if "); step()) {
      const auto [where, rest] = piece(loops);
      if (rest != "itself" && rest.substr(0, 3) != "is ") refuse("expected `is` or `itself`");
      out.push_back({where, rest == "itself" ? Name() : rest.substr(3)});
    }
    return out;
  }

  void lemma(std::map<Name, Name>& out) {
    const std::size_t space = line_.find(' ', 6);
    if (!begins("lemma ") || space == Name::npos) refuse("expected `lemma KEY EVIDENCE`");
    const Name key = line_.substr(6, space - 6);
    if (!out.empty() && !(out.rbegin()->first < key)) refuse("lemmas are sorted by their keys");
    out.emplace(key, line_.substr(space + 1));
    step();
  }

  [[noreturn]] void refuse(const std::string& what) const { throw Refused(what, number_, 1); }

 private:
  void step() {
    at_end_ = rest_.empty();
    const std::size_t end = rest_.find('\n');
    if (!at_end_ && end == Name::npos) throw Refused("the last line has no end");
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(at_end_ ? 0 : end + 1);
    ++number_;
  }

  int number(Name text, std::size_t limit) const {
    std::size_t value = 0;
    for (const char c : text.substr(0, 9))
      value = value * 10 + static_cast<std::size_t>(static_cast<unsigned char>(c) - '0');
    if (value < limit && text == std::to_string(value)) return static_cast<int>(value);
    refuse("`" + std::string(text) + "` is no number of a statement");
  }

  std::vector<Ref> list(Name text, const std::vector<Name>& loops, Type type, std::size_t length) {
    std::vector<Name> names = extents_;
    names.insert(names.end(), loops.begin(), loops.end());
    try {
      std::vector<Ref> out = read_list(arena_, text, names, type);
      if (out.size() != length) refuse("expected another number of values");
      return out;
    } catch (const Refused& refused) {
      refuse(refused.what());
    }
  }

  Arena& arena_;
  Name rest_, line_;
  std::vector<Name> extents_;
  int number_ = 0;
  bool at_end_ = false;
};

}  // namespace

std::string digest(Name text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::string out(16, '0');
  for (std::size_t i = 16; i-- > 0; hash >>= 4) out[i] = "0123456789abcdef"[hash & 15];
  return out;
}

std::string cell_index(std::size_t dimension) { return "d" + std::to_string(dimension); }

bool has_sources(const Statements& statements, const ReadOf& read) {
  const auto buffer = statements.buffers().find(read.buffer);
  return buffer != statements.buffers().end() &&
         (!buffer->second.is_parameter || buffer->second.is_output);
}

Certificate read_certificate(Arena& arena, Name text, Name algorithm_text, Name program_text,
                             const Program& program, const Statements& statements) {
  Lines lines(arena, text, program);
  lines.expect("certificate 1");
  lines.expect("algorithm " + digest(algorithm_text));
  lines.expect("program " + digest(program_text));
  Certificate out;
  for (const Statement& s : statements.all()) {
    std::vector<Name> loops;
    for (const Around* loop : Statements::loops(s.around)) loops.push_back(loop->stmt->name);
    const std::string number = std::to_string(s.number);
    for (std::size_t r = 0; r < s.reads.size(); ++r) {
      if (!has_sources(statements, s.reads[r])) continue;
      lines.expect("read " + number + " " + std::to_string(r));
      out.reads[{s.number, r}] = lines.sources(loops, statements);
    }
    lines.expect("claim " + number);
    out.claims.push_back(lines.claims(loops));
  }
  for (const Tensor& p : program.parameters) {
    if (!p.is_output) continue;
    lines.expect("output " + std::string(p.name));
    std::vector<Name> indices;
    for (std::size_t d = 0; d < p.shape.size(); ++d)
      indices.push_back(arena.texts.emplace_back(cell_index(d)));
    out.outputs[p.name] = lines.sources(indices, statements);
  }
  while (!lines.at_end()) lines.lemma(out.lemmas);
  return out;
}

}  // namespace tilewright::checker
