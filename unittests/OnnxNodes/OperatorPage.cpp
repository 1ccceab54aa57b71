//===- OperatorPage.cpp - The page of supported operators -----------------===//

#include "OperatorPage.h"

#include "Hfta/Import/Onnx/Import.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::hfta;

static const char kHead[] =
    R"(# ONNX operators

Written by `HftaOnnxNodeTests --more unittests/OnnxNodes/newer --operators
docs/operators.md --update`, and checked by the test `onnx-nodes`: nothing here is from
memory.

- **operator sets**: the versions of the operator that are imported; each number
  begins a version with meanings of its own, the last one holds up to set {0}.
- **gradient**: whether what the importer makes of the operator has a derivative,
  in all of its tests, in some, or in none; `-` where it works on integers or truth
  values alone. Derivatives of whole nodes, and of every op behind them, are
  compared with finite differences.
- **fused**: whether the operators of many copies become one.
- **node tests**: those of ONNX 1.12, and of later releases those in
  `unittests/OnnxNodes/newer`, that pass, of all tests of the operator alone. The rest
  are refused by name; `unittests/OnnxNodes/expected-failures.txt` has the reasons.

Of the domain `hfta` there is `StopGradient`, whose value is its input's and through
which no gradient flows ([exporting.md](exporting.md#what-onnx-has-no-words-for)).
A file's own definition of it is for other runtimes.

| operator | operator sets | gradient | fused | node tests |
|---|---|---|---|---|
)";

void OperatorPage::add(const NodeResult &result) {
  if (result.operators.size() != 1)
    return;
  Operator &entry = operators[result.operators.front()];
  ++entry.tests;
  if (result.status != NodeStatus::passed)
    return;
  ++entry.passed;
  entry.isFused &= result.isFusable;
  if (result.hasGradient)
    (*result.hasGradient ? entry.isDifferentiable : entry.isNotDifferentiable) =
        true;
}

std::string OperatorPage::print() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::formatv(kHead, kGreatestOnnxOpset);
  std::map<std::string, std::string> versions;
  for (const OnnxSupportedOp &op : getSupportedOnnxOps()) {
    std::string &list = versions[op.name.str()];
    list += (list.empty() ? "" : ", ") + std::to_string(op.sinceVersion);
  }
  for (const auto &[name, list] : versions) {
    auto known = operators.find(name);
    Operator entry = known == operators.end() ? Operator() : known->second;
    os << "| " << name << " | " << list << " | ";
    if (entry.passed == 0)
      os << "not tested alone | not tested alone";
    else {
      bool both = entry.isDifferentiable && entry.isNotDifferentiable;
      os << (both                        ? "in part"
             : entry.isDifferentiable    ? "yes"
             : entry.isNotDifferentiable ? "no"
                                         : "-")
         << " | " << (entry.isFused ? "yes" : "no");
    }
    os << " | " << entry.passed << " of " << entry.tests << " |\n";
  }
  return text;
}
