"""EVALUATE: how much of what is near a method, a distance or a similarity finds, and at what price."""
