# The version of Hfta. Everything that reports it takes it from here: hftac, the
# programs that it makes, and the installed package.
set(HFTA_VERSION 0.1.0)
