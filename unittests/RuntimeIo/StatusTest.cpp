//===- StatusTest.cpp - Tests of status codes, messages and shapes --------===//

#include "hfta/status.h"
#include "hfta/tensor_view.h"

#include "gtest/gtest.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

TEST(Status, CodesAreExitCodes) {
  EXPECT_EQ(HFTA_OK, 0);
  EXPECT_EQ(HFTA_INVALID_INPUT, 1);
  EXPECT_EQ(HFTA_USAGE, 2);
  EXPECT_EQ(HFTA_UNSUPPORTED, 3);
  EXPECT_EQ(HFTA_CANNOT_WRITE, 4);
  EXPECT_EQ(HFTA_LOST, 5);
  EXPECT_EQ(HFTA_INTERNAL, 70);
  EXPECT_STREQ(hfta_status_text(HFTA_CANNOT_WRITE), "cannot write");
}

TEST(Status, FailFillsTheError) {
  hfta_error error;
  EXPECT_EQ(hfta_fail(&error, HFTA_USAGE, "%s needs %d", "--steps", 1),
            HFTA_USAGE);
  EXPECT_EQ(error.code, HFTA_USAGE);
  EXPECT_STREQ(error.message, "--steps needs 1");
}

TEST(Status, ErrorMayBeNull) {
  EXPECT_EQ(hfta_fail(nullptr, HFTA_INTERNAL, "%d", 1), HFTA_INTERNAL);
}

TEST(Status, MessageMayQuoteItself) {
  hfta_error error;
  hfta_fail(&error, HFTA_USAGE, "inner");
  hfta_fail(&error, HFTA_INVALID_INPUT, "outer: %s", error.message);
  EXPECT_STREQ(error.message, "outer: inner");
}

TEST(Status, LongMessageIsCutBetweenCharacters) {
  hfta_error error;
  std::string name;
  for (int i = 0; i < 1000; ++i)
    name += "\xC3\xA4";
  hfta_fail(&error, HFTA_USAGE, "%s", name.c_str());
  std::string message = error.message;
  EXPECT_LT(message.size(), sizeof(error.message));
  EXPECT_GT(message.size(), sizeof(error.message) - 8);
  EXPECT_EQ(message.substr(message.size() - 5), "\xC3\xA4...");
}

TEST(Status, ControlCharactersDontReachATerminal) {
  hfta_error error;
  hfta_fail(&error, HFTA_USAGE, "a\x1B[31mb\x7F\nc");
  EXPECT_STREQ(error.message, "a?[31mb?\nc");
}

TEST(TensorView, ElementTypes) {
  EXPECT_EQ(hfta_element_bytes(HFTA_BOOL), 1u);
  EXPECT_EQ(hfta_element_bytes(HFTA_BF16), 2u);
  EXPECT_EQ(hfta_element_bytes(HFTA_F64), 8u);
  EXPECT_EQ(hfta_element_bytes(static_cast<hfta_element_type>(11)), 0u);
  EXPECT_STREQ(hfta_element_name(HFTA_U16), "u16");
  EXPECT_STREQ(hfta_element_name(static_cast<hfta_element_type>(99)), "?");
}

TEST(TensorView, SizesAreChecked) {
  uint64_t bytes = 0;
  std::vector<int64_t> shape = {2, 3, 4};
  EXPECT_TRUE(hfta_shape_bytes(HFTA_F32, shape.data(), 3, &bytes));
  EXPECT_EQ(bytes, 96u);
  EXPECT_TRUE(hfta_shape_bytes(HFTA_F64, nullptr, 0, &bytes));
  EXPECT_EQ(bytes, 8u);
  shape = {0, 5};
  EXPECT_TRUE(hfta_shape_bytes(HFTA_F64, shape.data(), 2, &bytes));
  EXPECT_EQ(bytes, 0u);
  shape = {-1, 0};
  EXPECT_FALSE(hfta_shape_bytes(HFTA_F64, shape.data(), 2, &bytes));
  shape = {INT64_MAX, 2};
  EXPECT_FALSE(hfta_shape_bytes(HFTA_U8, shape.data(), 2, &bytes));
  shape = {0, INT64_MAX, 2};
  EXPECT_FALSE(hfta_shape_bytes(HFTA_U8, shape.data(), 3, &bytes));
  shape = {INT64_MAX / 4};
  EXPECT_FALSE(hfta_shape_bytes(HFTA_F64, shape.data(), 1, &bytes));
}

TEST(TensorView, ShapeText) {
  char text[HFTA_SHAPE_TEXT_BYTES];
  std::vector<int64_t> shape = {1, 28, 28};
  EXPECT_STREQ(hfta_shape_text(shape.data(), 3, text), "1x28x28");
  EXPECT_STREQ(hfta_shape_text(nullptr, 0, text), "scalar");
  shape.assign(HFTA_MAX_RANK, INT64_MAX);
  EXPECT_EQ(std::strlen(hfta_shape_text(shape.data(), HFTA_MAX_RANK, text)),
            size_t{HFTA_SHAPE_TEXT_BYTES - 1});
}
