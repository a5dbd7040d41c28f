"""Polynomial regression with gradient descent written by hand.

At the first update PyTorch says:

    RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.

The coefficients are leaves: gradients arrive at them, so an operation that writes them may not be recorded. Update them
under `torch.no_grad()`.
"""

import math

import torch


def make_data(count=200, noise=0.05):
    x = torch.linspace(-math.pi, math.pi, count)
    y = torch.sin(x) + noise * torch.randn(count)
    order = torch.randperm(count)
    split = int(0.8 * count)
    return (x[order[:split]], y[order[:split]]), (x[order[split:]], y[order[split:]])


class Polynomial:
    def __init__(self, degree):
        self.coefficients = [torch.zeros((), requires_grad=True) for _ in range(degree + 1)]

    def __call__(self, x):
        y = 0
        for power, coefficient in enumerate(self.coefficients):
            y = y + coefficient * x**power
        return y

    def __str__(self):
        return " + ".join(f"{c.item():.3f} x^{power}" for power, c in enumerate(self.coefficients))


def mean_squared_error(prediction, target):
    return (prediction - target).pow(2).mean()


def batches(x, y, size):
    for start in range(0, len(x), size):
        yield x[start : start + size], y[start : start + size]


def descend(coefficients, rate):
    for power, c in enumerate(coefficients):
        c -= rate * 0.1**power * c.grad  # error: [leaf-modified-in-place] # torch: raises "a leaf Variable that requires grad"
        c.grad = None


def fit(model, data, epochs=20, rate=1e-2, size=32):
    losses = []
    for _ in range(epochs):
        for x, y in batches(*data, size):
            loss = mean_squared_error(model(x), y)
            loss.backward()
            descend(model.coefficients, rate)
            losses.append(loss.item())
    return losses


def main():
    training, held_out = make_data()
    model = Polynomial(degree=3)
    losses = fit(model, training)
    with torch.no_grad():
        error = mean_squared_error(model(held_out[0]), held_out[1])
    print(f"{model}\nloss {losses[0]:.3f} -> {losses[-1]:.3f}, held out {error.item():.3f}")


if __name__ == "__main__":
    main()
