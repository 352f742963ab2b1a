-- A crash in the middle of a line, after one, and inside an MPI call; and none at all.
local points = {
  ["no crash"] = false,
  ["while rank 1 writes line 2"] = { rank = 1, event = "phase", name = "my:mid-write", nth = 2 },
  ["after the commit of line 2"] = { rank = 0, event = "commit", epoch = 2 },
  ["inside a call"] = { rank = 2, call = "MPI_Sendrecv", nth = 17, position = "inside" },
}

for point, where in pairs(points) do
  scenario("my protocol: " .. point) {
    protocol = "./libmy_protocol.so", program = "./my_program", ranks = 3,
    claims = { "H", "B" },
    plan = function(p)
      if where then p:kill(where) end
    end,
  }
end
