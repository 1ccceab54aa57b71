//===- Lexer.h - Tokens of the job language ---------------------*- C++ -*-===//

#ifndef HFTA_LANGUAGE_LEXER_H
#define HFTA_LANGUAGE_LEXER_H

#include "Hfta/Language/Diagnostics.h"

#include <cstdint>
#include <optional>

namespace mlir::hfta {

enum class TokenKind {
  endOfFile,
  identifier,
  integer,
  real,
  size, ///< a number with a unit: 64MiB
  string,
  leftParenthesis,
  rightParenthesis,
  leftBrace,
  rightBrace,
  leftBracket,
  rightBracket,
  comma,
  colon,
  equal,
  dot,
  plus,
  minus,
  star,
  slash
};

/// Returns a description of the token kind for messages, such as "'('" or "a
/// name".
llvm::StringRef describe(TokenKind kind);

/// Returns the number of bytes of a unit such as "MiB", or nothing if the name
/// isn't a unit.
std::optional<int64_t> getUnit(llvm::StringRef name);

struct Token {
  TokenKind kind = TokenKind::endOfFile;
  llvm::StringRef text; ///< as in the source; a string with its quotes

  bool is(TokenKind other) const { return kind == other; }
  bool isWord(llvm::StringRef word) const {
    return kind == TokenKind::identifier && text == word;
  }
  llvm::SMRange getRange() const {
    return {llvm::SMLoc::getFromPointer(text.begin()),
            llvm::SMLoc::getFromPointer(text.end())};
  }
};

/// Splits a text into tokens. Reports characters that can't begin a token to
/// the diagnostics, unless that is null, and skips them, so that parsing
/// continues.
class Lexer {
public:
  Lexer(llvm::StringRef text, JobDiagnostics *diagnostics)
      : position(text.begin()), end(text.end()), diagnostics(diagnostics) {}

  Token lex();

  /// Returns the next token without consuming it. Reports nothing.
  Token peek() const {
    Lexer ahead = *this;
    ahead.diagnostics = nullptr;
    return ahead.lex();
  }

  /// Sets whether errors are reported.
  void setReporting(bool on) { reporting = on; }
  /// Returns the last string literal that had no closing quote, or an empty
  /// text.
  llvm::StringRef getOpenString() const { return openString; }
  void reportOpenString(llvm::StringRef string);

private:
  void skipSpaceAndComments();
  Token make(TokenKind kind, const char *begin) const {
    return {kind, llvm::StringRef(begin, position - begin)};
  }
  Token lexNumber(const char *begin);
  Token lexString(const char *begin);
  void skipUnknown(const char *begin);
  void report(llvm::SMRange range, const llvm::Twine &message,
              const llvm::Twine &hint = "") {
    if (diagnostics && reporting)
      diagnostics->error(range, message, hint);
  }

  const char *position;
  const char *end;
  JobDiagnostics *diagnostics;
  bool reporting = true;
  llvm::StringRef openString;
};

} // namespace mlir::hfta

#endif // HFTA_LANGUAGE_LEXER_H
