"""Record PyTorch's orders into `recorded/orders.json`: python -m tests.data.record_orders (with torch installed)."""

from __future__ import annotations

import json
from pathlib import Path

import torch
import torch.utils.data

from tests.data.orders import ORDERS

if __name__ == "__main__":
    orders = {order.__name__: order(torch) for order in ORDERS}
    text = json.dumps({"torch": torch.__version__.split("+")[0], "orders": orders})
    (Path(__file__).parent / "recorded" / "orders.json").write_text(text + "\n")
