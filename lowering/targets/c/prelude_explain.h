// SPDX-License-Identifier: Apache-2.0
//
// The text of the helpers of NAME_explain in generated C, as prelude_text.h has the others. Law: no byte beyond the
// caller's buffer is written.
#pragma once

#include <string_view>

namespace tilewright::c_target {

struct Helper {
  std::string_view name;
  std::string_view text;
};

inline constexpr Helper kExplainHelpers[] = {{"tw_text", R"c(
/* Text in the buffer of a caller: cut to fit, its whole length counted. */
struct tw_text {
  char *buffer;
  size_t size;
  size_t length;
};
)c"},
                                             {"tw_put_text", R"c(
static void tw_put_text(struct tw_text *out, const char *text) {
  for (; *text != 0; ++text, ++out->length)
    if (out->length + 1 < out->size) out->buffer[out->length] = *text;
}
)c"},
                                             {"tw_put_number", R"c(
static void tw_put_number(struct tw_text *out, int64_t number) {
  uint64_t rest = number < 0 ? 0u - (uint64_t)number : (uint64_t)number;
  char digits[22];
  size_t at = sizeof digits - 1;
  digits[at] = 0;
  do {
    digits[--at] = (char)('0' + rest % 10u);
    rest /= 10u;
  } while (rest != 0);
  if (number < 0) digits[--at] = '-';
  tw_put_text(out, digits + at);
}
)c"},
                                             {"tw_end_text", R"c(
static void tw_end_text(struct tw_text *out, size_t *length) {
  if (out->size != 0) out->buffer[out->length < out->size ? out->length : out->size - 1] = 0;
  if (length != NULL) *length = out->length;
}
)c"},
                                             {"tw_refused", R"c(
/* Ends the text with what was refused, hands the detail on and gives the status. */
static int32_t tw_refused(const tilewright_call *call, struct tw_text *out, size_t *length,
                          const tilewright_error *detail, const char *status,
                          const char *const *names) {
  tw_put_text(out, "refused: ");
  tw_put_text(out, status);
  tw_put_text(out, ": ");
  if (detail->argument >= 0) {
    tw_put_text(out, names[detail->argument]);
    if (detail->dimension >= 0) {
      tw_put_text(out, "[");
      tw_put_number(out, detail->dimension);
      tw_put_text(out, "]");
    }
    tw_put_text(out, ": ");
  }
  tw_put_text(out, detail->message);
  if (detail->expected != 0 || detail->got != 0) {
    tw_put_text(out, ": expected ");
    tw_put_number(out, detail->expected);
    tw_put_text(out, ", got ");
    tw_put_number(out, detail->got);
  }
  tw_put_text(out, "\n");
  tw_end_text(out, length);
  return tw_fail(call, detail->function, detail->status, detail->argument, detail->dimension,
                 detail->expected, detail->got, detail->message);
}
)c"}};

}  // namespace tilewright::c_target
