//===- JobBuilder.cpp - Builds modules of analyzed jobs -------------------===//

#include "Building/JobBuilder.h"
#include "Analysis/Packing.h"
#include "Building/ObjectiveBuilding.h"
#include "Hfta/Dialect/Hfta/IR/Training.h"
#include "Hfta/Language/FrontEnd.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/STLExtras.h"

#include <deque>
#include <set>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

/// Emits a note for each csv file whose first line was taken for a sample
/// although it may be a header of numbers.
static void noteGuessedHeaders(const std::deque<JobInfo> &infos,
                               JobDiagnostics &diagnostics) {
  llvm::StringSet<> noted;
  for (const JobInfo &info : infos)
    for (const NamedRange &file : info.guessedHeaders)
      if (noted.insert(file.name).second)
        diagnostics.note(file.range,
                         "line 1 of '" + file.name +
                             "' is read as a sample; if it is a header, set "
                             "header = true, else header = false");
}

/// Prints the notes of all jobs, without those that arrays have in common.
static void printNotes(const std::deque<JobInfo> &infos,
                       JobDiagnostics &diagnostics) {
  noteGuessedHeaders(infos, diagnostics);
  std::set<std::pair<const char *, std::string>> printed;
  for (const JobInfo &info : infos)
    for (const NamedRange &note : info.notes)
      if (printed.insert({note.range.Start.getPointer(), note.name}).second)
        diagnostics.note(note.range, note.name);
}

/// Analyzes a train block, as a job or, if its search chooses among values that
/// programs hold as constants, as a job for each combination of them. `trees`
/// keeps the syntax trees of these.
static void analyzeTrain(const ast::JobFile &file, size_t index,
                         const FrontEndOptions &options,
                         JobDiagnostics &diagnostics,
                         std::deque<ast::JobFile> &trees,
                         std::deque<JobInfo> &infos) {
  unsigned errors = diagnostics.getErrorCount();
  const ast::Positioned<ast::TrainDeclaration> &train = file.trains[index];
  Packing packing(file, train, diagnostics);
  int64_t arrays = packing.getArrayCount();
  bool isWrong = diagnostics.getErrorCount() != errors;
  if (arrays == 1 || isWrong) {
    const ast::JobFile &tree =
        isWrong ? trees.emplace_back(packing.takeFirst()) : file;
    JobAnalyzer(tree, options, diagnostics, infos.emplace_back())
        .analyze(tree.trains[index]);
    return;
  }
  // After an error, the other arrays would have much the same ones.
  const JobInfo *first = nullptr;
  for (int64_t array = 0;
       array < arrays && diagnostics.getErrorCount() == errors; ++array) {
    JobInfo &info = infos.emplace_back();
    const ast::JobFile &tree =
        trees.emplace_back(packing.takeArray(array, info));
    JobAnalyzer(tree, options, diagnostics, info).analyze(tree.trains[index]);
    if (!first)
      first = &info;
    else if (diagnostics.getErrorCount() == errors)
      checkSameSearch(*first, info, diagnostics);
  }
}

std::vector<JobModule>
mlir::hfta::buildJobModules(MLIRContext *context, const ast::JobFile &file,
                            const FrontEndOptions &options,
                            JobDiagnostics &diagnostics,
                            FrontEndFailure &failure) {
  failure = FrontEndFailure::input;
  if (diagnostics.hasErrors())
    return {};
  checkDeclarations(file, diagnostics);
  // Analyze all train blocks before building any module, so that all errors are
  // reported.
  std::deque<ast::JobFile> trees;
  std::deque<JobInfo> infos;
  for (size_t i = 0; i < file.trains.size(); ++i)
    analyzeTrain(file, i, options, diagnostics, trees, infos);
  if (diagnostics.hasErrors()) {
    unsigned unsupported = 0;
    for (const JobInfo &info : infos)
      unsupported += info.unsupportedFiles;
    if (unsupported == diagnostics.getErrorCount())
      failure = FrontEndFailure::unsupported;
    return {};
  }
  printNotes(infos, diagnostics);
  std::vector<JobModule> jobs;
  for (JobInfo &info : infos) {
    OwningOpRef<ModuleOp> module =
        JobBuilder(context, info, options, diagnostics).build(failure);
    if (!module)
      return {};
    jobs.push_back({info.job.name, getTitle(info.job), std::move(module),
                    info.pipeline, info.job.search.arrays,
                    info.job.search.array});
  }
  return jobs;
}

OwningOpRef<ModuleOp> mlir::hfta::buildJobModule(MLIRContext *context,
                                                 const ast::JobFile &file,
                                                 const FrontEndOptions &options,
                                                 JobDiagnostics &diagnostics,
                                                 FrontEndFailure &failure) {
  std::vector<JobModule> jobs =
      buildJobModules(context, file, options, diagnostics, failure);
  return jobs.empty() ? nullptr : std::move(jobs.front().module);
}

JobBuilder::JobBuilder(MLIRContext *context, JobInfo &info,
                       const FrontEndOptions &options,
                       JobDiagnostics &diagnostics)
    : context(context), info(info), options(options), diagnostics(diagnostics) {
  context->loadDialect<HftaDialect, func::FuncDialect>();
  floatType = Float32Type::get(context);
}

TensorBuilder JobBuilder::getTensors(OpBuilder &builder, StringRef name,
                                     llvm::SMRange range) {
  TensorBuilder tensors(builder,
                        NameLoc::get(StringAttr::get(context, name),
                                     diagnostics.getLocation(context, range)));
  return tensors;
}

/// Returns the numbers of the copies that start from this file.
SmallVector<int64_t> JobBuilder::getCopies(int64_t file) const {
  SmallVector<int64_t> copies;
  for (int64_t copy = 0; copy < info.job.copies; ++copy)
    if (info.fileOfCopy.empty() || info.fileOfCopy[copy] == file)
      copies.push_back(copy);
  return copies;
}

OwningOpRef<ModuleOp> JobBuilder::build(FrontEndFailure &result) {
  Location loc = diagnostics.getLocation(context, info.train->name.range);
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(loc, StringRef(info.job.name));
  bool ok = buildModels(*module);
  result = failure;
  if (!ok && result == FrontEndFailure::none)
    result = FrontEndFailure::input;
  if (!ok)
    return nullptr;
  info.job.write(*module);
  noteCutLocations(*module);
  if (failed(verify(*module))) {
    result = FrontEndFailure::input;
    return nullptr;
  }
  return module;
}

/// Stores the source locations of cuts on the module. Cuts are looked up only
/// after fusion, and errors should still point to the job.
void JobBuilder::noteCutLocations(ModuleOp module) {
  SmallVector<Attribute> locations;
  for (llvm::SMRange range : info.pipeline.cutRanges)
    locations.push_back(diagnostics.getLocation(context, range));
  if (!locations.empty())
    module->setAttr(HftaDialect::kCutLocationsAttrName,
                    ArrayAttr::get(context, locations));
}

bool JobBuilder::buildModels(ModuleOp module) {
  bool ok =
      info.model->onnx ? buildOnnxModels(module) : buildLanguageModel(module);
  if (!ok || !info.job.training)
    return ok;
  for (ModelOp model : module.getOps<ModelOp>()) {
    ok = ok && buildPrepare(model) && buildObjective(model);
    if (ok)
      limitIndices(model);
  }
  return ok && checkExcluded(module) && chooseGroups(module);
}

/// Checks that each pattern of `exclude`, for parameters without
/// preconditioner, matches a trained parameter, and that the patterns don't
/// match all of them.
bool JobBuilder::checkExcluded(ModuleOp module) {
  if (info.excludeRanges.empty())
    return true;
  std::vector<std::string> trained;
  module.walk([&](VariableOp variable) {
    if (variable.getTrained())
      trained.push_back(variable.getOwnName());
  });
  llvm::sort(trained);
  trained.erase(llvm::unique(trained), trained.end());
  std::vector<StringRef> names(trained.begin(), trained.end());
  llvm::DenseSet<StringRef> excluded;
  bool ok = true;
  for (auto [text, range] :
       llvm::zip_equal(info.job.kfacExclude, info.excludeRanges)) {
    ParameterPattern pattern(text);
    size_t matches = 0;
    for (StringRef name : names)
      if (pattern.matches(name)) {
        ++matches;
        excluded.insert(name);
      }
    if (matches != 0)
      continue;
    ok = false;
    std::string wrong = pattern.getError().empty()
                            ? " matches no trained parameter of the model"
                            : ": " + pattern.getError().str();
    diagnostics.error(range, "exclude pattern '" + text + "'" + wrong,
                      suggest(text, names, "trained parameters are"));
  }
  if (!ok || excluded.size() < names.size())
    return ok;
  diagnostics.error(
      {info.excludeRanges.front().Start, info.excludeRanges.back().End},
      "nothing is left to precondition: 'exclude' matches all "
      "trained parameters",
      "leave 'precondition' out, or exclude less");
  return false;
}

//===----------------------------------------------------------------------===//
// Models of the language
//===----------------------------------------------------------------------===//

static std::vector<std::string> getNames(ArrayRef<NamedRange> patterns) {
  std::vector<std::string> names;
  for (const NamedRange &pattern : patterns)
    names.push_back(pattern.name);
  return names;
}

/// Applies the clauses `freeze` and `trainable` to a model's parameters.
bool JobBuilder::chooseTrained(ModelOp model) {
  TrainingClauses clauses(getNames(info.freeze), getNames(info.trainable));
  std::vector<std::string> known;
  for (VariableOp variable : model.getBody().getOps<VariableOp>()) {
    if (variable.getRole() != Role::parameter)
      continue;
    known.push_back(variable.getOwnName());
    setTrainingRule(
        variable,
        clauses.decide(known.back()).value_or(TrainingRule::parameter));
  }
  std::vector<StringRef> names(known.begin(), known.end());
  return clauses.check(
      names, names, [&](bool isTrainable, size_t index, const Twine &message) {
        const NamedRange &pattern =
            (isTrainable ? info.trainable : info.freeze)[index];
        diagnostics.error(pattern.range, message,
                          suggest(pattern.name, names, "parameters are"));
      });
}

bool JobBuilder::buildLanguageModel(ModuleOp module) {
  std::vector<Port> ports = getLanguagePorts();
  if (diagnostics.hasErrors() || !bindFields(ports))
    return false;
  std::vector<InputBinding> inputs;
  bool ok = true;
  for (const auto &[index, port] : llvm::enumerate(ports)) {
    const FieldInfo &field = *boundFields[index];
    std::optional<SmallVector<int64_t>> shape =
        fitShape(port, field, getBindingRange(index));
    ok &= shape.has_value();
    if (!shape)
      continue;
    shape->insert(shape->begin(), info.job.getMicroBatch());
    inputs.push_back({field.name, port.name,
                      RankedTensorType::get(*shape, port.elementType)});
  }
  if (!ok)
    return false;
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(module.getBody());
  auto model = ModelOp::create(
      builder, diagnostics.getLocation(context, info.model->name.range),
      info.model->name.name, getCopies(0));
  model.getBody().emplaceBlock();
  BodyBuilder body(builder, model, info, diagnostics);
  body.sizes = sizes;
  for (const ast::Binding &input : info.model->inputs)
    if (input.type && !input.type->dimensions.empty())
      body.sizes[input.type->dimensions.front().name.name] =
          info.job.getMicroBatch();
  return body.build(inputs) && chooseTrained(model);
}

//===----------------------------------------------------------------------===//
// Loss and metric
//===----------------------------------------------------------------------===//

static StringRef getResultName(func::FuncOp function, unsigned index) {
  auto name = function.getResultAttrOfType<StringAttr>(
      index, HftaDialect::kNameAttrName);
  return name ? name.getValue() : StringRef();
}

std::optional<unsigned> JobBuilder::findOutput(const ObjectiveInfo &objective,
                                               func::FuncOp forward) {
  std::vector<llvm::StringRef> names;
  for (unsigned i = 0, e = forward.getNumResults(); i < e; ++i)
    names.push_back(getResultName(forward, i));
  const NamedRange &output = objective.output;
  llvm::SMRange range = output.range.isValid() ? output.range : objective.range;
  if (output.name.empty()) {
    if (names.size() == 1)
      return 0;
    diagnostics.error(range,
                      "model '" + info.model->name.name + "' has " +
                          Twine(names.size()) + " outputs",
                      "choose one: " + info.model->name.name + "." +
                          (names.empty() ? "output" : names.front()));
    return std::nullopt;
  }
  auto found = llvm::find(names, output.name);
  if (found != names.end())
    return found - names.begin();
  diagnostics.error(range,
                    "model '" + info.model->name.name + "' has no output '" +
                        output.name + "'",
                    suggest(output.name, names, "outputs are"));
  return std::nullopt;
}

std::optional<unsigned> JobBuilder::findLabel(const ObjectiveInfo &objective) {
  if (!objective.implicit) {
    const FieldInfo *field = findField(objective.field);
    if (!field)
      return std::nullopt;
    return field - info.fields.data();
  }
  std::optional<unsigned> only;
  for (const auto &[index, field] : llvm::enumerate(info.fields)) {
    if (llvm::is_contained(boundFields, &field))
      continue;
    if (only) {
      diagnostics.error(objective.range, "which field is the label isn't clear",
                        "write " + objective.name + "(" +
                            info.model->name.name + ", " +
                            info.fields[*only].name + ")");
      return std::nullopt;
    }
    only = index;
  }
  if (!only)
    diagnostics.error(objective.range,
                      "every field is an input of the model, none a label",
                      "name it: " + objective.name + "(model, field)");
  return only;
}

std::optional<JobBuilder::Target>
JobBuilder::findTarget(const ObjectiveInfo &objective, func::FuncOp forward,
                       ValueRange arguments) {
  std::optional<unsigned> output = findOutput(objective, forward);
  std::optional<unsigned> label = findLabel(objective);
  if (!output || !label)
    return std::nullopt;
  return Target{arguments[*output],
                arguments[forward.getNumResults() + *label]};
}

/// Declares a run-time scalar of the model if it doesn't exist yet, and reads
/// it.
Value JobBuilder::readScalar(ModelOp model, TensorBuilder &tensors,
                             PurposeAttr purpose, Type elementType) {
  VariableOp variable =
      VariableDeclarer(model).getScalar(tensors.getLoc(), purpose, elementType);
  return tensors.create<ReadOp>(variable.getTensorType(), variable.getSymName(),
                                IntegerAttr());
}

RandomKeys JobBuilder::readKeys(ModelOp model, TensorBuilder &tensors) {
  auto read = [&](Purpose purpose) {
    return readScalar(model, tensors, PurposeAttr::get(context, purpose),
                      IntegerType::get(context, 64));
  };
  return {read(Purpose::seed), read(Purpose::step),
          read(Purpose::first_sample)};
}

/// Checks a loss or metric. An error has a hint.
template <typename Info>
static ObjectiveError checkObjective(const Info &objective,
                                     const ObjectiveArguments &arguments,
                                     ObjectiveTypes types) {
  if (!isa<FloatType>(types.output.getElementType()))
    return {"the output must be a float", "choose another output"};
  ObjectiveError wrong = objective.check(arguments, types);
  if (wrong && wrong.hint.empty())
    wrong.hint = (objective.name + " takes " + objective.takes).str();
  return wrong;
}

/// Reports what is wrong with the types of the loss' operands.
bool JobBuilder::checkLoss(const LossInfo &loss, ObjectiveTypes types) {
  ObjectiveError wrong = checkObjective(loss, info.loss.arguments, types);
  if (wrong) {
    diagnostics.error(info.loss.range, wrong.message, wrong.hint);
    return false;
  }
  if (!info.job.drawsTargets() || loss.draws)
    return true;
  diagnostics.error(info.loss.range,
                    "kfac can't draw targets for '" + loss.name +
                        "', whose outputs describe no distribution",
                    "leave out 'fisher = sampled': the labels are used then");
  return false;
}

std::optional<Loss> JobBuilder::buildLossOf(ModelOp model, OpBuilder &builder,
                                            const Target &target) {
  TensorBuilder tensors = getTensors(builder, "loss", info.loss.range);
  const LossInfo &loss = *findLoss(info.loss.name);
  ObjectiveArguments arguments = info.loss.arguments;
  ObjectiveOperands operands = {tensors, arguments, target.output,
                                target.label};
  ObjectiveTypes types = operands.getTypes();
  if (!checkLoss(loss, types))
    return std::nullopt;
  if (loss.getLabelKind(arguments, types) == LabelKind::classNumbers)
    limitLabels(types.output);
  for (StringRef name : info.loss.numbers)
    arguments.set(name, readScalar(model, tensors,
                                   PurposeAttr::get(
                                       context, Purpose::hyper_parameter, name),
                                   floatType));
  std::optional<RandomKeys> keys;
  if (info.job.drawsTargets())
    keys = readKeys(model, tensors);
  return loss.build(operands, keys);
}

/// Returns the metric's value; null after an error.
Value JobBuilder::buildMetric(OpBuilder &builder, Target target,
                              Value weights) {
  const MetricInfo &metric = *findMetric(info.metric->name);
  TensorBuilder tensors = getTensors(builder, "metric", info.metric->range);
  ObjectiveArguments arguments = info.metric->arguments;
  if (!arguments.findInteger(kAxisArgument))
    arguments.set(kAxisArgument, info.loss.arguments.getAxis());
  ObjectiveOperands operands = {tensors, arguments, target.output,
                                target.label};
  if (findLoss(info.loss.name)->getLabelKind(arguments, operands.getTypes()) ==
      LabelKind::probabilities)
    operands.label = findLargest(
        tensors, tensors.reshape(target.label, getShape(target.output)),
        *findAxis(getTensorType(target.output), arguments.getAxis()),
        builder.getI64Type());
  ObjectiveError wrong = checkObjective(metric, arguments, operands.getTypes());
  if (wrong) {
    diagnostics.error(info.metric->range, wrong.message, wrong.hint);
    return nullptr;
  }
  Value value = metric.build(operands);
  if (value.getType() == weights.getType())
    return value;
  diagnostics.error(info.metric->range,
                    "the metric has the shape " + printShape(getShape(value)) +
                        ", but the loss " + printShape(getShape(weights)),
                    "both are averaged over the same elements");
  return nullptr;
}

bool JobBuilder::buildLossAndMetric(ModelOp model, ValueRange arguments,
                                    func::FuncOp forward,
                                    SmallVector<Value> &results) {
  std::optional<Target> target = findTarget(info.loss, forward, arguments);
  if (!target)
    return false;
  OpBuilder builder = OpBuilder::atBlockEnd(arguments.front().getParentBlock());
  std::optional<Loss> loss = buildLossOf(model, builder, *target);
  if (!loss)
    return false;
  results.append({loss->losses, loss->weights});
  if (loss->drawnLosses)
    results.push_back(loss->drawnLosses);
  if (info.metric) {
    if (!info.metric->implicit)
      target = findTarget(*info.metric, forward, arguments);
    if (!target)
      return false;
    results.push_back(buildMetric(builder, *target, loss->weights));
    if (!results.back())
      return false;
  }
  if (loss->divisors)
    results.push_back(loss->divisors);
  return true;
}

bool JobBuilder::buildObjective(ModelOp model) {
  auto forward = model.lookupSymbol<func::FuncOp>("forward");
  auto prepare = model.lookupSymbol<func::FuncOp>("prepare");
  SmallVector<Type> types(forward.getResultTypes());
  llvm::append_range(types, prepare.getResultTypes());
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(&model.getBody().front());
  auto objective = func::FuncOp::create(
      builder, diagnostics.getLocation(context, info.loss.range), "objective",
      builder.getFunctionType(types, {}));
  Block *block = objective.addEntryBlock();
  SmallVector<Value> results;
  if (!buildLossAndMetric(model, block->getArguments(), forward, results))
    return false;
  builder.setInsertionPointToEnd(block);
  func::ReturnOp::create(builder, objective.getLoc(), results);
  objective.setType(
      builder.getFunctionType(types, ValueRange(results).getTypes()));
  return true;
}
