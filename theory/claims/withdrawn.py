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
    "evidence/wide_table_rounding": "merged into evidence/wide_table_averages",
    "evidence/fit_layers_per_factor": "now a note of depth_choice/levine_fit_width",
    "evidence/threshold_layers_per_factor": "now a note of depth_choice/threshold_inverse",
    "evidence/article_threshold": "merged into separation_rank/threshold_at_1000",
    "depth_width/deeper_updates_are_slower": "it timed updates on one machine beside whatever "
    "else that did, so that no run anywhere "
    "could decide it",
    "trained_depth/look_around": "renamed to trained_depth/local_baseline_misses",
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
