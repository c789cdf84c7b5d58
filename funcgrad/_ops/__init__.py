"""Floor 1, what: the table of ops. A row is a pure JAX function; importing this package fills the table."""
from funcgrad._ops import activation as activation
from funcgrad._ops import softmax as softmax
from funcgrad._ops import cross_entropy as cross_entropy
