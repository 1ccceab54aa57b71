//===- JsonTest.cpp - The JSON writer and reader --------------------------===//

#include "hfta/json.h"

#include "TestFiles.h"

#include <cmath>
#include <cstdio>
#include <functional>

using namespace hfta_test;

namespace {

std::string written(const std::function<void(hfta_json_writer *)> &write) {
  hfta_json_writer writer;
  hfta_json_to_memory(&writer);
  write(&writer);
  hfta_error error;
  hfta_status status = hfta_json_finish(&writer, &error);
  std::string out = status == HFTA_OK ? hfta_json_text(&writer, nullptr)
                                      : describe(status, error);
  hfta_json_release(&writer);
  return out;
}

/// Reads a text and returns its events as short words, followed by END, or by
/// the error and its offset.
std::string events(const std::string &text) {
  // The copy has exactly the text's size, so that sanitizers detect reads
  // beyond it.
  std::vector<char> copy(text.begin(), text.end());
  hfta_json_reader reader;
  hfta_json_read(&reader, copy.data(), copy.size());
  std::string out;
  for (;;) {
    hfta_json_event event = hfta_json_next(&reader);
    switch (event) {
    case HFTA_JSON_ERROR:
      out +=
          "error at " + std::to_string(reader.offset) + ": " + reader.problem;
      EXPECT_EQ(hfta_json_next(&reader), HFTA_JSON_ERROR);
      EXPECT_LE(reader.offset, text.size());
      hfta_json_read_end(&reader);
      return out;
    case HFTA_JSON_END:
      EXPECT_EQ(hfta_json_next(&reader), HFTA_JSON_END);
      hfta_json_read_end(&reader);
      return out + "end";
    case HFTA_JSON_BEGIN_OBJECT:
      out += "{ ";
      break;
    case HFTA_JSON_END_OBJECT:
      out += "} ";
      break;
    case HFTA_JSON_BEGIN_ARRAY:
      out += "[ ";
      break;
    case HFTA_JSON_END_ARRAY:
      out += "] ";
      break;
    case HFTA_JSON_KEY:
      out += "key:" + std::string(reader.string, reader.string_length) + " ";
      break;
    case HFTA_JSON_STRING:
      out += "str:" + std::string(reader.string, reader.string_length) + " ";
      break;
    case HFTA_JSON_INTEGER:
      out += "int:" + std::to_string(reader.integer) + " ";
      break;
    case HFTA_JSON_NUMBER:
      out += "num:" + std::to_string(reader.number) + " ";
      break;
    case HFTA_JSON_TRUE:
      out += "true ";
      break;
    case HFTA_JSON_FALSE:
      out += "false ";
      break;
    case HFTA_JSON_NULL:
      out += "null ";
      break;
    }
  }
}

void writeSample(hfta_json_writer *w) {
  hfta_json_begin_object(w);
  hfta_json_key(w, "event");
  hfta_json_string(w, "step");
  hfta_json_key(w, "loss");
  hfta_json_begin_array(w);
  hfta_json_number(w, 0.1f, HFTA_F32);
  hfta_json_number(w, NAN, HFTA_F32);
  hfta_json_number(w, -INFINITY, HFTA_F64);
  hfta_json_end_array(w);
  hfta_json_key(w, "empty");
  hfta_json_begin_object(w);
  hfta_json_end_object(w);
  hfta_json_key(w, "n");
  hfta_json_integer(w, INT64_MIN);
  hfta_json_key(w, "u");
  hfta_json_unsigned(w, UINT64_MAX);
  hfta_json_key(w, "b");
  hfta_json_boolean(w, true);
  hfta_json_key(w, "z");
  hfta_json_null(w);
  hfta_json_key(w, "raw");
  hfta_json_raw(w, "[1]");
  hfta_json_end_object(w);
}

} // namespace

TEST(JsonWriter, Values) {
  EXPECT_EQ(written(writeSample),
            "{\"event\":\"step\",\"loss\":[0.1,\"nan\",\"-inf\"],\"empty\":{},"
            "\"n\":-9223372036854775808,\"u\":18446744073709551615,"
            "\"b\":true,\"z\":null,\"raw\":[1]}");
}

TEST(JsonWriter, EscapesStrings) {
  EXPECT_EQ(written([](hfta_json_writer *w) {
              hfta_json_string(w, "a\"b\\c\n\t\r\b\f\x01\x7F \xC3\xA4\xFFz");
            }),
            "\"a\\\"b\\\\c\\n\\t\\r\\b\\f\\u0001\\u007f "
            "\xC3\xA4\xEF\xBF\xBDz\"");
}

TEST(JsonWriter, LinesInAFile) {
  char *text = nullptr;
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);
  hfta_json_writer writer;
  hfta_json_to_file(&writer, file);
  for (int i = 0; i < 2; ++i) {
    hfta_json_begin_array(&writer);
    hfta_json_integer(&writer, i);
    hfta_json_end_array(&writer);
    hfta_json_newline(&writer);
  }
  EXPECT_EQ(hfta_json_finish(&writer, nullptr), HFTA_OK);
  EXPECT_EQ(hfta_json_text(&writer, nullptr), nullptr);
  hfta_json_release(&writer);
  std::fclose(file);
  EXPECT_STREQ(text, "[0]\n[1]\n");
  std::free(text);
}

TEST(JsonWriter, FullDisk) {
  FILE *file = std::fopen("/dev/full", "w");
  ASSERT_NE(file, nullptr);
  std::setbuf(file, nullptr);
  hfta_json_writer writer;
  hfta_json_to_file(&writer, file);
  hfta_json_integer(&writer, 1);
  hfta_error error;
  EXPECT_EQ(hfta_json_finish(&writer, &error), HFTA_CANNOT_WRITE);
  EXPECT_STREQ(error.message, "cannot write JSON to its file");
  std::fclose(file);
}

TEST(JsonWriter, MisuseIsReported) {
  EXPECT_EQ(written([](hfta_json_writer *w) { hfta_json_begin_array(w); }),
            "70: JSON text is incomplete");
  EXPECT_EQ(written([](hfta_json_writer *w) { hfta_json_key(w, "a"); }),
            "70: JSON key without a place");
  EXPECT_EQ(written([](hfta_json_writer *w) {
              hfta_json_begin_object(w);
              hfta_json_integer(w, 1);
            }),
            "70: JSON value without a place");
  EXPECT_EQ(written([](hfta_json_writer *w) {
              hfta_json_begin_object(w);
              hfta_json_end_array(w);
            }),
            "70: JSON brackets don't match");
  EXPECT_EQ(written([](hfta_json_writer *w) {
              hfta_json_integer(w, 1);
              hfta_json_integer(w, 2);
            }),
            "70: JSON value without a place");
  EXPECT_EQ(written([](hfta_json_writer *w) {
              for (int i = 0; i <= HFTA_JSON_MAX_DEPTH; ++i)
                hfta_json_begin_array(w);
            }),
            "70: JSON nested too deeply");
}

TEST(JsonReader, Values) {
  EXPECT_EQ(events(" {\"a\" : [1, -2.5e1, true,false , null], \"b\":{}} "),
            "{ key:a [ int:1 num:-25.000000 true false null ] key:b { } } end");
  EXPECT_EQ(events("\"\\u00e4\\ud83d\\ude00\\n\\/\""),
            "str:\xC3\xA4\xF0\x9F\x98\x80\n/ end");
  EXPECT_EQ(events("9223372036854775808"),
            "num:9223372036854775808.000000 end");
  EXPECT_EQ(events("[]"), "[ ] end");
  std::string zero("str:a\0b end", 11);
  EXPECT_EQ(events("\"a\\u0000b\""), zero);
}

TEST(JsonReader, WhatTheWriterWrote) {
  EXPECT_EQ(events(written(writeSample)),
            "{ key:event str:step key:loss [ num:0.100000 str:nan str:-inf ] "
            "key:empty { } key:n int:-9223372036854775808 "
            "key:u num:18446744073709551616.000000 key:b true key:z null "
            "key:raw [ int:1 ] } end");
}

TEST(JsonReader, Errors) {
  EXPECT_EQ(events(""), "error at 0: text ends too early");
  EXPECT_EQ(events("[1"), "[ int:1 error at 2: text ends too early");
  EXPECT_EQ(events("[1,]"), "[ int:1 error at 3: expected a value");
  EXPECT_EQ(events("{\"a\":1,}"),
            "{ key:a int:1 error at 7: expected a key in quotes");
  EXPECT_EQ(events("{\"a\" 1}"), "{ error at 5: expected ':' after a key");
  EXPECT_EQ(events("[1}"), "[ int:1 error at 2: expected ',' or ']'");
  EXPECT_EQ(events("{\"a\":1]"), "{ key:a int:1 error at 6: expected ',' or "
                                 "'}'");
  EXPECT_EQ(events("1 2"), "int:1 error at 2: text goes on after its end");
  EXPECT_EQ(events("\"a"), "error at 2: string without an end");
  EXPECT_EQ(events("\"\\"), "error at 2: unknown escape in a string");
  EXPECT_EQ(events("\"\\x\""), "error at 3: unknown escape in a string");
  EXPECT_EQ(events("\"\\ud800\""), "error at 7: faulty \\u escape in a string");
  EXPECT_EQ(events("\"\\u12\""), "error at 5: faulty \\u escape in a string");
  EXPECT_EQ(events("\"\n\""), "error at 1: control character in a string");
  EXPECT_EQ(events("\"\xFF\""), "error at 1: string isn't UTF-8");
  EXPECT_EQ(events("1e999"), "error at 0: number out of range");
  EXPECT_EQ(events("tru"), "error at 0: expected a value");
  for (const char *text : {"01", "+1", "1.", ".5", "-", "1e", "--1", "1.e5"})
    EXPECT_NE(events(text).find("error"), std::string::npos) << text;
  EXPECT_NE(events(std::string(1000000, '[')).find("nested too deeply"),
            std::string::npos);
}

TEST(JsonReader, Skip) {
  std::string text = "[{\"a\":[[],{}]},7]";
  hfta_json_reader reader;
  hfta_json_read(&reader, text.data(), text.size());
  EXPECT_EQ(hfta_json_next(&reader), HFTA_JSON_BEGIN_ARRAY);
  EXPECT_TRUE(hfta_json_skip(&reader, hfta_json_next(&reader)));
  EXPECT_EQ(hfta_json_next(&reader), HFTA_JSON_INTEGER);
  EXPECT_EQ(reader.integer, 7);
  hfta_json_read_end(&reader);
}

TEST(JsonReader, HostileText) {
  std::string text = written(writeSample) + "  ";
  text.insert(1, "\"\\u00e4\\ud83d\\ude00\":[[1e3,\"\xC3\xA4\"]],");
  ASSERT_EQ(events(text).find("error"), std::string::npos);
  forEachTruncation(text, [](const std::string &bytes) { events(bytes); });
  forEachCorruption(text, 20000,
                    [](const std::string &bytes) { events(bytes); });
}
