"""Signal propagation measured: norms and gradients by layer in nets with softmax attention."""
