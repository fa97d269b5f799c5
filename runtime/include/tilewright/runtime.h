/* SPDX-License-Identifier: Apache-2.0
 *
 * The C interface of Tilewright: what a generated kernel library and its caller share.
 * Self-contained C99 and C++. A kernel library needs this header only; it calls back through
 * pointers that it is given and so links against nothing. The functions declared at the end are in
 * the library `tilewright_runtime`, which a program links if it wants the built-in thread pool.
 *
 * The calling contract. For `algorithm gemm(..) { input a; input b; output c }` a library exports
 *
 *   int32_t gemm(const tilewright_call *call,
 *                const tilewright_tensor *a, const tilewright_tensor *b,
 *                tilewright_tensor *c,
 *                void *workspace, size_t workspace_size);
 *   int32_t gemm_query(const tilewright_call *call,
 *                      const tilewright_tensor *a, const tilewright_tensor *b,
 *                      const tilewright_tensor *c,
 *                      size_t *workspace_size);
 *
 *  - Descriptors come in order of declaration: all inputs, then all outputs.
 *  - The return value is TILEWRIGHT_OK or a negative status. If call->error is not null,
 *    a failure also fills it; a success leaves it untouched.
 *  - A kernel checks its arguments before it writes. After any status except
 *    TILEWRIGHT_CANCELLED and TILEWRIGHT_EXECUTOR_FAILED no byte of an output has changed.
 *    After those two, and never otherwise, the outputs are unspecified.
 *  - Checks, in this order: call, its error detail and its executor; the processor; null
 *    arguments; and for each tensor rank, type, device, extents (each against its declared
 *    range, and equal where arguments share a symbol), strides, bytes against `size_bytes`,
 *    alignment, read-only outputs; then `requires`, overlap, workspace, and declared facts
 *    about the values of tensors, which read their data.
 *  - `_query` makes the same checks of `call`, ranks, types and extents, reads no data
 *    (`data` may be null), and stores the bytes of workspace that a run with these extents
 *    and call->executor needs. Each worker may be given its own slice, so the size depends
 *    on executor->num_workers. It runs on any processor of the architecture and checks none.
 *  - The workspace is the caller's: aligned to TILEWRIGHT_WORKSPACE_ALIGNMENT, not shared by
 *    calls that run at the same time, contents neither expected nor preserved. It may be
 *    null where 0 is needed.
 *  - A kernel allocates nothing, prints nothing, never aborts, keeps no state between calls
 *    and has none that is global. It may be called from several threads at once.
 *  - Parallel loops go through call->executor. Without one the kernel runs them on the
 *    caller's thread as worker 0.
 *
 * Versions: a structure that starts with `struct_size` grows at its end only. The creator
 * stores the size that it was compiled with. A kernel refuses less than the size of version 1
 * (tilewright_call 64 bytes, tilewright_executor 40, tilewright_error 512) and takes as zero the
 * members that a later version adds and that lie beyond struct_size. What a kernel does not know,
 * because the caller is newer, it does not read. Members called `reserved` must be zero.
 */
#ifndef TILEWRIGHT_RUNTIME_H_
#define TILEWRIGHT_RUNTIME_H_

#include <stddef.h>
#include <stdint.h>

#define TILEWRIGHT_ABI_VERSION 1
#define TILEWRIGHT_WORKSPACE_ALIGNMENT 64

#if defined(__cplusplus)
#define TILEWRIGHT_STATIC_ASSERT(condition, name) static_assert(condition, #name)
#define TILEWRIGHT_NOEXCEPT noexcept
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define TILEWRIGHT_STATIC_ASSERT(condition, name) _Static_assert(condition, #name)
#define TILEWRIGHT_NOEXCEPT
#else
#define TILEWRIGHT_STATIC_ASSERT(condition, name) \
  typedef char tilewright_assert_##name[(condition) ? 1 : -1]
#define TILEWRIGHT_NOEXCEPT
#endif

#if defined(__GNUC__)
#define TILEWRIGHT_NODISCARD __attribute__((warn_unused_result))
#else
#define TILEWRIGHT_NODISCARD
#endif

/* DLPack's ABI. A program that also uses dlpack.h includes it before this header, or defines
 * TILEWRIGHT_DLPACK_HEADER as its name ("<dlpack/dlpack.h>", with the brackets); the types are then
 * its. */
#if defined(TILEWRIGHT_DLPACK_HEADER)
#include TILEWRIGHT_DLPACK_HEADER
#endif

#if !defined(DLPACK_DLPACK_H_)

#if defined(__cplusplus)
typedef enum : int32_t {
#else
typedef enum {
#endif
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLCUDAHost = 3,
  kDLROCM = 10,
  kDLROCMHost = 11,
  kDLExtDev = 12,
  kDLCUDAManaged = 13
} DLDeviceType;

typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;

typedef enum {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLOpaqueHandle = 3,
  kDLBfloat = 4,
  kDLComplex = 5,
  kDLBool = 6,
  kDLFloat8_e4m3fn = 10,
  kDLFloat8_e5m2 = 12,
  kDLFloat8_e8m0fnu = 14,
  kDLFloat6_e2m3fn = 15,
  kDLFloat6_e3m2fn = 16,
  kDLFloat4_e2m1fn = 17
} DLDataTypeCode;

typedef struct {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} DLDataType;

/* Element i is at data + byte_offset + (sum of index[k] * strides[k]) elements. Null strides mean
 * compact row-major. No alignment beyond that of one element is assumed of `data`. */
typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} DLTensor;

#endif /* DLPACK_DLPACK_H_ */

#if defined(__cplusplus)
extern "C" {
#endif

/* Status codes. Stable: a number is never given another meaning. */
typedef int32_t tilewright_status;
enum {
  TILEWRIGHT_OK = 0,
  TILEWRIGHT_NULL_ARGUMENT = -1,
  TILEWRIGHT_WRONG_RANK = -2,
  TILEWRIGHT_WRONG_TYPE = -3,
  TILEWRIGHT_WRONG_DEVICE = -4,
  TILEWRIGHT_WRONG_SHAPE = -5,
  TILEWRIGHT_UNSUPPORTED_STRIDES = -6,
  TILEWRIGHT_OUT_OF_BOUNDS = -7, /* the extents reach beyond size_bytes, or overflow */
  TILEWRIGHT_MISALIGNED = -8,
  TILEWRIGHT_READ_ONLY = -9,          /* an output is marked read-only */
  TILEWRIGHT_REQUIRES_VIOLATED = -10, /* a `requires` of the algorithm does not hold */
  TILEWRIGHT_OVERLAP = -11,           /* an output shares bytes with another argument */
  TILEWRIGHT_WORKSPACE_TOO_SMALL = -12,
  TILEWRIGHT_WORKSPACE_MISALIGNED = -13,
  TILEWRIGHT_BAD_CALL = -14, /* call, executor or error have a wrong struct_size or reserved bits */
  TILEWRIGHT_CANCELLED = -15,
  TILEWRIGHT_EXECUTOR_FAILED = -16,
  TILEWRIGHT_UNSUPPORTED_CPU =
      -17, /* the library was built for instructions that are missing here */
  TILEWRIGHT_INVALID_ARGUMENT = -18,
  TILEWRIGHT_OUT_OF_MEMORY = -19,
  TILEWRIGHT_NO_THREADS = -20, /* the system refused a thread or another resource of a pool */
  TILEWRIGHT_BAD_VALUES = -21, /* the values of a tensor break a fact that is declared of them */
  TILEWRIGHT_PLAN_TOO_SMALL = -22,
  TILEWRIGHT_BAD_PLAN = -23, /* made for other sizes, by another function or variant, or not made */
  TILEWRIGHT_STATUS_END = -24
};

/* Where a failure is explained. Owned by the caller, filled by the kernel without allocation. */
typedef struct tilewright_error {
  uint32_t struct_size;
  tilewright_status status;
  int32_t argument; /* position among the descriptors from 0, or -1 */
  int32_t dimension; /* from 0, or -1 */
  int64_t expected; /* what was wanted and what was seen, where numbers say it; else 0 and 0 */
  int64_t got;
  char function[64]; /* name of the kernel, always terminated */
  char message[400]; /* one sentence, always terminated; may be empty */
  uint64_t reserved[2];
} tilewright_error;
TILEWRIGHT_STATIC_ASSERT(sizeof(tilewright_error) == 512, error_is_512_bytes);

/* Bits of tilewright_tensor.flags. */
enum { TILEWRIGHT_TENSOR_READ_ONLY = 1 };

/* A tensor as a kernel sees it. Borrowed for the length of the call, shape and strides included. */
typedef struct tilewright_tensor {
  DLTensor dl;
  uint64_t size_bytes; /* bytes that may be touched from dl.data on; 0: unknown, not checked */
  uint32_t flags;
  uint32_t reserved0;
  uint64_t reserved[4];
} tilewright_tensor;

typedef struct tilewright_call tilewright_call;
typedef struct tilewright_executor tilewright_executor;

/* One piece of a parallel loop: iterations [begin, end). Returns TILEWRIGHT_OK or a negative
 * status. `worker` is in [0, num_workers), constant while the piece runs, and held by no other
 * piece of the same parallel_for at that time, so it may select a slice of the workspace. It must
 * not throw. */
typedef tilewright_status (*tilewright_task)(void* closure, int32_t worker, int64_t begin,
                                             int64_t end);

/* Who runs parallel loops. The built-in pool is one; a program may supply its own around its
 * threads. */
struct tilewright_executor {
  uint32_t struct_size;
  int32_t num_workers; /* at least 1; constant while a call runs */
  void* state; /* the executor's own */
  /* Runs `task` on disjoint ranges that together are [begin, end), each of which starts a whole
   * multiple of `grain` after `begin` and, unless it is the last, holds whole multiples of it.
   * Returns when all of them are done, and everything they wrote is visible to the caller. grain <
   * 1 is taken as 1. An empty range is TILEWRIGHT_OK. The first status below zero is returned, and
   * ranges that have not begun may be left out. If call->cancel is set they are left out, and
   * TILEWRIGHT_CANCELLED returned. No order and no concurrency may be relied on: pieces must not
   * wait for each other. Called again from inside a task it runs the loop on that thread under the
   * same worker number. `call` may be null. */
  tilewright_status (*parallel_for)(const tilewright_executor* self, const tilewright_call* call,
                                    int64_t begin, int64_t end, int64_t grain, tilewright_task task,
                                    void* closure);
  uint64_t reserved[2];
};

/* What surrounds a call. Zero but for struct_size is a good one: serial, no detail, no cancelling.
 */
struct tilewright_call {
  uint32_t struct_size;
  uint32_t flags; /* none defined: 0 */
  const tilewright_executor* executor; /* null: run on the caller's thread */
  /* Set to non-zero by any thread, with an atomic store, to stop early; polled between tiles. May
   * be null. A C11 `atomic_uint` or a C++ `std::atomic<uint32_t>` serves. */
  const uint32_t* cancel;
  tilewright_error* error; /* may be null */
  uint64_t reserved[4];
};

#if UINTPTR_MAX == UINT64_MAX
TILEWRIGHT_STATIC_ASSERT(sizeof(DLTensor) == 48, dltensor_is_48_bytes);
TILEWRIGHT_STATIC_ASSERT(sizeof(tilewright_tensor) == 96, tensor_is_96_bytes);
TILEWRIGHT_STATIC_ASSERT(offsetof(tilewright_tensor, dl) == 0, tensor_starts_with_dltensor);
TILEWRIGHT_STATIC_ASSERT(offsetof(tilewright_tensor, size_bytes) == 48, tensor_size_at_48);
TILEWRIGHT_STATIC_ASSERT(offsetof(tilewright_tensor, flags) == 56, tensor_flags_at_56);
TILEWRIGHT_STATIC_ASSERT(sizeof(tilewright_executor) == 40, executor_is_40_bytes);
TILEWRIGHT_STATIC_ASSERT(offsetof(tilewright_executor, parallel_for) == 16, parallel_for_at_16);
TILEWRIGHT_STATIC_ASSERT(sizeof(tilewright_call) == 64, call_is_64_bytes);
TILEWRIGHT_STATIC_ASSERT(offsetof(tilewright_call, executor) == 8, call_executor_at_8);
TILEWRIGHT_STATIC_ASSERT(offsetof(tilewright_call, cancel) == 16, call_cancel_at_16);
TILEWRIGHT_STATIC_ASSERT(offsetof(tilewright_call, error) == 24, call_error_at_24);
#endif

/* ---- Filling the structures. Inline, so that a program needs no library for them. ---- */

static inline tilewright_call tilewright_call_make(const tilewright_executor* executor,
                                                   tilewright_error* error) {
  tilewright_call call;
  call.struct_size = (uint32_t)sizeof(call);
  call.flags = 0;
  call.executor = executor;
  call.cancel = NULL;
  call.error = error;
  call.reserved[0] = call.reserved[1] = call.reserved[2] = call.reserved[3] = 0;
  return call;
}

static inline DLDataType tilewright_type(DLDataTypeCode code, uint8_t bits) {
  DLDataType type;
  type.code = (uint8_t)code;
  type.bits = bits;
  type.lanes = 1;
  return type;
}

/* A host tensor in compact row-major order. `shape` is borrowed. Refuses a negative rank or extent,
 * a type whose elements are not whole bytes, and sizes that do not fit 63 bits, zero extents or
 * not; `tensor` is then unchanged. A tensor without elements may have null data. */
static inline TILEWRIGHT_NODISCARD tilewright_status tilewright_tensor_row_major(
    tilewright_tensor* tensor, void* data, DLDataType type, int32_t rank, int64_t* shape) {
  /* Of 4 bits there are two in a byte, in rows of the last axis; of 6 bits, one. */
  uint64_t bits = (uint64_t)type.bits * type.lanes;
  uint64_t capacity = (bits + 7u) / 8u;
  int empty = 0;
  int32_t i;
  if (tensor == NULL || (shape == NULL && rank > 0)) return TILEWRIGHT_NULL_ARGUMENT;
  if (rank < 0) return TILEWRIGHT_WRONG_RANK;
  if (bits == 0 || (bits % 8u != 0 && bits != 4 && bits != 6)) return TILEWRIGHT_WRONG_TYPE;
  for (i = 0; i < rank; ++i) {
    if (shape[i] < 0) return TILEWRIGHT_WRONG_SHAPE;
    if (shape[i] == 0) {
      empty = 1;
    } else {
      uint64_t count = (uint64_t)shape[i];
      if (bits == 4 && i + 1 == rank) count = count / 2u + count % 2u;
      if (count > (uint64_t)INT64_MAX / capacity) return TILEWRIGHT_WRONG_SHAPE;
      capacity *= count;
    }
  }
  if (data == NULL && !empty) return TILEWRIGHT_NULL_ARGUMENT;
  tensor->dl.data = data;
  tensor->dl.device.device_type = kDLCPU;
  tensor->dl.device.device_id = 0;
  tensor->dl.ndim = rank;
  tensor->dl.dtype = type;
  tensor->dl.shape = shape;
  tensor->dl.strides = NULL;
  tensor->dl.byte_offset = 0;
  tensor->size_bytes = empty ? 0 : capacity;
  tensor->flags = 0;
  tensor->reserved0 = 0;
  tensor->reserved[0] = tensor->reserved[1] = tensor->reserved[2] = tensor->reserved[3] = 0;
  return TILEWRIGHT_OK;
}

/* ---- The library tilewright_runtime. It holds no global state and starts no thread unasked. ----
 */

/* One line for a status, in static storage; "unknown status" for other numbers. */
const char* tilewright_status_text(tilewright_status status) TILEWRIGHT_NOEXCEPT;

/* Writes a failure as one line ("gemm: argument 1, dimension 0: wrong extent: expected 64, got 63")
 * into `buffer`, cut to fit and terminated. Returns the length that the whole line has. */
size_t tilewright_error_text(const tilewright_error* error, char* buffer,
                             size_t buffer_size) TILEWRIGHT_NOEXCEPT;

/* Threads that this process may keep busy: the CPUs of its affinity mask, and not more than the
 * whole CPUs of every cgroup quota above it (version 1 or 2). At least 1. */
int32_t tilewright_available_threads(void) TILEWRIGHT_NOEXCEPT;

enum { TILEWRIGHT_MAX_THREADS = 1024 };

/* A pool of `num_threads` workers, the calling thread counted, so that it starts num_threads - 1.
 * 0 takes tilewright_available_threads(). On failure *pool is null and nothing is left behind.
 *  - The caller takes part, and can finish alone: a worker that the system does not run delays only
 *    pieces that it has begun.
 *  - An idle pool uses no CPU time: a worker looks for work for a few microseconds, then sleeps.
 *  - Threads of the program may use one pool at the same time.
 *  - A task runs under the floating-point control word of the thread that called parallel_for, so
 * that bits do not depend on who ran a piece. Signals are not delivered to the pool's threads.
 *  - A child of fork() has no workers: there the pool runs on the caller's thread, and may be
 * destroyed, provided that no parallel_for was running at the time of the fork. */
typedef struct tilewright_pool tilewright_pool;
TILEWRIGHT_NODISCARD tilewright_status
tilewright_pool_create(int32_t num_threads, tilewright_pool** pool) TILEWRIGHT_NOEXCEPT;

/* Joins the workers and frees the pool. Not from inside a task, and not while a parallel_for runs.
 * Null is ignored. */
void tilewright_pool_destroy(tilewright_pool* pool) TILEWRIGHT_NOEXCEPT;

/* Lives as long as the pool. */
const tilewright_executor* tilewright_pool_executor(const tilewright_pool* pool)
    TILEWRIGHT_NOEXCEPT;

#if defined(__cplusplus)
} /* extern "C" */
#endif

#endif /* TILEWRIGHT_RUNTIME_H_ */
