-- Writes the taps: a wrapper for MPI_X and PMPI_X of every function that the installed MPI library
-- exports, and the table of the library's functions. Facts come from three places: prototypes from
-- the installed headers (through the compiler's preprocessor), roles from harness/trace/calls.def,
-- what a role and what a single function needs from roles.lua and functions.lua. Whatever does not
-- fit together stops the build.
--
--     lua5.4 injectors/generate/generate.lua MPICC CALLS.DEF FOLDER
--
-- writes FOLDER/library_table.h and FOLDER/wrappers_<n>.c. MPICC is also asked where the library
-- is. FAULTLINE_EXPORTS, a file of names, stands in for the library in tests.

local here = arg[0]:match("^(.*)/") or "."
local roles = dofile(here .. "/roles.lua")
local known = dofile(here .. "/functions.lua")

local WRAPPER_FILES = 4
local HEADER = here .. "/../../harness/mpi_library.h"

local function stop(...)
    io.stderr:write("generate.lua: ", string.format(...), "\n")
    os.exit(1)
end

local function output_of(command)
    local pipe = assert(io.popen(command, "r"))
    local text = pipe:read("a")
    if not pipe:close() then
        stop("this command failed: %s", command)
    end
    return text
end

local function read(path)
    local file, reason = io.open(path, "r")
    if not file then
        stop("%s", reason)
    end
    local text = file:read("a")
    file:close()
    return text
end

-- A file that has not changed keeps its time, so that nothing is compiled again.
local function write(path, text)
    local old = io.open(path, "r")
    if old then
        local same = old:read("a") == text
        old:close()
        if same then
            return
        end
    end
    local file, reason = io.open(path, "w")
    if not file then
        stop("%s", reason)
    end
    file:write(text)
    file:close()
end

-- The shared library that MPICC links a program with, by asking the linker to trace its inputs: the
-- name by which a process opens it, and its symbols. The program need not be one for this machine.
local function library_of(mpicc)
    local program = os.tmpname()
    local trace = output_of(string.format(
        "echo 'int MPI_Init(int *, char ***); int main(void) { return MPI_Init(0, 0); }' | "
            .. "%s -x c - -Wl,--trace -o %s 2>&1",
        mpicc, program))
    os.remove(program)
    for path in trace:gmatch("[^%s()]+%.so[%d.]*") do
        local names = output_of(string.format("nm -D --defined-only %s 2>/dev/null || true", path))
        if names:find(" PMPI_Init\n") or names:find(" PMPI_Init@") then
            local facts = output_of(string.format("LC_ALL=C readelf -d %s", path))
            return facts:match("SONAME[^%[]*%[([^%]]+)%]") or path:match("[^/]+$"), names
        end
    end
    stop("no shared library behind '%s' exports PMPI_Init", mpicc)
end

-- Sorted list of the functions MPI_X and MPIX_X.
local function exports(mpicc)
    local stand_in = os.getenv("FAULTLINE_EXPORTS")
    local file, names = stand_in, stand_in and read(stand_in)
    if not stand_in then
        file, names = library_of(mpicc)
    end
    local list = {}
    for kind, name in names:gmatch("(%a) (MPIX?_[%w_]+)") do
        if (kind == "T" or kind == "W") and not known.untapped[name] then
            list[#list + 1] = name
        end
    end
    table.sort(list)
    return list, file
end

-- One parameter: "const int recvcounts[]" -> { type = "const int", name = "recvcounts",
-- array = "[]", text = the whole }.
local function parameter(text)
    if text == "..." then
        return { varying = true, text = text }
    end
    local head, name, array = text:match("^(.-)([%a_][%w_]*)%s*(%[[%[%]%d]*%])$")
    if not head then
        head, name = text:match("^(.-)([%a_][%w_]*)$")
    end
    if not head or head == "" then
        return nil
    end
    return { type = head:gsub("%s+$", ""), name = name, array = array or "", text = text }
end

-- With the names that functions.renamed has for them.
local function parameters(list, renamed)
    local all = {}
    list = list:sub(2, -2):gsub("^%s+", ""):gsub("%s+$", "")
    if list == "void" then
        return all
    end
    for text in (list .. ","):gmatch("%s*(.-)%s*,") do
        local one = parameter(text)
        if not one then
            return nil
        end
        local standard = renamed[one.name]
        if standard then
            one.text = ("%s %s%s"):format(one.type, standard, one.array)
            one.name = standard
        end
        all[#all + 1] = one
    end
    return all
end

-- name -> { result = "int", parameters = {...} } of every prototype in the headers of the library.
local function prototypes(mpicc)
    local text = output_of(string.format("%s -E -P -x c %s", mpicc, HEADER))
    text = text:gsub("__attribute__%s*%b()", ""):gsub("%s+", " ")
    local found = {}
    for result, name, list in text:gmatch("([%w_]+) (MPIX?_[%w_]+) ?(%b()) ?;") do
        if not list:find("%(.*%(") then
            local all = parameters(list, known.renamed[name] or {})
            found[name] = { result = result, parameters = all }
        end
    end
    return found
end

-- name -> { role, operation }.
local function call_list(path)
    local found = {}
    for name, role, operation in read(path):gmatch("CALL%((MPIX?_[%w_]+), ([%w_]+), ([%w_]+)%)") do
        if found[name] then
            stop("%s: %s is listed twice", path, name)
        end
        found[name] = { role = role, operation = operation }
    end
    return found
end

local function member(name)
    return (name:gsub("^MPI_", ""):gsub("^MPIX_", "X_"))
end

local function find(call, name)
    for _, one in ipairs(call.parameters) do
        if one.name == name then
            return one
        end
    end
end

local function need(call, name, why)
    return find(call, name)
        or stop("%s has no parameter '%s', which %s needs", call.name, name, why)
end

-- The initializer of struct collective.
local function operation_initializer(call)
    local fields = known.operations[call.operation]
        or stop("%s: no operation '%s' in functions.lua", call.name, call.operation)
    local names, lines = {}, { ".operation = OPERATION_" .. call.operation }
    for name in pairs(fields) do
        names[#names + 1] = name
    end
    table.sort(names)
    for _, name in ipairs(names) do
        local one = need(call, name, "operation " .. call.operation)
        local targets = fields[name]
        for _, field in ipairs(type(targets) == "table" and targets or { targets }) do
            lines[#lines + 1] = string.format(".%s = %s", field, one.name)
            if field:find("counts$") then
                lines[#lines + 1] = string.format(".wide_counts = %s",
                    tostring(one.type:find("MPI_Count") ~= nil))
            elseif field:find("displacements$") then
                lines[#lines + 1] = string.format(".%s = %s", field:gsub("displacements", "wide"),
                    tostring(one.type:find("MPI_Aint") ~= nil))
            end
        end
    end
    local once, list = {}, {}
    for _, line in ipairs(lines) do
        if not once[line] then
            list[#list + 1], once[line] = line, true
        end
    end
    return "{\n    " .. table.concat(list, ",\n    ") .. "}"
end

local function first_communicator(call)
    for _, one in ipairs(call.parameters) do
        if one.type == "MPI_Comm" and one.array == "" then
            return one.name
        end
    end
    return "handles.COMM_NULL"
end

-- What a template may ask for, by name.
local substitutes = {
    COMM = first_communicator,
    OPERATION = operation_initializer,
    PARENT = function(call)
        local make = known.makes[call.name] or stop("%s is not in functions.makes", call.name)
        local parent = make.parent and need(call, make.parent, "functions.makes").name
        return parent or "handles.COMM_NULL"
    end,
    MADE = function(call)
        local make = known.makes[call.name] or stop("%s is not in functions.makes", call.name)
        return need(call, make.made, "functions.makes").name
    end,
    -- What tells calls apart that several threads make at once: a tag, or a string.
    TOLD = function(call)
        local make = known.makes[call.name] or stop("%s is not in functions.makes", call.name)
        if not make.told then
            return "0"
        end
        local told = need(call, make.told, "functions.makes")
        local number = told.type == "int"
        return (number and "(uint64_t)%s" or "communicator_mark(%s)"):format(told.name)
    end,
}

-- The communicator all of whose members take part; MPI_COMM_NULL: there is none.
function substitutes.GATHERED(call)
    local make = known.makes[call.name]
    if make and (make.of_some or not make.parent) then
        return "handles.COMM_NULL"
    end
    local all = make and make.parent or first_communicator(call)
    return make and make.of_grid and ("steer_grid(%s)"):format(all) or all
end

local function expand(template, call, level)
    local text = template:gsub("%$(%u+)", function(word)
        if word == "LEVEL" then
            return level
        elseif word == "CALL" then
            return "CALL_" .. call.name
        end
        return substitutes[word](call)
    end)
    return "    " .. text:gsub("%s+$", ""):gsub("\n", "\n    ") .. "\n"
end

-- "const void *buf, int count" and "buf, count".
local function declared(call)
    local list = {}
    for i, one in ipairs(call.parameters) do
        list[i] = one.text
    end
    return #list > 0 and table.concat(list, ", ") or "void"
end

local function named(call)
    local list = {}
    for i, one in ipairs(call.parameters) do
        list[i] = one.name
    end
    return table.concat(list, ", ")
end

function substitutes.MEMBER(call)
    return member(call.name)
end

function substitutes.LIBRARY(call)
    return known.called[call.name] or "library." .. member(call.name)
end

function substitutes.NAMED(call)
    return named(call)
end

-- MPI_Bcast_c -> Ibcast_c
function substitutes.NONBLOCKING(call)
    local name = member(call.name)
    return "I" .. name:sub(1, 1):lower() .. name:sub(2)
end

local may_block = {}
for _, name in ipairs(known.may_block) do
    may_block[name] = true
end

local function blocks(call, role)
    return (role.blocks or may_block[call.name]) and not known.never_blocks[call.name]
end

-- What has no non-blocking form, but a communicator, begins when all are there.
local gathered = "steer_gather($GATHERED);\nanswer = library.$MEMBER($NAMED);"

-- The call of the library, or what stands for it while the plan steers.
local function lower_call(call, role)
    local steered = role.steered
    if not steered and may_block[call.name] and first_communicator(call) ~= "handles.COMM_NULL" then
        steered = gathered
    end
    local plain = ("%s(%s);"):format(substitutes.LIBRARY(call), named(call))
    if not steered then
        return ([[
    if (unlikely(runtime_steering))
        steer_look();
    int answer = %s
]]):format(plain)
    end
    return ([[
    int answer;
    if (unlikely(runtime_steering) && tap_ready) {
        steer_look();
    %s    } else {
        answer = %s
    }
]]):format(expand(steered, call, "LEVEL_WIRE"):gsub("\n(.)", "\n    %1"), plain)
end

-- Both levels at once, where the role has such a way and nothing lies between.
local function short_way(call, role, blocking)
    if not role.pair_begin then
        return ""
    end
    local fields = {
        member = member(call.name),
        named = named(call),
        status = role.pair_status and expand(role.pair_status, call) or "",
        begin = expand(role.pair_begin, call):match("^%s*(.-)%s*$"),
        finish = expand(role.pair_end, call):match("^%s*(.-)%s*$"),
        blocks = tostring(blocking),
    }
    return (([[
@status    if (likely(upper.@member == lower_@member)) {
        struct record *pair = @begin;
        if (likely(pair != NULL)) {
            pair_pass(pair, @blocks);
            int answer = library.@member(@named);
            pair_return(@blocks);
            @finish
            return answer;
        }
    }
]]):gsub("@([%a_]+)", fields))
end

-- The wrapper pair of one function. What records is apart from what only passes on, so that the
-- latter is a test and a jump. The lower tap is a static function, so that the upper one reaches it
-- without the dynamic linker; PMPI_X is its exported alias.
local function wrappers(call)
    local role = roles[known.told[call.name] or call.role]
        or stop("%s: no role '%s' in roles.lua", call.name, call.role)
    for _, name in ipairs(role.needs) do
        need(call, name, "role " .. call.role)
    end
    local blocking, before = blocks(call, role), role.before
    if role.pair_status then -- the short way has done it
        before = before:sub(#role.pair_status + 1)
    end
    local fields = {
        name = call.name,
        member = member(call.name),
        declared = declared(call),
        named = named(call),
        lower_before = expand(role.before, call, "LEVEL_WIRE"),
        lower_after = expand(role.after, call, "LEVEL_WIRE"),
        upper_before = expand(before, call, "LEVEL_APP"),
        upper_after = expand(role.after, call, "LEVEL_APP"),
        short_way = short_way(call, role, blocking),
        lower_call = lower_call(call, role),
        block = blocking and "    runtime_blocking(recorded);\n" or "",
        unblock = blocking and "    runtime_unblocked();\n" or "",
    }
    return (([[
static NEVER_INLINE int lower_record_@member(@declared)
{
@lower_before@block    lower_pass();
@lower_call    lower_return();
@unblock@lower_after    return answer;
}

static int lower_@member(@declared)
{
    if (unlikely(!lower_records()))
        return library.@member(@named);
    return lower_record_@member(@named);
}

EXPORTED int P@name(@declared) __attribute__((alias("lower_@member")));

static NEVER_INLINE int upper_record_@member(@declared)
{
@short_way    bool direct = upper.@member == lower_@member;
    upper_begin(direct);
@upper_before    upper_pass();
    int answer = upper.@member(@named);
    upper_return();
@upper_after    upper_end(direct);
    return answer;
}

static NEVER_INLINE int upper_else_@member(@declared)
{
    if (unlikely(upper_records_else()))
        return upper_record_@member(@named);
    return upper.@member(@named);
}

EXPORTED int @name(@declared)
{
    if (likely(upper_records()))
        return upper_record_@member(@named);
    thread_state.returns_to = __builtin_return_address(0);
    return upper_else_@member(@named);
}

static int from_library_@member(@declared)
{
    under_test_took();
    return upper.@member(@named);
}

const void *const lower_address_@member = (const void *)lower_@member;
const void *const from_library_address_@member = (const void *)from_library_@member;
]]):gsub("@([%a_]+)", fields))
end

-- What leaves no record, also where it has a result that is not an error code. The name stands in
-- parentheses because a library may have a macro of it, too.
local function pass_on(call)
    local function one(prefix, table)
        return ([[
EXPORTED @result (@prefix@name)(@declared)
{
    if (unlikely(!library_found))
        library_require();
    return @table.@member(@named);
}
]]):gsub("@([%a_]+)", {
            prefix = prefix,
            table = table,
            name = call.name,
            result = call.result,
            member = member(call.name),
            declared = declared(call),
            named = named(call),
        })
    end
    return one("P", "library") .. "\n" .. one("", "upper")
end

local WRAPPERS_HEAD = [[
/* Made by injectors/generate/generate.lua. */
#include "injectors/rules/rules.h"
#include "injectors/steer/steer.h"
#include "injectors/taps/tap.h"
#include "injectors/taps/tap_collective.h"
#include "injectors/taps/tap_communicator.h"
#include "injectors/taps/tap_completion.h"
#include "injectors/taps/tap_message.h"
#include "injectors/taps/tap_pair.h"
#include "injectors/taps/tap_request.h"
#include "injectors/taps/tap_spawn.h"
#include "injectors/taps/under_test.h"

#pragma GCC visibility push(hidden)
]]

local function table_header(calls, path)
    local members, names, addresses = {}, {}, {}
    for i, call in ipairs(calls) do
        members[i] = string.format("    %s (*%s)(%s);", call.result, member(call.name),
            declared(call))
        local address = "lower_address_" .. member(call.name)
        local no_tap = known.by_hand[call.name] or known.passed_on[call.name]
        names[i] = string.format('    X(%s, "%s", %s, %s) \\', member(call.name), call.name,
            no_tap and "NULL" or address, no_tap and "NULL" or "&from_library_" .. address:sub(7))
        if not no_tap then
            addresses[#addresses + 1] = string.format(
                "extern const void *const %s, *const from_library_%s;", address, address:sub(7))
        end
    end
    return table.concat({
        "/* Made by injectors/generate/generate.lua. */",
        "#ifndef LIBRARY_TABLE_H",
        "#define LIBRARY_TABLE_H",
        "",
        '#include "mpi_library.h"',
        "",
        '#define LIBRARY_FILE "' .. path:match("[^/]+$") .. '"',
        "",
        "struct library {",
        table.concat(members, "\n"),
        "};",
        "",
        "/* member, its function, address of the wrapper behind its PMPI name or NULL; where",
        " * that of the one stands which a library under test calls by its MPI name, or NULL */",
        "#define LIBRARY_FUNCTIONS(X) \\",
        table.concat(names, "\n"),
        "",
        table.concat(addresses, "\n"),
        "",
        "#endif",
        "",
    }, "\n")
end

-- The functions of the library with everything known of each, or a stop that names all gaps.
local function gather(mpicc, calls_path)
    local list, path = exports(mpicc)
    local prototype, listed = prototypes(mpicc), call_list(calls_path)
    local calls, gaps = {}, {}
    for _, name in ipairs(list) do
        local found, entry = prototype[name], listed[name]
        if not found or not found.parameters then
            gaps[#gaps + 1] = name .. ": no prototype in mpi.h that could be read"
        end
        if not entry then
            gaps[#gaps + 1] = name .. ": not in " .. calls_path
        end
        if found and found.parameters and entry then
            calls[#calls + 1] = {
                name = name,
                result = found.result,
                parameters = found.parameters,
                role = entry.role,
                operation = entry.operation,
            }
            local plain = found.result == "int"
            for _, one in ipairs(found.parameters) do
                plain = plain and not one.varying
            end
            if not plain and not known.by_hand[name] and not known.passed_on[name] then
                gaps[#gaps + 1] = name
                    .. ": neither plain nor in functions.passed_on nor functions.by_hand"
            end
        end
    end
    if #calls == 0 then
        gaps[#gaps + 1] = path .. ": exports no MPI function"
    end
    if #gaps > 0 then
        stop("%d gaps between %s and what is known of it:\n  %s", #gaps, path,
            table.concat(gaps, "\n  "))
    end
    return calls, path
end

local function main()
    local mpicc, calls_path, folder = arg[1], arg[2], arg[3]
    if not folder then
        stop("use: generate.lua MPICC CALLS.DEF FOLDER")
    end
    local calls, path = gather(mpicc, calls_path)
    local files = {}
    for i = 1, WRAPPER_FILES do
        files[i] = { WRAPPERS_HEAD }
    end
    local made = 0
    for _, call in ipairs(calls) do
        if not known.by_hand[call.name] then
            local file = files[made % WRAPPER_FILES + 1]
            file[#file + 1] = (known.passed_on[call.name] and pass_on or wrappers)(call)
            made = made + 1
        end
    end
    write(folder .. "/library_table.h", table_header(calls, path))
    for i, file in ipairs(files) do
        file[#file + 1] = "#pragma GCC visibility pop\n"
        write(string.format("%s/wrappers_%d.c", folder, i), table.concat(file, "\n"))
    end
end

main()
