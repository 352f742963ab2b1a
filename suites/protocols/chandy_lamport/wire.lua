-- What goes over the wire (chandy_lamport.h, ../common/messages/packet.h): one tag for each kind of
-- packet; in front of a marker and of `done` the line. The program's messages are `message`, those
-- of which its collective calls are made `collective`. With CHANDY_MARKERS=beside the markers have
-- a communicator of their own.
local line = { at = 0, type = "u64" }

wire {
  message = { comm = "world#1", tag = 1, carries = true },
  collective = { comm = "world#1", tag = 2 },
  acknowledgement = { comm = "world#1", tag = 3 },
  marker = { comm = "world#1", tag = 8, epoch = line },
  done = { comm = "world#1", tag = 9, epoch = line },
  markerBeside = { comm = "world#2", tag = 8, epoch = line },
}
