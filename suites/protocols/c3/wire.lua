-- The control messages of the protocol (control.h): on the first communicator that is made from
-- MPI_COMM_WORLD, one tag each, the line in front.
local line = { at = 0, type = "u64" }

wire {
  pleaseCheckpoint = { comm = "world#1", tag = 1, epoch = line },
  mySendCount = { comm = "world#1", tag = 2, epoch = line },
  readyToStopLogging = { comm = "world#1", tag = 3, epoch = line },
  stopLogging = { comm = "world#1", tag = 4, epoch = line },
  stoppedLogging = { comm = "world#1", tag = 5, epoch = line },
  replayIsOver = { comm = "world#1", tag = 6, epoch = line },
}
