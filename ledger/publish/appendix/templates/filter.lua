-- What pandoc's writers leave to the document: statement blocks, numbered tables and figures, and
-- LaTeX that fits a column of a paper.

local counts = { table = 0, figure = 0 }
local stringify = pandoc.utils.stringify

local function raw(text) return pandoc.RawInline(FORMAT, text) end

local function block(text) return pandoc.RawBlock(FORMAT, text) end

local function latex(content)
  local options = pandoc.WriterOptions({ cite_method = 'natbib', wrap_text = 'none' })
  return (pandoc.write(pandoc.Pandoc({ pandoc.Plain(content) }), 'latex', options):gsub('%s+$', ''))
end

local function numbered(kind, caption)
  counts[kind] = counts[kind] + 1
  local name = (kind == 'table' and 'Table ' or 'Figure ') .. counts[kind] .. '.'
  if #caption.long == 0 then return caption end
  caption.long[1].content = pandoc.Inlines({ pandoc.Strong(name), pandoc.Space() })
    .. caption.long[1].content
  return caption
end

local function latex_table(t)
  local widths, total = {}, 0
  for i, spec in ipairs(t.colspecs) do
    widths[i] = spec[2] or (1 / #t.colspecs)
    total = total + widths[i]
  end
  local columns = {}
  for i, width in ipairs(widths) do
    local share = width / total
    columns[i] = string.format(
      '>{\\raggedright\\arraybackslash}p{\\dimexpr%.4f\\linewidth-%.4f\\tabcolsep}',
      share, share * 2 * (#widths - 1))
  end
  local function row(cells)
    local done = {}
    for i, cell in ipairs(cells) do
      done[i] = latex(pandoc.utils.blocks_to_inlines(cell.contents))
    end
    return table.concat(done, ' & ') .. ' \\\\'
  end
  local label = t.identifier ~= '' and '\\label{dl:' .. t.identifier .. '}' or ''
  local parts = { '\\dltable{' .. table.concat(columns) .. '}{' .. row(t.head.rows[1].cells)
    .. '}{' .. latex(pandoc.utils.blocks_to_inlines(t.caption.long)) .. label .. '}{'
    .. 'dl:' .. t.identifier .. '}' }
  for _, part in ipairs(t.bodies) do
    for _, each in ipairs(part.body) do parts[#parts + 1] = '\\dlrow{' .. row(each.cells) .. '}' end
  end
  parts[#parts + 1] = '\\dlendtable'
  return block(table.concat(parts, '\n'))
end

function Table(t)
  if FORMAT == 'latex' then return latex_table(t) end
  if FORMAT == 'html5' then
    t.caption = numbered('table', t.caption)
    local name = stringify(t.caption.long)
    return pandoc.Div({ t }, pandoc.Attr('', { 'scroll' },
      { { 'tabindex', '0' }, { 'role', 'region' }, { 'aria-label', name } }))
  end
  return t
end

function Figure(f)
  if FORMAT == 'html5' then
    f.caption = numbered('figure', f.caption)
    f.content = { pandoc.Div(f.content, pandoc.Attr('', { 'wide' })) }
    return f
  end
  if FORMAT ~= 'latex' then return f end
  local file
  f:walk({ Image = function(image) file = image.src end })
  return block('\\begin{figure*}[!t]\n\\centering\n\\includegraphics[width=\\linewidth]{'
    .. file:gsub('%.svg$', '.pdf') .. '}\n\\caption{'
    .. latex(pandoc.utils.blocks_to_inlines(f.caption.long)) .. '\\label{dl:' .. f.identifier
    .. '}}\n\\end{figure*}')
end

-- What the reader of TeX that Typst is given does not know, or takes for a relation.
local function for_typst(text)
  for name, short in pairs({ tbinom = '\\binom', dbinom = '\\binom', textstyle = '',
                             thinspace = '\\,', medspace = '\\:', thickspace = '\\;',
                             negthinspace = '\\!' }) do
    text = text:gsub('\\' .. name .. '%s?', short)
  end
  -- A thousands separator is no comma of a list.
  text = text:gsub('%d+{,}[%d{,}]+', function(number)
    return '\\text{' .. number:gsub('[{}]', '') .. '}'
  end)
  -- Bars in pairs are fences; pandoc takes those that are not marked so for relations.
  text = text:gsub('\\Vert%f[%A]%s?', '\1'):gsub('\\|', '\1'):gsub('\\vert%f[%A]%s?', '|')
  if text:find('\\left[|\1]') then return (text:gsub('\1', '\\|')) end
  local function paired(mark, opens, closes)
    local _, count = text:gsub(mark, mark)
    if count % 2 == 0 then text = text:gsub(mark .. '(.-)' .. mark, opens .. '%1' .. closes) end
  end
  paired('\1', '\\lVert ', '\\rVert ')
  paired('|', '\\left|', '\\right|')
  return (text:gsub('\1', '\\|'))
end

function Math(m)
  if FORMAT == 'typst' then return pandoc.Math(m.mathtype, for_typst(m.text)) end
  if FORMAT == 'latex' then m.text = m.text:gsub('\\lt%f[%A]', '<'):gsub('\\gt%f[%A]', '>') end
  if FORMAT == 'latex' and m.mathtype == 'DisplayMath' then
    return raw('\\[\\dlfit{$\\displaystyle ' .. m.text .. '$}\\]')
  end
  return m
end

function Code(c)
  if FORMAT ~= 'latex' then return end
  local text = ''
  for _, point in utf8.codes(c.text) do
    local letter = utf8.char(point)
    text = text .. latex({ pandoc.Str(letter) })
    if letter == ' ' then text = text .. ' '
    elseif c.classes:includes('hash') or letter:match('[/_.-]') then text = text .. '\\allowbreak{}' end
  end
  return raw('\\texttt{' .. text .. '}')
end

-- Keys of claims and names of files may break within.
function Str(s)
  if FORMAT == 'latex' and s.text:find('%w[/_]%w') then
    return raw((latex({ s }):gsub('/', '/\\allowbreak{}'):gsub('\\_', '\\_\\allowbreak{}')
      :gsub('(%w%.)(%a)', '%1\\allowbreak{}%2')))
  end
end

-- natbib ends a place in a source at the first bracket of its formulas, but for braces around it,
-- and moves it, which \( does not survive.
function Cite(c)
  if FORMAT ~= 'latex' then return end
  for _, each in ipairs(c.citations) do
    local place = each.suffix:walk({ Math = function(m) return raw('$' .. m.text .. '$') end })
    while #place > 0 and (place[1].t == 'Space' or place[1].text == ',') do place:remove(1) end
    if #place > 0 then
      place:insert(1, raw('{{'))
      place:insert(raw('}}'))
      each.suffix = place
    end
  end
  return c
end

function CodeBlock(c)
  if FORMAT ~= 'latex' then return end
  local lines = {}
  for line in c.text:gmatch('[^\n]+') do
    lines[#lines + 1] = '\\noindent\\hangindent=2em\\texttt{'
      .. latex({ pandoc.Str(line) }):gsub('(/)', '%1\\allowbreak{}') .. '}\\par'
  end
  return block('\\begin{flushleft}\\footnotesize\\raggedright\n' .. table.concat(lines, '\n')
    .. '\n\\end{flushleft}')
end

function Link(l)
  if FORMAT ~= 'latex' then return end
  local target = l.target:match('^#(.*)')
  if target and l.classes:includes('ref') then
    local word = stringify(l.content):match('^%a+')
    return raw(word .. '~\\ref{dl:' .. target .. '}')
  end
  return l.content
end

-- Colours go by what a verdict means for the statement.
local function verdict_kind(name)
  if name:find('FAILS') or name:find('REFUTED') then return 'fails' end
  if name:find('PROVED') or name:find('ARGUED') then return 'proved' end
  return name:find('HOLDS') and 'holds' or 'open'
end

function Span(s)
  if s.classes:includes('number') then
    if FORMAT == 'latex' then
      return raw('\\dlstatement{dl:' .. s.identifier .. '}')
    end
    return pandoc.Strong(s.content)
  end
  if s.classes:includes('verdict') then
    local kind = verdict_kind(stringify(s.content))
    -- Word by word: in a narrow column one that is too wide is made to fit.
    if FORMAT == 'latex' then
      return s:walk({ Str = function(word) return raw('\\dlverdict{' .. latex({ word }) .. '}') end })
        .content
    end
    if FORMAT == 'typst' then
      return pandoc.Inlines({ raw('#verdict("' .. kind .. '")[') }) .. s.content
        .. pandoc.Inlines({ raw(']') })
    end
    s.classes:insert(kind)
    return s
  end
end

function Div(d)
  if d.classes:includes('flush') then
    -- What floats stays in its section.
    return FORMAT == 'typst' and block('#place.flush()') or {}
  elseif d.classes:includes('statement') then
    if FORMAT == 'latex' then
      return pandoc.Blocks({ block('\\begin{dlclaim}') }) .. d.content
        .. pandoc.Blocks({ block('\\end{dlclaim}') })
    elseif FORMAT == 'typst' then
      return pandoc.Blocks({ block('#statement[') }) .. d.content
        .. pandoc.Blocks({ block('] <' .. d.identifier .. '>') })
    end
  elseif d.classes:includes('small') then
    if FORMAT == 'latex' then
      return pandoc.Blocks({ block('{\\small') }) .. d.content .. pandoc.Blocks({ block('\\par}') })
    elseif FORMAT == 'typst' then
      return pandoc.Blocks({ block('#small[') }) .. d.content .. pandoc.Blocks({ block(']') })
    end
  elseif d.classes:includes('intro') or d.classes:includes('together') then
    if FORMAT ~= 'typst' then return d.content end
    local how = d.classes:includes('intro') and 'sticky: true' or 'breakable: false'
    return pandoc.Blocks({ block('#block(' .. how .. ', width: 100%)[') }) .. d.content
      .. pandoc.Blocks({ block(']') })
  elseif d.identifier == 'refs' and FORMAT == 'latex' then
    return {}
  end
end

local sections = { 0, 0 }

function Header(h)
  if FORMAT == 'latex' then
    -- In a paper the references stand at its end.
    if h.identifier == 'sec-references' then return {} end
    h.identifier = 'dl:' .. h.identifier
    return h
  end
  if FORMAT == 'html5' and not h.classes:includes('unnumbered') then
    local level = h.level
    sections[level] = sections[level] + 1
    if level == 1 then sections[2] = 0 end
    local number = level == 1 and sections[1] or sections[1] .. '.' .. sections[2]
    h.content = pandoc.Inlines({ pandoc.Str(tostring(number)), pandoc.Space() }) .. h.content
    return h
  end
end
