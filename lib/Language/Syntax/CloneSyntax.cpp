//===- CloneSyntax.cpp - Copies of syntax trees ---------------------------===//

#include "Hfta/Language/AST.h"

using namespace mlir::hfta::ast;

static std::vector<Argument> clone(const std::vector<Argument> &arguments) {
  std::vector<Argument> result;
  for (const Argument &argument : arguments)
    result.push_back(
        {argument.name, mlir::hfta::ast::clone(argument.value.get())});
  return result;
}

/// Makes a node with the range and the depth of another one.
template <typename Node>
static std::unique_ptr<Node> begin(const Node &original) {
  auto result = std::make_unique<Node>(original.getRange());
  result->depth = original.depth;
  return result;
}

static ExpressionPtr cloneNode(const NumberExpression &number) {
  auto result = begin(number);
  result->value = number.value;
  result->integer = number.integer;
  result->isSize = number.isSize;
  return result;
}

static ExpressionPtr cloneNode(const StringExpression &string) {
  auto result = begin(string);
  result->value = string.value;
  return result;
}

static ExpressionPtr cloneNode(const NameExpression &name) {
  auto result = begin(name);
  result->name = name.name;
  return result;
}

static ExpressionPtr cloneNode(const ListExpression &list) {
  auto result = begin(list);
  for (const ExpressionPtr &element : list.elements)
    result->elements.push_back(mlir::hfta::ast::clone(element.get()));
  return result;
}

static std::unique_ptr<CallExpression> cloneNode(const CallExpression &call) {
  auto result = begin(call);
  result->callee = call.callee;
  result->arguments = clone(call.arguments);
  return result;
}

static ExpressionPtr cloneNode(const MemberExpression &access) {
  auto result = begin(access);
  result->object = access.object;
  if (access.call)
    result->call = cloneNode(*access.call);
  result->member = access.member;
  return result;
}

static ExpressionPtr cloneNode(const NegationExpression &negation) {
  auto result = begin(negation);
  result->operand = mlir::hfta::ast::clone(negation.operand.get());
  return result;
}

static ExpressionPtr cloneNode(const BinaryExpression &binary) {
  auto result = begin(binary);
  result->operation = binary.operation;
  result->operationRange = binary.operationRange;
  result->lhs = mlir::hfta::ast::clone(binary.lhs.get());
  result->rhs = mlir::hfta::ast::clone(binary.rhs.get());
  return result;
}

ExpressionPtr mlir::hfta::ast::clone(const Expression *expression) {
  if (!expression)
    return nullptr;
  using Kind = Expression::Kind;
  switch (expression->getKind()) {
  case Kind::number:
    return cloneNode(*llvm::cast<NumberExpression>(expression));
  case Kind::string:
    return cloneNode(*llvm::cast<StringExpression>(expression));
  case Kind::name:
    return cloneNode(*llvm::cast<NameExpression>(expression));
  case Kind::member:
    return cloneNode(*llvm::cast<MemberExpression>(expression));
  case Kind::list:
    return cloneNode(*llvm::cast<ListExpression>(expression));
  case Kind::call:
    return cloneNode(*llvm::cast<CallExpression>(expression));
  case Kind::negation:
    return cloneNode(*llvm::cast<NegationExpression>(expression));
  case Kind::binary:
    return cloneNode(*llvm::cast<BinaryExpression>(expression));
  }
  llvm_unreachable("all kinds are listed");
}

static std::vector<Clause> clone(const std::vector<Clause> &clauses) {
  std::vector<Clause> result;
  for (const Clause &clause : clauses)
    result.push_back({clause.keyword, clone(clause.arguments), clause.range,
                      clone(clause.body)});
  return result;
}

static std::vector<Binding> clone(const std::vector<Binding> &bindings) {
  std::vector<Binding> result;
  for (const Binding &binding : bindings)
    result.push_back({binding.name, binding.type,
                      mlir::hfta::ast::clone(binding.value.get())});
  return result;
}

static ModelDeclaration cloneDeclaration(const ModelDeclaration &model) {
  ModelDeclaration result;
  result.name = model.name;
  if (model.onnx)
    result.onnx = cloneNode(*model.onnx);
  result.options = clone(model.options);
  result.inputs = clone(model.inputs);
  for (const Statement &statement : model.statements)
    result.statements.push_back(
        {statement.target, mlir::hfta::ast::clone(statement.value.get())});
  result.results = clone(model.results);
  result.returnRange = model.returnRange;
  return result;
}

static DataPart clone(const DataPart &part) {
  return {clone(part.fields), part.range};
}

static DataDeclaration cloneDeclaration(const DataDeclaration &data) {
  DataDeclaration result;
  result.name = data.name;
  result.declarations = clone(data.declarations);
  result.train = clone(data.train);
  result.test = clone(data.test);
  result.validation = clone(data.validation);
  return result;
}

static TrainDeclaration cloneDeclaration(const TrainDeclaration &train) {
  return {train.name, clone(train.clauses)};
}

template <typename Declaration>
static std::vector<Positioned<Declaration>>
cloneAll(const std::vector<Positioned<Declaration>> &declarations) {
  std::vector<Positioned<Declaration>> result;
  for (const Positioned<Declaration> &positioned : declarations)
    result.push_back(
        {cloneDeclaration(positioned.declaration), positioned.position});
  return result;
}

JobFile mlir::hfta::ast::clone(const JobFile &file) {
  JobFile result;
  result.name = file.name;
  result.directory = file.directory;
  result.models = cloneAll(file.models);
  result.data = cloneAll(file.data);
  result.trains = cloneAll(file.trains);
  result.end = file.end;
  result.inference = file.inference;
  return result;
}
