//===- JobOrder.h - The order that a job's stages work in -------*- C++ -*-===//
//
// Converts between a job, which names an order or lists it, and the orders of
// all workers that lib/Planning works with. A stage of a job is a position of
// the planner's pipeline, and a block of the job is a stage there.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_JOBORDER_H
#define HFTA_DIALECT_HFTA_IR_JOBORDER_H

#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Planning/Order.h"

namespace mlir::hfta {

/// Returns the pipeline that a job's cuts, replicas, groups and chunks make.
planning::PipelineShape getPipelineShape(const Job &job);

/// Makes a valid order of this pipeline the job's own: lists it in
/// Job::orderRows.
void setOrder(Job &job, const planning::Order &order);

/// Makes the order of all workers of a job with several stages. An error says
/// why there is none; `rows` is what its message calls a list of actions.
llvm::Expected<planning::Order> makeOrder(const Job &job,
                                          llvm::StringRef rows = "order_rows");

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_JOBORDER_H
