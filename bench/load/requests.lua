-- What wrk sends. Arguments: the kind of load, the file it is made from, a number.
-- "plain": each line is method, path, token and body, between tabs; they are sent in turn, and
-- @MAC@ becomes a MAC that was never sent before, counted from the number.
-- "closing": as "plain", with a new connection for each request.
-- "refresh": each line is a refresh token; a reply's token is the next to be exchanged.
local ready, at, kind, counter = {}, 0, "plain", 0
local templates

local function formatted(line)
  local method, path, token, body = line:match("^([^\t]*)\t([^\t]*)\t([^\t]*)\t(.*)$")
  local headers = { ["Accept"] = "application/json" }
  if kind == "closing" then headers["Connection"] = "close" end
  if token ~= "" then headers["Authorization"] = "Bearer " .. token end
  if body == "" then body = nil else headers["Content-Type"] = "application/json" end
  return { method, path, headers, body }
end

function init(args)
  kind = args[1]
  counter = tonumber(args[3]) or 0
  for line in io.lines(args[2]) do
    if kind == "refresh" then
      ready[#ready + 1] = line
    else
      local one = formatted(line)
      if one[4] and one[4]:find("@MAC@", 1, true) then
        templates = templates or {}
        templates[#templates + 1] = one
      else
        ready[#ready + 1] = wrk.format(unpack(one))
      end
    end
  end
  if kind == "refresh" then response = take_token end
end

local function next_of(list)
  at = at % #list + 1
  return list[at]
end

local function mac()
  counter = counter + 1
  local digits = string.format("%010X", counter)
  return "02:" .. digits:gsub("(%x%x)", "%1:"):sub(1, 14)
end

function request()
  if kind == "refresh" then
    local token = table.remove(ready, 1)
    local body = '{"refresh_token":"' .. (token or "none") .. '"}'
    return wrk.format("POST", "/api/v1/auth/refresh", { ["Content-Type"] = "application/json" }, body)
  end
  if templates then
    local method, path, headers, body = unpack(next_of(templates))
    return wrk.format(method, path, headers, (body:gsub("@MAC@", mac())))
  end
  return next_of(ready)
end

function take_token(status, headers, body)
  local token = body:match('"refreshToken":%s*"([^"]+)"')
  if token then ready[#ready + 1] = token end
end

function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '\n@@{"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
