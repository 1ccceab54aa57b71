//===- CodegenPartsTest.cpp - Symbols of modules that are split -----------===//

#include "Hfta/Codegen/CodegenParts.h"

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

/// Returns the text of a function that begins with `code` and has so many
/// instructions that several such functions are distributed to several parts.
std::string makeFunction(const std::string &name, const std::string &code,
                         const std::string &linkage = "") {
  std::string text =
      "define " + linkage + " double @" + name + "(double %n0) {\n" + code;
  for (int i = 1; i <= 8000; ++i)
    text += "%n" + std::to_string(i) + " = fadd double %n" +
            std::to_string(i - 1) + ", 1.0\n";
  return text + "ret double %n8000\n}\n";
}

/// Returns the text of four functions, each of which loads from the pointer
/// `constant`.
std::string makeReaders(const std::string &constant) {
  std::string text;
  for (int i = 0; i < 4; ++i)
    text += makeFunction("reader" + std::to_string(i),
                         "%x = load volatile double, ptr " + constant + "\n");
  return text;
}

/// The symbols of all parts of a split module.
struct Parts {
  size_t count = 0;
  /// The number of parts that define a symbol with external linkage (`defined`)
  /// and with local linkage (`own`), by the symbol's name.
  std::map<std::string, int> defined, own;
  /// The symbols that some part declares, but doesn't define.
  std::set<std::string> needed;
};

/// Splits the module that `text` holds. Checks that each part is valid, and
/// that exactly one part defines each symbol that a part declares.
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

/// Tests a constant that functions in all parts read, directly and through
/// constant expressions of different depth. Each part gets a copy.
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

/// Variables, and constants that contain addresses, must not be copied: one
/// part defines them, and the others refer to that definition.
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

/// If only a function uses the address of another one, both stay in one part,
/// and the symbol stays local. If a variable holds the address, parts need a
/// common name.
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

/// Once instructions are erased, constant expressions that they used are left
/// without users. A constant that only such an expression uses isn't copied to
/// a part.
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
