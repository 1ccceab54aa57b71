//===- JobOrder.h - The order that a job's stages work in -------*- C++ -*-===//
//
// Between a job, which names an order or lists it, and planning's orders of all
// workers. The stages of a job are the positions of a pipeline, its blocks
// their stages.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_JOBORDER_H
#define HFTA_DIALECT_HFTA_IR_JOBORDER_H

#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Planning/Order.h"

namespace mlir::hfta {

/// The pipeline that a job's cuts, replicas, groups and chunks make.
planning::PipelineShape getPipelineShape(const Job &job);

/// Makes a valid order of this pipeline the job's own: lists it in
/// Job::orderRows.
void setOrder(Job &job, const planning::Order &order);

/// What the workers of a job of several stages do. An error says why there is
/// no such order; `rows` is what it calls a list of actions.
llvm::Expected<planning::Order> makeOrder(const Job &job,
                                          llvm::StringRef rows = "order_rows");

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_JOBORDER_H
