"""The studio: a browser in which figures are posed, keyed, made physical and pushed. Needs the extra `studio`.

`server` speaks with pages, `desk` is the one thread that computes, `jobs` are worker processes for long calls, and
`client/` is the page itself: plain modules, no bundler.
"""
