# The version of Hfta. All that says it has it from here: hftac, the programs that it
# makes, and the installed package.
set(HFTA_VERSION 0.1.0)
