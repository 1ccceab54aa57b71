//===- Arguments.cpp - Arguments of calls ---------------------------------===//

#include "Analysis/Arguments.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

const ast::Expression *BoundArguments::get(llvm::StringRef name) const {
  for (const Bound &argument : bound)
    if (argument.name == name)
      return argument.value;
  return nullptr;
}

llvm::SmallVector<const ast::Expression *>
language::getElements(const ast::Expression &expression) {
  auto *list = llvm::dyn_cast<ast::ListExpression>(&expression);
  if (!list)
    return {&expression};
  return llvm::to_vector(llvm::map_range(
      list->elements,
      [](const ast::ExpressionPtr &element) -> const ast::Expression * {
        return element.get();
      }));
}

std::optional<CallView> language::getCall(const ast::Expression &expression,
                                          const llvm::Twine &what,
                                          JobDiagnostics &diagnostics) {
  if (auto *call = llvm::dyn_cast<ast::CallExpression>(&expression))
    return CallView{call->callee, call->arguments, call->getRange(), true};
  if (auto *name = llvm::dyn_cast<ast::NameExpression>(&expression))
    return CallView{{name->name, name->getRange()}, {}, name->getRange()};
  diagnostics.error(expression.getRange(), "expected " + what,
                    "it is a name, with arguments in '(...)' if it has any");
  return std::nullopt;
}

namespace mlir::hfta::language {

class ArgumentBinder {
public:
  ArgumentBinder(const Signature &signature, JobDiagnostics &diagnostics)
      : signature(signature), diagnostics(diagnostics) {}

  std::optional<BoundArguments> bind(llvm::ArrayRef<ast::Argument> arguments,
                                     llvm::SMRange range) {
    result.range = range;
    for (const ast::Argument &argument : arguments)
      bindArgument(argument, nullptr);
    for (const ParameterSpec &parameter : signature.parameters)
      if (parameter.required && !result.get(parameter.name) &&
          !(signature.variadic && !result.rest.empty()))
        fail(range, "'" + signature.name + "' needs '" + parameter.name + "'",
             getUsage());
    if (!ok)
      return std::nullopt;
    return std::move(result);
  }

private:
  void fail(llvm::SMRange range, const llvm::Twine &message,
            const llvm::Twine &hint) {
    ok = false;
    diagnostics.error(range, message, hint);
  }

  std::string getUsage() const {
    std::string usage = "it is " + signature.name.str() + "(";
    llvm::interleave(
        signature.parameters,
        [&](const ParameterSpec &parameter) {
          usage += parameter.name;
          if (!parameter.required)
            usage += " = ...";
        },
        [&] { usage += ", "; });
    return usage + ")";
  }

  void bindArgument(const ast::Argument &argument, const void *group) {
    auto *call = llvm::dyn_cast<ast::CallExpression>(argument.value.get());
    if (!argument.name && call && call->callee.name == "zip")
      return bindZip(*call, group);
    if (argument.name)
      return bindNamed(argument, group);
    if (group)
      return fail(
          argument.getRange(), "zip takes 'name = list' here",
          "for example zip(lr = [1e-3, 1e-4], weight_decay = [0, 1e-2])");
    if (signature.variadic) {
      result.rest.push_back(argument.value.get());
      return;
    }
    if (positional == signature.parameters.size()) {
      if (!reportedCount)
        fail(argument.getRange(),
             "too many arguments for '" + signature.name + "'", getUsage());
      reportedCount = true;
      return;
    }
    add(signature.parameters[positional++].name, argument, group);
  }

  void bindZip(const ast::CallExpression &zip, const void *group) {
    if (group)
      return fail(zip.getRange(), "zip inside zip",
                  "one zip pairs any number of lists");
    for (const ast::Argument &argument : zip.arguments)
      bindArgument(argument, &zip);
  }

  void bindNamed(const ast::Argument &argument, const void *group) {
    std::vector<llvm::StringRef> names;
    for (const ParameterSpec &parameter : signature.parameters) {
      if (parameter.name == argument.name.name)
        return add(parameter.name, argument, group);
      names.push_back(parameter.name);
    }
    fail(argument.name.range,
         "'" + signature.name + "' has no argument '" + argument.name.name +
             "'",
         suggest(argument.name.name, names, "arguments are"));
  }

  void add(llvm::StringRef name, const ast::Argument &argument,
           const void *group) {
    if (result.get(name))
      return fail(argument.getRange(), "'" + name + "' is given twice",
                  getUsage());
    result.bound.push_back({name, argument.value.get(), group});
  }

  const Signature &signature;
  JobDiagnostics &diagnostics;
  BoundArguments result;
  size_t positional = 0;
  bool reportedCount = false;
  bool ok = true;
};

} // namespace mlir::hfta::language

std::optional<BoundArguments>
language::bindArguments(const Signature &signature,
                        llvm::ArrayRef<ast::Argument> arguments,
                        llvm::SMRange range, JobDiagnostics &diagnostics) {
  return ArgumentBinder(signature, diagnostics).bind(arguments, range);
}
