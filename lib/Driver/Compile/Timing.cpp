//===- Timing.cpp - Times of a compilation's steps ------------------------===//

#include "Compile/Timing.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::hfta;

void Timing::begin(llvm::StringRef step) {
  steps.push_back({step.str(), Clock::now()});
  if (progress) {
    *progress << "hftac: " << step << '\n';
    progress->flush();
  }
}

void Timing::print(llvm::raw_ostream &os) {
  if (steps.empty())
    return;
  Clock::time_point end = Clock::now();
  size_t width = 10;
  for (const Step &step : steps)
    width = std::max(width, step.name.size());
  auto row = [&](llvm::StringRef name, Clock::duration time) {
    os << llvm::left_justify(name, width)
       << llvm::formatv(" {0,8:F3} s\n",
                        std::chrono::duration<double>(time).count());
  };
  for (size_t i = 0; i < steps.size(); ++i)
    row(steps[i].name,
        (i + 1 < steps.size() ? steps[i + 1].begin : end) - steps[i].begin);
  row("total", end - steps.front().begin);
}
