"""`python -m counterpoise.cli`"""

from counterpoise.cli.app import main

main()
