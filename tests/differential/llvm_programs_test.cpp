// SPDX-License-Identifier: Apache-2.0
//
// Programs that exercise each part of code generation: access patterns, masks, register tiles, ragged loops,
// parallel loops and the workspace; generated code and compiled C against the plain run, bit for bit.
#include <atomic>
#include <thread>

#include "tests/differential/compiled_program.h"

namespace tilewright::test {
namespace {

class LlvmPrograms : public EachTarget {
 protected:
  void check(const std::string& text, std::initializer_list<ir::Bindings> runs,
             const RunOptions& options = {}) {
    SCOPED_TRACE(text);
    const program::Program program = parse_text(text);
    CompiledProgram library(context, program, target);
    for (const ir::Bindings& bindings : runs) expect_same(library, program, bindings, options);
  }
};

TEST_P(LlvmPrograms, AccessPatterns) {
  check(R"(program access_patterns for access_patterns {
  extent N
  input x : f32[N, 32]
  input p : i32[N]
  output rows : f32[N, 32]
  output columns : f32[32, N]
  output reversed : f32[N, 16]
  output thirds : f32[N, 10]
  output gathered : f32[N, 16]
  for n in 0 .. N {
    vector i in 0 .. 16 {
      rows[n, i] = x[n, i] + x[n, 3]
      rows[n, i + 16] = x[n, 2 * i]
      columns[i, n] = x[n, i + 16]
      columns[2 * i - i + 16, n] = x[N - 1 - n, 31 - i]
      reversed[n, 15 - i] = x[n, i]
      gathered[n, i] = x[n, (i * i + index(p[n]) % 7 + 7) % 32]
    }
    vector j in 0 .. 10 {
      thirds[n, j] = x[n, 3 * j]
    }
  }
})",
        {sizes({{"N", 0}}), sizes({{"N", 1}}), sizes({{"N", 13}})}, {.plain = true});
}

// A guard and a let look at what other lanes write later: all lanes look first.
TEST_P(LlvmPrograms, LanesLookBeforeAnyWrites) {
  check(R"(program look for look {
  extent N
  input x : f32[N, 8]
  output o : f32[N, 8]
  output p : f32[N, 8]
  for n in 0 .. N {
    vector i in 0 .. 8 {
      o[n, i] = x[n, i]
    }
    vector j in 0 .. 8 {
      if o[n, max(j - 1, 0)] < f32(0) {
        o[n, j] = f32(1)
      } else {
        o[n, 7 - (7 - j)] = o[n, j] * f32(2)
      }
    }
    vector k in 0 .. 8 {
      p[n, k] = o[n, k]
    }
    vector l in 0 .. 8 {
      let before = p[n, max(l - 1, 0)] {
        p[n, l] = before + f32(1)
      }
    }
  }
})",
        {sizes({{"N", 0}}), sizes({{"N", 9}})});
}

TEST_P(LlvmPrograms, EveryElementTypeUnderMasks) {
  for (const char* type : {"bool", "i8", "i32", "i64", "bf16", "f16", "f32", "f64", "c64", "c128"})
    for (int width : {3, 16, 64}) {
      // C takes every width alike.
      if (target.name == c_target::kName && width != 3) continue;
      check("program masked for masked {\n extent N\n input x : " + std::string(type) +
                "[N]\n output o : " + type + "[N]\n output s : " + type +
                "[2 * N]\n for t in 0 .. (N + " + std::to_string(width - 1) + ") / " +
                std::to_string(width) + " {\n vector i in 0 .. " + std::to_string(width) +
                " {\n let n = t * " + std::to_string(width) +
                " + i {\n if n < N {\n o[N - 1 - n] = x[n]\n s[2 * n] = x[N - 1 - n]\n " +
                "s[2 * n + 1] = x[n]\n }\n }\n }\n }\n}\n",
            {sizes({{"N", 0}}), sizes({{"N", 1}}), sizes({{"N", 67}}), sizes({{"N", 128}})});
    }
}

// Both parts of a product are computed before either is stored; parts in registers, memory and arguments.
TEST_P(LlvmPrograms, ComplexNumbers) {
  for (const char* type : {"c64", "c128"}) {
    const std::string part = std::string(type) == "c64" ? "f32" : "f64";
    check("program turn for turn {\n extent N\n input z : " + std::string(type) +
              "[N]\n output y : " + type + "[N]\n output s : " + part +
              "[N]\n output same : bool[N]\n" + R"(
  alloc t : )" +
              type + R"([N] in workspace {
    for m in 0 .. N {
      t[N - 1 - m] = conj(z[m])
    }
    for b in 0 .. (N + 7) / 8 {
      alloc r : )" +
              type + R"([8] in register {
        vector l in 0 .. 8 {
          let n = b * 8 + l {
            if n < N {
              r[l] = z[n] * t[n]
              r[l] = r[l] * r[l] / complex()" +
              part + "(2), " + part + R"((-1))
              let w = r[l] + t[n] {
                y[n] = select(re(w) > im(w), w, -w / z[n])
              }
              s[n] = abs(y[n])
              same[n] = y[n] == r[l] || t[n] != z[N - 1 - n]
            }
          }
        }
      }
    }
  }
})",
          {sizes({{"N", 0}}), sizes({{"N", 1}}), sizes({{"N", 21}})}, {.plain = true});
  }
}

// Arms that the lanes do not choose reach out of bounds on both sides.
TEST_P(LlvmPrograms, LazySelect) {
  check(R"(program stencil for stencil {
  extent N
  extent K
  input x : f32[N]
  input w : f32[K]
  output o : f32[N]
  output u : f32[N]
  for t in 0 .. (N + 15) / 16 {
    vector i in 0 .. 16 {
      let n = t * 16 + i {
        if n < N {
          o[n] = select(n > 0, x[n - 1], f32(0)) + x[n] + select(n + 1 < N, x[n + 1], f32(0))
          u[n] = select(K > 0, w[0], f32(7)) + select(n == 3, w[K - 1], select(n < K, w[n], f32(2)))
        }
      }
    }
  }
})",
        {sizes({{"N", 1}, {"K", 5}}), sizes({{"N", 3}, {"K", 0}}), sizes({{"N", 37}, {"K", 9}})});
}

TEST_P(LlvmPrograms, ElseArmsAndNestedConditions) {
  check(R"(program arms for arms {
  extent N
  input x : i32[N, 8]
  output o : i32[N, 8]
  for n in 0 .. N {
    vector i in 0 .. 8 {
      if x[n, i] < i32(0) {
        if x[n, i] % i32(2) == i32(0) {
          o[n, i] = -x[n, i]
        } else {
          o[n, i] = x[n, i] * x[n, 7]
        }
      } else if i == n {
        o[n, i] = i32(42)
      } else {
        o[n, i] = x[n, i] / select(x[n, 0] == i32(0), i32(5), x[n, 0])
      }
      if n % 2 == 0 {
        o[n, i] = o[n, i] + i32(1)
      }
    }
  }
})",
        {sizes({{"N", 0}}), sizes({{"N", 11}})});
}

// Lanes with bounds of their own, and a buffer of its own for each lane in every space.
TEST_P(LlvmPrograms, RaggedLoopsAndPrivateBuffers) {
  for (const char* space : {"register", "stack", "workspace"})
    check(
        "program ragged for ragged {\n extent N\n input x : f32[N, N]\n output o : f32[N]\n"
        "for t in 0 .. (N + 7) / 8 {\n vector i in 0 .. 8 {\n if t * 8 + i < N {\n alloc acc : "
        "f32[2] in " +
            std::string(space) +
            " {\n acc[0] = f32(0)\n acc[1] = f32(1)\n for k in (t * 8 + i) / 2 .. t * 8 + i {\n"
            "acc[0] = fma(x[t * 8 + i, k], acc[1], acc[0])\n acc[1] = acc[1] * x[k, t * 8 + i]\n}\n"
            "o[t * 8 + i] = acc[0]\n}\n}\n}\n}\n}\n",
        {sizes({{"N", 0}}), sizes({{"N", 1}}), sizes({{"N", 21}})});
}

TEST_P(LlvmPrograms, RegisterTileWithTail) {
  for (int width : {4, 8, 16, 32}) {
    const std::string w = std::to_string(width);
    const std::string halves = std::to_string(32 / width);
    check(
        "program tile for tile {\n extent K\n extent N min 1 max 32\n input a : f32[K, 3]\n input "
        "b : f32[K, N]\n output c : f32[3, N]\n"
        "alloc acc : f32[3, 32] in register {\n"
        "unrolled r0 in 0 .. 3 {\n unrolled p0 in 0 .. " +
            halves + " {\n vector j0 in 0 .. " + w + " {\n acc[r0, p0 * " + w +
            " + j0] = f32(0)\n }\n }\n }\n"
            "for k in 0 .. K {\n unrolled r in 0 .. 3 {\n unrolled p in 0 .. " +
            halves + " {\n vector j in 0 .. " + w + " {\n if p * " + w +
            " + j < N {\n acc[r, p * " + w + " + j] = fma(a[k, r], b[k, p * " + w +
            " + j], acc[r, p * " + w +
            " + j])\n }\n }\n }\n }\n }\n"
            "unrolled r1 in 0 .. 3 {\n unrolled p1 in 0 .. " +
            halves + " {\n vector j1 in 0 .. " + w + " {\n if p1 * " + w +
            " + j1 < N {\n c[r1, p1 * " + w + " + j1] = acc[r1, 31 - (31 - (p1 * " + w +
            " + j1))]\n }\n }\n }\n }\n}\n}\n",
        {sizes({{"K", 0}, {"N", 5}}), sizes({{"K", 9}, {"N", 1}}), sizes({{"K", 4}, {"N", 32}}),
         sizes({{"K", 3}, {"N", 27}})});
  }
}

// A horizontal sum over a register row: cells by constant index, outside of vector loops too.
TEST_P(LlvmPrograms, RegisterRowReduced) {
  check(R"(program sums for sums {
  extent N
  input x : f32[N, 64]
  output o : f32[N]
  output e : bf16[N]
  for n in 0 .. N {
    alloc lanes : f32[16] in register {
      vector i in 0 .. 16 {
        lanes[i] = f32(0)
      }
      for k in 0 .. 4 {
        vector j in 0 .. 16 {
          lanes[j] = lanes[j] + exp(x[n, k * 16 + j])
        }
      }
      unrolled h in 0 .. 15 {
        lanes[0] = lanes[0] + lanes[h + 1]
      }
      vector q in 0 .. 4 {
        lanes[q + 1] = lanes[3 - q] * f32(2)
      }
      o[n] = lanes[0] + lanes[3]
      e[n] = bf16(lanes[0])
    }
  }
})",
        {sizes({{"N", 0}}), sizes({{"N", 7}})});
}

// The largest thing of the first slice: packing, tiles, edges.
constexpr const char* kGemm = R"(program gemm for gemm {
  extent M
  extent N
  extent K
  input a : f32[M, K]
  input b : f32[K, N]
  output c : f32[M, N]
  alloc bp : f32[(N + 31) / 32, K, 32] in workspace {
    parallel jp in 0 .. (N + 31) / 32 {
      for kp in 0 .. K {
        vector ip in 0 .. 32 {
          if jp * 32 + ip < N {
            bp[jp, kp, ip] = b[kp, jp * 32 + ip]
          } else {
            bp[jp, kp, ip] = f32(0)
          }
        }
      }
    }
    parallel io in 0 .. (M + 3) / 4 {
      alloc ap : f32[K, 4] in workspace {
        for ka in 0 .. K {
          vector ra in 0 .. 4 {
            ap[ka, ra] = select(io * 4 + ra < M, a[io * 4 + ra, ka], f32(0))
          }
        }
        for jo in 0 .. (N + 31) / 32 {
          alloc acc : f32[4, 32] in register {
            unrolled r0 in 0 .. 4 {
              vector j0 in 0 .. 32 {
                acc[r0, j0] = f32(0)
              }
            }
            for k in 0 .. K {
              unrolled r in 0 .. 4 {
                vector j in 0 .. 32 {
                  acc[r, j] = fma(ap[k, r], bp[jo, k, j], acc[r, j])
                }
              }
            }
            unrolled r1 in 0 .. 4 {
              if io * 4 + r1 < M {
                vector j1 in 0 .. 32 {
                  if jo * 32 + j1 < N {
                    c[io * 4 + r1, jo * 32 + j1] = acc[r1, j1]
                  }
                }
              }
            }
          }
        }
      }
    }
  }
})";

TEST_P(LlvmPrograms, GemmAlone) {
  check(kGemm, {sizes({{"M", 0}, {"N", 3}, {"K", 2}}), sizes({{"M", 1}, {"N", 1}, {"K", 0}}),
                sizes({{"M", 7}, {"N", 37}, {"K", 11}}), sizes({{"M", 16}, {"N", 64}, {"K", 5}})});
}

TEST_P(LlvmPrograms, GemmOnThreads) {
  tilewright_pool* pool = nullptr;
  ASSERT_EQ(tilewright_pool_create(3, &pool), TILEWRIGHT_OK);
  for (std::uint64_t seed = 1; seed < 6; ++seed)
    check(kGemm,
          {sizes({{"M", 41}, {"N", 133}, {"K", 19}}), sizes({{"M", 5}, {"N", 32}, {"K", 1}})},
          {.executor = tilewright_pool_executor(pool), .seed = seed});
  tilewright_pool_destroy(pool);
}

// Lets of every kind travel into the closure; loops inside a parallel loop stay serial.
TEST_P(LlvmPrograms, CapturesAndNestedParallel) {
  tilewright_pool* pool = nullptr;
  ASSERT_EQ(tilewright_pool_create(2, &pool), TILEWRIGHT_OK);
  for (const tilewright_executor* executor :
       {static_cast<const tilewright_executor*>(nullptr), tilewright_pool_executor(pool)})
    check(R"(program captures for captures {
  extent N
  input x : f32[N, 8]
  output o : f32[N, 8]
  for rep in 0 .. 2 {
    let scale = exp(f32(N)) {
      let half = N / 2 {
        let flag = N % 2 == 0 {
          parallel i in half .. N {
            parallel q in 0 .. 1 {
              alloc row : f32[8] in stack {
                vector j in 0 .. 8 {
                  row[j] = x[i, j] * scale
                }
                vector h in 0 .. 8 {
                  o[i, h] = select(flag, row[7 - h], row[h] + f32(half + rep))
                }
              }
            }
          }
          parallel i2 in 0 .. half {
            vector j2 in 0 .. 8 {
              o[i2, j2] = -x[i2, j2]
            }
          }
        }
      }
    }
  }
})",
          {sizes({{"N", 0}}), sizes({{"N", 1}}), sizes({{"N", 10}}), sizes({{"N", 33}})},
          {.executor = executor});
  tilewright_pool_destroy(pool);
}

// Siblings share workspace, nested buffers do not.
TEST_P(LlvmPrograms, WorkspaceIsAStack) {
  check(R"(program stack for stack {
  extent N
  input x : f64[N]
  output o : f64[N]
  for rep in 0 .. 2 {
    alloc a : f64[N] in workspace {
      for i in 0 .. N {
        a[i] = x[i] + f64(rep)
      }
      alloc b : f64[N] in workspace {
        for j in 0 .. N {
          b[j] = a[N - 1 - j]
        }
        for k in 0 .. N {
          o[k] = b[k] - a[k]
        }
      }
      alloc d : i8[N] in workspace {
        for l in 0 .. N {
          d[l] = i8(l % 100)
        }
        for m in 0 .. N {
          o[m] = o[m] + f64(d[m]) * a[m]
        }
      }
    }
  }
})",
        {sizes({{"N", 0}}), sizes({{"N", 1}}), sizes({{"N", 50}})});
}

INSTANTIATE_TEST_SUITE_P(Host, LlvmPrograms, ::testing::Values("x86-64-v3", "x86-64-v4", "c"));

}  // namespace
}  // namespace tilewright::test
