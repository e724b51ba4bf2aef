"""The command line, one file a verb. Data goes to stdout, talk to stderr; see `app.main`."""


def main() -> None:
    """Run the program `teijo` on the process's arguments and exit with its code."""
    from teijo.cli.app import main as run

    run()
