"""Databases as somebody may change them who has SQLite and no kiln."""

import sqlite3


def forge(database, columns):
    """Changes every trial, as somebody may who writes a database with SQLite alone."""
    connection = sqlite3.connect(database)
    triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute(f"UPDATE trial SET {columns}")
    for _, sql in triggers:
        connection.execute(sql)
    connection.commit()
    connection.close()
