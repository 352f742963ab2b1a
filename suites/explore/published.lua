-- Small programs of the shapes for which other model checkers for MPI have published their counts:
-- scripts/explore_published.sh goes through their schedules and compares; README.md has the table.

local function shape(name, ranks, ...)
  scenario(name) { protocol = "null", program = "shapes", ranks = ranks, arguments = { ... },
    claims = { "H.progress", "I" }, timeout = 30 }
end

-- Mc SimGrid
shape("gather: 3 ranks", 3, "gather")
shape("answered: 3 ranks", 3, "answered")
shape("last: 4 ranks", 4, "last")
shape("pairs: 3 ranks", 3, "pairs")
shape("whole: 5 ranks", 5, "whole")
shape("early: 3 ranks", 3, "early")
shape("looks: 2 ranks", 2, "looks")
shape("thrice: 3 ranks", 3, "thrice")
shape("crossed: 2 ranks", 2, "crossed")
shape("crossed, no buffers: 2 ranks", 2, "crossed", "synchronous")
shape("posted: 3 ranks", 3, "posted")
shape("single: 3 ranks", 3, "single")
shape("sum: 4 ranks", 4, "sum")

-- ISP
shape("server: 4 ranks", 4, "server")
shape("server, no buffers: 4 ranks", 4, "server", "synchronous")
shape("server: 8 ranks", 8, "server")
shape("plate: 4 ranks", 4, "plate")
shape("plate, no buffers: 4 ranks", 4, "plate", "synchronous")
shape("routes: 2 ranks", 2, "routes")
shape("routes, no buffers: 2 ranks", 2, "routes", "synchronous")
shape("routes: 3 ranks", 3, "routes")
