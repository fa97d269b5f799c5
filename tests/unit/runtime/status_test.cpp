// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <climits>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>

#include "tilewright/runtime.h"

namespace {

std::string text_of(const tilewright_error& error) {
  char buffer[1024];
  const std::size_t length = tilewright_error_text(&error, buffer, sizeof(buffer));
  EXPECT_EQ(length, std::strlen(buffer));
  return buffer;
}

TEST(Status, EveryStatusHasItsOwnText) {
  std::set<std::string> texts;
  for (tilewright_status status = TILEWRIGHT_OK; status > TILEWRIGHT_STATUS_END; --status) {
    EXPECT_TRUE(texts.insert(tilewright_status_text(status)).second) << status;
  }
  EXPECT_EQ(texts.count("unknown status"), 0u);
  for (const tilewright_status status : {1, INT_MAX, int{TILEWRIGHT_STATUS_END}, -1000, INT_MIN}) {
    EXPECT_STREQ(tilewright_status_text(status), "unknown status");
  }
  EXPECT_STREQ(tilewright_status_text(TILEWRIGHT_WORKSPACE_TOO_SMALL), "workspace too small");
  EXPECT_STREQ(tilewright_status_text(TILEWRIGHT_NO_THREADS), "system refused a thread");
}

TEST(Status, ErrorAsALine) {
  tilewright_error error{};
  error.status = TILEWRIGHT_WRONG_SHAPE;
  error.argument = 1;
  error.dimension = 0;
  error.expected = 64;
  error.got = INT64_MIN;
  std::strcpy(error.function, "gemm");
  std::strcpy(error.message, "K of b must equal K of a");
  EXPECT_EQ(text_of(error),
            "gemm: argument 1, dimension 0: wrong extent: expected 64, got -9223372036854775808; "
            "K of b must equal K of a");
  error.argument = -1;
  error.expected = error.got = 0;
  error.message[0] = error.function[0] = '\0';
  EXPECT_EQ(text_of(error), "wrong extent");
}

TEST(Status, ErrorTextIsCutAndTerminated) {
  tilewright_error error{};
  error.status = TILEWRIGHT_CANCELLED;
  error.argument = -1;
  char buffer[5] = {'x', 'x', 'x', 'x', 'x'};
  EXPECT_EQ(tilewright_error_text(&error, buffer, 4), 9u);
  EXPECT_STREQ(buffer, "can");
  EXPECT_EQ(buffer[4], 'x');
  EXPECT_EQ(tilewright_error_text(&error, buffer, 0), 9u);
  EXPECT_EQ(tilewright_error_text(&error, nullptr, 7), 9u);
  EXPECT_EQ(tilewright_error_text(nullptr, buffer, 5), 0u);
  EXPECT_STREQ(buffer, "");
}

TEST(Status, UnterminatedMembersAreNotRunOver) {
  tilewright_error error;
  std::memset(&error, 'a', sizeof(error));
  error.status = TILEWRIGHT_CANCELLED;
  error.argument = -1;
  error.expected = error.got = 0;
  EXPECT_EQ(text_of(error).size(), 64u + 2 + 9 + 2 + 400);
}

}  // namespace
