//===- files.h - The files that pages consist of ------------------*- C -*-===//

#ifndef HFTA_SRC_REPORT_FILES_H
#define HFTA_SRC_REPORT_FILES_H

/// The text of each file, with a final 0.
extern const char hfta_report_style[], hfta_report_plot_style[],
    hfta_report_plot[], hfta_report_runs[], hfta_report_curves[],
    hfta_report_charts[], hfta_report_step[], hfta_report_main[];

#endif // HFTA_SRC_REPORT_FILES_H
