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
    # trained_depth
    "trained_depth/connectivity_converged": "merged into trained_depth/convergence",
    "trained_depth/hops_converged": "merged into trained_depth/convergence",
    "trained_depth/connectivity_enough": "merged into trained_depth/connectivity_least_depth",
    "trained_depth/connectivity_needed": "merged into trained_depth/connectivity_least_depth",
    "trained_depth/connectivity_slope": "now a note of trained_depth/connectivity_least_depth, "
    "from whose depths it was computed",
    "trained_depth/hops_slope": "now a note of trained_depth/hops_enough, from whose depths it was "
    "computed",
    "trained_depth/connectivity_one_layer": "merged into trained_depth/connectivity_within",
    "trained_depth/connectivity_wall": "now a note of trained_depth/connectivity_within, which "
    "implies it together with trained_depth/connectivity_far",
    "trained_depth/cycles_within_one_layer": "merged into trained_depth/cycles_within",
    "trained_depth/cycles_beyond": "merged into trained_depth/cycles_at_chance, which says more of "
    "the same shares",
    "trained_depth/hops_within": "merged into trained_depth/hops_by_depth",
    "trained_depth/hops_wall": "merged into trained_depth/hops_by_depth",
    "trained_depth/reach_at_most": "now a note of trained_depth/reach_falls_short: it follows from "
    "that claim and from trained_depth/cycles_at_chance",
    "trained_depth/connectivity_shortcuts": "now a test: that small trees miss the graphs that we "
    "draw is a property of our data",
    "trained_depth/hops_shortcuts": "now a test: that small trees miss the sequences that we draw "
    "is a property of our data",
    "trained_depth/rules_within": "now a test: what explicit weights compute is "
    "connectivity/reach, so that it compared our graphs and choices with it",
    "trained_depth/rules_beyond": "now a test: what explicit weights compute is "
    "connectivity/reach, so that it compared our graphs and choices with it",
    "trained_depth/weights_within": "now a test: what explicit weights compute is "
    "connectivity/reach, so that it compared our graphs and choices with it",
    "trained_depth/weights_at_chance": "now a test: what explicit weights compute is "
    "connectivity/reach, so that it compared our graphs and choices with it",
    "trained_depth/local_baseline_at_chance": "now a test: it follows from "
    "trained_depth/cycles_look_alike, so that it compared our graphs and choices with that",
    # trained_rank
    "trained_rank/one_layer_near_floor": "merged into trained_rank/floor_attained",
    "trained_rank/deep_near_floor": "merged into trained_rank/floor_attained",
    "trained_rank/part_of_rank_shows_finely": "merged into trained_rank/part_of_rank_shows",
    "trained_rank/width_at_least": "merged into trained_rank/width_forecast",
}
