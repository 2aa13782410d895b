import { chmodSync, statSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { documented } from '../../config/families.ts'
import { networkFamilies } from '../../config/networks.ts'
import { readConfig } from '../../config.ts'
import { readCommand } from '../../router/start/process/command.ts'
import { noticesOf } from '../../router/start/process/notices.ts'
import { createReporter } from '../../router/start/process/reporter.ts'
import { usageOf } from '../../router/start/process/usage.ts'
import { createTestDatabase } from '../kit/database.ts'
import { launch, launchPlatform, newDataFolder, platformEnvironment, readyLine } from '../kit/launch.ts'

const project = join(import.meta.dirname, '..', '..')

describe('--help', () => {
  test.for(['start', 'start:router', 'start:subgraph'])('of npm run %s tells options and settings, and starts nothing', async script => {
    const program = launch('npm', ['run', '--silent', script, '--', '--help'], { PORT: 'four' })
    expect(await program.ended).toBe(0)
    expect(program.complained()).toBe('')
    const [usage = '', first = ''] = program.said().split('\n')
    expect(usage).toBe('Usage:')
    expect(first).toContain(script === 'start' ? 'npm start' : `npm run ${script}`)
    for (const word of ['--port N', '--supergraph SOURCE', '--help', 'DATABASE_URL [none]']) expect(program.said()).toContain(word)
  })

  test('knows every setting, each once, with a default and a whole sentence', () => {
    const rows = documented.flatMap(({ family }) => Object.values(family))
    expect(rows.length).toBeGreaterThan(30)
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length)
    const usage = usageOf('embedded')
    for (const { name, without, does, by } of rows) {
      expect(usage).toContain(`    ${name} [${without.replaceAll('`', '')}]`)
      expect(without, name).not.toBe('')
      expect(does, name).toMatch(/\S \S.*\.$/)
      expect(by.length, name).toBeGreaterThan(0)
    }
  })

  test('is suggested, with the known options, for an unknown option or word', () => {
    for (const words of [['--prot', '4001'], ['-x'], ['everything'], ['router', 'twice']])
      expect(() => readCommand(words)).toThrow(/npm start, .*--supergraph SOURCE.*--port N.*--help/)
    expect(readCommand(['subgraph', '-h'])).toEqual({ mode: 'help', of: 'subgraph', given: {} })
  })
})

describe('a start reports what differs from a local default:', () => {
  const noticed = (environment: Record<string, string>) => noticesOf(readConfig(environment), ['192.0.2.7', '2001:db8::7'])

  const noMail = 'no mail leaves: nobody can be invited, and no password be reset; set SMTP_URL'
  const noNetwork = expect.stringMatching(
    /^not set up: X \(X_CLIENT_ID and X_CLIENT_SECRET\), LinkedIn .*; unless the gateway to providers keeps an application for it, no account there can be connected, and posts for it stay drafts$/,
  )

  test('nothing on a developer’s machine', () => {
    expect(noticed({})).toEqual([])
  })

  test('addresses from which it can be reached, and so no demo accounts', () => {
    expect(noticed({ HOST: '0.0.0.0' })).toEqual([
      'HOST=0.0.0.0: other machines reach it at http://192.0.2.7:4000; links and tokens name PUBLIC_URL, http://localhost:4000',
      'no demo accounts and no sandbox: others can reach it (HOST=0.0.0.0); DEMO=1 makes them all the same',
      noMail,
      noNetwork,
    ])
    expect(noticed({ HOST: '::', PORT: '80' })[0]).toContain('at http://192.0.2.7:80, http://[2001:db8::7]:80;')
  })

  test('demo accounts that others can reach, if they were requested explicitly', () => {
    expect(noticed({ HOST: '0.0.0.0', DEMO: '1' })[1]).toBe('DEMO=1: accounts whose password everybody knows can be reached by others (HOST=0.0.0.0)')
    expect(noticed({ PUBLIC_URL: 'https://p.example', DEMO: '1' })).toEqual([
      'DEMO=1: accounts whose password everybody knows can be reached by others (PUBLIC_URL=https://p.example)',
    ])
  })

  test('missing demo accounts because they were switched off', () => {
    expect(noticed({ DEMO: '0' })).toEqual(['no demo accounts and no sandbox: DEMO=0', noMail, noNetwork])
  })

  test('networks that are not configured, without a sandbox in their place', () => {
    const secrets = { AUTH_SECRET: 'x'.repeat(32), ENCRYPTION_KEYS: `k1:${Buffer.alloc(32).toString('base64')}` }
    const production = {
      ...secrets,
      SMTP_URL: 'smtp://127.0.0.1:9',
      ENVIRONMENT: 'production',
      DATABASE_URL: 'postgres://localhost/p',
      PUBLIC_URL: 'https://p.example',
    }
    expect(noticed(production)).toEqual([noNetwork])
    const applications = Object.fromEntries(
      networkFamilies.flatMap(({ family }) => [family.clientId!, family.clientSecret!].map(({ name }) => [name, 'given'])),
    )
    expect(noticed({ ...production, ...applications, X_CLIENT_ID: '', X_CLIENT_SECRET: '' })).toEqual([
      'not set up: X (X_CLIENT_ID and X_CLIENT_SECRET); unless the gateway to providers keeps an application for it, no account there can be connected, and posts for it stay drafts',
    ])
    expect(noticed({ ...production, ...applications })).toEqual([])
    expect(noticed({ DEMO: '0', ...applications })).toEqual(['no demo accounts and no sandbox: DEMO=0', noMail])
  })

  test('an occupied port of the sandbox', async () => {
    await using folder = newDataFolder()
    await using database = await createTestDatabase()
    const holder = createServer().listen(0, '127.0.0.1')
    await new Promise(resolve => holder.once('listening', resolve))
    const { port } = holder.address() as AddressInfo
    const platform = launchPlatform({ ...(await platformEnvironment(folder)), DATABASE_URL: database.url, SANDBOX_PORT: String(port) })
    await platform.printed(readyLine)
    const [, moved] = new RegExp(`^  port ${port} is taken: the sandbox listens on (\\d+) \\(SANDBOX_PORT\\)$`, 'm').exec(platform.said()) ?? []
    expect(platform.said()).toContain(`Sandbox (plays others)       http://localhost:${moved}\n`)
    platform.child.kill('SIGTERM')
    await platform.ended
    await new Promise(resolve => holder.close(resolve))
  })
})

test('an internal error in JSON mode is one line with its stack', () => {
  const lines: string[] = []
  const tell = createReporter(true, { write: () => {} }, { write: text => lines.push(text) })
  tell.complain(new TypeError('x is not\na function'))
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(/^[^\n]*\n$/)
  expect(JSON.parse(lines[0]!)).toMatchObject({
    level: 60,
    msg: 'x is not\na function',
    err: { type: 'TypeError', stack: expect.stringContaining('telling.test.ts') },
  })
})

test('compiled code is cached where only this user can write, and a folder that became accessible to others is closed again', async () => {
  const folder = join(project, 'node_modules/.cache/supergraph')
  const help = async () => expect(await launch('npm', ['run', '--silent', 'start', '--', '--help']).ended).toBe(0)
  await help()
  chmodSync(folder, 0o755)
  await help()
  const found = statSync(folder)
  expect(found.mode & 0o777).toBe(0o700)
  expect(found.uid).toBe(process.getuid?.() ?? found.uid)
})
