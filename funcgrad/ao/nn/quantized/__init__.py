"""torch.ao.nn.quantized: modules that compute with 8-bit weights."""
