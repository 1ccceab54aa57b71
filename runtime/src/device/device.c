//===- device.c - Opens a device by its name ------------------------------===//

#include "device/target.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/// Splits a text such as "cpu" or "cpu:0" into a kind and an index, which
/// defaults to 0. Returns the length of the kind; 0 if the text is malformed.
static size_t parse_name(const char *text, int *out_index) {
  size_t length = strcspn(text, ":");
  *out_index = 0;
  if (text[length] == '\0')
    return length;
  char *end;
  const char *digits = text + length + 1;
  long index = strtol(digits, &end, 10);
  if (*digits < '0' || *digits > '9' || *end != '\0' || index > 1023)
    return 0;
  *out_index = (int)index;
  return length;
}

/// Returns whether `text` names a device of this kind.
static bool names(const char *text, const hfta_device_functions *kind) {
  size_t length = strcspn(text, ":");
  return strlen(kind->kind) == length && strncmp(kind->kind, text, length) == 0;
}

const hfta_device_functions *hfta_device_find(const char *text) {
  for (size_t i = 0; hfta_device_kinds[i]; ++i)
    if (names(text, hfta_device_kinds[i]))
      return hfta_device_kinds[i];
  for (size_t i = 0; hfta_targets[i]; ++i)
    if (names(text, hfta_targets[i]->device))
      return hfta_targets[i]->device;
  return NULL;
}

/// Returns whether a kind of device runs the kernels of a target. Kinds that
/// belong to no target run those of all.
static bool runs(const hfta_device_functions *kind, const hfta_target *target) {
  return kind == target->device || !hfta_target_of_kind(kind);
}

/// Opens a device of a kind that takes a file, given as "KIND:FILE".
static hfta_status open_by_file(const hfta_device_functions *functions,
                                const char *text, hfta_device_options *options,
                                hfta_device **out, hfta_error *error) {
  size_t length = strlen(functions->kind);
  if (text[length] == '\0' || text[length + 1] == '\0')
    return hfta_fail(error, HFTA_USAGE,
                     "device '%s': expected a file, as in %s:costs.json", text,
                     functions->kind);
  options->file = text + length + 1;
  return functions->open(options, out, error);
}

hfta_status hfta_device_open(const char *text,
                             const hfta_device_options *options,
                             hfta_device **out, hfta_error *error) {
  *out = NULL;
  hfta_device_options own = *options;
  const hfta_device_functions *functions = hfta_device_find(text);
  if (functions && functions->takes_file)
    return open_by_file(functions, text, &own, out, error);
  if (parse_name(text, &own.index) == 0)
    return hfta_fail(error, HFTA_USAGE,
                     "device '%s': expected %s, or a kind and a number as in "
                     "%s",
                     text, hfta_targets[0]->default_device,
                     hfta_targets[1]->default_device);
  const hfta_target *target =
      options->program ? hfta_target_of(options->program) : hfta_targets[0];
  if (functions && runs(functions, target))
    return functions->open(&own, out, error);
  return hfta_fail(error, HFTA_UNSUPPORTED,
                   "device '%s' is not available: this program was compiled "
                   "for %s",
                   text, target->name);
}

void hfta_device_close(hfta_device *device) {
  if (device)
    device->functions->close(device);
}
