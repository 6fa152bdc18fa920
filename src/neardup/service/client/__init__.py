"""The clients of a service, for programs that wait and for asyncio."""
