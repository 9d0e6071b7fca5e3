"""Parameters, operations and memory of a net, counted tensor by tensor and product by product, and
the sizes that texts print held against the counts."""
