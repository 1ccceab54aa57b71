//===- Format.cpp - The layout of job files -------------------------------===//

#include "Hfta/Language/Format.h"
#include "Hfta/Language/Lexer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

using namespace mlir;
using namespace mlir::hfta;

/// The widest line that a comment behind it is moved in, to begin in the same
/// column as those of the lines around it.
static constexpr size_t kLineWidth = 100;

namespace {
/// A line of the file.
struct Line {
  llvm::SmallVector<Token> tokens;
  llvm::StringRef comment; ///< with its slashes; empty if there is none
  bool afterBlank = false; ///< whether empty lines precede it
  size_t indent = 0;
  /// The first line of the declaration whose clauses have a column in common,
  /// if the line is such a clause; else -1.
  int block = -1;
  /// That line, if this one goes on with such a clause after a comma; else -1.
  int goesOnIn = -1;
  std::string text; ///< without indentation and comment

  bool beginsWith(TokenKind kind) const {
    return !tokens.empty() && tokens.front().is(kind);
  }
  bool endsWith(TokenKind kind) const {
    return !tokens.empty() && tokens.back().is(kind);
  }
};

/// Divides a file into lines, and puts spaces where the layout has them.
class Formatter {
public:
  explicit Formatter(llvm::StringRef text) : text(text) {}
  std::string run();

private:
  void split();
  void indent();
  void alignClauses();
  /// Appends the lines to `result`, with the comments behind them.
  std::string print() const;

  llvm::StringRef text;
  std::vector<Line> lines;
};
} // namespace

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

/// Returns the comment at the end of a line that begins at `line`, of which the
/// tokens end at `begin`.
static llvm::StringRef findComment(llvm::StringRef line, const char *begin) {
  llvm::StringRef rest = line.drop_front(begin - line.begin()).trim();
  return rest.starts_with("//") ? rest : llvm::StringRef();
}

void Formatter::split() {
  Lexer lexer(text, nullptr);
  Token token = lexer.lex();
  bool afterBlank = false;
  for (llvm::StringRef rest = text; !rest.empty();) {
    auto [content, after] = rest.split('\n');
    rest = after;
    Line line;
    const char *end = content.begin();
    while (!token.is(TokenKind::endOfFile) &&
           token.text.begin() < content.end()) {
      line.tokens.push_back(token);
      end = token.text.end();
      token = lexer.lex();
    }
    line.comment = findComment(content, end);
    if (line.tokens.empty() && line.comment.empty()) {
      afterBlank = true;
      continue;
    }
    bool begins = lines.empty() || lines.back().endsWith(TokenKind::leftBrace);
    bool ends = line.beginsWith(TokenKind::rightBrace);
    line.afterBlank = afterBlank && !begins && !ends;
    afterBlank = false;
    lines.push_back(std::move(line));
  }
}

//===----------------------------------------------------------------------===//
// Spaces in lines
//===----------------------------------------------------------------------===//

static bool isOpening(TokenKind kind) {
  return kind == TokenKind::leftParenthesis || kind == TokenKind::leftBracket;
}

static bool isClosing(TokenKind kind) {
  return kind == TokenKind::rightParenthesis || kind == TokenKind::rightBracket;
}

/// Returns whether a value may end with this token, so that a '-' behind it is
/// a subtraction.
static bool endsValue(const Token &token) {
  switch (token.kind) {
  case TokenKind::identifier:
  case TokenKind::integer:
  case TokenKind::real:
  case TokenKind::size:
  case TokenKind::string:
  case TokenKind::rightParenthesis:
  case TokenKind::rightBracket:
    return true;
  default:
    return false;
  }
}

/// Returns whether a space is between two tokens of a line. `isSign` says that
/// `before` is the '-' of a number.
static bool isSpaced(const Token &before, const Token &token, bool isSign) {
  if (isSign || isOpening(before.kind) || before.is(TokenKind::dot))
    return false;
  switch (token.kind) {
  case TokenKind::comma:
  case TokenKind::colon:
  case TokenKind::dot:
  case TokenKind::rightParenthesis:
  case TokenKind::rightBracket:
    return false;
  case TokenKind::leftParenthesis:
  case TokenKind::leftBracket:
    return !before.is(TokenKind::identifier) && !isClosing(before.kind);
  default:
    return true;
  }
}

/// Returns the line's tokens with the spaces between them. If the first word
/// begins a clause, what follows it begins in `column`.
static std::string join(const Line &line, bool isClause, size_t column) {
  std::string text;
  bool isSign = false;
  for (auto [i, token] : llvm::enumerate(line.tokens)) {
    bool isFirst = i == 1 && isClause;
    if (isFirst)
      text.append(column - text.size(), ' ');
    else if (i > 0 && isSpaced(line.tokens[i - 1], token, isSign))
      text += ' ';
    isSign = token.is(TokenKind::minus) &&
             (i == 0 || isFirst || !endsValue(line.tokens[i - 1]));
    text += token.text;
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Indentation and columns
//===----------------------------------------------------------------------===//

/// Returns whether the line's first word begins a clause: no name of a field or
/// value, which ':', '=' or ',' follows.
static bool beginsClause(const Line &line) {
  if (line.tokens.size() < 2 || !line.tokens[0].is(TokenKind::identifier))
    return false;
  switch (line.tokens[1].kind) {
  case TokenKind::colon:
  case TokenKind::equal:
  case TokenKind::comma:
  case TokenKind::leftParenthesis:
  case TokenKind::leftBrace:
  case TokenKind::dot:
    return false;
  default:
    return true;
  }
}

void Formatter::indent() {
  size_t braces = 0, others = 0;
  int block = -1;
  bool isModel = false;       // whether the block is a model's
  const Line *last = nullptr; // the last line that isn't only a comment
  for (auto [i, line] : llvm::enumerate(lines)) {
    bool closes = line.beginsWith(TokenKind::rightBrace);
    bool declares = !line.tokens.empty() && (line.tokens[0].isWord("model") ||
                                             line.tokens[0].isWord("data") ||
                                             line.tokens[0].isWord("train"));
    line.indent = 2 * (braces - (closes && braces > 0)) + (others ? 4 : 0);
    if (last && others == 0 && last->endsWith(TokenKind::comma))
      line.goesOnIn = last->block >= 0 ? last->block : last->goesOnIn;
    bool isClause = others == 0 && line.goesOnIn < 0 && beginsClause(line);
    if (braces == 0 && declares) {
      isModel = line.tokens[0].isWord("model");
      block = static_cast<int>(i);
    } else if (braces == 0 && isClause) {
      line.indent = 2; // A clause of a model that is a file.
      line.block = block;
    } else if (braces == 1 && isClause && !isModel) {
      line.block = block;
    }
    if (!line.tokens.empty())
      last = &line;
    for (const Token &token : line.tokens) {
      if (token.is(TokenKind::leftBrace)) {
        ++braces;
      } else if (token.is(TokenKind::rightBrace) && braces > 0) {
        --braces;
      } else if (isOpening(token.kind)) {
        ++others;
      } else if (isClosing(token.kind) && others > 0) {
        --others;
      }
    }
  }
}

void Formatter::alignClauses() {
  std::vector<size_t> columns(lines.size(), 0);
  for (const Line &line : lines)
    if (line.block >= 0)
      columns[line.block] =
          std::max(columns[line.block], line.tokens[0].text.size() + 1);
  for (Line &line : lines) {
    line.text =
        join(line, line.block >= 0, line.block >= 0 ? columns[line.block] : 0);
    if (line.goesOnIn >= 0)
      line.indent += columns[line.goesOnIn];
  }
}

//===----------------------------------------------------------------------===//
// Comments
//===----------------------------------------------------------------------===//

std::string Formatter::print() const {
  std::string result;
  auto hasBoth = [](const Line &line) {
    return !line.tokens.empty() && !line.comment.empty();
  };
  for (size_t i = 0; i < lines.size();) {
    // Lines with comments behind them that follow each other.
    size_t end = i, column = 0;
    while (end < lines.size() && hasBoth(lines[end]) &&
           (end == i || !lines[end].afterBlank)) {
      column = std::max(column, lines[end].indent + lines[end].text.size() + 2);
      ++end;
    }
    end = std::max(end, i + 1);
    for (; i < end; ++i) {
      const Line &line = lines[i];
      if (line.afterBlank)
        result += '\n';
      std::string text = std::string(line.indent, ' ') + line.text;
      if (hasBoth(line)) {
        bool fits = column + line.comment.size() <= kLineWidth;
        text.append(fits ? column - text.size() : 2, ' ');
      }
      result += text + line.comment.str() + '\n';
    }
  }
  return result;
}

std::string Formatter::run() {
  split();
  indent();
  alignClauses();
  return print();
}

std::string hfta::formatJobText(llvm::StringRef text) {
  return Formatter(text).run();
}
