"""PyTorch's own sample database of ops, `op_db`, run live against funcgrad; needs torch as oracle.

`python -m tests.ops.op_db` is the full run; `--help` lists how to narrow it. `tests/ops/test_op_db.py` takes few
samples an entry.
"""
