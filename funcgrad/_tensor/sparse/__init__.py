"""Sparse tensors: values, and a pattern of where they stand. Importing this enters all that answers for them."""

from funcgrad._tensor.sparse import elementwise as elementwise
from funcgrad._tensor.sparse import folding as folding
from funcgrad._tensor.sparse import lookups as lookups
from funcgrad._tensor.sparse import making as making
from funcgrad._tensor.sparse import products as products
from funcgrad._tensor.sparse import shaping as shaping
