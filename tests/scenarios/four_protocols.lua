-- Each protocol brings a program back from a death.
for _, one in ipairs {
  { "blocking", "laplace" }, { "c3", "laplace" }, { "chandy_lamport", "mixture" },
  { "cocheck", "mixture" },
} do
  scenario(one[1] .. " " .. one[2]) {
    protocol = one[1], program = one[2], ranks = 3, claims = { "H" },
    environment = { C3_EVERY = 8 },
    plan = function(p) p:kill { rank = 1, at = { event = "commit", epoch = 1 } } end,
  }
end
