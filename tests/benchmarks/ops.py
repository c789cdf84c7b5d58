"""Measure many single ops, forward and backward, one after the other in one process of each engine.

    python -m tests.benchmarks.ops                        # everything, four minutes; what is slowest beside torch first
    python -m tests.benchmarks.ops --workloads grid unfold

`rows` measures a few with more care. This list is wide: it is for finding what no workload of `steps` would show. A run
that many others went before also tells what they leave behind, be it a full heap or a plan for other lengths.
"""

from __future__ import annotations

import importlib
import math
import time
from typing import Any

from tests.benchmarks.apart import chosen, measured_apart

SECONDS, WARM = 0.2, 4
# A name; the shapes of x, y and z; an expression of them, where F is nn.functional and i is 4,096 numbers below 50.
TABLE = """
sin                | 1024,1024                             | x.sin()
cos                | 1024,1024                             | x.cos()
tan                | 1024,1024                             | x.tan()
exp                | 1024,1024                             | x.exp()
log                | 1024,1024                             | x.abs().log()
log1p              | 1024,1024                             | x.abs().log1p()
sqrt               | 1024,1024                             | x.abs().sqrt()
tanh               | 1024,1024                             | x.tanh()
sigmoid            | 1024,1024                             | x.sigmoid()
erf                | 1024,1024                             | x.erf()
atan               | 1024,1024                             | x.atan()
atan2              | 1024,1024 1024,1024                   | torch.atan2(x, y)
asin               | 1024,1024                             | (x * 0.1).asin()
pow                | 1024,1024                             | x.abs() ** 1.7
square             | 1024,1024                             | x ** 2
relu               | 1024,1024                             | x.relu()
gelu               | 1024,1024                             | F.gelu(x)
silu               | 1024,1024                             | F.silu(x)
elu                | 1024,1024                             | F.elu(x)
softplus           | 1024,1024                             | F.softplus(x)
mish               | 1024,1024                             | F.mish(x)
leaky-relu         | 1024,1024                             | F.leaky_relu(x)
hardswish          | 1024,1024                             | F.hardswish(x)
logsigmoid         | 1024,1024                             | F.logsigmoid(x)
clamp              | 1024,1024                             | x.clamp(-1, 1)
where              | 1024,1024 1024,1024                   | torch.where(x > 0, x, y)
lerp               | 1024,1024 1024,1024                   | x.lerp(y, 0.3)
mul                | 1024,1024 1024,1024                   | x * y
div                | 1024,1024 1024,1024                   | x / (y.abs() + 1)
add-row            | 1024,1024 1024                        | x + y
lgamma             | 1024,1024                             | x.abs().lgamma()
digamma            | 256,1000                              | x.abs().digamma()
maximum            | 1024,1024 1024,1024                   | torch.maximum(x, y)
prelu              | 16,32,32,32 32                        | F.prelu(x, y)
glu                | 1024,1024                             | F.glu(x)
dropout            | 1024,1024                             | F.dropout(x)
sum                | 1024,1024                             | x.sum()
sum-0              | 1024,1024                             | x.sum(0)
sum-1              | 1024,1024                             | x.sum(1)
mean-images        | 16,32,32,32                           | x.mean((2, 3))
var                | 1024,1024                             | x.var(1)
std-0              | 1024,1024                             | x.std(0)
norm               | 1024,1024                             | x.norm()
norm-1             | 1024,1024                             | x.norm(dim=1)
amax               | 1024,1024                             | x.amax(1)
max-1              | 1024,1024                             | x.max(1).values
max-0              | 1024,1024                             | x.max(0).values
prod               | 256,1000                              | x.prod(1)
logsumexp          | 1024,1024                             | x.logsumexp(1)
softmax            | 1024,1024                             | x.softmax(1)
softmax-0          | 1024,1024                             | x.softmax(0)
log-softmax        | 1024,1024                             | x.log_softmax(1)
cumsum             | 256,1000                              | x.cumsum(1)
cumsum-0           | 256,1000                              | x.cumsum(0)
cumprod            | 256,1000                              | x.cumprod(1)
cummax             | 256,1000                              | x.cummax(1).values
logcumsumexp       | 64,200                                | x.logcumsumexp(1)
sort               | 256,1000                              | x.sort(1).values
topk               | 256,1000                              | x.topk(10, 1).values
median             | 256,1000                              | x.median(1).values
kthvalue           | 256,1000                              | x.kthvalue(7, 1).values
bucketize          | 1000 1000000                          | y * torch.bucketize(y.data, x.data.sort()[0]) + x[0]
quantile           | 256,1000                              | x.quantile(0.3, 1)
diff               | 256,1000                              | x.diff()
trapezoid          | 256,1000                              | torch.trapezoid(x)
transpose          | 1024,1024                             | x.t().contiguous()
permute            | 16,32,32,32                           | x.permute(0, 2, 3, 1).contiguous()
cat                | 1024,1024 1024,1024                   | torch.cat([x, y], 1)
stack              | 256,1000 256,1000                     | torch.stack([x, y], 1)
chunk              | 1024,1024                             | torch.cat(x.chunk(4, 1)[::-1], 1)
flip               | 1024,1024                             | x.flip(1)
roll               | 1024,1024                             | x.roll(3, 1)
repeat             | 256,1000                              | x.repeat(2, 2)
repeat-interleave  | 256,1000                              | x.repeat_interleave(3, 1)
expand             | 256,1                                 | x.expand(256, 1000) * 2
pad                | 16,32,32,32                           | F.pad(x, (1, 1, 1, 1))
pad-reflect        | 16,32,32,32                           | F.pad(x, (1, 1, 1, 1), mode='reflect')
tril               | 1024,1024                             | x.tril()
diagonal           | 64,100,100                            | x.diagonal(dim1=1, dim2=2)
diag-embed         | 256,1000                              | x[:, :100].diag_embed()
unfold-tensor      | 256,1000                              | x.unfold(1, 16, 4)
unfold             | 16,32,32,32                           | F.unfold(x, 3, padding=1)
fold               | 16,288,1024                           | F.fold(x, 32, 3, padding=1)
pixel-shuffle      | 16,32,32,32                           | F.pixel_shuffle(x, 2)
slice              | 1024,1024                             | x[:, 100:900:2]
row                | 1024,1024                             | x[3]
index              | 50,64                                 | x[i]
index-2            | 50,64                                 | x[i, i]
index-select       | 50,64                                 | x.index_select(0, i)
gather             | 50,4096                               | x.gather(0, i[None])
scatter-add        | 4096 50                               | y.scatter_add(0, i, x)
index-add          | 4096,64 50,64                         | y.index_add(0, i, x)
masked-fill        | 1024,1024                             | x.masked_fill(x > 0, 1.0)
mask               | 256,1000                              | x[x > 0]
take-along         | 256,1000                              | x.take_along_dim(x.argsort(1), 1)
embedding          | 50,128                                | F.embedding(i, x)
embedding-bag      | 50,128                                | F.embedding_bag(i.view(512, 8), x)
one-hot            | 4096,50                               | F.one_hot(i, 50) * x
meshgrid           | 500 500                               | torch.stack(torch.meshgrid(x, y, indexing='ij'))
matmul             | 512,512 512,512                       | x @ y
bmm                | 32,64,64 32,64,64                     | x @ y
linear             | 512,512 256,512 256                   | F.linear(x, y, z)
einsum             | 8,64,32 8,64,32                       | torch.einsum('bid,bjd->bij', x, y)
outer              | 1000 1000                             | torch.outer(x, y)
mv                 | 1024,1024 1024                        | x @ y
dot                | 100000 100000                         | x @ y
cdist              | 256,16 256,16                         | torch.cdist(x, y)
pdist              | 200,16                                | F.pdist(x)
kron               | 30,30 30,30                           | torch.kron(x, y)
bilinear           | 128,20 128,30 40,20,30                | F.bilinear(x, y, z)
cosine             | 256,1000 256,1000                     | F.cosine_similarity(x, y)
inv                | 64,64                                 | torch.linalg.inv(x)
solve              | 64,64 64,8                            | torch.linalg.solve(x, y)
cholesky           | 64,64                                 | torch.linalg.cholesky(x @ x.T + 64 * torch.eye(64))
svd                | 64,32                                 | torch.linalg.svdvals(x)
eigh               | 64,64                                 | torch.linalg.eigvalsh(x + x.T)
qr                 | 64,32                                 | torch.linalg.qr(x)[1]
det                | 32,8,8                                | torch.det(x)
matrix-exp         | 8,16,16                               | torch.matrix_exp(x)
fft                | 256,1000                              | torch.fft.rfft(x).abs()
stft               | 8,16000                               | torch.view_as_real(torch.stft(x, 400, return_complex=True))
conv2d             | 16,32,32,32 64,32,3,3                 | F.conv2d(x, y, padding=1)
conv1x1            | 16,32,32,32 64,32,1,1                 | F.conv2d(x, y)
conv-stride        | 16,32,32,32 64,32,3,3                 | F.conv2d(x, y, stride=2, padding=1)
depthwise          | 16,32,32,32 32,1,3,3                  | F.conv2d(x, y, padding=1, groups=32)
grouped            | 16,32,32,32 32,8,3,3                  | F.conv2d(x, y, padding=1, groups=4)
dilated            | 16,32,32,32 32,32,3,3                 | F.conv2d(x, y, padding=2, dilation=2)
conv-transpose     | 16,32,32,32 32,16,4,4                 | F.conv_transpose2d(x, y, stride=2, padding=1)
conv1d             | 16,32,200 64,32,5                     | F.conv1d(x, y)
conv3d             | 2,8,16,16,16 16,8,3,3,3               | F.conv3d(x, y, padding=1)
max-pool           | 16,32,32,32                           | F.max_pool2d(x, 2)
max-pool-3         | 16,32,32,32                           | F.max_pool2d(x, 3, 2, 1)
avg-pool           | 16,32,32,32                           | F.avg_pool2d(x, 2)
adaptive-avg       | 16,32,32,32                           | F.adaptive_avg_pool2d(x, 7)
adaptive-max       | 16,32,32,32                           | F.adaptive_max_pool2d(x, 7)
max-pool1d         | 16,32,1000                            | F.max_pool1d(x, 3, 2)
layer-norm         | 64,128,256 256 256                    | F.layer_norm(x, (256,), y, z)
batch-norm         | 16,32,32,32 32 32                     | F.batch_norm(x, None, None, y, z, training=True)
group-norm         | 16,32,32,32 32 32                     | F.group_norm(x, 8, y, z)
instance-norm      | 16,32,32,32                           | F.instance_norm(x)
rms-norm           | 64,128,256 256                        | F.rms_norm(x, (256,), y)
normalize          | 256,1000                              | F.normalize(x)
local-response     | 16,32,32,32                           | F.local_response_norm(x, 5)
attention          | 8,4,128,32 8,4,128,32 8,4,128,32      | F.scaled_dot_product_attention(x, y, z)
nearest            | 16,32,32,32                           | F.interpolate(x, scale_factor=2)
bilinear-up        | 16,32,32,32                           | F.interpolate(x, scale_factor=2, mode='bilinear')
bicubic-up         | 16,32,32,32                           | F.interpolate(x, scale_factor=2, mode='bicubic')
grid               | 8,16,32,32 8,32,32,2                  | F.grid_sample(x, y, align_corners=False)
grid-bicubic       | 8,16,32,32 8,32,32,2                  | F.grid_sample(x, y, mode='bicubic', align_corners=False)
cross-entropy      | 4096,50                               | F.cross_entropy(x, i)
cross-entropy-1000 | 1024,1000                             | F.cross_entropy(x, i[:1024])
cross-entropy-2d   | 4,50,32,32                            | F.cross_entropy(x, i.view(4, 32, 32))
smoothed           | 4096,50                               | F.cross_entropy(x, i, label_smoothing=0.1)
nll                | 4096,50                               | F.nll_loss(x, i)
bce                | 256,1000                              | F.binary_cross_entropy(x.sigmoid(), (x > 0).float())
bce-logits         | 256,1000                              | F.binary_cross_entropy_with_logits(x, (x > 0).float())
mse                | 256,1000 256,1000                     | F.mse_loss(x, y)
l1                 | 256,1000 256,1000                     | F.l1_loss(x, y)
smooth-l1          | 256,1000 256,1000                     | F.smooth_l1_loss(x, y)
kl                 | 256,1000 256,1000                     | F.kl_div(x.log_softmax(1), y.softmax(1), reduction='sum')
triplet            | 256,1000 256,1000 256,1000            | F.triplet_margin_loss(x, y, z)
ctc                | 50,9,10                               | F.ctc_loss(x, i[:81].view(9, 9) % 9 + 1, [50] * 9, [9] * 9)
"""
OPS = {
    name.strip(): (shapes, text.strip())
    for name, shapes, text in (line.split("|") for line in TABLE.strip().splitlines())
}


def measure(engine: str, workloads: str) -> dict[str, dict[str, float]]:
    """Run ops, whose names stand with commas between: seconds of the first run, least milliseconds of those after."""
    torch = importlib.import_module(engine)
    torch.manual_seed(0)
    found = {}
    for name in workloads.split(","):
        shapes, text = OPS[name]
        inputs = [torch.randn(*map(int, shape.split(","))).requires_grad_() for shape in shapes.split()]
        names = dict(zip("xyz", inputs, strict=False))
        names |= {"torch": torch, "F": torch.nn.functional, "i": torch.randint(0, 50, (4096,))}
        code = compile(text, name, "eval")
        upstream = torch.randn(eval(code, names).shape)
        runs, end = [], math.inf
        while time.perf_counter() < end:
            for x in inputs:
                x.grad = None
            start = time.perf_counter()
            eval(code, names).backward(upstream)
            inputs[0].grad.flatten()[0].item()
            runs.append(time.perf_counter() - start)
            if len(runs) == WARM:
                end = time.perf_counter() + SECONDS
        found[name] = {"first": runs[0], "ms": min(runs[WARM:]) * 1e3}
    return found


def main() -> None:
    """Print one row per op, what is slowest beside torch first."""
    workloads = ",".join(chosen(__doc__, OPS, measure))
    ours, torchs = (measured_apart("tests.benchmarks.ops", engine, workloads) for engine in ("funcgrad", "torch"))
    columns = ("vs torch", "ms", "torch ms", "first s", "torch first s")
    print(f"{'':20}" + "".join(f"{column:>14}" for column in columns))
    for name in sorted(ours, key=lambda name: torchs[name]["ms"] / ours[name]["ms"]):
        mine, its = ours[name], torchs[name]
        row: list[Any] = [mine["ms"] / its["ms"], mine["ms"], its["ms"], mine["first"], its["first"]]
        print(f"{name:20}" + "".join(f"{x:>14.2f}" for x in row), flush=True)


if __name__ == "__main__":
    main()
