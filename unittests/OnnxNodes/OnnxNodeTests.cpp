//===- OnnxNodeTests.cpp - Runs ONNX's node tests -------------------------===//
//
// HftaOnnxNodeTests [--data DIR] [--expected FILE] [--only TEXT] [--reasons]
//                   [--operators PAGE [--update]]
//
// Runs every test below DIR. FILE names the tests that fail, under a line that
// ends in a colon for each reason. Exits with 1 if another one fails, or if one
// of these passes, or if PAGE isn't what the tests show.
//===----------------------------------------------------------------------===//

#include "OperatorPage.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <vector>

using namespace mlir::hfta;

static llvm::cl::opt<std::string>
    data("data", llvm::cl::desc("folder of the tests' folders"),
         llvm::cl::init("/usr/share/libonnx-testdata/data/node"));
static llvm::cl::opt<std::string>
    expected("expected", llvm::cl::desc("list of the tests that fail"));
static llvm::cl::opt<std::string>
    only("only", llvm::cl::desc("run tests whose name holds this text"));
static llvm::cl::opt<bool> reasons("reasons",
                                   llvm::cl::desc("print why tests fail"));

static llvm::cl::opt<std::string>
    operators("operators", llvm::cl::desc("page of the operators"));
static llvm::cl::opt<bool> update("update",
                                  llvm::cl::desc("write that page anew"));

static std::vector<std::string> listTests() {
  std::vector<std::string> names;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(data, error), end;
       it != end && !error; it.increment(error)) {
    llvm::StringRef name = llvm::sys::path::filename(it->path());
    if (name.contains(only))
      names.push_back(name.str());
  }
  llvm::sort(names);
  return names;
}

/// False after an error.
static bool readExpected(llvm::StringSet<> &names) {
  if (expected.empty())
    return true;
  auto file = llvm::MemoryBuffer::getFile(expected);
  if (!file) {
    llvm::errs() << expected << ": " << file.getError().message() << '\n';
    return false;
  }
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::SplitString((*file)->getBuffer(), lines, "\n");
  for (llvm::StringRef line : lines)
    if (!line.ends_with(":"))
      names.insert(line.trim());
  return true;
}

static llvm::StringRef getName(NodeStatus status) {
  switch (status) {
  case NodeStatus::passed:
    return "passed";
  case NodeStatus::refused:
    return "refused";
  case NodeStatus::failed:
    return "failed";
  case NodeStatus::wrong:
    return "wrong";
  }
  return "";
}

/// False if the page isn't what it should be, or can't be written.
static bool checkPage(const OperatorPage &page) {
  if (operators.empty())
    return true;
  if (update) {
    std::error_code error;
    llvm::raw_fd_ostream os(operators, error);
    os << page.print();
    return !error;
  }
  auto file = llvm::MemoryBuffer::getFile(operators);
  if (file && (*file)->getBuffer() == page.print())
    return true;
  llvm::outs() << operators << " is out of date: write it with --update\n";
  return false;
}

int main(int argc, char **argv) {
  llvm::cl::ParseCommandLineOptions(argc, argv, "ONNX's node tests\n");
  llvm::StringSet<> failing;
  if (!readExpected(failing))
    return 1;
  std::vector<std::string> names = listTests();
  OperatorPage page;
  int passed = 0, unexpected = 0;
  for (const std::string &name : names) {
    NodeResult result = runNodeTest(data + "/" + name);
    bool passes = result.status == NodeStatus::passed;
    passed += passes;
    page.add(result);
    bool isExpected = passes != failing.contains(name);
    unexpected += !isExpected;
    if (reasons ? !passes : !isExpected)
      llvm::outs() << name << ": " << getName(result.status)
                   << (passes ? "" : ": ") << result.reason << '\n';
  }
  for (const auto &entry : failing)
    if (only.empty() && !llvm::is_contained(names, entry.getKey())) {
      llvm::outs() << entry.getKey() << ": no such test\n";
      ++unexpected;
    }
  llvm::outs() << passed << " of " << names.size() << " passed, " << unexpected
               << " unexpected\n";
  return checkPage(page) && !unexpected && !names.empty() ? 0 : 1;
}
