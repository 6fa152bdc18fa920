"""Which kept documents may match a new text, and which new texts each other, by the methods of `dedup`."""
