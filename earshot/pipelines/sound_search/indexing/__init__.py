"""Indexing: sounds are embedded and put into the index of a library, file by file or a folder at a
time.
"""
