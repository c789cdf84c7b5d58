"""torch.ao.nn: modules of quantised models."""
