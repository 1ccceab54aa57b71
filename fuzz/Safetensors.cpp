//===- Safetensors.cpp - Fuzz target: safetensors files and checkpoints ---===//

#include "hfta/safetensors.h"
#include "../unittests/Runtime/Fakes/FakeProgram.h"
#include "Files.h"
#include "Options.h"
#include "hfta/checkpoint.h"

#include <cstdlib>
#include <vector>

/// Reads the input as a safetensors file: copies every tensor, and aborts if
/// one can't be found by its name.
static void readTensors() {
  hfta_error error;
  hfta_safetensors *file = nullptr;
  if (hfta_safetensors_open("input", &file, &error) != HFTA_OK)
    return;
  for (size_t index = 0; index < hfta_safetensors_count(file); ++index) {
    const hfta_tensor_view *tensor = hfta_safetensors_at(file, index);
    auto *begin = static_cast<const char *>(tensor->data);
    std::vector<char>(begin, begin + tensor->bytes);
    if (hfta_safetensors_find(file, tensor->name) != tensor)
      abort();
  }
  (void)hfta_safetensors_find(file, "none");
  (void)hfta_safetensors_metadata(file, "format");
  hfta_safetensors_close(file);
}

/// Creates an instance with two copies, into which checkpoints are loaded.
static hfta_instance *makeInstance() {
  fake_options program = {};
  program.copies = 2;
  program.micro_batches = 1;
  hfta_options options = {};
  options.threads = 1;
  hfta_instance *instance = nullptr;
  if (hfta_instance_create(fake_program_make(&program), &options, &instance) !=
      HFTA_OK)
    abort();
  return instance;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static hfta_instance *const instance = makeInstance();
  setInput(data, size);
  readTensors();
  probeAndReadSamples(HFTA_DATA_SAFETENSORS, "first.weight");
  hfta_epoch_losses epochLosses[2];
  (void)hfta_checkpoint_load(instance, "step-00000001", epochLosses);
  return 0;
}
