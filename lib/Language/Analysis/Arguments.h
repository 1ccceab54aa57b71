//===- Arguments.h - Arguments of calls, and constants ----------*- C++ -*-===//

#ifndef HFTA_LIB_LANGUAGE_ANALYSIS_ARGUMENTS_H
#define HFTA_LIB_LANGUAGE_ANALYSIS_ARGUMENTS_H

#include "Hfta/Dialect/Hfta/IR/Settings.h"
#include "Hfta/Language/AST.h"
#include "Hfta/Language/Diagnostics.h"
#include "Hfta/Language/Sweep.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::hfta::language {

struct ParameterSpec {
  llvm::StringRef name;
  bool required = false;
};

/// What a builtin takes. Positional arguments fill the parameters in order.
struct Signature {
  llvm::StringRef name;
  llvm::ArrayRef<ParameterSpec> parameters;
  /// The first parameter takes all positional arguments.
  bool variadic = false;
};

/// A call's arguments by parameter.
class BoundArguments {
public:
  struct Bound {
    llvm::StringRef name;
    const ast::Expression *value = nullptr;
    /// The `zip(...)` that it stands in.
    const void *group = nullptr;
  };

  /// Null if the parameter has no argument.
  const ast::Expression *get(llvm::StringRef name) const;
  llvm::ArrayRef<Bound> getAll() const { return bound; }

  /// Arguments of a variadic first parameter.
  std::vector<const ast::Expression *> rest;
  /// The call.
  llvm::SMRange range;

private:
  friend class ArgumentBinder;
  std::vector<Bound> bound;
};

/// A call, or a bare name standing for a call without arguments.
struct CallView {
  ast::Identifier callee;
  llvm::ArrayRef<ast::Argument> arguments;
  llvm::SMRange range;
  bool hasParentheses = false;
};

/// Nothing (reported) if `expression` is neither; `what` is expected.
std::optional<CallView> getCall(const ast::Expression &expression,
                                const llvm::Twine &what,
                                JobDiagnostics &diagnostics);

/// Matches arguments with parameters and reports all that doesn't fit; then
/// gives nothing.
std::optional<BoundArguments>
bindArguments(const Signature &signature,
              llvm::ArrayRef<ast::Argument> arguments, llvm::SMRange range,
              JobDiagnostics &diagnostics);

/// The elements of a list; anything else is its own only one.
llvm::SmallVector<const ast::Expression *>
getElements(const ast::Expression &expression);

/// Reads constants out of expressions. Every method reports what is wrong, in
/// words that name `what` (a parameter), and then gives nothing.
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
  /// In bytes; written as such or with a unit, as 64MiB.
  std::optional<int64_t> readSize(const ast::Expression &expression,
                                  llvm::StringRef what, int64_t least,
                                  int64_t most) const;
  std::optional<bool> readBool(const ast::Expression &expression,
                               llvm::StringRef what) const;
  std::optional<std::string> readString(const ast::Expression &expression,
                                        llvm::StringRef what) const;
  /// One of `words`.
  std::optional<llvm::StringRef>
  readWord(const ast::Expression &expression, llvm::StringRef what,
           llvm::ArrayRef<llvm::StringRef> words) const;
  /// A number or a list of numbers; never empty.
  std::optional<std::vector<Number>>
  readNumbers(const ast::Expression &expression, llvm::StringRef what) const;
  /// A whole number or a list of them.
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

/// "[64, 1, 28, 28]".
std::string printShape(llvm::ArrayRef<int64_t> shape);

} // namespace mlir::hfta::language

#endif // HFTA_LIB_LANGUAGE_ANALYSIS_ARGUMENTS_H
