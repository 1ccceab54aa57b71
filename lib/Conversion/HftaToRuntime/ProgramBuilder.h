//===- ProgramBuilder.h - Builds the hfta_program of a module -*- C++ -*-===//
//
// Fills the structs of runtime/include/hfta/program.h, member by member.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_HFTATORUNTIME_PROGRAMBUILDER_H
#define HFTA_LIB_CONVERSION_HFTATORUNTIME_PROGRAMBUILDER_H

#include "TaskTables.h"

#include "Hfta/Dialect/Hfta/IR/VariableIndex.h"
#include "Hfta/Dialect/Hfta/Job/LossTerms.h"
#include "Hfta/Target/Target.h"
#include "hfta/abi.h"

namespace mlir::hfta {

/// Builds the table of a program. ProgramTable.cpp fills what follows from the
/// module, JobTables.cpp what the job says of data, numbers, losses and
/// metrics.
class ProgramBuilder {
public:
  ProgramBuilder(ModuleOp module, const Job &job, const Target &target)
      : module(module), job(job), target(target), tables(module),
        tasks(module, job, tables), symbols(module), variables(module),
        lossTerms(readLossTerms(module).value_or(std::vector<LossTerm>())) {}

  LogicalResult build(StringRef symbol);

private:
  void orderTensors();
  LogicalResult buildSegments();
  LogicalResult buildTensors();
  void buildData();
  void buildScheduledNumbers();
  uint32_t getFlags(VariableOp variable);
  /// Returns the index of a variable in the program's tensors; UINT32_MAX if
  /// there is no such variable.
  uint32_t indexOf(Purpose purpose, StringRef name = {}) const {
    VariableOp variable = variables.lookup(purpose, name);
    return variable ? tensorIndex.lookup(variable) : UINT32_MAX;
  }
  std::string getOwnName(VariableOp variable) const;
  /// Returns the table of some strings; null if there are none.
  FlatSymbolRefAttr texts(StringRef name,
                          const std::vector<std::string> &values);
  /// Returns whether samples are drawn by the classes of the field.
  bool isDrawnBy(const DataField &field);
  StructRecord<hfta_data_source> getSource(const DataSource &source);
  StructRecord<hfta_number_schedule> getSchedule(const Schedule &schedule);
  FlatSymbolRefAttr getStages();
  void setMemory();
  Purpose getLossPurpose(StringRef term = {});
  void buildLossTerms();
  void buildModalNodes();
  void buildMetrics();
  StructRecord<hfta_roles> getRoles();
  StructRecord<hfta_export_template> getExportTemplate(DictionaryAttr model);
  void buildSettings();
  std::vector<std::string> getOptimizers() const;
  FlatSymbolRefAttr getOptimizerOfCopy();
  FlatSymbolRefAttr getGroups(VariableOp variable);
  uint32_t getAverage(VariableOp variable);
  void setJob();
  void buildModels();
  std::string getAttribute(StringRef name) {
    auto text = module->getAttrOfType<StringAttr>(name);
    return text ? text.getValue().str() : std::string();
  }
  /// Returns an attribute's text, which is empty if the attribute is missing.
  FlatSymbolRefAttr getText(DictionaryAttr attributes, StringRef name) {
    auto value = attributes.getAs<StringAttr>(name);
    return text(value ? value.getValue() : StringRef());
  }
  FlatSymbolRefAttr text(StringRef value) { return tables.string(value); }

  ModuleOp module;
  const Job &job;
  const Target &target;
  ConstantTables tables;
  TaskTables tasks;
  SymbolTable symbols;
  VariableIndex variables;
  std::vector<LossTerm> lossTerms;
  SmallVector<VariableOp> tensors;
  DenseMap<Operation *, uint32_t> tensorIndex;
  int64_t blocks = 1;
  StructRecord<hfta_program> program;
  FlatSymbolRefAttr segmentTable, tensorTable, hyperTable, scheduledTable,
      fieldTable, inputTable, outputTable, modelTable, copyTable, settingTable;
  uint32_t segmentCount = 0, scheduledCount = 0, inputCount = 0,
           outputCount = 0, settingCount = 0;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATORUNTIME_PROGRAMBUILDER_H
