"""Priors: concentrations, Betas from intervals, and metrics turned into counts."""
