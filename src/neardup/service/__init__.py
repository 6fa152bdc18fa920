"""SERVE: stores over HTTP. The service adds no decision of its own: it carries texts to stores, and their answers back.

Comes in: requests with texts and ids. Goes out: answers of `neardup.Store` as JSON, each when it is durable. The flow of a request:
`connection.py` → `app.py` → `admission.py` (who may, how much) → `requests/bodies.py` → `requests/handlers.py` → `stores/worker.py`
(one thread a store, which decides what waits together) → a response, or a problem in the words of the library. `routes.py` is the
table of all routes, from which the OpenAPI document is made. `client/` is the other side of the wire.

May import: jobs, judging, store, and all rooms below them.
"""
