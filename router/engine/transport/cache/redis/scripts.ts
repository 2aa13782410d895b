/**
 * Scripts that Redis runs, each as one step. The state is a hash: `epoch`, a random text that is new whenever the state
 * was lost; `seq`, the number of the last drop; `floor`, below which marks no longer count; and for each dropped label,
 * as JSON text, the number of its last drop. An entry is a hash with the number of the last drop that its router knew
 * when it asked the subgraph, so an entry of before a drop is never found after it. Where the epoch is another one,
 * a script answers 0.
 */

/** Opens the state, and makes it where there is none. @returns the epoch and the number of the last drop */
export const openScript = `
if redis.call('HEXISTS', KEYS[1], 'epoch') == 0 then
  redis.call('HSET', KEYS[1], 'epoch', ARGV[1], 'seq', 0, 'floor', 0)
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('HMGET', KEYS[1], 'epoch', 'seq')`

const readLabels = `
local function isDropped(labels, mark)
  local fields = {}
  for each in string.gmatch(labels, '[^\\n]+') do fields[#fields + 1] = each end
  for _, seq in ipairs(redis.call('HMGET', KEYS[1], unpack(fields))) do
    if seq and tonumber(seq) > mark then return true end
  end
  return false
end
local state = redis.call('HMGET', KEYS[1], 'epoch', 'floor')
if state[1] ~= ARGV[1] then return 0 end
local floor = tonumber(state[2])`

/** Reads entries. @returns for each value, labels and remaining ms; an empty text for a missing or dropped one */
export const readScript = `${readLabels}
local found = {}
for at = 2, #KEYS do
  local entry = redis.call('HMGET', KEYS[at], 'mark', 'labels', 'value')
  local mark = entry[1] and tonumber(entry[1])
  if mark and mark >= floor and not isDropped(entry[2], mark) then
    found[#found + 1] = { entry[3], entry[2], redis.call('PTTL', KEYS[at]) }
  else
    found[#found + 1] = ''
  end
end
return found`

/** Keeps an entry, unless something that it depends on was dropped since its mark. */
export const keepScript = `${readLabels}
local mark = tonumber(ARGV[2])
if mark < floor or isDropped(ARGV[3], mark) then return 1 end
redis.call('HSET', KEYS[2], 'mark', ARGV[2], 'labels', ARGV[3], 'value', ARGV[4])
redis.call('PEXPIRE', KEYS[2], ARGV[5])
return 1`

/** Drops labels, or everything where none is given, and tells every router. @returns the number of the drop */
export const dropScript = `
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if epoch ~= ARGV[1] then return 0 end
local seq = redis.call('HINCRBY', KEYS[1], 'seq', 1)
local labels = {}
for at = 7, #ARGV do labels[#labels + 1] = ARGV[at] end
if #labels == 0 or redis.call('HLEN', KEYS[1]) + #labels > tonumber(ARGV[5]) then
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'epoch', epoch, 'seq', seq, 'floor', seq)
end
if #labels <= tonumber(ARGV[5]) then
  for _, label in ipairs(labels) do redis.call('HSET', KEYS[1], label, seq) end
end
redis.call('PEXPIRE', KEYS[1], ARGV[6])
local list = #labels == 0 and 'null' or '[' .. table.concat(labels, ',') .. ']'
redis.call('PUBLISH', ARGV[2], '{"seq":' .. string.format('%.0f', seq) .. ',"from":"' .. ARGV[3] .. '","cause":"' .. ARGV[4] .. '","labels":' .. list .. '}')
return seq`

/** Sends a router the number of the last drop, behind all messages of drops. */
export const beatScript = `
local state = redis.call('HMGET', KEYS[1], 'epoch', 'seq')
if state[1] ~= ARGV[1] then return 0 end
redis.call('PUBLISH', ARGV[2], ARGV[3] .. ' ' .. state[2])
return 1`
