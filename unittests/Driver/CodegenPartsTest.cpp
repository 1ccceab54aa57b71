//===- CodegenPartsTest.cpp - Symbols of a module in parts ----------------===//

#include "CodegenParts.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

using namespace mlir::hfta;

namespace {

/// Returns a function of many instructions, so that several such functions are
/// compiled in several parts. It begins with `code`.
std::string makeFunction(const std::string &name, const std::string &code,
                         const std::string &linkage = "") {
  std::string text =
      "define " + linkage + " double @" + name + "(double %n0) {\n" + code;
  for (int i = 1; i <= 8000; ++i)
    text += "%n" + std::to_string(i) + " = fadd double %n" +
            std::to_string(i - 1) + ", 1.0\n";
  return text + "ret double %n8000\n}\n";
}

/// Returns four functions that read `constant`, which is a constant of type
/// ptr.
std::string makeReaders(const std::string &constant) {
  std::string text;
  for (int i = 0; i < 4; ++i)
    text += makeFunction("reader" + std::to_string(i),
                         "%x = load volatile double, ptr " + constant + "\n");
  return text;
}

/// The symbols of all parts of a module.
struct Parts {
  size_t count = 0;
  /// How many parts define a symbol for others, and how many have it for
  /// themselves.
  std::map<std::string, int> defined, own;
  /// The symbols that a part needs from elsewhere.
  std::set<std::string> needed;
};

/// Splits the module in `text`, and checks that each part is valid and that a
/// linker would find all that a part needs, once.
Parts split(const std::string &text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module =
      llvm::parseAssemblyString(text, error, context);
  Parts parts;
  EXPECT_TRUE(module) << error.getMessage().str();
  if (!module)
    return parts;
  std::vector<CodePart> codes = splitModule(*module, "p/");
  parts.count = codes.size() + 1;
  auto note = [&](const llvm::Module &part) {
    EXPECT_FALSE(llvm::verifyModule(part));
    for (const llvm::GlobalValue &value : part.global_values()) {
      std::string name = value.getName().str();
      if (value.isDeclaration())
        parts.needed.insert(name);
      else
        ++(value.hasLocalLinkage() ? parts.own : parts.defined)[name];
    }
  };
  note(*module);
  for (const CodePart &code : codes) {
    auto part = llvm::parseBitcodeFile(
        {llvm::StringRef(code.code.data(), code.code.size()), "part"}, context);
    EXPECT_TRUE(bool(part));
    if (part)
      note(**part);
  }
  for (const std::string &name : parts.needed)
    EXPECT_EQ(parts.defined[name], 1) << name;
  return parts;
}

/// Constants that functions of all parts read, in ways that differ in the
/// constants between the instruction and the symbol.
TEST(CodegenParts, ConstantsOfCodeAreRepeated) {
  const std::string numbers =
      "@numbers = private constant [4 x double] zeroinitializer\n";
  for (const std::string &constant : {
           std::string("@numbers"),
           std::string("getelementptr (i8, ptr @numbers, i64 8)"),
           std::string("inttoptr (i64 add (i64 ptrtoint (ptr getelementptr "
                       "(i8, ptr @numbers, i64 8) to i64), i64 8) to ptr)"),
       }) {
    Parts parts = split(numbers + makeReaders(constant));
    EXPECT_GT(parts.count, 1u) << constant;
    EXPECT_TRUE(parts.needed.empty()) << constant;
    EXPECT_GT(parts.own["numbers"], 1) << constant;
  }
}

TEST(CodegenParts, ConstantsWithinAggregates) {
  std::string text = "@numbers = internal constant [4 x i64] zeroinitializer\n";
  for (int i = 0; i < 4; ++i)
    text += makeFunction(
        "reader" + std::to_string(i),
        "%x = extractelement <2 x ptr> <ptr @numbers, ptr getelementptr (i8, "
        "ptr @numbers, i64 16)>, i64 1\n");
  Parts parts = split(text);
  EXPECT_TRUE(parts.needed.empty());
  EXPECT_GT(parts.own["numbers"], 1);
}

TEST(CodegenParts, ConstantsInAnotherAddressSpace) {
  Parts parts = split(
      "@numbers = internal addrspace(1) constant [4 x i64] zeroinitializer\n" +
      makeReaders("addrspacecast (ptr addrspace(1) @numbers to ptr)"));
  EXPECT_TRUE(parts.needed.empty());
  EXPECT_GT(parts.own["numbers"], 1);
}

TEST(CodegenParts, SharedMemoryIsRepeated) {
  Parts parts =
      split("@tile = internal addrspace(3) global [4 x i64] undef\n" +
            makeReaders("addrspacecast (ptr addrspace(3) getelementptr (i8, "
                        "ptr addrspace(3) @tile, i64 8) to ptr)"));
  EXPECT_TRUE(parts.needed.empty());
  EXPECT_GT(parts.own["tile"], 1);
}

/// Variables and constants with addresses have one place, which is in the first
/// part.
TEST(CodegenParts, VariablesAreShared) {
  for (const std::string &text : {
           std::string("@v = private global [4 x double] zeroinitializer\n"),
           std::string("@w = global i8 0\n"
                       "@v = private constant [2 x ptr] [ptr @w, ptr @w]\n"),
       }) {
    Parts parts =
        split(text + makeReaders("getelementptr (i8, ptr @v, i64 8)"));
    EXPECT_TRUE(parts.needed.count("p/v")) << text;
    EXPECT_EQ(parts.defined["p/v"], 1) << text;
    EXPECT_EQ(parts.own["v"], 0) << text;
  }
}

/// A function that another one knows by its address alone is in the same part;
/// one whose address a variable holds, too, has a name for all parts.
TEST(CodegenParts, FunctionsByAddress) {
  std::string text =
      makeFunction("leaf", "", "internal") +
      makeFunction("named", "", "internal") +
      "@table = constant i64 add (i64 ptrtoint (ptr @named to i64), i64 1)\n" +
      makeFunction("caller",
                   "%x = add i64 ptrtoint (ptr getelementptr (i8, ptr @leaf, "
                   "i64 1) to i64), 1\n") +
      makeReaders("@table");
  Parts parts = split(text);
  EXPECT_GT(parts.count, 1u);
  EXPECT_EQ(parts.own["leaf"], 1);
  EXPECT_EQ(parts.own["named"], 0);
  EXPECT_EQ(parts.defined["p/named"], 1);
}

/// A constant that nothing but a leftover constant expression uses.
TEST(CodegenParts, LeftoverExpressions) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::string text =
      "@numbers = private constant [4 x double] zeroinitializer\n" +
      makeReaders("getelementptr (i8, ptr @numbers, i64 8)");
  std::unique_ptr<llvm::Module> module =
      llvm::parseAssemblyString(text, error, context);
  ASSERT_TRUE(module);
  for (llvm::Function &function : *module)
    function.front().front().eraseFromParent();
  for (const CodePart &code : splitModule(*module, "p/")) {
    auto part = llvm::parseBitcodeFile(
        {llvm::StringRef(code.code.data(), code.code.size()), "part"}, context);
    ASSERT_TRUE(bool(part));
    EXPECT_FALSE((*part)->getNamedGlobal("numbers"));
  }
}

} // namespace
