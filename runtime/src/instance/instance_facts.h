//===- instance_facts.h - What a training asks of its instance ----*- C -*-===//

#ifndef HFTA_SRC_INSTANCE_INSTANCE_FACTS_H
#define HFTA_SRC_INSTANCE_INSTANCE_FACTS_H

#include "hfta/communicator.h"
#include "hfta/instance.h"
#include "hfta/store.h"
#include "store/store_rates.h"
#include "workload/memory_plan.h"

/// Returns the memory that the instance's rank uses for its workload.
hfta_memory_plan hfta_instance_memory(const hfta_instance *instance);

/// Sets whether tasks may overlap with transfers to and from the store. At
/// first they do.
void hfta_instance_set_overlap(hfta_instance *instance, bool overlaps);

/// Returns how many bytes the rank's workers have read from their stores, and
/// written, so far.
hfta_store_traffic hfta_instance_store_traffic(const hfta_instance *instance);

/// Measures the speed of the first worker's store. No other call may be in
/// flight. `*out` becomes zeros if nothing is spilled.
hfta_status hfta_instance_measure_store(hfta_instance *instance,
                                        hfta_store_rates *out,
                                        hfta_error *error);

/// Returns a note for the user about the medium to which the rank's workers
/// spill, as static text, or NULL.
const char *hfta_instance_store_note(const hfta_instance *instance);

/// Returns an array that says which micro-batches the rank's workers read. It
/// has a value for each data field and each micro-batch of a step, field by
/// field, and belongs to the instance.
const bool *hfta_instance_reads(const hfta_instance *instance);

/// Says that all batches from now on have a pointer for each of
/// hfta_program_field_count fields, as those of a feed have. Otherwise they
/// have only the fields of the data block.
void hfta_instance_take_all_fields(hfta_instance *instance);

/// Returns the instance's communicator, which has all ranks that run the
/// program.
hfta_communicator *hfta_instance_communicator(hfta_instance *instance);

#endif // HFTA_SRC_INSTANCE_INSTANCE_FACTS_H
