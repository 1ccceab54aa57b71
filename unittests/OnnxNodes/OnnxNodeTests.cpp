//===- OnnxNodeTests.cpp - Runs ONNX's node tests -------------------------===//
//
// HftaOnnxNodeTests [--folder DIR] [--more DIR] [--expected FILE] [--only TEXT]
//                   [--reasons] [--relative ERROR]
//                   [--operators PAGE [--update]]
//
// Runs every test below DIR, that is, every folder with a model.onnx and
// test_data_set_0, ... Prints how many tests passed, were refused (by reason),
// failed, or computed wrong numbers or derivatives. FILE lists the tests that
// are expected not to pass; its lines that end in a colon are headings that
// state the reason. Exits with 1 if a listed test passes or another test
// doesn't. Without FILE, exits with 1 if a test fails or is wrong, but not if
// it is refused. Also exits with 1 if PAGE differs from the page that follows
// from the tests.
//===----------------------------------------------------------------------===//

#include "OperatorPage.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <vector>

using namespace mlir::hfta;

static llvm::cl::opt<std::string>
    folder("folder", llvm::cl::desc("folder of the tests' folders"),
           llvm::cl::init("/usr/share/libonnx-testdata/data/node"));
static llvm::cl::opt<std::string>
    more("more", llvm::cl::desc("another folder of tests' folders"));
static llvm::cl::opt<std::string>
    expected("expected", llvm::cl::desc("list of the tests that don't pass"));
static llvm::cl::opt<std::string>
    only("only", llvm::cl::desc("run tests whose name holds this text"));
static llvm::cl::opt<bool>
    reasons("reasons", llvm::cl::desc("print why each test doesn't pass"));
static llvm::cl::opt<double>
    relative("relative",
             llvm::cl::desc("tolerated relative error (ONNX's runner: 1e-3)"),
             llvm::cl::init(1e-4));
static llvm::cl::opt<std::string>
    operators("operators", llvm::cl::desc("page of the operators"));
static llvm::cl::opt<bool> update("update",
                                  llvm::cl::desc("write that page anew"));

/// Returns the folders of all selected tests, by the tests' names.
static std::map<std::string, std::string> listTests() {
  std::map<std::string, std::string> tests;
  for (const std::string &place : {folder.getValue(), more.getValue()}) {
    std::error_code error;
    for (llvm::sys::fs::directory_iterator it(place, error), end;
         it != end && !error; it.increment(error)) {
      llvm::StringRef name = llvm::sys::path::filename(it->path());
      if (name.contains(only))
        tests.try_emplace(name.str(), it->path());
    }
  }
  return tests;
}

/// Reads the names of the tests that are expected not to pass. Prints an error
/// and returns false if the file can't be read.
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
    return "wrong numbers";
  case NodeStatus::slope:
    return "wrong derivatives";
  }
  return "";
}

/// Returns a refusal without the node's name, so that equal refusals can be
/// counted: "node 'y' (Loop): operator ..." becomes "Loop: operator ...".
static std::string generalize(llvm::StringRef reason) {
  llvm::StringRef rest = reason;
  if (!rest.consume_front("node '"))
    return reason.str();
  rest = rest.split("' (").second;
  auto [op, text] = rest.split("): ");
  return text.empty() ? reason.str() : (op + ": " + text).str();
}

namespace {
/// Counts results by status, and prints unexpected ones as they are added.
class Summary {
public:
  Summary(const llvm::StringSet<> &failing, bool hasExpected)
      : failing(failing), hasExpected(hasExpected) {}

  void add(llvm::StringRef name, const NodeResult &result) {
    bool passes = result.status == NodeStatus::passed;
    bool isExpected = passes != failing.contains(name);
    if (!hasExpected)
      isExpected = passes || result.status == NodeStatus::refused;
    unexpected += !isExpected;
    ++counts[result.status];
    if (result.status == NodeStatus::refused)
      ++refusals[generalize(result.reason)];
    if (reasons ? !passes : !isExpected)
      llvm::outs() << name << ": " << getName(result.status)
                   << (passes ? "" : ": ") << result.reason << '\n';
  }

  void print() {
    // Sorts the reasons by falling frequency.
    std::vector<std::pair<int, std::string>> ordered;
    for (const auto &[reason, count] : refusals)
      ordered.push_back({-count, reason});
    llvm::sort(ordered);
    for (const auto &[count, reason] : ordered)
      llvm::outs() << llvm::format("%6d refused: ", -count) << reason << '\n';
    int total = 0;
    for (const auto &[status, count] : counts)
      total += count;
    llvm::outs() << total << " tests: ";
    for (NodeStatus status :
         {NodeStatus::passed, NodeStatus::refused, NodeStatus::failed,
          NodeStatus::wrong, NodeStatus::slope})
      llvm::outs() << counts[status] << ' ' << getName(status) << ", ";
    llvm::outs() << unexpected << " unexpected\n";
  }

  int unexpected = 0;

private:
  const llvm::StringSet<> &failing;
  bool hasExpected;
  std::map<NodeStatus, int> counts;
  std::map<std::string, int> refusals;
};
} // namespace

/// Compares the page on disk with `page`, or replaces it by `page` if --update
/// is given. Returns false if it is out of date or can't be written.
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
  std::map<std::string, std::string> tests = listTests();
  OperatorPage page;
  Summary summary(failing, !expected.empty());
  for (const auto &[name, path] : tests) {
    NodeResult result = runNodeTest(path, relative);
    page.add(result);
    summary.add(name, result);
  }
  for (const auto &entry : failing)
    if (only.empty() && !tests.count(entry.getKey().str())) {
      llvm::outs() << entry.getKey() << ": no such test\n";
      ++summary.unexpected;
    }
  summary.print();
  if (tests.empty())
    llvm::errs() << folder << ": holds no tests\n";
  return checkPage(page) && !summary.unexpected && !tests.empty() ? 0 : 1;
}
