//===- search_commands.c - The commands of programs with a search ---------===//

#include "command_line/trials/search_commands.h"

#include "command_line/trials/saved_trial.h"
#include "command_line/trials/search_info.h"
#include "command_line/trials/train_search.h"

const struct hfta_search_commands hfta_search_commands = {
    .train = hfta_train_search,
    .replay = hfta_replay_trial,
    .list = hfta_list_trials,
    .choose = hfta_choose_array,
    .load = hfta_load_trial,
    .print = hfta_print_search,
    .put = hfta_put_search};
