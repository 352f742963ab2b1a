-- For pandoc: the page of `make proof`. Words that say how it went get the colours of the reports;
-- what is wider than the window is scrolled, by keys as well.

local COLUMNS_NARROW = 6 -- a table of more has its heads upright

local looks = {
  holds = "pass", caught = "pass", ["not complete"] = "violation", SURVIVED = "violation",
  ["not run"] = "vacuous", changed = "vacuous", ["caught by another"] = "unknown",
  ["caught, not by all"] = "unknown",
}

-- What looks like HTML is a text that somebody else put there.
local function RawInline(raw) return pandoc.Str(raw.text) end
local function RawBlock(raw) return pandoc.Para(pandoc.Str(raw.text)) end

local function CodeBlock(block)
  block.attributes.tabindex = "0"
  return block
end

local function Table(all)
  for _, body in ipairs(all.bodies) do
    for _, row in ipairs(body.body) do
      for _, cell in ipairs(row.cells) do
        local look = looks[pandoc.utils.stringify(cell.contents)]
        if look then cell.attr = pandoc.Attr("", { "verdict", look }) end
      end
    end
  end
  if #all.colspecs > COLUMNS_NARROW then all.classes = { "wide" } end
  return { pandoc.RawBlock("html", '<div class="scroll" tabindex="0">'), all,
           pandoc.RawBlock("html", "</div>") }
end

local function Pandoc(document)
  document.meta.title = pandoc.utils.stringify(document.blocks[1])
  return document
end

return {
  { RawInline = RawInline, RawBlock = RawBlock },
  { CodeBlock = CodeBlock, Table = Table }, { Pandoc = Pandoc },
}
