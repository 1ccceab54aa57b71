//===- MatrixTask.cpp - An op on matrices as a compiled program -----------===//

#include "MatrixTask.h"

using namespace mlir;
using namespace mlir::hfta;

MatrixTask::MatrixTask() = default;
MatrixTask::~MatrixTask() = default;

static std::string getType(const MatrixTask::Variable &variable,
                           int64_t copies) {
  std::string encoding = variable.isArrayed
                             ? ", #hfta.copies<" + std::to_string(copies) + ">"
                             : "";
  return "tensor<" + variable.type + encoding + ">";
}

static std::string writeModule(const std::string &op,
                               ArrayRef<MatrixTask::Variable> operands,
                               ArrayRef<MatrixTask::Variable> results,
                               int64_t copies, const std::string &attributes) {
  std::string text, reads, writes, names, types;
  for (const MatrixTask::Variable &operand : operands) {
    std::string type = getType(operand, copies);
    text += "hfta.variable @" + operand.name +
            " {role = #hfta.role<parameter>} : " + type + "\n";
    reads += "%" + operand.name + " = hfta.read @" + operand.name + " : " +
             type + "\n";
    names += (names.empty() ? "%" : ", %") + operand.name;
    types += (types.empty() ? "" : ", ") + type;
  }
  for (auto [number, result] : llvm::enumerate(results)) {
    std::string type = getType(result, copies);
    text += "hfta.variable @" + result.name +
            " {role = #hfta.role<output>} : " + type + "\n";
    writes += "hfta.write %results#" + std::to_string(number) + ", @" +
              result.name + " : " + type + "\n";
  }
  return text +
         "func.func @\"task/infer\"() attributes {hfta.task = "
         "#hfta.task<infer, -1>} {\n" +
         reads + "%results:" + std::to_string(results.size()) + " = hfta." +
         op + " " + names + " " + attributes + " : " + types + "\n" + writes +
         "return\n}\n";
}

std::unique_ptr<MatrixTask>
MatrixTask::compile(const std::string &op,
                    const std::vector<Variable> &operands,
                    const std::vector<Variable> &results, int64_t copies,
                    int threads, const std::string &attributes) {
  std::unique_ptr<MatrixTask> task(new MatrixTask);
  task->program = JitProgram::compile(
      writeModule(op, operands, results, copies, attributes), copies, threads);
  return task->program ? std::move(task) : nullptr;
}

void MatrixTask::run() { program->run("infer"); }

void *MatrixTask::getMemory(const std::string &name, int64_t copy) {
  return program->at(*program->find(name), copy);
}

uint64_t MatrixTask::getBytes(const std::string &name) {
  return program->find(name)->bytes;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

std::vector<double> hfta::makeNumbers(int64_t count, uint64_t seed) {
  std::vector<double> numbers;
  uint64_t state = seed * 2 + 1;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    numbers.push_back(static_cast<double>(state >> 33) / (1u << 30) - 1);
  }
  return numbers;
}

std::vector<double> hfta::makePacked(int64_t rows, uint64_t seed) {
  int64_t terms = rows + 3;
  std::vector<double> from = makeNumbers(rows * terms, seed), packed;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      double sum = i == j ? 0.01 : 0;
      for (int64_t k = 0; k < terms; ++k)
        sum += from[i * terms + k] * from[j * terms + k] / terms;
      packed.push_back(sum);
    }
  return packed;
}

double hfta::getPacked(const std::vector<double> &packed, int64_t row,
                       int64_t column) {
  if (row < column)
    std::swap(row, column);
  return packed[row * (row + 1) / 2 + column];
}
