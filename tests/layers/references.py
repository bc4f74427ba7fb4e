"""Every registered layer written out step by step in NumPy float64, from its weights and eigenvalues alone."""

import numpy as np
from scipy.special import erf

SIGMA = {
    "identity": lambda h: h,
    "tanh": np.tanh,
    "sigmoid": lambda h: 1 / (1 + np.exp(-h)),
    "softplus": lambda h: np.logaddexp(0, h),
    "softsign": lambda h: h / (1 + np.abs(h)),
    "elu": lambda h: np.where(h > 0, h, np.expm1(np.minimum(h, 0))),
    "leaky_relu": lambda h: np.maximum(h, 0.01 * h),
    "relu": lambda h: np.maximum(h, 0),
    "hardtanh": lambda h: np.clip(h, -1, 1),
    "gelu": lambda h: h * (1 + erf(h / np.sqrt(2))) / 2,
    "silu": lambda h: h / (1 + np.exp(-h)),
}


def wide(pair, layer):
    """A stored weight as the float64 or complex128 number it stands for."""
    pair = np.asarray(pair, float)
    return pair if layer.phase is None else pair[..., 0] + 1j * pair[..., 1]


def multiplier(layer):
    """(lambda_bar, gain) in float64, from the layer's eigenvalues."""
    lam = np.asarray(layer.eigenvalues()).astype(complex)
    if layer.time == "discrete":
        return lam, np.ones_like(lam)
    dt = layer.step_size
    return np.exp(lam * dt), np.where(lam == 0, dt, np.expm1(lam * dt) / np.where(lam == 0, 1, lam))


def states_of(layer, x):
    """h_k after each input, shape (time, states)."""
    lam, gain = multiplier(layer)
    state, found = np.zeros(len(lam), complex), []
    for value in x:
        driven = wide(layer.input_weight, layer) @ value
        driven = driven if layer.bias is None else driven + wide(layer.bias, layer)
        state = lam * state + gain * driven
        found.append(state)
    return np.array(found).reshape(len(x), len(lam))


def linear_rnn(layer, x):
    return (states_of(layer, x) @ wide(layer.readout, layer).T).real


def ssm(layer, x):
    return SIGMA[layer.activation.name](states_of(layer, x).real)


def stepped(layer):
    """(lambda_bar, gain) of a layer with steps of its own, in complex128."""
    lam = np.asarray(layer.eigenvalues()).astype(complex)
    if layer.step_weight is None:
        return lam, np.ones_like(lam)
    dt = np.asarray(layer.step_size(), float).reshape(-1, *[1] * (lam.ndim - 1))
    z = lam * dt
    if layer.rule == "bilinear":
        return (1 + z / 2) / (1 - z / 2), dt / (1 - z / 2)
    return np.exp(z), np.expm1(z) / lam


def paired(pair, layer):
    """A weight of a layer with frequencies as the number it stands for."""
    pair = np.asarray(pair, float)
    return pair if layer.frequency is None else pair[..., 0] + 1j * pair[..., 1]


def twice(layer):
    """2 for each conjugate pair, then 1 for each real pole."""
    pairs = 0 if layer.frequency is None else layer.frequency.shape[-1]
    return np.array([2.0] * pairs + [1.0] * (layer.weight.shape[-1] - pairs))


def s4d(layer, x):
    (lam, gain), found = stepped(layer), []
    b, c = (paired(one, layer) for one in (layer.input_weight, layer.readout))
    state = np.zeros_like(lam)
    for value in x:
        state = lam * state + gain * b * value[:, None]
        found.append((twice(layer) * c * state).real.sum(-1) + np.asarray(layer.feedthrough, float) * value)
    return np.array(found).reshape(x.shape)


def dss(layer, x):
    lam, (_, gain) = np.asarray(layer.eigenvalues()).astype(complex), stepped(layer)
    z = lam * np.asarray(layer.step_size(), float)[:, None]
    if layer.variant == "softmax":
        total = np.exp(z[..., None] * np.arange(layer.length)).sum(-1)
        gain = total.conj() / (np.abs(total) ** 2 + 1e-7) / lam
    state, found = np.zeros_like(lam), []
    for value in x:
        state = np.exp(z) * state + value[:, None]
        read = (twice(layer) * gain * paired(layer.readout, layer) * state).real.sum(-1)
        found.append(read + np.asarray(layer.feedthrough, float) * value)
    return np.array(found).reshape(x.shape)


def s5(layer, x):
    (lam, gain), found = stepped(layer), []
    b, c = (paired(one, layer) for one in (layer.input_weight, layer.readout))
    state = np.zeros_like(lam)
    for value in x:
        state = lam * state + gain * (b @ value)
        found.append((c @ (twice(layer) * state)).real + np.asarray(layer.feedthrough, float) * value)
    return np.array(found).reshape(x.shape)


def s4(layer, x):
    """By full matrices: Lambda - P Q* of all states, each conjugate written out, under the bilinear rule."""
    lam, c = np.asarray(layer.eigenvalues()).astype(complex), paired(layer.readout, layer)
    p, b = paired(layer.low_rank, layer), paired(layer.input_weight, layer)
    q = p if layer.untied is None else paired(layer.untied, layer)
    outputs = [np.asarray(layer.feedthrough, float) * value for value in x]
    for channel, h in enumerate(np.asarray(layer.step_size(), float)):
        full = [one[channel] for one in (lam, p, q, b, c)]
        if layer.frequency is not None:
            full = [np.concatenate([one, one.conj()]) for one in full]
        a, eye = np.diag(full[0]) - np.outer(full[1], full[2].conj()), np.eye(len(full[0]))
        state = np.zeros(len(eye), complex)
        for y, value in zip(outputs, x, strict=True):
            state = np.linalg.solve(eye - h / 2 * a, (eye + h / 2 * a) @ state + h * full[3] * value[channel])
            y[channel] += (full[4] @ state).real
    return np.array(outputs).reshape(x.shape)


def lru(layer, x):
    lam = multiplier(layer)[0]
    gamma, state, found = np.sqrt(1 - np.abs(lam) ** 2), np.zeros_like(lam), []
    for value in x:
        state = lam * state + gamma * (wide(layer.input_weight, layer) @ value)
        found.append((wide(layer.readout, layer) @ state).real + np.asarray(layer.feedthrough, float) * value)
    return np.array(found).reshape(x.shape)


def dlr(layer, x):
    """Every channel with states of its own; a product of kernels by all pairs of poles, as an imaginary part."""
    (factor,) = layer.factors
    lam = np.asarray(layer.eigenvalues()).astype(complex)
    lam = np.exp(lam) if factor.parameterization.link == "continuous" else lam
    w = np.asarray(factor.readout, float)
    w = w if factor.phase is None else w[..., 0] + 1j * w[..., 1]
    read = {"real": lambda z: z.real, "imaginary": lambda z: z.imag, "sum": lambda z: z.real + z.imag,
            "product": lambda z: z.imag / 2}[layer.cast]  # fmt: skip
    if layer.cast == "product":
        lam, w = np.multiply.outer(lam, lam).ravel(), np.einsum("cm,cn->cmn", w, w).reshape(len(w), -1)
    state, found = np.zeros(w.shape, complex), []
    for value in x:
        state = lam * state + value[:, None]
        found.append(read((w * state).sum(-1)) + np.asarray(layer.feedthrough, float) * value)
    return np.array(found).reshape(x.shape)


def linear(layer):
    weight = np.asarray(layer.weight, float)
    return weight if layer.bias is None else (weight, np.asarray(layer.bias, float))


def attention(layer, x):
    """Every pair of steps by itself: the angle between query and key turns by their distance in time."""
    wq, wk, wv, wo = (linear(one) for one in (layer.query, layer.key, layer.value, layer.output))
    size = layer.inputs // layer.heads
    speeds = 10000.0 ** -(np.arange(0, size, 2) / size)
    outputs = np.zeros_like(x, float)
    for t in range(len(x)):
        start = max(0, t // layer.chunk - 1) * layer.chunk if layer.chunk else max(0, t - layer.context + 1)
        seen = range(start, t + 1)
        mixed = np.zeros(layer.inputs)
        for head in range(layer.heads):
            part = slice(head * size, (head + 1) * size)
            q = (wq @ x[t])[part]
            q = q[: size // 2] + 1j * q[size // 2 :]
            keys = [(wk @ x[j])[part] for j in seen]
            keys = [k[: size // 2] + 1j * k[size // 2 :] for k in keys]
            scores = [
                (q * np.conj(k) * np.exp(1j * speeds * (t - j))).real.sum() / size**0.5
                for j, k in zip(seen, keys, strict=True)
            ]
            share = np.exp(np.array(scores) - max(scores))
            mixed[part] = sum(a * (wv @ x[j])[part] for a, j in zip(share / share.sum(), seen, strict=True))
        outputs[t] = wo @ mixed
    return outputs


def lstm(layer, x):
    cell = layer.cell
    weights = [np.asarray(one, float) for one in (cell.weight_ih, cell.weight_hh, cell.bias)]
    h, c, found = np.zeros(layer.inputs), np.zeros(layer.inputs), []
    for value in x:
        i, f, g, o = np.split(weights[0] @ value + weights[1] @ h + weights[2], 4)
        c = SIGMA["sigmoid"](f) * c + SIGMA["sigmoid"](i) * np.tanh(g)
        h = SIGMA["sigmoid"](o) * np.tanh(c)
        found.append(h)
    return np.array(found).reshape(x.shape)


def feed_forward(layer, x):
    (w1, b1), (w2, b2) = (linear(one) for one in layer.network.layers)
    z = x @ w1.T + b1
    gelu = z * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z**3))) / 2
    return gelu @ w2.T + b2


DECAYS = {
    ("best", "continuous"): lambda w: 1 / (w**2 + 0.5), ("best", "one-minus"): lambda w: 1 / (w**2 + 0.5),
    ("exp", "exponential"): np.exp, ("softplus", "continuous"): lambda w: np.logaddexp(0, w),
    ("tanh", "one-minus"): lambda w: 1 - np.tanh(w), ("direct", "one-minus"): lambda w: 1 - w,
    ("direct", "continuous"): lambda w: w,
}  # fmt: skip


def selective(layer, x):
    """The map written out at the weight of every step."""
    system, found = layer.system, []
    map_, b, c = system.parameterization, paired(system.input_weight, system), paired(system.readout, system)
    pairs = 0 if system.frequency is None else system.frequency.shape[-1]
    turn = np.zeros(system.weight.shape)
    turn[:pairs] = 0 if system.frequency is None else system.frequency
    state = np.zeros(system.weight.shape, complex)
    for value in x:
        s = DECAYS[map_.name, map_.link](np.asarray(system.weight, float) + np.asarray(layer.selection, float) @ value)
        if map_.link == "continuous":
            lam, dt = -s + 1j * turn, np.asarray(system.step_size(), float)
            step, gain = np.exp(lam * dt), np.expm1(lam * dt) / lam
        else:
            modulus = 1 - s if map_.link == "one-minus" else np.exp(-s)
            step, gain = modulus * np.exp(1j * turn), np.sqrt(np.maximum(1 - modulus**2, 0)) if layer.normalise else 1
        state = step * state + gain * (b @ value)
        found.append((c @ (twice(system) * state)).real + np.asarray(system.feedthrough, float) * value)
    return np.array(found).reshape(x.shape)


def short_convolution(layer, x):
    taps, y = np.asarray(layer.taps, float), np.zeros_like(x, float)
    for k in range(len(x)):
        for j in range(min(k + 1, taps.shape[1])):
            y[k] += taps[:, j] * x[k - j]
    return y


def gated_ssm(layer, x):
    q, k, v = np.split(short_convolution(layer.short, x @ linear(layer.projection).T), 3, axis=1)
    return (q * s5(layer.recurrence, k * v)) @ linear(layer.output).T


def hyena(layer, x):
    """Filters value by value and convolutions sum by sum."""
    projected = short_convolution(layer.short, x @ linear(layer.projection).T)
    z, *gates = np.split(projected, projected.shape[1] // layer.inputs, axis=1)
    (w1, b1), (w2, b2), (w3, b3) = (linear(one) for one in layer.network.layers)
    (lam, _), amplitude = stepped(layer), paired(layer.amplitude, layer) * twice(layer)
    octaves, feedthrough = w1.shape[1] // 2, np.asarray(layer.feedthrough, float)
    filters = []
    for k in range(layer.context):
        angles = 2 * np.pi * 2.0 ** np.arange(octaves) * k / layer.context
        seen = np.array([k / layer.context, *np.cos(angles), *np.sin(angles)])
        written = (w3 @ np.sin(w2 @ np.sin(w1 @ seen + b1) + b2) + b3).reshape(feedthrough.shape)
        filters.append(written * (amplitude * lam**k).real.sum(-1) + (feedthrough if k == 0 else 0))
    for place, gate in enumerate(gates[:-1]):
        entered = gate * z
        z = np.array([sum(filters[k][place] * entered[t - k] for k in range(min(t + 1, layer.context)))
                      for t in range(len(x))]).reshape(x.shape)  # fmt: skip
    return (gates[-1] * z) @ linear(layer.output).T


def bidirectional(layer, x):
    """A sum over both directions of layers of one kind; what is behind the last step is 0."""
    one = REFERENCES[{"S4D": "s4d", "S5": "s5", "LRU": "lru", "LSTM": "lstm"}[type(layer.forward).__name__]]
    ahead, back = one(layer.forward, x), one(layer.backward, x[::-1])[::-1]
    back = np.concatenate([back[1:], np.zeros_like(back[:1])])
    if layer.projection is None:
        return ahead + back
    return np.concatenate([ahead, back], axis=1) @ linear(layer.projection).T


def sgconv(layer, x):
    """A piece of d weights, then d, 2d, 4d, ... lags by linear interpolation between the middles of their cells."""
    rows, squares = [], 0
    for weights in np.asarray(layer.weight, float):
        taps, noise = [], []
        for place, one in enumerate(weights):
            stretch, size = 2 ** max(0, place - 1), layer.decay**-place
            at = (np.arange(stretch * len(one)) + 0.5) / stretch - 0.5
            hats = [np.interp(at, np.arange(len(one)), unit) for unit in np.eye(len(one))]
            taps.append(size * one @ hats)
            noise.append(size**2 * np.square(hats).sum(0))
        rows.append(np.concatenate(taps)[: layer.context])
        squares = np.concatenate(noise)[: layer.context].sum()  # the mean of |K|^2 over weights of N(0, 1)
    filters = np.array(rows) / np.sqrt(squares)
    filters[:, 0] += np.asarray(layer.feedthrough, float)
    found = [sum(filters[:, k] * x[t - k] for k in range(min(t + 1, layer.context))) for t in range(len(x))]
    return np.array(found).reshape(x.shape)


REFERENCES = {
    "linear_rnn": linear_rnn, "ssm": ssm, "s4": s4, "s4d": s4d, "dss": dss, "s5": s5, "lru": lru,
    "attention": attention, "lstm": lstm, "feed_forward": feed_forward, "selective": selective,
    "gated_ssm": gated_ssm, "hyena": hyena, "bidirectional": bidirectional, "dlr": dlr,
    "sgconv": sgconv,
}  # fmt: skip
