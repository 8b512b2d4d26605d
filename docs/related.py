"""Which functions belong together, and the page that explains them: the "See Also" of every page of the reference."""

GROUPS = {
    "counts": "read confusion_matrix from_cells from_array from_table data.margins",
    "audits": "audited planning.allocate planning.label_value inference.rogan_gladen",
    "agreement": "agreement predictions",
    "readers": "readers data.datasets.van_dyke1993",
    "comparison": "compare_systems data.paired_counts plots.plot_difference plots.plot_pairwise gate",
    "leaderboard": "leaderboard from_inspect from_lm_eval plots.plot_leaderboard",
    "reading": "summary interval probability metric_distribution posterior plots.plot_forest",
    "intervals": "inference.cell_summary plots.plot_confusion_matrix calibration.coverage_of calibration.coverage",
    "distributions": "inference.MetricDistribution plots.plot_distribution plots.plot_metric_uncertainty "
    "plots.arviz_options",
    "models": "models.names models.load models.Program inference.choose inference.loo calibration.sbc",
    "start_pymc_user": "inference.prior_predictive models.rope_probabilities plots.visuals.estimate",
    "gallery": "plots.visuals.level_contours plots.visuals.level_shades",
    "hierarchies": "synthesis gaps drift",
    "results": "report results.Answer results.Answer.sentence results.Answer.assumptions results.Answer.table "
    "results.Answer.per_class results.Answer.to_markdown results.Answer.to_latex results.Answer.to_csv scorer",
    "regions": "region band regions.region_level regions.contour regions.area regions.contains regions.bootstrap "
    "regions.axis plots.plot_region plots.plot_band calibration.dispersion",
    "priors": "priors.prior_from_metrics priors.beta_from_interval priors.counts_from_metrics priors.LogitNormal "
    "priors.concentrations.concentrations priors.concentrations.Concentrations",
    "reported": "from_reported priors.hidden_size curves.auc_from_reported",
    "curves": "curve_posterior curve_band curves.counts_at_thresholds curves.reliability curves.intervals curves.hull "
    "plots.plot_curve plots.plot_thresholds CurveDisplay",
    "areas": "auc aucpr curves.auc_difference plots.plot_areas",
    "planning": "sample_size planning.sample_size_to_compare planning.sample_size_of_auc planning.interval_width "
    "planning.sequential plots.plot_interval_width plots.plot_sequential",
    "replication": "planning.replicate calibration.confusion_probabilities",
    "prevalence": "planning.at_prevalences plots.plot_prevalence",
    "costs": "decide planning.decision_curve metrics.expected_cost metrics.net_benefit plots.plot_decision_curve",
    "metrics": "metrics.evaluate metrics.available metrics.resolve metrics.compute metrics.fbeta metrics.Metric",
    "notebooks": "data.datasets.toetsch2021 data.datasets.caelen2017 data.datasets.urlus2023 "
    "data.datasets.hui_walter1980 data.datasets.kaggle2019",
}
"""By page: the names of its functions, as the list of the reference writes them."""
MOST = 3
"""Names beside a function: the first ones of its page, which are the more general ones."""


def lines_of(name: str) -> list[str]:
    """Return the section "See Also" of a function, as numpydoc reads it; nothing of what isn't in a group."""
    for page, names in GROUPS.items():
        if name in names.split():
            others = [other for other in names.split() if other != name][:MOST]
            listed = ", ".join(f"bayescm.{other}" for other in others)
            return ["", "See Also", "--------", f"{listed} : :doc:`/{page}`"]
    return []
