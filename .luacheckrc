-- For luacheck (`make check`). Scenarios run in a sandbox: exactly what it offers is known here
-- (tests/scenarios.bats compares), so a name that does not exist is found before any run.
std = "lua54"
max_line_length = 100

local function fields(names)
  local of = {}
  for name in names:gmatch("%S+") do of[name] = {} end
  return { fields = of }
end

stds.scenario = {
  read_globals = {
    "cover", "scenario",
    "_VERSION", "assert", "error", "getmetatable", "ipairs", "pairs", "pcall", "print",
    "rawequal", "rawget", "rawlen", "rawset", "select", "setmetatable", "tonumber", "tostring",
    "type", "xpcall",
    _G = { other_fields = true },
    math = fields [[abs acos asin atan ceil cos deg exp floor fmod huge log max maxinteger min
      mininteger modf pi rad random sin sqrt tan tointeger type ult]],
    string = fields [[byte char find format gmatch gsub len lower match pack packsize rep reverse
      sub unpack upper]],
    table = fields [[concat insert move pack remove sort unpack]],
    utf8 = fields [[char charpattern codepoint codes len offset]],
  },
}

files["suites/**/*.lua"] = { std = "scenario" }
files["suites/protocols/**/generate.lua"] = { std = "lua54" }
files["suites/protocols/common/mpi_names.lua"] = { std = "lua54" }
files["examples/**/*.lua"] = { std = "scenario" }
files["scripts/bench/no_faults.lua"] = { std = "scenario" }
files["scripts/shrink_padding.lua"] = { std = "scenario" }
files["scripts/bench/launches.lua"] = { std = "scenario" }
files["scripts/bench/recovery_jobs.lua"] = { std = "scenario" }
files["tests/scenarios/*.lua"] = { std = "scenario" }
files["tests/sanitise/*.lua"] = { std = "scenario" }

-- A wire file finds nothing else (messages.lua).
stds.wire = { globals = {}, read_globals = { "wire" } }
files["suites/protocols/*/wire.lua"] = { std = "wire" }

-- For pandoc, which brings its own library.
files["docs/site/*.lua"] = { read_globals = { "pandoc" } }
files["scripts/proof/filter.lua"] = { read_globals = { "pandoc" } }

-- It makes the sandbox: it changes libraries on purpose.
files["harness/script/world.lua"] = {
  globals = {
    "string.dump", "string.format", "table.sort", "math.random", "math.randomseed", "_G",
  },
}
