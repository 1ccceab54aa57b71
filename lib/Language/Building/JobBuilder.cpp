//===- JobBuilder.cpp - Builds modules of analyzed jobs -------------------===//

#include "Building/JobBuilder.h"
#include "Analysis/Packing.h"
#include "Building/ObjectiveBuilding.h"
#include "Hfta/Dialect/Hfta/IR/Training.h"
#include "Hfta/Dialect/Hfta/Job/LossTerms.h"
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
  if (info.isSumOfTerms())
    writeLossTerms(
        *module, SmallVector<LossTerm>(
                     llvm::map_range(info.terms, [](const LossTermInfo &term) {
                       return LossTerm{term.name, term.weight, term.turn};
                     })));
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
  bool ok = info.whole         ? buildTurns(module)
            : info.model->onnx ? buildOnnxModels(module)
                               : buildLanguageModel(module);
  if (!ok || !info.job.training)
    return ok;
  collectModalNodes(module, info.job.copies);
  for (ModelOp model : module.getOps<ModelOp>()) {
    ok = ok && buildPrepare(model) && buildObjective(model);
    if (ok)
      limitIndices(model);
  }
  if (ok)
    limitOneHot();
  return ok && checkExcluded(module) && checkDraw() && chooseGroups(module) &&
         chooseLayers(module) && addMadeFields();
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

/// Checks that the patterns of `evaluation_mode` and `training_mode` have an
/// effect.
bool JobBuilder::checkModes(const ModeChooser &modes) {
  SmallVector<StringRef> names = modes.getNames();
  return modes.check([&](bool isTraining, size_t index, const Twine &message) {
    const NamedRange &pattern =
        (isTraining ? info.trainingMode : info.evaluationMode)[index];
    diagnostics.error(pattern.range, message,
                      names.empty()
                          ? "leave the clause out"
                          : suggest(pattern.name, names, "names are"));
  });
}

bool JobBuilder::buildLanguageModel(ModuleOp module) {
  std::vector<Port> ports = getLanguagePorts(*info.model);
  if (diagnostics.hasErrors() || !bindFields(ports))
    return false;
  std::vector<InputBinding> inputs;
  bool ok = true;
  for (const auto &[index, port] : llvm::enumerate(ports)) {
    const FieldInfo &field = *boundFields[index];
    std::optional<SmallVector<int64_t>> shape =
        fitShape(port, "field '" + field.name + "'", field.preparedShape,
                 getBindingRange(index));
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
  return buildBody(model, *info.model, inputs);
}

/// Builds @forward of a model of the language, and decides what is trained, and
/// which nodes are in evaluation mode.
bool JobBuilder::buildBody(ModelOp model,
                           const ast::ModelDeclaration &declaration,
                           ArrayRef<InputBinding> inputs) {
  OpBuilder builder(context);
  model.getBody().emplaceBlock();
  BodyBuilder body(builder, model, info, declaration, diagnostics);
  body.sizes = sizes;
  for (const ast::Binding &input : declaration.inputs)
    if (input.type && !input.type->dimensions.empty())
      body.sizes[input.type->dimensions.front().name.name] =
          info.getNetworkBatch();
  if (!body.build(inputs))
    return false;
  setModalNodes(model, body.getModes().getNodes());
  return chooseTrained(model) && checkModes(body.getModes());
}
