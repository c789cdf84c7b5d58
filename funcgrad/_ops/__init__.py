"""Floor 1, what: the table of ops. A row is a pure JAX function; importing this package fills the table."""

from funcgrad._ops import activation as activation
from funcgrad._ops import alignment as alignment
from funcgrad._ops import arithmetic as arithmetic
from funcgrad._ops import attention as attention
from funcgrad._ops import average_pooling as average_pooling
from funcgrad._ops import bessel as bessel
from funcgrad._ops import bounds as bounds
from funcgrad._ops import checkpointing as checkpointing
from funcgrad._ops import comparison as comparison
from funcgrad._ops import contractions as contractions
from funcgrad._ops import convolution as convolution
from funcgrad._ops import copies as copies
from funcgrad._ops import creation as creation
from funcgrad._ops import cross_entropy as cross_entropy
from funcgrad._ops import cumulative as cumulative
from funcgrad._ops import decompositions as decompositions
from funcgrad._ops import differences as differences
from funcgrad._ops import distances as distances
from funcgrad._ops import embedding as embedding
from funcgrad._ops import folding as folding
from funcgrad._ops import fourier as fourier
from funcgrad._ops import grid as grid
from funcgrad._ops import grouped_products as grouped_products
from funcgrad._ops import half_gradients as half_gradients
from funcgrad._ops import half_precision as half_precision
from funcgrad._ops import histograms as histograms
from funcgrad._ops import indexing as indexing
from funcgrad._ops import interpolation as interpolation
from funcgrad._ops import kernels as kernels
from funcgrad._ops import ldl as ldl
from funcgrad._ops import linear_cross_entropy as linear_cross_entropy
from funcgrad._ops import loss_scaling as loss_scaling
from funcgrad._ops import losses as losses
from funcgrad._ops import margin_losses as margin_losses
from funcgrad._ops import matrix_exponential as matrix_exponential
from funcgrad._ops import moments as moments
from funcgrad._ops import native_norms as native_norms
from funcgrad._ops import normalization as normalization
from funcgrad._ops import norms as norms
from funcgrad._ops import padding as padding
from funcgrad._ops import parts as parts
from funcgrad._ops import pointwise as pointwise
from funcgrad._ops import polynomials as polynomials
from funcgrad._ops import pooling as pooling
from funcgrad._ops import powers as powers
from funcgrad._ops import products as products
from funcgrad._ops import pull_backs as pull_backs
from funcgrad._ops import quantizing as quantizing
from funcgrad._ops import rearranging as rearranging
from funcgrad._ops import recurrent as recurrent
from funcgrad._ops import reductions as reductions
from funcgrad._ops import scaled_products as scaled_products
from funcgrad._ops import scattering as scattering
from funcgrad._ops import segments as segments
from funcgrad._ops import shaping as shaping
from funcgrad._ops import softmax as softmax
from funcgrad._ops import solving as solving
from funcgrad._ops import sorting as sorting
from funcgrad._ops import sparse as sparse
from funcgrad._ops import special as special
from funcgrad._ops import spectrograms as spectrograms
from funcgrad._ops import views as views

from funcgrad._ops import memory_order as memory_order  # isort: skip # of the rows above

half_precision.fill()
half_gradients.fill()
kernels.fill()
