-- A second real client: neovim, which (at 0.7) takes pushed diagnostics only. Run by run.sh as
--     nvim --headless -u NONE -i NONE -n workspace/train.py -c 'luafile neovim.lua'
-- with the server's command in TAPELINT_SERVER, one word per line. The file is never saved.

local PATIENCE = 30000

local function check(holds, what)
  if not holds then
    error(what, 2)
  end
end

local function line_of(text)
  for number, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    if line:find(text, 1, true) then
      return number - 1
    end
  end
  error('no line holds ' .. text)
end

local function found()
  return vim.diagnostic.get(0)
end

local function ask(method, params)
  local answers = vim.lsp.buf_request_sync(0, method, params, PATIENCE)
  local _, answer = next(answers or {})
  check(answer and answer.result, method .. ' was not answered')
  return answer.result
end

local function first_fix()
  local line = line_of('loss.backward()')
  local params = vim.lsp.util.make_range_params()
  params.range = { start = { line = line, character = 8 }, ['end'] = { line = line, character = 9 } }
  params.context = { diagnostics = vim.lsp.diagnostic.get_line_diagnostics(0, line) }
  local action = ask('textDocument/codeAction', params)[1]
  check(action and action.kind == 'quickfix', vim.inspect(action))
  return action.edit and action or ask('codeAction/resolve', action)
end

local function test()
  local command = vim.split(vim.env.TAPELINT_SERVER, '\n')
  local client = vim.lsp.start_client({ name = 'tapelint', cmd = command, root_dir = vim.fn.expand('%:p:h') })
  check(client and vim.lsp.buf_attach_client(0, client), 'the server does not start')

  check(vim.wait(PATIENCE, function() return #found() > 0 end), 'no diagnostics')
  local diagnostic = found()[1]
  check(#found() == 1 and diagnostic.lnum == line_of('loss.backward()'), vim.inspect(found()))
  check(diagnostic.severity == vim.diagnostic.severity.ERROR, 'it is no error')

  local fix = first_fix()
  vim.lsp.util.apply_workspace_edit(fix.edit, vim.lsp.get_client_by_id(client).offset_encoding)
  line_of('seen.append(h.detach())')
  check(vim.wait(PATIENCE, function() return #found() == 0 end), 'the fix does not take the diagnostic away')

  vim.cmd('silent undo')
  check(vim.wait(PATIENCE, function() return #found() == 1 end), 'undoing the fix does not bring it back')
  vim.lsp.stop_client(client)
end

local passed, reason = pcall(test)
io.stdout:write(passed and 'ok     neovim: diagnosed, fixed, undone\n' or 'FAILED neovim: ' .. tostring(reason) .. '\n')
vim.cmd(passed and 'qall!' or 'cquit 1')
