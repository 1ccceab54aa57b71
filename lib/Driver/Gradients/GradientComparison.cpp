//===- GradientComparison.cpp - Compares a program with a record ----------===//

#include "Gradients/GradientComparison.h"

#include "hfta/data.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Returns the largest difference between elements of two tensors; NaN if there
/// is a NaN.
static double getDifference(llvm::ArrayRef<double> mine,
                            llvm::ArrayRef<double> theirs) {
  double largest = 0;
  for (auto [a, b] : llvm::zip_equal(mine, theirs)) {
    double difference = std::fabs(a - b);
    if (std::isnan(difference))
      return difference;
    largest = std::max(largest, difference);
  }
  return largest;
}

static double getMagnitude(llvm::ArrayRef<double> numbers) {
  return getDifference(numbers, std::vector<double>(numbers.size()));
}

//===----------------------------------------------------------------------===//
// The program's first step
//===----------------------------------------------------------------------===//

/// Checks that the record has the model's inputs, in the same order.
hfta_status GradientComparison::checkPorts(hfta_error &error) const {
  llvm::ArrayRef<RecordedTensor> inputs = record.getInputs();
  for (uint32_t i = 0; i < program.input_count; ++i) {
    llvm::StringRef name = program.inputs[i].model_name;
    if (i < inputs.size() && name == inputs[i].name)
      continue;
    return hfta_fail(&error, HFTA_INVALID_INPUT,
                     "'%s' holds '%s' as input %u, but the model's is '%s'",
                     record.getPath().str().c_str(),
                     i < inputs.size() ? inputs[i].name.str().c_str() : "",
                     i + 1, name.str().c_str());
  }
  return HFTA_OK;
}

/// Binds the record's tensors to the fields of the job that CheckGradients.cpp
/// generates: inputs in order, then the target.
hfta_status GradientComparison::bindFields(hfta_error &error) {
  std::vector<const hfta_tensor_view *> views;
  for (const RecordedTensor &input : record.getInputs())
    views.push_back(input.view);
  views.push_back(&record.getTarget());
  if (views.size() != program.data_field_count)
    return hfta_fail(&error, HFTA_INTERNAL,
                     "the program has %u fields, not %zu",
                     program.data_field_count, views.size());
  for (auto [index, view] : llvm::enumerate(views)) {
    const hfta_tensor &tensor =
        program.tensors[program.data_fields[index].tensor];
    if (tensor.type != view->type || tensor.bytes != view->bytes)
      return hfta_fail(&error, HFTA_INTERNAL,
                       "field '%s' of the program isn't tensor '%s'",
                       program.data_fields[index].name, view->name);
    hfta_status status = hfta_data_check_classes(
        &program, index, view->data, 0, record.getBatch(),
        record.getPath().str().c_str(), &error);
    if (status != HFTA_OK)
      return status;
    fields.push_back(view->data);
  }
  return HFTA_OK;
}

/// Finds the tensors that steps change, and also frozen statistics, if the
/// record has them.
void GradientComparison::findTensors() {
  for (uint32_t i = 0; i < program.tensor_count; ++i) {
    const hfta_tensor &tensor = program.tensors[i];
    if (tensor.type != HFTA_F64)
      continue;
    if (tensor.flags & HFTA_TENSOR_TRAINED)
      trained.insert({tensor.name, i});
    else if (program.segments[tensor.segment].role == HFTA_SEGMENT_STATISTICS)
      statistics.insert({tensor.name, i});
  }
  for (const RecordedTensor &recorded : record.getSteps().front().statistics) {
    uint32_t index =
        hfta_program_find_tensor(&program, 0, recorded.name.str().c_str());
    if (index != UINT32_MAX && program.tensors[index].type == HFTA_F64)
      statistics.insert({recorded.name, index});
  }
}

/// Checks that tensors of the program have the shapes that the record has for
/// them.
hfta_status
GradientComparison::checkShapes(llvm::ArrayRef<RecordedTensor> recorded,
                                const Indices &indices,
                                hfta_error &error) const {
  for (const RecordedTensor &theirs : recorded) {
    auto found = indices.find(theirs.name);
    if (found == indices.end())
      continue;
    const hfta_tensor &mine = program.tensors[found->second];
    const hfta_tensor_view &view = *theirs.view;
    if (llvm::ArrayRef(mine.shape, mine.rank) ==
        llvm::ArrayRef(view.shape, view.rank))
      continue;
    char text[HFTA_SHAPE_TEXT_BYTES], expected[HFTA_SHAPE_TEXT_BYTES];
    return hfta_fail(&error, HFTA_INVALID_INPUT,
                     "'%s': tensor '%s' has the shape %s, but the model's is "
                     "%s",
                     record.getPath().str().c_str(), view.name,
                     hfta_shape_text(view.shape, view.rank, text),
                     hfta_shape_text(mine.shape, mine.rank, expected));
  }
  return HFTA_OK;
}

hfta_status GradientComparison::begin(hfta_error &error) {
  hfta_status status = checkPorts(error);
  if (status == HFTA_OK)
    status = bindFields(error);
  findTensors();
  for (const RecordedStep &results : record.getSteps()) {
    if (status == HFTA_OK)
      status = checkShapes(results.gradients, trained, error);
    if (status == HFTA_OK)
      status = checkShapes(results.statistics, statistics, error);
  }
  if (status != HFTA_OK)
    return status;
  hfta_options options = {};
  options.ranks = 1;
  options.error = &error;
  return hfta_instance_create(&program, &options, &instance);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

hfta_status GradientComparison::read(Values &tensors, Values &others) const {
  for (auto [indices, values] :
       {std::pair<const Indices *, Values *>(&trained, &tensors),
        std::pair<const Indices *, Values *>(&statistics, &others)})
    for (auto [name, index] : *indices) {
      Numbers &numbers = (*values)[name];
      uint64_t bytes = program.tensors[index].bytes;
      numbers.resize(bytes / sizeof(double));
      if (hfta_status status =
              hfta_instance_read(instance, index, 0, 0, numbers.data(), bytes);
          status != HFTA_OK)
        return status;
    }
  return HFTA_OK;
}

/// Compares all tensors of one kind and appends the results. For tensors that
/// the record lacks, `idle` has the values that the program should have.
void GradientComparison::compareTensors(ComparedKind kind,
                                        llvm::ArrayRef<RecordedTensor> recorded,
                                        const Values &mine, const Values &idle,
                                        std::vector<ComparedTensor> &results) {
  llvm::DenseSet<llvm::StringRef> known;
  for (const RecordedTensor &theirs : recorded) {
    known.insert(theirs.name);
    Numbers numbers = readNumbers(*theirs.view);
    ComparedTensor result = {kind, theirs.name, 0, getMagnitude(numbers), ""};
    auto found = mine.find(theirs.name);
    if (found != mine.end()) {
      result.difference = getDifference(found->second, numbers);
    } else {
      result.difference = result.largest;
      result.note = "not trained";
    }
    results.push_back(result);
  }
  for (const auto &[name, numbers] : mine) {
    double difference = getDifference(numbers, idle.find(name)->second);
    ComparedTensor result = {kind, name, difference, 0, "not in the record"};
    if (!known.contains(name) && !result.isEqual())
      results.push_back(result);
  }
}

hfta_status GradientComparison::runStep(std::vector<ComparedTensor> &results,
                                        hfta_error &error) {
  const RecordedStep &theirs = record.getSteps()[step++];
  Values gradients, zeros, next, before, after;
  double loss = 0;
  hfta_status status = read(gradients, before);
  if (status == HFTA_OK)
    status = hfta_instance_step(instance, fields.data(), &loss);
  if (status == HFTA_OK)
    status = read(next, after);
  if (status != HFTA_OK) {
    error = *hfta_instance_error(instance);
    return status;
  }
  for (auto &[name, numbers] : gradients) {
    for (auto [number, changed] : llvm::zip_equal(numbers, next[name]))
      number = (number - changed) / record.getLearningRate();
    zeros[name] = Numbers(numbers.size());
  }
  results.push_back({ComparedKind::loss, "", std::fabs(loss - theirs.loss),
                     std::fabs(theirs.loss), ""});
  compareTensors(ComparedKind::gradient, theirs.gradients, gradients, zeros,
                 results);
  compareTensors(ComparedKind::statistic, theirs.statistics, after, before,
                 results);
  return HFTA_OK;
}
