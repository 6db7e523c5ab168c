"""The network of a model of ours, run by PyTorch."""
