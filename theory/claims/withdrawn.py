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
}
