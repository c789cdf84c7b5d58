"""JAX's persistent compilation cache: a script's second run starts warm. FUNCGRAD_CACHE=off turns it off."""

from __future__ import annotations

import jax

from funcgrad._base.config import settings


def set_up() -> None:
    """Point JAX at the cache folder, unless the script has chosen one itself. Done when the first program runs."""
    if settings.cache is None or getattr(jax.config, "jax_compilation_cache_dir", None):
        return
    try:
        settings.cache.mkdir(parents=True, exist_ok=True)
    except OSError:
        return  # a home that cannot be written to costs warm starts, nothing else
    jax.config.update("jax_compilation_cache_dir", str(settings.cache))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
