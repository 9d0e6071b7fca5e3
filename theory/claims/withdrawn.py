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
    "evidence/fit_layers_per_factor": "now a note of depth_choice/levine_fit_depth",
    "evidence/threshold_layers_per_factor": "now a note of depth_choice/threshold_budget",
    "evidence/article_threshold": "merged into separation_rank/threshold_at_1000",
    "depth_width/deeper_updates_are_slower": "it timed updates on one machine beside whatever "
    "else that did, so that no run anywhere "
    "could decide it",
    "trained_depth/look_around": "renamed to trained_depth/local_baseline_misses",
    # Connectivity, counting, depth_choice, hops: fewer and stronger claims.
    "connectivity/relu_reach": "merged into connectivity/reach",
    "connectivity/entry_bound_attained": "merged into connectivity/entry_bound",
    "connectivity/lower_bound_conditional": "now a note of connectivity/layers_for_diameter, "
    "which says more: no network tests a bound over all",
    "connectivity/log_depth_vertices": "merged into connectivity/log_depth_lengths",
    "connectivity/log_depth_vertices_printed": "now a note of connectivity/log_depth_lengths, "
    "whose proof says that it follows",
    "connectivity/mpc_rounds_printed": "now a note of connectivity/mpc_rounds, which implies it",
    "connectivity/mpc_depth_exponent": "now a test: it compared a loop of ours with a logarithm; "
    "a note of connectivity/mpc_rounds says it",
    "connectivity/message_passing_bound_vacuous": "it solved a bound whose constant is not known "
    "for its edges, as arithmetic: its coverage table gives the number",
    "connectivity/nonnegative_one_layer": "merged into connectivity/nonnegative_weights_fail",
    "connectivity/forest_components": "now a test: it is a property of data of ours, and could "
    "not have failed",
    "connectivity/path_leaves": "now a test: it is a property of data of ours, and could not have "
    "failed",
    "connectivity/cycles_same_counts": "now a test: it is a property of data of ours, and could "
    "not have failed",
    "counting/forward_products": "merged into counting/pass_operations",
    "counting/attention_ratio": "now a note of counting/pass_operations, and a step of its proof",
    "counting/training_six": "merged into counting/pass_operations",
    "counting/causal_forward": "merged into counting/pass_operations",
    "counting/textbook_flops": "merged into counting/textbook_numbers",
    "counting/textbook_memory": "merged into counting/textbook_numbers",
    "counting/textbook_sizes": "merged into counting/textbook_numbers",
    "counting/textbook_options": "merged into counting/textbook_numbers",
    "counting/activation_bytes": "now a test: it compared the sum of a list of ours with a "
    "formula as recalled",
    "counting/twelve": "merged into counting/kaplan_weights",
    "counting/gpt2_total": "merged into counting/nemo_formula, the same count",
    "counting/llama_total": "now a test: it compared the sum of a list of ours with a formula of "
    "ours",
    "counting/active": "now a test: it compared the sum of a list of ours with a formula of ours",
    "counting/shared_layers": "now a test: it compared a bisection over our count with its closed "
    "form",
    "depth_choice/levine_fit_width": "now a test: it inverted one formula with the same two "
    "constants; a note of depth_choice/levine_fit_depth says it",
    "depth_choice/threshold_inverse": "now a note of depth_choice/threshold_budget, whose proof "
    "rests on it",
    "hops/depth_strict_mask": "merged into hops/depth_carried_symbols",
    "hops/depth_log_heads": "merged into hops/depth_carried_symbols",
    "hops/lookup_depth_causal": "merged into hops/one_lookup_per_layer",
    "hops/lookup_depth_strict": "merged into hops/one_lookup_per_layer",
    "hops/lower_bound_conditional": "now a note of hops/one_lookup_per_layer, which says more: no "
    "family of networks tests a bound over all",
    "hops/construction_corrected_spacing": "merged into hops/depth_corrected, its case of one hop",
    "hops/k_max_printed": "merged into hops/k_max",
    "hops/k_max_corrected": "merged into hops/k_max",
    "hops/lookup_gap": "merged into hops/head_gaps",
    "hops/last_match_gap": "merged into hops/head_gaps",
    "hops/experiment_scored": "merged into hops/scored_positions",
    "hops/composition_vacuous": "it solved a bound for the length of a prompt, as arithmetic: "
    "its coverage table gives the number",
    "hops/recurrent_bound_vacuous": "it solved a bound whose constant is not known for the "
    "tokens, as arithmetic: its coverage table gives the number",
}
