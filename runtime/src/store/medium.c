//===- medium.c - Opens a medium and its layers ---------------------------===//

#include "store/media.h"

#include <string.h>

/// Returns whether the layer's name, of `length` characters, is `name`.
static bool is_called(const char *layer, size_t length, const char *name) {
  return strlen(name) == length && memcmp(layer, name, length) == 0;
}

/// Opens the layer at the beginning of `layer`, a list separated by commas,
/// around `*medium`. The layer "memory" adds nothing, as hfta_medium_open has
/// handled it. `*medium` becomes the new layer, or stays if that fails.
static hfta_status add_layer(const char *layer, hfta_medium **medium,
                             hfta_error *error) {
  size_t length = strcspn(layer, "=,");
  const char *text = layer[length] == '=' ? layer + length + 1 : "";
  hfta_medium *outer = *medium;
  hfta_status status = HFTA_OK;
  if (is_called(layer, length, "throttled"))
    status = hfta_throttled_medium_open(*medium, text, &outer, error);
  else if (is_called(layer, length, "faulty"))
    status = hfta_faulty_medium_open(*medium, text, &outer, error);
  else if (!is_called(layer, length, "memory"))
    status = hfta_fail(error, HFTA_USAGE,
                       "store '%s': expected memory, throttled=RATE or "
                       "faulty=KIND:NUMBER",
                       layer);
  *medium = outer;
  return status;
}

/// Returns whether the list of layers has "memory", which replaces the file by
/// memory.
static bool is_in_memory(const char *layers) {
  for (const char *at = layers; *at; at += *at == ',') {
    size_t length = strcspn(at, ",");
    if (is_called(at, length, "memory"))
      return true;
    at += length;
  }
  return false;
}

hfta_status hfta_medium_open(const hfta_medium_options *options,
                             hfta_medium **out, hfta_error *error) {
  const char *layers = options->layers ? options->layers : "";
  *out = NULL;
  hfta_status status = is_in_memory(layers)
                           ? hfta_memory_medium_open(options, out, error)
                           : hfta_file_medium_open(options, out, error);
  for (const char *at = layers; *at && status == HFTA_OK;) {
    status = add_layer(at, out, error);
    at += strcspn(at, ",");
    at += *at == ',';
  }
  if (status == HFTA_OK)
    return HFTA_OK;
  hfta_medium_close(*out);
  *out = NULL;
  return status;
}
