"""What the papers say, exactly: claims, and the exact engines that measure them. Never torch."""
