//===- Streams.cpp - Commands of the emulated GPU -------------------------===//

#include "Emulation.h"

#include <algorithm>

using namespace emulation;

Device::Device() : random(getSettings().seed) {}

Device &Device::get() {
  // The device is never destroyed, as programs may end without destroying their
  // streams, events and modules.
  static auto *device = new Device();
  return *device;
}

void Device::push(Stream &stream, Command command) {
  stream.commands.push_back(std::move(command));
}

bool Device::canRun(const Stream &stream) const {
  if (stream.commands.empty())
    return false;
  const Command &command = stream.commands.front();
  // After a failure `step` discards commands, so they needn't wait.
  return failure != kSuccess || !command.awaited ||
         command.awaited->happened >= command.times;
}

void Device::step(Stream &stream) {
  Command command = std::move(stream.commands.front());
  stream.commands.pop_front();
  if (!command.work || failure != kSuccess)
    return;
  memory.open(!command.ofHost);
  failure = command.work();
  memory.open(false);
}

bool Device::stepAny() {
  std::vector<Stream *> ready;
  for (const std::unique_ptr<Stream> &stream : streams)
    if (canRun(*stream))
      ready.push_back(stream.get());
  if (ready.empty())
    return false;
  step(*ready[random() % ready.size()]);
  return true;
}

hfta_cu_result Device::finish(Stream &stream) {
  while (!stream.commands.empty())
    if (!stepAny())
      return failure = kUnknown;
  return failure;
}

hfta_cu_result Device::finish(const Event &event) {
  while (failure == kSuccess && event.happened < event.recorded)
    if (!stepAny())
      return failure = kUnknown;
  return failure;
}
