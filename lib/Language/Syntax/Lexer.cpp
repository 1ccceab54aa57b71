//===- Lexer.cpp - Tokens of the job language -----------------------------===//

#include "Hfta/Language/Lexer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::hfta;

std::optional<int64_t> mlir::hfta::getUnit(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<int64_t>>(name)
      .Case("KiB", int64_t(1) << 10)
      .Case("MiB", int64_t(1) << 20)
      .Case("GiB", int64_t(1) << 30)
      .Case("TiB", int64_t(1) << 40)
      .Default(std::nullopt);
}

llvm::StringRef mlir::hfta::describe(TokenKind kind) {
  switch (kind) {
  case TokenKind::endOfFile:
    return "the end";
  case TokenKind::identifier:
    return "a name";
  case TokenKind::integer:
    return "a whole number";
  case TokenKind::real:
    return "a number";
  case TokenKind::size:
    return "a size";
  case TokenKind::string:
    return "a string";
  case TokenKind::leftParenthesis:
    return "'('";
  case TokenKind::rightParenthesis:
    return "')'";
  case TokenKind::leftBrace:
    return "'{'";
  case TokenKind::rightBrace:
    return "'}'";
  case TokenKind::leftBracket:
    return "'['";
  case TokenKind::rightBracket:
    return "']'";
  case TokenKind::comma:
    return "','";
  case TokenKind::colon:
    return "':'";
  case TokenKind::equal:
    return "'='";
  case TokenKind::dot:
    return "'.'";
  case TokenKind::plus:
    return "'+'";
  case TokenKind::minus:
    return "'-'";
  case TokenKind::star:
    return "'*'";
  case TokenKind::slash:
    return "'/'";
  }
  llvm_unreachable("unknown token kind");
}

static llvm::SMRange rangeOf(const char *begin, const char *end) {
  return {llvm::SMLoc::getFromPointer(begin), llvm::SMLoc::getFromPointer(end)};
}

static bool isNameStart(char c) { return llvm::isAlpha(c) || c == '_'; }
static bool isNamePart(char c) { return llvm::isAlnum(c) || c == '_'; }

void Lexer::skipSpaceAndComments() {
  while (position != end) {
    if (llvm::isSpace(*position)) {
      ++position;
    } else if (*position == '/' && end - position > 1 && position[1] == '/') {
      while (position != end && *position != '\n')
        ++position;
    } else {
      return;
    }
  }
}

static std::optional<TokenKind> getPunctuation(char c) {
  switch (c) {
  case '(':
    return TokenKind::leftParenthesis;
  case ')':
    return TokenKind::rightParenthesis;
  case '{':
    return TokenKind::leftBrace;
  case '}':
    return TokenKind::rightBrace;
  case '[':
    return TokenKind::leftBracket;
  case ']':
    return TokenKind::rightBracket;
  case ',':
    return TokenKind::comma;
  case ':':
    return TokenKind::colon;
  case '=':
    return TokenKind::equal;
  case '.':
    return TokenKind::dot;
  case '+':
    return TokenKind::plus;
  case '-':
    return TokenKind::minus;
  case '*':
    return TokenKind::star;
  case '/':
    return TokenKind::slash;
  default:
    return std::nullopt;
  }
}

void Lexer::skipUnknown(const char *begin) {
  // Report consecutive bytes outside of ASCII once, since they are parts of one
  // character.
  ++position;
  while ((*begin & 0x80) && position != end && (*position & 0x80))
    ++position;
  llvm::SMRange range = rangeOf(begin, position);
  if (*begin == '#')
    report(range, "unexpected character '#'", "comments begin with '//'");
  else if (*begin == '\'')
    report(range, "unexpected character '''", "strings stand in double quotes");
  else if (*begin == ';')
    report(range, "unexpected character ';'", "statements need no separator");
  else if (llvm::isPrint(*begin))
    report(range,
           llvm::Twine("unexpected character '") + llvm::Twine(*begin) + "'",
           "names hold letters, digits and '_'");
  else if (*begin & 0x80)
    report(range, "unexpected character outside ASCII",
           "such characters may stand in strings and comments");
  else
    report(range, "unexpected control character", "remove it");
}

Token Lexer::lex() {
  while (true) {
    skipSpaceAndComments();
    const char *begin = position;
    if (position == end)
      return make(TokenKind::endOfFile, begin);
    char c = *position;
    if (isNameStart(c)) {
      while (position != end && isNamePart(*position))
        ++position;
      return make(TokenKind::identifier, begin);
    }
    if (llvm::isDigit(c) ||
        (c == '.' && end - position > 1 && llvm::isDigit(position[1])))
      return lexNumber(begin);
    if (c == '"')
      return lexString(begin);
    if (std::optional<TokenKind> kind = getPunctuation(c)) {
      ++position;
      return make(*kind, begin);
    }
    skipUnknown(begin);
  }
}

Token Lexer::lexNumber(const char *begin) {
  TokenKind kind = TokenKind::integer;
  auto skipDigits = [&] {
    while (position != end && llvm::isDigit(*position))
      ++position;
  };
  skipDigits();
  if (position != end && *position == '.') {
    kind = TokenKind::real;
    ++position;
    skipDigits();
  }
  if (position != end && (*position == 'e' || *position == 'E')) {
    const char *exponent = position++;
    if (position != end && (*position == '+' || *position == '-'))
      ++position;
    if (position != end && llvm::isDigit(*position)) {
      kind = TokenKind::real;
      skipDigits();
    } else {
      position = exponent;
    }
  }
  Token number = make(kind, begin);
  if (position != end && isNamePart(*position)) {
    const char *rest = position;
    while (position != end && isNamePart(*position))
      ++position;
    if (getUnit(llvm::StringRef(rest, position - rest)))
      return make(TokenKind::size, begin);
    report(rangeOf(begin, position),
           "'" + llvm::StringRef(begin, position - begin) +
               "' is neither a number nor a name",
           "names begin with a letter, units are KiB, MiB, GiB and TiB");
    number.text = llvm::StringRef(begin, rest - begin);
  }
  return number;
}

Token Lexer::lexString(const char *begin) {
  ++position;
  while (position != end && *position != '"' && *position != '\n') {
    if (*position == '\\' && end - position > 1 && position[1] != '\n')
      ++position;
    ++position;
  }
  if (position != end && *position == '"') {
    ++position;
    return make(TokenKind::string, begin);
  }
  Token token = make(TokenKind::string, begin);
  openString = token.text;
  reportOpenString(openString);
  return token;
}

void Lexer::reportOpenString(llvm::StringRef string) {
  report(rangeOf(string.begin(), string.end()), "string without an end",
         "close it with '\"' on the same line");
}
