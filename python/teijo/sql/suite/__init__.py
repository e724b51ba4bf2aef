"""The eight tests of sql-bench as data: which operations, how often, and which statements.

Nothing here runs a statement, reads a clock or opens a file.
"""

from teijo.sql.suite.operation import Operation as Operation
from teijo.sql.suite.operation import Site as Site
from teijo.sql.suite.tests import TESTS as TESTS
from teijo.sql.suite.tests import operations as operations
from teijo.sql.suite.tests import tables as tables
