//===- target.h - What the runtime knows of a target ------------*- C -*-===//
//
// A target is what a program's kernels are compiled for. Everything in which
// programs for different targets differ is in a row of the table of targets
// (hfta_targets); the program has the row's name. Other files ask the row, and
// never which target it is.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DEVICE_TARGET_H
#define HFTA_SRC_DEVICE_TARGET_H

#include "hfta/device.h"

#include <stdbool.h>

/// A row of the table of targets.
typedef struct hfta_target {
  const char *name;                    ///< as in hfta_program.target
  const hfta_device_functions *device; ///< the kind of device that runs its
                                       ///< kernels
  const char *default_device; ///< the device of commands without --device
  const char *device_help;    ///< help of the option --device
  /// Help of --device for a command that only measures schedules, too.
  const char *measuring_device_help;
  const char *noun; ///< its device in messages, such as "a GPU"
  /// Whether kernels are symbols in the program's images
  /// (hfta_program.images); otherwise they are functions of the program.
  bool has_images;
  /// Whether its device is the host: kernels run on the host's processor, in
  /// the host's memory and within its limits. If not, the host can do some work
  /// without the device, such as an export of what a checkpoint has.
  bool is_host;
  /// Whether a task runs for all of a schedule's copies at once, on none of the
  /// host's threads; otherwise threads share a turn of as many copies.
  bool all_at_once;
  /// Whether several trainings can share its devices (seats).
  bool has_seats;
  /// How many steps may be posted to a device while it works on one.
  uint32_t steps_ahead;
} hfta_target;

/// Ends a row's `measuring_device_help`.
#define HFTA_PACED_HELP                                                        \
  "paced:COSTS.json, on which a task computes nothing but\n"                   \
  "takes the time that --phases --json has measured"

/// All targets. The first is the host, the default device of the second has a
/// number, and the last entry is NULL.
extern const hfta_target *const hfta_targets[];

/// Returns the row of a program's target. NULL if there is none, which a
/// program that was checked (hfta_target_check) excludes.
const hfta_target *hfta_target_of(const hfta_program *program);

/// Checks that a program has this runtime's ABI, and a target that is in the
/// table. HFTA_INTERNAL otherwise. Must be called before anything else is read
/// from the program.
hfta_status hfta_target_check(const hfta_program *program, hfta_error *error);

/// Returns the target whose kernels run on a kind of device; NULL if the kind
/// belongs to no target.
const hfta_target *hfta_target_of_kind(const hfta_device_functions *kind);

#endif // HFTA_SRC_DEVICE_TARGET_H
