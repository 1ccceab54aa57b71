//===- ParserTest.cpp - Syntax trees of job files -------------------------===//

#include "Hfta/Language/Parser.h"
#include "TestJobs.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace mlir::hfta;

namespace {
/// A parsed job file. The tree refers to the buffers of `sources`.
struct Parsed {
  llvm::SourceMgr sources;
  ast::JobFile file;
  std::string messages;
};
} // namespace

/// Parses a job file's text (no file if it is empty) and flags.
static std::unique_ptr<Parsed> parse(llvm::StringRef text,
                                     const JobOptions &options = {}) {
  auto result = std::make_unique<Parsed>();
  llvm::raw_string_ostream os(result->messages);
  JobDiagnostics diagnostics(result->sources, os);
  if (!text.empty()) {
    unsigned buffer = result->sources.AddNewSourceBuffer(
        llvm::MemoryBuffer::getMemBufferCopy(text, "dir/job.hfta"),
        llvm::SMLoc());
    result->file = parseJobFile(buffer, diagnostics);
  }
  addJobOptions(result->file, options, diagnostics);
  return result;
}

/// Returns an expression as text, fully parenthesized.
static std::string print(const ast::Expression &e) {
  if (auto *number = llvm::dyn_cast<ast::NumberExpression>(&e))
    return number->integer ? std::to_string(*number->integer)
                           : std::to_string(number->value);
  if (auto *name = llvm::dyn_cast<ast::NameExpression>(&e))
    return name->name;
  if (auto *string = llvm::dyn_cast<ast::StringExpression>(&e))
    return "'" + string->value + "'";
  if (auto *member = llvm::dyn_cast<ast::MemberExpression>(&e))
    return member->object.name + "." + member->member.name;
  if (auto *negation = llvm::dyn_cast<ast::NegationExpression>(&e))
    return "(-" + print(*negation->operand) + ")";
  if (auto *binary = llvm::dyn_cast<ast::BinaryExpression>(&e))
    return "(" + print(*binary->lhs) + binary->operation + print(*binary->rhs) +
           ")";
  std::string text;
  if (auto *list = llvm::dyn_cast<ast::ListExpression>(&e)) {
    for (const ast::ExpressionPtr &element : list->elements)
      text += print(*element) + ",";
    return "[" + text + "]";
  }
  const auto &call = llvm::cast<ast::CallExpression>(e);
  for (const ast::Argument &argument : call.arguments)
    text += (argument.name ? argument.name.name + "=" : "") +
            print(*argument.value) + ",";
  return call.callee.name + "(" + text + ")";
}

/// Parses an expression, as the argument of a clause `seed`. Returns it as
/// text, fully parenthesized.
static std::string printParsed(llvm::StringRef expression) {
  auto parsed = parse(("train t {\n  seed " + expression + "\n}\n").str());
  EXPECT_EQ(parsed->messages, "");
  return print(
      *parsed->file.trains[0].declaration.clauses[0].arguments[0].value);
}

TEST(Parser, Precedence) {
  EXPECT_EQ(printParsed("1 + 2 * 3 - 4 / 5"), "((1+(2*3))-(4/5))");
  EXPECT_EQ(printParsed("(1 + 2) * -3"), "((1+2)*(-3))");
  EXPECT_EQ(printParsed("- -a"), "a");
  EXPECT_EQ(printParsed("-a.b * c"), "((-a.b)*c)");
  EXPECT_EQ(printParsed("8 - 4 - 2"), "((8-4)-2)");
}

TEST(Parser, Calls) {
  EXPECT_EQ(printParsed("f(1, [2, x,], n = g(\"s\\\"\"),)"),
            "f(1,[2,x,],n=g('s\"',),)");
  EXPECT_EQ(printParsed("net.\"a b:0\""), "net.a b:0");
  EXPECT_EQ(printParsed("[]"), "[]");
}

TEST(Parser, Declarations) {
  auto parsed =
      parse("model a = onnx(\"a.onnx\")\n  init fresh\n"
            "  freeze \"x\", \"y\"\n  dim n = 3, m = 4\n"
            "data d {\n train: u8[3], test: i64\n"
            " train x: f32[2, 3] = 1, y = 2\n test y = 2\n}\n"
            "model b(x: f32[batch, n], r = 0.5) { return x, y = -x }\n"
            "train t { model a seed 1, zip(lr) }");
  EXPECT_EQ(parsed->messages, "");
  const ast::JobFile &file = parsed->file;
  EXPECT_EQ(file.directory, "dir");
  ASSERT_EQ(file.models.size(), 2u);
  EXPECT_EQ(file.models[1].position, 2u);
  const ast::ModelDeclaration &a = file.models[0].declaration;
  ASSERT_TRUE(a.onnx);
  ASSERT_EQ(a.options.size(), 3u);
  EXPECT_EQ(a.options[1].arguments.size(), 2u);
  EXPECT_EQ(a.options[2].arguments[1].name.name, "m");
  const ast::ModelDeclaration &b = file.models[1].declaration;
  ASSERT_EQ(b.inputs.size(), 2u);
  EXPECT_EQ(b.inputs[0].type->dimensions[1].name.name, "n");
  EXPECT_FALSE(b.inputs[1].type);
  ASSERT_EQ(b.results.size(), 2u);
  EXPECT_EQ(b.results[1].name.name, "y");
  const ast::DataDeclaration &d = file.data[0].declaration;
  ASSERT_EQ(d.declarations.size(), 2u);
  EXPECT_EQ(d.declarations[0].name.name, "train");
  ASSERT_EQ(d.train.fields.size(), 2u);
  EXPECT_EQ(d.train.fields[0].type->dimensions[1].size, 3);
  EXPECT_EQ(d.test.fields.size(), 1u);
}

TEST(Parser, Ranges) {
  auto parsed = parse("train t {\n  seed  f(1,\n   2)\n}\n");
  const ast::Clause &clause = parsed->file.trains[0].declaration.clauses[0];
  EXPECT_EQ(parsed->sources.getLineAndColumn(clause.range.Start),
            std::make_pair(2u, 3u));
  EXPECT_EQ(parsed->sources.getLineAndColumn(clause.range.End),
            std::make_pair(3u, 6u));
  EXPECT_EQ(parsed->sources.getLineAndColumn(
                clause.arguments[0].value->getRange().Start),
            std::make_pair(2u, 9u));
}

TEST(Parser, ReportsSeveralErrors) {
  auto parsed = parse("model m(x) { return x }\n"
                      "data d {\n  train x = \n  test y = npy(\"y\")\n}\n"
                      "train t {\n  sed 1\n  epochs )\n  steps 5\n}\n");
  size_t count = 0;
  for (size_t at = parsed->messages.find("error:"); at != std::string::npos;
       at = parsed->messages.find("error:", at + 1))
    ++count;
  EXPECT_GE(count, 4u);
  ASSERT_EQ(parsed->file.trains.size(), 1u);
  EXPECT_TRUE(parsed->file.trains[0].declaration.find("steps"));
}

//===----------------------------------------------------------------------===//
// Hostile input
//===----------------------------------------------------------------------===//

static std::string repeat(llvm::StringRef text, unsigned count) {
  std::string result;
  for (unsigned i = 0; i < count; ++i)
    result += text;
  return result;
}

static std::string getMessages(const std::string &expression) {
  return parse("train t {\n  seed " + expression + "\n}\n")->messages;
}

TEST(Parser, DeepNesting) {
  for (const char *open : {"(", "[", "f(", "-(", "f(x = "})
    EXPECT_NE(getMessages(repeat(open, 100000)).find("more than 256 levels"),
              std::string::npos)
        << open;
  EXPECT_NE(
      getMessages(repeat("1 + ", 100000) + "1").find("more than 256 levels"),
      std::string::npos);
  EXPECT_EQ(getMessages(repeat("1 + ", 200) + "1"), "");
  EXPECT_EQ(getMessages(repeat("-", 100000) + "1"), "");
}

TEST(Parser, LongLists) {
  EXPECT_EQ(getMessages("[" + repeat("1, ", 65536) + "]"), "");
  EXPECT_NE(getMessages("[" + repeat("1, ", 65537) + "]")
                .find("list of more than 65536 elements"),
            std::string::npos);
}

TEST(Parser, LimitsMessages) {
  auto parsed = parse(repeat("$ ", 1000));
  EXPECT_NE(parsed->messages.find("more errors are not shown"),
            std::string::npos);
  EXPECT_LT(parsed->messages.size(), 100000u);
}

TEST(Parser, LongLinesAreNotRepeated) {
  auto parsed = parse(repeat(" ", 100000) + "$");
  EXPECT_LT(parsed->messages.size(), 1000u);
}

TEST(Parser, LargeFile) {
  auto parsed = parse(repeat(" ", (4 << 20) + 1));
  EXPECT_NE(parsed->messages.find("job file of 4194305 bytes"),
            std::string::npos);
}

/// Checks that every incomplete prefix of a job is refused without a crash.
TEST(Parser, Prefixes) {
  llvm::StringRef job = hfta_test::kSmallJob;
  for (size_t length = 1; length + 2 < job.size(); ++length)
    EXPECT_NE(hfta_test::compile(job.take_front(length)).messages, "")
        << length;
}

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

TEST(JobOptions, JobFromFlags) {
  JobOptions options;
  options.models = {"dir/my-net.onnx", "b\"c.onnx"};
  options.flags = {{"train-data", "image=a.npy, label: u8=idx(\"b,c\") - 1"},
                   {"batch", "64"},
                   {"loss", "cross_entropy"},
                   {"optimizer", "adam(lr=[1e-3,3e-4])"},
                   {"clip-norm", "1"},
                   {"dim", "a = 1"},
                   {"dim", "sequence-length=2,c=3"}};
  auto parsed = parse("", options);
  EXPECT_EQ(parsed->messages, "");
  const ast::JobFile &file = parsed->file;
  ASSERT_EQ(file.models.size(), 1u);
  EXPECT_EQ(file.models[0].declaration.name.name, "my_net");
  EXPECT_EQ(print(*file.models[0].declaration.onnx->arguments[1].value),
            "'b\"c.onnx'");
  ASSERT_EQ(file.data.size(), 1u);
  const std::vector<ast::Binding> &train =
      file.data[0].declaration.train.fields;
  ASSERT_EQ(train.size(), 2u);
  EXPECT_EQ(print(*train[0].value), "'a.npy'");
  EXPECT_EQ(print(*train[1].value), "(idx('b,c',)-1)");
  std::string clauses;
  for (const ast::Clause &clause : file.trains[0].declaration.clauses)
    clauses += clause.keyword.name + " ";
  EXPECT_EQ(clauses, "model data loss optimizer clip_norm dim dim ");
  const ast::Clause &dim = file.trains[0].declaration.clauses.back();
  ASSERT_EQ(dim.arguments.size(), 2u);
  EXPECT_EQ(dim.arguments[0].name.name, "sequence-length");
  EXPECT_EQ(print(*dim.arguments[1].value), "3");
}

/// Fields are called like inputs of ONNX models, which may have any name.
TEST(JobOptions, FieldsOfAnyName) {
  JobOptions options;
  options.flags = {
      {"train-data",
       "0=a.npy, input.1: u8[4]=b.npy, \"x:0=\" = npy(\"c.npy\") / 2"}};
  auto parsed = parse(hfta_test::kSmallJob, options);
  EXPECT_EQ(parsed->messages, "");
  const std::vector<ast::Binding> &train =
      parsed->file.data[0].declaration.train.fields;
  ASSERT_EQ(train.size(), 3u);
  EXPECT_EQ(train[0].name.name, "0");
  EXPECT_EQ(print(*train[0].value), "'a.npy'");
  EXPECT_EQ(train[1].name.name, "input.1");
  EXPECT_TRUE(train[1].type.has_value());
  EXPECT_EQ(train[2].name.name, "x:0=");
  EXPECT_EQ(print(*train[2].value), "(npy('c.npy',)/2)");
}

TEST(JobOptions, FlagsReplaceClauses) {
  JobOptions options;
  options.flags = {{"batch", "16"}, {"optimizer", "adam"}, {"seed", "[1, 2]"}};
  auto parsed = parse(hfta_test::kSmallJob, options);
  EXPECT_EQ(parsed->messages, "");
  const ast::TrainDeclaration &train = parsed->file.trains[0].declaration;
  ASSERT_EQ(train.clauses.size(), 5u);
  EXPECT_EQ(print(*train.clauses[1].arguments[1].value), "16");
  EXPECT_EQ(print(*train.clauses[3].arguments[0].value), "adam");
  EXPECT_EQ(train.clauses[4].keyword.name, "seed");
}

TEST(JobOptions, ErrorsNameTheFlag) {
  JobOptions options;
  options.flags = {{"optimizer", "adam(lr=[1e-3)"},
                   {"train-data", "image"},
                   {"test-data", "x="},
                   {"test-data", "=x.npy"},
                   {"batch", "8 9"}};
  EXPECT_EQ(
      parse(hfta_test::kSmallJob, options)->messages,
      R"(--optimizer:1:14: error: expected ']' or ',' after an element of the list, got ')'
adam(lr=[1e-3)
             ^
hint: lists look like [1, 2]
--train-data:1:1: error: expected 'field=file'
image
^~~~~
hint: for example image=train-images.npy,label=labels.npy
--test-data:1:2: error: expected a file after '='
x=
 ^
hint: for example x=images.npy
--test-data:1:1: error: expected a field's name
=x.npy
^~~~~~
hint: for example image=train-images.npy
--batch:1:3: error: expected the end, got '9'
8 9
  ^
hint: values are separated by ','
)");
}
