-- The messages of the protocol. Those between processes and the central instance (control.h) go on
-- a communicator of their own, the second that is made from MPI_COMM_WORLD, one tag each, the line
-- in front. A ready message goes where the application's messages go, on the first
-- (common/messages/).
local line = { at = 0, type = "u64" }

wire {
  request = { comm = "world#2", tag = 1, epoch = line },
  notification = { comm = "world#2", tag = 2, epoch = line },
  saved = { comm = "world#2", tag = 3, epoch = line },
  address = { comm = "world#2", tag = 4, epoch = line },
  mapping = { comm = "world#2", tag = 5, epoch = line },
  resume = { comm = "world#2", tag = 6, epoch = line },
  finished = { comm = "world#2", tag = 7, epoch = line },
  ["end"] = { comm = "world#2", tag = 8, epoch = line },
  readyMessage = { comm = "world#1", tag = 8, epoch = line },
  applicationMessage = { comm = "world#1", tag = 1, carries = true },
}
