-- The control packets of the protocol (chandy_lamport.h): one tag each, the line in front. With
-- CHANDY_MARKERS=beside the markers have a communicator of their own.
local line = { at = 0, type = "u64" }

wire {
  marker = { comm = "world#1", tag = 8, epoch = line },
  done = { comm = "world#1", tag = 9, epoch = line },
  markerBeside = { comm = "world#2", tag = 8, epoch = line },
}
