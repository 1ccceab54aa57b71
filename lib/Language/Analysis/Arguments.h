//===- Arguments.h - Arguments of calls, and constants ----------*- C++ -*-===//

#ifndef HFTA_LIB_LANGUAGE_ANALYSIS_ARGUMENTS_H
#define HFTA_LIB_LANGUAGE_ANALYSIS_ARGUMENTS_H

#include "Hfta/Dialect/Hfta/Job/Settings.h"
#include "Hfta/Language/AST.h"
#include "Hfta/Language/Diagnostics.h"
#include "Hfta/Language/Sweep.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::hfta::language {

struct ParameterSpec {
  llvm::StringRef name;
  bool required = false;
};

/// The parameters of a builtin function. Positional arguments fill them in
/// order.
struct Signature {
  llvm::StringRef name;
  llvm::ArrayRef<ParameterSpec> parameters;
  /// Whether the first parameter takes all positional arguments.
  bool variadic = false;
};

/// A call's arguments, assigned to the function's parameters.
class BoundArguments {
public:
  struct Bound {
    llvm::StringRef name;
    const ast::Expression *value = nullptr;
    /// Identifies the `zip(...)` that contains the argument; null outside of
    /// one.
    const void *group = nullptr;
  };

  /// Returns null if the parameter has no argument.
  const ast::Expression *get(llvm::StringRef name) const;
  llvm::ArrayRef<Bound> getAll() const { return bound; }

  /// The arguments of the first parameter, if that is variadic.
  std::vector<const ast::Expression *> rest;
  /// The range of the call.
  llvm::SMRange range;

private:
  friend class ArgumentBinder;
  std::vector<Bound> bound;
};

/// A call, or a bare name that stands for a call without arguments.
struct CallView {
  ast::Identifier callee;
  llvm::ArrayRef<ast::Argument> arguments;
  llvm::SMRange range;
  bool hasParentheses = false;
};

/// Returns the call or bare name that an expression is. For any other
/// expression, reports that `what` is expected and returns nothing.
std::optional<CallView> getCall(const ast::Expression &expression,
                                const llvm::Twine &what,
                                JobDiagnostics &diagnostics);

/// Assigns arguments to parameters. Reports all arguments that don't fit and
/// all that are missing, and then returns nothing.
std::optional<BoundArguments>
bindArguments(const Signature &signature,
              llvm::ArrayRef<ast::Argument> arguments, llvm::SMRange range,
              JobDiagnostics &diagnostics);

/// Returns the record in `table` that has the call's name. Reports an error and
/// returns null if there is none.
template <typename Table>
auto findKind(const Table &table, const CallView &call, const llvm::Twine &what,
              JobDiagnostics &diagnostics) -> decltype(&*table.begin()) {
  if (auto *record = findByName(table, call.callee.name))
    return record;
  llvm::SmallVector<llvm::StringRef> names = getRecordNames(table);
  std::string plural = what.str() == "loss" ? "losses" : what.str() + "s";
  diagnostics.error(call.callee.range,
                    "unknown " + what + " '" + call.callee.name + "'",
                    suggest(call.callee.name, names, plural + " are"));
  return nullptr;
}

/// Returns the elements of a list, or the expression itself if it is no list.
llvm::SmallVector<const ast::Expression *>
getElements(const ast::Expression &expression);

/// The distribution of a list of numbers.
inline constexpr llvm::StringLiteral kChoice = "choice";

/// Returns whether an expression is a distribution, such as uniform(0, 1).
bool isDistribution(const ast::Expression &expression);

/// Checks that a choice chooses among two or more values, which have no names.
/// `single` is an example of one value.
bool checkChoices(const ast::CallExpression &choice, const llvm::Twine &single,
                  JobDiagnostics &diagnostics);

/// Evaluates constant expressions. After an error, every method returns
/// nothing, having reported the error with `what`, the name of the parameter.
class ConstantReader {
public:
  explicit ConstantReader(JobDiagnostics &diagnostics,
                          const llvm::StringMap<int64_t> *names = nullptr)
      : diagnostics(diagnostics), names(names) {}

  std::optional<Number> readNumber(const ast::Expression &expression,
                                   llvm::StringRef what) const;
  std::optional<int64_t> readInteger(const ast::Expression &expression,
                                     llvm::StringRef what, int64_t least,
                                     int64_t most) const;
  /// Reads a number of bytes, with or without a unit, such as 64MiB.
  std::optional<int64_t> readSize(const ast::Expression &expression,
                                  llvm::StringRef what, int64_t least,
                                  int64_t most) const;
  std::optional<bool> readBool(const ast::Expression &expression,
                               llvm::StringRef what) const;
  std::optional<std::string> readString(const ast::Expression &expression,
                                        llvm::StringRef what) const;
  /// Reads a word, which must be one of `words`.
  std::optional<llvm::StringRef>
  readWord(const ast::Expression &expression, llvm::StringRef what,
           llvm::ArrayRef<llvm::StringRef> words) const;
  /// Reads a number or a list of numbers. The result is never empty.
  std::optional<std::vector<Number>>
  readNumbers(const ast::Expression &expression, llvm::StringRef what) const;
  /// Reads a whole number or a list of whole numbers.
  std::optional<std::vector<int64_t>>
  readIntegers(const ast::Expression &expression, llvm::StringRef what,
               int64_t least, int64_t most) const;

private:
  std::optional<Number> readBinary(const ast::BinaryExpression &binary,
                                   llvm::StringRef what) const;
  std::optional<Number> readName(const ast::NameExpression &name,
                                 llvm::StringRef what) const;

  JobDiagnostics &diagnostics;
  const llvm::StringMap<int64_t> *names;
  bool takesSizes = false;
};

/// Prints a shape such as "[64, 1, 28, 28]".
std::string printShape(llvm::ArrayRef<int64_t> shape);

} // namespace mlir::hfta::language

#endif // HFTA_LIB_LANGUAGE_ANALYSIS_ARGUMENTS_H
