"""The bar that suits the terminal."""

from . import tqdm as tqdm
