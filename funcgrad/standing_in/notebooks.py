"""`%load_ext funcgrad` in IPython and Jupyter: `import torch` means funcgrad from then on."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from funcgrad._base.tracebacks import visible
from funcgrad.standing_in import install, install_in_children, uninstall


def load_ipython_extension(shell: Any) -> None:
    """Let `import torch` mean funcgrad, here and in processes that are started; tracebacks show a notebook's own lines.

    RuntimeError where a part of the real torch is imported already.
    """
    install()
    install_in_children()
    shell.set_custom_exc((Exception,), _show)


def unload_ipython_extension(shell: Any) -> None:
    """Let `import torch` mean torch again, if it is there, and show tracebacks whole."""
    uninstall()
    shell.set_custom_exc((), None)


def _show(
    shell: Any, kind: type[Exception], error: Exception, trace: TracebackType | None, tb_offset: int | None = None
) -> None:
    shell.showtraceback((kind, error, visible(error)), tb_offset=tb_offset)
