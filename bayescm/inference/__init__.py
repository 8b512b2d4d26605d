"""From counts to answers: posteriors, summaries, intervals and the distributions of metrics."""

from bayescm import results as results
