"""MESSAGES: what travels between service and clients, as types, with examples; OpenAPI is made of them."""
