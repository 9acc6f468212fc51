"""One cell as tensors: the operands, what the kernel means in PyTorch's terms, attention in float32, and the pairs that count."""
import math

import torch

REL_L2_LIMIT = 8e-3  # 16-bit probabilities and output cost about 3e-3
LSE_LIMIT = 1e-2


def full(p):
    return None, None


def causal(p):
    return lambda b, h, i, j: i >= j, None


def window(p):
    width = p["W"]
    return lambda b, h, i, j: (i >= j) & (i - j < width), None


def alibi(p):
    slope = p["slope"]
    return causal(p)[0], lambda s, b, h, i, j: s + slope[h] * (j - i)


def softcap(p):
    cap = p["cap"]
    return causal(p)[0], lambda s, b, h, i, j: cap * torch.tanh(s / cap)


def prefix(p):
    length = p["plen"]
    return lambda b, h, i, j: (j < length[b]) | (i >= j), None


def documents(p):
    doc = p["doc"]
    return lambda b, h, i, j: (doc[i] == doc[j]) & (i >= j), None


def global_window(p):
    width, first = p["W"], p["P"]
    return lambda b, h, i, j: (i >= j) & ((i - j < width) | (j < first)), None


# Each gives (mask, score) from a cell's parameters: mask(b, h, i, j) says whether a pair counts, score(s, b, h, i, j) changes a scaled score;
# None where there is nothing to say.
KERNELS = {f.__name__: f for f in (full, causal, window, alibi, softcap, prefix, documents, global_window)}
TYPES = {"bf16": torch.bfloat16, "f16": torch.float16}


class Problem:
    """`kernel`, `parameters` (numbers, and tensors on the device), `q`, `k`, `v`, `o`: [B, H, S, D], `lse`: [B, H, S]."""

    def __init__(self, cell, device, parameter_types):
        torch.manual_seed(0)
        self.kernel, self.d, self.s = cell["kernel"], cell["d"], cell["s"]
        self.batch, self.heads = cell["sizes"]["B"], cell["sizes"]["H"]
        self.scale = self.d ** -0.5
        self.q, self.k, self.v = (torch.randn(self.batch, self.heads, self.s, self.d, device=device, dtype=TYPES[cell["dtype"]])
                                  for _ in range(3))
        self.o = torch.full_like(self.q, math.nan)
        self.lse = torch.full(self.q.shape[:3], math.nan, device=device)
        self.parameters = {
            name: torch.tensor(value, device=device, dtype=parameter_types[name]) if isinstance(value, list) else value
            for name, value in cell["parameters"].items()}
        self.mask, self.score = KERNELS[self.kernel](self.parameters)

    def tokens_first(self):
        """q, k, v as contiguous [B, S, H, D]."""
        return [t.transpose(1, 2).contiguous() for t in (self.q, self.k, self.v)]

    def live_pairs(self):
        """Pairs of query and key that the mask leaves, over all batch entries and heads."""
        if self.mask is None:
            return self.batch * self.heads * self.s * self.s
        keys = torch.arange(self.s, device=self.q.device)
        live = sum(int(self.mask(b, 0, rows[:, None], keys[None]).sum()) for b in range(self.batch) for rows in keys.split(1024))
        return live * self.heads

    def flops(self):
        """Of the two products, for the pairs that count."""
        return 4.0 * self.d * self.live_pairs()

    def reference(self, b, h, rows):
        """Attention in float32 of some rows of one head: (o, lse)."""
        q, k, v = (t[b, h].float() for t in (self.q, self.k, self.v))
        i, j = rows[:, None], torch.arange(self.s, device=q.device)[None]
        scores = q[rows] @ k.T * self.scale
        if self.score:
            scores = self.score(scores, b, h, i, j)
        if self.mask:
            scores = scores.masked_fill(~self.mask(b, h, i, j), -math.inf)
        return scores.softmax(-1) @ v, scores.logsumexp(-1)

    def error(self, o, lse=None):
        """How far an output is from attention in float32: (relative L2 error of o, largest error of lse or None, what is wrong or None)."""
        if o.shape != self.o.shape:
            return None, None, f"the output has shape {list(o.shape)}, expected {list(self.o.shape)}"
        if not all(bool(torch.isfinite(t).all()) for t in (o, lse) if t is not None):
            return None, None, "the output has values that are not finite"
        edge = min(128, self.s)
        rows = torch.cat([torch.arange(edge), torch.randint(0, self.s, (256,)), torch.arange(self.s - edge, self.s)]).to(o.device)
        worst, worst_lse = 0.0, None if lse is None else 0.0
        for b, h in {(0, 0), (self.batch // 2, self.heads // 2), (self.batch - 1, self.heads - 1)}:
            want, want_lse = self.reference(b, h, rows)
            worst = max(worst, ((o[b, h, rows].float() - want).norm() / want.norm()).item())
            if lse is not None:
                worst_lse = max(worst_lse, (lse[b, h, rows].float() - want_lse).abs().max().item())
        if not worst <= REL_L2_LIMIT:
            return worst, worst_lse, f"o is off by {worst:.1e} (relative L2), expected at most {REL_L2_LIMIT:.0e}"
        if lse is not None and not worst_lse <= LSE_LIMIT:
            return worst, worst_lse, f"lse is off by {worst_lse:.1e}, expected at most {LSE_LIMIT:.0e}"
        return worst, worst_lse, None
