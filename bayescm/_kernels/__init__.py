"""Compiled kernels: plain numbers in, plain numbers out. Only this folder imports numba; its door is `dispatch`."""
