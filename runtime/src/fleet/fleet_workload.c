//===- fleet_workload.c - Trainings' times, for simulations ---------------===//

#include "fleet/fleet_workload.h"

#include "hfta/json.h"
#include "system/file.h"

#include <math.h>
#include <string.h>

static void put_real(hfta_json_writer *writer, const char *key, double value) {
  hfta_json_key(writer, key);
  hfta_json_number(writer, value, HFTA_F64);
}

/// Writes the list of a model's units, which has a single unit. Its time
/// includes loads from and stores to spilled memory.
static void write_unit(hfta_json_writer *writer, double seconds) {
  hfta_json_key(writer, "units");
  hfta_json_begin_array(writer);
  hfta_json_begin_object(writer);
  hfta_json_put_string(writer, "kind", "fl");
  hfta_json_put_integer(writer, "shard", 0);
  put_real(writer, "seconds", seconds);
  hfta_json_put_integer(writer, "bytes_in", 0);
  hfta_json_put_integer(writer, "bytes_out", 0);
  hfta_json_end_object(writer);
  hfta_json_end_array(writer);
}

/// Returns the length of a unit in seconds: as at a seat, or longer if all
/// models together would have more units than the simulator accepts.
static double choose_unit(const hfta_fleet *fleet) {
  enum {
    MOST_UNITS = 1 << 16
  }; // half of the simulator's limit, since each model may have one more unit
  double all = 0.0;
  for (int64_t i = 0; i < hfta_fleet_get_options(fleet)->models; ++i)
    all += hfta_fleet_measured(fleet, i).seconds;
  return fmax(HFTA_UNIT_SECONDS, all / MOST_UNITS);
}

static void write_model(hfta_json_writer *writer, const char *name,
                        const hfta_fleet_measure *measure, double unit) {
  double units = ceil(measure->seconds / unit);
  double steps = (double)measure->steps;
  units = units > steps ? steps : units;
  hfta_json_begin_object(writer);
  hfta_json_put_string(writer, "name", name);
  hfta_json_put_integer(writer, "batches", (int64_t)units);
  write_unit(writer, measure->seconds / units);
  hfta_json_end_object(writer);
}

static void write_workload(hfta_json_writer *writer, hfta_fleet *fleet) {
  const hfta_fleet_options *options = hfta_fleet_get_options(fleet);
  double unit = choose_unit(fleet);
  hfta_json_begin_object(writer);
  hfta_json_put_integer(writer, "devices", options->seats);
  put_real(writer, "read_bytes_per_second", 1e9);
  put_real(writer, "write_bytes_per_second", 1e9);
  hfta_json_put_boolean(writer, "double_buffer", true);
  hfta_json_key(writer, "models");
  hfta_json_begin_array(writer);
  for (int64_t i = 0; i < options->models; ++i) {
    hfta_fleet_measure measure = hfta_fleet_measured(fleet, i);
    if (measure.steps > 0 && measure.seconds > 0.0)
      write_model(writer, options->trainings[i].name, &measure, unit);
  }
  hfta_json_end_array(writer);
  hfta_json_end_object(writer);
  hfta_json_newline(writer);
}

static hfta_status write_file(const char *path, const char *text, size_t size,
                              hfta_error *error) {
  hfta_output *output;
  hfta_status status = hfta_output_open(path, &output, error);
  if (status != HFTA_OK)
    return status;
  status = hfta_output_write(output, text, size, error);
  if (status == HFTA_OK)
    return hfta_output_commit(output, error);
  hfta_output_discard(output);
  return status;
}

hfta_status hfta_fleet_write_workload(hfta_fleet *fleet, const char *path,
                                      hfta_error *error) {
  hfta_json_writer writer;
  size_t size = 0;
  hfta_json_to_memory(&writer);
  write_workload(&writer, fleet);
  hfta_status status = hfta_json_finish(&writer, error);
  const char *text = hfta_json_text(&writer, &size);
  if (status == HFTA_OK)
    status = write_file(path, text, size, error);
  hfta_json_release(&writer);
  return status;
}
