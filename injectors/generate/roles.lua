-- What the generator must know beyond the prototypes: per role, the parameters it needs, whether
-- the library may block in it, and the C around the call. Parameters are named as the MPI standard
-- names them; a function whose prototype lacks one stops the generator.
--
-- In the C texts $LEVEL is enum level, $CALL the number of the function; `answer` is what the call
-- returned, `recorded` the record in progress. `before` runs ahead of the call, `after` after it,
-- at each level; `pair_begin` and `pair_end` are the short way through both (tap_pair.h), where
-- `pair` is what pair_begin gave. `steered` stands for the call at the wire level while the plan
-- steers (steer.h); a role without it is passed on as ever. Every text only calls a function of the
-- tap_*.h and steer.h headers: nothing is decided here.

local roles = {}

local envelope = { "dest", "tag", "comm" }
local function join(...)
    local all = {}
    for _, list in ipairs { ... } do
        table.move(list, 1, #list, #all + 1, all)
    end
    return all
end

local data = { "buf", "count", "datatype" }
local from = { "source", "tag", "comm" }
local send_half = { "sendbuf", "sendcount", "sendtype", "dest", "sendtag" }
local receive_half = { "recvbuf", "recvcount", "recvtype", "source", "recvtag" }

local any_status = [[
MPI_Status seen;
if (status == MPI_STATUS_IGNORE)
    status = &seen;
]]

-- What has arrived is hashed after the call, and another thread may have freed its type by then.
local function used(datatype)
    return "MPI_Datatype used = " .. datatype .. [[;
struct type_use use;
type_use_begin(&use, &used);
]]
end

roles.CALL = { -- `comm` is filled in by the generator: the first parameter of type MPI_Comm
    needs = {},
    before = "struct record *recorded = call_begin($LEVEL, $CALL, $COMM);",
    after = "call_end(recorded, answer);",
}

roles.AGREE = { -- stands for CALL where functions.lua says so
    needs = { "comm", "flag" },
    before = "struct record *recorded = agree_begin($LEVEL, $CALL, comm, flag);",
    after = "agree_end(recorded, flag, answer);",
}

roles.FAILED = { -- the same
    needs = { "comm", "failedgrp" },
    before = "struct record *recorded = call_begin($LEVEL, $CALL, comm);",
    after = "failed_end($LEVEL, recorded, failedgrp, answer);",
}

roles.GET_STATUS = { -- the same
    needs = { "request", "flag" },
    before = [[
struct request *asked;
struct record *recorded = get_status_begin($LEVEL, $CALL, &request, &asked);
]],
    after = "get_status_end(recorded, asked, flag, answer);",
}

roles.INIT = {
    needs = {},
    before = "struct record *recorded = init_begin($LEVEL, $CALL);",
    after = "init_end($LEVEL, recorded, answer);",
}

roles.FINALIZE = {
    needs = {},
    blocks = true,
    before = "struct record *recorded = finalize_begin($LEVEL, $CALL);",
    after = "finalize_end($LEVEL, recorded, answer);",
    steered = [[
steer_finalize();
answer = library.$MEMBER($NAMED);
]],
}

roles.ABORT = { -- does not return
    needs = { "comm", "errorcode" },
    before = "struct record *recorded = call_begin($LEVEL, $CALL, comm);",
    after = "call_end(recorded, answer);",
}

roles.SEND = {
    needs = join(data, envelope),
    blocks = true,
    before = "struct record *recorded =\n"
        .. "    send_begin($LEVEL, $CALL, buf, count, datatype, dest, tag, comm);",
    after = "send_end(recorded, answer);",
    pair_begin = "send_pair_begin($CALL, count, datatype, dest, tag, comm)",
    pair_end = "send_pair_end(pair, buf, count, datatype, answer);",
    steered = [[
answer = steer_send($CALL, recorded, buf, count, datatype, dest, tag, comm);
]],
}

roles.ISEND = {
    needs = join(data, envelope, { "request" }),
    before = "struct record *recorded =\n"
        .. "    isend_begin($LEVEL, $CALL, buf, count, datatype, dest, tag, comm);",
    after = "isend_end($LEVEL, recorded, request, answer);",
    steered = [[
answer = steer_isend($CALL, recorded, buf, count, datatype, dest, tag, comm, request);
]],
}

roles.SEND_INIT = {
    needs = join(data, envelope, { "request" }),
    before = "struct record *recorded = call_begin($LEVEL, $CALL, comm);",
    after = [[
send_init_end($LEVEL, recorded, buf, count, datatype, dest, tag, comm, request, answer);
]],
    steered = [[
answer = library.$MEMBER($NAMED);
if (answer == MPI_SUCCESS)
    answer = steer_send_init(request);
]],
}

roles.RECV = {
    needs = join(data, from, { "status" }),
    blocks = true,
    before = any_status .. used("datatype")
        .. "struct record *recorded = receive_begin($LEVEL, $CALL, source, tag, comm);",
    after = [[
type_use_settle(&use);
receive_end(recorded, buf, count, used, comm, status, answer);
type_use_end(&use);
]],
    pair_begin = "receive_pair_begin($CALL, source, tag, comm)",
    pair_end = "receive_pair_end(pair, buf, count, datatype, comm, status, answer);",
    pair_status = any_status,
    steered = [[
answer = steer_receive(recorded, buf, count, datatype, source, tag, comm, status);
]],
}

roles.IRECV = {
    needs = join(data, from, { "request" }),
    before = "struct record *recorded = ireceive_begin($LEVEL, $CALL, source, tag, comm);",
    after = "ireceive_end($LEVEL, recorded, buf, count, datatype, comm, request, answer);",
    steered = [[
answer = steer_ireceive(recorded, buf, count, datatype, source, tag, comm, request);
]],
}

roles.RECV_INIT = {
    needs = join(data, from, { "request" }),
    before = "struct record *recorded = call_begin($LEVEL, $CALL, comm);",
    after = [[
receive_init_end($LEVEL, recorded, buf, count, datatype, source, tag, comm, request, answer);
]],
}

roles.MRECV = {
    needs = join(data, { "message", "status" }),
    blocks = true,
    before = any_status .. used("datatype") .. [[
struct request *found;
struct record *recorded = matched_receive_begin($LEVEL, $CALL, message, &found);
]],
    after = [[
type_use_settle(&use);
matched_receive_end(recorded, buf, count, used, found, message, status, answer);
type_use_end(&use);
]],
    steered = "answer = steer_matched_receive(buf, count, datatype, message, status);",
}

roles.IMRECV = {
    needs = join(data, { "message", "request" }),
    before = [[
struct request *found;
struct record *recorded = matched_receive_begin($LEVEL, $CALL, message, &found);
]],
    after = [[
matched_ireceive_end(recorded, buf, count, datatype, found, message, request, answer);
]],
}

-- The two halves of an exchange: what is sent and where what comes goes, in two buffers or in one.
local two_buffers = {
    needs = join(send_half, receive_half, { "comm" }), replaces = false, type = "recvtype",
    sent = "sendbuf, sendcount, sendtype", got = "recvbuf, recvcount, recvtype",
    kept = "(void *)(uintptr_t)sendbuf, sendcount, sendtype",
}
local one_buffer = {
    needs = join(data, { "dest", "sendtag", "source", "recvtag", "comm" }), replaces = true,
    type = "datatype", sent = "buf, count, datatype", got = "buf, count, datatype",
    kept = "buf, count, datatype",
}

local function begin_exchange(halves, send, receive)
    return ([[
struct record *sent = %s($LEVEL, $CALL, %s, dest, sendtag, comm);
uint32_t sent_step = rules_take();
(void)sent_step; /* of use at the wire level */
struct record *recorded = %s source, recvtag, comm);
]]):format(send, halves.sent, receive)
end

local function steer_exchange(halves, answer)
    return ([[
struct steer_exchange exchange = {sent, recorded, sent_step, %s,
                                  {%s, dest, sendtag},
                                  {%s, source, recvtag},
                                  comm};
answer = %s;
]]):format(halves.replaces, halves.kept, halves.got, answer)
end

local function sendreceive(halves)
    return {
        needs = join(halves.needs, { "status" }),
        blocks = true,
        before = any_status .. used(halves.type)
            .. begin_exchange(halves, "send_begin", "receive_begin($LEVEL, $CALL,"),
        after = ([[
type_use_settle(&use);
sendreceive_end(sent, recorded, %s, used, comm, status, answer);
type_use_end(&use);
]]):format(halves.got:match("(.*),")),
        steered = steer_exchange(halves, "steer_sendreceive(&exchange, status)"),
    }
end

local function isendreceive(halves)
    return {
        needs = join(halves.needs, { "request" }),
        before = begin_exchange(halves, "isend_begin", "isendreceive_begin($LEVEL, $CALL, sent,"),
        after = ([[
isendreceive_end($LEVEL, sent, recorded, %s, source, recvtag, comm,
                 request, answer);
]]):format(halves.got),
        steered = steer_exchange(halves, "steer_isendreceive(&exchange, request)"),
    }
end

roles.SENDRECV = sendreceive(two_buffers)
roles.SENDRECV_REPLACE = sendreceive(one_buffer)
roles.ISENDRECV = isendreceive(two_buffers)
roles.ISENDRECV_REPLACE = isendreceive(one_buffer)

roles.START = {
    needs = { "request" },
    before = [[
struct start start;
start_begin($LEVEL, $CALL, &start, 1, request);
]],
    after = "start_end(&start, answer);",
    steered = "answer = steer_start(&start, 1, request);",
}

roles.STARTALL = {
    needs = { "count", "array_of_requests" },
    before = [[
struct start start;
start_begin($LEVEL, $CALL, &start, count, array_of_requests);
]],
    after = "start_end(&start, answer);",
    steered = "answer = steer_start(&start, count, array_of_requests);",
}

roles.PROBE = {
    needs = join(from, { "status" }),
    blocks = true,
    before = any_status
        .. "struct record *recorded = probe_begin($LEVEL, $CALL, source, tag, comm);",
    after = "probe_end(recorded, comm, status, answer);",
    steered = "answer = steer_mprobe(recorded, source, tag, comm, NULL, status);",
}

roles.IPROBE = {
    needs = join(from, { "flag", "status" }),
    before = any_status
        .. "struct record *recorded = iprobe_begin($LEVEL, $CALL, source, tag, comm);",
    after = "iprobe_end(recorded, comm, flag, status, answer);",
    steered = "answer = steer_answers->improbe(recorded, source, tag, comm, flag, NULL, status);",
}

roles.MPROBE = {
    needs = join(from, { "message", "status" }),
    blocks = true,
    before = any_status
        .. "struct record *recorded = probe_begin($LEVEL, $CALL, source, tag, comm);",
    after = "mprobe_end($LEVEL, recorded, comm, message, status, answer);",
    steered = "answer = steer_mprobe(recorded, source, tag, comm, message, status);",
}

roles.IMPROBE = {
    needs = join(from, { "flag", "message", "status" }),
    before = any_status
        .. "struct record *recorded = iprobe_begin($LEVEL, $CALL, source, tag, comm);",
    after = "improbe_end($LEVEL, recorded, comm, flag, message, status, answer);",
    steered = [[
answer = steer_answers->improbe(recorded, source, tag, comm, flag, message, status);
]],
}

roles.WAIT = {
    needs = { "request", "status" },
    blocks = true,
    before = any_status .. [[
struct request *waited;
struct record *recorded = wait_begin($LEVEL, $CALL, request, &waited);
]],
    after = "wait_end(recorded, waited, request, status, answer);",
    steered = "answer = steer_wait(request, status);",
}

roles.TEST = {
    needs = { "request", "flag", "status" },
    before = any_status .. [[
struct request *waited;
struct record *recorded = test_begin($LEVEL, $CALL, request, &waited);
]],
    after = "test_end(recorded, waited, request, flag, status, answer);",
    steered = "answer = steer_answers->test(recorded, waited, request, flag, status);",
}

-- A call for many requests. `statuses`: the parameter, an array or the status of one of them.
local function batch(how, count, statuses)
    return ([[
struct batch batch;
%sbatch_begin($LEVEL, $CALL, &batch, %s, array_of_requests, %s);
struct record *recorded = %s_many_begin(&batch);
]]):format(statuses == "status" and "" or statuses .. " =\n    ", count, statuses, how)
end

local some = { "incount", "array_of_requests", "outcount", "array_of_indices", "array_of_statuses" }

roles.WAITALL = {
    needs = { "count", "array_of_requests", "array_of_statuses" },
    blocks = true,
    before = batch("wait", "count", "array_of_statuses"),
    after = "waitall_end(recorded, &batch, array_of_requests, array_of_statuses, answer);",
    steered = "answer = steer_waitall(recorded, count, array_of_requests, array_of_statuses);",
}

roles.WAITANY = {
    needs = { "count", "array_of_requests", "indx", "status" },
    blocks = true,
    before = any_status .. batch("wait", "count", "status"),
    after = "waitany_end(recorded, &batch, array_of_requests, indx, status, answer);",
    steered = "answer = steer_answers->waitany(recorded, &batch, array_of_requests, indx, status);",
}

roles.WAITSOME = {
    needs = some,
    blocks = true,
    before = batch("wait", "incount", "array_of_statuses"),
    after = [[
waitsome_end(recorded, &batch, array_of_requests, outcount, array_of_indices, array_of_statuses,
             answer);
]],
    steered = [[
answer = steer_answers->waitsome(recorded, &batch, array_of_requests, outcount, array_of_indices,
                        array_of_statuses);
]],
}

roles.TESTALL = {
    needs = { "count", "array_of_requests", "flag", "array_of_statuses" },
    before = batch("test", "count", "array_of_statuses"),
    after = "testall_end(recorded, &batch, array_of_requests, flag, array_of_statuses, answer);",
    steered = [[
answer = steer_answers->testall(recorded, &batch, array_of_requests, flag, array_of_statuses);
]],
}

roles.TESTANY = {
    needs = { "count", "array_of_requests", "indx", "flag", "status" },
    before = any_status .. batch("test", "count", "status"),
    after = "testany_end(recorded, &batch, array_of_requests, indx, flag, status, answer);",
    steered = [[
answer = steer_answers->testany(recorded, &batch, array_of_requests, indx, flag, status);
]],
}

roles.TESTSOME = {
    needs = some,
    before = batch("test", "incount", "array_of_statuses"),
    after = [[
testsome_end(recorded, &batch, array_of_requests, outcount, array_of_indices, array_of_statuses,
             answer);
]],
    steered = [[
answer = steer_answers->testsome(recorded, &batch, array_of_requests, outcount, array_of_indices,
                        array_of_statuses);
]],
}

roles.REQUEST_FREE = {
    needs = { "request" },
    before = [[
struct request *freed;
struct record *recorded = request_free_begin($LEVEL, $CALL, request, &freed);
]],
    after = "request_free_end(recorded, freed, answer);",
    steered = "answer = steer_request_free(request);",
}

roles.CANCEL = {
    needs = { "request" },
    before = "struct record *recorded = cancel_begin($LEVEL, $CALL, request);",
    after = "call_end(recorded, answer);",
    steered = "answer = steer_cancel(request);",
}

roles.COLLECTIVE = { -- $OPERATION is the initializer made from the table in functions.lua
    needs = { "comm" },
    blocks = true,
    before = [[
struct collective collective = $OPERATION;
struct record *recorded = collective_begin($LEVEL, $CALL, &collective, comm);
struct type_use use;
type_use_begin(&use, &collective.recv.type);
]],
    after = [[
type_use_settle(&use);
collective_end(recorded, &collective, answer);
type_use_end(&use);
]],
    steered = [[
MPI_Request steered = handles.REQUEST_NULL;
if (steer_gathered(comm))
    answer = library.$MEMBER($NAMED);
else
    answer = steer_collective(library.$NONBLOCKING($NAMED, &steered), &steered);
]],
}

roles.ICOLLECTIVE = {
    needs = { "comm", "request" },
    before = [[
struct collective collective = $OPERATION;
struct record *recorded = icollective_begin($LEVEL, $CALL, &collective, comm);
]],
    after = "icollective_end($LEVEL, recorded, &collective, request, answer);",
}

roles.COLLECTIVE_INIT = {
    needs = { "comm", "request" },
    before = [[
struct collective collective = $OPERATION;
struct record *recorded = call_begin($LEVEL, $CALL, comm);
]],
    after = "collective_init_end($LEVEL, recorded, &collective, comm, request, answer);",
}

roles.COMM_MAKE = { -- $PARENT, $MADE and $TOLD: functions.lua
    needs = {},
    blocks = true,
    before = "struct record *recorded = make_begin($LEVEL, $CALL, $PARENT);",
    after = "make_end($LEVEL, recorded, $PARENT, $MADE, $TOLD, answer);",
    steered = [[
steer_gather($GATHERED);
answer = $LIBRARY($NAMED);
]],
}

roles.COMM_IMAKE = {
    needs = { "request" },
    before = "struct record *recorded = imake_begin($LEVEL, $CALL, $PARENT);",
    after = "imake_end($LEVEL, recorded, $PARENT, $MADE, request, answer);",
}

roles.COMM_FREE = {
    needs = { "comm" },
    blocks = true,
    before = [[
struct communicator *freed;
struct record *recorded = communicator_free_begin($LEVEL, $CALL, comm, &freed);
]],
    after = "communicator_free_end($LEVEL, recorded, freed, answer);",
    steered = [[
steer_drain($CALL, comm);
answer = library.$MEMBER($NAMED);
]],
}

roles.TYPE_FREE = {
    needs = { "datatype" },
    before = "struct record *recorded = type_free_begin($LEVEL, $CALL, datatype);",
    after = "call_end(recorded, answer);",
}

return roles
