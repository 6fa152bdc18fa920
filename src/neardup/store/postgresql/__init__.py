"""POSTGRESQL: a store whose record is in a database, so that several services on several machines share it.

Each of them decides with a replica, a store in a folder of its own that follows the log of changes: `shared_files.py`.
"""
