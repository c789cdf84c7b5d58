"""torch.version: what scripts print. There is no CUDA build to speak of: XLA brings its own."""

__version__ = "0.1.0"
cuda = hip = debug = git_version = None
