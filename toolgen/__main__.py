"""`python -m toolgen`."""

from toolgen.cli import main

raise SystemExit(main())
