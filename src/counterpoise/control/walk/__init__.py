"""Walking by priorities: `Walk`, its styles and its planner (de Lasa 2011, chapter 4)."""
