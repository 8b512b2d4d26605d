"""What the library says where the page without a server must say the same: python tests/app/page_numbers.py."""

import json
from pathlib import Path

import bayescm

FILE = Path(__file__).with_name("page_numbers.json")
CELLS = ("tp", "fn", "fp", "tn")
TABLES = (
    (26, 0, 2, 6), (90, 10, 5, 95), (0, 0, 0, 0), (3, 0, 0, 0), (1, 2, 3, 4), (0, 0, 5, 70), (203, 41, 55, 201),
    (1000, 20, 3, 100_000), (50_000, 1, 200, 3), (1_000_000, 20, 0, 1_000_000),
)  # fmt: skip
SETTINGS = (
    ("dirichlet_multinomial", "jeffreys", "hdi", 0.95),
    ("dirichlet_multinomial", "laplace", "eti", 0.8),
    ("three_binomial", "laplace", "hdi", 0.95),
    ("three_binomial", 2.5, "eti", 0.99),
)
METRICS = ("recall", "specificity", "precision", "negative_predictive_value", "prevalence", "informedness", "accuracy")
ELSEWHERE = ("precision", "negative_predictive_value", "accuracy")
AT = 0.02


def row(counts, metric, prevalence, model, prior, ci_kind, ci_prob):
    """Return what the library says of one metric: its interval, and its distribution at three places."""
    known = {"model": model, "prior": prior, "prevalence": prevalence}
    one = bayescm.summary(counts, metric, **known, ci_prob=ci_prob, ci_kind=ci_kind).squeeze()
    lower, upper = one["interval"].values.tolist()
    dist = bayescm.metric_distribution(counts, metric, **known)
    places = [share * lower + (1 - share) * upper for share in (0.8, 0.5, 0.2)]
    return {
        "metric": metric, "prevalence": prevalence, "mean": float(one["mean"]), "lower": lower, "upper": upper,
        "ci_kind": str(one["ci_kind"].item()), "places": places, "below": [float(dist.cdf(x)) for x in places],
    }  # fmt: skip


def case(table, model, prior, ci_kind, ci_prob):
    """Return one table of counts with the settings, as they are typed, and what the library says."""
    cells = dict(zip(CELLS, table, strict=True))
    counts, settings = bayescm.from_cells(**cells), (model, prior, ci_kind, ci_prob)
    asked = METRICS if model == "dirichlet_multinomial" else METRICS[:-1]
    rows = [row(counts, metric, None, *settings) for metric in asked]
    rows += [row(counts, metric, AT, *settings) for metric in ELSEWHERE]
    numbered = isinstance(prior, float)
    typed = {name: str(n) for name, n in cells.items()} | {
        "model": model, "prior": "number" if numbered else prior, "strength": str(prior if numbered else 1),
        "ciKind": ci_kind, "ciProb": str(ci_prob), "at": str(AT),
    }  # fmt: skip
    deceptive = bayescm.probability(counts, "deceptive", model=model, prior=prior)["probability"].item()
    return {"typed": typed, "rows": rows, "deceptive": deceptive}


if __name__ == "__main__":
    small = [table for table in TABLES if sum(table) < 1000]
    made = [case(table, *settings) for table in small for settings in SETTINGS]
    made += [case(table, *SETTINGS[0]) for table in TABLES if table not in small]
    made.append(case(TABLES[-2], *SETTINGS[2]))
    FILE.write_text(json.dumps(made, indent=1) + "\n")
