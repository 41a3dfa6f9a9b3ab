"""The command line: one module a subject, each naming the click commands that it adds.

The topmost room: it may import every other, and nothing imports it but the pytest plugin.
"""
