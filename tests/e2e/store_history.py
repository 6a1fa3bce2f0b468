"""Every version of every object that `strata apiserver --data-dir` has committed, in order and without gaps, also across kill -9: triggers in its database
write each down in the transaction that stores it."""
import contextlib
import json
import pathlib
import sqlite3
import typing

TRIGGERS = """
CREATE TABLE history (number INTEGER PRIMARY KEY, resource TEXT, name TEXT, body TEXT, deleted INTEGER);
CREATE TRIGGER created AFTER INSERT ON objects WHEN NEW.resource IN ({0})
  BEGIN INSERT INTO history (resource, name, body, deleted) VALUES (NEW.resource, NEW.name, NEW.body, 0); END;
CREATE TRIGGER changed AFTER UPDATE ON objects WHEN NEW.resource IN ({0})
  BEGIN INSERT INTO history (resource, name, body, deleted) VALUES (NEW.resource, NEW.name, NEW.body, 0); END;
CREATE TRIGGER removed AFTER DELETE ON objects WHEN OLD.resource IN ({0})
  BEGIN INSERT INTO history (resource, name, body, deleted) VALUES (OLD.resource, OLD.name, OLD.body, 1); END;
"""


class Version(typing.NamedTuple):
    """What one write left behind; of a deletion, what was there before."""
    resource: str
    body: dict
    deleted: bool


def record(folder, resources):
    """From now on, in the data folder of a server that does not run."""
    names = ", ".join(f"'{name}'" for name in resources)
    with contextlib.closing(sqlite3.connect(pathlib.Path(folder) / "strata.db")) as database:
        database.executescript(TRIGGERS.format(names))


def read(folder):
    """All that was recorded, once the server has ended."""
    with contextlib.closing(sqlite3.connect(pathlib.Path(folder) / "strata.db")) as database:
        rows = database.execute("SELECT resource, body, deleted FROM history ORDER BY number").fetchall()
    return [Version(resource, json.loads(body), bool(deleted)) for resource, body, deleted in rows]
