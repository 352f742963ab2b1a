-- For pandoc (see steps.sh): makes of a page a script of what its blocks of code say to do, for
-- steps.bash. A block of another kind than docs/README.md names is an error: what is not run cannot
-- be kept true.

local script = {}

local function put(text) script[#script + 1] = text end

local function here(name, text)
  local inside = ("\n" .. text .. "\n"):find("\n" .. name .. "\n", 1, true)
  assert(not inside, name .. " stands in the page")
  return ("<<'%s'\n%s\n%s"):format(name, text, name)
end

local function put_step(command, printed)
  put("step " .. here("END_OF_COMMAND", command):gsub("\n", " 3" .. "<<'END_OF_OUTPUT'\n", 1)
      .. "\n" .. table.concat(printed, "\n") .. "\nEND_OF_OUTPUT")
end

-- "$ command", what it prints, "$ command" ...
local function console(text)
  local command, printed
  for line in (text .. "\n"):gmatch("(.-)\n") do
    if line:find("^%$ ") then
      if command then put_step(command, printed) end
      command, printed = line:sub(3), {}
    else
      assert(command, "a console block begins with a command: " .. line)
      printed[#printed + 1] = line
    end
  end
  put_step(command, printed)
end

local function Pandoc(document)
  local function CodeBlock(block)
    local file = block.attributes.file
    if file then
      put(("write %s %s"):format(file, here("END_OF_FILE", block.text)))
    elseif block.classes[1] == "console" then
      console(block.text)
    elseif block.classes[1] or block.text:find("^%s*%$ ") then
      error("neither console nor a file: " .. block.text)
    end
  end
  for _, block in ipairs(document.blocks) do
    pandoc.walk_block(pandoc.Div { block }, { CodeBlock = CodeBlock })
  end
  return pandoc.Pandoc { pandoc.RawBlock("plain", table.concat(script, "\n")) }
end

return { { Pandoc = Pandoc } }
