"""Keys of claims that were merged into others or demoted to notes. A key is never used again."""

# Key -> where what the claim said stands now.
WITHDRAWN: dict[str, str] = {
    "connectivity/support": "merged into connectivity/reach",
    "connectivity/reach_residual": "merged into connectivity/reach",
    "connectivity/components_log_depth": "now a note of connectivity/layers_for_diameter",
    "connectivity/one_vs_two_cycles": "now a note of connectivity/reach",
    "hops/experiment_capacity_without_dropout": "now a note of hops/experiment_dropout: nobody "
    "can re-run its number here",
    "signal_propagation/gpt2_factor": "merged into signal_propagation/residual_stream",
    "signal_propagation/deepnorm_encoder_rounding": "merged into "
    "signal_propagation/deepnorm_scales",
    "counting/listed_weights": "it compared two tables of ours, which a test does",
    "evidence/wide_table_rounding": "merged into evidence/table_arithmetic",
    "evidence/fit_layers_per_factor": "now a note of depth_choice/levine_fit_depth",
    "evidence/threshold_layers_per_factor": "now a note of depth_choice/threshold_budget",
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
    "are below S, for two layers; at three layers a test at width 2",
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
    # Evidence, exercises, depth against width.
    "depth_width/below_six_depth_helps": "merged into depth_width/depth_pays_to_knee",
    "depth_width/beyond_six_depth_does_not_help": (
        "merged into depth_width/depth_is_neutral_from_threshold"
    ),
    "depth_width/depth_pays_to_threshold": "merged into depth_width/depth_pays_to_knee",
    "depth_width/equal_operations_gain": "merged into depth_width/equal_cost_gain",
    "depth_width/equal_seconds_gain": "merged into depth_width/equal_cost_gain",
    "depth_width/rule_completep_least": "merged into depth_width/rules_cost_little",
    "depth_width/rule_levine": "merged into depth_width/rules_cost_little",
    "depth_width/rule_marin": "merged into depth_width/rules_cost_little",
    "depth_width/rule_mup": "merged into depth_width/rules_cost_little",
    "depth_width/rule_nanochat": "merged into depth_width/rules_cost_little",
    "depth_width/rule_prenorm": "merged into depth_width/rules_cost_little",
    "evidence/deepnarrow_half": "merged into evidence/compared_sizes",
    "evidence/depth_delusion_sizes": (
        "now a test: a vocabulary of 50257, guessed to fit, gives the three printed sizes"
    ),
    "evidence/gemstones_deepest": "merged into evidence/best_depth",
    "evidence/gemstones_spread": (
        "now a note of evidence/best_depth, and a test: its 2 % was our own summary"
    ),
    "evidence/translation_deltas": "merged into evidence/table_arithmetic",
    "evidence/translation_restated": "merged into evidence/table_arithmetic",
    "evidence/translation_size": "merged into evidence/table_arithmetic",
    "evidence/wide_attention_wins": "now a note of evidence/wide_attention_one_task, and a test",
    "evidence/wide_table_averages": "merged into evidence/table_arithmetic",
    "exercises/bare_gradients_vanish": "merged into exercises/gradients_vanish",
    "exercises/deep_beats_wide": "merged into exercises/deeper_is_better",
    "exercises/doublings_gain_less": (
        "now a note of exercises/deeper_is_better: no doubling is shown to gain, so that how the "
        "gains shrink cannot be asked"
    ),
    "exercises/early_layers_hold_the_surface": "merged into exercises/layers_specialise",
    "exercises/first_layer_costs_most": "merged into exercises/lower_layers_cost_more",
    "exercises/late_layers_hold_the_task": "merged into exercises/layers_specialise",
    "exercises/middle_layers_hold_relations": "merged into exercises/layers_specialise",
    "exercises/normed_gradients_vanish": "merged into exercises/gradients_vanish",
    "exercises/one_layer_is_half": (
        "now a note of exercises/each_layer_alone_helps: training all layers takes nothing "
        "off the loss, so that half of it is no bar"
    ),
    "exercises/post_norm_is_unstable": "merged into exercises/residual_gradients_are_stable",
    "exercises/pre_norm_is_stable": "merged into exercises/residual_gradients_are_stable",
    "exercises/residuals_alone_are_stable": "merged into exercises/residual_gradients_are_stable",
    "exercises/residuals_alone_preserve": "merged into exercises/residuals_preserve",
    "exercises/residuals_preserve_post_norm": "merged into exercises/residuals_preserve",
    "exercises/variance_doubles": "merged into exercises/variance_is_not_geometric",
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
    # rank_collapse
    "rank_collapse/signed_step": "merged into rank_collapse/cubic_steps",
    "rank_collapse/residual_chain": "merged into rank_collapse/cubic_steps",
    "rank_collapse/logit_range_chain": "merged into rank_collapse/cubic_steps",
    "rank_collapse/composite_norm_product": "merged into rank_collapse/cubic_steps",
    "rank_collapse/signed_step_as_written": "merged into rank_collapse/steps_as_written",
    "rank_collapse/column_ranges_v1": "merged into rank_collapse/steps_as_written",
    "rank_collapse/heads_common_gamma": "merged into rank_collapse/steps_as_written",
    "rank_collapse/softmax_perturbation_below": "merged into rank_collapse/softmax_perturbation",
    "rank_collapse/gamma_free_range": "merged into rank_collapse/gamma_free_bound",
    "rank_collapse/one_layer_small_logits": "merged into rank_collapse/gamma_free_bound",
    "rank_collapse/layernorm_right_multiplication": (
        "merged into rank_collapse/layernorm_affine_rank"
    ),
    "rank_collapse/mlp_lipschitz": "merged into rank_collapse/layers_uniform",
    "rank_collapse/layer_constant_uniform": "merged into rank_collapse/layer_constant",
    "rank_collapse/slope_causal": "merged into rank_collapse/slope_below_cubic",
    "rank_collapse/slope_positions": "merged into rank_collapse/slope_below_cubic",
    "rank_collapse/slope_skip": "merged into rank_collapse/slope_below_cubic",
    "rank_collapse/causal_decay": "merged into rank_collapse/position_decay",
    "rank_collapse/random_attention_first_singular": (
        "merged into rank_collapse/random_attention_spectra"
    ),
    "rank_collapse/random_attention_second_singular": (
        "merged into rank_collapse/random_attention_spectra"
    ),
    "rank_collapse/random_attention_second_eigenvalue": (
        "merged into rank_collapse/random_attention_spectra"
    ),
    "rank_collapse/random_attention_stable_rank": (
        "merged into rank_collapse/random_attention_spectra"
    ),
    "rank_collapse/random_attention_first_without_mean": (
        "merged into rank_collapse/random_attention_spectra"
    ),
    "rank_collapse/wide_heads_second_singular": (
        "merged into rank_collapse/random_attention_spectra"
    ),
    "rank_collapse/real_heads_second_eigenvalue": (
        "merged into rank_collapse/random_attention_spectra"
    ),
    "rank_collapse/l2_attention_infinity": "merged into rank_collapse/l2_attention",
    "rank_collapse/l2_attention_spectral": "merged into rank_collapse/l2_attention",
    "rank_collapse/distance_attention": "merged into rank_collapse/distance_to_equal",
    "rank_collapse/distance_relu": "merged into rank_collapse/distance_to_equal",
    "rank_collapse/distance_values": "merged into rank_collapse/distance_to_equal",
    "rank_collapse/path_sums_by_length": "merged into rank_collapse/path_decomposition",
    "rank_collapse/path_length_law": "merged into rank_collapse/path_count",
    "rank_collapse/path_length_mean": "merged into rank_collapse/path_count",
    "rank_collapse/path_length_mode": "merged into rank_collapse/path_count",
    "rank_collapse/equiangular_sa": "merged into rank_collapse/equiangular_flow",
    "rank_collapse/equiangular_usa": "merged into rank_collapse/equiangular_flow",
    "rank_collapse/cluster_rate_sa": "merged into rank_collapse/equiangular_flow",
    "rank_collapse/cluster_rate_usa": "merged into rank_collapse/equiangular_flow",
    "rank_collapse/window_bias": "merged into rank_collapse/position_bias",
    "rank_collapse/xlnet_without_positions": "merged into rank_collapse/cubic_drop",
    "rank_collapse/published_sorting_recipe": "merged into rank_collapse/published_scores",
    "rank_collapse/published_short_paths": "merged into rank_collapse/published_scores",
    "rank_collapse/published_paths_deteriorate": "merged into rank_collapse/paths_deteriorate",
    "rank_collapse/path_sums_deteriorate": "merged into rank_collapse/paths_deteriorate",
    "rank_collapse/long_paths_guess": "merged into rank_collapse/extreme_paths_guess",
    "rank_collapse/zero_length_guess": "merged into rank_collapse/extreme_paths_guess",
    "rank_collapse/short_paths_carry_half_of_hulls": (
        "merged into rank_collapse/short_paths_carry_half"
    ),
    "rank_collapse/gamma_of_identity": (
        "now a note of rank_collapse/gamma_bound, whose argument and cases hold it"
    ),
    "rank_collapse/softmax_constant": (
        "now a test: 1.256 is the root of e^x = 1 + 2x, cut; digits of a number that "
        "rank_collapse/softmax_perturbation shows to suffice"
    ),
    "rank_collapse/composite_norm_triangle": (
        "now a test: the composite norm violates the triangle inequality without bound; a "
        "counterexample that is read off"
    ),
    "rank_collapse/layernorm_centred_rank": (
        "now a test: layer normalisation keeps the rank of the centred tokens; rows are only "
        "scaled, so that it could not fail"
    ),
    "rank_collapse/identity_attention": (
        "now a test: Value-SkipInit and Shaped attention start as the identity; by definition, "
        "but for the uniform attention at W_Q = 0"
    ),
    "rank_collapse/rescaled_tokens": (
        "now a test: rescaled tokens follow differences alone; an identity of linear algebra"
    ),
    "rank_collapse/path_length_figures": (
        "now a test: rounded figures of ours from the law of path lengths, see "
        "rank_collapse/path_count"
    ),
    "rank_collapse/equiangular_figures": (
        "now a test: rounded values of ours from the equation in rank_collapse/equiangular_flow"
    ),
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
    # Signal propagation: bounds of both sides, schemes and formulas that differed in a number.
    "signal_propagation/depth_mup_flat": "merged into signal_propagation/depth_flat",
    "signal_propagation/completep_flat": "merged into signal_propagation/depth_flat",
    "signal_propagation/epsilon_width_exponent": "merged into signal_propagation/epsilon_exponents",
    "signal_propagation/epsilon_depth_exponent": "merged into signal_propagation/epsilon_exponents",
    "signal_propagation/softmax_pre_ln_gradient": "merged into "
    "signal_propagation/gradient_exponents",
    "signal_propagation/softmax_post_ln_gradient": "merged into "
    "signal_propagation/gradient_exponents",
    "signal_propagation/gpt2_gradient": "merged into signal_propagation/gradient_exponents",
    "signal_propagation/deepnorm_last_gradient": "merged into "
    "signal_propagation/gradient_exponents",
    "signal_propagation/admin_gradient": "merged into signal_propagation/gradient_exponents",
    "signal_propagation/stochastic_depth_gradient": "merged into "
    "signal_propagation/gradient_exponents",
    "signal_propagation/deepnorm_gradients": "merged into signal_propagation/gradient_exponents",
    "signal_propagation/layernorm_scaling_gradient": "merged into "
    "signal_propagation/gradient_exponents",
    "signal_propagation/gradient_times_norm": "merged into signal_propagation/gradient_exponents",
    "signal_propagation/softmax_pre_ln_norm_lower": "merged into signal_propagation/softmax_norm",
    "signal_propagation/gpt2_norm_lower": "merged into signal_propagation/softmax_norm",
    "signal_propagation/layernorm_scaling_norm_lower": "merged into "
    "signal_propagation/softmax_norm",
    "signal_propagation/stochastic_depth_norm_lower": "merged into signal_propagation/softmax_norm",
    "signal_propagation/softmax_pre_ln_norm_upper": "merged into signal_propagation/softmax_norm",
    "signal_propagation/gpt2_norm_upper": "merged into signal_propagation/softmax_norm",
    "signal_propagation/layernorm_scaling_norm_upper": "merged into "
    "signal_propagation/softmax_norm",
    "signal_propagation/stochastic_depth_norm_upper": "merged into signal_propagation/softmax_norm",
    "signal_propagation/stochastic_depth_test_norm": "merged into signal_propagation/softmax_norm",
    "signal_propagation/softmax_pre_ln_norm_exponent": "merged into "
    "signal_propagation/norm_exponents",
    "signal_propagation/gpt2_norm_exponent": "merged into signal_propagation/norm_exponents",
    "signal_propagation/attention_contraction": "merged into signal_propagation/token_contraction",
    "signal_propagation/relu_contraction": "merged into signal_propagation/token_contraction",
    "signal_propagation/adam_rate_exponent": "merged into signal_propagation/rate_exponents",
    "signal_propagation/sgd_rate_exponent": "merged into signal_propagation/rate_exponents",
    "signal_propagation/deepnorm_update_flat": "merged into "
    "signal_propagation/deepnorm_update_exponents",
    "signal_propagation/deepnorm_adam_growth": "merged into "
    "signal_propagation/deepnorm_update_exponents",
    "signal_propagation/pre_ln_amplification": "merged into signal_propagation/admin_amplification",
    "signal_propagation/pre_ln_gradient_slope": "merged into "
    "signal_propagation/last_gradient_slope",
    "signal_propagation/post_ln_gradient_slope": "merged into "
    "signal_propagation/last_gradient_slope",
    "signal_propagation/pre_ln_gradient_lower": "merged into "
    "signal_propagation/pre_ln_gradient_size",
    "signal_propagation/pre_ln_gradient_upper": "merged into "
    "signal_propagation/pre_ln_gradient_size",
    "signal_propagation/deepnorm_alpha": "merged into signal_propagation/deepnorm_scales",
    "signal_propagation/deepnorm_beta": "merged into signal_propagation/deepnorm_scales",
    "signal_propagation/deepnorm_decoder_alpha": "merged into signal_propagation/deepnorm_scales",
    "signal_propagation/deepnorm_decoder_beta": "merged into signal_propagation/deepnorm_scales",
    "signal_propagation/deepnorm_encoder_alpha": "merged into signal_propagation/deepnorm_scales",
    "signal_propagation/deepnorm_encoder_beta": "merged into signal_propagation/deepnorm_scales",
    "signal_propagation/deepnorm_transcribed_exponent": "now a note of "
    "signal_propagation/deepnorm_scales: a sign that a transcription lost",
    "signal_propagation/amplification_pre_ln_lower": "merged into "
    "signal_propagation/amplification_pre_ln",
    "signal_propagation/amplification_pre_ln_upper": "merged into "
    "signal_propagation/amplification_pre_ln",
    "signal_propagation/amplification_post_ln": "merged into signal_propagation/branch_shares",
    "signal_propagation/admin_share": "merged into signal_propagation/branch_shares",
    "signal_propagation/branch_variance_exponent": "merged into signal_propagation/depth_exponents",
    "signal_propagation/depth_gradient_exponent": "merged into signal_propagation/depth_exponents",
    "signal_propagation/completep_learning_rate": "merged into signal_propagation/depth_exponents",
    "signal_propagation/depth_sgd_learning_rate": "merged into signal_propagation/depth_exponents",
    "signal_propagation/lazy_second_order": "merged into signal_propagation/depth_exponents",
    "signal_propagation/linear_variance": "merged into signal_propagation/kaiming_variance",
    "signal_propagation/printed_layer_ten": "merged into signal_propagation/printed_powers",
    "signal_propagation/printed_decay": "merged into signal_propagation/printed_powers",
    "signal_propagation/residual_unscaled": "merged into signal_propagation/residual_stream",
    "signal_propagation/residual_scaled": "merged into signal_propagation/residual_stream",
    "signal_propagation/pre_ln_variance_quadratic_lower": "merged into "
    "signal_propagation/pre_ln_variance_quadratic",
    "signal_propagation/pre_ln_variance_quadratic_upper": "merged into "
    "signal_propagation/pre_ln_variance_quadratic",
    "signal_propagation/layernorm_scaling_variance_lower": "merged into "
    "signal_propagation/layernorm_scaling_variance",
    "signal_propagation/layernorm_scaling_variance_upper": "merged into "
    "signal_propagation/layernorm_scaling_variance",
    "signal_propagation/pre_ln_norm_lower": "merged into signal_propagation/pre_ln_norm",
    "signal_propagation/pre_ln_norm_upper": "merged into signal_propagation/pre_ln_norm",
    "signal_propagation/layernorm_jacobian_rank": "merged into "
    "signal_propagation/layernorm_jacobian",
    "signal_propagation/common_growth": "merged into signal_propagation/uniform_growth",
    "signal_propagation/total_growth": "merged into signal_propagation/uniform_growth",
    "signal_propagation/relu_branch_common": "now a note of "
    "signal_propagation/relu_kernel_above, from which it follows",
    "signal_propagation/reference_first_layer": "now a test: the printed maps give "
    "four values, which are ours",
    "signal_propagation/attention_exponent": "merged into signal_propagation/block_contraction",
    "signal_propagation/mlp_exponent": "merged into signal_propagation/block_contraction",
}
