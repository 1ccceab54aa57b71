//===- files.c - The files that pages consist of --------------------------===//

#include "report/files.h"

/// Embeds a file as the text SYMBOL.
#define HFTA_EMBED(SYMBOL, FILE)                                               \
  __asm__(".pushsection .rodata." #SYMBOL ",\"a\",@progbits\n"                 \
          ".globl " #SYMBOL "\n"                                               \
          ".hidden " #SYMBOL "\n" #SYMBOL ":\n"                                \
          ".incbin \"" FILE "\"\n"                                             \
          ".byte 0\n"                                                          \
          ".popsection\n")

HFTA_EMBED(hfta_report_style, HFTA_REPORT_FILES "/page.css");
HFTA_EMBED(hfta_report_runs, HFTA_REPORT_FILES "/runs.js");
HFTA_EMBED(hfta_report_curves, HFTA_REPORT_FILES "/curves.js");
HFTA_EMBED(hfta_report_charts, HFTA_REPORT_FILES "/charts.js");
HFTA_EMBED(hfta_report_step, HFTA_REPORT_FILES "/step.js");
HFTA_EMBED(hfta_report_main, HFTA_REPORT_FILES "/main.js");
HFTA_EMBED(hfta_report_plot, HFTA_PLOT_FILES "/uPlot.iife.min.js");
HFTA_EMBED(hfta_report_plot_style, HFTA_PLOT_FILES "/uPlot.min.css");
