/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs library functions on a processor that is emulated: freestanding, by three system calls of Linux.
 * Reads calls from standard input, writes what came of each to standard output. `functions` is a table of
 * NAME and NAME_query in turns, which the test writes. Buffers lie between walls of bytes that must stay.
 *
 * A call: i64 function, i64 with an executor, i64 parameters; of each: i64 code, bits, rank, extents, is input, bytes;
 * of an input its bytes. A result: i64 status of the query, workspace, status, walls hold; the bytes of each
 * parameter.
 */
#include <stddef.h>
#include <stdint.h>

#include <tilewright/runtime.h>

typedef int32_t (*any_function)(void*, void*, void*, void*, void*, void*, void*, void*, void*,
                                void*, void*, void*, void*, void*, void*, void*, void*, void*,
                                void*, void*);
extern void* const functions[];

enum { kRead = 63, kWrite = 64, kExit = 93, kWall = 256, kMost = 17 };

static long system_call(long number, long a, long b, long c) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
  return x0;
}

void* memset(void* to, int byte, size_t size) {
  volatile unsigned char* bytes = to;
  for (size_t i = 0; i < size; ++i) bytes[i] = (unsigned char)byte;
  return to;
}
void* memcpy(void* to, const void* from, size_t size) {
  volatile unsigned char* out = to;
  const unsigned char* in = from;
  for (size_t i = 0; i < size; ++i) out[i] = in[i];
  return to;
}

/* 0 at the end of the input; what is cut short ends the run. */
static int take(void* to, size_t size) {
  unsigned char* bytes = to;
  size_t have = 0;
  while (have < size) {
    const long got = system_call(kRead, 0, (long)(bytes + have), (long)(size - have));
    if (got <= 0 && have == 0) return 0;
    if (got <= 0) system_call(kExit, 3, 0, 0);
    have += (size_t)got;
  }
  return 1;
}
static int64_t take_word(void) {
  int64_t word = 0;
  if (!take(&word, sizeof(word))) system_call(kExit, 4, 0, 0);
  return word;
}
static void give(const void* from, size_t size) {
  const unsigned char* bytes = from;
  while (size > 0) {
    const long done = system_call(kWrite, 1, (long)bytes, (long)size);
    if (done <= 0) system_call(kExit, 5, 0, 0);
    bytes += done;
    size -= (size_t)done;
  }
}
static void give_word(int64_t word) { give(&word, sizeof(word)); }

static unsigned char arena[96 << 20] __attribute__((aligned(64)));
static size_t used;
static struct {
  unsigned char* begin;
  size_t size;
} blocks[kMost + 1];
static int num_blocks;

/* Of this many bytes, filled, between walls. Data of tensors is aligned to one element alone. */
static unsigned char* block(size_t size, size_t alignment, int fill) {
  unsigned char* begin;
  used = (used + kWall + 63) / 64 * 64 + (alignment < 64 ? alignment : 0);
  begin = arena + used;
  used += size + kWall;
  if (used > sizeof(arena) || num_blocks > kMost) system_call(kExit, 6, 0, 0);
  memset(begin - kWall, 0x5a, kWall);
  memset(begin, fill, size);
  memset(begin + size, 0x5a, kWall);
  blocks[num_blocks].begin = begin;
  blocks[num_blocks++].size = size;
  return begin;
}
static int walls_hold(void) {
  for (int b = 0; b < num_blocks; ++b)
    for (int i = 0; i < kWall; ++i)
      if (blocks[b].begin[-1 - i] != 0x5a || blocks[b].begin[blocks[b].size + (size_t)i] != 0x5a)
        return 0;
  return 1;
}

/* Pieces of one iteration, the last first, each under another worker: no order may be relied on. */
static tilewright_status backwards(const tilewright_executor* self, const tilewright_call* call,
                                   int64_t begin, int64_t end, int64_t grain, tilewright_task task,
                                   void* closure) {
  (void)call;
  (void)grain;
  for (int64_t i = end; i-- > begin;) {
    const tilewright_status status = task(closure, (int32_t)(i % self->num_workers), i, i + 1);
    if (status != TILEWRIGHT_OK) return status;
  }
  return TILEWRIGHT_OK;
}

static void run(int64_t function) {
  static tilewright_tensor tensors[kMost];
  static int64_t shapes[kMost][16];
  void* words[20] = {0};
  static tilewright_error error;
  tilewright_executor executor = {0};
  tilewright_call call;
  size_t workspace_size = 0;
  int64_t status;
  used = 0;
  num_blocks = 0;
  executor.struct_size = sizeof(executor);
  executor.num_workers = 3;
  executor.parallel_for = backwards;
  memset(&error, 0, sizeof(error));
  error.struct_size = sizeof(error);
  call = tilewright_call_make(take_word() != 0 ? &executor : NULL, &error);
  const int64_t count = take_word();
  if (count > kMost) system_call(kExit, 7, 0, 0);
  words[0] = &call;
  for (int64_t p = 0; p < count; ++p) {
    tilewright_tensor* tensor = &tensors[p];
    memset(tensor, 0, sizeof(*tensor));
    tensor->dl.device.device_type = kDLCPU;
    tensor->dl.dtype.code = (uint8_t)take_word();
    tensor->dl.dtype.bits = (uint8_t)take_word();
    tensor->dl.dtype.lanes = 1;
    tensor->dl.ndim = (int32_t)take_word();
    if (tensor->dl.ndim > 16) system_call(kExit, 8, 0, 0);
    for (int32_t d = 0; d < tensor->dl.ndim; ++d) shapes[p][d] = take_word();
    tensor->dl.shape = shapes[p];
    const int64_t is_input = take_word();
    tensor->size_bytes = (uint64_t)take_word();
    tensor->dl.data = block(tensor->size_bytes, tensor->dl.dtype.bits / 8, 0xa5);
    if (is_input != 0 && tensor->size_bytes != 0) take(tensor->dl.data, tensor->size_bytes);
    words[1 + p] = tensor;
  }
  words[1 + count] = &workspace_size;
  status = ((any_function)functions[2 * function + 1])(
      words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7], words[8],
      words[9], words[10], words[11], words[12], words[13], words[14], words[15], words[16],
      words[17], words[18], words[19]);
  give_word(status);
  give_word((int64_t)workspace_size);
  words[1 + count] = block(workspace_size, 64, 0xff);
  words[2 + count] = (void*)workspace_size;
  status = ((any_function)functions[2 * function])(
      words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7], words[8],
      words[9], words[10], words[11], words[12], words[13], words[14], words[15], words[16],
      words[17], words[18], words[19]);
  give_word(status);
  give_word(walls_hold());
  for (int64_t p = 0; p < count; ++p) give(tensors[p].dl.data, tensors[p].size_bytes);
}

__attribute__((used)) static void serve(void) {
  int64_t function;
  while (take(&function, sizeof(function))) run(function);
  system_call(kExit, 0, 0, 0);
}

__asm__(".globl _start\n_start:\n  mov x29, xzr\n  mov x30, xzr\n  b serve\n");
