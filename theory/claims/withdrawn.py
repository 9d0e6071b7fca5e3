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
    # formal_languages
    "formal_languages/aperiodic": "merged into formal_languages/syntactic_period",
    "formal_languages/modular_counting": "merged into formal_languages/syntactic_period",
    "formal_languages/star_free_expressions": "now a test: it compared expressions of ours with "
    "starred ones",
    "formal_languages/unary_limit": "merged into formal_languages/strict_hierarchy",
    "formal_languages/crasp_prediction": "merged into formal_languages/crasp_blocks",
    "formal_languages/crasp_depth_one": "merged into formal_languages/crasp_blocks",
    "formal_languages/blocks_piecewise_testable": "now a test, and a note of "
    "formal_languages/blocks_hard_attention: the definition of a block says which two "
    "subsequences decide it",
    # separation_rank
    "separation_rank/bottleneck_one_head": "merged into separation_rank/vocabulary_bottleneck",
    "separation_rank/catalecticants": "merged into separation_rank/exact",
    "separation_rank/several_heads": "now a note of separation_rank/heads_two_layers, whose ranks "
    "are below S",
    "separation_rank/residual_upper": "merged into separation_rank/dimension_count",
    "separation_rank/residual_paths": "now a test: it is a product of I + T_l multiplied out",
    "separation_rank/two_tokens": "merged into separation_rank/generic_one_head",
    "separation_rank/upper_bound_deep_two_tokens": "merged into separation_rank/two_tokens_upper",
    "separation_rank/exponent_count_recalled": "merged into separation_rank/exponent_count",
    "separation_rank/count_lower": "merged into separation_rank/count_bounds",
    "separation_rank/count_upper": "merged into separation_rank/count_bounds",
    "separation_rank/count_below_theorem_1": "merged into separation_rank/count_bounds",
    "separation_rank/count_linear": "merged into separation_rank/count_bounds",
    "separation_rank/growth_before_knee": "merged into separation_rank/count_bounds",
    "separation_rank/growth_after_knee": "merged into separation_rank/count_bounds",
    "separation_rank/late_slope": "now a test, and a note of separation_rank/count_bounds: a "
    "property of our own formula",
    "separation_rank/threshold": "now a test: it compared a count of triplings with the logarithm, "
    "its inverse",
    "separation_rank/corollary_reading": "now a note of separation_rank/corollary_43: it is what a "
    "logarithm is",
    "separation_rank/finite_field": "now a test, and a note of separation_rank/one_witness: a "
    "minor that is not 0 modulo p is not 0",
    "separation_rank/minor_degree": "now a test, and a note of separation_rank/one_witness, which "
    "states the degree",
    "separation_rank/convolution_in_turn": "merged into separation_rank/convolution_sides",
    "separation_rank/convolution_halves": "merged into separation_rank/convolution_sides",
    "separation_rank/conflict_one_head": "merged into separation_rank/first_violation",
    "separation_rank/count_attained": "now a note of separation_rank/exact_below_count, which "
    "refutes it",
    "separation_rank/multiset_shallow": "merged into separation_rank/multiset_bounds",
    "separation_rank/multiset_deep": "merged into separation_rank/multiset_bounds",
}
