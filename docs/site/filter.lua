-- For pandoc: makes of one text of the tree one page of the site. Links to texts, manual pages and
-- other files of the tree lead to their pages; names such as faultline-scenario(5) become links;
-- `<!-- insert NAME -->` stands for the Markdown in PARTS/NAME.md.
--
-- Metadata: source, the path of the text in the tree. In the environment: PARTS, a folder; LINKED,
-- a file that gets the path of each file that is linked to and is no text, a line each.

local source, root, parts, linked

local function exists(path)
  local file = io.open(path)
  return file ~= nil and file:close()
end

-- "docs/../man/./x" -> "man/x"; nil where it leaves the tree.
local function plain(path)
  local kept = {}
  for part in path:gmatch("[^/]+") do
    if part == ".." then
      if #kept == 0 then return nil end
      kept[#kept] = nil
    elseif part ~= "." then
      kept[#kept + 1] = part
    end
  end
  return table.concat(kept, "/")
end

-- The page of a text or file, from the top of the site. site/make.sh has the same rule.
local function page_of(path)
  if path == "docs/index.md" then return "index.html" end
  return (path:gsub("%.md$", ""):gsub("%.scd$", "")) .. ".html"
end

local function is_text(path) return path:find("%.md$") or path:find("^man/.*%.scd$") end

local function link_to(path)
  if not is_text(path) then
    local list = assert(io.open(linked, "a"))
    list:write(path, "\n")
    list:close()
  end
  return root .. page_of(path)
end

local function Meta(meta)
  source = pandoc.utils.stringify(meta.source)
  parts, linked = os.getenv("PARTS"), os.getenv("LINKED")
  root = page_of(source):gsub("[^/]+$", ""):gsub("[^/]+", "..")
  meta.root = root
  return meta
end

local function Link(link)
  if link.target:find("^%a+:") or link.target:find("^#") then return link, false end
  local path, anchor = link.target:match("^([^#]*)(.*)$")
  path = plain((source:match("^.*/") or "") .. path)
  if path and exists(path .. "/README.md") then path = path .. "/README.md" end
  -- What is not there stays as it was, so that the test of links finds it.
  if path and exists(path) then link.target = link_to(path) .. anchor end
  return link, false
end

local function Str(text)
  local before, name, after = text.text:match("^(.-)(faultline[%a-]*%(%d%))(.*)$")
  if not name then return nil end
  local path = "man/" .. name:gsub("%((%d)%)", ".%1") .. ".scd"
  if not exists(path) or path == source then return nil end
  return { pandoc.Str(before), pandoc.Link(name, link_to(path)), pandoc.Str(after) }, false
end

-- As GitHub names headings; pandoc does so for Markdown alone.
local function Header(heading)
  if heading.identifier == "" then
    local words = pandoc.utils.stringify(heading):lower():gsub("[^%w%s_-]", ""):gsub("%s", "-")
    heading.identifier = words
  end
  return heading
end

-- What is wider than the window is scrolled, by keys as well.
local function CodeBlock(block)
  block.attributes.tabindex = "0"
  block.attributes.file = nil
  return block, false
end

local function Table(all)
  local open = "<div class=\"scroll\" tabindex=\"0\">"
  return { pandoc.RawBlock("html", open), all, pandoc.RawBlock("html", "</div>") }
end

local function RawBlock(block)
  local name = block.text:match("^<!%-%- insert (%S+) %-%->")
  if not name then return nil end
  local file = assert(io.open(("%s/%s.md"):format(parts, name)))
  local text = file:read("a")
  file:close()
  return pandoc.read(text, "gfm").blocks
end

local function Pandoc(document)
  local first = document.blocks[1]
  if not document.meta.title and first and first.t == "Header" then
    document.meta.title = pandoc.utils.stringify(first)
  end
  return document
end

return {
  { Meta = Meta }, { RawBlock = RawBlock },
  { traverse = "topdown", Link = Link, Str = Str, CodeBlock = CodeBlock },
  { Header = Header, Table = Table }, { Pandoc = Pandoc },
}
