//===- JobBuilder.h - Builds modules of analyzed jobs -----------*- C++ -*-===//

#ifndef HFTA_LIB_LANGUAGE_BUILDING_JOBBUILDER_H
#define HFTA_LIB_LANGUAGE_BUILDING_JOBBUILDER_H

#include "Analysis/JobAnalyzer.h"
#include "Building/BodyBuilder.h"
#include "Building/SampleBuilder.h"
#include "Hfta/Import/Onnx/Import.h"
#include "Hfta/Language/Objectives.h"

namespace mlir::hfta::language {

/// An input of a model before it is bound to a field. `axes` doesn't include
/// the batch axis, axis 0.
struct Port {
  std::string name;
  Type elementType;
  bool hasShape = true;
  bool isScalar = false; ///< whether it lacks a batch axis
  std::string batch;     ///< the name of the batch axis; empty if it has none
  std::vector<OnnxAxis> axes;
};

/// Returns the file's inputs that no constant is bound to, without their batch
/// axes.
std::vector<Port> getPorts(const OnnxFile &file,
                           const llvm::StringMap<DenseElementsAttr> &constants);

class JobBuilder {
public:
  JobBuilder(MLIRContext *context, JobInfo &info,
             const FrontEndOptions &options, JobDiagnostics &diagnostics);

  OwningOpRef<ModuleOp> build(FrontEndFailure &result);

private:
  // Bindings.cpp: fields of the data block for the model's inputs.
  bool bindFields(ArrayRef<Port> ports);
  bool bindNamedFields(ArrayRef<Port> ports);
  bool bindImplicitFields(ArrayRef<Port> ports);
  bool refuseScalars(ArrayRef<Port> ports);
  bool checkBatchDim(StringRef name, int64_t size);
  bool checkDims(ArrayRef<Port> ports);
  std::optional<SmallVector<int64_t>> fitShape(const Port &port,
                                               const Twine &what,
                                               ArrayRef<int64_t> shape,
                                               llvm::SMRange range);
  const FieldInfo *findField(const NamedRange &name);
  std::vector<Port> getLanguagePorts(const ast::ModelDeclaration &declaration);
  llvm::SMRange getBindingRange(size_t index) const;

  // Prepare.cpp: the arithmetic that prepares fields.
  bool buildPrepare(ModelOp model);
  bool addMadeFields();
  Value applyFunction(SampleBuilder &samples, Value value,
                      const FieldCall &call);
  Type getWorkingType(const FieldInfo &field, Type prepared);
  Value buildSharesOf(SampleBuilder &samples, StringRef name, int64_t count);
  Value applySteps(SampleBuilder &samples, Value value, const FieldInfo &field,
                   Value partners, bool &ok);
  Value buildField(OpBuilder &builder, ValueRange arguments,
                   ArrayRef<DataField> made, unsigned index,
                   RankedTensorType type, bool &ok);
  std::vector<DataField> getMadeFields() const;
  RankedTensorType getFileType(const FieldInfo &field);
  RankedTensorType getMadeType(const DataField &made);
  SampleKeys readSampleKeys(TensorBuilder &tensors, Value keys, int64_t column);
  Type getPreparedType(const FieldInfo &field, func::FuncOp forward);
  Value applyStep(SampleBuilder &samples, Value value, const PrepareStep &step,
                  bool &ok);

  // JobBuilder.cpp: the module, and models of the language.
  bool buildModels(ModuleOp module);
  void noteCutLocations(ModuleOp module);
  bool buildLanguageModel(ModuleOp module);
  bool buildBody(ModelOp model, const ast::ModelDeclaration &declaration,
                 ArrayRef<InputBinding> inputs);
  bool chooseTrained(ModelOp model);
  bool checkModes(const ModeChooser &modes);
  bool checkExcluded(ModuleOp module);

  // JobObjectives.cpp: the loss and the metric.
  bool buildObjective(ModelOp model);
  /// The arguments of @objective: the outputs of the model's @forward, and
  /// then the fields.
  struct ModelValues {
    ModelOp model;
    func::FuncOp forward;
    ValueRange arguments;
    /// The part of the batch that the objective is of, one of JobInfo::times.
    int64_t part = 0;
    Value getField(unsigned index) const {
      return arguments[func::FuncOp(forward).getNumResults() + index];
    }
  };
  /// A tensor, and the field if it is one.
  struct Operand {
    Value value;
    std::optional<unsigned> field = std::nullopt;
  };
  /// The tensors that a loss or metric compares.
  struct Target {
    Value output;
    Operand label;
  };
  std::optional<unsigned> findOutput(const NamedRange &output,
                                     llvm::SMRange range, func::FuncOp forward);
  std::optional<unsigned> findLabel(const ObjectiveInfo &objective);
  Value cutBatch(Value ofBatch, int64_t part, TensorBuilder &tensors);
  std::optional<Operand> findOperand(const OperandInfo &operand, Value output,
                                     const ModelValues &values,
                                     TensorBuilder &tensors);
  std::optional<Target> findTarget(const ObjectiveInfo &objective,
                                   const ModelValues &values,
                                   TensorBuilder &tensors);
  Value readScalar(ModelOp model, TensorBuilder &tensors, PurposeAttr purpose,
                   Type elementType);
  RandomKeys readKeys(ModelOp model, TensorBuilder &tensors);
  bool checkLoss(const ObjectiveInfo &objective, const LossInfo &loss,
                 const ObjectiveArguments &arguments, const Target &target,
                 ObjectiveTypes types);
  Value buildCounts(const ModelValues &values, TensorBuilder &tensors);
  bool checkMixedLabel(const ObjectiveInfo &objective, const Target &target);
  Value buildElementWeights(const ObjectiveInfo &objective, Value losses,
                            const ModelValues &values, TensorBuilder &tensors);
  std::optional<Loss> buildLossOf(const ObjectiveInfo &objective,
                                  const Target &target,
                                  const ModelValues &values,
                                  TensorBuilder &tensors);
  bool noteForm(const ObjectiveInfo &metric, const MetricForm &form,
                JobMetric &noted);
  bool buildMetric(size_t index, const Target &implied, Value weights,
                   const ModelValues &values, OpBuilder &builder,
                   SmallVector<Value> &results);
  bool buildLossAndMetric(const ModelValues &values,
                          SmallVector<Value> &results);

  // ParameterGroups.cpp: the groups to which parameters belong.
  bool chooseGroups(ModuleOp module);

  // Layers.cpp: the layers by which learning rates fall.
  bool chooseLayers(ModuleOp module);

  // FieldLimits.cpp: the ranges of integers that fields may have.
  void limitField(unsigned index, int64_t first, int64_t count,
                  int64_t ignored);
  void limitOperand(unsigned index, const LossInfo &loss, llvm::StringRef name,
                    const ObjectiveArguments &arguments, ObjectiveTypes types);
  void limitFieldAfter(ArrayRef<PrepareStep> steps, unsigned index,
                       int64_t first, int64_t count, int64_t ignored);
  void limitOneHot();
  bool checkDraw();
  void limitIndices(ModelOp model);

  // OnnxModels.cpp: models from ONNX files.
  bool buildOnnxModels(ModuleOp module);
  std::unique_ptr<OnnxFile> openFile(const NamedRange &named);
  FailureOr<ModelOp> import(ModuleOp module, const OnnxFile &file,
                            const OnnxImportOptions &importOptions);
  bool importFile(ModuleOp module, const OnnxFile &file, int64_t index);
  bool fillTrainingOptions(const OnnxFile &file,
                           OnnxImportOptions &importOptions);
  bool checkBatch(const OnnxFile &file);
  bool fillInferenceOptions(const OnnxFile &file,
                            OnnxImportOptions &importOptions);
  bool bindDropoutRate(ModelOp model);

  // TurnsBuilder.cpp: a model of networks that take turns.
  friend class TurnsBuilder;
  bool buildTurns(ModuleOp module);

  SmallVector<int64_t> getCopies(int64_t file) const;
  TensorBuilder getTensors(OpBuilder &builder, StringRef name,
                           llvm::SMRange range);

  MLIRContext *context;
  JobInfo &info;
  const FrontEndOptions &options;
  JobDiagnostics &diagnostics;
  FrontEndFailure failure = FrontEndFailure::none;
  /// The type of floats whose type no file specifies.
  FloatType floatType;
  /// The field that each input of the model is bound to.
  std::vector<const FieldInfo *> boundFields;
  /// Whether Job::metrics has the forms of metrics, those of the first model.
  bool knowsForms = false;
  /// The known sizes of axes by name.
  llvm::StringMap<int64_t> sizes;
};

} // namespace mlir::hfta::language

#endif // HFTA_LIB_LANGUAGE_BUILDING_JOBBUILDER_H
