//===- TextTest.cpp - Numbers to and from text ----------------------------===//

#include "hfta/json.h"

extern "C" {
#include "text/listing.h"
#include "text/text.h"
}

#include "gtest/gtest.h"

#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>

namespace {

hfta_number_kind classify(const std::string &text) {
  return hfta_classify_number(text.data(), text.size());
}

double f64(const std::string &text) {
  double value = -1;
  EXPECT_TRUE(hfta_parse_f64(text.data(), text.size(), &value)) << text;
  return value;
}

float f32(const std::string &text) {
  float value = -1;
  EXPECT_TRUE(hfta_parse_f32(text.data(), text.size(), &value)) << text;
  return value;
}

std::string numberText(double value, hfta_element_type precision) {
  char buffer[HFTA_NUMBER_TEXT_BYTES];
  return hfta_number_text(value, precision, buffer);
}

/// Returns the absolute value of a finite 16-bit float with this layout.
double small(uint16_t bits, int exponentBits, int fractionBits) {
  int bias = (1 << (exponentBits - 1)) - 1;
  int exponent = bits >> fractionBits & ((1 << exponentBits) - 1);
  int fraction = bits & ((1 << fractionBits) - 1);
  if (exponent == 0)
    return std::ldexp(fraction, 1 - bias - fractionBits);
  return std::ldexp(fraction + (1 << fractionBits),
                    exponent - bias - fractionBits);
}

/// Checks `round` for all floats of a 16-bit layout, for the points halfway
/// between neighbours, and for the doubles next to these.
void checkRounding(uint16_t (*round)(double), int exponentBits,
                   int fractionBits, uint16_t infinity) {
  for (uint16_t bits = 0; bits + 1 < infinity; ++bits) {
    double low = small(bits, exponentBits, fractionBits);
    double high = small(bits + 1, exponentBits, fractionBits);
    double middle = (low + high) / 2;
    ASSERT_EQ(round(low), bits);
    ASSERT_EQ(round(middle), bits & 1 ? bits + 1 : bits);
    ASSERT_EQ(round(std::nextafter(middle, 0)), bits);
    ASSERT_EQ(round(std::nextafter(middle, high)), bits + 1);
    ASSERT_EQ(round(-high), (bits + 1) | 0x8000);
  }
}

TEST(ListingTest, Items) {
  hfta_listing listing = {};
  EXPECT_STREQ(listing.text, "");
  hfta_listing_add(&listing, "'%s'", "a");
  hfta_listing_add(&listing, "%d '%s'", 2, "b");
  EXPECT_STREQ(listing.text, "'a', 2 'b'");
  EXPECT_FALSE(listing.is_cut);
}

// Once an item finds no room, those after it are left out, however short.
TEST(ListingTest, Full) {
  hfta_listing listing = {};
  hfta_listing_add(&listing, "%s", std::string(240, 'a').c_str());
  hfta_listing_add(&listing, "%s", "12345678");
  hfta_listing_add(&listing, "%s", "b");
  EXPECT_EQ(listing.text, std::string(240, 'a') + ", 12345678, ...");
  EXPECT_TRUE(listing.is_cut);
  hfta_listing_add(&listing, "%s", "c");
  EXPECT_EQ(listing.used, std::string(listing.text).size());

  hfta_listing large = {};
  hfta_listing_add(&large, "%s", std::string(1000, 'a').c_str());
  EXPECT_STREQ(large.text, "...");
}

} // namespace

TEST(Text, ClassifiesNumbers) {
  for (const char *text : {"0", "-1", "+12", "007"})
    EXPECT_EQ(classify(text), HFTA_DECIMAL_INTEGER) << text;
  for (const char *text : {"1.", ".5", "1.5e3", "2E-7", "-0.0", "1e5"})
    EXPECT_EQ(classify(text), HFTA_DECIMAL) << text;
  for (const char *text : {"nan", "-INF", "+Infinity", "NaN"})
    EXPECT_EQ(classify(text), HFTA_NON_FINITE) << text;
  for (const char *text : {"", "-", ".", "e5", "1e", "1e+", "0x10", "1 ", "1,5",
                           "nanx", "1.2.3", "--1", "infinit", "1_000"})
    EXPECT_EQ(classify(text), HFTA_NOT_A_NUMBER) << text;
  EXPECT_EQ(classify(std::string(401, '1')), HFTA_NOT_A_NUMBER);
}

TEST(Text, ParsesAsTheCLibrary) {
  std::mt19937_64 random(7);
  char text[64];
  for (int i = 0; i < 200000; ++i) {
    int digits = 1 + static_cast<int>(random() % 19);
    int exponent = static_cast<int>(random() % 80) - 40;
    double mantissa = std::ldexp(static_cast<double>(random() >> 11), -53);
    std::snprintf(text, sizeof(text), "%.*fe%d", digits, mantissa, exponent);
    ASSERT_EQ(f64(text), std::strtod(text, nullptr)) << text;
    float parsed;
    bool inRange = hfta_parse_f32(text, std::strlen(text), &parsed);
    ASSERT_EQ(inRange, std::isfinite(std::strtof(text, nullptr))) << text;
    if (inRange) {
      ASSERT_EQ(parsed, std::strtof(text, nullptr)) << text;
    }
  }
}

TEST(Text, ParsesLimits) {
  EXPECT_EQ(f64("9007199254740993"), 9007199254740992.0);
  EXPECT_EQ(f64("4.9e-324"), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(f64("1e-400"), 0.0);
  EXPECT_TRUE(std::signbit(f64("-0")));
  EXPECT_TRUE(std::isnan(f64("NaN")));
  EXPECT_EQ(f32("-inf"), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(f32("16777217"), 16777216.0f);
  double value;
  EXPECT_FALSE(hfta_parse_f64("1e309", 5, &value));
  float single;
  EXPECT_FALSE(hfta_parse_f32("1e39", 4, &single));
  int64_t integer;
  EXPECT_TRUE(hfta_parse_i64("-9223372036854775808", 20, &integer));
  EXPECT_EQ(integer, INT64_MIN);
  EXPECT_FALSE(hfta_parse_i64("9223372036854775808", 19, &integer));
}

TEST(Text, RoundsToF16) { checkRounding(hfta_f16_from_f64, 5, 10, 0x7C00); }

TEST(Text, RoundsToBF16) { checkRounding(hfta_bf16_from_f64, 8, 7, 0x7F80); }

TEST(Text, WidensSmallFloats) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    auto small = static_cast<uint16_t>(bits);
    double half = hfta_f64_from_f16(small), brain = hfta_f64_from_bf16(small);
    EXPECT_EQ(std::isnan(half), (bits & 0x7FFF) > 0x7C00);
    EXPECT_EQ(std::isnan(brain), (bits & 0x7FFF) > 0x7F80);
    if (!std::isnan(half)) {
      ASSERT_EQ(hfta_f16_from_f64(half), small);
    }
    if (!std::isnan(brain)) {
      ASSERT_EQ(hfta_bf16_from_f64(brain), small);
    }
  }
  EXPECT_EQ(hfta_f64_from_f16(0x3555), 0.333251953125);
  EXPECT_EQ(hfta_f64_from_bf16(0xC049), -3.140625);
}

TEST(Text, SmallFloatsAtTheirLimits) {
  EXPECT_EQ(hfta_f16_from_f64(65519.99), 0x7BFF);
  EXPECT_EQ(hfta_f16_from_f64(65520), 0x7C00);
  EXPECT_EQ(hfta_f16_from_f64(INFINITY), 0x7C00);
  EXPECT_EQ(hfta_f16_from_f64(-1e300), 0xFC00);
  EXPECT_EQ(hfta_f16_from_f64(std::nan("")) & 0x7FFF, 0x7E00);
  EXPECT_EQ(hfta_bf16_from_f64(-0.0), 0x8000);
  EXPECT_EQ(hfta_bf16_from_f64(1e300), 0x7F80);
}

TEST(Text, WritesTheFewestDigits) {
  EXPECT_EQ(numberText(0.1, HFTA_F64), "0.1");
  EXPECT_EQ(numberText(0.1f, HFTA_F32), "0.1");
  EXPECT_EQ(numberText(0.1f, HFTA_F64), "0.10000000149011612");
  EXPECT_EQ(numberText(100000, HFTA_F32), "1e+05");
  EXPECT_EQ(numberText(2.302585, HFTA_F32), "2.302585");
  EXPECT_EQ(numberText(-0.0, HFTA_F64), "-0");
  EXPECT_EQ(numberText(1e9, HFTA_F64), "1e+09");
  EXPECT_EQ(numberText(5e-324, HFTA_F64), "5e-324");
  EXPECT_EQ(numberText(1e300, HFTA_F32), "inf");
  EXPECT_EQ(numberText(-INFINITY, HFTA_F64), "-inf");
  EXPECT_EQ(numberText(-std::nan(""), HFTA_F64), "nan");
}

TEST(Text, WrittenNumbersReadBack) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 50000; ++i) {
    uint64_t bits = random();
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    if (std::isfinite(value)) {
      ASSERT_EQ(f64(numberText(value, HFTA_F64)), value);
    }
    float single;
    std::memcpy(&single, &bits, sizeof(single));
    if (std::isfinite(single)) {
      ASSERT_EQ(f32(numberText(single, HFTA_F32)), single);
    }
  }
}

TEST(Text, DoesNotFollowTheLocale) {
  // The test needs a locale with a decimal comma, and is skipped if none is
  // installed.
  if (!std::setlocale(LC_ALL, "de_DE.UTF-8") &&
      !std::setlocale(LC_ALL, "fr_FR.UTF-8"))
    GTEST_SKIP();
  std::string text = numberText(1.5, HFTA_F64);
  double value = f64("1.23456789012345678901");
  std::setlocale(LC_ALL, "C");
  EXPECT_EQ(text, "1.5");
  EXPECT_EQ(value, 1.2345678901234568);
}

TEST(Text, Utf8) {
  auto valid = [](const std::string &text) {
    return hfta_utf8_valid(text.data(), text.size());
  };
  EXPECT_TRUE(valid("a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"));
  EXPECT_TRUE(valid("\xF4\x8F\xBF\xBF"));
  for (const char *text :
       {"\x80", "\xC0\x80", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80",
        "\xF4\x90\x80\x80", "\xF0\x80\x80\x80", "\xFF", "\xE2\x82"})
    EXPECT_FALSE(valid(text));
  for (uint32_t code : {0x41u, 0x7FFu, 0x800u, 0xFFFFu, 0x10000u, 0x10FFFFu}) {
    char bytes[4];
    size_t length = hfta_utf8_encode(code, bytes);
    EXPECT_EQ(hfta_utf8_sequence(bytes, length), length);
  }
}
