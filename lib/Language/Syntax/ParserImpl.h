//===- ParserImpl.h - Recursive-descent parser ------------------*- C++ -*-===//

#ifndef HFTA_LIB_LANGUAGE_SYNTAX_PARSERIMPL_H
#define HFTA_LIB_LANGUAGE_SYNTAX_PARSERIMPL_H

#include "Hfta/Dialect/Hfta/Job/Settings.h"
#include "Hfta/Language/AST.h"
#include "Hfta/Language/Lexer.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::hfta::language {

/// Returns whether there is a clause with this name and all of these traits.
bool isKeyword(llvm::StringRef name, unsigned traits = setting_traits::None);

/// Parses a text in one of the SourceMgr's buffers. After an error, which it
/// has reported, a method returns false or null; its caller, if it parses a
/// sequence, skips to where the next item may begin.
class Parser {
public:
  Parser(llvm::StringRef text, JobDiagnostics &diagnostics)
      : text(text), lexer(text, &diagnostics), diagnostics(diagnostics) {
    advance();
  }

  void parseFile(ast::JobFile &file);
  bool parseArguments(std::vector<ast::Argument> &arguments, TokenKind end);
  /// Parses `argument {, argument}`. If `toEnd`, the arguments must extend to
  /// the end of the text.
  bool parseClauseArguments(ast::Clause &clause, bool toEnd);
  bool parseField(ast::Binding &field, bool needsValue);
  /// Parses the rest of a field, after its name.
  bool parseFieldRest(ast::Binding &field, bool needsValue);
  ast::ExpressionPtr parseExpression();
  bool expectEnd();

private:
  // Methods for tokens.
  void advance();
  bool accept(TokenKind kind);
  bool expect(TokenKind kind, const llvm::Twine &context,
              const llvm::Twine &hint);
  void reportUnexpected(const llvm::Twine &expected,
                        const llvm::Twine &hint = "");
  llvm::StringRef findOpenString() const;
  bool isFirstOnLine() const;
  /// Skips to the next token for which `mayBegin` holds, or to the end.
  void skipTo(llvm::function_ref<bool()> mayBegin);
  bool isDeclarationStart() const;

  // Methods for expressions.
  ast::ExpressionPtr parseSum();
  ast::ExpressionPtr parseProduct();
  ast::ExpressionPtr
  parseBinary(llvm::function_ref<ast::ExpressionPtr()> parseOperand,
              TokenKind first, TokenKind second);
  ast::ExpressionPtr parseUnary();
  ast::ExpressionPtr parsePrimary();
  ast::ExpressionPtr parseNumber();
  ast::ExpressionPtr parseSize();
  ast::ExpressionPtr parseString();
  ast::ExpressionPtr parseList();
  ast::ExpressionPtr parseNameOrCall();
  ast::ExpressionPtr parseMember(std::unique_ptr<ast::MemberExpression> member);
  bool checkDepth(const ast::Expression &expression);
  bool parseArgument(ast::Argument &argument);

  // Methods for declarations.
  bool parseIdentifier(ast::Identifier &identifier, const llvm::Twine &what);
  bool parseType(ast::TypeSpec &type);
  bool parseDimension(ast::Dimension &dimension);
  bool parseModel(ast::ModelDeclaration &model);
  bool parseOnnx(ast::ModelDeclaration &model);
  bool parseModelBody(ast::ModelDeclaration &model);
  bool parseStatement(ast::ModelDeclaration &model);
  bool parseInputs(ast::ModelDeclaration &model);
  bool parseData(ast::DataDeclaration &data);
  bool parseDataItem(ast::DataDeclaration &data);
  bool parseTrain(ast::TrainDeclaration &train);
  bool parseClauses(std::vector<ast::Clause> &clauses, const llvm::Twine &what);
  bool parseClause(std::vector<ast::Clause> &clauses);

  llvm::StringRef text;
  Lexer lexer;
  JobDiagnostics &diagnostics;
  Token token;
  llvm::SMLoc previousEnd; ///< the end of the token before `token`
  unsigned nesting = 0;
  bool abandoned = false; ///< whether further errors are no longer reported
};

} // namespace mlir::hfta::language

#endif // HFTA_LIB_LANGUAGE_SYNTAX_PARSERIMPL_H
