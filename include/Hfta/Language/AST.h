//===- AST.h - Syntax tree of a job file ------------------------*- C++ -*-===//
//
// The syntax tree of a job file. Every node has its source range in the buffers
// of a SourceMgr. The tree conforms to the grammar (docs/language.md); nothing
// else is checked here.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LANGUAGE_AST_H
#define HFTA_LANGUAGE_AST_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Casting.h"
#include "llvm/Support/SMLoc.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mlir::hfta::ast {

struct Identifier {
  std::string name;
  llvm::SMRange range;
  explicit operator bool() const { return !name.empty(); }
};

class Expression {
public:
  enum class Kind {
    number,
    string,
    name,
    member,
    list,
    call,
    negation,
    binary
  };

  Expression(Kind kind, llvm::SMRange range) : kind(kind), range(range) {}
  virtual ~Expression() = default;
  Kind getKind() const { return kind; }
  llvm::SMRange getRange() const { return range; }
  void setEnd(llvm::SMLoc end) { range.End = end; }

  /// The height of the tree below and including this node. It bounds the depth
  /// of a recursion over the tree.
  unsigned depth = 1;

private:
  Kind kind;
  llvm::SMRange range;
};
using ExpressionPtr = std::unique_ptr<Expression>;

template <Expression::Kind kindOfNode>
class ExpressionNode : public Expression {
public:
  explicit ExpressionNode(llvm::SMRange range)
      : Expression(kindOfNode, range) {}
  static bool classof(const Expression *e) {
    return e->getKind() == kindOfNode;
  }
};

/// An argument `name = value`, or only a value.
struct Argument {
  Identifier name;
  ExpressionPtr value;
  llvm::SMRange getRange() const {
    return {name ? name.range.Start : value->getRange().Start,
            value->getRange().End};
  }
};

struct NumberExpression : ExpressionNode<Expression::Kind::number> {
  using ExpressionNode::ExpressionNode;
  double value = 0;
  /// The value as an integer, if the text has neither a point nor an exponent.
  std::optional<int64_t> integer;
  /// Whether the number is written with a unit, such as 64MiB. The value is
  /// then in bytes.
  bool isSize = false;
};

struct StringExpression : ExpressionNode<Expression::Kind::string> {
  using ExpressionNode::ExpressionNode;
  std::string value;
};

/// A name, or a word such as `true`, `false` or `fresh`.
struct NameExpression : ExpressionNode<Expression::Kind::name> {
  using ExpressionNode::ExpressionNode;
  std::string name;
};

struct ListExpression : ExpressionNode<Expression::Kind::list> {
  using ExpressionNode::ExpressionNode;
  std::vector<ExpressionPtr> elements;
};

struct CallExpression : ExpressionNode<Expression::Kind::call> {
  using ExpressionNode::ExpressionNode;
  Identifier callee;
  std::vector<Argument> arguments;
};

/// An access `object.member`, `object."member"` or `network(...).member`.
struct MemberExpression : ExpressionNode<Expression::Kind::member> {
  using ExpressionNode::ExpressionNode;
  Identifier object;                    ///< empty if the object is a call
  std::unique_ptr<CallExpression> call; ///< null if the object is a name
  Identifier member;
};

struct NegationExpression : ExpressionNode<Expression::Kind::negation> {
  using ExpressionNode::ExpressionNode;
  ExpressionPtr operand;
};

struct BinaryExpression : ExpressionNode<Expression::Kind::binary> {
  using ExpressionNode::ExpressionNode;
  char operation = '+'; ///< one of + - * /
  llvm::SMRange operationRange;
  ExpressionPtr lhs;
  ExpressionPtr rhs;
};

/// A dimension in a type: a number, or the name of an axis.
struct Dimension {
  Identifier name; ///< empty if the dimension is the number `size`
  int64_t size = 0;
  llvm::SMRange range;
};

/// A type such as `f32[batch, 28, 28]`.
struct TypeSpec {
  Identifier element;
  std::vector<Dimension> dimensions;
  llvm::SMRange range;
};

/// A keyword and its arguments: a line of a train block, or an option of a
/// model.
struct Clause {
  Identifier keyword;
  std::vector<Argument> arguments;
  llvm::SMRange range;
  std::vector<Clause> body; ///< the clauses in braces, of a clause `turn`

  const Clause *find(llvm::StringRef name) const {
    for (const Clause &clause : body)
      if (clause.keyword.name == name)
        return &clause;
    return nullptr;
  }
};

/// A declaration `name: type`, `name = value`, or both: a field of a data
/// block, or an input or hyper-parameter of a model.
struct Binding {
  Identifier name;
  std::optional<TypeSpec> type;
  ExpressionPtr value;
};

/// An assignment `name = value` in a model.
struct Statement {
  Identifier target;
  ExpressionPtr value;
};

struct ModelDeclaration {
  Identifier name;
  /// The call `onnx(...)`; null for a model that is written in the job
  /// language. `options` are the clauses after the call.
  std::unique_ptr<CallExpression> onnx;
  std::vector<Clause> options;

  std::vector<Binding> inputs;
  std::vector<Statement> statements;
  std::vector<Argument> results;
  llvm::SMRange returnRange; ///< range of `return`; invalid if there is none
};

/// A part of a data block: `train`, `test` or `validation`.
struct DataPart {
  std::vector<Binding> fields;
  llvm::SMRange range; ///< range of the keyword; invalid if there is no part
};

struct DataDeclaration {
  Identifier name;
  std::vector<Binding> declarations; ///< fields outside of the parts
  DataPart train, test, validation;

  static llvm::ArrayRef<llvm::StringRef> getPartNames();
  /// Returns the part of this name; null if parts aren't called so.
  DataPart *findPart(llvm::StringRef name);
};

struct TrainDeclaration {
  Identifier name;
  std::vector<Clause> clauses;

  const Clause *find(llvm::StringRef keyword) const {
    for (const Clause &clause : clauses)
      if (clause.keyword.name == keyword)
        return &clause;
    return nullptr;
  }
};

/// A declaration and its position among all declarations of the file, counted
/// from 0.
template <typename Declaration>
struct Positioned {
  Declaration declaration;
  unsigned position = 0;
};

/// A job file: its declarations of each kind, in order of appearance.
struct JobFile {
  std::string name;      ///< the buffer's name
  std::string directory; ///< the folder to which file names are relative
  std::vector<Positioned<ModelDeclaration>> models;
  std::vector<Positioned<DataDeclaration>> data;
  std::vector<Positioned<TrainDeclaration>> trains;
  llvm::SMRange end; ///< the place at which missing declarations are reported
  /// Whether the file has only ONNX models, which are executed as written,
  /// without training.
  bool inference = false;
};

/// Returns a copy of an expression, with the same source ranges; null for null.
ExpressionPtr clone(const Expression *expression);
/// Returns a copy of a file, with the same source ranges.
JobFile clone(const JobFile &file);

} // namespace mlir::hfta::ast

#endif // HFTA_LANGUAGE_AST_H
