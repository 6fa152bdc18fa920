"""SimHash of numeric vectors: planes, fingerprints of dense and sparse rows, and the angle that a distance implies."""
