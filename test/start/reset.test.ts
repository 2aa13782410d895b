import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isAlive } from '../../db/process-table.ts'
import { type DataFolder, kill, launch, launchPlatform, leftovers, newDataFolder, platformEnvironment, readyLine, until } from '../kit/launch.ts'

const project = join(import.meta.dirname, '..', '..')

/** Runs the command as one does in a shell script: without a terminal. */
async function reset(folder: DataFolder, words: readonly string[], environment: Record<string, string> = {}) {
  const command = launch('npm', ['run', '--silent', 'reset', '--', ...words], { DATA_DIR: folder.path, ...environment })
  return { status: await command.ended, said: command.said(), complained: command.complained() }
}

test('`npm run reset` removes the platform’s data, an orphaned PostgreSQL included, and nothing else; the next start begins anew', async () => {
  await using folder = newDataFolder()
  writeFileSync(join(folder.path, 'notes.txt'), 'mine')
  const environment = await platformEnvironment(folder)
  const first = launchPlatform(environment)
  await first.printed(readyLine)

  // Refused while a platform runs, whatever is confirmed.
  expect(await reset(folder, ['--yes'])).toEqual({
    status: 1,
    said: '',
    complained: `data folder ${folder.path} is in use by process ${first.child.pid}: stop it, or set DATA_DIR to another folder\n`,
  })
  await kill(folder.node())

  // Without a terminal there is no question.
  const kept = readdirSync(folder.path).filter(name => name !== 'lock')
  expect(await reset(folder, [])).toMatchObject({ status: 1, complained: expect.stringMatching(/^nothing was removed from .*: .*npm run reset -- --yes\n$/) })
  expect(readdirSync(folder.path).sort()).toEqual(kept.sort())
  expect(kept).toContain('keys.json')

  const orphan = folder.postgres()!
  expect(await reset(folder, ['--yes'])).toEqual({ status: 0, said: `${folder.path} is empty: npm start makes everything anew\n`, complained: '' })
  expect(readdirSync(folder.path)).toEqual(['notes.txt'])
  expect(isAlive(orphan)).toBe(false)

  const second = launchPlatform(environment)
  await second.printed(readyLine)
  expect(second.said()).toMatch(/Database .*, made now/)
  second.child.kill('SIGTERM')
  expect(await second.ended).toBe(0)
  expect(leftovers(folder)).toEqual([])
})

test('asks on a terminal, and removes nothing without a yes', async ({ skip }) => {
  if (!existsSync('/usr/bin/script')) skip('there is no script(1) here to make a terminal with')
  await using folder = newDataFolder()
  writeFileSync(join(folder.path, 'keys.json'), '{}')
  for (const [answer, left] of [
    ['n', ['keys.json']],
    ['yes', []],
  ] as const) {
    const environment = { DATA_DIR: folder.path }
    const command = launch('script', ['-qec', `${process.execPath} scripts/reset.ts`, '/dev/null'], environment, { stdio: 'pipe' })
    await until('it asks', () => /\[y\/N\] /.test(command.said()))
    command.child.stdin!.write(`${answer}\n`)
    await command.ended
    expect(readdirSync(folder.path)).toEqual(left)
  }
})

test('works for the embedded database of development only, and for folders that contain one', async () => {
  await using folder = newDataFolder()
  writeFileSync(join(folder.path, 'keys.json'), '{}')
  const keys = { AUTH_SECRET: 's'.repeat(32), ENCRYPTION_KEYS: `k1:${Buffer.alloc(32).toString('base64')}` }
  const complaint = async (environment: Record<string, string>, words = ['--yes']) => (await reset(folder, words, environment)).complained
  expect(await complaint({ ...keys, ENVIRONMENT: 'staging' })).toBe('npm run reset works in development only, and ENVIRONMENT is staging\n')
  expect(await complaint({ DATABASE_URL: 'postgres://me@localhost/x' })).toMatch(/^npm run reset empties the embedded database only: .*\n$/)
  expect(await complaint({ DATA_DIR: join(folder.path, 'none') })).toBe(
    `${join(folder.path, 'none')} holds nothing of the platform: DATA_DIR names the folder to reset\n`,
  )
  expect(await complaint({}, ['--all'])).toBe("Unknown option '--all': npm run reset -- [--yes]\n")
  expect(existsSync(join(folder.path, 'none'))).toBe(false)
  expect(readdirSync(folder.path)).toEqual(['keys.json'])
})

test('a script reports missing or incomplete packages in one line', async () => {
  await using folder = newDataFolder()
  const checkout = join(folder.path, 'checkout')
  for (const name of ['package.json', '.npmrc', 'scripts', 'router', 'config.ts', 'config', 'start-error.ts', 'db', 'platform', 'subgraphs'])
    cpSync(join(project, name), join(checkout, name), { recursive: true })
  const run = async (script: string) => {
    const command = launch('npm', ['run', '--silent', script], {}, { cwd: checkout })
    expect(await command.ended).toBe(1)
    return command.complained() + command.said()
  }
  const { scripts } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
  const ours = Object.keys(scripts).filter(name => !name.startsWith('pre') && !name.startsWith('post') && name !== 'format')
  expect(ours.filter(name => !scripts[`pre${name}`]?.startsWith('node scripts/link-node.cjs'))).toEqual([])
  for (const script of ['start', 'dev', 'test']) expect(await run(script)).toBe('the packages are not installed: run npm ci\n')

  const modules = join(checkout, 'node_modules')
  mkdirSync(join(modules, '.bin'), { recursive: true })
  writeFileSync(join(modules, '.package-lock.json'), '{}')
  symlinkSync(process.execPath, join(modules, '.bin', 'node'))
  expect(await run('start')).toBe('the package @fastify/proxy-addr is not installed: run npm ci\n')
})
