-- page.lua STYLE < PAGE.md > PAGE.html: the page of `make proof` for a browser, one file that asks
-- for nothing else. Knows no more Markdown than that page needs: headings, paragraphs, lists,
-- tables, fenced text; in a line `code`, **strong** and [links](#to-a-heading).

local columns_narrow = 6 -- a table of more has its heads upright
local own_style = [[
.wide td:first-child, .wide th:first-child {
  position: sticky; left: 0; background: var(--ground); white-space: nowrap;
}
.wide th { vertical-align: bottom; }
.wide th:nth-child(n + 3) { writing-mode: vertical-rl; padding: 0.3rem 0; }
.wide td:nth-child(n + 3) { padding-right: 0.3rem; }
]]

local html = { "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">" }

local function put(text) html[#html + 1] = text end

local function escaped(text)
  local names = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ["\""] = "&quot;" }
  return (text:gsub("[&<>\"]", names))
end

-- What is code stays as it is.
local function inline(text)
  local codes = {}
  text = escaped(text):gsub("`([^`]+)`", function(code)
    codes[#codes + 1] = "<code>" .. code .. "</code>"
    return "\0" .. #codes .. "\0"
  end)
  text = text:gsub("%*%*(.-)%*%*", "<strong>%1</strong>")
  text = text:gsub("%[(.-)%]%((#.-)%)", "<a href=\"%2\">%1</a>")
  return (text:gsub("\0(%d+)\0", function(number) return codes[tonumber(number)] end))
end

-- As GitHub names headings, so that a link leads to the same place there.
local function anchor(text)
  return (text:lower():gsub("[^%w%- ]", ""):gsub(" ", "-"))
end

local function cells(line)
  local found = {}
  for cell in line:gsub("^|", ""):gmatch("([^|]*)|") do
    found[#found + 1] = cell:match("^%s*(.-)%s*$")
  end
  return found
end

-- Words that say how it went, told apart from other words by their looks as well.
local looks = {
  holds = "pass", caught = "pass", ["not complete"] = "violation", SURVIVED = "violation",
  ["not run"] = "vacuous", changed = "vacuous", ["caught by another"] = "unknown",
  ["caught, not by all"] = "unknown",
}

local function row(tag, line, numbers)
  put("<tr>")
  for i, cell in ipairs(cells(line)) do
    local class = looks[cell] and "verdict " .. looks[cell] or numbers[i] and "number"
    local scope = tag == "th" and " scope=\"col\"" or ""
    put(("<%s%s%s>%s</%s>"):format(tag, scope, class and (" class=\"%s\""):format(class) or "",
                                  inline(cell), tag))
  end
  put("</tr>")
end

-- Its block of lines, from `first` on. Returns the line after it.
local blocks = {}

function blocks.fence(lines, first)
  local last = first + 1
  while lines[last] and lines[last] ~= "```" do last = last + 1 end
  put("<pre tabindex=\"0\">" .. escaped(table.concat(lines, "\n", first + 1, last - 1)) .. "</pre>")
  return last + 1
end

function blocks.heading(lines, first)
  local marks, text = lines[first]:match("^(#+) (.*)$")
  put(("<h%d id=\"%s\">%s</h%d>"):format(#marks, anchor(text), inline(text), #marks))
  return first + 1
end

function blocks.list(lines, first)
  put("<ul>")
  while lines[first] and lines[first]:find("^%- ") do
    put("<li>" .. inline(lines[first]:sub(3)) .. "</li>")
    first = first + 1
  end
  put("</ul>")
  return first
end

function blocks.table(lines, first)
  local numbers = {}
  for i, cell in ipairs(cells(lines[first + 1])) do numbers[i] = cell:find(":$") ~= nil end
  local class = #cells(lines[first]) > columns_narrow and " class=\"wide\"" or ""
  put("<div class=\"scroll\" tabindex=\"0\"><table" .. class .. "><thead>")
  row("th", lines[first], numbers)
  put("</thead><tbody>")
  first = first + 2
  while lines[first] and lines[first]:find("^|") do
    row("td", lines[first], numbers)
    first = first + 1
  end
  put("</tbody></table></div>")
  return first
end

local function kind(line)
  return line:find("^```") and "fence" or line:find("^#+ ") and "heading"
      or line:find("^%- ") and "list" or line:find("^|") and "table" or nil
end

function blocks.paragraph(lines, first)
  local last = first
  while lines[last] and lines[last] ~= "" and not kind(lines[last]) do last = last + 1 end
  put("<p>" .. inline(table.concat(lines, " ", first, last - 1)) .. "</p>")
  return last
end

local lines = {}
for line in io.lines() do lines[#lines + 1] = line end
local style = assert(io.open(arg[1])):read("a")
put("<meta name=\"viewport\" content=\"width=device-width\">")
put("<title>" .. escaped((lines[1]:gsub("^# ", ""))) .. "</title>")
put("<style>\n" .. style .. own_style .. "</style>\n</head>\n<body><main>")
local at = 1
while lines[at] do
  at = lines[at] == "" and at + 1 or blocks[kind(lines[at]) or "paragraph"](lines, at)
end
put("</main></body>\n</html>")
io.write(table.concat(html, "\n"), "\n")
