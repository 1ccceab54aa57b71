//===- Parser.cpp - Declarations of a job file ----------------------------===//

#include "Hfta/Language/Parser.h"
#include "Syntax/ParserImpl.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

static constexpr size_t kMaxFileBytes = 4 << 20;
static constexpr size_t kMaxRank = 8;

static const llvm::StringRef kDeclarationKeywords[] = {"model", "data",
                                                       "train"};

bool language::isKeyword(llvm::StringRef name, unsigned traits) {
  return llvm::is_contained(getClauseNames(traits), name);
}

/// Returns the first byte that is NUL or not part of valid UTF-8; null if there
/// is none.
static const char *findForeignByte(llvm::StringRef text) {
  size_t offset = text.size();
  if (llvm::json::isUTF8(text, &offset))
    offset = text.size();
  offset = std::min(offset, text.find('\0'));
  return offset < text.size() ? text.data() + offset : nullptr;
}

ast::JobFile mlir::hfta::parseJobFile(unsigned bufferId,
                                      JobDiagnostics &diagnostics) {
  ast::JobFile file;
  const llvm::MemoryBuffer *buffer =
      diagnostics.getSources().getMemoryBuffer(bufferId);
  llvm::StringRef text = buffer->getBuffer();
  file.name = buffer->getBufferIdentifier().str();
  file.directory = llvm::sys::path::parent_path(file.name).str();
  if (text.size() > kMaxFileBytes) {
    llvm::SMLoc begin = llvm::SMLoc::getFromPointer(text.begin());
    diagnostics.error({begin, begin},
                      "a job file of " + llvm::Twine(text.size()) +
                          " bytes, more than " + llvm::Twine(kMaxFileBytes),
                      "is it a job file?");
    return file;
  }
  if (const char *place = findForeignByte(text)) {
    llvm::SMLoc begin = llvm::SMLoc::getFromPointer(place);
    diagnostics.error({begin, begin}, "the file isn't text in UTF-8",
                      "is it a job file?");
    return file;
  }
  Parser(text, diagnostics).parseFile(file);
  return file;
}

bool Parser::isDeclarationStart() const {
  return token.is(TokenKind::identifier) && isFirstOnLine() &&
         llvm::is_contained(kDeclarationKeywords, token.text) &&
         (token.text.begin() == text.begin() || token.text.begin()[-1] == '\n');
}

void Parser::parseFile(ast::JobFile &file) {
  unsigned position = 0;
  while (!token.is(TokenKind::endOfFile)) {
    bool parsed = false;
    if (token.isWord("model")) {
      file.models.push_back({{}, position++});
      parsed = parseModel(file.models.back().declaration);
    } else if (token.isWord("data")) {
      file.data.push_back({{}, position++});
      parsed = parseData(file.data.back().declaration);
    } else if (token.isWord("train")) {
      file.trains.push_back({{}, position++});
      parsed = parseTrain(file.trains.back().declaration);
    } else {
      reportUnexpected(
          "'model', 'data' or 'train'",
          suggest(token.text, kDeclarationKeywords, "declarations are"));
      advance();
    }
    if (!parsed)
      skipTo([this] { return isDeclarationStart(); });
  }
  file.end = token.getRange();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

bool Parser::parseDimension(ast::Dimension &dimension) {
  dimension.range = token.getRange();
  if (token.is(TokenKind::identifier))
    return parseIdentifier(dimension.name, "a size");
  if (!token.is(TokenKind::integer)) {
    reportUnexpected("a size or the name of an axis",
                     "for example f32[batch, 28, 28]");
    return false;
  }
  if (token.text.getAsInteger(10, dimension.size) || dimension.size < 1 ||
      dimension.size > INT32_MAX) {
    diagnostics.error(token.getRange(), "size out of range",
                      "an axis has 1 to 2147483647 elements");
    dimension.size = 1;
  }
  advance();
  return true;
}

bool Parser::parseType(ast::TypeSpec &type) {
  type.range = token.getRange();
  if (!parseIdentifier(type.element, "a type such as f32[batch, 10]"))
    return false;
  if (accept(TokenKind::leftBracket)) {
    while (!token.is(TokenKind::rightBracket)) {
      ast::Dimension dimension;
      if (!parseDimension(dimension))
        return false;
      type.dimensions.push_back(std::move(dimension));
      if (!accept(TokenKind::comma))
        break;
    }
    if (!expect(TokenKind::rightBracket, "or ',' after a size",
                "for example f32[batch, 28, 28]"))
      return false;
  }
  type.range.End = previousEnd;
  if (type.dimensions.size() > kMaxRank)
    diagnostics.error(type.range,
                      "type of more than " + llvm::Twine(kMaxRank) + " axes",
                      "flatten some");
  return true;
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

bool Parser::parseModel(ast::ModelDeclaration &model) {
  advance();
  if (!parseIdentifier(model.name, "the model's name"))
    return false;
  if (accept(TokenKind::equal))
    return parseOnnx(model);
  if (token.is(TokenKind::leftParenthesis))
    return parseInputs(model) && parseModelBody(model);
  reportUnexpected("'=' or '(' after the model's name",
                   "write 'model " + model.name.name +
                       " = onnx(\"file.onnx\")' or 'model " + model.name.name +
                       "(input: f32[batch, 10]) { ... }'");
  return false;
}

bool Parser::parseOnnx(ast::ModelDeclaration &model) {
  if (!token.isWord("onnx") || !lexer.peek().is(TokenKind::leftParenthesis)) {
    reportUnexpected("onnx(\"file.onnx\")",
                     "a model in the language is written without '='");
    return false;
  }
  ast::ExpressionPtr call = parseNameOrCall();
  if (!call)
    return false;
  model.onnx.reset(llvm::cast<ast::CallExpression>(call.release()));
  while (token.is(TokenKind::identifier) &&
         isKeyword(token.text, setting_traits::OfModel))
    if (!parseClause(model.options))
      return false;
  return true;
}

bool Parser::parseInputs(ast::ModelDeclaration &model) {
  advance();
  while (!token.is(TokenKind::rightParenthesis)) {
    ast::Binding input;
    if (!parseIdentifier(input.name, "an input's name"))
      return false;
    if (accept(TokenKind::colon)) {
      input.type.emplace();
      if (!parseType(*input.type))
        return false;
    } else if (accept(TokenKind::equal)) {
      if (!(input.value = parseExpression()))
        return false;
    } else {
      reportUnexpected("':' and a type after '" + input.name.name + "'",
                       "for example '" + input.name.name +
                           ": f32[batch, 10]', or '" + input.name.name +
                           " = 0.5' for a hyper-parameter");
      return false;
    }
    model.inputs.push_back(std::move(input));
    if (!accept(TokenKind::comma))
      break;
  }
  return expect(TokenKind::rightParenthesis, "or ',' after an input",
                "inputs look like (image: f32[batch, 10])");
}

bool Parser::parseModelBody(ast::ModelDeclaration &model) {
  if (!expect(TokenKind::leftBrace, "before the model's body",
              "for example { return linear(image, 10) }"))
    return false;
  bool reported = false;
  while (!token.is(TokenKind::rightBrace)) {
    if (token.is(TokenKind::endOfFile))
      return expect(TokenKind::rightBrace,
                    "after the body of model '" + model.name.name + "'",
                    "close the '{'");
    if (parseStatement(model))
      continue;
    reported = true;
    skipTo([this] {
      return token.is(TokenKind::rightBrace) || isDeclarationStart() ||
             (isFirstOnLine() &&
              (token.isWord("return") || (token.is(TokenKind::identifier) &&
                                          lexer.peek().is(TokenKind::equal))));
    });
    if (isDeclarationStart())
      return false;
  }
  if (!model.returnRange.isValid() && !reported)
    diagnostics.error(token.getRange(),
                      "model '" + model.name.name + "' returns nothing",
                      "end it with 'return' and its outputs");
  advance();
  return true;
}

bool Parser::parseStatement(ast::ModelDeclaration &model) {
  if (model.returnRange.isValid()) {
    reportUnexpected("'}' after 'return'",
                     "several outputs are separated by ','");
    advance();
    return false;
  }
  if (token.isWord("return")) {
    model.returnRange = token.getRange();
    ast::Clause results;
    advance();
    bool parsed = parseClauseArguments(results, /*toEnd=*/false);
    model.results = std::move(results.arguments);
    return parsed;
  }
  ast::Statement statement;
  if (!parseIdentifier(statement.target, "'name = value' or 'return'")) {
    advance();
    return false;
  }
  if (!expect(TokenKind::equal, "after '" + statement.target.name + "'",
              "statements look like: name = relu(x)"))
    return false;
  if (!(statement.value = parseExpression())) {
    // Keep the name, although its value is missing, so that later uses of it
    // aren't reported.
    model.statements.push_back(std::move(statement));
    return false;
  }
  model.statements.push_back(std::move(statement));
  return true;
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

llvm::ArrayRef<llvm::StringRef> ast::DataDeclaration::getPartNames() {
  static constexpr llvm::StringRef names[] = {"train", "test", "validation"};
  return names;
}

ast::DataPart *ast::DataDeclaration::findPart(llvm::StringRef name) {
  DataPart *parts[] = {&train, &test, &validation};
  for (auto [known, part] : llvm::zip_equal(getPartNames(), parts))
    if (known == name)
      return part;
  return nullptr;
}

bool Parser::parseField(ast::Binding &field, bool needsValue) {
  return parseIdentifier(field.name, "a field's name") &&
         parseFieldRest(field, needsValue);
}

bool Parser::parseFieldRest(ast::Binding &field, bool needsValue) {
  if (accept(TokenKind::colon)) {
    field.type.emplace();
    if (!parseType(*field.type))
      return false;
  }
  if (!needsValue)
    return true;
  if (!expect(TokenKind::equal, "after '" + field.name.name + "'",
              "for example " + field.name.name + " = npy(\"file.npy\")"))
    return false;
  field.value = parseExpression();
  return field.value != nullptr;
}

bool Parser::parseDataItem(ast::DataDeclaration &data) {
  std::vector<ast::Binding> *fields = &data.declarations;
  ast::DataPart *part = data.findPart(token.text);
  bool isPart = part && !lexer.peek().is(TokenKind::colon);
  if (isPart) {
    fields = &part->fields;
    if (part->range.isValid()) {
      diagnostics.error(token.getRange(),
                        "second '" + token.text + "' in the data block",
                        "separate its fields by commas");
      diagnostics.note(part->range, "the first one is here");
    }
    part->range = token.getRange();
    advance();
  } else if (!token.is(TokenKind::identifier) ||
             !lexer.peek().is(TokenKind::colon)) {
    reportUnexpected(
        "'train', 'test', 'validation' or a declaration 'field: "
        "type'",
        suggest(token.text, ast::DataDeclaration::getPartNames(), "parts are"));
    advance();
    return false;
  }
  do {
    ast::Binding field;
    if (!parseField(field, isPart))
      return false;
    if (!isPart && !field.type) {
      reportUnexpected("':' after '" + field.name.name + "'",
                       "for example " + field.name.name + ": u8[28, 28]");
      return false;
    }
    fields->push_back(std::move(field));
  } while (accept(TokenKind::comma));
  return true;
}

bool Parser::parseData(ast::DataDeclaration &data) {
  advance();
  if (!parseIdentifier(data.name, "the data block's name") ||
      !expect(TokenKind::leftBrace, "after the data block's name",
              "for example: data mnist { train image = npy(\"x.npy\") }"))
    return false;
  while (!accept(TokenKind::rightBrace)) {
    if (token.is(TokenKind::endOfFile))
      return expect(TokenKind::rightBrace,
                    "after data block '" + data.name.name + "'",
                    "close the '{'");
    if (parseDataItem(data))
      continue;
    skipTo([this, &data] {
      return token.is(TokenKind::rightBrace) || isDeclarationStart() ||
             (isFirstOnLine() && data.findPart(token.text));
    });
    if (isDeclarationStart())
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Train blocks
//===----------------------------------------------------------------------===//

bool Parser::parseClause(std::vector<ast::Clause> &clauses) {
  ast::Clause clause;
  clause.range = token.getRange();
  clause.keyword = {token.text.str(), token.getRange()};
  advance();
  if (clause.keyword.name == "zip" && accept(TokenKind::leftParenthesis)) {
    if (!parseArguments(clause.arguments, TokenKind::rightParenthesis))
      return false;
    clause.range.End = previousEnd;
  } else if (token.is(TokenKind::rightBrace) ||
             token.is(TokenKind::endOfFile) || isFirstOnLine()) {
    diagnostics.error(clause.keyword.range,
                      "clause '" + clause.keyword.name + "' without a value",
                      "the value begins on the keyword's line");
  } else if (!parseClauseArguments(clause, /*toEnd=*/false)) {
    return false;
  }
  if (isKeyword(clause.keyword.name, setting_traits::Nested)) {
    // Without the brace, the clauses are read as if it were there.
    expect(TokenKind::leftBrace,
           "after '" + clause.keyword.name + "' and its arguments",
           "its clauses stand in braces");
    if (!parseClauses(clause.body, "clause '" + clause.keyword.name + "'"))
      return false;
  }
  clauses.push_back(std::move(clause));
  return true;
}

/// Parses clauses up to the brace that ends `what`.
bool Parser::parseClauses(std::vector<ast::Clause> &clauses,
                          const llvm::Twine &what) {
  auto isClauseStart = [this] {
    return token.is(TokenKind::rightBrace) || isDeclarationStart() ||
           (isFirstOnLine() && token.is(TokenKind::identifier) &&
            isKeyword(token.text));
  };
  bool parsed = true;
  while (!accept(TokenKind::rightBrace)) {
    // After an error in the last clause, the brace may be that clause's.
    if (token.is(TokenKind::endOfFile))
      return parsed &&
             expect(TokenKind::rightBrace, "after " + what, "close the '{'");
    parsed = false;
    if (token.is(TokenKind::identifier) && isKeyword(token.text)) {
      parsed = parseClause(clauses);
    } else if (token.is(TokenKind::identifier)) {
      diagnostics.error(token.getRange(), "unknown clause '" + token.text + "'",
                        suggest(token.text, getClauseNames(), "clauses are"));
      advance();
    } else {
      reportUnexpected("a clause or '}'", "clauses look like: epochs 5");
      advance();
    }
    if (parsed)
      continue;
    skipTo(isClauseStart);
    if (isDeclarationStart())
      return false;
  }
  return true;
}

bool Parser::parseTrain(ast::TrainDeclaration &train) {
  advance();
  return parseIdentifier(train.name, "the train block's name") &&
         expect(TokenKind::leftBrace, "after the train block's name",
                "for example: train sweep { model net(image) ... }") &&
         parseClauses(train.clauses, "train block '" + train.name.name + "'");
}
