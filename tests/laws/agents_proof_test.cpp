// SPDX-License-Identifier: Apache-2.0
//
// Programs with agents are proved for all sizes: rings of asynchronous copies, tokens, roles, groups of warps; those
// written by hand and those that `build` derives. None of their twins, which are one token away and refused by the
// interpreter in every order, is.
#include <fstream>
#include <sstream>

#include "lowering/proof/prove.h"
#include "tests/laws/random_case.h"

namespace tilewright {
namespace {

std::string read_file(const std::string& name) {
  const char* root = std::getenv("TILEWRIGHT_SOURCE_DIR");
  std::ifstream in(std::string(root ? root : ".") + "/tests/laws/" + name);
  EXPECT_TRUE(in.good()) << name << " is missing; run from the root of the source tree";
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// Code of the refusal, or the verdict and what is not shown.
std::string verdict_of(const std::string& algorithm_text, const std::string& program_text) {
  ir::Context context;
  const Source first("algorithm", algorithm_text);
  auto algorithm = ir::parse_algorithm(context, first);
  if (!algorithm.ok()) return laws::messages(algorithm.diagnostics());
  const std::size_t name = program_text.find(" for ");
  const std::size_t begin = program_text.rfind("program ", name);
  const Source second("program", program_text.substr(0, begin) + "program " +
                                     std::string(algorithm->name.text()) +
                                     program_text.substr(name));
  auto program = program::parse_program(context, second);
  if (!program.ok()) return laws::messages(program.diagnostics());
  auto proof = proof::prove(context, *algorithm, *program);
  if (!proof.ok()) return laws::messages(proof.diagnostics());
  std::string text(proof::verdict_text(proof->verdict));
  for (const proof::Obligation& one : proof->obligations)
    if (one.verdict != proof::Verdict::Proved)
      text += "\n" + std::string(proof::obligation_text(one.kind)) + ": " + one.subject + ": " +
              one.detail;
  return text;
}

struct Subject {
  const char* program;
  const char* algorithm;
};
void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.program; }

class ProvedAgents : public testing::TestWithParam<Subject> {};

TEST_P(ProvedAgents, AtAllSizes) {
  const Subject& one = GetParam();
  EXPECT_EQ(verdict_of(read_file(std::string(one.algorithm) + ".tw"),
                       read_file(std::string(one.program) + ".twp")),
            "proved");
}

INSTANTIATE_TEST_SUITE_P(ByHand, ProvedAgents,
                         testing::Values(Subject{"agents/gemm_ring", "agents/gemm"},
                                         Subject{"agents/systolic_dma", "agents/linear_relu"},
                                         Subject{"agents/attention_roles", "agents/attention"}));
INSTANTIATE_TEST_SUITE_P(Derived, ProvedAgents,
                         testing::Values(Subject{"flow/gemm_ring.derived", "flow/gemm"},
                                         Subject{"flow/gemm_roles.derived", "flow/gemm"},
                                         Subject{"flow/consumers.derived", "flow/gemm"},
                                         Subject{"flow/warps.derived", "flow/gemm"},
                                         Subject{"flow/dma.derived", "agents/linear_relu"},
                                         Subject{"flow/dma_roles.derived", "flow/chain"},
                                         Subject{"flow/three_roles.derived", "flow/chain"},
                                         Subject{"flow/pipelined_roles.derived", "flow/chain"}));

struct Twin {
  std::string program, before, after;
};

std::string trimmed(std::string text) {
  text.erase(0, text.find_first_not_of(' '));
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::vector<Twin> twins() {
  std::vector<Twin> out;
  std::istringstream in(read_file("agents/twins.txt"));
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> parts;
    std::istringstream row(line);
    for (std::string part; std::getline(row, part, ';');) parts.push_back(trimmed(part));
    out.push_back({parts.at(0), parts.at(1), parts.at(2)});
  }
  return out;
}

std::string one_line(const std::string& text) {
  std::istringstream in(text);
  std::string out;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line[0] == '#') continue;
    std::istringstream words(line);
    for (std::string word; words >> word;) out += word + " ";
  }
  return out;
}

std::string algorithm_of(const std::string& program) {
  if (program == "systolic_dma") return "linear_relu";
  return program.starts_with("attention") ? "attention" : "gemm";
}

TEST(ProvedAgentTwins, NoneIsProved) {
  const bool all = std::getenv("TILEWRIGHT_SLOW_TESTS") != nullptr;
  int number = 0;
  for (const Twin& twin : twins()) {
    if (twin.program == "grouped") continue;  // of no algorithm
    if (!all && number++ % 8 != 0) continue;
    std::string text = one_line(read_file("agents/" + twin.program + ".twp"));
    const std::size_t at = text.find(twin.before);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, twin.before.size(), twin.after);
    const std::string verdict =
        verdict_of(read_file("agents/" + algorithm_of(twin.program) + ".tw"), text);
    EXPECT_NE(verdict.substr(0, 6), "proved") << twin.program << ": " << twin.after;
  }
}

}  // namespace
}  // namespace tilewright
