"""Keys of claims that were merged into others or demoted to notes. A key is never used again."""

# Key -> where what the claim said stands now.
WITHDRAWN: dict[str, str] = {
    "connectivity/support": "merged into connectivity/reach",
    "connectivity/reach_residual": "merged into connectivity/reach",
    "connectivity/components_log_depth": "now a note of connectivity/layers_for_diameter",
    "connectivity/one_vs_two_cycles": "now a note of connectivity/reach",
    "hops/experiment_capacity_without_dropout": "now a note of hops/experiment_dropout: nobody "
    "can re-run its number here",
    "signal_propagation/gpt2_factor": "merged into signal_propagation/residual_scaled",
    "signal_propagation/deepnorm_encoder_rounding": "merged into "
    "signal_propagation/deepnorm_encoder_alpha",
    "counting/listed_weights": "it compared two tables of ours, which a test does",
    "evidence/wide_table_rounding": "merged into evidence/wide_table_averages",
    "evidence/fit_layers_per_factor": "now a note of depth_choice/levine_fit_width",
    "evidence/threshold_layers_per_factor": "now a note of depth_choice/threshold_inverse",
    "evidence/article_threshold": "merged into separation_rank/threshold_at_1000",
    "depth_width/deeper_updates_are_slower": "it timed updates on one machine beside whatever "
    "else that did, so that no run anywhere "
    "could decide it",
    "trained_depth/look_around": "renamed to trained_depth/local_baseline_misses",
}
