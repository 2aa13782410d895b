// Plain JavaScript for whatever Node runs npm: builds the pages into web/dist when their sources or the packages have changed since.
// Where the packages of development are missing, as in an image, there is nothing to build with and nothing is said.
const { createHash } = require('node:crypto')
const { spawnSync } = require('node:child_process')
const { existsSync, readdirSync, readFileSync, statSync } = require('node:fs')
const { join } = require('node:path')

const root = join(__dirname, '..')
const modules = join(root, 'node_modules')
const node = join(modules, '.bin', process.platform === 'win32' ? 'node.cmd' : 'node')
// Some packages of development are there without the others, where a package that runs in production names them as peers.
const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const canBuild = existsSync(join(root, 'web/build.ts')) && Object.keys(devDependencies).every(name => existsSync(join(modules, name)))
if (canBuild) {
  const stamp = stampOf(['web', 'package-lock.json'])
  if (stamp !== builtStamp()) {
    const { status } = spawnSync(existsSync(node) ? node : process.execPath, [join(root, 'web/build.ts'), stamp], { cwd: root, stdio: 'inherit' })
    // An installation goes on: the pages say which command builds them.
    if (status !== 0 && process.env.npm_lifecycle_event !== 'postinstall') process.exitCode = 1
  }
}

/** What tells one state of files from another: their names and contents. */
function stampOf(paths) {
  const hash = createHash('sha256')
  const read = path => {
    const place = join(root, path)
    if (!statSync(place).isDirectory()) return void hash.update(`${path}\0`).update(readFileSync(place))
    for (const name of readdirSync(place).sort()) if (!(path === 'web' && name === 'dist')) read(`${path}/${name}`)
  }
  for (const path of paths) if (existsSync(join(root, path))) read(path)
  return hash.digest('hex')
}

function builtStamp() {
  try {
    return JSON.parse(readFileSync(join(root, 'web/dist/built.json'), 'utf8')).stamp
  } catch {
    return null
  }
}
