//===- TestJobs.cpp - Jobs compiled in memory -----------------------------===//

#include "TestJobs.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::hfta;

const char *const hfta_test::kSmallJob = R"(model net(x: f32[batch, 4]) {
  return linear(x, 3)
}
data d {
  x: f32[4], label: u8
  train x = npy("x.npy"), label = npy("y.npy")
}
train job {
  model net(x)
  data d, batch = 8
  loss cross_entropy(net, label)
  optimizer sgd(lr = 0.1)
}
)";

hfta_test::CompiledJob hfta_test::compile(llvm::StringRef text,
                                          const JobOptions &options,
                                          const FrontEndOptions &frontEnd) {
  CompiledJob job;
  job.sources = std::make_unique<llvm::SourceMgr>();
  job.context = std::make_unique<MLIRContext>();
  llvm::raw_string_ostream os(job.messages);
  SourceMgrDiagnosticHandler handler(*job.sources, job.context.get(), os);
  JobDiagnostics diagnostics(*job.sources, os);
  ast::JobFile file;
  if (!text.empty()) {
    unsigned buffer = job.sources->AddNewSourceBuffer(
        llvm::MemoryBuffer::getMemBufferCopy(text, "job.hfta"), llvm::SMLoc());
    file = parseJobFile(buffer, diagnostics);
  }
  addJobOptions(file, options, diagnostics);
  job.module = buildJobModule(job.context.get(), file, frontEnd, diagnostics,
                              job.failure);
  EXPECT_EQ(!job.module, job.failure != FrontEndFailure::none);
  EXPECT_EQ(!job.module, job.messages.find("error: ") != std::string::npos);
  return job;
}

std::string hfta_test::replaceIn(llvm::StringRef part,
                                 llvm::StringRef replacement) {
  std::string text = kSmallJob;
  size_t position = text.find(part.str());
  EXPECT_NE(position, std::string::npos) << part.str();
  if (position != std::string::npos)
    text.replace(position, part.size(), replacement.str());
  return text;
}

std::string hfta_test::getErrors(llvm::StringRef part,
                                 llvm::StringRef replacement) {
  return compile(replaceIn(part, replacement)).messages;
}
