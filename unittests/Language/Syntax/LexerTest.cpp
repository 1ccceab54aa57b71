//===- LexerTest.cpp - Tokens of the job language -------------------------===//

#include "Hfta/Language/Lexer.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace mlir::hfta;

namespace {
struct Lexed {
  std::vector<std::pair<TokenKind, std::string>> tokens;
  std::string messages;
};
} // namespace

static Lexed lexAll(llvm::StringRef text) {
  Lexed result;
  llvm::SourceMgr sources;
  unsigned buffer = sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(text, "t"), llvm::SMLoc());
  llvm::raw_string_ostream os(result.messages);
  JobDiagnostics diagnostics(sources, os);
  Lexer lexer(sources.getMemoryBuffer(buffer)->getBuffer(), &diagnostics);
  for (Token token = lexer.lex(); !token.is(TokenKind::endOfFile);
       token = lexer.lex())
    result.tokens.push_back({token.kind, token.text.str()});
  return result;
}

TEST(Lexer, Sizes) {
  Lexed lexed = lexAll("64MiB 1.5GiB 8KiB 2TiB");
  ASSERT_EQ(lexed.tokens.size(), 4u);
  for (const auto &[kind, text] : lexed.tokens)
    EXPECT_EQ(kind, TokenKind::size) << text;
  EXPECT_EQ(lexed.messages, "");
  EXPECT_NE(lexAll("64MB").messages, "");
}

TEST(Lexer, Kinds) {
  Lexed lexed =
      lexAll("a_1 12 1.5 1e-3 .5 2. \"s\" ( ) { } [ ] , : = . + - * /");
  std::vector<TokenKind> expected = {TokenKind::identifier,
                                     TokenKind::integer,
                                     TokenKind::real,
                                     TokenKind::real,
                                     TokenKind::real,
                                     TokenKind::real,
                                     TokenKind::string,
                                     TokenKind::leftParenthesis,
                                     TokenKind::rightParenthesis,
                                     TokenKind::leftBrace,
                                     TokenKind::rightBrace,
                                     TokenKind::leftBracket,
                                     TokenKind::rightBracket,
                                     TokenKind::comma,
                                     TokenKind::colon,
                                     TokenKind::equal,
                                     TokenKind::dot,
                                     TokenKind::plus,
                                     TokenKind::minus,
                                     TokenKind::star,
                                     TokenKind::slash};
  ASSERT_EQ(lexed.tokens.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(lexed.tokens[i].first, expected[i]) << lexed.tokens[i].second;
  EXPECT_EQ(lexed.messages, "");
}

TEST(Lexer, Comments) {
  Lexed lexed = lexAll("a // b \"\n/ c//");
  ASSERT_EQ(lexed.tokens.size(), 3u);
  EXPECT_EQ(lexed.tokens[0].second, "a");
  EXPECT_EQ(lexed.tokens[1].second, "/");
  EXPECT_EQ(lexed.tokens[2].second, "c");
}

TEST(Lexer, ExponentNeedsDigits) {
  Lexed lexed = lexAll("1e");
  ASSERT_EQ(lexed.tokens.size(), 1u);
  EXPECT_EQ(lexed.tokens[0].second, "1");
  EXPECT_EQ(lexed.messages,
            "t:1:1: error: '1e' is neither a number nor a name\n"
            "1e\n^~\nhint: names begin with a letter, units are KiB, MiB, GiB "
            "and TiB\n");
}

TEST(Lexer, Strings) {
  Lexed lexed = lexAll("\"a\\\"b\" \"\xc3\xa4\"");
  ASSERT_EQ(lexed.tokens.size(), 2u);
  EXPECT_EQ(lexed.tokens[0].second, "\"a\\\"b\"");
  EXPECT_EQ(lexed.messages, "");
}

TEST(Lexer, OneReportACharacter) {
  Lexed lexed = lexAll("a \xc3\xa4\xc3\xb6 b");
  EXPECT_EQ(lexed.tokens.size(), 2u);
  EXPECT_NE(lexed.messages.find("unexpected character outside ASCII"),
            std::string::npos);
  EXPECT_EQ(lexed.messages.find("error", lexed.messages.find("error") + 1),
            std::string::npos);
}

TEST(Lexer, ZeroBytes) {
  Lexed lexed = lexAll(llvm::StringRef("a\0b", 3));
  EXPECT_EQ(lexed.tokens.size(), 2u);
  EXPECT_NE(lexed.messages.find("unexpected control character"),
            std::string::npos);
}

TEST(Lexer, BackslashAtTheEnd) {
  Lexed lexed = lexAll("\"a\\");
  EXPECT_EQ(lexed.tokens.size(), 1u);
  EXPECT_NE(lexed.messages.find("string without an end"), std::string::npos);
}
