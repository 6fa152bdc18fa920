"""SimHash of numeric vectors: planes, routes for dense and sparse rows, and what distances say about angles."""
