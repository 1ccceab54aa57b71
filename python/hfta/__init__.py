"""What Python has to do with Hfta: `hfta.export` writes PyTorch's modules as ONNX files that
train as in PyTorch, and `hfta.client` steers searches while they run. Neither is needed by
hftac or by the programs that it makes."""
