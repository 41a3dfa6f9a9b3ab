"""The command line: one module per subject, each listing its click commands.

The topmost room: it may import every other, and nothing imports it but the pytest plugin.
"""
